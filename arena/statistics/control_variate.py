"""Scores and luck of blocks -> by how much luck to correct scores, so that their mean stays and their error shrinks.

Luck has mean 0 whatever the players do. It is a control variate: for every factor b that does not depend on the block

    score - b * luck

has the mean of the score, and the least error for b = cov(score, luck) / var(luck). Rule: b is fitted by other blocks
than those it is used on.

Two things are known of b before any block. If a match is won when skill and luck together are above 0, and luck is
normal, then at an expected score of r a little luck counts exp(-z^2 / 2) times what it does between equals, with
z = quantile(r): a far better player wins anyway. And b is the same factor above or below that for all pairings, as far
as the value says too little or too much. So the slope of a pairing is shrunk to that of all pairings together, and
theirs to a perfect value's.

If luck decides little, or blocks are few, the correction adds more noise than it takes off. The other blocks decide
that, too (`is_narrower`), so that the decision has no part in the error of these.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from arena.statistics.distributions import NORMAL, t_quantile
from arena.statistics.interval import interval
from arena.statistics.newton import Floats

PRIOR_BLOCKS: Final = 20
"""The number of blocks of average luck with which a pairing weighs as much as the prior slope."""
NARROWER: Final = 0.95
"""The largest ratio of the widths of the intervals without and with luck at which the correction is used."""


class Products(NamedTuple):
    """Sums over the blocks of some pairings, each seen by one of its two players; the columns are by pairing.

    `blocks` and `matches` are their numbers, `score` is the mean over matches (0 to 1). With y the sum of the scores of
    a block and l the sum of its luck, in payoff, less their means: `score2` is the sum of y y, `both` of y l, `luck2`
    of l l.
    """

    blocks: Floats
    matches: Floats
    score: Floats
    score2: Floats
    both: Floats
    luck2: Floats

    @classmethod
    def of(cls, rows: Iterable[Sequence[float]]) -> "Products":
        """Make the columns from the values of each pairing."""
        return cls(*np.array(list(rows), dtype=np.float64).reshape(-1, len(cls._fields)).T)


@lru_cache(maxsize=1 << 14)
def luck_weight(score: float, matches: float) -> float:
    """Return the weight of luck in a pairing with that mean score, relative to a pairing of equals: 0 to 1.

    One match won and one lost are added to the score, so that few matches promise no certain win.
    """
    return math.exp(-(NORMAL.inv_cdf((score * matches + 1.0) / (matches + 2.0)) ** 2) / 2.0)


def slopes(pairings: Products) -> Floats:
    """Return the factor b of each pairing by these blocks, which must not be the blocks that it is used on.

    Without any luck in them, or with one block in each pairing, it is the `luck_weight`.
    """
    weights = np.array(list(map(luck_weight, pairings.score.tolist(), pairings.matches.tolist())), dtype=np.float64)
    degrees = int(np.maximum(0, pairings.blocks - 1).sum())
    prior = PRIOR_BLOCKS * math.fsum(pairings.luck2) / degrees if degrees else 0.0
    if not prior:
        return weights
    both, square = math.fsum(weights * pairings.both), math.fsum(weights * weights * pairings.luck2)
    common = (both + prior) / (square + prior)
    factors: Floats = (pairings.both + prior * common * weights) / (pairings.luck2 + prior)
    return factors


def is_narrower(pairings: Products, factors: Floats, score: float) -> bool:
    """Return True if these factors make the interval of the mean score of these pairings, `score`, narrower.

    The gain of a pairing is the reduction of its sum of squares. The total gain must be above 0 with 97.5 % (Student's
    t), and the ratio of the interval's widths at most `NARROWER`.
    """
    products, slope = Products(*(column[pairings.blocks > 1] for column in pairings)), factors[pairings.blocks > 1]
    degrees = products.blocks - 1
    scale = products.blocks / degrees
    removed = scale * slope * slope * products.luck2
    gains, squares = 2.0 * scale * slope * products.both - removed, scale * products.score2
    noise = 4.0 * removed * np.maximum(0.0, squares - gains) / degrees
    gain, square = math.fsum(gains), math.fsum(squares)
    if gain <= 0.0 or gain < t_quantile(int(degrees.sum())) * math.sqrt(math.fsum(noise)):
        return False
    blocks, matches = int(pairings.blocks.sum()), int(pairings.matches.sum())
    plain, adjusted = (
        interval(
            score,
            math.sqrt(max(0.0, variance)) / matches,
            degrees=int(degrees.sum()),
            blocks=blocks,
            lowest=0.0,
            highest=1.0,
        )
        for variance in (square, square - gain)
    )
    return adjusted.error <= NARROWER * plain.error


def adjust_in_turn(blocks: Iterable[tuple[float, float]], *, matches: int) -> Iterator[float]:
    """Yield the score of each block without its luck, by the factor of the blocks before it: for a sequential test.

    `blocks` are (mean score, mean luck) over the `matches` of each, in the order of play. Given all before it, the
    adjusted score of a block has the mean of its score. The factor of the first block is 1.
    """
    score = luck = score2 = both = luck2 = 0.0
    for count, (block_score, block_luck) in enumerate(blocks):
        (factor,) = slopes(Products.of([(count, count * matches, score, score2, both, luck2)])).tolist()
        yield block_score - factor * block_luck
        score_residual, luck_residual = block_score - score, block_luck - luck
        score += score_residual / (count + 1)
        luck += luck_residual / (count + 1)
        score2 += score_residual * (block_score - score)
        both += score_residual * (block_luck - luck)
        luck2 += luck_residual * (block_luck - luck)
