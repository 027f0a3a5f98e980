"""Sums of pairings, straight from the columns: SQLite reads a million matches in a second.

Rule: equal to `arena.standings.sums` over the single matches, to the last digit; DamagedStore for what contradicts
itself. A value that fits all others is compared with its record by `verify` only.

Rows are read by pairing in the order of the primary key and joined into texts by SQLite; numpy cuts these into blocks
and adds, in 64 bits where that is enough and in whole numbers of any length where it is not.
"""

import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest
from math import lcm
from typing import Any, Final

import numpy as np

from arena.games.api import MOST_SEATS
from arena.match.record import FAULTS, PARDONABLE
from arena.match.results import PairingRanks
from arena.standings.sums import (
    LARGEST_WHOLE,
    Array,
    BlockSums,
    Courses,
    LuckSums,
    PairingSums,
    TimeSums,
    by_code,
    joined,
    sums_of,
)
from arena.store.ranks import Condition, Wanted, conditions, first_damage, selected, unchecked_ranks

BATCH: Final = 1 << 18
"""Matches whose sums are made at once, so that memory stays bounded."""
NONE: Final = 1 - (1 << 63)
"""Stands for NULL in a text of numbers; no value is as small."""

_MARGINS, _LUCK = -2, -1
_TIMES: Final = slice(2, 8)
"""Columns of `_SEATS` after the place; the first two follow from the ranks."""

_KINDS: Final = (
    "SELECT pairing, termination, at_fault, rotation, isolation, luck_version, score_unit, count(*) FROM match"
    " WHERE {} AND NOT (at_fault IS NULL AND termination = 'normal' AND isolation = ? AND luck_version = ?"
    " AND score_unit = ?) GROUP BY 1, 2, 3, 4, 5, 6, 7"
)
_SEATS: Final = (
    "SELECT pairing, place, count(*), sum((1 + points) * (1 + rotation + 10 * block)), sum(moves),"
    " sum(CASE WHEN moves THEN time_us ELSE 0 END), max(CASE WHEN moves THEN slowest_us ELSE 0 END),"
    " sum(startup_us), sum(idle_us), sum(timeouts_by_load),"
    " group_concat(coalesce(margin, -9223372036854775807)), group_concat(coalesce(luck, -9223372036854775807))"
    " FROM seat WHERE {} GROUP BY pairing, place"
)
_UNITS: Final = "SELECT score_unit FROM match WHERE {} ORDER BY pairing, block, rotation"
_PARDONS: Final = (
    "SELECT pairing, code, CASE WHEN EXISTS (SELECT 1 FROM match m WHERE (m.pairing, m.block, m.rotation) ="
    " (p.pairing, p.block, p.rotation)) THEN place ELSE -1 END, sum(count) FROM pardon p WHERE {} GROUP BY 1, 2, 3"
)


def sums(connection: sqlite3.Connection, asked: Sequence[Wanted], known: Mapping[str, PairingRanks]) -> PairingSums:
    """The sums of these pairings, those without a match left out. ValueError for unequal numbers of seats.

    `known` may have ranks, read at the same moment; those that it lacks are read. Their points are checked here.
    """
    sizes = sorted({len(one.players) for one in asked})
    if len(sizes) > 1:
        raise ValueError(f"matches of {' and of '.join(map(str, sizes))} players cannot share one table")
    batch: list[Wanted] = []
    found: list[PairingSums] = [sums_of(())]
    size = 0
    for one in asked:
        batch.append(one)
        size += (one.last + 1) * len(one.players)
        if size >= BATCH:
            found += _batch(connection, batch, known)
            batch, size = [], 0
    found += _batch(connection, batch, known)
    return joined(found[1:] or found)


def _batch(
    connection: sqlite3.Connection, asked: Sequence[Wanted], known: Mapping[str, PairingRanks]
) -> Iterator[PairingSums]:
    """The sums of a batch, if there is a match."""
    read = unchecked_ranks(connection, [one for one in asked if one.key not in known])
    there = [(one, own) for one in asked if (own := known.get(one.key, read.get(one.key))) and own.ranks]
    if there:
        due, own_ranks = zip(*there, strict=True)
        yield _Adding(connection, due, own_ranks).sums()


