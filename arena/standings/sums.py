"""The sums of pairings over their blocks, from which standings are computed.

Rule: exact values only, added in no order. So standings are the same bytes however many matches were played at once and
whichever ended first.

Columns are arrays over P pairings of n places each: whole numbers of 64 bits where these hold them, and otherwise
Python's numbers (dtype object). Players are known by place, their order in the pairing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import chain
from math import lcm
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from arena.match.columns import MatchSummary
from arena.match.record import encode_fraction
from arena.standings.match_table import Array, MatchTable, sum_matches

ExactNumber = int | Fraction
HALVES: Final = 2
_EXACT: Final = 1 << 53
"""Whole numbers below this bound are exact as floats."""
LARGEST_WHOLE: Final = 1 << 62
"""Whole numbers below this bound are kept in 64 bits."""


class Shares(NamedTuple):
    """Sums over the blocks of P pairings, with m the matches of a block that count, and y the total of their values.

    The columns (P,) are the number of blocks and the sums of m, m m, y, y y and m y; the last three are by place (P, n)
    until one player is chosen. They give the squares of y - r m for any mean r. Blocks with m = 0 are not counted.
    `fourths` (..., 5), if they are known, are sums of y^4, y^3 m, ..., m^4: they show if the spread comes from few
    blocks.
    """

    blocks: Array
    matches: Array
    matches2: Array
    total: Array
    total2: Array
    product: Array
    fourths: Array | None = None

    def at(self, *which: Array) -> "Shares":
        """Choose pairings by number or by a mask; with a place in each, the shares of a player."""
        return Shares._make([None if column is None else column[which[: column.ndim]] for column in self])

    def pool(self) -> "Shares":
        """Add up all pairings as if their blocks were of one."""
        sums = [np.array([total(column)], dtype=object) for column in self[:6]]
        fourths = None if self.fourths is None else np.array([[total(power) for power in self.fourths.T]], dtype=object)
        return Shares._make([*sums, fourths])

    def squares(self, mean_of: "Shares") -> Array:
        """Sum (y - r m)^2 over the blocks of each pairing, with r the mean of `mean_of`."""
        columns = [mean_of.total, mean_of.matches, self.total2, self.product, self.matches2]
        largest = [int(np.abs(column).max(initial=0)) for column in columns]
        if 4 * max(largest[2:]) * max(largest[:2]) ** 2 >= _EXACT:
            columns = [column.astype(object) for column in columns]
        y, m, y2, product, m2 = columns
        squares: Array = (y2 * m**2 - 2 * y * m * product + y**2 * m2) / m**2
        return squares.astype(np.float64)

    def fourth_powers(self, mean_of: "Shares") -> Array:
        """Sum (y - r m)^4 over the blocks of each pairing, as `squares` does; `fourths` have to be known."""
        assert self.fourths is not None, "asked only where they are known"
        r = (mean_of.total / mean_of.matches).astype(np.float64)
        y4, y3, y2, y, m4 = self.fourths.T.astype(np.float64)
        powers: Array = y4 - r * (4.0 * y3 - r * (6.0 * y2 - r * (4.0 * y - r * m4)))
        return np.maximum(0.0, powers)


class LuckSums(NamedTuple):
    """Sums over half of the blocks, of the matches with luck only.

    With m the matches of a block and, by place, y their points and l their luck in millionths: `matches` (P,) is the
    sum of m and `matches2` of m m; the others (P, n) are the sums of y, y y, m y, l, l l, m l and y l.
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


class PairingSums(NamedTuple):
    """The sums of all matches of P pairings of n places; each pairing has at least one match.

    `margins` are over matches without a forfeit. `luck` are the sums of the even and of the odd blocks;
    `luck_versions` counts the matches (P,) that have luck by the version of the value. `faults` (P, n) are those that
    ended a match, `pardoned` those after which the game went on, both by code. `isolation` counts matches (P,).
    """

    table: MatchTable
    margins: Shares
    luck: tuple[LuckSums, ...]
    luck_versions: dict[str, Array]
    faults: dict[str, Array]
    pardoned: dict[str, Array]
    isolation: dict[str, Array]

    @property
    def matches(self) -> Array:
        """The number of matches of each pairing."""
        return sum(self.isolation.values(), np.zeros(len(self.table.keys), dtype=np.int64))


def total(column: Array) -> Any:
    """Return the exact sum of a column, however large."""
    return sum(column.tolist())


