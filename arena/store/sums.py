"""Sums of pairings, straight from the columns: SQLite reads a million matches in a second.

Rule: equal to `arena.standings.sums` over the single matches, to the last digit, or DamagedStore. Rows are read by
pairing in the order of the primary key and joined into texts by SQLite; numpy cuts these into blocks and adds, in 64
bits where that is enough and in whole numbers of any length where it is not.
"""

import sqlite3
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, Final, NamedTuple

import numpy as np

from arena.match.record import FAULTS, PARDONABLE
from arena.match.results import PairingRanks
from arena.standings.sums import (
    HALVES,
    MISSING,
    BlockSums,
    LuckSums,
    PairingSums,
    TimeSums,
    by_code,
    courses_of,
)
from arena.store.ranks import Wanted, first_damage, ranks, selected

Array = np.ndarray[Any, Any]
BATCH: Final = 1 << 18
"""Matches whose sums are made at once, so that memory stays bounded."""
_MOST: Final = 1 << 62
_NONE: Final = 1 - (1 << 63)
"""Stands for NULL in a text of numbers; no value is as small."""

_KINDS: Final = (
    "SELECT pairing, termination, at_fault, rotation, isolation, luck_version, score_unit, count(*) FROM match"
    " WHERE {} AND NOT (at_fault IS NULL AND termination = 'normal' AND isolation = ? AND luck_version = ?"
    " AND score_unit = ?) GROUP BY 1, 2, 3, 4, 5, 6, 7"
)
_SEATS: Final = (
    "SELECT pairing, place, count(*), sum(points), sum(points * points), sum(block), sum(rotation), sum(moves),"
    " sum(CASE WHEN moves THEN time_us ELSE 0 END), max(CASE WHEN moves THEN slowest_us ELSE 0 END),"
    " sum(startup_us), sum(idle_us), sum(timeouts_by_load),"
    " count(margin), count(luck), group_concat(coalesce(margin, -9223372036854775807)),"
    " group_concat(coalesce(luck, -9223372036854775807)) FROM seat WHERE {} GROUP BY pairing, place"
)
_UNITS: Final = "SELECT score_unit FROM match WHERE {} ORDER BY pairing, block, rotation"
_PARDONS: Final = "SELECT pairing, code, place, sum(count) FROM pardon WHERE {} GROUP BY 1, 2, 3"


def sums(connection: sqlite3.Connection, asked: Sequence[Wanted]) -> Iterator[PairingSums]:
    """The sums of these pairings, those without a match left out."""
    batch: list[Wanted] = []
    size = 0
    for one in asked:
        batch.append(one)
        size += (one.last + 1) * len(one.players)
        if size >= BATCH:
            yield from _batch(connection, batch)
            batch, size = [], 0
    yield from _batch(connection, batch)


def _batch(connection: sqlite3.Connection, asked: Sequence[Wanted]) -> Iterator[PairingSums]:
    """The sums of a batch; pairings with as many seats are added together."""
    known = ranks(connection, asked)
    there = [one for one in asked if one.key in known]
    found: dict[str, PairingSums] = {}
    for seats in sorted({len(one.players) for one in there}):
        own = [one for one in there if len(one.players) == seats]
        found.update((one.key, one) for one in _Adding(connection, own, known).sums())
    yield from (found[one.key] for one in there)


class _Seat(NamedTuple):
    """What the rows of a place of a pairing come to; `margins` and `luck` are texts of numbers in their order."""

    matches: int
    points: int
    points2: int
    blocks: int
    rotations: int
    moves: int
    spent_us: int
    slowest_us: int
    startup_us: int
    idle_us: int
    timeouts_by_load: int
    with_margin: int
    with_luck: int
    margins: str
    luck: str


class _Kinds:
    """By pairing: how many matches are of each isolation, luck version and unit, and the faults that ended some."""

    def __init__(self, connection: sqlite3.Connection, asked: Sequence[Wanted], counts: Mapping[int, int]) -> None:
        first = connection.execute(
            "SELECT isolation, luck_version, score_unit FROM match WHERE pairing = ? LIMIT 1", (asked[0].id,)
        ).fetchone()
        self.isolation: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self.luck_versions: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self.units: defaultdict[int, set[int]] = defaultdict(set)
        self._odd: set[int] = set()
        self.ended: defaultdict[int, list[tuple[str, int, int]]] = defaultdict(list)
        left = dict(counts)
        for one, termination, at_fault, rotation, *kind, count in selected(connection, _KINDS, asked, first):
            left[one] -= count
            self._add(one, kind, count)
            if at_fault is not None:
                self.ended[one].append((termination, at_fault + rotation, count))
            if (at_fault is None) != (termination == "normal"):
                self._odd.add(one)
        for one, count in left.items():
            if count:
                self._add(one, first, count)

    def _add(self, one: int, kind: Sequence[Any], count: int) -> None:
        isolation, version, unit = kind
        self.isolation[one][isolation] += count
        self.units[one].add(unit)
        if version:
            self.luck_versions[one][version] += count

    def faults(self, one: int, seats: int) -> dict[str, tuple[int, ...]]:
        return by_code([(code, place % seats, count) for code, place, count in self.ended[one]], seats)

    def is_sound(self, one: int) -> bool:
        """Whether all values are such as a result can have."""
        texts = [*self.isolation[one], *self.luck_versions[one]]
        units = self.units[one]
        return (
            one not in self._odd
            and all(type(text) is str for text in texts)
            and all(type(unit) is int and unit > 0 for unit in units)
            and {code for code, *_ in self.ended[one]} <= set(FAULTS)
        )


