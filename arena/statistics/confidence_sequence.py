"""Confidence sequences: a bound on the mean of observations that holds at every look and every stop.

Rule: only the number, the sum and the sum of squares of the observations enter, so their order and portions are free.

Theorem. Let Y_1, Y_2, ... be at least -1, and m_i the mean of Y_i given all observations before it. For 0 <= l < 1 and
every y >= -1, with psi(l) = -log(1 - l) - l,

    exp(l y - psi(l) y^2) <= 1 + l y                                                   (Fan, Grama and Liu 2015, 4.1)

so that L_n(l) = exp(l (S_n - M_n) - psi(l) V_n) is a supermartingale from 1, where S, M and V are the sums of Y, m and
Y^2; and so is its mean over any weights on l (Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric,
nonasymptotic confidence sequences", Annals of Statistics 49, 2021: theorem 4 with a prediction of 0, and the
gamma-exponential mixture). With the density exp(l - 1) / (1 - 1/e) on [0, 1) the mean is, for s = S - M and v = V,

    integral of exp(l s - psi(l) v) exp(l - 1) / (1 - 1/e) dl
        = exp(s + v) Gamma(v + 1) P(v + 1, s + v + 1) / (s + v + 1)^(v + 1) / (1 - 1/e)

with P the regularised lower gamma function. By Ville's inequality it ever reaches 1/a with a chance of at most a: the
bounds hold at all n together, so also at an n that was chosen by the results. Nothing else is assumed: observations may
depend on those before, vary in spread, be skewed, and be left out by any rule that does not know them.
"""

import math
from collections.abc import Sequence
from typing import Final

from arena.statistics.distributions import log_front, lower_gamma
from arena.statistics.roots import find_root

_NORM: Final = math.log1p(-math.exp(-1.0))
_LEAST_P: Final = 1e-300
"""The smallest p-value that is returned: no bound is 0."""
_EXACT: Final = 1e-9
"""The tolerance of the boundary."""


def log_evidence(total: float, squares: float) -> float:
    """Return the log of the supermartingale at S - M = `total` and V = `squares`.

    For a total of 0 or less, which is no evidence, return 0 instead of the exact value, which is 0 at most.
    """
    return _log_evidence_and_slope(total, squares)[0] if total > 0.0 else 0.0


def _log_evidence_and_slope(total: float, squares: float) -> tuple[float, float]:
    """Return the log of the supermartingale and its slope over the total, which is the mean of l under the mixture."""
    if squares < 0.0:
        raise ValueError(f"expected a sum of squares of 0 or more, found {squares}")
    shape, x = squares + 1.0, total + squares + 1.0
    front, mass = log_front(shape, x), lower_gamma(shape, x)
    return math.log(mass) - front - 1.0 - _NORM, 1.0 - (shape - math.exp(front) / mass) / x


def p_value(total: float, squares: float) -> float:
    """Return a bound on the chance of evidence as strong as now at any look, if no m_i is above 0.

    `total` and `squares` are the sums of Y and of Y^2. The bound is never 0, and 1 for a total of 0 or less.
    """
    return max(_LEAST_P, math.exp(-max(0.0, log_evidence(total, squares))))


def lower_bound(count: int, total: float, squares: float, *, error: float) -> float:
    """Return the lower end of the confidence sequence for the mean of m_1 ... m_n.

    `total` and `squares` are the sums of Y and of Y^2. The chance that the bound is above that mean at any n is at most
    `error`. ValueError without an observation, or for an `error` outside 0 to 1.
    """
    if count < 1 or not 0.0 < error < 1.0:
        raise ValueError(f"expected an observation or more and an error between 0 and 1, found {count} and {error}")
    return (total - boundary(squares, error=error)) / count


def boundary(squares: float, *, error: float) -> float:
    """Return the sum S - M at which the evidence reaches 1/`error`, at V = `squares`."""
    goal = -math.log(error)
    start = goal + math.sqrt(2.0 * goal * (squares + 1.0))

    def excess(total: float) -> tuple[float, float]:
        """Return how much the log evidence exceeds the goal, with its slope."""
        log_value, slope = _log_evidence_and_slope(total, squares)
        return log_value - goal, slope

    return find_root(excess, 0.0, math.inf, start=start, tolerance=_EXACT)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p-values for their number, in the given order: rejecting those up to `a` has a family-wise error of `a`.

    Holm's step-down method (Scandinavian Journal of Statistics 6, 1979), valid under any dependence. An adjusted value
    never falls when a p-value grows, so p-values that hold at every look give adjusted ones that hold at every look.
    """
    adjusted, bound = [0.0] * len(p_values), 0.0
    for smaller, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        bound = max(bound, min(1.0, (len(p_values) - smaller) * p_values[place]))
        adjusted[place] = bound
    return tuple(adjusted)
