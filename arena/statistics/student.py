"""Blocks with a real value each -> the same test and estimate without counts: margins, or matches of 3 and more.

Rule: a value says by how much NEW did better than OLD in a block (a margin; with 3 or 4 players, the mean of NEW's
scores less the mean of OLD's in the same seats against the same opponents with the same luck), so 0 is even. Nothing
is assumed of its scale: only the ratio t of mean to standard deviation over blocks is tested.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from arena.statistics.elo import normal_cdf, normalised_elo, ratio_interval, standardised
from arena.statistics.interval import Interval, interval
from arena.statistics.pentanomial import ZERO_FLOOR, moments

SMALLEST: Final = 1e-100
LARGEST: Final = 1e100
"""Beyond these, squares leave the range of a float."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Number, mean, and sum of squared differences from the mean (Welford: exact zero for equal values)."""

    blocks: int = 0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """Take in the values of blocks, in schedule order."""
        found = cls()
        for value in values:
            found = found.plus(value)
        return found

    def plus(self, value: float) -> Self:
        """Take in one block more; ValueError if its value is no usable number."""
        if not (value == 0.0 or SMALLEST <= abs(value) <= LARGEST):
            raise ValueError(f"expected a finite value of the block (0, or {SMALLEST:g} to {LARGEST:g}), found {value}")
        blocks = self.blocks + 1
        off = value - self.mean
        mean = self.mean + off / blocks
        return type(self)(blocks, mean, self.squares + off * (value - mean))

    def mirrored(self) -> Self:
        """The same blocks seen from OLD's side."""
        return type(self)(self.blocks, -self.mean, self.squares)

    @property
    def ratio(self) -> float:
        """The t of the formulas, mean / sd: infinite for equal values that are not 0, and 0 for nothing but zeros."""
        if self.squares:
            return self.mean / math.sqrt(self.squares / self.blocks)
        return math.copysign(math.inf, self.mean) if self.mean else 0.0


@dataclass(frozen=True, slots=True)
class Sample:
    """Block scores of any value about 0 to 1, in schedule order; `matches` are those of a block."""

    matches: int
    values: tuple[float, ...] = ()

    def plus(self, value: float) -> Self:
        """Take in one block more; ValueError if its value is no number."""
        if not math.isfinite(value):
            raise ValueError(f"expected a finite score of the block, found {value}")
        return type(self)(self.matches, (*self.values, value))

    @property
    def blocks(self) -> int:
        """How many."""
        return len(self.values)

    @property
    def weighted(self) -> tuple[Sequence[float], Sequence[float]]:
        """Each score once."""
        return [1.0] * self.blocks, self.values

    @property
    def moments(self) -> tuple[float, float]:
        """Mean and variance; ValueError without a block."""
        if not self.values:
            raise ValueError("expected at least one block to estimate from, found none")
        return moments(*self.weighted)

    @property
    def floored_moments(self) -> tuple[float, float]:
        """The same with a little of 0 and of 1, which leaves some variance."""
        return moments([1.0] * self.blocks + [ZERO_FLOOR] * 2, [*self.values, 0.0, 1.0])


@dataclass(frozen=True, slots=True)
class MarginEstimate:
    """What real-valued blocks say of NEW against OLD. What they cannot tell, without any spread, is None."""

    blocks: int
    margin: Interval
    normalised: Interval | None
    superiority: float | None


def student_llr(blocks: Moments, elo0: float, elo1: float, *, matches: int) -> float:
    """LLR of a normalised Elo of `elo1` against `elo0`: N/2 ln[(1 + (t - t0)^2) / (1 + (t - t1)^2)].

    The formula has its extremes about one standard deviation from even, and would fall back to 0 beyond, where NEW wins
    nearly every block by nearly the same. There the extreme itself is taken: more evidence never counts for less.
    """
    low, high = standardised(elo0, matches), standardised(elo1, matches)
    middle, reach = (low + high) / 2.0, math.hypot(1.0, (high - low) / 2.0)
    ratio = min(max(blocks.ratio, middle - reach), middle + reach)
    return blocks.blocks / 2.0 * (math.log1p((ratio - low) ** 2) - math.log1p((ratio - high) ** 2))


def margin_estimate(blocks: Moments, *, matches: int) -> MarginEstimate:
    """Estimate by how much NEW does better in a block; ValueError without a block.

    The margin has the interval of the leaderboard, which nothing bounds where all blocks are equal.
    """
    if not blocks.blocks:
        raise ValueError("expected at least one block to estimate from, found none")
    degrees = blocks.blocks - 1
    error = math.sqrt(blocks.squares / degrees / blocks.blocks) if degrees else 0.0
    margin = interval(blocks.mean, error, degrees=degrees, blocks=blocks.blocks)
    if not blocks.squares:
        return MarginEstimate(blocks.blocks, margin, None, None)
    root = math.sqrt(blocks.blocks)
    ratio = ratio_interval(blocks.ratio, 1.0 + blocks.ratio**2 / 2.0, blocks.blocks)  # as of normal margins
    return MarginEstimate(
        blocks=blocks.blocks,
        margin=margin,
        normalised=ratio.scaled(normalised_elo(1.0, matches)),
        superiority=normal_cdf(blocks.ratio * root),
    )
