"""No shanghai / reroll all: nobody may end the round, or the player rolls all their dice of the round anew.

Source: "запрет Шанхая / Перебросить все кубики" in the Russian rule text. Rulings: the ban lies beside the row until
the round ends; the many dice rolled together make no doubles; while the numbering is open, the answer that keeps a die
back also chooses where number 1 lies.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from arena.games.api import Chance, Dice, Json, Number
from arena.games.shanghaien.actions import Action, End, Place, Shanghai, describe_numbering
from arena.games.shanghaien.expansions.encoding import NUMBERINGS
from arena.games.shanghaien.state import (
    NO_DICE,
    Choice,
    Expansion,
    ExtraRoll,
    State,
    Trick,
    is_beside_row,
    numbering_choices,
    why_misnumbered,
)
from arena.games.shanghaien.turns import clear_away, discard, lay_out, put_down

NAME: Final = "no_shanghai"


class Ban(Action, frozen=True, tag="no_shanghai"):
    """Forbid shanghai for the rest of the round, until a player has to call it."""

    text = "plays no shanghai: nobody may call it"


class RerollAll(Action, frozen=True, tag="reroll_all"):
    """Roll the two dice and all your dice placed in this round together."""

    text = "plays reroll all: takes all own dice of the round and rolls them"


class KeepBack(Action, frozen=True, tag="keep_back"):
    """Put one die of that face back into the supply; all others go to their numbers.

    `one` is given while the numbering is open, and only then.
    """

    die: Number
    one: End | None = None

    def __str__(self) -> str:
        return f"keeps a {self.die} back and places the others{describe_numbering(self.one)}"


_PLAYS: Final = (Ban(), RerollAll())


def _reroll_all(state: State, _: RerollAll) -> None:
    """Take all own dice of the round, and roll them together with the two dice."""
    player = discard(state, NAME)
    seat = state.to_move
    key = f"many/{state.round}/{seat}/{state.turns[seat]}/{state.roll}"
    chance = Chance(key=key, kind=Dice(len(state.dice) + sum(player.placed)))
    player.placed = NO_DICE
    state.phase = ExtraRoll(by=NAME, name="reroll_all", seat=seat, chance=chance, then=_finish_reroll_all)


def _finish_reroll_all(state: State, drawn: tuple[int, ...]) -> None:
    """Lay the many dice down, and ask which of them goes back."""
    answers = _keep_back_answers(drawn, numbering_choices(state))
    state.dice = drawn
    state.phase = Choice(by=NAME, name="keep_back", seat=state.to_move, answers=answers)


def _keep_back_answers(dice: Iterable[int], ends: tuple[End | None, ...]) -> tuple[Action, ...]:
    """List the answers: one for each face among the dice and each of these choices of numbering."""
    return tuple([KeepBack(die=die, one=end) for die in dict.fromkeys(dice) for end in ends])


def _keep_back(state: State, action: KeepBack) -> None:
    """Place all dice but one of that face."""
    placed = list(state.dice)
    placed.remove(action.die)
    put_down(state, Place(dice=tuple(placed), one=action.one))


def _restrict(state: State, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Let a player who can roll do nothing but roll under the ban."""
    if len(actions) < 2 or state.phase != "turn" or not is_beside_row(state, NAME):
        return actions
    return tuple([action for action in actions if not isinstance(action, Shanghai)])


def _view_entry(state: State) -> dict[str, Json]:
    return {"ban": is_beside_row(state, NAME)}


def _note_lines(state: State) -> tuple[str, ...]:
    return ("no shanghai: nobody may call it in this round unless they have to",) if is_beside_row(state, NAME) else ()


def _why_illegal(state: State, action: Action) -> str | None:
    """Return the sentence why an action is illegal by this expansion; None if it has no part in that."""
    if isinstance(action, Shanghai) and state.phase == "turn" and is_beside_row(state, NAME):
        return "shanghai is banned in this round until a player has fewer than 2 dice in the supply"
    if not isinstance(action, KeepBack):
        return None
    if not isinstance(state.phase, Choice) or state.phase.name != "keep_back":
        return '"keep_back" answers a roll of all dice, and there is none'
    if action.die in state.dice:
        return why_misnumbered(state, action.one)
    faces = ", ".join(f"{count} x {face}" for face, count in sorted(Counter(state.dice).items()))
    return f"a {action.die} cannot be kept back; the dice show {faces}"


NO_SHANGHAI: Final = Expansion(
    name=NAME,
    trick=Trick(NAME, {Ban: lambda state, _: lay_out(state, NAME), RerollAll: _reroll_all}, lambda _: _PLAYS),
    summary="""\
Expansion no shanghai, a trick: nobody may call shanghai in this round unless
they have to. Or: you roll again all dice that you have placed in it.""",
    all_actions=_PLAYS + _keep_back_answers(range(1, 7), NUMBERINGS),
    effects={KeepBack: _keep_back},
    restrict=_restrict,
    on_round_end=lambda state: clear_away(state, NAME),
    view=_view_entry,
    notes=_note_lines,
    why=_why_illegal,
)