class _Adding:
    """The sums of pairings with equal numbers of seats, of which `known` are the ranks."""

    def __init__(
        self, connection: sqlite3.Connection, asked: Sequence[Wanted], known: Mapping[str, PairingRanks]
    ) -> None:
        self._connection, self._asked = connection, asked
        self._ranks = [known[one.key] for one in asked]
        self._seats = len(asked[0].players)
        self._rows: dict[int, dict[int, _Seat]] = defaultdict(dict)
        for one, place, *values in selected(connection, _SEATS, asked):
            self._rows[one][place] = _Seat(*values)
        self._kinds = _Kinds(
            connection, asked, {one.id: own.matches for one, own in zip(asked, self._ranks, strict=True)}
        )
        self._pardons: defaultdict[int, list[tuple[str, int, int]]] = defaultdict(list)
        for one, code, place, count in selected(connection, _PARDONS, asked):
            self._pardons[one].append((code, place, count))
        for due, own in zip(asked, self._ranks, strict=True):
            if not self._is_sound(due, own):
                raise first_damage(connection, due)

    def sums(self) -> Iterator[PairingSums]:
        """Pairing by pairing. DamagedStore names a match with values that cannot be."""
        try:
            margins, luck = self._margins(), self._luck()
            due_sums = np.stack([self._added(each).tolist() for each in self._due()], axis=1).tolist()
        except (ValueError, OverflowError):
            raise first_damage(self._connection, *self._asked) from None
        for number, (due, own) in enumerate(zip(self._asked, self._ranks, strict=True)):
            by_place = [self._rows[due.id][place] for place in range(self._seats)]
            if due_sums[number] != [list(column) for column in zip(*[seat[1:5] for seat in by_place], strict=True)]:
                raise first_damage(self._connection, due)
            yield PairingSums(
                key=due.key,
                players=due.players,
                courses=courses_of(own),
                margins=margins[number],
                luck=luck[number],
                luck_versions=dict(self._kinds.luck_versions[due.id]),
                faults=self._kinds.faults(due.id, self._seats),
                pardoned=by_code(self._pardons[due.id], self._seats),
                isolation=dict(self._kinds.isolation[due.id]),
                time=TimeSums(*zip(*[seat[5:11] for seat in by_place], strict=True)),
            )

    def _is_sound(self, due: Wanted, own: PairingRanks) -> bool:
        """Whether the rows of a pairing fit each other: as many seats as matches, and the points of the ranks."""
        seats = self._rows[due.id]
        normal = own.matches - sum(count for *_, count in self._kinds.ended[due.id])
        lucky = self._kinds.luck_versions[due.id].total()
        due_counts = (own.matches, normal, lucky)
        if sorted(seats) != list(range(self._seats)) or not self._kinds.is_sound(due.id):
            return False
        if any((one.matches, one.with_margin, one.with_luck) != due_counts for one in seats.values()):
            return False
        if any(type(value) is not int or value < 0 for one in seats.values() for value in one[:11]):
            return False
        return all(code in PARDONABLE and 0 <= place < self._seats for code, place, _ in self._pardons[due.id])

    @cached_property
    def _starts(self) -> Array:
        """The first block of each pairing among all."""
        return np.cumsum([0, *[len(own.blocks) for own in self._ranks[:-1]]])

    @cached_property
    def _courses(self) -> tuple[Array, Array]:
        """By block, rotation and seat the ranks; by block and rotation whether the match is there."""
        seats = self._seats
        text = "".join(own.ranks for own in self._ranks).encode("ascii")
        digits = np.frombuffer(text, dtype=np.uint8).reshape(-1, seats, seats)
        return digits, digits[:, :, 0] != ord(MISSING)

    @cached_property
    def _points(self) -> Array:
        """By block, rotation and place; 0 where there is no match."""
        digits, present = self._courses
        points = np.zeros(digits.shape, dtype=np.int64)
        for rotation in range(self._seats):
            for seat in range(self._seats):
                own = digits[:, rotation, seat, None]
                beaten = 2 * (own < digits[:, rotation]) + (own == digits[:, rotation])
                points[:, rotation, (seat + rotation) % self._seats] = beaten.sum(axis=1) - 1
        return points * present[:, :, None]

    def _due(self) -> Iterator[Array]:
        """By block and place, as the ranks have them: points, their squares, numbers of blocks and of rotations."""
        _, present = self._courses
        numbers = np.concatenate([np.asarray(own.blocks, dtype=np.int64) for own in self._ranks])
        for values in (
            self._points,
            self._points**2,
            numbers[:, None, None] * present[:, :, None],
            np.arange(self._seats)[None, :, None] * present[:, :, None],
        ):
            yield np.broadcast_to(values, self._points.shape).sum(axis=1)

    def _values(self, name: str) -> tuple[Array, Array]:
        """By block, rotation and place the margins or luck; by block and rotation whether the match has them."""
        _, present = self._courses
        shape = (*present.shape, self._seats)
        texts = [
            ",".join([getattr(self._rows[due.id][place], name) for due in self._asked]) for place in range(self._seats)
        ]
        values = np.full(shape, _NONE, dtype=np.int64)
        for place, text in enumerate(texts):
            values[present, place] = _numbers(text) if text else []
        has = values[:, :, 0] != _NONE
        values[~has] = 0
        if (values == _NONE).any():
            raise ValueError("a seat has no value where another one of the same match has")
        return values, has

    def _wide(self, values: Array) -> Array:
        """The same in whole numbers of any length if their squares may not fit into 64 bits."""
        most = max(abs(int(values.max(initial=0))), abs(int(values.min(initial=0))))
        per_block = max(most * self._seats, self._seats)
        return values if per_block * per_block * max(1, len(values)) < _MOST else values.astype(object)

    def _margins(self) -> list[BlockSums]:
        values, has = self._values("margins")
        best = values if self._seats == 2 else np.partition(values, -2, axis=2)[:, :, -2:]
        if (best.sum(axis=2) != 0).any():
            raise ValueError("the margin of the best is that of the second turned round")
        units = [lcm(*self._kinds.units[due.id]) for due in self._asked]
        values = self._wide(self._in_one_unit(values, units))
        m, y = has.sum(axis=1), values.sum(axis=1)
        counts = self._added(np.stack([m > 0, m, m * m], axis=1).astype(np.int64))
        total, total2, product = (self._added(each) for each in (y, y * y, y * m[:, None]))
        return [
            BlockSums(
                *(blocks, matches, matches2),
                _parts(total[number], unit),
                _parts(total2[number], unit**2),
                _parts(product[number], unit),
            )
            for number, ((blocks, matches, matches2), unit) in enumerate(zip(counts.tolist(), units, strict=True))
        ]

    def _in_one_unit(self, values: Array, units: Sequence[int]) -> Array:
        """The margins of each pairing in parts of its unit, where its matches have several."""
        mixed = [number for number, due in enumerate(self._asked) if len(self._kinds.units[due.id]) > 1]
        if not mixed:
            return values
        wide = values.astype(object)
        ends = [*self._starts[1:], len(values)]
        _, present = self._courses
        for number in mixed:
            part = slice(self._starts[number], ends[number])
            own = [unit for (unit,) in selected(self._connection, _UNITS, [self._asked[number]])]
            factors = np.ones(present[part].shape, dtype=object)
            factors[present[part]] = [units[number] // unit for unit in own]
            wide[part] *= factors[:, :, None]
        return wide

    def _luck(self) -> list[tuple[LuckSums, ...]]:
        if not any(self._kinds.luck_versions[due.id] for due in self._asked):
            return [()] * len(self._asked)
        values, has = self._values("luck")
        odd = np.concatenate([np.asarray(own.blocks, dtype=np.int64) & 1 for own in self._ranks])
        values = self._wide(values)
        m = has.sum(axis=1)
        y, luck = (self._points * has[:, :, None]).sum(axis=1), values.sum(axis=1)
        counts = np.stack([m > 0, m, m * m], axis=1).astype(np.int64)
        by_place = (y, y * y, y * m[:, None], luck, luck * luck, luck * m[:, None], y * luck)
        halves = []
        for half in range(HALVES):
            own = (odd == half)[:, None]
            added = [self._added(each * own).tolist() for each in (counts, *by_place)]
            halves.append([LuckSums(*count, *map(tuple, sums)) for count, *sums in zip(*added, strict=True)])
        return [
            tuple(half[number] for half in halves) if self._kinds.luck_versions[due.id] else ()
            for number, due in enumerate(self._asked)
        ]

    def _added(self, by_block: Array) -> Array:
        """Add up the blocks of each pairing."""
        return np.add.reduceat(by_block, self._starts, axis=0)


def _parts(values: Iterable[Any], unit: int) -> tuple[int | Fraction, ...]:
    """Whole numbers of parts of 1 / `unit`."""
    whole = [int(value) for value in values]
    return tuple(whole) if unit == 1 else tuple([Fraction(value, unit) for value in whole])


def _numbers(text: str) -> Array:
    """The whole numbers of a text, between commas. ValueError for anything else."""
    with warnings.catch_warnings(action="error"):
        try:
            return np.fromstring(text, dtype=np.int64, sep=",")
        except DeprecationWarning as error:
            raise ValueError(str(error)) from None
