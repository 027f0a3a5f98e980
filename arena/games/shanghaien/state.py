"""The position in a game of Shanghaien, as one immutable value.

Rule: a state holds what lies on the table, in the rule book's words, and no rules. Numbers are the card numbers 1..6
of a round, stored at index number-1; positions are 0..5 as seat 0 sees the row from the left.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final

import msgspec

from arena.games.api import Chance, Seat
from arena.games.shanghaien.actions import Action, End
from arena.games.shanghaien.cards import Card

ROUNDS: Final = 8
ROW_SIZE: Final = 6
DICE_PER_PLAYER: Final = 6
ENDS: Final[tuple[End, ...]] = ("left", "right")
_NO_CHOICE: Final = (None,)


class Phase(Enum):
    """What the player to move is in the middle of; `SHUFFLE` and `ROLLING` wait for chance.

    In an `INTERLUDE` the turn stands still while an expansion asks a seat, or chance, for something of its own.
    """

    SHUFFLE = "shuffle"
    TURN = "turn"
    ROLLING = "rolling"
    ROLLED = "rolled"
    INTERLUDE = "interlude"
    OVER = "over"


class Variant(msgspec.Struct, frozen=True):
    """What the options make of the game, the same for every state of a match.

    `faces` is the text form of each card, the 48 of the tavern first; `dealt` the trick cards each seat starts with;
    `table` those that start beside the row. `tricks` (of `tricks.Trick`) are the dirty tricks in play by their kind,
    `kinds` the kind of card that an action spends (a joker names its card itself), `effects` the function
    (state, action) -> state of each type of action. `expansions` (of `expansion.Expansion`) are in play, by name; both
    are defined on top of states, so the types here do not name them. The other fields are what the expansions
    contribute, in the order of play (by name, where one hook can keep the following ones waiting), and all empty in
    the base game: see `expansion.Expansion` for their meaning.
    """

    faces: tuple[str, ...]
    tricks: Mapping[str, Any]
    kinds: Mapping[type[Action], str]
    effects: Mapping[type[Action], Callable[["State", Any], "State"]]
    expansions: Mapping[str, Any] = {}
    dealt: tuple[tuple[Card, ...], tuple[Card, ...]] = ((), ())
    table: tuple[Card, ...] = ()
    on_rolled: Mapping[str, Callable[["State"], "State"]] = {}
    intercept: Mapping[str, Callable[["State", Action], "State | None"]] = {}
    on_placed: tuple[Callable[["State", tuple[int, ...]], "State"], ...] = ()
    on_round_end: tuple[Callable[["State"], "State"], ...] = ()
    restrict: tuple[Callable[["State", tuple[Action, ...]], tuple[Action, ...]], ...] = ()
    award: tuple[Callable[["State", tuple[Seat | None, ...]], tuple[Seat | None, ...]], ...] = ()


class Player(msgspec.Struct, frozen=True):
    """One player's side of the table.

    `placed`: dice on each card number. `strength`: sum of sailors and jokers of each nation, kept in step with
    `sailors` and `jokers` (pairs of the card and the index of its nation) because every request shows it.
    `tricks` are the unused dirty tricks.
    """

    placed: tuple[int, ...] = (0,) * ROW_SIZE
    sailors: tuple[Card, ...] = ()
    jokers: tuple[tuple[Card, int], ...] = ()
    strength: tuple[int, ...] = (0,) * 8
    tricks: tuple[Card, ...] = ()
    has_used_trick: bool = False

    @property
    def supply(self) -> int:
        """Dice not placed on a card."""
        return DICE_PER_PLAYER - sum(self.placed)


class Interlude(msgspec.Struct, frozen=True):
    """An expansion's question in the middle of a turn: to chance if there is a `chance`, else to `seat`.

    `by` names the expansion, `name` the question, as the view shows it in place of the phase.
    """

    by: str
    name: str
    seat: Seat
    chance: Chance | None = None


class State(msgspec.Struct, frozen=True):
    """The whole position.

    `round` counts from 1. `turns`: rolled turns of each seat in this round. `turn`: turns ended in this match. `roll`:
    rolls of this turn. `dice`: the faces just rolled, empty otherwise. `to_place`: how many of them may be placed,
    `must_place`: how many of them at least. `one_at`: where number 1 lies, None while the numbering is open, which
    it is only in the first turn of a round. `gone`: cards out of the game. `table`: trick cards that lie beside the
    row, in force or to be had. `extras`: what an expansion has to remember, by its name.
    """

    variant: Variant
    phase: Phase
    round: int = 1
    to_move: Seat = Seat(0)
    turns: tuple[int, int] = (0, 0)
    turn: int = 0
    roll: int = 0
    dice: tuple[int, ...] = ()
    to_place: int = 1
    must_place: int = 1
    row: tuple[Card, ...] = ()
    one_at: End | None = None
    pile: tuple[Card, ...] = ()
    gone: tuple[Card, ...] = ()
    players: tuple[Player, Player] = (Player(), Player())
    table: tuple[Card, ...] = ()
    interlude: Interlude | None = None
    extras: Mapping[str, Any] = {}


def numbering_choices(state: State) -> tuple[End | None, ...]:
    """The ends where the player to move may put number 1: both while the numbering is open, afterwards no choice."""
    return ENDS if state.one_at is None else _NO_CHOICE


def with_player(state: State, seat: Seat, player: Player) -> tuple[Player, Player]:
    """The pair of players with the one at `seat` replaced."""
    return (player, state.players[1]) if seat == 0 else (state.players[0], player)


def with_extra(state: State, name: str, extra: Any) -> Mapping[str, Any]:
    """The extras with those of the expansion `name` replaced."""
    return {**state.extras, name: extra}


def lying(state: State, kind: str) -> tuple[Card, ...]:
    """The trick cards of `kind` that lie beside the row."""
    if not state.table:
        return ()
    return tuple([card for card in state.table if state.variant.faces[card] == kind])


def numbered(row: tuple[Card, ...], one_at: End) -> tuple[Card, ...]:
    """The row in the order of its numbers 1..6."""
    return row if one_at == "left" else row[::-1]
