"""Pairings with the courses of their blocks: all that skills and matrix need of a league.

Rule: whole numbers only. Counts do not depend on the order of the matches, and all that is calculated from them
inherits that.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

MISSING = "-"
"""Stands for each rank of a match that is not there."""

Sign = int
"""1 if the first of two came out better, 0 for a tie, -1 if the other did."""


class PlayedPairing(Protocol):
    """Players who sit at one table, by place, and the course of each of their blocks.

    A course has n n characters for n players: by rotation and by seat, a digit for each rank. Seat s of rotation r
    belongs to place (s + r) mod n.
    """

    @property
    def players(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def courses(self) -> Sequence[str]: ...  # noqa: D102


class SeatComparison(NamedTuple):
    """Two of the places of a table in the match of one rotation, with their seats."""

    rotation: int
    first: int
    second: int
    first_seat: int
    second_seat: int


@lru_cache
def comparisons(seats: int) -> tuple[SeatComparison, ...]:
    """All comparisons of a complete block: in each rotation every two places."""
    return tuple(
        SeatComparison(rotation, first, second, (first - rotation) % seats, (second - rotation) % seats)
        for rotation in range(seats)
        for first in range(seats)
        for second in range(first + 1, seats)
    )


@lru_cache(maxsize=65536)
def signs(course: str, seats: int) -> tuple[Sign | None, ...]:
    """The outcome of each of the `comparisons` of a block; None for those of a match that is not there."""
    found: list[Sign | None] = []
    for one in comparisons(seats):
        own, other = (course[one.rotation * seats + seat] for seat in (one.first_seat, one.second_seat))
        found.append(None if own == MISSING else (own < other) - (own > other))
    return tuple(found)


def weight(seats: int) -> float:
    """The weight of one comparison, so that a match of n weighs as much as n - 1 comparisons."""
    return 2.0 / max(2, seats)
