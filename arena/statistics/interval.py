"""An estimate with its standard error -> its 95 % interval: the one function behind every +- of every page.

Rule: an interval is Student's, symmetric, and clipped to what is possible. Three things that blocks do not show are
taken into account, so that it holds for few and for lopsided blocks, too:

- blocks that are all equal have no spread to measure: a bound takes the place of an error of 0 (`equal_blocks`);
- an extreme block that has not occurred yet: half of one at each end of the possible range (the lower limit of the
  Bayesian bootstrap with half a block more, which for wins and losses is Jeffreys's interval, nearly);
- a spread that hangs on a few blocks is not known as well as so many blocks promise: `degrees_of_freedom` counts
  fewer degrees (see there).

Where nothing can be said, an end of the interval is the end of the possible range, which may be infinite.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Final

LEVEL: Final = 0.95
Z_95: Final = NormalDist().inv_cdf((1.0 + LEVEL) / 2.0)
"""Half the width, in standard errors, of an interval that holds 95 % of a normal distribution."""
UNSEEN: Final = 0.5
"""Blocks that are taken to lie at the end of the possible range though none was seen there."""
NO_SPREAD: Final = 1e-12
"""An error of this or less is rounding: nothing varies."""

_ASYMPTOTIC: Final = 1000.0
"""Degrees of freedom from which on the expansion of the quantile is exact to 1e-12."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its 95 % interval; an end of which nothing is known is infinite."""

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Half the width, for `value +- error`; the ends themselves need not lie evenly."""
        return (self.high - self.low) / 2.0

    @property
    def is_bounded(self) -> bool:
        """Whether anything is known of both ends."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def scaled(self, factor: float, shift: float = 0.0) -> "Interval":
        """The same interval in another unit: `shift + factor * value`, for a factor above 0."""
        return Interval(*(shift + factor * each for each in (self.value, self.low, self.high)))


def interval(
    value: float,
    error: float,
    *,
    degrees: float = math.inf,
    blocks: float = math.inf,
    lowest: float = -math.inf,
    highest: float = math.inf,
    unseen: float = UNSEEN,
) -> Interval:
    """The 95 % interval of an estimate with that standard error.

    `degrees` are the degrees of freedom of the error (infinite: the error is exact), `blocks` the number of blocks
    behind the value, `lowest` and `highest` the ends of what a block, and so the value, can be. An error of 0 over
    finitely many blocks, or no degree of freedom, means that no spread was seen: then it is the bound of
    `equal_blocks`. `unseen` is 0 where the values of blocks have no known ends, though the estimate has. ValueError
    for a value out of its range, or a negative error.
    """
    if not (lowest - NO_SPREAD <= value <= highest + NO_SPREAD and error >= 0.0 and blocks >= 1):
        raise ValueError(f"no estimate: {value} with error {error} of {blocks} blocks in {lowest} to {highest}")
    if math.isfinite(blocks) and (error <= NO_SPREAD or degrees <= 0.0):
        return equal_blocks([(blocks, value)], lowest=lowest, highest=highest)
    half = t_quantile(degrees) * error if error else 0.0
    if math.isfinite(blocks):
        half = max(half, *(_reach(value, error, blocks, end, unseen) for end in (lowest, highest)))
    return Interval(value, max(value - half, lowest), min(value + half, highest))


def equal_blocks(
    strata: Iterable[tuple[float, float]], *, lowest: float = -math.inf, highest: float = math.inf
) -> Interval:
    """The interval of a mean over blocks that are all equal within their stratum: (blocks, their value) of each.

    Rule of three: if other values have a chance of q, N equal blocks are seen with a chance of (1 - q)^N, which is
    below 5 % from q = 1 - 0.05^(1/N) on, about 3/N. Blocks of those other values lie at an end of the range at worst.
    With several strata the worst is that some c is the lowest mean that a stratum is pulled down to, with
    prod (c / value)^blocks = 0.05 over the strata above c; so the lower end is the mean of min(value, c).
    """
    known = [(blocks, value) for blocks, value in strata if blocks]
    total = math.fsum(blocks for blocks, _ in known)
    if not known:
        raise ValueError("expected a block, found none")
    value = math.fsum(blocks * each for blocks, each in known) / total
    below = _pulled([(blocks, each - lowest) for blocks, each in known]) / total
    above = _pulled([(blocks, highest - each) for blocks, each in known]) / total
    return Interval(value, min(max(value - below, lowest), value), max(min(value + above, highest), value))


