"""A finished match as columns, whole numbers and text: so it travels from a worker, and so it is stored.

Rule: columns are made where a match is played, so that nobody who stores them has to compute; a reader compares those
that follow from others. Values that no match can have are a ValueError or TypeError.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple

import msgspec

from arena.match.record import PackedRecord, Termination
from arena.match.results import MatchKey, MatchResult, PlayedMatch, margins_of, points, rotate, score_unit

_KINDS: Final = frozenset((int, type(None)))


class MatchColumns(NamedTuple):
    """The columns of a match.

    `ranks` has a digit for each seat. `score_unit`: scores and margins count in parts of 1 / `score_unit`. `seats` has
    by place points, score, margin, luck, moves, time_us, slowest_us, startup_us, idle_us and timeouts_by_load.
    `pardons` are places, codes and counts.
    """

    ranks: str
    termination: str
    at_fault: int | None
    isolation: str
    luck_version: str
    score_unit: int
    seats: tuple[tuple[int | None, ...], ...]
    pardons: tuple[tuple[int, str, int], ...] = ()


class StorableMatch(NamedTuple):
    """A match as it is stored: its rotation, its columns, and codec, digest and body of its record."""

    rotation: int
    columns: MatchColumns
    record: tuple[str, str, bytes]


class Machine(NamedTuple):
    """The machine of a cluster's worker, by the name that it has for its organiser.

    `speed` is that of `arena.doctor.machine.speed`, to a tenth.
    """

    name: str
    speed: float


class PlayedBlock(msgspec.Struct, frozen=True):
    """All matches of a block; none, and `void` says why, if it was void each time it was played. `players` by place.

    `machine` is that on which all of them were played, None for the driver's own.
    """

    pairing: str
    block: int
    players: tuple[str, ...] = ()
    storable: tuple[StorableMatch, ...] = ()
    void: str = ""
    machine: Machine | None = None

    @classmethod
    def of(cls, matches: Sequence[PlayedMatch]) -> "PlayedBlock":
        """The block of these matches, of which there is one at least."""
        first = matches[0].result
        storable = [
            StorableMatch(result.key.rotation, columns_of(result), (record.codec, record.digest, record.body))
            for result, record in ((each.result, each.record) for each in matches)
        ]
        return cls(first.key.pairing, first.key.block, first.places, tuple(storable))

    @property
    def matches(self) -> tuple[PlayedMatch, ...]:
        """Its matches, computed each time from their columns."""
        return tuple(
            [
                PlayedMatch(
                    result_from(MatchKey(self.pairing, self.block, rotation), self.players, columns),
                    PackedRecord(*record),
                )
                for rotation, columns, record in self.storable
            ]
        )

    @property
    def forfeits(self) -> int:
        """The number of its matches that somebody forfeited."""
        return sum([one.columns.at_fault is not None for one in self.storable])


def columns_of(one: MatchResult) -> MatchColumns:
    """The columns of a result."""
    unit, none = score_unit(one.scores or ()), (None,) * len(one.ranks)
    by_seat = tuple(
        zip(
            one.points,
            none if one.scores is None else [int(score * unit) for score in one.scores],
            none if one.margins is None else [int(margin * unit) for margin in one.margins],
            one.luck or none,
            *(one.moves, one.time_us, one.slowest_us, one.startup_us, one.idle_us, one.timeouts_by_load),
            strict=True,
        )
    )
    back = -one.key.rotation % len(one.ranks)
    pardons = [
        (place, code, count)
        for place, own in enumerate(rotate(one.pardoned, back) if one.pardoned else ())
        for code, count in own.items()
    ]
    ranks = "".join(map(str, one.ranks))
    told = (ranks, one.termination.value, one.at_fault, one.isolation, one.luck_version, unit)
    return MatchColumns(*told, rotate(by_seat, back), tuple(pardons))


def result_from(key: MatchKey, players: tuple[str, ...], found: MatchColumns) -> MatchResult:
    """The result with these columns; `players` by place. ValueError or TypeError if they are not those of one match."""
    # A million matches are read at once: whole numbers are compared before any becomes a fraction.
    text, termination, at_fault, isolation, version, unit, seats, pardons = found
    if not 0 <= key.rotation < len(players):
        raise ValueError("its rotation is none of the pairing")
    by_seat = rotate(seats, key.rotation)
    if type(isolation) is not str or type(version) is not str:
        raise TypeError("its isolation or its luck version is no text")
    if not _KINDS.issuperset(map(type, chain(*by_seat))):
        raise TypeError("a value of a seat is no whole number")
    if type(unit) is not int or unit < 1:
        raise ValueError(f"scores count in parts of 1 / {unit}")
    gained, parts, margins, luck, *counts = zip(*by_seat, strict=True)
    ranks, due = _ranks(text)
    scores, due_margins = _scored(parts, unit)
    is_luck_whole = None not in luck if version else {*luck} == {None}
    if gained != due or margins != due_margins or not is_luck_whole:
        raise ValueError("its points, margins and luck do not fit its ranks, scores and version")
    if min(map(min, counts)) < 0:
        raise ValueError("a count or a time is below 0")
    pardoned = _pardoned(pardons, key.rotation, len(players)) if pardons else ()
    named = (key, rotate(players, key.rotation), ranks, scores, _termination(termination), at_fault, isolation)
    # Fields of results have the order of the columns.
    fields: tuple[Any, ...] = (*named, *counts, luck if version else (), version, pardoned)
    return MatchResult(*fields)


_termination = lru_cache(Termination)


@lru_cache(maxsize=4096)
def _ranks(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ranks by seat, and the points they are worth."""
    ranks = tuple(map(int, text))
    return ranks, points(ranks)


@lru_cache(maxsize=1 << 14)
def _scored(parts: tuple[int | None, ...], unit: int) -> tuple[tuple[Fraction, ...] | None, tuple[int | None, ...]]:
    """Scores in parts of 1 / `unit` -> the scores, and the margins in the same parts; nothing without scores."""
    known = [part for part in parts if part is not None]
    if not known:
        return None, parts
    return tuple([Fraction(part, unit) for part in known]), margins_of(known)


def _pardoned(rows: Iterable[tuple[int, str, int]], rotation: int, seats: int) -> tuple[dict[str, int], ...]:
    counts: list[dict[str, int]] = [{} for _ in range(seats)]
    for place, code, count in rows:
        if not 0 <= place < seats:
            raise ValueError(f"faults are counted for place {place} of {seats}")
        counts[(place - rotation) % seats][code] = count
    return tuple(counts) if any(counts) else ()
