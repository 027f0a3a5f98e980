"""An estimate with its standard error -> its 95 % interval: the one function behind every +- of every page.

Rule: an interval is Student's, symmetric, and clipped to what is possible. Three things that blocks do not show are
taken into account, so that it holds for few and for lopsided blocks, too:

- blocks that are all equal have no spread to measure: a bound takes the place of an error of 0 (`equal_blocks`);
- an extreme block that has not occurred yet: half of one at each end of the possible range (the lower limit of the
  Bayesian bootstrap with half a block more, which for wins and losses is Jeffreys's interval, nearly);
- a spread that hangs on a few blocks is not known as well as so many blocks promise: `degrees_of_freedom` counts
  fewer degrees (see there).

If nothing is known, an end of the interval is the end of the possible range, which may be infinite.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from arena.statistics.distributions import CONFIDENCE, t_quantile

UNSEEN: Final = 0.5
"""The number of blocks that are added at each end of the possible range, for values that have not occurred yet."""
NO_SPREAD: Final = 1e-12
"""An error of this or less is rounding."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its 95 % interval; an end of which nothing is known is infinite."""

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Half the width, for `value +- error`; the interval need not be symmetric."""
        return (self.high - self.low) / 2.0

    @property
    def is_bounded(self) -> bool:
        """True if both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def scale(self, factor: float) -> "Interval":
        """Return the interval in another unit; `factor` is above 0."""
        return Interval(*(factor * end for end in (self.value, self.low, self.high)))


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
    """Return the 95 % interval of an estimate with that standard error.

    `degrees` are the degrees of freedom of the error (infinite: the error is exact), `blocks` the number of blocks
    behind the value, `lowest` and `highest` the ends of the range of a block, and so of the value. An error of 0 over
    finitely many blocks, or no degree of freedom, means that no spread was seen: then the result is that of
    `equal_blocks`. `unseen` is 0 where the values of blocks have no known ends, though the estimate has. ValueError for
    a value outside its range, or a negative error.
    """
    if not (lowest - NO_SPREAD <= value <= highest + NO_SPREAD and error >= 0.0 and blocks >= 1):
        raise ValueError(f"no estimate: {value} with error {error} of {blocks} blocks in {lowest} to {highest}")
    if math.isfinite(blocks) and (error <= NO_SPREAD or degrees <= 0.0):
        return equal_blocks([(blocks, value)], lowest=lowest, highest=highest)
    half = t_quantile(degrees) * error if error else 0.0
    if math.isfinite(blocks):
        half = max(half, *(_distance_of_bound(value, error, blocks, end, unseen) for end in (lowest, highest)))
    return Interval(value, max(value - half, lowest), min(value + half, highest))


def equal_blocks(
    strata: Iterable[tuple[float, float]], *, lowest: float = -math.inf, highest: float = math.inf
) -> Interval:
    """Return the interval of a mean over blocks that are all equal within their stratum, given as (blocks, value).

    Rule of three: if other values have a chance of q, N equal blocks are seen with a chance of (1 - q)^N, which is
    below 5 % from q = 1 - 0.05^(1/N) on, about 3/N. Blocks of other values lie at an end of the range at worst. With
    several strata the worst case is some c, the lowest mean that a stratum is pulled down to, with prod (c /
    value)^blocks = 0.05 over the strata above c; so the lower end is the mean of min(value, c).
    ValueError without a block.
    """
    played = [(blocks, value) for blocks, value in strata if blocks]
    total = math.fsum(blocks for blocks, _ in played)
    if not played:
        raise ValueError("expected a block, found none")
    value = math.fsum(blocks * mean for blocks, mean in played) / total
    below = _largest_fall([(blocks, mean - lowest) for blocks, mean in played]) / total
    above = _largest_fall([(blocks, highest - mean) for blocks, mean in played]) / total
    return Interval(value, min(max(value - below, lowest), value), max(min(value + above, highest), value))


def degrees_of_freedom(parts: Sequence[tuple[float, float]], *, fourth: float = 0.0, blocks: float = math.inf) -> float:
    """Return the degrees of freedom of a sum of independent variances, given as (variance, degrees).

    Welch's unbiased form of Satterthwaite's: (sum v)^2 / sum(v^2 / (d + 2)) - 2, but no fewer than the fewest and no
    more than all. `fourth` is the sum of the fourth powers of the contributions of `blocks` to the error, in units
    where their squares add up to the sum of v: a spread that depends on few blocks has no more degrees than 2 / (fourth
    / (sum v)^2 - 1 / blocks), by the variance of a sample variance with that kurtosis. Parts without a variance
    or without degrees do not count; the result is 1 at least, and the sum of degrees if none counts.
    """
    positive = [(variance, degrees) for variance, degrees in parts if variance > 0.0 and degrees > 0.0]
    if not positive:
        return math.fsum(degrees for _, degrees in parts)
    total = math.fsum(variance for variance, _ in positive)
    welch = total**2 / math.fsum(variance**2 / (degrees + 2.0) for variance, degrees in positive) - 2.0
    fewest, most = min(degrees for _, degrees in positive), math.fsum(degrees for _, degrees in positive)
    excess = fourth / total**2 - 1.0 / blocks
    return max(min(max(welch, fewest), most, 2.0 / excess if excess > 0.0 else math.inf), 1.0)


def _distance_of_bound(value: float, error: float, blocks: float, end: float, unseen: float) -> float:
    """Return the distance from the value to its bound towards one end of the range, if `unseen` blocks lie at that end.

    0 for an infinite end, or without unseen blocks.
    """
    if not (unseen and math.isfinite(end)):
        return 0.0
    whole = blocks + unseen
    squares = blocks * (blocks - 1.0) * error**2 + blocks * unseen / whole * (end - value) ** 2
    return unseen / whole * abs(end - value) + t_quantile(blocks - 1.0) * math.sqrt(squares / (whole * (whole + 1.0)))


def _largest_fall(strata: Sequence[tuple[float, float]]) -> float:
    """Return how far the sum of (blocks, distance to the end) can fall with a chance of 5 %: see `equal_blocks`."""
    if any(math.isinf(distance) for _, distance in strata):
        return math.inf
    ordered = sorted(((distance, blocks) for blocks, distance in strata if distance > 0.0), reverse=True)
    chance = math.log(1.0 - CONFIDENCE)
    total = logs = 0.0
    for place, (distance, blocks) in enumerate(ordered):
        total += blocks
        logs += blocks * math.log(distance)
        level = math.exp((chance + logs) / total)
        if place + 1 == len(ordered) or level >= ordered[place + 1][0]:
            return math.fsum(blocks * (distance - level) for distance, blocks in ordered[: place + 1])
    return 0.0
