"""Pairings with the ranks of their blocks -> a skill per player with its error, from all matches at once.

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
from arena.statistics.block_correlation import estimate_block_effect, group_blocks, score_covariance
from arena.statistics.comparisons import ComparisonTable
from arena.statistics.distributions import NORMAL, Z_95, t_quantile
from arena.statistics.interval import Interval, interval
from arena.statistics.model import BlockEffect, ProbitSettings, chances_at, score_slope
from arena.statistics.newton import Design, Floats, Optimum

_TIERS: Final = 30
_MOST_POINTS: Final = 50.0
"""The most percentage points by which a score can differ from 50."""


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
    """The fitted skills of all players, in order of name.

    `covariance` is of the means, including the uncertainty of the level of all. `groups` are players whom matches
    connect. `effect` is what the matches of a block share; None where no blocks show it. `table` has the comparisons
    that were fitted.
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
        """Return the skill of `player`; KeyError for an unknown player."""
        return self.means[self._places[player]]

    def likelihood_better(self, one: str, other: str) -> float | None:
        """Return the likelihood that `one` is the better player; None if no chain of matches connects the two.

        KeyError for an unknown player.
        """
        if self._group[one] != self._group[other]:
            return None
        variance = self._variance_of_difference(one, other)
        if one == other or variance <= 0.0:
            return 0.5
        return NORMAL.cdf((self.mean(one) - self.mean(other)) / math.sqrt(variance))

    def difference(self, one: str, other: str) -> tuple[float, float]:
        """Return the skill of `one` less that of `other`, with its standard error.

        If no matches connect the two, only the prior tells, and the result means nothing.
        """
        variance = self._variance_of_difference(one, other)
        return self.mean(one) - self.mean(other), math.sqrt(max(0.0, variance))

    def _variance_of_difference(self, one: str, other: str) -> float:
        """Return the variance of the skill of `one` less that of `other`."""
        i, j = self._places[one], self._places[other]
        return self.covariance[i][i] + self.covariance[j][j] - 2.0 * self.covariance[i][j]

    @cached_property
    def _places(self) -> dict[str, int]:
        """The index of each player by name."""
        return {player: place for place, player in enumerate(self.players)}

    @cached_property
    def _group(self) -> dict[str, int]:
        """The number of each player's group by name."""
        return {player: number for number, group in enumerate(self.groups) for player in group}


def fit(table: ComparisonTable, settings: ProbitSettings | None = None) -> ProbitFit:
    """Find the most likely skills, and their errors from blocks.

    With H the information of the results and the prior, and J the covariance of the slope of the log likelihood that
    `block_correlation` estimates from the blocks, the covariance is H^-1 (J + prior) H^-1, widened for few blocks. The
    means do not depend on what the blocks share.
    """
    chosen, names = settings or ProbitSettings(), table.players
    if not names:
        return ProbitFit(chosen, (), (), (), (), (), (), None, table)
    count = len(names)
    design, counts = table.design(chosen), table.counts()
    optimum = newton.maximise(design, counts.reshape(-1, 3), _find_start(table, design, counts))
    effect, covariance = _block_effect_and_covariance(table, design, counts, optimum, chosen)
    effects = _centre(optimum.parameters[count:].tolist(), 0.0)
    return ProbitFit(
        settings=chosen,
        players=names,
        means=_centre(optimum.parameters[:count].tolist(), chosen.mu),
        covariance=tuple(map(tuple, covariance[:count, :count].tolist())),
        seat_effects=effects,
        seats=_seat_advantages(effects, covariance[count:, count:], chosen),
        groups=table.groups,
        effect=effect,
        table=table,
    )


