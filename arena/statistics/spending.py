"""Group-sequential test of which of two players is better, with Lan-DeMets alpha spending.

Rule (Lan and DeMets 1983): of the total error alpha, 4 (1 - Phi(z / sqrt(t))) may have been spent when a share t of the
most blocks is played, with z the quantile of 1 - alpha / 4. This form is O'Brien's and Fleming's: next to nothing
early, nearly all at the end, so that early looks cost later ones little. A 50,000th part of alpha may always be spent.

The statistic is the lead S: the sum over blocks of the difference d between the two players' points. Between equals
d and -d are equally likely, whatever happened in the blocks before. So, given the sizes |d| that occurred, S is a walk
whose steps have fair signs. Its distribution is found by the recursion of Armitage, McPherson and Rowe (1969): the sums
that have crossed no bound yet are convolved with the steps up to the next look, and the smallest bound is taken beyond
which there is no more probability than may be spent. The distribution is discrete and exact: no variance is estimated,
so that the error holds from the first block on, also where all blocks so far were equal.

A schedule may stop or pause the looks by any rule: the error is computed as if every look took place.
"""

import math
from collections.abc import Sequence
from functools import cache, lru_cache, reduce
from typing import Final, NamedTuple

import numpy as np

from arena.statistics.distributions import NORMAL
from arena.statistics.newton import Floats

_ALWAYS_ALLOWED: Final = 2e-5
"""The share of alpha that may be spent at any look: a player who wins every block is better after 21 blocks at 5 %."""
_NEVER: Final = 1e-40
"""Smaller probabilities are left out."""


class InterimData(NamedTuple):
    """The blocks of a pair at a look: `blocks` in all, the `lead` of the first player in points, and the new blocks.

    `sizes` counts the blocks since the look before by |d|, from 1 on: (3, 1) are three blocks with a difference of 1,
    and one with 2.
    """

    blocks: int
    lead: int
    sizes: tuple[int, ...]


class InterimDecision(NamedTuple):
    """A look with its `bound`: the least lead of either player that decides; it may be out of reach."""

    blocks: int
    lead: int
    bound: int

    @property
    def is_decided(self) -> bool:
        """True if one of the two players is better."""
        return abs(self.lead) >= self.bound


class GroupSequentialTest:
    """A test of one pair that plays at most `longest` blocks.

    The chance that equal players are ever called different is at most `alpha`.
    """

    def __init__(self, *, longest: int, alpha: float) -> None:
        self._longest, self._alpha = longest, alpha
        self._walk = Walk()

    def analyse(self, data: InterimData) -> InterimDecision:
        """Add the new blocks and decide at this look; ValueError beyond the most blocks.

        The test keeps them: looks come in order, each once.
        """
        allowed = allowed_error(data.blocks / self._longest, self._alpha)
        return InterimDecision(data.blocks, data.lead, self._walk.bound(sum_of_signs(data.sizes), allowed))


class Walk:
    """A sum of symmetric steps that has crossed no bound so far."""

    def __init__(self) -> None:
        self._inside, self._gone = np.ones(1), 0.0

    def bound(self, step: Floats, allowed: float) -> int:
        """Take a step; return the smallest absolute value to count as crossed, so that at most `allowed` have crossed.

        `step` is a distribution, symmetric about the middle of the array.
        """
        self._inside = np.convolve(self._inside, step)
        middle = len(self._inside) // 2
        beyond = 2.0 * np.cumsum(self._inside[:middle])  # at each value or further out, on both sides
        crossed = int(np.searchsorted(beyond, allowed - self._gone, side="right"))
        if crossed:
            probability = beyond[crossed - 1]
            crossed = int(np.searchsorted(beyond, probability)) + 1  # without values before it that cannot occur
            self._gone += float(probability)
            self._inside = self._inside[crossed:-crossed]
        return middle - crossed + 1


def allowed_error(part: float, alpha: float) -> float:
    """Return how much of the two-sided error `alpha` may be spent until a `part` (above 0, to 1) of the most blocks.

    ValueError for a value out of range.
    """
    if not (0.0 < alpha < 1.0 and 0.0 < part <= 1.0):
        raise ValueError(f"expected an alpha between 0 and 1 and a part above 0 up to 1, found {alpha} and {part}")
    return max(_ALWAYS_ALLOWED * alpha, 2.0 * math.erfc(_spending_quantile(alpha) / math.sqrt(2.0 * part)))


def sum_of_signs(sizes: Sequence[int]) -> Floats:
    """Return the distribution of a sum of fair signs: `sizes[k]` of them with k + 1; the middle of the array is 0."""
    parts = [_binomial(count, size) for size, count in enumerate(sizes, start=1) if count]
    return reduce(np.convolve, parts, np.ones(1))


@lru_cache(maxsize=1024)
def _binomial(count: int, size: int) -> Floats:
    """Return the distribution of `count` fair signs times `size`, with 0 for the sums between that cannot occur."""
    half = (count + 1) // 2
    heads = np.arange(half, count)
    upper = np.cumprod(np.concatenate(([1.0], (count - heads) / (heads + 1.0))))
    upper = upper[upper > _NEVER]
    sums = size * (2 * (half + np.arange(len(upper))) - count)
    chances = np.zeros(2 * int(sums[-1]) + 1)
    for indices in (sums, -sums):
        chances[sums[-1] + indices] = upper
    distribution: Floats = chances / chances.sum()
    return distribution


@cache
def _spending_quantile(alpha: float) -> float:
    """Return z of the rule at the top: the normal quantile of 1 - alpha / 4."""
    return -NORMAL.inv_cdf(alpha / 4.0)