def degrees_of_freedom(parts: Sequence[tuple[float, float]], *, fourth: float = 0.0, blocks: float = math.inf) -> float:
    """The degrees of freedom of a variance that is a sum of independent ones: (variance, its degrees) of each.

    Welch's unbiased form of Satterthwaite's: (sum v)^2 / sum(v^2 / (d + 2)) - 2, but no fewer than the fewest and no
    more than all. `fourth` is the sum of the fourth powers of what each of `blocks` adds to the error, in units where
    the squares add up to the sum of v: a spread that hangs on few blocks has no more degrees than
    2 / (fourth / (sum v)^2 - 1 / blocks), which is what the variance of a sample variance with that kurtosis comes to.
    """
    known = [(variance, degrees) for variance, degrees in parts if variance > 0.0 and degrees > 0.0]
    if not known:
        return math.fsum(degrees for _, degrees in parts)
    total = math.fsum(variance for variance, _ in known)
    welch = total**2 / math.fsum(variance**2 / (degrees + 2.0) for variance, degrees in known) - 2.0
    fewest, most = min(degrees for _, degrees in known), math.fsum(degrees for _, degrees in known)
    excess = fourth / total**2 - 1.0 / blocks
    return max(min(max(welch, fewest), most, 2.0 / excess if excess > 0.0 else math.inf), 1.0)


def t_quantile(degrees: float, probability: float = (1.0 + LEVEL) / 2.0) -> float:
    """Student's t, so that a share of `probability` lies below; the normal quantile for infinitely many degrees.

    ValueError without a degree of freedom, or for a probability outside 0.5 to 1.
    """
    if not (degrees > 0.0 and 0.5 <= probability < 1.0):
        raise ValueError(f"expected degrees above 0 and 0.5 <= probability < 1, found {degrees}, {probability}")
    return _t_quantile(degrees, probability)


@lru_cache(maxsize=8192)
def _t_quantile(degrees: float, probability: float) -> float:
    z = NormalDist().inv_cdf(probability)
    if degrees >= _ASYMPTOTIC:
        return _expanded(z, degrees)
    # Newton's method on the tail from a start below the root, where the tail is convex: it never oversteps.
    tail, t = 1.0 - probability, z
    for _ in range(200):
        step = (_tail(t, degrees) - tail) / _density(t, degrees)
        t += step
        if abs(step) <= 1e-14 * max(t, 1.0):
            break
    return t


def _expanded(z: float, degrees: float) -> float:
    """The expansion of the quantile in powers of 1 / degrees (Abramowitz and Stegun 26.7.5)."""
    square = z * z
    terms = (
        z,
        z * (square + 1.0) / 4.0,
        z * ((5.0 * square + 16.0) * square + 3.0) / 96.0,
        z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0,
        z * ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0) / 92160.0,
    )
    return math.fsum(term / degrees**power for power, term in enumerate(terms))


def _density(t: float, degrees: float) -> float:
    norm = math.lgamma((degrees + 1.0) / 2.0) - math.lgamma(degrees / 2.0) - 0.5 * math.log(degrees * math.pi)
    return math.exp(norm - (degrees + 1.0) / 2.0 * math.log1p(t * t / degrees))


def _tail(t: float, degrees: float) -> float:
    """The chance of more than t >= 0: half the regularised incomplete beta function I_x(degrees / 2, 1 / 2)."""
    a, b, x = degrees / 2.0, 0.5, degrees / (degrees + t * t)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x)) * math.sqrt(1.0 - x)
    if x < (a + 1.0) / (a + b + 2.0):
        return 0.5 * front * _fraction(a, b, x) / a
    return 0.5 * (1.0 - front * _fraction(b, a, 1.0 - x) / b)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), from its end."""
    # 200 terms are exact to rounding for all degrees below `_ASYMPTOTIC`, on the side where it converges fast.
    value = 1.0
    for term in range(200, 0, -1):
        m = term // 2
        if term % 2:
            step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        value = 1.0 + step / value
    return 1.0 / value


def _reach(value: float, error: float, blocks: float, end: float, unseen: float) -> float:
    """How far the value may lie towards that end of the range, if `unseen` blocks of that end were just not seen."""
    if not (unseen and math.isfinite(end)):
        return 0.0
    whole = blocks + unseen
    squares = blocks * (blocks - 1.0) * error**2 + blocks * unseen / whole * (end - value) ** 2
    return unseen / whole * abs(end - value) + t_quantile(blocks - 1.0) * math.sqrt(squares / (whole * (whole + 1.0)))


def _pulled(strata: Sequence[tuple[float, float]]) -> float:
    """By how much the sum of (blocks, distance to the end) can fall with a chance of 5 %: see `equal_blocks`."""
    if any(math.isinf(distance) for _, distance in strata):
        return math.inf
    ordered = sorted(((distance, blocks) for blocks, distance in strata if distance > 0.0), reverse=True)
    chance = math.log(1.0 - LEVEL)
    total = logs = 0.0
    for place, (distance, blocks) in enumerate(ordered):
        total += blocks
        logs += blocks * math.log(distance)
        level = math.exp((chance + logs) / total)
        if place + 1 == len(ordered) or level >= ordered[place + 1][0]:
            return math.fsum(blocks * (distance - level) for distance, blocks in ordered[: place + 1])
    return 0.0
