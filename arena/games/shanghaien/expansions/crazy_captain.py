"""The Crazy Captain: while the captain is in force, the owner may veto one thing in each turn of the opponent.

Source: "Сумасшедший Капитан" in the Russian rule text. Rulings: a card in force lies beside the row until the round
ends; a veto is spent once per turn, whatever it was used on; an announced trick carries its choices, and only the
announcement can be vetoed; the answers to an expansion's own questions (doubles, keeping a die back) cannot.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from arena.games.api import Json, Seat
from arena.games.shanghaien.actions import Action, Place, Roll, Shanghai
from arena.games.shanghaien.cards import DECK_SIZE
from arena.games.shanghaien.state import ROUNDS, Choice, Expansion, State, Trick, is_beside_row
from arena.games.shanghaien.turns import announce, clear_away, lay_out, roll_again, trick_kind_of

NAME: Final = "crazy_captain"


class PlayCaptain(Action, frozen=True, tag="crazy_captain"):
    """Bring the Crazy Captain into force until the round ends."""

    text = "plays the Crazy Captain"


class Allow(Action, frozen=True, tag="allow"):
    """Let the opponent carry the announced action out."""

    text = "allows it"


class Veto(Action, frozen=True, tag="veto"):
    """Forbid the announced action; the one veto in this turn of theirs."""

    text = "vetoes it"


class Vetoes(NamedTuple):
    """The veto of the turn numbered `turn`; `vetoed`: `placement`, `shanghai`, or a trick."""

    turn: int = -1
    vetoed: str = ""


@dataclass(slots=True)
class Announcement(Choice):
    """A question about an announced action, which the owner of the captain may forbid."""

    action: Action


_PLAY: Final = (PlayCaptain(),)
_ANSWERS: Final = (Allow(), Veto())


def _list_plays(state: State) -> tuple[Action, ...]:
    """List the play of the captain; not in the last round, nor while a captain is in force."""
    return () if state.round == ROUNDS or is_beside_row(state, NAME) else _PLAY


def owner(state: State) -> Seat | None:
    """Return the seat whose captain is in force; None without one. The first card dealt of this kind is seat 0's."""
    faces = state.variant.faces
    for card in state.table:
        if faces[card] == NAME:
            return Seat(card - faces.index(NAME, DECK_SIZE))
    return None


def _vetoed(state: State) -> str:
    """Return what was vetoed in this turn; an empty text while the veto is unspent."""
    vetoes: Vetoes = state.extras[NAME]
    return vetoes.vetoed if vetoes.turn == state.turn else ""


def _announced_action(state: State) -> Action | None:
    """Return the action that waits for the owner of the captain; None if none does."""
    return state.phase.action if isinstance(state.phase, Announcement) else None


def _intercept(state: State, action: Action) -> bool:
    """Ask the captain's owner about the action that the opponent announces, if a veto of it is allowed.

    Return True if it was asked.
    """
    if type(action) is Roll or isinstance(state.phase, Choice):  # isinstance of a Struct takes five times the time
        return False
    captain_seat = owner(state)
    if captain_seat is None or captain_seat == state.to_move or _vetoed(state) or not _veto_target(state, action):
        return False
    state.phase = Announcement(by=NAME, name="veto", seat=captain_seat, answers=_ANSWERS, action=action)
    return True


def _veto_target(state: State, action: Action) -> str:
    """Return `placement`, `shanghai` or the trick that a veto of `action` forbids; empty if none is possible."""
    if isinstance(action, Place):
        return "placement"
    if isinstance(action, Shanghai):
        return "shanghai" if state.players[state.to_move].supply >= 2 else ""
    return trick_kind_of(state.variant, action) or ""


def _carry_out_answer(state: State, answer: Allow | Veto) -> None:
    """Return to the state before the announcement, and go on with the action if it is allowed."""
    assert isinstance(state.phase, Announcement), "these actions answer nothing else"
    action = state.phase.action
    state.phase = "turn" if isinstance(action, Shanghai) else "rolled"
    if isinstance(answer, Allow):
        announce(state, action, asked_by=NAME)
        return
    state.remember(NAME, Vetoes(turn=state.turn, vetoed=_veto_target(state, action)))
    if isinstance(action, Place):
        roll_again(state)


def _restrict(state: State, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Bar a vetoed shanghai, or the vetoed card, from this turn; another card of its kind is allowed."""
    vetoes: Vetoes = state.extras[NAME]
    if vetoes.turn != state.turn:
        return actions
    return tuple([action for action in actions if not _is_barred(state, action)])


def _is_barred(state: State, action: Action) -> bool:
    """Return True if the action, or the only card for it, was vetoed in this turn."""
    vetoed = _vetoed(state)
    if not vetoed or vetoed != _veto_target(state, action):
        return False
    held = [state.variant.faces[card] for card in state.players[state.to_move].tricks]
    return isinstance(action, Shanghai) or held.count(vetoed) == 1


def _view_entry(state: State) -> dict[str, Json]:
    """Return the captain's entry in a view: its owner, what was vetoed in this turn, and what is announced."""
    announced = msgspec.to_builtins(_announced_action(state))
    return {"in_force": owner(state), "vetoed": _vetoed(state) or None, "announced": announced}


def _note_lines(state: State) -> tuple[str, ...]:
    """Describe the captain in force, the veto of this turn and the announced action; nothing without a captain."""
    captain = owner(state)
    if captain is None:
        return ()
    spent = f", vetoed in this turn: {_vetoed(state)}" if _vetoed(state) else ""
    announced = _announced_action(state)
    asks = f"; asked about: {announced}" if announced is not None else ""
    return (f"the Crazy Captain of seat {captain} is in force{spent}{asks}",)


def _why_illegal(state: State, action: Action) -> str | None:
    """Return the sentence why an action is illegal by this expansion; None if it has no part in that."""
    if isinstance(action, Allow | Veto):
        return f'"{action.tag}": nothing is announced that you have the right to veto now'
    if isinstance(action, PlayCaptain) and state.round == ROUNDS:
        return f"the Crazy Captain cannot be played in round {ROUNDS}"
    if isinstance(action, PlayCaptain) and is_beside_row(state, NAME):
        return f"the Crazy Captain of seat {owner(state)} is in force in this round"
    if not isinstance(state.phase, Choice) and _is_barred(state, action):
        return f"{_vetoed(state)} was vetoed in this turn"
    return None


CRAZY_CAPTAIN: Final = Expansion(
    name=NAME,
    trick=Trick(NAME, {PlayCaptain: lambda state, _: lay_out(state, NAME)}, _list_plays),
    summary="""\
Expansion Crazy Captain, a trick: until the round ends you may veto one action
in each turn of your opponent; a placement that you veto is rolled again.""",
    all_actions=_PLAY + _ANSWERS,
    start=Vetoes(),
    effects={Allow: _carry_out_answer, Veto: _carry_out_answer},
    intercept=_intercept,
    restrict=_restrict,
    on_round_end=lambda state: clear_away(state, NAME),
    view=_view_entry,
    notes=_note_lines,
    why=_why_illegal,
)
