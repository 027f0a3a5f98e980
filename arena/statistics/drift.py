"""Scores of blocks in the order of the schedule -> whether a player gets better or worse, or differs for a while.

Rule: blocks are compared with others of the same pairing only, so it does not matter who is met when. Under the
hypothesis of no drift every order of a pairing's blocks is equally likely, which gives exact means, variances and
covariances; the p-values take the normal and the chi-squared distribution for those of the sums. Two questions are
asked: for a trend, by the slope

    b = sum_p sum_{b in p} (t_b - t_p) (y_b - y_p) / sum_p sum_{b in p} (t_b - t_p)^2

with t the time from 0 (first block) to 1 (last one) and y the score of a block; and for anything else, by the sums S of
y_b - y_p over each tenth of the blocks: X^2 = S' C^-1 S with C their covariance, on as many degrees of freedom as C has
(9 where each tenth has its share of each pairing, because the ten sums add up to 0), but for directions of far less
variance than others. These are the stratified
(Cochran-Mantel-Haenszel) tests of correlation and of equal mean scores.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from arena.statistics.distributions import chi_square_tail, two_sided_tail
from arena.statistics.interval import Interval, interval
from arena.statistics.newton import Floats, Indices

TENTHS: Final = 10
LEAST_BLOCKS_FOR_DRIFT: Final = 50
"""Five in a tenth: with fewer, nothing is asked."""
LEAST_UNUSUAL: Final = 10
"""Blocks whose score is not the most frequent one of their pairing. With fewer, X^2 can take too few values for the
chi-squared distribution: with 4 of 50, p is below 1 % in 2 % of all orders; from 10 on, in 1.3 % at most."""
_NO_VARIANCE: Final = 1e-9
_LEAST_VARIANCE: Final = 0.1
"""The part of the largest variance of a sum of tenths that another one has at least to be tested. A smaller one follows
from few blocks, of which a single one can decide: where a pairing ends soon after a tenth began."""


class Drift(msgspec.Struct, frozen=True):
    """The change of a player's score (0 to 1) from the first block to the last one, along the fitted line.

    `p_trend` is the chance of at least that change if there is none. `p_tenths` is the chance of tenths at least as
    unequal, on `degrees` of freedom; None if no pairing has blocks in two tenths.
    """

    change: Interval
    p_trend: float
    p_tenths: float | None
    degrees: int


def drift_of(scores: Sequence[float], pairings: Sequence[int]) -> Drift | None:
    """Estimate the drift in the scores of a player's blocks, given in the order of the schedule.

    `pairings` are the number, from 0, of the pairing of each block. None where there are too few blocks, where too few
    of them differ from the others, or where no pairing has blocks at several times.
    """
    if len(scores) < LEAST_BLOCKS_FOR_DRIFT or _count_unusual(scores, pairings) < LEAST_UNUSUAL:
        return None
    strata = np.asarray(pairings)
    sizes = np.bincount(strata)
    residuals = _subtract_stratum_means(np.asarray(scores, dtype=float), strata, sizes)
    times = _subtract_stratum_means(np.arange(len(scores)) / (len(scores) - 1), strata, sizes)
    variances = np.bincount(strata, residuals**2) / np.maximum(1, sizes - 1)
    spread, noise = float(times @ times), float(times**2 @ variances[strata])
    if noise <= 0.0:
        return None
    change, error = float(times @ residuals) / spread, math.sqrt(noise) / spread
    chi_square, degrees = _chi_square_of_tenths(residuals, strata, variances, sizes)
    return Drift(
        change=interval(change, error),
        p_trend=two_sided_tail(change / error),
        p_tenths=chi_square_tail(chi_square, degrees) if degrees else None,
        degrees=degrees,
    )


def _count_unusual(scores: Sequence[float], pairings: Sequence[int]) -> int:
    """Count the blocks whose score is not the most frequent one of their pairing."""
    modes: dict[int, int] = {}
    for (_, pairing), count in Counter(zip(scores, pairings, strict=True)).items():
        modes[pairing] = max(count, modes.get(pairing, 0))
    return len(scores) - sum(modes.values())


def _subtract_stratum_means(values: Floats, strata: Indices, sizes: Indices) -> Floats:
    """Subtract the mean of its stratum from each value; exactly 0 where all values of a stratum are equal."""
    samples = np.zeros(len(sizes))
    samples[strata] = values
    differences = values - samples[strata]
    return differences - (np.bincount(strata, differences) / np.maximum(1, sizes))[strata]


def _chi_square_of_tenths(residuals: Floats, strata: Indices, variances: Floats, sizes: Indices) -> tuple[float, int]:
    """Return X^2 of the sums of tenths, and its degrees of freedom."""
    tenth = np.arange(len(residuals)) * TENTHS // len(residuals)
    sums = np.bincount(tenth, residuals, minlength=TENTHS)
    counts = np.bincount(strata * TENTHS + tenth, minlength=TENTHS * len(sizes)).reshape(len(sizes), TENTHS)
    weighted = counts * (variances / np.maximum(1, sizes))[:, None]
    covariance = np.diag(counts.T @ variances) - weighted.T @ counts
    values, vectors = np.linalg.eigh(covariance)
    is_free = values > max(_NO_VARIANCE * variances.max() * len(residuals), _LEAST_VARIANCE * values[-1])
    parts = sums @ vectors[:, is_free]
    return float((parts**2 / values[is_free]).sum()), int(is_free.sum())
