"""Tails and quantiles of the normal, Student's, chi-squared and gamma distributions.

The regularised gamma functions come from the series below the mean and the continued fraction above it (Abramowitz and
Stegun 6.5.29 and 6.5.31).
"""

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from arena.statistics.roots import find_root

NORMAL: Final = NormalDist()
CONFIDENCE: Final = 0.95
SURE_SIGN: Final = (1.0 + CONFIDENCE) / 2.0
"""The likelihood of a sign at which the 95 % interval begins to exclude 0."""
Z_95: Final = NORMAL.inv_cdf(SURE_SIGN)
"""Half the width, in standard errors, of an interval that holds 95 % of a normal distribution."""

_ROOT_OF_2: Final = math.sqrt(2.0)
_ASYMPTOTIC: Final = 1000.0
"""Degrees of freedom from which on the expansion of Student's quantile is exact to 1e-12."""
_EXACT: Final = 1e-13
"""The tolerance of Student's quantiles."""
_TERMS: Final = 100_000
"""The most terms of a series or continued fraction: one with more raises ArithmeticError."""
_SMALL: Final = 1e-300
_LARGE: Final = 1e3
"""From this shape on Stirling's series of lgamma is exact to 1e-11, and large numbers are not subtracted."""
_HUGE: Final = 1e8
"""From this shape on the normal distribution of Temme's expansion (DLMF 8.12) is exact to 2e-5, and the series slow."""


def normal_cdf(x: float) -> float:
    """Return the share of a normal distribution below `x` standard deviations, exact also far down in the tail."""
    return 0.5 * math.erfc(-x / _ROOT_OF_2)


def two_sided_tail(z: float) -> float:
    """Return the chance of a deviation of at least `z` standard deviations to either side."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def t_quantile(degrees: float, probability: float = SURE_SIGN) -> float:
    """Return the quantile of Student's t at `probability`; the normal quantile for infinitely many degrees.

    ValueError without a degree of freedom, or for a probability outside 0.5 to 1.
    """
    if not (degrees > 0.0 and 0.5 <= probability < 1.0):
        raise ValueError(f"expected degrees above 0 and 0.5 <= probability < 1, found {degrees}, {probability}")
    return _cached_t_quantile(degrees, probability)


def chi_square_tail(statistic: float, degrees: int) -> float:
    """Return P(X >= `statistic`) for `degrees` of freedom; ValueError for no degree or no number."""
    if degrees < 1 or math.isnan(statistic):
        raise ValueError(f"expected a number and 1 or more degrees of freedom, found {statistic} and {degrees}")
    if statistic / 2.0 <= 0.0:
        return 1.0
    if math.isinf(statistic):
        return 0.0
    return _gamma_tails(degrees / 2.0, statistic / 2.0)[1]


def lower_gamma(shape: float, x: float) -> float:
    """Return P(`shape`, `x`), the chance that a gamma variable of that shape and scale 1 is below `x`; both above 0."""
    return _gamma_tails(shape, x)[0]


def log_front(shape: float, x: float) -> float:
    """Return the log of x^shape exp(-x) / Gamma(shape)."""
    if shape < _LARGE:
        return shape * math.log(x) - x - math.lgamma(shape)
    return math.log(shape / (2.0 * math.pi)) / 2.0 - 1.0 / (12.0 * shape) - _half_deviance(shape, x)


def _half_deviance(shape: float, x: float) -> float:
    """Return x - shape - shape log(x / shape), 0 or more: half the deviance of `x` from a gamma mean of `shape`."""
    ratio = (x - shape) / shape
    return max(0.0, shape * (ratio - math.log1p(ratio)))


def _gamma_tails(shape: float, x: float) -> tuple[float, float]:
    """Return the lower and the upper regularised gamma function, P(`shape`, `x`) and Q = 1 - P."""
    if shape >= _HUGE:
        tail = math.erfc(math.sqrt(_half_deviance(shape, x))) / 2.0
        return (tail, 1.0 - tail) if x < shape else (1.0 - tail, tail)
    front = math.exp(log_front(shape, x))
    if x < shape + 1.0:
        lower = min(1.0, front * _gamma_series(shape, x))
        return lower, 1.0 - lower
    upper = min(1.0, front * _continued_fraction(x + 1.0 - shape, _gamma_terms(shape, x)))
    return 1.0 - upper, upper


def _gamma_series(shape: float, x: float) -> float:
    """Sum 1 / a + x / (a (a + 1)) + ... for a = `shape`: P(a, x) is that times x^a exp(-x) / Gamma(a)."""
    term = total = 1.0 / shape
    for k in range(1, _TERMS):
        term *= x / (shape + k)
        total += term
        if term < total * 1e-17:
            return total
    raise ArithmeticError(f"the series of the gamma distribution does not end: shape {shape!r}, x {x!r}")


def _gamma_terms(shape: float, x: float) -> Iterator[tuple[float, float]]:
    """Yield the terms (numerator, denominator) of 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...))."""
    for k in range(1, _TERMS):
        yield k * (shape - k), x + 1.0 - shape + 2.0 * k


def _continued_fraction(first: float, terms: Iterable[tuple[float, float]]) -> float:
    """Evaluate 1 / (`first` + a1 / (b1 + a2 / (b2 + ...))) by Lentz's method; `terms` are (a, b)."""
    c, d = 1.0 / _SMALL, 1.0 / _away_from_0(first)
    value = d
    for a, b in terms:
        d = 1.0 / _away_from_0(a * d + b)
        c = _away_from_0(b + a / c)
        value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            return value
    raise ArithmeticError(f"a continued fraction from {first!r} on does not end: {value!r} after {_TERMS} terms")