def _find_start(table: ComparisonTable, design: Design, counts: Floats) -> Floats:
    """Return the parameters to start from: with many players, skills interpolated between tiers of about equal score.

    That takes as many steps as a start from the centre, but most of them with few parameters and rows.
    """
    count, size = len(table.players), len(design.centre)
    if count <= 2 * _TIERS:
        return design.centre
    score = np.array([points / max(1, 2 * met) for met, points in table.points(counts)])
    tier = np.argsort(np.argsort(score, kind="stable"), kind="stable") * _TIERS // count
    tier_parameter = np.append(tier, np.arange(size - count) + _TIERS)
    shape = (_TIERS + size - count,) * len(design.signs)
    kinds, row_of = np.unique(np.ravel_multi_index(tuple(tier_parameter[design.columns].T), shape), return_inverse=True)
    tier_design = replace(
        design,
        columns=np.stack(np.unravel_index(kinds, shape), axis=1),
        centre=np.delete(design.centre, np.s_[: count - _TIERS]),
        precision=np.bincount(tier_parameter, design.precision).astype(np.float64),
    )
    totals = np.stack([np.bincount(row_of, column) for column in counts.reshape(-1, 3).T], axis=1).astype(np.float64)
    parameters = newton.maximise(tier_design, totals).parameters
    scores = np.bincount(tier, score) / np.bincount(tier)
    return np.append(np.interp(score, scores, parameters[:_TIERS]), parameters[_TIERS:])


def _block_effect_and_covariance(
    table: ComparisonTable, design: Design, counts: Floats, optimum: Optimum, settings: ProbitSettings
) -> tuple[BlockEffect | None, Floats]:
    """Return what the matches of a block share, and the covariance of all parameters (P, P) with it."""
    prior = np.diag(design.precision)
    inverse: Floats = newton.solve(optimum.information + prior, np.eye(len(prior)))
    effect = None
    if len(table.places):
        differences = design.differences(optimum.parameters).reshape(counts.shape[:2])
        _, _, curvature = newton.log_likelihood(differences, counts, design.scale, design.margin)
        effect = estimate_block_effect(table, differences, settings)
        score_noise = score_covariance(
            table, differences, design.weight * curvature, effect.correlation if effect else 0.0, settings
        )
        # einsum keeps away from BLAS: see `newton.solve`
        inverse = np.einsum("ij,jk->ik", np.einsum("ij,jk->ik", inverse, score_noise + prior), inverse)
        inverse *= _variance_factor(table, effect)
    return effect, (inverse + inverse.T) / 2.0


def _variance_factor(table: ComparisonTable, effect: BlockEffect | None) -> float:
    """Return the factor on all variances with which the normal 95 % interval holds for few blocks, too.

    It is Student's t with the degrees of freedom of the correlation of blocks, and one more for the independent matches
    that are added. At most it counts all matches of a block as one.
    """
    blocks = group_blocks(table).blocks
    student = t_quantile(math.fsum(blocks) - len(blocks) + 1.0) / Z_95
    return max(1.0, min(student**2, table.seats / (effect.players if effect else 1.0)))


def _centre(values: Sequence[float], centre: float) -> tuple[float, ...]:
    """Shift the values so that their mean is `centre`, where the prior puts it, without the error of rounding."""
    if not values:
        return ()
    shift = centre - math.fsum(values) / len(values)
    return tuple(value + shift for value in values)


def _seat_advantages(
    effects: Sequence[float], covariance: Floats, settings: ProbitSettings
) -> tuple[SeatAdvantage, ...]:
    """Compare each seat with the mean of the others; the error of the points follows the slope of the score."""
    count = len(effects)
    advantages = []
    for seat in range(count):
        contrast = [1.0 if other == seat else -1.0 / (count - 1) for other in range(count)]
        variance = sum(contrast[i] * contrast[j] * float(covariance[i, j]) for i in range(count) for j in range(count))
        gaps = [effects[seat] - other for place, other in enumerate(effects) if place != seat]
        scores = [chances_at(gap, settings.scale, settings.margin).score for gap in gaps]
        slope = math.fsum(score_slope(gap, settings) for gap in gaps) / len(gaps)
        error = math.sqrt(max(0.0, variance))
        skill = math.fsum(weight * effect for weight, effect in zip(contrast, effects, strict=True))
        points = 100.0 * (math.fsum(scores) / len(scores) - 0.5)
        of_points = interval(points, 100.0 * slope * error, lowest=-_MOST_POINTS, highest=_MOST_POINTS)
        advantages.append(SeatAdvantage(seat, interval(skill, error), of_points))
    return tuple(advantages)