class _Kinds:
    """By pairing: its matches by isolation and by luck version, the units of their scores, and how some ended.

    `ended` are code, number of the pairing, place and number of faults. `is_odd` marks values that no result can have.
    """

    def __init__(
        self, connection: sqlite3.Connection, asked: Sequence[Wanted], where: Sequence[Condition], matches: Array
    ) -> None:
        """SQLite tells only the matches that are not as the first."""
        seats, numbers = len(asked[0].players), {due.id: number for number, due in enumerate(asked)}
        first = connection.execute(
            "SELECT isolation, luck_version, score_unit FROM match WHERE pairing = ? LIMIT 1", (asked[0].id,)
        ).fetchone()
        rest, self.is_odd = matches.copy(), np.zeros(len(asked), dtype=bool)
        self.ended: list[tuple[str, int, int, int]] = []
        self.units: list[set[int]] = [set() for _ in asked]
        counted: list[tuple[str, str, Any, Array | int]] = []
        for one, code, seat, rotation, own, version, unit, count in selected(connection, _KINDS, where, first):
            number = numbers[one]
            rest[number] -= count
            if not (_is_sound(own, version, unit) and _is_end(code, seat, seats)):
                self.is_odd[number] = True
                continue
            counted.append((own, version, number, count))
            self.units[number].add(unit)
            if seat is not None:
                self.ended.append((code, number, (seat + rotation) % seats, count))
        isolation, version, unit = first
        if _is_sound(isolation, version, unit):
            counted.append((isolation, version, slice(None), rest))
            for number in np.nonzero(rest)[0].tolist():
                self.units[number].add(unit)
        else:
            self.is_odd |= rest > 0
        shape = (len(asked),)
        isolations = by_code([(own, number, count) for own, _, number, count in counted], shape)
        versions = by_code([(own, number, count) for _, own, number, count in counted if own], shape)
        self.isolation, self.luck_versions = (
            {name: column for name, column in own.items() if column.any()} for own in (isolations, versions)
        )


def _is_sound(isolation: Any, version: Any, unit: Any) -> bool:
    return type(isolation) is str and type(version) is str and type(unit) is int and unit > 0


def _is_end(code: Any, seat: Any, seats: int) -> bool:
    if seat is None:
        return bool(code == "normal")
    return code in FAULTS and type(seat) is int and 0 <= seat < seats


