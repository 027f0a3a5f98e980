"""A game with all that the small ones lack: 2 to 10 seats, private actions, weights, scores that are fractions.

Each seat in turn buys 1 to 3 tickets, in secret: the others hear that it bought some, seat 0 alone hears how many. Then
one ticket wins: its owner gets the price of all tickets, in shares of the tickets that it holds itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import ClassVar, Final

import msgspec

from arena.games.api import (
    Chance,
    Decision,
    Json,
    Number,
    Outcome,
    Over,
    Seat,
    Turn,
    Weighted,
    ranks_by_score,
    with_names,
)
from arena.games.base import BaseGame, NoOptions
from support.plugin_packages import bundled


class Buy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Buy so many tickets."""

    tickets: Number

    def __str__(self) -> str:
        return f"buys {self.tickets}"


BUYS: Final = tuple(map(Buy, (1, 2, 3)))


class State(msgspec.Struct, frozen=True):
    """`bought` by the seats that have acted, in their order."""

    seats: int
    bought: tuple[int, ...] = ()
    winner: int | None = None


class Lottery(BaseGame):
    """The game as `arena.games.api.Game` asks for it."""

    name: ClassVar[str] = "lottery"
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = tuple(range(2, 11))
    action_type = Buy

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        self.read_options(options, seats, NoOptions)
        return State(seats)

    def turn(self, state: State) -> Turn:
        if len(state.bought) < state.seats:
            return Decision((Seat(len(state.bought)),))
        return Chance("ticket", Weighted(state.bought)) if state.winner is None else Over()

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        is_known = state.winner is not None
        shown = [count if is_known or seat in {0, own} else None for own, count in enumerate(state.bought)]
        return {"you": seat, "bought": shown, "winner": state.winner}

    def legal(self, state: State, seat: Seat) -> tuple[Buy, ...]:
        return BUYS if self.turn(state) == Decision((seat,)) else ()

    def apply(self, state: State, actions: Mapping[Seat, Buy]) -> State:
        (buy,) = actions.values()
        return State(state.seats, (*state.bought, buy.tickets))

    def heard(self, state: State, seat: Seat, action: Buy) -> list[Json]:  # noqa: ARG002 - the signature of the contract
        return [action, *[{"tickets": None}] * (state.seats - 1)]

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        return State(state.seats, state.bought, drawn[0])

    def outcome(self, state: State) -> Outcome:
        price = Fraction(sum(state.bought))
        scores = [price / own if seat == state.winner else -Fraction(own, 3) for seat, own in enumerate(state.bought)]
        return Outcome(scores=tuple(scores), ranks=ranks_by_score(scores))

    def describe(self, state: State, names: Sequence[str] = ()) -> str:
        bought = [f"seat {seat} bought {count}" for seat, count in enumerate(state.bought)]
        return with_names("\n".join([*bought, f"winner: {state.winner}"]), names)


GAME: Final = Lottery()


@contextmanager
def lottery_on_offer() -> Iterator[None]:
    """Within, the lottery is one of arena's games, which a record can name."""
    with bundled(Lottery.name, f"{__name__}:GAME"):
        yield
