"""The regularised gamma functions; the upper tail of the chi-squared distribution is one of them.

By the series below the mean and the continued fraction above (Abramowitz and Stegun 6.5.29 and 6.5.31).
"""

import math
from typing import Final

_TERMS: Final = 100_000
_SMALL: Final = 1e-300
_LARGE: Final = 1e3
"""From this shape on Stirling's series of lgamma is exact to 1e-11, and large numbers are not subtracted."""
_HUGE: Final = 1e8
"""From this shape on the normal distribution of Temme's expansion (DLMF 8.12) is exact to 2e-5, and the series slow."""


def chi_square_tail(statistic: float, degrees: int) -> float:
    """P(X >= `statistic`) for `degrees` of freedom: how likely a sum of squares is at least that large by chance."""
    if degrees < 1 or math.isnan(statistic):
        raise ValueError(f"expected a number and 1 or more degrees of freedom, found {statistic} and {degrees}")
    if statistic / 2.0 <= 0.0:
        return 1.0
    if math.isinf(statistic):
        return 0.0
    return _gammas(degrees / 2.0, statistic / 2.0)[1]


def lower_gamma(shape: float, x: float) -> float:
    """P(`shape`, `x`): how likely a gamma variable of that shape and scale 1 is below `x`, both above 0."""
    return _gammas(shape, x)[0]


def log_front(shape: float, x: float) -> float:
    """The log of x^shape exp(-x) / Gamma(shape)."""
    if shape < _LARGE:
        return shape * math.log(x) - x - math.lgamma(shape)
    return math.log(shape / (2.0 * math.pi)) / 2.0 - 1.0 / (12.0 * shape) - _distance(shape, x)


def _distance(shape: float, x: float) -> float:
    """The difference x - shape - shape log(x / shape), which is 0 at least."""
    off = (x - shape) / shape
    return max(0.0, shape * (off - math.log1p(off)))


def _gammas(shape: float, x: float) -> tuple[float, float]:
    """P and Q = 1 - P."""
    if shape >= _HUGE:
        tail = math.erfc(math.sqrt(_distance(shape, x))) / 2.0
        return (tail, 1.0 - tail) if x < shape else (1.0 - tail, tail)
    front = math.exp(log_front(shape, x))
    if x < shape + 1.0:
        lower = min(1.0, front * _series(shape, x))
        return lower, 1.0 - lower
    upper = min(1.0, front * _fraction(shape, x))
    return 1.0 - upper, upper


def _series(shape: float, x: float) -> float:
    term = total = 1.0 / shape
    for k in range(1, _TERMS):
        term *= x / (shape + k)
        total += term
        if term < total * 1e-17:
            break
    return total


def _fraction(shape: float, x: float) -> float:
    """Evaluate 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)) by Lentz's method."""
    b = x + 1.0 - shape
    c, d = 1.0 / _SMALL, 1.0 / _away_from_0(b)
    value = d
    for k in range(1, _TERMS):
        a = k * (shape - k)
        b += 2.0
        d = 1.0 / _away_from_0(a * d + b)
        c = _away_from_0(b + a / c)
        value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return value


def _away_from_0(x: float) -> float:
    return x if abs(x) > _SMALL else _SMALL
