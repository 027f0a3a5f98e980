"""The position in a game of Shanghaien, as one immutable value.

Rule: a state holds what lies on the table, in the rule book's words, and no rules. Numbers are the card numbers 1..6
of a round, stored at index number-1; positions are 0..5 as seat 0 sees the row from the left.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from arena.games.api import Seat
from arena.games.shanghaien.cards import Card

if TYPE_CHECKING:
    from arena.games.shanghaien.actions import Action
    from arena.games.shanghaien.tricks import Trick

ROUNDS: Final = 8
ROW_SIZE: Final = 6
DICE_PER_PLAYER: Final = 6

End = Literal["left", "right"]
"""The end of the row, as seat 0 sees it, where the card number 1 lies."""


class Phase(Enum):
    """What the player to move is in the middle of; `SHUFFLE` and `ROLLING` wait for chance."""

    SHUFFLE = "shuffle"
    TURN = "turn"
    ROLLING = "rolling"
    ROLLED = "rolled"
    OVER = "over"


class Variant(msgspec.Struct, frozen=True):
    """What the options make of the game, the same for every state of a match.

    `faces` is the text form of each of the 48 cards; `tricks` the dirty tricks in play by their kind; `effects` the
    function (state, action) -> state of each type of action that a trick allows; `action_type` the union of all types
    of action, to read one from JSON.
    """

    faces: tuple[str, ...]
    tricks: Mapping[str, "Trick"]
    effects: Mapping[type["Action"], Callable[["State", Any], "State"]]
    action_type: Any


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


class State(msgspec.Struct, frozen=True):
    """The whole position.

    `round` counts from 1. `turns`: rolled turns of each seat in this round. `roll`: rolls of this turn. `dice`: the
    faces just rolled, empty otherwise. `to_place`: how many of them must be placed. `one_at`: where number 1 lies,
    None while the numbering is open. `gone`: cards out of the game.
    """

    variant: Variant
    phase: Phase
    round: int = 1
    to_move: Seat = Seat(0)
    turns: tuple[int, int] = (0, 0)
    roll: int = 0
    dice: tuple[int, ...] = ()
    to_place: int = 1
    row: tuple[Card, ...] = ()
    one_at: End | None = None
    pile: tuple[Card, ...] = ()
    gone: tuple[Card, ...] = ()
    players: tuple[Player, Player] = (Player(), Player())


def with_player(state: State, seat: Seat, player: Player) -> tuple[Player, Player]:
    """The pair of players with the one at `seat` replaced."""
    return (player, state.players[1]) if seat == 0 else (state.players[0], player)


def numbered(row: tuple[Card, ...], one_at: End) -> tuple[Card, ...]:
    """The row in the order of its numbers 1..6."""
    return row if one_at == "left" else row[::-1]
