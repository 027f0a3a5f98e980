"""Pairings with their courses -> a skill per player with its error: the batch twin of the one-pass ratings.

Rule: the model is that of the ratings (TrueSkill's: skill m, performance noise beta, a tie within a margin), but all
matches are weighed together, so that their order cannot matter. Maximised is

    sum W log Phi((d - eps) / s) + D log[Phi((eps - d) / s) - Phi((-eps - d) / s)] - sum (m - mu)^2 / (2 sigma^2)

with d = m_i - m_j + (effect of i's seat) - (effect of j's seat) and s = sqrt(2) beta. A match of n players is taken
apart into its pairs, of weight 2 / n each. The seats have a weak prior of their own and are estimated jointly. The mean
of all skills is exactly mu; only differences mean anything.

The work grows with the cube of the players: fine for a thousand, not for ten thousand.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import msgspec
import numpy as np

from arena.statistics import newton
from arena.statistics.block_correlation import block_effect, groups_of, score_covariance
from arena.statistics.comparisons import ComparisonTable
from arena.statistics.distributions import NORMAL, Z_95, t_quantile
from arena.statistics.interval import Interval, interval
from arena.statistics.model import BlockEffect, ProbitSettings, chances_at, score_slope
from arena.statistics.newton import Design, Floats, Optimum

_TIERS: Final = 30
_MOST_POINTS: Final = 50.0
"""Percentage points above or below 50 that a score can have."""


class SeatAdvantage(msgspec.Struct, frozen=True, gc=False):
    """The advantage of a seat over the mean of the other seats.

    `skill` is in units of mu. `points` are the percentage points of score above 50 that a player gets there against
    equals. Both have their 95 % interval.
    """

    seat: int
    skill: Interval
    points: Interval


@dataclass(frozen=True)
class ProbitFit:
    """The skills of all players, by name order.

    `covariance` is of the means; it contains how little is known of the level of all. `groups` are players whom no
    match connects. `effect` is what the matches of a block share; None where nothing tells of it. `table` is what all
    follows from.
    """

    settings: ProbitSettings
    players: tuple[str, ...]
    means: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    seat_effects: tuple[float, ...]
    seats: tuple[SeatAdvantage, ...]
    groups: tuple[tuple[str, ...], ...]
    effect: BlockEffect | None
    table: ComparisonTable = field(repr=False, compare=False)

    def mean(self, player: str) -> float:
        """The skill of `player`; KeyError for a stranger."""
        return self.means[self._places[player]]

    def likelihood_better(self, one: str, other: str) -> float | None:
        """The likelihood that `one` is the better player; None if no chain of matches connects the two."""
        if self._group[one] != self._group[other]:
            return None
        variance = self._variance_of_difference(one, other)
        if one == other or variance <= 0.0:
            return 0.5
        return NORMAL.cdf((self.mean(one) - self.mean(other)) / math.sqrt(variance))

    def difference(self, one: str, other: str) -> tuple[float, float]:
        """The skill of `one` less that of `other`, with its standard error."""
        variance = self._variance_of_difference(one, other)
        return self.mean(one) - self.mean(other), math.sqrt(max(0.0, variance))

    def _variance_of_difference(self, one: str, other: str) -> float:
        i, j = self._places[one], self._places[other]
        return self.covariance[i][i] + self.covariance[j][j] - 2.0 * self.covariance[i][j]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {player: place for place, player in enumerate(self.players)}

    @cached_property
    def _group(self) -> dict[str, int]:
        return {player: number for number, group in enumerate(self.groups) for player in group}


def fit(table: ComparisonTable, settings: ProbitSettings | None = None) -> ProbitFit:
    """Find the most likely skills, and their errors from blocks.

    With H the information of the results and the prior, and J the covariance of the slope of the log likelihood as
    `block_correlation` makes it of the blocks, the covariance is H^-1 (J + prior) H^-1, widened for few blocks. The
    means stay what they are whatever the blocks share.
    """
    chosen, names = settings or ProbitSettings(), table.players
    if not names:
        return ProbitFit(chosen, (), (), (), (), (), (), None, table)
    count = len(names)
    laid_out, counts = table.design(chosen), table.counts()
    optimum = newton.maximise(laid_out, counts.reshape(-1, 3), _near_the_maximum(table, laid_out, counts))
    effect, covariance = _errors(table, laid_out, counts, optimum, chosen)
    effects = _centred(optimum.parameters[count:].tolist(), 0.0)
    return ProbitFit(
        settings=chosen,
        players=names,
        means=_centred(optimum.parameters[:count].tolist(), chosen.mu),
        covariance=tuple(map(tuple, covariance[:count, :count].tolist())),
        seat_effects=effects,
        seats=_seat_advantages(effects, covariance[count:, count:], chosen),
        groups=table.groups,
        effect=effect,
        table=table,
    )


def _near_the_maximum(table: ComparisonTable, design: Design, counts: Floats) -> Floats:
    """The parameters to start from: of many players the skills of tiers of about equal score, and between them.

    That takes as many steps as a start from the centre, but with few parameters and rows.
    """
    count, size = len(table.players), len(design.centre)
    if count <= 2 * _TIERS:
        return design.centre
    score = np.array([points / max(1, 2 * met) for met, points in table.points(counts)])
    tier = np.argsort(np.argsort(score, kind="stable"), kind="stable") * _TIERS // count
    new = np.append(tier, np.arange(size - count) + _TIERS)
    shape = (_TIERS + size - count,) * len(design.signs)
    kinds, same = np.unique(np.ravel_multi_index(tuple(new[design.columns].T), shape), return_inverse=True)
    of_tiers = replace(
        design,
        columns=np.stack(np.unravel_index(kinds, shape), axis=1),
        centre=np.delete(design.centre, np.s_[: count - _TIERS]),
        precision=np.bincount(new, design.precision).astype(np.float64),
    )
    added = np.stack([np.bincount(same, column) for column in counts.reshape(-1, 3).T], axis=1).astype(np.float64)
    found = newton.maximise(of_tiers, added).parameters
    scores = np.bincount(tier, score) / np.bincount(tier)
    return np.append(np.interp(score, scores, found[:_TIERS]), found[_TIERS:])


def _errors(
    table: ComparisonTable, laid_out: Design, counts: Floats, optimum: Optimum, settings: ProbitSettings
) -> tuple[BlockEffect | None, Floats]:
    """The effect of the blocks, and the covariance of all parameters."""
    prior = np.diag(laid_out.precision)
    inverse: Floats = newton.solve(optimum.information + prior, np.eye(len(prior)))
    effect = None
    if len(table.places):
        differences = laid_out.differences(optimum.parameters).reshape(counts.shape[:2])
        _, _, curvature = newton.log_likelihood(differences, counts, laid_out.scale, laid_out.margin)
        effect = block_effect(table, differences, settings)
        told = score_covariance(
            table, differences, laid_out.weight * curvature, effect.correlation if effect else 0.0, settings
        )
        # einsum keeps away from BLAS: see `newton.solve`
        inverse = np.einsum("ij,jk->ik", np.einsum("ij,jk->ik", inverse, told + prior), inverse)
        inverse *= _widening(table, effect)
    return effect, (inverse + inverse.T) / 2.0


def _widening(table: ComparisonTable, effect: BlockEffect | None) -> float:
    """Return the factor on all variances with which the normal 95 % interval holds for few blocks, too.

    The correlation of blocks is an estimate: Student's t with its degrees of freedom, and one more of the independent
    matches that are added. At most it is as if all matches of a block were one.
    """
    blocks = groups_of(table).blocks
    student = t_quantile(math.fsum(blocks) - len(blocks) + 1.0) / Z_95
    return max(1.0, min(student**2, table.seats / (effect.players if effect else 1.0)))


def _centred(values: Sequence[float], centre: float) -> tuple[float, ...]:
    """Take out what rounding left in the mean, which the prior puts at `centre`."""
    if not values:
        return ()
    shift = centre - math.fsum(values) / len(values)
    return tuple(value + shift for value in values)


def _seat_advantages(
    effects: Sequence[float], covariance: Floats, settings: ProbitSettings
) -> tuple[SeatAdvantage, ...]:
    """Compare each seat with the mean of the others; the error of the points follows the slope of the score."""
    count = len(effects)
    found = []
    for seat in range(count):
        against = [1.0 if other == seat else -1.0 / (count - 1) for other in range(count)]
        variance = sum(against[i] * against[j] * float(covariance[i, j]) for i in range(count) for j in range(count))
        gaps = [effects[seat] - other for place, other in enumerate(effects) if place != seat]
        scores = [chances_at(gap, settings.scale, settings.margin).score for gap in gaps]
        slope = math.fsum(score_slope(gap, settings) for gap in gaps) / len(gaps)
        error = math.sqrt(max(0.0, variance))
        skill = math.fsum(weight * effect for weight, effect in zip(against, effects, strict=True))
        points = 100.0 * (math.fsum(scores) / len(scores) - 0.5)
        of_points = interval(points, 100.0 * slope * error, lowest=-_MOST_POINTS, highest=_MOST_POINTS)
        found.append(SeatAdvantage(seat, interval(skill, error), of_points))
    return tuple(found)
