"""The correlation of the comparisons of one block -> the variance of its results beside independent matches.

Rule: one correlation for the league, and the model does the rest. The noise of a performance has a part that all
matches of a block share: that of the seat (mirrored luck: correlation above 0), or that of the player (below 0). From
rotation to rotation the luck of a seat falls to another player. So between equals it nearly cancels, and the players of
a block with strong luck share its points; against a far weaker player it hardly matters, and the matches of a block are
nearly independent. The variance of a block follows from the correlation and from the differences in skill, for each
pairing on its own: a normal distribution of two noises tells how often both exceed their thresholds,

    P(x > h, y > k) - P(x > h) P(y > k) = 1 / 2 pi integral_0^asin(r) exp(-(h h + k k - 2 h k sin t) / 2 cos^2 t) dt.

The correlation is the one for which the products of the scores of two matches of a block, about the means of their
pairing, sum up to what is seen. One more degree of freedom, of independent matches, is added to what was seen, so that
a few blocks alone cannot promise much.
"""

import math
from collections.abc import Callable
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from arena.statistics import newton
from arena.statistics.comparisons import ComparisonTable, block_pattern
from arena.statistics.model import BlockEffect, ProbitSettings
from arena.statistics.newton import Floats, Indices
from arena.statistics.pairs import weight
from arena.statistics.roots import find_root

MOST_CORRELATED: Final = 0.99
"""The largest absolute correlation: mirrored matches never share all of their noise."""
_HALF_RULE: Final = (
    (0.09501250983763744, 0.18945061045506864),
    (0.2816035507792589, 0.18260341504492364),
    (0.45801677765722737, 0.16915651939500265),
    (0.6178762444026438, 0.1495959888165767),
    (0.755404408355003, 0.12462897125553407),
    (0.8656312023878318, 0.0951585116824926),
    (0.9445750230732326, 0.062253523938647456),
    (0.9894009349916499, 0.027152459411754176),
)
"""Roots above 0 and weights of the Gauss-Legendre rule with 16 points; `numpy.polynomial`, which computes them, takes
a tenth of the time in which a leaderboard starts."""
_RULE: Final = (*((-root, share) for root, share in reversed(_HALF_RULE)), *_HALF_RULE)
_EXACT: Final = 1e-9
"""The tolerance of the arc sine of the correlation."""
_LEAST_VARIANCE: Final = 1e-200
_AT_ONCE: Final = 200_000
"""The most integrals computed at once, to limit the memory."""
_CELLS: Final = 4_000_000
"""The most covariances between rows of pairings held at once, for the same reason."""
_MANY_SEATS: Final = 7
"""From so many seats on only rows that share both seats are used: the number of the others grows as n^5."""


class BlockGroups(NamedTuple):
    """Groups of entries of one pairing that lack the same matches.

    `of_entry` has the group of each entry; `pairing`, `presence` (the number of the mask) and `blocks` (how many) have
    a value for each group.
    """

    of_entry: Indices
    pairing: Indices
    presence: Indices
    blocks: Floats


def estimate_block_effect(table: ComparisonTable, differences: Floats, settings: ProbitSettings) -> BlockEffect | None:
    """Estimate what the matches of a block share, at these `differences` (P, R) in skill.

    None where no pairing has two blocks with the same matches, or all of those are equal.
    """
    groups = group_blocks(table)
    residuals = deviations(table, groups)
    degrees = float(np.maximum(groups.blocks - 1.0, 0.0).sum())
    single = float((table.times * (residuals**2).sum(axis=1)).sum())
    if degrees <= 0.0 or single <= 0.0:
        return None
    seats = table.seats
    projected = np.einsum("ea,ai->ei", residuals, block_pattern(seats).projection)
    squares = (table.times[:, None] * projected**2).sum(axis=0)
    # a comparison counts for both of its sides; `extra` is the added degree of freedom
    extra = 2.0 * single / degrees
    of_players, of_seats = (
        (weight(seats) * float(part.sum()) + extra) / (2.0 * single + extra)
        for part in (squares[:seats], squares[seats:])
    )
    correlation = _fit_correlation(table, groups, residuals, Thresholds.of(differences, settings))
    return BlockEffect(of_players, of_seats, round(degrees), correlation)


