"""Sums of pairings, straight from the columns: SQLite reads a million matches in a second.

Rule: equal to `arena.standings.sums` over the single matches, to the last digit; DamagedStore for what contradicts
itself. A value that fits all others is compared with its record by `verify` only.

Rows are read by pairing in the order of the primary key and joined into texts by SQLite; numpy cuts these into blocks
and adds, in 64 bits where that is enough and in whole numbers of any length where it is not.
"""

import sqlite3
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
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
NONE: Final = 1 - (1 << 63)
"""Stands for NULL in a text of numbers; no value is as small."""

_INTEGER: Final = frozenset((int,))
_MARGINS, _LUCK = -2, -1
_COUNTS: Final = [0, -2, -1]
_DUE: Final = slice(1, 5)
_TIMES: Final = slice(5, 11)
"""Columns of `_SEATS` after the place: matches with seats, margins, luck; what follows from the ranks; use of time."""

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
_PARDONS: Final = (
    "SELECT pairing, code, CASE WHEN EXISTS (SELECT 1 FROM match m WHERE (m.pairing, m.block, m.rotation) ="
    " (p.pairing, p.block, p.rotation)) THEN place ELSE -1 END, sum(count) FROM pardon p WHERE {} GROUP BY 1, 2, 3"
)


def sums(
    connection: sqlite3.Connection, asked: Sequence[Wanted], known: Mapping[str, PairingRanks]
) -> Iterator[PairingSums]:
    """The sums of these pairings, those without a match left out.

    `known` may have ranks, read and checked at the same moment; those that it lacks are read.
    """
    batch: list[Wanted] = []
    size = 0
    for one in asked:
        batch.append(one)
        size += (one.last + 1) * len(one.players)
        if size >= BATCH:
            yield from _batch(connection, batch, known)
            batch, size = [], 0
    yield from _batch(connection, batch, known)


def _batch(
    connection: sqlite3.Connection, asked: Sequence[Wanted], known: Mapping[str, PairingRanks]
) -> Iterator[PairingSums]:
    """The sums of a batch; pairings with as many seats are added together."""
    read = ranks(connection, [one for one in asked if one.key not in known])
    there = [(one, own) for one in asked if (own := known.get(one.key, read.get(one.key))) and own.ranks]
    found: dict[str, PairingSums] = {}
    for seats in sorted({len(one.players) for one, _ in there}):
        due, own_ranks = zip(*[pair for pair in there if len(pair[0].players) == seats], strict=True)
        found.update((one.key, one) for one in _Adding(connection, due, own_ranks).sums())
    yield from (found[one.key] for one, _ in there)


class _Kind(NamedTuple):
    """Of a pairing: its matches by isolation and by luck version, the units of their scores, and how some ended.

    `ended` are code, place (modulo seats) and number of faults.
    """

    isolation: dict[str, int]
    luck_versions: dict[str, int]
    units: set[int]
    ended: Sequence[tuple[str, int, int]] = ()


def _kinds(connection: sqlite3.Connection, asked: Sequence[Wanted], counts: Sequence[int]) -> list[_Kind | None]:
    """By pairing, None for values that no result can have. SQLite tells only the matches that are not as the first."""
    first = connection.execute(
        "SELECT isolation, luck_version, score_unit FROM match WHERE pairing = ? LIMIT 1", (asked[0].id,)
    ).fetchone()
    others: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for one, *values in selected(connection, _KINDS, asked, first):
        others[one].append(tuple(values))
    seats = len(asked[0].players)
    if _kind([], first, 1, seats) is None:
        return [None] * len(asked)
    isolation, version, unit = first
    return [
        _kind(others[due.id], first, count, seats)
        if due.id in others
        else _Kind({isolation: count}, {version: count} if version else {}, {unit})
        for due, count in zip(asked, counts, strict=True)
    ]