def _away_from_0(x: float) -> float:
    """Return `x`, or a tiny number in place of 0, by which one can divide."""
    return x if abs(x) > _SMALL else _SMALL


@lru_cache(maxsize=8192)
def _cached_t_quantile(degrees: float, probability: float) -> float:
    """Compute `t_quantile` for valid arguments, by Newton's method or, from 1000 degrees on, by its expansion."""
    z = NORMAL.inv_cdf(probability)
    if degrees >= _ASYMPTOTIC:
        return _expand_t(z, degrees)
    tail = 1.0 - probability
    # the normal quantile is below the root, and the tail is convex: Newton's method never oversteps
    return find_root(
        lambda t: (tail - _t_tail(t, degrees), _t_density(t, degrees)), 0.0, math.inf, start=z, tolerance=_EXACT
    )


def _expand_t(z: float, degrees: float) -> float:
    """Expand the quantile in powers of 1 / degrees (Abramowitz and Stegun 26.7.5)."""
    square = z * z
    terms = (
        z,
        z * (square + 1.0) / 4.0,
        z * ((5.0 * square + 16.0) * square + 3.0) / 96.0,
        z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0,
        z * ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0) / 92160.0,
    )
    return math.fsum(term / degrees**power for power, term in enumerate(terms))


def _t_density(t: float, degrees: float) -> float:
    """Return the density of Student's t at `t`."""
    norm = math.lgamma((degrees + 1.0) / 2.0) - math.lgamma(degrees / 2.0) - 0.5 * math.log(degrees * math.pi)
    return math.exp(norm - (degrees + 1.0) / 2.0 * math.log1p(t * t / degrees))


def _t_tail(t: float, degrees: float) -> float:
    """Return the chance of more than t >= 0: half the regularised incomplete beta function I_x(degrees / 2, 1 / 2)."""
    a, b, x = degrees / 2.0, 0.5, degrees / (degrees + t * t)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x)) * math.sqrt(1.0 - x)
    if x < (a + 1.0) / (a + b + 2.0):
        return 0.5 * front * _continued_fraction(1.0, _beta_terms(a, b, x)) / a
    return 0.5 * (1.0 - front * _continued_fraction(1.0, _beta_terms(b, a, 1.0 - x)) / b)


def _beta_terms(a: float, b: float, x: float) -> Iterator[tuple[float, float]]:
    """Yield the terms of the continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8)."""
    for m in range(_TERMS):
        yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1.0
        yield (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2)), 1.0
