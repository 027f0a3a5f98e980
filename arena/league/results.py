"""What comes back from play: blocks of matches, and of each match the little that standings need.

Rule: plain values between worker, store and standings; the same summary in all three.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from arena.league.schedule import Fixture, Pairing
from arena.match.luck_sum import MatchLuck
from arena.match.record import PARDONABLE, MatchRecord, PackedRecord, Termination
from arena.standings.table import MatchResult

N = TypeVar("N", int, float)
LUCK_DIGITS: Final = 6
"""Decimals of a stored sum of luck: whole millionths add up to the same in any order."""
_NORMAL: Final = Termination.NORMAL.value
_TERMINATIONS: Final = frozenset(kind.value for kind in Termination)


class MatchSummary(msgspec.Struct, frozen=True):
    """The part of a record that standings need, by seat; times in milliseconds, `at_fault` -1 for nobody.

    `luck` is what `arena.match.luck_sum` measured, in payoff, under the value of that version; empty if nothing was.
    `pardoned` counts, by their code, the faults of each seat after which the game went on; empty if there were none.
    `startup_ms`, `idle_ms` and `timeouts_by_load` are as in `SeatRecord`; empty if they are 0 for all seats.
    """

    ranks: tuple[int, ...]
    scores: tuple[int, ...] | None
    termination: str
    at_fault: int
    moves: tuple[int, ...]
    time_ms: tuple[float, ...]
    slowest_ms: tuple[float, ...]
    isolation: str = "none"
    luck: tuple[float, ...] = ()
    luck_version: str = ""
    pardoned: tuple[dict[str, int], ...] = ()
    startup_ms: tuple[float, ...] = ()
    idle_ms: tuple[float, ...] = ()
    timeouts_by_load: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no match can have come to, wherever it is read from."""
        seats = len(self.ranks)
        scored = seats if self.scores is None else len(self.scores)
        is_whole = seats == scored == len(self.moves) == len(self.time_ms) == len(self.slowest_ms)
        if seats < 2 or not is_whole or min(self.ranks) < 0:
            raise ValueError("a summary needs a value for each of at least 2 seats")
        if len(self.luck) != (seats if self.luck_version else 0):
            raise ValueError("luck needs a version, and a value for each seat")
        if self.pardoned and (len(self.pardoned) != seats or not all(map(_is_pardonable, self.pardoned))):
            raise ValueError(f"pardoned faults are counted by seat and by {', '.join(PARDONABLE)}")
        if any(part and len(part) != seats for part in (self.startup_ms, self.idle_ms, self.timeouts_by_load)):
            raise ValueError("times are given for each seat or for none")
        if (self.termination == _NORMAL) != (self.scores is not None and self.at_fault == -1):
            raise ValueError(f"termination {self.termination} does not fit scores and fault")
        if self.termination not in _TERMINATIONS or not -1 <= self.at_fault < seats:
            raise ValueError(f"unknown termination {self.termination}, or no seat {self.at_fault}")


class PlayedMatch(msgspec.Struct, frozen=True):
    """One finished match as it goes to the store."""

    rotation: int
    summary: MatchSummary
    record: PackedRecord


class PlayedBlock(msgspec.Struct, frozen=True):
    """All matches of a fixture; none, and `void` says why, if it was void each time it was played."""

    fixture: Fixture
    matches: tuple[PlayedMatch, ...]
    void: str = ""


def summarise(record: MatchRecord, luck: MatchLuck | None = None) -> MatchSummary:
    """The summary of a record, with its luck if that was measured and the game has a value."""
    version = "" if luck is None else luck.version
    return MatchSummary(
        ranks=record.ranks,
        scores=None if record.scores is None else tuple(map(int, record.scores)),
        termination=record.termination.value,
        at_fault=-1 if record.fault is None else record.fault.seat,
        moves=tuple(seat.moves for seat in record.seats),
        time_ms=tuple(seat.cpu_ms if seat.decides == "cpu" else seat.wall_ms for seat in record.seats),
        slowest_ms=tuple(seat.slowest_ms for seat in record.seats),
        isolation=record.isolation,
        luck=tuple(round(own, LUCK_DIGITS) for own in luck.by_seat) if luck is not None and version else (),
        luck_version=version,
        pardoned=_pardoned(record),
        startup_ms=_unless_all_0(seat.startup_ms or 0.0 for seat in record.seats),
        idle_ms=_unless_all_0(seat.idle_ms or 0.0 for seat in record.seats),
        timeouts_by_load=_unless_all_0(seat.timeouts_by_load or 0 for seat in record.seats),
    )


def _unless_all_0(values: Iterable[N]) -> tuple[N, ...]:
    found = tuple(values)
    return found if any(found) else ()


def _pardoned(record: MatchRecord) -> tuple[dict[str, int], ...]:
    counts = tuple({} if seat.faults is UNSET else seat.faults for seat in record.seats)
    return counts if any(counts) else ()


def _is_pardonable(counts: dict[str, int]) -> bool:
    return all(code in PARDONABLE and count > 0 for code, count in counts.items())


def rotate(players: Sequence[Any], rotation: int) -> list[Any]:
    """By seat: seat s belongs to player (s + rotation) mod n."""
    return [players[(seat + rotation) % len(players)] for seat in range(len(players))]


def result_of(summary: MatchSummary, pairs: Sequence[Pairing], *, order: int, block: int, rotation: int) -> MatchResult:
    """The summary as a result of the league whose pairings are `pairs`, of the one at index `order`."""
    names = [player.name for player in pairs[order].players]
    return MatchResult(
        block=block * len(pairs) + order,
        pairing=order,
        players=tuple(rotate(names, rotation)),
        ranks=summary.ranks,
        scores=summary.scores,
        termination=summary.termination,
        at_fault=summary.at_fault,
        moves=summary.moves,
        time_ms=summary.time_ms,
        slowest_ms=summary.slowest_ms,
        isolation=summary.isolation,
        luck=summary.luck,
        luck_version=summary.luck_version,
        pardoned=summary.pardoned,
        startup_ms=summary.startup_ms,
        idle_ms=summary.idle_ms,
        timeouts_by_load=summary.timeouts_by_load,
    )
