"""Pairings and a fit -> a cell for each two players who met, and whether one skill per player explains them all.

Rule: a cell compares the results with those that the fitted skills expect of exactly these matches, seats included. Its
error is that of the model for independent matches, times the root of the pair's own design effect from its blocks. That
effect is pulled towards the one that the correlation of the league makes of the pair's difference in skill
(`block_correlation`), so that a few blocks that happen to agree cannot make an error of 0:

    (of_blocks + K D v) / (of_matches + K v)

with K = 30 blocks, D the effect by the model, v the model's variance of a block of independent matches.

Intransitive results (A beats B beats C beats A) cannot come from a skill per player. X^2, the sum of z^2 over all
pairs, tells whether there are any; its degrees of freedom are the pairs played less the players, plus the groups that
nothing connects: (n - 1)(n - 2) / 2 for a complete round robin of n. Like any such test it needs a few wins and losses
in most cells. It is for two seats: comparisons of the same match are not independent.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from arena.statistics.block_correlation import Thresholds, deviations, group_blocks, joint_excess, noise_correlation
from arena.statistics.comparisons import ComparisonTable, block_pattern
from arena.statistics.distributions import CONFIDENCE, NORMAL, chi_square_tail
from arena.statistics.newton import Floats, Indices, outcomes
from arena.statistics.pairs import comparisons
from arena.statistics.probit import ProbitFit

Flags = npt.NDArray[np.bool_]

COMMON_BLOCKS: Final = 30
"""The number of blocks with which a pair weighs as much as the effect that the league has in common."""
_LEAST_VARIANCE: Final = 1e-100
MOST_CYCLES: Final = 1000
"""The most cycles that are listed by default. With n players there can be n^3 / 24; all are counted."""


class Cell(msgspec.Struct, frozen=True, gc=False):
    """The matches of `first` against `second`, seen from `first`. `score` and `expected` are shares from 0 to 1.

    `error` is the standard error of `score` under the model, `z` is (score - expected) / error. `likelihood_better` is
    the likelihood that the first is better by these matches alone: Phi((W - L) / sqrt(effect (W + L))).
    """

    first: str
    second: str
    matches: int
    blocks: int
    wins: int
    draws: int
    losses: int
    score: float
    expected: float
    error: float
    z: float
    likelihood_better: float

    def mirror(self) -> "Cell":
        """Return the cell of the same matches seen from the other side."""
        return msgspec.structs.replace(
            self,
            first=self.second,
            second=self.first,
            wins=self.losses,
            losses=self.wins,
            score=1.0 - self.score,
            expected=1.0 - self.expected,
            z=-self.z,
            likelihood_better=1.0 - self.likelihood_better,
        )


class Intransitivity(msgspec.Struct, frozen=True, gc=False):
    """X^2 with its degrees of freedom, and the chance `p` of a sum at least as large.

    `p` is None without a degree of freedom, and for more than two seats.
    """

    chi_square: float
    degrees: int
    p: float | None


@dataclass(frozen=True)
class Matrix:
    """The cells of all pairs that met, by names in order, and the cycles among them.

    `cycles` are (A, B, C) with A > B > C > A, where each step is likelier than 95 % by the direct matches of that pair.
    They are the first ones in order of name; `cycles_found` counts all. `cycles_by_chance` is the expected number if
    all players were of equal skill, in both directions of each three that met: 0.06 with 12 players, 40 with 100.
    """

    players: tuple[str, ...]
    cells: tuple[Cell, ...]
    intransitivity: Intransitivity
    cycles: tuple[tuple[str, str, str], ...]
    cycles_found: int
    cycles_by_chance: float

    def cell(self, one: str, other: str) -> Cell | None:
        """Return the matches of `one` against `other`, seen from `one`; None if there are none."""
        if (one, other) in self._by_pair:
            return self._by_pair[one, other]
        mirror = self._by_pair.get((other, one))
        return None if mirror is None else mirror.mirror()

    @cached_property
    def _by_pair(self) -> dict[tuple[str, str], Cell]:
        return {(cell.first, cell.second): cell for cell in self.cells}


def head_to_head(fit: ProbitFit, *, most_cycles: int = MOST_CYCLES) -> Matrix:
    """Compare the results of each pair with those that the fitted skills expect; list `most_cycles` cycles at most."""
    cells, players = _compare_pairs(fit), fit.players
    places = {name: place for place, name in enumerate(players)}
    first = np.array([places[cell.first] for cell in cells], dtype=np.int64)
    second = np.array([places[cell.second] for cell in cells], dtype=np.int64)
    likelihood = np.array([cell.likelihood_better for cell in cells])
    met, beats = np.zeros((2, len(players), len(players)), dtype=bool)
    met[first, second] = met[second, first] = True
    beats[first, second], beats[second, first] = likelihood > CONFIDENCE, likelihood < 1.0 - CONFIDENCE
    cycles: list[tuple[str, str, str]] = []
    cycle_count = 0
    for a, steps in enumerate(_cycles_from(beats)):
        cycle_count += int(np.count_nonzero(steps))
        for b, c in np.argwhere(steps)[: most_cycles - len(cycles)].tolist():
            cycles.append((players[a], players[a + b], players[a + c]))
    return Matrix(
        players=players,
        cells=cells,
        intransitivity=_test_intransitivity(fit, cells),
        cycles=tuple(cycles),
        cycles_found=cycle_count,
        cycles_by_chance=sum(int(np.count_nonzero(steps)) for steps in _cycles_from(met)) * (1.0 - CONFIDENCE) ** 3,
    )


def _test_intransitivity(fit: ProbitFit, cells: Sequence[Cell]) -> Intransitivity:
    """Return X^2 of all cells with its degrees of freedom and, for two seats, its p."""
    chi_square = math.fsum(cell.z * cell.z for cell in cells)
    degrees = len(cells) - len(fit.players) + len(fit.groups)
    p = chi_square_tail(chi_square, degrees) if degrees > 0 and fit.table.seats == 2 else None
    return Intransitivity(chi_square, degrees, p)


def _cycles_from(steps: Flags) -> Iterator[Flags]:
    """Yield, for each place a, a mask of the (b, c) for which `steps` (n, n) lead from a to b to c to a.

    b and c are a or later, and counted from a.
    """
    for a in range(len(steps)):
        yield steps[a, a:, None] & steps[a:, a:] & steps[a:, a]


class _PairSums(NamedTuple):
    """Sums over all matches of a pair of players, by pair, seen from the first by name.

    `residual` is the score less the expected one, `variance` the model's for independent matches, `of_model` for blocks
    with the correlation of the league. `of_blocks` and `of_matches` are the observed sums of squares of blocks and of
    matches, about the means of their pairings.
    """

    wins: Floats
    draws: Floats
    losses: Floats
    blocks: Floats
    residual: Floats
    variance: Floats
    of_model: Floats
    of_blocks: Floats
    of_matches: Floats


def _compare_pairs(fit: ProbitFit) -> tuple[Cell, ...]:
    """Return a cell for each pair that met, in order of name."""
    table = fit.table
    if not len(table.places):
        return ()
    rows = comparisons(table.seats)[: table.seats * (table.seats - 1) // 2]
    first = table.places[:, [row.first for row in rows]]
    second = table.places[:, [row.second for row in rows]]
    size = len(table.players)
    key = np.minimum(first, second) * size + np.maximum(first, second)
    distinct, pair = np.unique(key.ravel(), return_inverse=True)
    is_turned = (first > second).ravel()
    sums = _merge_by_players(_sums_of_pairings(fit, table), pair.ravel(), is_turned, len(distinct))
    is_met = sums.blocks > 0.0
    return _make_cells(table.players, distinct[is_met], _PairSums(*(column[is_met] for column in sums)))


def _sums_of_pairings(fit: ProbitFit, table: ComparisonTable) -> _PairSums:
    """Return the sums of each pairing and two of its places (P, Q), seen from the first place."""
    settings = fit.settings
    seats = table.seats
    design = table.design(settings)
    parameters = np.array([*fit.means, *fit.seat_effects])
    counts = table.counts()
    differences = design.differences(parameters).reshape(counts.shape[:2])
    chances, _ = outcomes(differences, settings.scale, settings.margin)
    win, draw, loss = (chances[..., outcome] for outcome in range(3))
    # written so that near-certain results keep their digits
    residual = counts[..., 0] * (loss + draw / 2.0) + counts[..., 1] * (loss - win) / 2.0
    residual -= counts[..., 2] * (win + draw / 2.0)
    variance = counts.sum(axis=2) * (win * loss + draw * (win + loss) / 4.0)

    def by_pair(values: Floats) -> Floats:
        """Add up the rotations: (..., R) -> (..., Q)."""
        sums: Floats = values.reshape(*values.shape[:-1], seats, -1).sum(axis=-2)
        return sums

    groups = group_blocks(table)
    residuals = deviations(table, groups)
    is_there = by_pair(table.masks)[table.presence] > 0.0
    return _PairSums(
        wins=by_pair(counts[..., 0]),
        draws=by_pair(counts[..., 1]),
        losses=by_pair(counts[..., 2]),
        blocks=_sum_by_pairing(table, is_there * table.times[:, None]),
        residual=by_pair(residual),
        variance=by_pair(variance),
        of_model=by_pair(variance) + _shared_variance(fit, table, differences),
        of_blocks=_sum_by_pairing(table, table.times[:, None] * by_pair(residuals) ** 2),
        of_matches=_sum_by_pairing(table, table.times[:, None] * by_pair(residuals**2)),
    )


def _shared_variance(fit: ProbitFit, table: ComparisonTable, differences: Floats) -> Floats:
    """Return what correlation adds to the variance of the sum of scores, by pairing and pair of places (P, Q)."""
    rows = len(block_pattern(table.seats).projection)
    pairs = rows // table.seats
    noise = np.triu(noise_correlation(table.seats, fit.effect.correlation if fit.effect else 0.0), 1)
    is_same_pair = np.arange(rows)[:, None] % pairs == np.arange(rows) % pairs
    first, second = np.nonzero(np.where(is_same_pair, noise, 0.0))
    variance = np.zeros((len(table.places), pairs))
    if len(first):
        thresholds = Thresholds.of(differences, fit.settings)
        masks = table.masks[table.presence]
        present = _sum_by_pairing(table, table.times[:, None] * masks[:, first] * masks[:, second])
        added = 2.0 * present * thresholds.score_covariances(first, second, noise[first, second], joint_excess)
        for column, row in enumerate(first):
            variance[:, row % pairs] += added[:, column]
    return variance


def _sum_by_pairing(table: ComparisonTable, values: Floats) -> Floats:
    """Add up values of entries (E, C) by pairing (P, C)."""
    return np.stack(
        [np.bincount(table.pairing, weights=column, minlength=len(table.places)) for column in values.T], axis=1
    ).astype(np.float64)


def _merge_by_players(sums: _PairSums, pair: Indices, is_turned: Flags, count: int) -> _PairSums:
    """Add up the pairings of the same two players, seen from the first by name."""
    flat = _PairSums(*(column.ravel() for column in sums))
    turned = flat._replace(
        wins=np.where(is_turned, flat.losses, flat.wins),
        losses=np.where(is_turned, flat.wins, flat.losses),
        residual=np.where(is_turned, -flat.residual, flat.residual),
    )
    return _PairSums(*(np.bincount(pair, weights=column, minlength=count).astype(np.float64) for column in turned))


def _make_cells(names: Sequence[str], pairs: Indices, sums: _PairSums) -> tuple[Cell, ...]:
    """Make the cells of `pairs`, numbers of (first player) * (all players) + (second player), from their sums."""
    matches = sums.wins + sums.draws + sums.losses
    prior_weight = COMMON_BLOCKS * np.maximum(_LEAST_VARIANCE, sums.variance) / sums.blocks
    common_effect = np.maximum(0.0, sums.of_model / np.maximum(_LEAST_VARIANCE, sums.variance))
    effect = (sums.of_blocks + common_effect * prior_weight) / (sums.of_matches + prior_weight)
    error = np.sqrt(np.maximum(_LEAST_VARIANCE, effect * sums.variance))
    decided = np.sqrt(effect * (sums.wins + sums.losses))
    lead = np.divide(sums.wins - sums.losses, decided, out=np.zeros_like(decided), where=decided > 0.0)
    score = (sums.wins + sums.draws / 2.0) / matches
    columns = (score, score - sums.residual / matches, error / matches, sums.residual / error, lead)
    counts = (matches, sums.blocks, sums.wins, sums.draws, sums.losses)
    rows = zip(
        pairs.tolist(),
        *(column.astype(np.int64).tolist() for column in counts),
        *(column.tolist() for column in columns),
        strict=True,
    )
    size, likelihood = len(names), NORMAL.cdf
    return tuple(
        Cell(names[pair // size], names[pair % size], m, b, w, d, lost, share, expected, sd, z, likelihood(t))
        for pair, m, b, w, d, lost, share, expected, sd, z, t in rows
    )
