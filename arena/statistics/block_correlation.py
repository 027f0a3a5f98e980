"""The correlation of the comparisons of one block -> how much less, or more, its results tell than so many coins.

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
from arena.statistics.comparisons import ComparisonTable, pattern
from arena.statistics.model import BlockEffect, ProbitSettings
from arena.statistics.newton import Floats, Indices
from arena.statistics.pairs import weight
from arena.statistics.roots import find_root

MOST_CORRELATED: Final = 0.99
"""Of the correlation, either way: mirrored matches never share all of their noise."""
_ROOTS, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_EXACT: Final = 1e-9
"""Of the arc sine of the correlation."""
_LEAST_VARIANCE: Final = 1e-200
_AT_ONCE: Final = 200_000
"""Integrals, for the sake of memory."""
_CELLS: Final = 4_000_000
"""Of the covariances between the rows of pairings, for the same reason."""
_MANY_SEATS: Final = 7
"""From so many seats on only rows that share both seats tell the correlation: the others grow as the fifth power."""


class Groups(NamedTuple):
    """Entries of one pairing with the same matches there: by entry the number of its group; by group the others."""

    of_entry: Indices
    pairing: Indices
    presence: Indices
    blocks: Floats


def block_effect(table: ComparisonTable, differences: Floats, settings: ProbitSettings) -> BlockEffect | None:
    """Estimate what blocks share, at these `differences` (P, R) in skill; None where nothing tells of it."""
    groups = groups_of(table)
    off = deviations(table, groups)
    degrees = float(np.maximum(groups.blocks - 1.0, 0.0).sum())
    single = float((table.times * (off**2).sum(axis=1)).sum())
    if degrees <= 0.0 or single <= 0.0:
        return None
    seats = table.seats
    projected = np.einsum("ea,ai->ei", off, pattern(seats).projection)
    squares = (table.times[:, None] * projected**2).sum(axis=0)
    # a comparison is one of either side; `extra` is the one more degree of freedom
    extra = 2.0 * single / degrees
    of_players, of_seats = (
        (weight(seats) * float(half.sum()) + extra) / (2.0 * single + extra)
        for half in (squares[:seats], squares[seats:])
    )
    found = _correlation(table, groups, off, Thresholds.of(differences, settings))
    return BlockEffect(of_players, of_seats, round(degrees), found)


def score_covariance(
    table: ComparisonTable, differences: Floats, information: Floats, correlation: float, settings: ProbitSettings
) -> Floats:
    """The covariance of the slope of the log likelihood, in all parameters (players, then seats unless fixed).

    `information` (P, R) is that of the rows, as if all were independent. With two seats and no correlation the result
    is the information itself.
    """
    count, which = len(table.players), pattern(table.seats)
    size = count + table.seats
    noise = np.triu(shared_noise(table.seats, correlation), 1)
    by_mask = _blocks_by_mask(table)
    seat_numbers = np.broadcast_to(np.arange(count, size), table.places.shape)
    parameters = np.concatenate((table.places, seat_numbers), axis=1)
    found = np.zeros(size * size)
    step = max(1, _CELLS // len(noise) ** 2)
    for start in range(0, len(table.places), step):
        part = slice(start, start + step)
        both = np.einsum("pm,ma,mb->pab", by_mask[part], table.masks, table.masks)
        together = both * _slopes_together(Thresholds.of(differences[part], settings), noise)
        each = np.sqrt(weight(table.seats) * information[part] / np.maximum(np.einsum("paa->pa", both), 1.0))
        together *= each[:, :, None] * each[:, None, :]
        # einsum keeps away from BLAS: see `newton.solve`
        of_places = np.einsum("pab,ai->pib", together, which.projection)
        of_places = np.einsum("pib,bj->pij", of_places, which.projection)
        cells = parameters[part, :, None] * size + parameters[part, None, :]
        found += np.bincount(cells.ravel(), weights=of_places.ravel(), minlength=size * size)
    kept = size if settings.seat_sigma > 0.0 else count
    return found.reshape(size, size)[:kept, :kept]


def _slopes_together(thresholds: "Thresholds", noise: Floats) -> Floats:
    """The correlation of the slopes of each two rows (P, R, R); `noise` is that of their noises above the diagonal."""
    one, other = np.nonzero(noise)
    rows = range(len(noise))
    found = np.zeros((len(thresholds.noise[0]), len(noise), len(noise)))
    found[:, rows, rows] = 1.0
    found[:, one, other] = found[:, other, one] = thresholds.slopes_together(one, other, noise[one, other])
    return found


Term = Callable[[Floats, Floats, Floats], Floats]
"""A function of two thresholds and the correlation of the noises."""


class Thresholds(NamedTuple):
    """By row, in standard deviations of its noise: from where on the first does not lose, and from where on wins.

    `steps` are how much the slope of the log likelihood grows at each of the two, in its own standard deviations.
    """

    noise: tuple[Floats, Floats]
    steps: tuple[Floats, Floats]

    @classmethod
    def of(cls, differences: Floats, settings: ProbitSettings) -> "Thresholds":
        """Those of rows with these differences in skill (P, R)."""
        chances, slopes = newton.outcomes(differences, settings.scale, settings.margin)
        deviation = np.sqrt((chances * slopes**2).sum(axis=-1))
        sound = np.where(deviation > _LEAST_VARIANCE, deviation, np.inf)
        win, draw, loss = (slopes[..., outcome] for outcome in range(3))
        lower, upper = (-differences - settings.margin, -differences + settings.margin)
        return cls((lower / settings.scale, upper / settings.scale), ((draw - loss) / sound, (win - draw) / sound))

    def slopes_together(self, one: Indices, other: Indices, noise: Floats) -> Floats:
        """Return the correlation of the slopes of rows `one` and `other`, whose noises are correlated by `noise`."""
        found = np.zeros((len(self.noise[0]), len(one)))
        for a, b in product(range(2), repeat=2):
            steps = self.steps[a][:, one] * self.steps[b][:, other]
            found += steps * exceeding_both(self.noise[a][:, one], self.noise[b][:, other], noise)
        return found

    def scores_together(self, one: Indices, other: Indices, noise: Floats, term: Term) -> Floats:
        """Return the covariance of their scores of 1, 1/2 and 0 (`exceeding_both`), or its slope over `noise`."""
        found = np.zeros((len(self.noise[0]), len(one)))
        for a, b in product(range(2), repeat=2):
            found += 0.25 * term(self.noise[a][:, one], self.noise[b][:, other], noise)
        return found


def exceeding_both(h: Floats, k: Floats, noise: Floats) -> Floats:
    """P(x > h, y > k) - P(x > h) P(y > k) of standard normal x and y; `noise` (C,) is their correlation by column."""
    found = np.empty_like(h)
    step = max(1, _AT_ONCE // max(1, h.shape[1]))
    angle = np.arcsin(noise)
    for start in range(0, len(h), step):
        part = slice(start, start + step)
        squares, product = h[part] ** 2 + k[part] ** 2, 2.0 * h[part] * k[part]
        total = np.zeros_like(squares)
        for root, share in zip(_ROOTS, _WEIGHTS, strict=True):
            total += share * _exponential(squares, product, angle * (root + 1.0) / 2.0)
        found[part] = total * angle / (4.0 * math.pi)
    return found


def _density(h: Floats, k: Floats, noise: Floats) -> Floats:
    """The slope of `exceeding_both` over `noise`: the density of x and y at h and k."""
    exponential = _exponential(h**2 + k**2, 2.0 * h * k, np.arcsin(noise))
    found: Floats = exponential / (2.0 * math.pi * np.sqrt(1.0 - noise**2))
    return found


def _exponential(squares: Floats, product: Floats, angle: Floats) -> Floats:
    found: Floats = np.exp((product * np.sin(angle) - squares) / (2.0 * np.cos(angle) ** 2))
    return found


def shared_noise(seats: int, correlation: float) -> Floats:
    """The correlation of the noises of two rows of a block (R, R); 1 for a row with itself."""
    which = pattern(seats)
    shared = which.shared_seat if correlation > 0.0 else which.shared_player
    found: Floats = which.same_match + abs(correlation) * shared
    return found


def groups_of(table: ComparisonTable) -> Groups:
    """Put blocks with the same matches together; an incomplete block is like none of its pairing's others."""
    key = table.pairing * len(table.masks) + table.presence
    distinct, of_entry = np.unique(key, return_inverse=True)
    blocks = np.bincount(of_entry, weights=table.times, minlength=len(distinct))
    return Groups(of_entry, distinct // len(table.masks), distinct % len(table.masks), blocks.astype(np.float64))


def deviations(table: ComparisonTable, groups: Groups) -> Floats:
    """The scores of each entry (E, R) about the mean of its group."""
    scores = table.signs / 2.0
    means = np.empty((len(groups.blocks), scores.shape[1]))
    for row, column in enumerate(scores.T):
        sums = np.bincount(groups.of_entry, weights=table.times * column, minlength=len(groups.blocks))
        means[:, row] = sums / groups.blocks
    found: Floats = scores - means[groups.of_entry]
    return found


def _correlation(table: ComparisonTable, groups: Groups, deviations: Floats, thresholds: Thresholds) -> float:
    """The one for which the products of different matches of a block are expected to add up to what they do."""
    which = pattern(table.seats)
    degrees = np.maximum(groups.blocks - 1.0, 0.0)
    least = 1.0 if table.seats >= _MANY_SEATS else 0.5
    one, other = np.nonzero(np.triu(np.abs(which.shared_seat)) >= least)
    seen = 0.0
    for a, b in zip(one, other, strict=True):
        seen += which.shared_seat[a, b] * float((table.times * deviations[:, a] * deviations[:, b]).sum())
    seen *= float(degrees.sum() / (degrees.sum() + 1.0))
    masks = table.masks[groups.presence]
    weights = np.stack(
        [
            np.bincount(groups.pairing, degrees * masks[:, a] * masks[:, b], len(table.places))
            for a, b in zip(one, other, strict=True)
        ],
        axis=1,
    )

    shared, sign = which.shared_seat[one, other], math.copysign(1.0, seen)

    def excess(angle: float) -> tuple[float, float]:
        """The sum expected beyond the one seen, away from 0, with its slope; `angle` is the correlation's arc sine."""
        noise = shared_noise(table.seats, sign * math.sin(angle))[one, other]
        found = weights * thresholds.scores_together(one, other, noise, exceeding_both) * shared
        slopes = weights * thresholds.scores_together(one, other, noise, _density) * shared * noise / math.tan(angle)
        return sign * float(found.sum()) - abs(seen), sign * float(slopes.sum())

    # between equals the sum is linear in the arc sine of the correlation (Sheppard)
    most = math.asin(MOST_CORRELATED)
    at_most, _ = excess(most)
    if seen == 0.0 or at_most <= 0.0:
        return sign * MOST_CORRELATED if seen else 0.0
    start = most * abs(seen) / (at_most + abs(seen))
    return sign * math.sin(find_root(excess, 0.0, most, start=start, tolerance=_EXACT))


def _blocks_by_mask(table: ComparisonTable) -> Floats:
    """By pairing, how many blocks have the matches of each mask (P, M)."""
    key = table.pairing * len(table.masks) + table.presence
    counts = np.bincount(key, weights=table.times, minlength=len(table.places) * len(table.masks))
    found: Floats = counts.reshape(len(table.places), len(table.masks)).astype(np.float64)
    return found
