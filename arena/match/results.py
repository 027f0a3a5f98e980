"""A finished match, the one shape that schedules, standings, pages and the store read; a record is its full story.

Rule: exact values only. Times are whole microseconds, luck whole millionths of a payoff, scores fractions: sums of them
are the same in any order, in Python and in SQL.
"""

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import lcm
from typing import Final, NamedTuple, TypeVar

import msgspec

from arena.errors import CheckFailed
from arena.games.api import MOST_SEATS, ranks_by_score
from arena.match.luck import MatchLuck
from arena.match.record import FAULTS, PARDONABLE, MatchRecord, Termination, unpack

T = TypeVar("T")
N = TypeVar("N", int, Fraction)
MOST_SCORE: Final = 1 << 61
"""The largest score of a seat, in the smallest unit of the match: scores and margins fit into 64 bits."""
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
        """Return the id that people use: `<pairing>-<block>-<rotation>`."""
        return f"{self.pairing}-{self.block}-{self.rotation}"

    @classmethod
    def read(cls, match_id: str) -> "MatchKey":
        """Read the id of a match. ValueError for any other text."""
        pairing, *numbers = match_id.split("-")
        if len(numbers) == 2 and all(number.isascii() and number.isdigit() for number in numbers):
            key = cls(pairing, *map(int, numbers))
            if str(key) == match_id:  # no leading zero: a match has one id
                return key
        raise ValueError(f"{match_id:.80} is no id of a match; expected PAIRING-BLOCK-ROTATION")


def partners(match_id: str, seats: int) -> tuple[str, ...]:
    """Return the other matches of the block: same luck, seats rotated. Empty for an id of no pairing."""
    try:
        key = MatchKey.read(match_id)
    except ValueError:
        return ()
    return tuple(str(key._replace(rotation=rotation)) for rotation in range(seats) if rotation != key.rotation)


