"""Sums of pairings -> scores and margins, with errors from the spread between blocks.

Rule: whole numbers up to the last division, and sums in no order, so that equal results give equal bits.

The unit of every error is the block (matches that share their luck, with the seats rotated), never the match.
Opponents are fixed, not drawn at random, so errors are stratified by pairing:

    score = sum y_b / M,   se^2 = sum_p n_p / (n_p - 1) * sum_{b in p} (y_b - r_p m_b)^2 / M^2

with y_b the entrant's points in block b, m_b its matches there, r_p its mean score in pairing p, n_p the blocks of p
and M all its matches. With complete blocks this is sum (n_p / N)^2 var_p / n_p over block means; an incomplete block
counts by the matches it has. A pairing with one block tells nothing about its own spread: it adds the mean square
about the overall mean over all blocks, sum_b (y_b - r m_b)^2 / (N - 1), or over the blocks of such pairings alone, with
N / (N - 1) in front, if that is more. It is too wide rather than too narrow.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from typing import Any, NamedTuple

import msgspec
import numpy as np

from arena.standings.match_table import Array, MatchTable, sum_matches
from arena.standings.sums import ExactNumber, Shares, add_blocks
from arena.statistics.comparisons import ComparisonTable
from arena.statistics.interval import Interval, degrees_of_freedom, equal_blocks, interval
from arena.statistics.pairs import comparisons


class Scores(NamedTuple):
    """The sums of matches by pairing and place (P, n).

    A win is a first place of one's own, a draw a shared one, everything else a loss. `drawn` counts all matches whose
    first place is shared. By rotation, too, are `points` (P, n, n), 2 for each player beaten and 1 for each one tied;
    and `matches` (P, n), in which all places sit.
    """

    shares: Shares
    wins: Array
    draws: Array
    losses: Array
    drawn: int
    points: Array
    matches: Array


class Mean(msgspec.Struct, frozen=True):
    """A mean over matches with its 95 % interval; `standard_error` is None if there are too few `blocks`."""

    value: float
    standard_error: float | None
    degrees: float
    blocks: int
    interval: Interval


def scores(table: MatchTable) -> Scores:
    """Count the results of the matches of each pairing."""
    is_first, present = table.ranks == ord("0"), table.present
    is_shared = (np.einsum("brp->br", is_first.astype(np.int64)) > 1)[:, :, None]
    wins, draws = (
        table.sum_pairings(kind.astype(np.int64)).sum(axis=1) for kind in (is_first & ~is_shared, is_first & is_shared)
    )
    m, y = present.sum(axis=1), sum_matches(table.points)
    sums = add_blocks(table, m, y)
    fourths = np.stack([table.sum_pairings(y**power * m[:, None] ** (4 - power)) for power in (4, 3, 2, 1, 0)], axis=2)
    return Scores(
        shares=sums._replace(fourths=fourths),
        wins=wins,
        draws=draws,
        losses=sums.matches[:, None] - wins - draws,
        drawn=int((is_shared[:, :, 0] & present).sum()),
        points=table.sum_pairings(table.points.astype(np.int64)),
        matches=table.sum_pairings(present.astype(np.int64)),
    )


def scores_between(table: ComparisonTable, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Mean]:
    """Compute the mean score of the first of each of `pairs` against the second, at any table size.

    Pairs that did not meet are left out. KeyError for a player who is not in the table.
    """
    number = {name: place for place, name in enumerate(table.players)}
    wanted = {(number[one], number[other]): (one, other) for one, other in pairs}
    strata: defaultdict[tuple[str, str], list[tuple[int, ...]]] = defaultdict(list)
    starts = np.flatnonzero(np.diff(table.pairing, prepend=-1))
    times = table.times.astype(np.int64)
    rows, present = comparisons(table.seats), table.masks[table.presence].astype(np.int64)
    for one, other in permutations(range(table.seats), 2):
        sign = 1 if one < other else -1
        columns = [number for number, row in enumerate(rows) if {row.first, row.second} == {one, other}]
        m = present[:, columns].sum(axis=1)
        y = m + sign * table.signs[:, columns].sum(axis=1)
        sums = [np.add.reduceat(power * times, starts).tolist() for power in _powers(m, y)]
        for players, *powers in zip(map(tuple, table.places[:, (one, other)].tolist()), *sums, strict=True):
            if players in wanted and powers[0]:
                strata[wanted[players]].append(tuple(powers))
    return {pair: _mean_score(tuple(columns)) for pair, columns in strata.items()}


@lru_cache(maxsize=1 << 16)
def _mean_score(strata: tuple[tuple[int, ...], ...]) -> Mean:
    """Compute the mean score from the sums of `_powers` by pairing.

    Pairs of few blocks are often alike, so each combination is computed once.
    """
    mean = mean_of(_shares_of_powers(strata), unit=2, lowest=0.0, highest=1.0)
    assert mean is not None, "there is a block"
    return mean


def _powers(m: Any, y: Any) -> tuple[Any, ...]:
    """Return, by block, the terms that the columns of `Shares` add up."""
    return (m > 0) + 0, m, m * m, y, y * y, m * y, y**4, m * y**3, m * m * y * y, m**3 * y, m**4


def _shares_of_powers(rows: Sequence[Sequence[ExactNumber]]) -> Shares:
    """Make shares from rows of the sums of `_powers`, a row for each pairing."""
    columns = np.array(rows, dtype=object).reshape(len(rows), 11)
    return Shares._make([*columns.T[:6], columns[:, 6:]])


def shares_of(strata: Iterable[Iterable[tuple[int, ExactNumber]] | Mapping[tuple[int, ExactNumber], int]]) -> Shares:
    """Make the shares of a player from blocks by pairing: (matches, total) of each, or a count of each such pair."""
    rows = []
    for blocks in map(Counter, strata):
        columns = zip(*[[times * power for power in _powers(m, y)] for (m, y), times in blocks.items()], strict=True)
        rows.append([*map(sum, columns)])
    return _shares_of_powers(rows)


def mean_of(
    parts: Shares,
    *,
    unit: int = 1,
    lowest: float = -math.inf,
    highest: float = math.inf,
) -> Mean | None:
    """Average over matches, with the error by the formula at the top and its interval; None without a match.

    `parts` are an entrant's shares of its pairings, with totals in parts of 1 / `unit`. `lowest` and `highest` bound
    the value of a match. `fourths` are used for bounded values only: a margin is the same with or without them.
    """
    known = parts if parts.blocks.all() else parts.at(parts.blocks > 0)
    if not len(known.blocks):
        return None
    whole = known.pool()
    blocks, matches = int(whole.blocks[0]), int(whole.matches[0])
    value = float(whole.total[0] / (unit * matches))
    has_fourths = math.isfinite(lowest) and math.isfinite(highest) and known.fourths is not None
    spreads, fourth = _pairing_variances(known.at(known.blocks > 1), has_fourths=has_fourths)
    if blocks > 1 and len((singles := known.at(known.blocks == 1)).blocks):
        spread, most = _single_variance(singles, whole, has_fourths=has_fourths)
        spreads.append(spread)
        fourth += most
    variance = math.fsum(summand for summand, _ in spreads)
    degrees = degrees_of_freedom(spreads, fourth=fourth, blocks=blocks)
    error = math.sqrt(variance) / (unit * matches) if blocks > 1 else None
    if error:
        bounds = interval(value, error, degrees=degrees, blocks=blocks, lowest=lowest, highest=highest)
    else:
        bounds = _interval_without_spread(known, value, unit, lowest, highest)
    return Mean(value, error, degrees, blocks, bounds)


def _interval_without_spread(known: Shares, value: float, unit: int, lowest: float, highest: float) -> Interval:
    """Return the interval of a mean `value` whose blocks are equal within each pairing: see `equal_blocks`."""
    values = (known.total / (unit * known.matches)).astype(np.float64)
    strata = list(zip(known.blocks.tolist(), values.tolist(), strict=True))
    bound = equal_blocks(strata, lowest=lowest, highest=highest)
    # blocks that lack matches weigh less in the value than in the bound
    low, high = (min(max(value + (end - bound.value), lowest), highest) for end in (bound.low, bound.high))
    return Interval(value, low, high)


def _single_variance(singles: Shares, whole: Shares, *, has_fourths: bool) -> tuple[tuple[float, float], float]:
    """Compute the part of pairings with one block, with its degrees of freedom, and the sum of the fourth powers.

    The squares about the overall mean, of all blocks or of these alone: whatever is more for each of them.
    """
    blocks, count = int(whole.blocks[0]), len(singles.blocks)
    scale = 1.0 / (blocks - 1)
    parts = []
    for shares, weight, degrees in ((whole, count * scale, blocks - 1), (singles.pool(), blocks * scale, count)):
        fourth = float(weight * blocks * scale * shares.fourth_powers(whole)[0]) if has_fourths else 0.0
        parts.append(((float(weight * shares.squares(whole)[0]), float(degrees)), fourth))
    return max(parts, key=lambda part: part[0][0])


def _pairing_variances(known: Shares, *, has_fourths: bool) -> tuple[list[tuple[float, float]], float]:
    """Compute each pairing's part of the total's variance with its degrees of freedom; two blocks or more each.

    The second value is the sum of the fourth powers, 0 if they are not known.
    """
    degrees = known.blocks - 1
    scale = (known.blocks / degrees).astype(np.float64)
    squares = known.squares(known)
    spreads = list(zip((scale * squares).tolist(), degrees.tolist(), strict=True))
    if not has_fourths:
        return spreads, 0.0
    return spreads, math.fsum((scale * scale * known.fourth_powers(known) * (squares > 0.0)).tolist())