def _kind(others: Sequence[tuple[Any, ...]], first: tuple[Any, ...], matches: int, seats: int) -> _Kind | None:
    """Of a pairing with so many matches and seats: `others`, and all the rest as `first`."""
    rest = matches - sum(count for *_, count in others)
    isolation, versions, units = Counter[str](), Counter[str](), set[int]()
    for own, version, unit, count in [each[3:] for each in others] + ([(*first, rest)] if rest else []):
        isolation[own] += count
        versions[version] += count if version else 0
        units.add(unit)
    is_sound = (
        all(type(text) is str for text in (*isolation, *versions))
        and all(type(unit) is int and unit > 0 for unit in units)
        and all((code == "normal") if seat is None else code in FAULTS for code, seat, *_ in others)
        and all(seat is None or (type(seat) is int and 0 <= seat < seats) for _, seat, *_ in others)
    )
    if not is_sound:
        return None
    ended = [(code, seat + rotation, count) for code, seat, rotation, *_, count in others if seat is not None]
    return _Kind(dict(isolation), dict(+versions), units, ended)


class _Adding:
    """The sums of pairings with equal numbers of seats, of which `own_ranks` are the ranks."""

    def __init__(
        self, connection: sqlite3.Connection, asked: Sequence[Wanted], own_ranks: Sequence[PairingRanks]
    ) -> None:
        self._connection, self._asked, self._ranks = connection, asked, own_ranks
        self._seats = len(asked[0].players)
        self._pardons: defaultdict[int, list[tuple[str, int, int]]] = defaultdict(list)
        for one, code, place, count in selected(connection, _PARDONS, asked):
            self._pardons[one].append((code, place, count))
        self._rows = self._seat_rows()
        self._numbers = self._whole_numbers()
        self._kinds = self._sound_kinds([own.matches for own in own_ranks])

    def sums(self) -> Iterator[PairingSums]:
        """Pairing by pairing. DamagedStore names a match with values that cannot be."""
        try:
            margins, luck = self._margins(), self._luck()
            due = np.stack([self._added(each) for each in self._due()], axis=2)
        except (ValueError, OverflowError):
            raise first_damage(self._connection, *self._asked) from None
        self._refuse((self._numbers[:, :, _DUE] != due).any(axis=(1, 2)))
        times = self._numbers[:, :, _TIMES].transpose(0, 2, 1).tolist()
        for number, (one, own, kind) in enumerate(zip(self._asked, self._ranks, self._kinds, strict=True)):
            yield PairingSums(
                key=one.key,
                players=one.players,
                courses=courses_of(own),
                margins=margins[number],
                luck=luck[number],
                luck_versions=kind.luck_versions,
                faults=by_code([(code, place % self._seats, count) for code, place, count in kind.ended], self._seats),
                pardoned=by_code(self._pardons.get(one.id, ()), self._seats),
                isolation=kind.isolation,
                time=TimeSums(*map(tuple, times[number])),
            )

    def _seat_rows(self) -> list[tuple[Any, ...]]:
        """By pairing and place. DamagedStore unless there is one for each."""
        order = {due.id: number for number, due in enumerate(self._asked)}
        rows = sorted(selected(self._connection, _SEATS, self._asked), key=lambda row: order[row[0]])
        found = [row[:2] for row in rows]
        due = [(one.id, place) for one in self._asked for place in range(self._seats)]
        if found != due:
            odd = next(pair for pair in zip_longest(found, due) if pair[0] != pair[1])
            raise first_damage(self._connection, self._asked[min(order[row[0]] for row in odd if row)])
        return rows

    def _whole_numbers(self) -> Array:
        """By pairing and place what the rows come to, without the texts."""
        values = [row[2:-2] for row in self._rows]
        odd = [number for number, own in enumerate(values) if not _INTEGER.issuperset(map(type, own))]
        if odd:
            raise first_damage(self._connection, self._asked[odd[0] // self._seats])
        return np.array(values, dtype=np.int64).reshape(len(self._asked), self._seats, -1)

    def _sound_kinds(self, matches: Sequence[int]) -> list[_Kind]:
        """DamagedStore unless the rows fit each other: as many seats as matches, margins and luck of all that have."""
        found = _kinds(self._connection, self._asked, matches)
        kinds = [kind or _Kind({}, {}, set()) for kind in found]
        normal = [count - sum(each for *_, each in kind.ended) for count, kind in zip(matches, kinds, strict=True)]
        lucky = [sum(kind.luck_versions.values()) for kind in kinds]
        due = np.array([matches, normal, lucky], dtype=np.int64).T[:, None, :]
        odd = (self._numbers[:, :, _COUNTS] != due).any(axis=(1, 2)) | (self._numbers < 0).any(axis=(1, 2))
        self._refuse(odd | [kind is None for kind in found] | [not self._is_pardonable(one.id) for one in self._asked])
        return kinds

    def _is_pardonable(self, one: int) -> bool:
        pardons = self._pardons.get(one, ())
        return all(code in PARDONABLE and 0 <= place < self._seats for code, place, _ in pardons)

    def _refuse(self, odd: Array) -> None:
        """DamagedStore for the first pairing that is odd."""
        if odd.any():
            raise first_damage(self._connection, self._asked[int(odd.argmax())])

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

    def _values(self, column: int) -> tuple[Array, Array]:
        """By block, rotation and place the margins or luck; by block and rotation whether the match has them."""
        _, present = self._courses
        shape = (*present.shape, self._seats)
        texts = [",".join([row[column] for row in self._rows[place :: self._seats]]) for place in range(self._seats)]
        values = np.full(shape, NONE, dtype=np.int64)
        for place, text in enumerate(texts):
            values[present, place] = numbers(text) if text else []
        has = values[:, :, 0] != NONE
        values[~has] = 0
        if (values == NONE).any():
            raise ValueError("a seat has no value where another one of the same match has")
        return values, has

    def _wide(self, values: Array) -> Array:
        """The same in whole numbers of any length if their squares may not fit into 64 bits."""
        most = max(abs(int(values.max(initial=0))), abs(int(values.min(initial=0))))
        per_block = max(most * self._seats, self._seats)
        return values if per_block * per_block * max(1, len(values)) < _MOST else values.astype(object)

    def _margins(self) -> list[BlockSums]:
        values, has = self._values(_MARGINS)
        best = values if self._seats == 2 else np.partition(values, -2, axis=2)[:, :, -2:]
        if (best.sum(axis=2) != 0).any():
            raise ValueError("the margin of the best is that of the second turned round")
        units = [lcm(*kind.units) for kind in self._kinds]
        values = self._wide(self._in_one_unit(values, units))
        m, y = has.sum(axis=1), values.sum(axis=1)
        counts = self._added(np.stack([m > 0, m, m * m], axis=1).astype(np.int64))
        total, total2, product = (self._added(each).tolist() for each in (y, y * y, y * m[:, None]))
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
        mixed = [number for number, kind in enumerate(self._kinds) if len(kind.units) > 1]
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
        if not any(kind.luck_versions for kind in self._kinds):
            return [()] * len(self._asked)
        values, has = self._values(_LUCK)
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
            tuple(half[number] for half in halves) if kind.luck_versions else ()
            for number, kind in enumerate(self._kinds)
        ]

    def _added(self, by_block: Array) -> Array:
        """Add up the blocks of each pairing."""
        return np.add.reduceat(by_block, self._starts, axis=0)


def _parts(values: Sequence[int], unit: int) -> tuple[int | Fraction, ...]:
    """Whole numbers of parts of 1 / `unit`."""
    return tuple(values) if unit == 1 else tuple([Fraction(value, unit) for value in values])


def numbers(text: str) -> Array:
    """The whole numbers of a text, between commas. ValueError for anything else."""
    with warnings.catch_warnings(action="error"):
        try:
            return np.fromstring(text, dtype=np.int64, sep=",")
        except DeprecationWarning as error:
            raise ValueError(str(error)) from None
