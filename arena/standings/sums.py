"""The sums of pairings over their blocks: what standings are made of.

Rule: exact values only, added in no order. So standings are the same bytes however many matches were played at once and
whichever ended first.

Columns are arrays over P pairings of n places each: whole numbers of 64 bits where these hold them, and otherwise
Python's numbers (dtype object). Players are known by place, their order in the pairing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import chain
from math import lcm
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from arena.match.columns import NUMBERS, MatchEnd
from arena.match.record import fraction_written
from arena.match.results import PairingRanks
from arena.standings.match_table import Array, MatchTable, summed

ExactNumber = int | Fraction
HALVES: Final = 2
LARGEST_WHOLE: Final = 1 << 62
"""Whole numbers below that are kept in 64 bits."""


class BlockSums(NamedTuple):
    """Sums over blocks: with m the matches of a block that count and, by place, y the total of their values.

    By pairing (P,): `matches` is the sum of m, `matches2` that of m m. By place (P, n): `total`, `total2` and `product`
    are those of y, y y and m y. They give the squares of y - r m for any mean r. Blocks with m = 0 are not counted.
    """

    blocks: Array
    matches: Array
    matches2: Array
    total: Array
    total2: Array
    product: Array


class LuckSums(NamedTuple):
    """Sums over the blocks of a half, of the matches with luck only.

    With m those of a block and, by place, y their points and l their luck in millionths: `matches` (P,) is the sum of m
    and `matches2` that of m m; the others (P, n) are those of y, y y, m y, l, l l, m l and y l.
    """

    blocks: Array
    matches: Array
    matches2: Array
    points: Array
    points2: Array
    points_product: Array
    luck: Array
    luck2: Array
    luck_product: Array
    both: Array


class TimeSums(NamedTuple):
    """The use of time (P, n), in microseconds; a seat that never had to decide spent nothing that counts."""

    moves: Array
    spent_us: Array
    slowest_us: Array
    startup_us: Array
    idle_us: Array
    timeouts_by_load: Array


class PairingSums(NamedTuple):
    """All matches of P pairings of n places; each pairing has at least one.

    `margins` are over matches without a forfeit. `luck` are the sums of the even and of the odd blocks;
    `luck_versions` counts the matches (P,) that have luck by the version of the value. `faults` (P, n) are those that
    ended a match, `pardoned` those after which the game went on, both by code. `isolation` counts matches (P,).
    """

    table: MatchTable
    margins: BlockSums
    luck: tuple[LuckSums, ...]
    luck_versions: dict[str, Array]
    faults: dict[str, Array]
    pardoned: dict[str, Array]
    isolation: dict[str, Array]
    time: TimeSums

    @property
    def keys(self) -> tuple[str, ...]:
        """Of the pairings."""
        return self.table.keys

    @property
    def players(self) -> tuple[tuple[str, ...], ...]:
        """By place, of each pairing."""
        return self.table.players

    @property
    def ranks(self) -> tuple[PairingRanks, ...]:
        """The ranks of each pairing."""
        return self.table.pairing_ranks

    @property
    def seats(self) -> int:
        """The number of seats at a table; 0 without a pairing."""
        return self.table.seats

    @property
    def matches(self) -> Array:
        """The number of matches of each pairing."""
        return sum(self.isolation.values(), np.zeros(len(self.keys), dtype=np.int64))


def total(column: Array) -> Any:
    """The exact sum of a column, however large."""
    return sum(column.tolist())


def sums_of(table: MatchTable) -> PairingSums:
    """Add up the matches of a table, pairing by pairing."""
    by_pairing, by_place = (len(table.keys),), (len(table.keys), table.ranks.shape[2])
    counted = [*_ended(table)]
    pairings, seats = (range(by_pairing[0])), by_place[1]
    units = [1 for _ in pairings]
    for end, where, _, _ in counted:
        if end.score_unit > 1:
            for number in where.tolist():
                units[number] = lcm(units[number], end.score_unit)
    return PairingSums(
        table=table,
        margins=_margins(table, units),
        luck=_luck(table),
        luck_versions=_counts(
            by_pairing, ((end.luck_version, own, n) for end, own, _, n in counted if end.luck_version)
        ),
        faults=_counts(
            by_place,
            (
                (end.termination.value, (own, (end.at_fault + rotation) % seats), n)
                for end, own, rotation, n in counted
                if end.at_fault is not None
            ),
        ),
        pardoned=_counts(
            by_place,
            (
                (code, (own, (seat + rotation) % seats), n * times)
                for end, own, rotation, n in counted
                for seat, counts in enumerate(end.pardoned)
                for code, times in counts.items()
            ),
        ),
        isolation=_counts(by_pairing, ((end.isolation, own, n) for end, own, _, n in counted)),
        time=_times(table),
    )


def _ended(table: MatchTable) -> Iterator[tuple[MatchEnd, Array, Array, Array]]:
    """For each end: pairings and rotations with such matches, and the number of these."""
    blocks, rotations = table.present.nonzero()
    seats, ends = table.ranks.shape[2], max(1, len(table.ends))
    kinds = (table.end[blocks, rotations] * len(table.keys) + table.pairing[blocks]) * seats + rotations
    cells, counts = np.unique(kinds, return_counts=True)
    numbers, cells = np.divmod(cells, max(1, len(table.keys) * seats))
    edges = np.searchsorted(numbers, np.arange(ends + 1))
    for end, first, last in zip(table.ends, edges, edges[1:], strict=False):
        yield end, *np.divmod(cells[first:last], seats), counts[first:last]


def _counts(shape: tuple[int, ...], counted: Iterable[tuple[str, Any, Array]]) -> dict[str, Array]:
    """Counts by code, each at its places in a column of that shape, added up."""
    columns: defaultdict[str, Array] = defaultdict(lambda: np.zeros(shape, dtype=np.int64))
    for code, places, counts in counted:
        np.add.at(columns[code], places, counts)
    return dict(columns)


def _margins(table: MatchTable, units: Sequence[int]) -> BlockSums:
    """The sums of margins, in whole games: own score less the best of the others."""
    scores = table.column("scores")
    second, best = np.moveaxis(np.partition(scores, -2, axis=2)[:, :, -2:], 2, 0)[..., None]
    has = table.present & table.of_ends([end.at_fault is None for end in table.ends], bool)
    margins = scores.astype(np.int64) - np.where(scores == best, second, best)
    margins[~has] = 0
    if any(end.score_unit != units[0] for end in table.ends):
        of_pairing = np.array(units, dtype=object)[table.pairing]
        of_match = table.of_ends([end.score_unit for end in table.ends], object)
        factors = np.where(has, of_pairing[:, None], 1) // np.where(has, of_match, 1)
        margins = margins * factors[:, :, None]
    m, y = has.sum(axis=1), summed(_wide(margins))
    sums = BlockSums(*map(table.added, (*_block_counts(m), y, y * y, y * m[:, None])))
    squares = [unit * unit for unit in units]
    return sums._replace(
        total=_parts(sums.total, units), total2=_parts(sums.total2, squares), product=_parts(sums.product, units)
    )


def _luck(table: MatchTable) -> tuple[LuckSums, ...]:
    """The sums of luck of each half of the blocks."""
    has = table.present & table.of_ends([bool(end.luck_version) for end in table.ends], bool)
    m, luck = has.sum(axis=1), summed(_wide(table.column("luck")))
    y = summed(table.points * has[:, :, None])
    matches, one = m[:, None], np.ones_like(m)[:, None]
    by_place = ((y, one), (y, y), (y, matches), (luck, one), (luck, luck), (luck, matches), (y, luck))
    halves = [(table.block % HALVES == half).astype(np.int64) for half in range(HALVES)]
    return tuple(
        LuckSums(
            *(table.added(column * is_own) for column in _block_counts(m)),
            *(table.added(first * second * is_own[:, None]) for first, second in by_place),
        )
        for is_own in halves
    )


def _times(table: MatchTable) -> TimeSums:
    moves, spent, slowest, *others = (table.column(name).astype(np.int64) for name in NUMBERS[2:])
    decides = moves != 0
    return TimeSums(
        table.added(moves.sum(axis=1)),
        table.added((spent * decides).sum(axis=1)),
        np.maximum.reduceat((slowest * decides).max(axis=1), table.starts, axis=0),
        *(table.added(column.sum(axis=1)) for column in others),
    )


def _block_counts(m: Array) -> tuple[Array, Array, Array]:
    """By block with m matches: what blocks, matches and their squares are the sums of."""
    return (m > 0).astype(np.int64), m, m * m


def _wide(values: Array) -> Array:
    """The same in whole numbers of any length if their squares may not fit into 64 bits."""
    if values.dtype == object:
        return values
    seats = values.shape[2]
    most = max(abs(int(values.max(initial=0))), abs(int(values.min(initial=0))))
    per_block = max(most * seats, seats)
    return values if per_block * per_block * max(1, len(values)) < LARGEST_WHOLE else values.astype(object)


def _parts(values: Array, units: Sequence[int]) -> Array:
    """Whole numbers of parts of 1 / unit, by pairing."""
    if all(unit == 1 for unit in units):
        return values
    exact = [[Fraction(value, unit) for value in own] for own, unit in zip(values.tolist(), units, strict=True)]
    return np.array([[int(each) if each.denominator == 1 else each for each in own] for own in exact], dtype=object)


def _mapped(of: Callable[[Array], Any], one: Any) -> Any:
    """The same tuples and dicts, with the result of `of` in the place of each array."""
    if isinstance(one, dict):
        return {name: _mapped(of, value) for name, value in one.items()}
    if isinstance(one, tuple):
        values = [_mapped(of, value) for value in one]
        return one._make(values) if hasattr(one, "_make") else tuple(values)
    return of(one)


def sums_digest(sums: PairingSums) -> str:
    """SHA-256 of all ranks block by block and of the sums without times, whatever the order of the pairings."""
    found = sorted(zip(sums.keys, sums.ranks, range(len(sums.keys)), strict=True), key=itemgetter(0))
    order = np.array([number for *_, number in found], dtype=np.int64)
    digest = sha256(msgspec.json.encode([(key, *ranks.players, ranks.ranks) for key, ranks, _ in found]))
    blocks = [ranks.blocks for _, ranks, _ in found]
    for numbers in (map(len, blocks), chain.from_iterable(blocks)):
        digest.update(np.fromiter(numbers, dtype=np.int64).tobytes())

    def take_in(column: Array) -> None:
        own = _narrowed(column[order])
        text = msgspec.json.encode(own.tolist(), enc_hook=fraction_written) if own.dtype == object else b""
        digest.update(text or own.astype("<i8").tobytes())

    for name in PairingSums._fields[1:-1]:
        own = getattr(sums, name)
        digest.update(msgspec.json.encode([name, sorted(own) if isinstance(own, dict) else []]))
        _mapped(take_in, dict(sorted(own.items())) if isinstance(own, dict) else own)
    return digest.hexdigest()


def _narrowed(column: Array) -> Array:
    """The same in 64 bits, if these hold all of it; else whole numbers as ints."""
    if column.dtype != object:
        return column
    values = [int(value) if value.denominator == 1 else value for value in column.ravel().tolist()]
    is_small = all(type(value) is int and abs(value) < LARGEST_WHOLE for value in values)
    return np.array(values, dtype=np.int64 if is_small else object).reshape(column.shape)
