"""Pairings with the courses of their blocks: all that skills, matrix and calibration need of a league.

Rule: whole numbers only. Counts do not depend on the order of the matches, and all that is calculated from them
inherits that.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple, Protocol

MISSING = "-"
"""Stands for each rank of a match that is not there."""

Sign = int
"""1 if the first of two came out better, 0 for a tie, -1 if the other did."""


class PlayedPairing(Protocol):
    """Players who sit at one table, by place, and the course of each of their blocks (or how often each occurred).

    A course has n n characters for n players: by rotation and by seat, a digit for each rank. Seat s of rotation r
    belongs to place (s + r) mod n. Both `PairingSums` and `PairingRanks` are such a pairing.
    """

    @property
    def players(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def courses(self) -> Iterable[str] | Mapping[str, int]: ...  # noqa: D102


class Counted(NamedTuple):
    """A pairing by itself: how often each course occurred."""

    players: tuple[str, ...]
    courses: Mapping[str, int]


class SeatComparison(NamedTuple):
    """Two of the places of a table in the match of one rotation, with their seats."""

    rotation: int
    first: int
    second: int
    first_seat: int
    second_seat: int


class Pool(tuple[Counted, ...]):
    """Pairings that have been counted: sound, sorted by their players, each once and with a match."""

    __slots__ = ()


def pooled(pairings: Iterable[PlayedPairing]) -> Pool:
    """Count the courses of `pairings`, which is only done once; ValueError for what is none.

    Matches with unequal numbers of seats belong in pools of their own.
    """
    if isinstance(pairings, Pool):
        return pairings
    found: dict[tuple[str, ...], Mapping[str, int]] = {}
    for one in pairings:
        own = _counts(one.courses)
        found[one.players] = Counter(found[one.players]) + Counter(own) if one.players in found else own
    known = Pool(one for names in sorted(found) if _has_match(one := Counted(names, found[names])))
    sizes = {len(one.players) for one in known}
    if len(sizes) > 1:
        raise ValueError(f"matches of {' and of '.join(map(str, sorted(sizes)))} players cannot share one table")
    for one in known:
        size = len(one.players)
        if size < 2 or len(set(one.players)) != size or {*map(len, one.courses)} != {size * size}:
            raise ValueError(f"a pairing needs two or more different players and a rank for each, found {one}")
    return known


def _counts(courses: Iterable[str] | Mapping[str, int]) -> Mapping[str, int]:
    """The number of times that each course occurred."""
    if isinstance(courses, dict):
        return courses
    listed = [*courses]
    return {listed[0]: 1} if len(listed) == 1 else Counter(listed)


def _has_match(one: Counted) -> bool:
    return bool("".join(one.courses).strip(MISSING))


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


def connected_groups(players: Iterable[str], pairings: Iterable[PlayedPairing]) -> tuple[tuple[str, ...], ...]:
    """Split the players into groups that no match connects, directly or through others; the largest first.

    Within a group skills can be compared; between two groups nothing is known. KeyError for a match of a stranger.
    """
    leader = {name: name for name in sorted(set(players))}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    left = len(leader)
    for one in pairings:
        if left > 1 and _has_match(Counted(one.players, _counts(one.courses))):
            first, *others = sorted({find(name) for name in one.players})
            left -= len(others)
            leader.update(dict.fromkeys(others, first))
    groups: dict[str, list[str]] = {}
    for name in leader:
        groups.setdefault(find(name), []).append(name)
    return tuple(sorted(map(tuple, groups.values()), key=lambda group: (-len(group), group)))


def places_of(players: Iterable[str]) -> dict[str, int]:
    """The place of each player in the order of names."""
    return {name: place for place, name in enumerate(sorted(set(players)))}


def weight(seats: int) -> float:
    """The weight of one comparison, so that a match of n weighs as much as n - 1 comparisons."""
    return 2.0 / max(2, seats)