def add_blocks(table: MatchTable, m: Array, y: Array) -> Shares:
    """Add up the blocks of each pairing from their matches (B,) and the totals of their places (B, n)."""
    return Shares(*map(table.sum_pairings, (*_block_counts(m), y, y * y, y * m[:, None])))


def sums_of(table: MatchTable) -> PairingSums:
    """Add up margins, luck, faults and kinds of isolation of the matches of a table, pairing by pairing."""
    by_pairing, by_place = (len(table.keys),), (len(table.keys), table.ranks.shape[2])
    groups = [*_groups_by_end(table)]
    versions = ((group.end.luck_version, group.pairings, group.matches) for group in groups if group.end.luck_version)
    return PairingSums(
        table=table,
        margins=_sum_margins(table, _score_units(groups, len(table.keys))),
        luck=_sum_luck(table),
        luck_versions=_add_counts(by_pairing, versions),
        faults=_add_counts(by_place, _faults_by_place(groups, by_place[1])),
        pardoned=_add_counts(by_place, _pardons_by_place(groups, by_place[1])),
        isolation=_add_counts(by_pairing, ((group.end.isolation, group.pairings, group.matches) for group in groups)),
    )


class _EndGroup(NamedTuple):
    """The pairings and rotations that have matches with this end, and the numbers of these matches."""

    end: MatchSummary
    pairings: Array
    rotations: Array
    matches: Array


def _groups_by_end(table: MatchTable) -> Iterator[_EndGroup]:
    """Yield the matches of the table by their end: each end with its pairings, rotations and numbers of matches."""
    blocks, rotations = table.present.nonzero()
    seats, ends = table.ranks.shape[2], max(1, len(table.ends))
    kinds = (table.end[blocks, rotations] * len(table.keys) + table.pairing[blocks]) * seats + rotations
    cells, counts = np.unique(kinds, return_counts=True)
    numbers, cells = np.divmod(cells, max(1, len(table.keys) * seats))
    edges = np.searchsorted(numbers, np.arange(ends + 1))
    for end, first, last in zip(table.ends, edges, edges[1:], strict=False):
        yield _EndGroup(end, *np.divmod(cells[first:last], seats), counts[first:last])


def _score_units(groups: Iterable[_EndGroup], pairings: int) -> list[int]:
    """Return, by pairing, the least common multiple of the units of its scores."""
    units = [1] * pairings
    for group in groups:
        if group.end.score_unit > 1:
            for number in group.pairings.tolist():
                units[number] = lcm(units[number], group.end.score_unit)
    return units


def _faults_by_place(groups: Iterable[_EndGroup], seats: int) -> Iterator[tuple[str, Any, Array]]:
    """Yield termination, place and number of the faults that ended matches."""
    for end, pairings, rotations, matches in groups:
        if end.at_fault is not None:
            yield end.termination.value, (pairings, (end.at_fault + rotations) % seats), matches


def _pardons_by_place(groups: Iterable[_EndGroup], seats: int) -> Iterator[tuple[str, Any, Array]]:
    """Yield code, place and number of the faults after which matches went on."""
    for end, pairings, rotations, matches in groups:
        for seat, counts in enumerate(end.pardoned):
            for code, times in counts.items():
                yield code, (pairings, (seat + rotations) % seats), matches * times


def _add_counts(shape: tuple[int, ...], counted: Iterable[tuple[str, Any, Array]]) -> dict[str, Array]:
    """Add up counts by code, each at its places in a column of that shape."""
    columns: defaultdict[str, Array] = defaultdict(lambda: np.zeros(shape, dtype=np.int64))
    for code, places, counts in counted:
        np.add.at(columns[code], places, counts)
    return dict(columns)


def _sum_margins(table: MatchTable, units: Sequence[int]) -> Shares:
    """Add up margins in points of the game: own score less the best of the others; none for matches with a forfeit."""
    scores = table.column("scores")
    second, best = np.moveaxis(np.partition(scores, -2, axis=2)[:, :, -2:], 2, 0)[..., None]
    has = table.present & table.map_ends([end.at_fault is None for end in table.ends], bool)
    margins = scores.astype(np.int64) - np.where(scores == best, second, best)
    margins[~has] = 0
    if any(end.score_unit != units[0] for end in table.ends):
        of_pairing = np.array(units, dtype=object)[table.pairing]
        of_match = table.map_ends([end.score_unit for end in table.ends], object)
        factors = np.where(has, of_pairing[:, None], 1) // np.where(has, of_match, 1)
        margins = margins * factors[:, :, None]
    sums = add_blocks(table, has.sum(axis=1), sum_matches(_widen(margins)))
    squares = [unit * unit for unit in units]
    return sums._replace(
        total=_divide(sums.total, units),
        total2=_divide(sums.total2, squares),
        product=_divide(sums.product, units),
    )


