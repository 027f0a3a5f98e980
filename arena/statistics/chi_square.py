"""The upper tail of the chi-squared distribution: how likely a sum of squares is at least that large by chance."""

import math
from typing import Final

_TERMS: Final = 100_000
_SMALL: Final = 1e-300


def chi_square_tail(statistic: float, degrees: int) -> float:
    """P(X >= `statistic`) for `degrees` of freedom: Q(degrees / 2, statistic / 2), the regularised gamma function.

    By its series below the mean and its continued fraction above (Abramowitz and Stegun 6.5.29 and 6.5.31).
    """
    if degrees < 1 or math.isnan(statistic):
        raise ValueError(f"expected a number and 1 or more degrees of freedom, found {statistic} and {degrees}")
    shape, x = degrees / 2.0, statistic / 2.0
    if x <= 0.0:
        return 1.0
    if math.isinf(statistic):
        return 0.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1.0:
        return max(0.0, 1.0 - front * _series(shape, x))
    return front * _fraction(shape, x)


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
    c, d = 1.0 / _SMALL, 1.0 / b
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
