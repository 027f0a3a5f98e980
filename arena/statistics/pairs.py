"""Pairings with the ranks of their blocks: all that skills and matrix need of a league.

Rule: whole numbers only. Counts do not depend on the order of the matches, and all that is calculated from them
inherits that.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

MISSING = "-"
"""The rank in a match that is not stored."""

Sign = int
"""1 if the first of two came out better, 0 for a tie, -1 if the other did."""


class PlayedPairing(Protocol):
    """The players of one table, by place, and the ranks of each of their blocks.

    The ranks of a block are n n characters for n players: by rotation and by seat, a digit for each rank. Seat s of
    rotation r belongs to place (s + r) mod n.
    """

    @property
    def players(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def block_ranks(self) -> Sequence[str]: ...  # noqa: D102


class SeatComparison(NamedTuple):
    """A comparison of two places of a table in the match of one rotation, with their seats."""

    rotation: int
    first: int
    second: int
    first_seat: int
    second_seat: int


@lru_cache
def comparisons(seats: int) -> tuple[SeatComparison, ...]:
    """Return the comparisons of a complete block: every two places in each rotation."""
    return tuple(
        SeatComparison(rotation, first, second, (first - rotation) % seats, (second - rotation) % seats)
        for rotation in range(seats)
        for first in range(seats)
        for second in range(first + 1, seats)
    )


@lru_cache(maxsize=65536)
def signs(block_ranks: str, seats: int) -> tuple[Sign | None, ...]:
    """Return the outcome of each of the `comparisons` of a block; None for those of a missing match."""
    outcomes: list[Sign | None] = []
    for row in comparisons(seats):
        rank, other_rank = (block_ranks[row.rotation * seats + seat] for seat in (row.first_seat, row.second_seat))
        outcomes.append(None if rank == MISSING else (rank < other_rank) - (rank > other_rank))
    return tuple(outcomes)


def weight(seats: int) -> float:
    """Return the weight of one comparison, with which a match of n weighs as much as n - 1 comparisons."""
    return 2.0 / max(2, seats)
