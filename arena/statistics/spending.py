"""Which of two is better, looked at again and again: the lead at which a look decides, with a bounded error.

Rule (Lan and DeMets 1983): of the error alpha that is allowed in all, 4 (1 - Phi(z / sqrt(t))) may have been spent when
a part t of the longest course is played, with z the quantile of 1 - alpha / 4. This form is O'Brien's and Fleming's:
next to nothing early, nearly all at the end, so that early looks cost the later ones little. A 50,000th part of alpha
may always be spent, whatever t is.

The statistic is the lead S: the sum over blocks of the difference d between the two players' points. Between equals
d and -d are equally likely, whatever happened in the blocks before. So, given the sizes |d| that occurred, S is a walk
whose steps have fair signs. Its distribution is found by the recursion of Armitage, McPherson and Rowe (1969): the sums
that have crossed no bound yet are convolved with the steps up to the next look, and the smallest bound is taken beyond
which there is no more probability than may be spent. The distribution is discrete and exact: no variance is estimated,
so that the error holds from the first block on, also where all blocks so far were equal.

A schedule may stop or pause the looks by any rule: the error is that of a course in which every look takes place.
"""

import math
from collections.abc import Sequence
from functools import cache, lru_cache, reduce
from typing import Final, NamedTuple

import numpy as np

from arena.statistics.distributions import NORMAL
from arena.statistics.newton import Floats

_ALWAYS_ALLOWED: Final = 2e-5
"""The part of alpha that may be spent at any look: so who wins every block is found after 21 of them at 5 %."""
_NEVER: Final = 1e-40
"""Probabilities below this are left out."""


class Look(NamedTuple):
    """A pair after `blocks` blocks: the `lead` of the first player in points, and the blocks since the look before.

    `sizes` counts these by |d|, from 1 on: (3, 1) are three blocks with a difference of 1, and one with 2.
    """

    blocks: int
    lead: int
    sizes: tuple[int, ...]


class LookDecision(NamedTuple):
    """A look with its `bound`: the least lead of either player that decides there, which may be out of reach."""

    blocks: int
    lead: int
    bound: int

    @property
    def is_made(self) -> bool:
        """Whether one of the two is better."""
        return abs(self.lead) >= self.bound


class Decider:
    """The looks at one pair, of which the course has `longest` blocks at most.

    The chance that equals are ever called different is `alpha` at most.
    """

    def __init__(self, *, longest: int, alpha: float) -> None:
        self._longest, self._alpha = longest, alpha
        self._walk = Walk()

    def look(self, look: Look) -> LookDecision:
        """Take in the next look. ValueError beyond the longest course."""
        allowed = spent(look.blocks / self._longest, self._alpha)
        return LookDecision(look.blocks, look.lead, self._walk.bound(sum_of_signs(look.sizes), allowed))


class Walk:
    """A sum of symmetric steps, as long as it has crossed no bound."""

    def __init__(self) -> None:
        self._inside, self._gone = np.ones(1), 0.0

    def bound(self, step: Floats, allowed: float) -> int:
        """Take a step; tell from which absolute value on the walk crosses, so that `allowed` have crossed at most.

        `step` is a distribution, symmetric about the middle of the array.
        """
        self._inside = np.convolve(self._inside, step)
        middle = len(self._inside) // 2
        beyond = 2.0 * np.cumsum(self._inside[:middle])  # at each value or further out, on both sides
        crossed = int(np.searchsorted(beyond, allowed - self._gone, side="right"))
        if crossed:
            lost = beyond[crossed - 1]
            crossed = int(np.searchsorted(beyond, lost)) + 1  # not those before it that cannot occur
            self._gone += float(lost)
            self._inside = self._inside[crossed:-crossed]
        return middle - crossed + 1


def spent(part: float, alpha: float) -> float:
    """Tell how much of the two-sided error `alpha` may be spent at a `part` (0 to 1) of the longest course."""
    if not (0.0 < alpha < 1.0 and 0.0 < part <= 1.0):
        raise ValueError(f"expected an alpha between 0 and 1 and a part above 0 up to 1, found {alpha} and {part}")
    return max(_ALWAYS_ALLOWED * alpha, 2.0 * math.erfc(_quantile(alpha) / math.sqrt(2.0 * part)))


def sum_of_signs(sizes: Sequence[int]) -> Floats:
    """Return the distribution of a sum of fair signs: `sizes[k]` of them with k + 1; the middle of the array is 0."""
    spread = [_binomial(count, size) for size, count in enumerate(sizes, start=1) if count]
    return reduce(np.convolve, spread, np.ones(1))


@lru_cache(maxsize=1024)
def _binomial(count: int, size: int) -> Floats:
    """Of `count` fair signs times `size`, with the sums between that cannot occur."""
    least = (count + 1) // 2
    heads = np.arange(least, count)
    upper = np.cumprod(np.concatenate(([1.0], (count - heads) / (heads + 1.0))))
    upper = upper[upper > _NEVER]
    sums = size * (2 * (least + np.arange(len(upper))) - count)
    chances = np.zeros(2 * int(sums[-1]) + 1)
    for one in (sums, -sums):
        chances[sums[-1] + one] = upper
    found: Floats = chances / chances.sum()
    return found


@cache
def _quantile(alpha: float) -> float:
    return -NORMAL.inv_cdf(alpha / 4.0)