def _sum_luck(table: MatchTable) -> tuple[LuckSums, ...]:
    """Add up luck, points and their products by pairing, over matches with measured luck: a LuckSums for each half.

    The halves are blocks by their number modulo HALVES.
    """
    has = table.present & table.map_ends([bool(end.luck_version) for end in table.ends], bool)
    m, luck = has.sum(axis=1), sum_matches(_widen(table.column("luck")))
    y = sum_matches(table.points * has[:, :, None])
    matches, ones = m[:, None], np.ones_like(m)[:, None]
    by_place = ((y, ones), (y, y), (y, matches), (luck, ones), (luck, luck), (luck, matches), (y, luck))
    halves = [(table.block % HALVES == half).astype(np.int64) for half in range(HALVES)]
    return tuple(
        LuckSums(
            *(table.sum_pairings(column * is_in_half) for column in _block_counts(m)),
            *(table.sum_pairings(first * second * is_in_half[:, None]) for first, second in by_place),
        )
        for is_in_half in halves
    )


def _block_counts(m: Array) -> tuple[Array, Array, Array]:
    """Return, for blocks of m matches, the terms of three sums: of blocks, of matches, and of their squares."""
    return (m > 0).astype(np.int64), m, m * m


def _widen(values: Array) -> Array:
    """Convert values to whole numbers of any length if the sums of their squares may not fit into 64 bits."""
    if values.dtype == object:
        return values
    seats = values.shape[2]
    most = max(abs(int(values.max(initial=0))), abs(int(values.min(initial=0))))
    per_block = max(most * seats, seats)
    return values if per_block * per_block * max(1, len(values)) < LARGEST_WHOLE else values.astype(object)


def _divide(values: Array, units: Sequence[int]) -> Array:
    """Divide whole numbers by the unit of their pairing, exactly."""
    if all(unit == 1 for unit in units):
        return values
    exact = [[Fraction(value, unit) for value in row] for row, unit in zip(values.tolist(), units, strict=True)]
    return np.array([[int(part) if part.denominator == 1 else part for part in row] for row in exact], dtype=object)


def _flatten_arrays(columns: Any) -> Iterator[Array]:
    """Yield the arrays in nested tuples and dicts; those of a dict in order of name."""
    if isinstance(columns, dict):
        columns = tuple([column for _, column in sorted(columns.items())])
    if isinstance(columns, tuple):
        yield from chain.from_iterable(map(_flatten_arrays, columns))
    elif columns is not None:
        yield columns


def sums_digest(sums: PairingSums) -> str:
    """Compute the SHA-256 of all ranks, block by block, and of the sums; the order of the pairings does not matter."""
    table = sums.table
    order = np.array(sorted(range(len(table.keys)), key=table.keys.__getitem__), dtype=np.int64)
    ranks = [(table.keys[number], table.pairing_ranks[number]) for number in order.tolist()]
    digest = sha256(msgspec.json.encode([(key, *pairing.players, pairing.ranks) for key, pairing in ranks]))
    blocks = [pairing.blocks for _, pairing in ranks]
    for numbers in (map(len, blocks), chain.from_iterable(blocks)):
        digest.update(np.fromiter(numbers, dtype=np.int64).tobytes())

    for name in PairingSums._fields[1:]:
        columns = getattr(sums, name)
        digest.update(msgspec.json.encode([name, sorted(columns) if isinstance(columns, dict) else []]))
        for column in _flatten_arrays(columns):
            values = _narrow(column[order])
            text = msgspec.json.encode(values.tolist(), enc_hook=encode_fraction) if values.dtype == object else b""
            digest.update(text or values.astype("<i8").tobytes())
    return digest.hexdigest()


def _narrow(column: Array) -> Array:
    """Convert a column to 64 bits if these hold all of it; otherwise make its whole numbers ints."""
    if column.dtype != object:
        return column
    values = [int(value) if value.denominator == 1 else value for value in column.ravel().tolist()]
    is_small = all(type(value) is int and abs(value) < LARGEST_WHOLE for value in values)
    return np.array(values, dtype=np.int64 if is_small else object).reshape(column.shape)