class _Adding:
    """The sums of pairings with equal numbers of seats, of which `own_ranks` are the ranks."""

    def __init__(
        self, connection: sqlite3.Connection, asked: Sequence[Wanted], own_ranks: Sequence[PairingRanks]
    ) -> None:
        self._connection, self._asked, self._ranks = connection, asked, own_ranks
        self._seats, self._where = len(asked[0].players), conditions(asked)
        self._courses = Courses(own_ranks)
        self._matches = self._courses.added(self._courses.present.sum(axis=1))
        numbers = {due.id: number for number, due in enumerate(asked)}
        self._pardons = [
            (code, numbers[one], place, count)
            for one, code, place, count in selected(connection, _PARDONS, self._where)
        ]
        self._columns = self._columns_of_seats()
        self._numbers = self._whole_numbers()
        self._kinds = self._sound_kinds()

    def sums(self) -> PairingSums:
        """DamagedStore names a match with values that cannot be."""
        try:
            margins, luck = self._margins(), self._luck()
        except (ValueError, OverflowError):
            raise first_damage(self._connection, *self._asked) from None
        shape = self._numbers.shape[:2]
        return PairingSums(
            keys=tuple([one.key for one in self._asked]),
            ranks=tuple(self._ranks),
            margins=margins,
            luck=luck,
            luck_versions=self._kinds.luck_versions,
            faults=by_code(self._kinds.ended, shape),
            pardoned=by_code(self._pardons, shape),
            isolation=self._kinds.isolation,
            time=TimeSums(*np.moveaxis(self._numbers[:, :, _TIMES], 2, 0)),
        )

    def _columns_of_seats(self) -> list[tuple[Any, ...]]:
        """Those of `_SEATS`, by pairing and place. DamagedStore unless there is a row for each."""
        order = {due.id: number for number, due in enumerate(self._asked)}
        rows = sorted(selected(self._connection, _SEATS, self._where), key=lambda row: order[row[0]])
        due = [(one, place) for one in order for place in range(self._seats)]
        columns = [*zip(*rows, strict=True)]
        if (found := [*zip(*columns[:2], strict=True)]) != due:
            odd = next(pair for pair in zip_longest(found, due) if pair[0] != pair[1])
            raise first_damage(self._connection, self._asked[min(order[row[0]] for row in odd if row)])
        return columns

    def _whole_numbers(self) -> Array:
        """By pairing and place what the columns come to, without the texts."""
        found = np.array(self._columns[2:-2])
        if found.dtype != np.int64:
            raise first_damage(self._connection, *self._asked)
        return found.T.reshape(len(self._asked), self._seats, -1)

    def _sound_kinds(self) -> _Kinds:
        """DamagedStore unless the rows fit each other: the seats of all matches, with the points of their ranks."""
        found = _Kinds(self._connection, self._asked, self._where, self._matches)
        places = 1 + np.arange(self._seats) + MOST_SEATS * self._courses.numbers[:, None]
        by_place = np.einsum("brp,br->bp", 1 + self._courses.points, places * self._courses.present)
        due = np.broadcast_arrays(self._matches[:, None], self._courses.added(by_place))
        odd = (self._numbers[:, :, :2] != np.stack(due, axis=2)).any(axis=(1, 2)) | (self._numbers < 0).any(axis=(1, 2))
        for code, number, place, _ in self._pardons:
            odd[number] |= code not in PARDONABLE or not 0 <= place < self._seats
        self._refuse(odd | found.is_odd)
        return found

    def _refuse(self, odd: Array) -> None:
        """DamagedStore for the first pairing that is odd."""
        if odd.any():
            raise first_damage(self._connection, self._asked[int(odd.argmax())])

    def _values(self, column: int, due: Array) -> tuple[Array, Array]:
        """By block, rotation and place the margins or luck; by block and rotation whether the match has them.

        ValueError unless so many matches as are `due` of each pairing have them.
        """
        present = self._courses.present
        shape = (*present.shape, self._seats)
        texts = [",".join(self._columns[column][place :: self._seats]) for place in range(self._seats)]
        values = np.full(shape, NONE, dtype=np.int64)
        for place, text in enumerate(texts):
            values[present, place] = numbers_in(text) if text else []
        has = values[:, :, 0] != NONE
        values[~has] = 0
        if (values == NONE).any() or (self._courses.added(has.sum(axis=1)) != due).any():
            raise ValueError("a seat has no value where another one of the same match has, or its match has none")
        return values, has

    def _wide(self, values: Array) -> Array:
        """The same in whole numbers of any length if their squares may not fit into 64 bits."""
        most = max(abs(int(values.max(initial=0))), abs(int(values.min(initial=0))))
        per_block = max(most * self._seats, self._seats)
        return values if per_block * per_block * max(1, len(values)) < LARGEST_WHOLE else values.astype(object)

    def _margins(self) -> BlockSums:
        normal = self._matches.copy()
        for _, number, _, count in self._kinds.ended:
            normal[number] -= count
        values, has = self._values(_MARGINS, normal)
        best = values if self._seats == 2 else np.partition(values, -2, axis=2)[:, :, -2:]
        if (best.sum(axis=2) != 0).any():
            raise ValueError("the margin of the best is that of the second turned round")
        units = [lcm(*own) for own in self._kinds.units]
        values = self._wide(self._in_one_unit(values, units))
        found, squares = self._courses.margins(values, has), [unit * unit for unit in units]
        return found._replace(
            total=_parts(found.total, units),
            total2=_parts(found.total2, squares),
            product=_parts(found.product, units),
        )

    def _in_one_unit(self, values: Array, units: Sequence[int]) -> Array:
        """The margins of each pairing in parts of its unit, where its matches have several."""
        mixed = [number for number, own in enumerate(self._kinds.units) if len(own) > 1]
        if not mixed:
            return values
        wide, present = values.astype(object), self._courses.present
        ends = [*self._courses.starts[1:], len(values)]
        for number in mixed:
            part = slice(self._courses.starts[number], ends[number])
            own = [unit for (unit,) in selected(self._connection, _UNITS, conditions([self._asked[number]]))]
            factors = np.ones(present[part].shape, dtype=object)
            factors[present[part]] = [units[number] // unit for unit in own]
            wide[part] *= factors[:, :, None]
        return wide

    def _luck(self) -> tuple[LuckSums, ...]:
        values, has = self._values(_LUCK, sum(self._kinds.luck_versions.values(), np.zeros_like(self._matches)))
        return self._courses.luck(self._wide(values), has)


def _parts(values: Array, units: Sequence[int]) -> Array:
    """Whole numbers of parts of 1 / unit, by pairing."""
    if all(unit == 1 for unit in units):
        return values
    found = [[Fraction(value, unit) for value in own] for own, unit in zip(values.tolist(), units, strict=True)]
    return np.array([[int(each) if each.denominator == 1 else each for each in own] for own in found], dtype=object)


def numbers_in(text: str) -> Array:
    """The whole numbers of a text, between commas. ValueError for anything else."""
    with warnings.catch_warnings(action="error"):
        try:
            return np.fromstring(text, dtype=np.int64, sep=",")
        except DeprecationWarning as error:
            raise ValueError(str(error)) from None
