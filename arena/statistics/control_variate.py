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

If luck decides little, or blocks are few, the correction adds more noise than it takes off. Whether it pays is asked
of the other blocks as well (`narrows`), so that the answer has no part in the error of these.
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
"""So many blocks of average luck weigh as much as what is known before: slopes of pairings scatter so much about it."""
NARROWER: Final = 0.95
"""To be worth while, an interval without luck is at most so wide beside the plain one."""


class Products(NamedTuple):
    """The blocks of some pairings, each seen by one of its two players; columns by pairing.

    `blocks` and `matches` are their numbers, `score` is the mean over matches (0 to 1). With y the sum of scores of a
    block and l that of luck, in payoff, about their means: the sums of `score2` y y, of `both` y l and of `luck2` l l.
    """

    blocks: Floats
    matches: Floats
    score: Floats
    score2: Floats
    both: Floats
    luck2: Floats

    @classmethod
    def of(cls, rows: Iterable[Sequence[float]]) -> "Products":
        """From the values of each pairing."""
        return cls(*np.array(list(rows), dtype=np.float64).reshape(-1, len(cls._fields)).T)


@lru_cache(maxsize=1 << 14)
def weight_of_luck(score: float, matches: float) -> float:
    """The weight of luck at that score of a pairing, beside one between equals: 0 to 1.

    One match won and one lost are added to the score, so that few matches promise no certain win.
    """
    return math.exp(-(NORMAL.inv_cdf((score * matches + 1.0) / (matches + 2.0)) ** 2) / 2.0)


def slopes(pairings: Products) -> Floats:
    """The factor b of each pairing by these blocks, which must be others than those it is used on."""
    weights = np.array(list(map(weight_of_luck, pairings.score.tolist(), pairings.matches.tolist())), dtype=np.float64)
    degrees = int(np.maximum(0, pairings.blocks - 1).sum())
    prior = PRIOR_BLOCKS * math.fsum(pairings.luck2) / degrees if degrees else 0.0
    if not prior:
        return weights
    both, square = math.fsum(weights * pairings.both), math.fsum(weights * weights * pairings.luck2)
    common = (both + prior) / (square + prior)
    found: Floats = (pairings.both + prior * common * weights) / (pairings.luck2 + prior)
    return found


def narrows(pairings: Products, factors: Floats, score: float) -> bool:
    """Whether these factors make the interval of the mean score over these pairings, `score`, narrower beyond chance.

    The gain of a pairing is what its sum of squares falls by. Their sum must be above 0 with 97.5 % (Student's t), and
    leave an interval of `NARROWER` or less.
    """
    known, own = Products(*(column[pairings.blocks > 1] for column in pairings)), factors[pairings.blocks > 1]
    degrees = known.blocks - 1
    scale = known.blocks / degrees
    taken = scale * own * own * known.luck2
    gains, squares = 2.0 * scale * own * known.both - taken, scale * known.score2
    noise = 4.0 * taken * np.maximum(0.0, squares - gains) / degrees
    gain, square = math.fsum(gains), math.fsum(squares)
    if gain <= 0.0 or gain < t_quantile(int(degrees.sum())) * math.sqrt(math.fsum(noise)):
        return False
    blocks, matches = int(pairings.blocks.sum()), int(pairings.matches.sum())
    plain, without = (
        interval(
            score,
            math.sqrt(max(0.0, left)) / matches,
            degrees=int(degrees.sum()),
            blocks=blocks,
            lowest=0.0,
            highest=1.0,
        )
        for left in (square, square - gain)
    )
    return without.error <= NARROWER * plain.error


def adjusted_in_turn(blocks: Iterable[tuple[float, float]], *, matches: int) -> Iterator[float]:
    """Give the score of each block without its luck, with the factor that the blocks before it say: for a test.

    `blocks` are (mean score, mean luck) over the `matches` of each, in the order they are played. Given all before it,
    a block's adjusted score has the mean of its score. So has the first one, whose factor is 1.
    """
    score = luck = score2 = both = luck2 = 0.0
    for count, (own, lucky) in enumerate(blocks):
        (factor,) = slopes(Products.of([(count, count * matches, score, score2, both, luck2)])).tolist()
        yield own - factor * lucky
        off, lucky_off = own - score, lucky - luck
        score += off / (count + 1)
        luck += lucky_off / (count + 1)
        score2 += off * (own - score)
        both += off * (lucky - luck)
        luck2 += lucky_off * (lucky - luck)