class MatchResult(msgspec.Struct, frozen=True, gc=False):
    """A finished match. All tuples are by seat, of 2 to 10 seats.

    `ranks`: how many others came out better, so that equal ones are a tie. `scores` is None after a forfeit, `at_fault`
    (a seat) None without one. `time_us` is all deciding time of a seat, `slowest_us` that of its slowest move.
    `luck` is empty if none was measured, and otherwise under the value of the game of that `luck_version`. `pardoned`
    counts by code the faults after which the game went on; empty if there were none.
    `record` is the packed record; empty where only the result is asked for.
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
    record: bytes = b""

    def __post_init__(self) -> None:
        """Check the values, wherever they are read from. ValueError for what no match can end with."""
        seats = len(self.ranks)
        if not 2 <= seats <= MOST_SEATS or not _are_ranks(self.ranks):
            raise ValueError(f"expected ranks of 2 to {MOST_SEATS} seats, found {self.ranks}")
        times = (self.time_us, self.slowest_us, self.startup_us, self.idle_us, self.timeouts_by_load)
        if {*map(len, (self.players, self.moves, *times, self.scores or self.ranks))} != {seats}:
            raise ValueError(f"expected a value for each of {seats} seats in all of {self}")
        if len(self.luck) != (seats if self.luck_version else 0):
            raise ValueError("luck needs a version, and a value for each seat")
        if self.pardoned and (len(self.pardoned) != seats or not all(map(_is_pardonable, self.pardoned))):
            raise ValueError(f"pardoned faults are counted by seat and by {', '.join(PARDONABLE)}")
        is_normal = self.termination is Termination.NORMAL
        if (self.scores is not None, self.at_fault is None) != (is_normal, is_normal) or (
            not is_normal and self.termination not in FAULTS
        ):
            raise ValueError(f"termination {self.termination} does not fit scores and fault")
        if self.at_fault is not None and not 0 <= self.at_fault < seats:
            raise ValueError(f"expected a seat at fault, found {self.at_fault}")
        if self.scores is not None and not _fit_64_bits(self.scores):
            raise ValueError(f"expected scores of at most {MOST_SCORE} in their smallest unit, found {self.scores}")

    @property
    def points(self) -> tuple[int, ...]:
        """The points by seat: 2 for each other seat beaten, 1 for each one tied."""
        return points(self.ranks)

    @property
    def margins(self) -> tuple[Fraction, ...] | None:
        """The margins by seat: its score minus the best of the others; None after a forfeit."""
        return None if self.scores is None else margins_of(self.scores)

    @property
    def places(self) -> tuple[str, ...]:
        """The players by place in their pairing."""
        return rotate(self.players, -self.key.rotation % len(self.players))


class PairingRanks(msgspec.Struct, frozen=True, dict=True):
    """The ranks of all stored matches of a pairing, block by block.

    `blocks` are their numbers, ascending. `ranks` has n n characters a block for n seats: in the order of rotations and
    of seats, a digit for each rank; n hyphens stand for a match that is not there.
    """

    players: tuple[str, ...]
    blocks: Sequence[int]
    ranks: str

    @property
    def matches(self) -> int:
        """The number of stored matches."""
        return (len(self.ranks) - self.ranks.count("-")) // len(self.players)

    @cached_property
    def block_ranks(self) -> list[str]:
        """The ranks of each block, n n characters for n seats."""
        size = len(self.players) ** 2
        return [self.ranks[start : start + size] for start in range(0, len(self.ranks), size)]

    def between(self, first: int, end: int) -> "PairingRanks":
        """Return the blocks with numbers from `first` to before `end`."""
        if not self.blocks or (first <= self.blocks[0] and self.blocks[-1] < end):
            return self
        size = len(self.players) ** 2
        start, stop = bisect_left(self.blocks, first), bisect_left(self.blocks, end)
        return PairingRanks(self.players, self.blocks[start:stop], self.ranks[start * size : stop * size])

    def __add__(self, other: "PairingRanks") -> "PairingRanks":
        """Join the blocks of two parts of one pairing. ValueError for a block that is in both."""
        by_block = dict(zip(self.blocks, self.block_ranks, strict=True))
        by_block.update(zip(other.blocks, other.block_ranks, strict=True))
        if len(by_block) != len(self.blocks) + len(other.blocks):
            raise ValueError(f"{self.players}: a block is there twice")
        ordered = sorted(by_block)
        return PairingRanks(self.players, ordered, "".join([by_block[block] for block in ordered]))


def result_of(record: MatchRecord, luck: MatchLuck | None = None) -> MatchResult:
    """Return the result of a recorded match, with its luck if that was measured and the game has a value.

    ValueError for a record that is no match of a pairing, or that contradicts itself.
    """
    version = "" if luck is None else luck.version
    return MatchResult(
        key=MatchKey.read(record.match),
        players=record.players,
        ranks=canonical_ranks(record.ranks),
        scores=record.scores,
        termination=record.termination,
        at_fault=None if record.fault is None else record.fault.seat,
        isolation=record.isolation,
        moves=tuple([seat.moves for seat in record.seats]),
        time_us=tuple([microseconds(seat.deciding_ms) for seat in record.seats]),
        slowest_us=tuple([microseconds(seat.slowest_ms) for seat in record.seats]),
        startup_us=tuple([microseconds(seat.startup_ms or 0.0) for seat in record.seats]),
        idle_us=tuple([microseconds(seat.idle_ms or 0.0) for seat in record.seats]),
        timeouts_by_load=tuple([seat.timeouts_by_load or 0 for seat in record.seats]),
        luck=tuple([round(payoff * LUCK_UNIT) for payoff in luck.by_seat]) if luck is not None and version else (),
        luck_version=version,
        pardoned=_pardoned_faults(record),
    )


def record_of(match: MatchResult) -> MatchRecord:
    """Unpack the record that a match has with it. CheckFailed if its bytes are no record."""
    try:
        return unpack(match.record)
    except ValueError as error:
        raise CheckFailed(f"match {match.key}: {error}") from None


def microseconds(milliseconds: float) -> int:
    """Round to whole microseconds, as results have them."""
    return round(milliseconds * 1000)


def score_unit(scores: Sequence[Fraction]) -> int:
    """Return the smallest n for which all `scores` are whole multiples of 1/n."""
    return lcm(*[score.denominator for score in scores])


def _fit_64_bits(scores: Sequence[Fraction]) -> bool:
    """Return True if scores and margins fit into 64 bits, in the smallest unit of the match.

    Whole numbers come first: a million results are read at once, and fractions compare ten times as slowly.
    """
    for score in scores:
        if score.denominator != 1 or not -MOST_SCORE <= score.numerator <= MOST_SCORE:
            break
    else:
        return True
    unit = score_unit(scores)
    return max([abs(score.numerator) * (unit // score.denominator) for score in scores]) <= MOST_SCORE


@lru_cache(maxsize=4096)
def _are_ranks(ranks: tuple[int, ...]) -> bool:
    """Return True if each rank is the number of seats that came out better."""
    return ranks == canonical_ranks(ranks)


def canonical_ranks(ranks: Sequence[int]) -> tuple[int, ...]:
    """Return the ranks in the same order as canonical numbers: how many came out better."""
    return ranks_by_score([-rank for rank in ranks])


def points(ranks: Sequence[int]) -> tuple[int, ...]:
    """Return the points by seat: 2 for each other seat beaten, 1 for each one tied."""
    return tuple([sum(2 * (rank < other) + (rank == other) for other in ranks) - 1 for rank in ranks])


def margins_of(scores: Sequence[N]) -> tuple[N, ...]:
    """Return the margins by seat: its score minus the best of the others."""
    second, best = sorted(scores)[-2:]
    return tuple([score - (second if score == best else best) for score in scores])


def rotate(places: Sequence[T], rotation: int) -> tuple[T, ...]:
    """Turn values by place in a pairing into values by seat: seat s belongs to place (s + rotation) mod n."""
    return (*places[rotation:], *places[:rotation])


def _pardoned_faults(record: MatchRecord) -> tuple[dict[str, int], ...]:
    """Return the faults after which the match went on, by seat, in order of their codes."""
    counts = tuple([dict(sorted((seat.faults or {}).items())) for seat in record.seats])
    return counts if any(counts) else ()


def _is_pardonable(counts: dict[str, int]) -> bool:
    """Return True if only faults that can be pardoned are counted, each once or more."""
    return all(code in PARDONABLE and count > 0 for code, count in counts.items())
