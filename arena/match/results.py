"""A finished match, the one shape that schedules, standings, pages and the store read; a record is its full story.

Rule: exact values only. Times are whole microseconds, luck whole millionths of a payoff, scores fractions: sums of them
are the same in any order, in Python and in SQL.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

import msgspec

from arena.match.record import FAULTS, PARDONABLE, PackedRecord, Termination

MOST_SEATS: Final = 10
"""The rank of a seat is one digit."""
LUCK_UNIT: Final = 1_000_000
"""Luck counts in millionths of a payoff, of which 1 is a win."""


class MatchKey(NamedTuple):
    """The place of a match: the key of its pairing, the block of that pairing, and the rotation of the seats.

    Seat s belongs to place (s + rotation) mod n of the pairing.
    """

    pairing: str
    block: int
    rotation: int

    def __str__(self) -> str:
        return f"{self.pairing}-{self.block}-{self.rotation}"


class MatchResult(msgspec.Struct, frozen=True, gc=False):
    """A finished match. All tuples are by seat, of 2 to 10 seats.

    `ranks`: how many others came out better, so that equal ones are a tie. `scores` is None after a forfeit, `at_fault`
    (a seat) None without one. `time_us` is all deciding time of a seat, `slowest_us` that of its slowest move.
    `luck` is empty if none was measured, and otherwise under the value of the game of that `luck_version`. `pardoned`
    counts by code the faults after which the game went on; empty if there were none.
    """

    key: MatchKey
    players: tuple[str, ...]
    ranks: tuple[int, ...]
    scores: tuple[Fraction, ...] | None
    termination: Termination
    at_fault: int | None
    isolation: str
    moves: tuple[int, ...]
    time_us: tuple[int, ...]
    slowest_us: tuple[int, ...]
    startup_us: tuple[int, ...]
    idle_us: tuple[int, ...]
    timeouts_by_load: tuple[int, ...]
    luck: tuple[int, ...] = ()
    luck_version: str = ""
    pardoned: tuple[dict[str, int], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no match can have come to, wherever it is read from: ValueError."""
        seats = len(self.ranks)
        if not 2 <= seats <= MOST_SEATS or self.ranks != ranked(self.ranks):
            raise ValueError(f"expected ranks of 2 to {MOST_SEATS} seats, found {self.ranks}")
        by_seat = (self.players, self.moves, self.time_us, self.slowest_us, self.startup_us, self.idle_us)
        if any(len(each) != seats for each in (*by_seat, self.timeouts_by_load, self.scores or self.ranks)):
            raise ValueError(f"expected a value for each of {seats} seats in all of {self}")
        if len(self.luck) != (seats if self.luck_version else 0):
            raise ValueError("luck needs a version, and a value for each seat")
        if self.pardoned and (len(self.pardoned) != seats or not all(map(_is_pardonable, self.pardoned))):
            raise ValueError(f"pardoned faults are counted by seat and by {', '.join(PARDONABLE)}")
        is_normal = self.termination is Termination.NORMAL
        if is_normal != (self.scores is not None and self.at_fault is None) or (
            not is_normal and self.termination not in FAULTS
        ):
            raise ValueError(f"termination {self.termination} does not fit scores and fault")
        if self.at_fault is not None and not 0 <= self.at_fault < seats:
            raise ValueError(f"expected a seat at fault, found {self.at_fault}")

    @property
    def points(self) -> tuple[int, ...]:
        """By seat: 2 for each other seat beaten, 1 for each one tied."""
        return points(self.ranks)

    @property
    def margins(self) -> tuple[Fraction, ...] | None:
        """By seat: the own score minus the best of the others; None after a forfeit."""
        if self.scores is None:
            return None
        second, best = sorted(self.scores)[-2:]
        return tuple(own - (second if own == best else best) for own in self.scores)


class PlayedMatch(msgspec.Struct, frozen=True):
    """A finished match with its record, as it comes from a worker and as it is stored."""

    result: MatchResult
    record: PackedRecord


class PairingRanks(msgspec.Struct, frozen=True):
    """The ranks of all stored matches of a pairing, block by block.

    `blocks` are their numbers, ascending. `ranks` has n n characters a block for n seats: in the order of rotations and
    of seats, a digit for each rank; n hyphens stand for a match that is not there.
    """

    players: tuple[str, ...]
    blocks: Sequence[int]
    ranks: str

    @property
    def matches(self) -> int:
        """How many there are."""
        return (len(self.ranks) - self.ranks.count("-")) // len(self.players)

    @property
    def courses(self) -> Iterator[str]:
        """The ranks of each block: the n n characters that belong to it."""
        size = len(self.players) ** 2
        return (self.ranks[start : start + size] for start in range(0, len(self.ranks), size))

    def between(self, first: int, end: int) -> "PairingRanks":
        """The blocks from number `first` to before `end`."""
        size = len(self.players) ** 2
        start, stop = bisect_left(self.blocks, first), bisect_left(self.blocks, end)
        if stop - start == len(self.blocks):
            return self
        return PairingRanks(self.players, self.blocks[start:stop], self.ranks[start * size : stop * size])

    def __add__(self, other: "PairingRanks") -> "PairingRanks":
        """Both together, of one pairing. ValueError for a block that is in both."""
        found = dict(zip(self.blocks, self.courses, strict=True))
        found.update(zip(other.blocks, other.courses, strict=True))
        if len(found) != len(self.blocks) + len(other.blocks):
            raise ValueError(f"{self.players}: a block is there twice")
        ordered = sorted(found)
        return PairingRanks(self.players, ordered, "".join([found[block] for block in ordered]))


def finishes(players: Sequence[str], course: str) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """The players and ranks by seat of each match of a block, of which `course` are the ranks; `players` by place."""
    seats = len(players)
    for rotation in range(seats):
        ranks = course[rotation * seats : (rotation + 1) * seats]
        if not ranks.startswith("-"):
            yield rotate(players, rotation), tuple(map(int, ranks))


def ranked(ranks: Sequence[int]) -> tuple[int, ...]:
    """The same order with canonical numbers: how many came out better."""
    return tuple([sum(other < own for other in ranks) for own in ranks])


def points(ranks: Sequence[int]) -> tuple[int, ...]:
    """By seat: 2 for each other seat beaten, 1 for each one tied."""
    return tuple([sum(2 * (own < other) + (own == other) for other in ranks) - 1 for own in ranks])


def rotate(places: Sequence[str], rotation: int) -> tuple[str, ...]:
    """The players of a pairing by seat: seat s belongs to place (s + rotation) mod n."""
    return (*places[rotation:], *places[:rotation])


def _is_pardonable(counts: dict[str, int]) -> bool:
    return all(code in PARDONABLE and count > 0 for code, count in counts.items())