def score_covariance(
    table: ComparisonTable, differences: Floats, information: Floats, correlation: float, settings: ProbitSettings
) -> Floats:
    """Return the covariance of the slope of the log likelihood, for all parameters (players, then seats unless fixed).

    `information` (P, R) is that of the rows, as if all were independent. With two seats and no correlation the result
    is the information itself.
    """
    count, pattern = len(table.players), block_pattern(table.seats)
    size = count + table.seats
    noise = np.triu(noise_correlation(table.seats, correlation), 1)
    by_mask = _blocks_by_mask(table)
    seat_numbers = np.broadcast_to(np.arange(count, size), table.places.shape)
    parameters = np.concatenate((table.places, seat_numbers), axis=1)
    covariance = np.zeros(size * size)
    step = max(1, _CELLS // len(noise) ** 2)
    for start in range(0, len(table.places), step):
        rows = slice(start, start + step)
        present = np.einsum("pm,ma,mb->pab", by_mask[rows], table.masks, table.masks)
        slope_covariance = present * _slope_correlations(Thresholds.of(differences[rows], settings), noise)
        scale = np.sqrt(weight(table.seats) * information[rows] / np.maximum(np.einsum("paa->pa", present), 1.0))
        slope_covariance *= scale[:, :, None] * scale[:, None, :]
        # einsum keeps away from BLAS: see `newton.solve`
        of_places = np.einsum("pab,ai->pib", slope_covariance, pattern.projection)
        of_places = np.einsum("pib,bj->pij", of_places, pattern.projection)
        cells = parameters[rows, :, None] * size + parameters[rows, None, :]
        covariance += np.bincount(cells.ravel(), weights=of_places.ravel(), minlength=size * size)
    free = size if settings.seat_sigma > 0.0 else count
    return covariance.reshape(size, size)[:free, :free]


def _slope_correlations(thresholds: "Thresholds", noise: Floats) -> Floats:
    """Return the correlation of the slopes of each two rows (P, R, R), symmetric, 1 on the diagonal.

    `noise` (R, R) is 0 on and below its diagonal; where it is 0 above, so is the correlation.
    """
    row, other = np.nonzero(noise)
    rows = range(len(noise))
    matrix = np.zeros((len(thresholds.noise[0]), len(noise), len(noise)))
    matrix[:, rows, rows] = 1.0
    matrix[:, row, other] = matrix[:, other, row] = thresholds.slope_correlations(row, other, noise[row, other])
    return matrix


Term = Callable[[Floats, Floats, Floats], Floats]
"""A function of two thresholds and the correlation of the noises."""


class Thresholds(NamedTuple):
    """The thresholds of each row, in standard deviations of its noise.

    `noise` has the threshold above which the first player does not lose, and the one above which they win. `steps` are
    the growth of the slope of the log likelihood at each of the two, in standard deviations of that slope.
    """

    noise: tuple[Floats, Floats]
    steps: tuple[Floats, Floats]

    @classmethod
    def of(cls, differences: Floats, settings: ProbitSettings) -> "Thresholds":
        """Return the thresholds of rows with these differences in skill (P, R)."""
        chances, slopes = newton.outcomes(differences, settings.scale, settings.margin)
        deviation = np.sqrt((chances * slopes**2).sum(axis=-1))
        sound = np.where(deviation > _LEAST_VARIANCE, deviation, np.inf)
        win, draw, loss = (slopes[..., outcome] for outcome in range(3))
        lower, upper = (-differences - settings.margin, -differences + settings.margin)
        return cls((lower / settings.scale, upper / settings.scale), ((draw - loss) / sound, (win - draw) / sound))

    def slope_correlations(self, first: Indices, second: Indices, noise: Floats) -> Floats:
        """Return the correlation (P, C) of the slopes of the log likelihood of each row `first` and `second`, by index.

        `noise` (C,) has the correlation of the noises of the two.
        """
        correlations = np.zeros((len(self.noise[0]), len(first)))
        for a, b in product(range(2), repeat=2):
            steps = self.steps[a][:, first] * self.steps[b][:, second]
            correlations += steps * joint_excess(self.noise[a][:, first], self.noise[b][:, second], noise)
        return correlations

    def score_covariances(self, first: Indices, second: Indices, noise: Floats, term: Term) -> Floats:
        """Return the covariance (P, C) of the scores of 1, 1/2 and 0 of rows `first` and `second`.

        `term` is `joint_excess`; with `_density` the result is the slope of that covariance over `noise`.
        """
        covariances = np.zeros((len(self.noise[0]), len(first)))
        for a, b in product(range(2), repeat=2):
            covariances += 0.25 * term(self.noise[a][:, first], self.noise[b][:, second], noise)
        return covariances


def joint_excess(h: Floats, k: Floats, noise: Floats) -> Floats:
    """Return P(x > h, y > k) - P(x > h) P(y > k) of standard normal x, y with correlation `noise` (C,), by column."""
    covariance = np.empty_like(h)
    step = max(1, _AT_ONCE // max(1, h.shape[1]))
    angle = np.arcsin(noise)
    for start in range(0, len(h), step):
        rows = slice(start, start + step)
        squares, product = h[rows] ** 2 + k[rows] ** 2, 2.0 * h[rows] * k[rows]
        total = np.zeros_like(squares)
        for root, share in _RULE:
            total += share * _exponential(squares, product, angle * (root + 1.0) / 2.0)
        covariance[rows] = total * angle / (4.0 * math.pi)
    return covariance


def _density(h: Floats, k: Floats, noise: Floats) -> Floats:
    """Return the slope of `joint_excess` over `noise`: the density of x and y at h and k."""
    exponential = _exponential(h**2 + k**2, 2.0 * h * k, np.arcsin(noise))
    density: Floats = exponential / (2.0 * math.pi * np.sqrt(1.0 - noise**2))
    return density


def _exponential(squares: Floats, product: Floats, angle: Floats) -> Floats:
    """Return the integrand of the formula at the top, at this angle: `squares` is h h + k k, `product` is 2 h k."""
    value: Floats = np.exp((product * np.sin(angle) - squares) / (2.0 * np.cos(angle) ** 2))
    return value


def noise_correlation(seats: int, correlation: float) -> Floats:
    """Return the correlation of the noises of each two rows of a block (R, R); 1 on the diagonal.

    A positive `correlation` joins rows that share a seat, a negative one, by its size, rows that share a player.
    """
    pattern = block_pattern(seats)
    shared = pattern.shared_seat if correlation > 0.0 else pattern.shared_player
    correlations: Floats = pattern.same_match + abs(correlation) * shared
    return correlations


def group_blocks(table: ComparisonTable) -> BlockGroups:
    """Group the entries of each pairing by the matches that they have."""
    key = table.pairing * len(table.masks) + table.presence
    distinct, of_entry = np.unique(key, return_inverse=True)
    blocks = np.bincount(of_entry, weights=table.times, minlength=len(distinct))
    return BlockGroups(of_entry, distinct // len(table.masks), distinct % len(table.masks), blocks.astype(np.float64))


def deviations(table: ComparisonTable, groups: BlockGroups) -> Floats:
    """Return the scores (1/2, 0, -1/2) of each entry (E, R), less the mean of its group; 0 for a missing match."""
    scores = table.signs / 2.0
    means = np.empty((len(groups.blocks), scores.shape[1]))
    for row, column in enumerate(scores.T):
        sums = np.bincount(groups.of_entry, weights=table.times * column, minlength=len(groups.blocks))
        means[:, row] = sums / groups.blocks
    residuals: Floats = scores - means[groups.of_entry]
    return residuals


def _fit_correlation(table: ComparisonTable, groups: BlockGroups, residuals: Floats, thresholds: Thresholds) -> float:
    """Return the moment estimate of the correlation of the noise within a block.

    With it, the products of scores that share a seat, in different matches of a block, are expected to sum to the
    observed sum. It is at most `MOST_CORRELATED` in size.
    """
    pattern = block_pattern(table.seats)
    degrees = np.maximum(groups.blocks - 1.0, 0.0)
    threshold = 1.0 if table.seats >= _MANY_SEATS else 0.5
    row, other = np.nonzero(np.triu(np.abs(pattern.shared_seat)) >= threshold)
    shared = pattern.shared_seat[row, other]
    observed = _sum_of_products(table, residuals, row, other, shared)
    observed *= float(degrees.sum() / (degrees.sum() + 1.0))
    masks = table.masks[groups.presence]
    weights = np.stack(
        [
            np.bincount(groups.pairing, degrees * masks[:, a] * masks[:, b], len(table.places))
            for a, b in zip(row, other, strict=True)
        ],
        axis=1,
    )
    sign = math.copysign(1.0, observed)

    def excess(angle: float) -> tuple[float, float]:
        """Return the expected sum less the observed one, with its slope, both in the sign of the observed sum.

        `angle` is the arc sine of the absolute correlation.
        """
        noise = noise_correlation(table.seats, sign * math.sin(angle))[row, other]
        expected = weights * thresholds.score_covariances(row, other, noise, joint_excess) * shared
        slopes = weights * thresholds.score_covariances(row, other, noise, _density) * shared * noise / math.tan(angle)
        return sign * float(expected.sum()) - abs(observed), sign * float(slopes.sum())

    # between equals the sum is linear in the arc sine of the correlation (Sheppard)
    most = math.asin(MOST_CORRELATED)
    at_most, _ = excess(most)
    if observed == 0.0 or at_most <= 0.0:
        return sign * MOST_CORRELATED if observed else 0.0
    start = most * abs(observed) / (at_most + abs(observed))
    return sign * math.sin(find_root(excess, 0.0, most, start=start, tolerance=_EXACT))


def _sum_of_products(table: ComparisonTable, scores: Floats, row: Indices, other: Indices, shared: Floats) -> float:
    """Add up, over all blocks, the products of the scores of each `row` and `other`, times their part of `shared`."""
    products = 0.0
    for a, b, part in zip(row, other, shared, strict=True):
        products += part * float((table.times * scores[:, a] * scores[:, b]).sum())
    return products


def _blocks_by_mask(table: ComparisonTable) -> Floats:
    """Count the blocks of each pairing with the matches of each mask (P, M)."""
    key = table.pairing * len(table.masks) + table.presence
    counts = np.bincount(key, weights=table.times, minlength=len(table.places) * len(table.masks))
    by_mask: Floats = counts.reshape(len(table.places), len(table.masks)).astype(np.float64)
    return by_mask
