"""Doubles: a player who rolls two equal dice rolls one again, or takes the card, which others can take again.

Source: "Удвоение" in the Russian rule text. Rulings: the choice comes before any trick and cannot be vetoed; a card
taken can be played from the player's next turn on, in the same round too; a starter of a round who takes the card in
the first turn chooses the numbering with it.
"""

from functools import cache
from typing import Final, NamedTuple

from arena.games.api import Chance, Dice, Json, Seat
from arena.games.shanghaien.actions import Action, End, describe_numbering
from arena.games.shanghaien.cards import DECK_SIZE, Card
from arena.games.shanghaien.expansions.encoding import NUMBERINGS
from arena.games.shanghaien.state import Choice, Expansion, ExtraRoll, State, Trick, numbering_choices, why_misnumbered
from arena.games.shanghaien.turns import apply_roll, end_turn, lay_out, roll_again

NAME: Final = "doubles"


class PlayDoubles(Action, frozen=True, tag="doubles"):
    """Lay the card back to the middle and roll both dice again."""

    text = "plays doubles: lays the card to the middle and rolls both dice again"


class RollOne(Action, frozen=True, tag="roll_one"):
    """Roll one of two equal dice again."""

    text = "rolls one of the two dice again"


class TakeDoubles(Action, frozen=True, tag="take_doubles"):
    """Place nothing and take the doubles card, from the middle or from the opponent.

    `one` is given while the numbering is open, and only then.
    """

    one: End | None = None

    def __str__(self) -> str:
        return f"places nothing and takes the doubles card{describe_numbering(self.one)}"


_PLAYS: Final = (PlayDoubles(),)


class Repeats(NamedTuple):
    """The number of times one die was rolled again after the roll `roll` of the turn `turn`."""

    turn: int = -1
    roll: int = 0
    times: int = 0


@cache
def _answers(ends: tuple[End | None, ...]) -> tuple[Action, ...]:
    """List the answers: roll one die again, or take the card with one of these choices of numbering."""
    return (RollOne(), *[TakeDoubles(one=end) for end in ends])


def holder(state: State) -> Seat | None:
    """Return the seat that has the card; None while it lies in the middle."""
    card = _doubles_card(state)
    first, second = state.players
    return Seat(0) if card in first.tricks else Seat(1) if card in second.tricks else None


def _doubles_card(state: State) -> Card:
    """Return the one doubles card of the match."""
    return Card(state.variant.faces.index(NAME, DECK_SIZE))


def _ask_on_double(state: State) -> bool:
    """Ask the player what to do if both dice are equal; return True if it was asked."""
    if state.dice[0] != state.dice[1]:
        return False
    seat = state.to_move
    answers = _answers(() if holder(state) == seat else numbering_choices(state))
    state.phase = Choice(by=NAME, name="doubles", seat=seat, answers=answers)
    return True


def _roll_one(state: State, _: RollOne) -> None:
    """Start the roll of one of two equal dice; the other one stays."""
    before: Repeats = state.extras[NAME]
    is_same_roll = (before.turn, before.roll) == (state.turn, state.roll)
    repeats = Repeats(turn=state.turn, roll=state.roll, times=before.times + 1 if is_same_roll else 1)
    seat = state.to_move
    key = f"again/{state.round}/{seat}/{state.turns[seat]}/{state.roll}/{repeats.times}"
    state.remember(NAME, repeats)
    chance = Chance(key=key, kind=Dice(1))
    state.phase = ExtraRoll(by=NAME, name="roll_one", seat=seat, chance=chance, then=_finish_roll_one)


def _finish_roll_one(state: State, drawn: tuple[int, ...]) -> None:
    """Put the rolled die beside the die that was kept."""
    apply_roll(state, (state.dice[0], drawn[0]))


def _take_card(state: State, action: TakeDoubles) -> None:
    """Take the doubles card, from wherever it is, in place of a placement, and end the turn."""
    card = _doubles_card(state)
    first, second = [side.copy() for side in state.players]
    for side in (first, second):
        side.tricks = tuple([held for held in side.tricks if held != card])
    state.players = first, second
    state.mover().tricks += (card,)
    state.table = tuple([beside_row for beside_row in state.table if beside_row != card])
    state.one_at = state.one_at or action.one
    end_turn(state)


def _play_card(state: State, _: PlayDoubles) -> None:
    """Lay the card back to the middle, and roll both dice again."""
    lay_out(state, NAME)
    roll_again(state)


def _view_entry(state: State) -> dict[str, Json]:
    return {"holder": holder(state)}


def _note_lines(state: State) -> tuple[str, ...]:
    return ("the doubles card lies in the middle",) if holder(state) is None else ()


def _why_illegal(state: State, action: Action) -> str | None:
    """Return the sentence why an action of this expansion is illegal; None for other actions."""
    if not isinstance(action, RollOne | TakeDoubles):
        return None
    if not isinstance(state.phase, Choice) or state.phase.by != NAME:
        return f'"{action.tag}" answers a roll of two equal dice, and there is none'
    if isinstance(action, TakeDoubles) and holder(state) != state.to_move:
        return why_misnumbered(state, action.one)
    return "the doubles card is yours already; roll one die again"


DOUBLES: Final = Expansion(
    name=NAME,
    trick=Trick(NAME, {PlayDoubles: _play_card}, lambda _: _PLAYS),
    summary="""\
Expansion doubles: two equal dice let you roll one of them again, or take the
doubles card, a trick, from the middle and place nothing.""",
    all_actions=_PLAYS + _answers(NUMBERINGS),
    is_dealt=False,
    start=Repeats(),
    effects={RollOne: _roll_one, TakeDoubles: _take_card},
    on_rolled=_ask_on_double,
    view=_view_entry,
    notes=_note_lines,
    why=_why_illegal,
)
