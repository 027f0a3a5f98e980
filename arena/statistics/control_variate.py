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

Where luck decides little, or blocks are few, the correction adds more noise than it takes off. Whether it pays is asked
of the other blocks as well (`narrows`), so that the answer has no part in the error of these.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import NormalDist
from typing import Final, NamedTuple

from arena.statistics.interval import interval, t_quantile

PRIOR_BLOCKS: Final = 20
"""So many blocks of average luck weigh as much as what is known before: slopes of pairings scatter so much about it."""
NARROWER: Final = 0.95
"""To be worth while, an interval without luck is at most so wide beside the plain one."""
_quantile: Final = NormalDist().inv_cdf


class Products(NamedTuple):
    """The blocks of a pairing, seen by one of its two players.

    `blocks` and `matches` are their numbers, `score` is the mean over matches (0 to 1). With y the sum of scores of a
    block and l that of luck, in payoff, about their means: the sums of `score2` y y, of `both` y l and of `luck2` l l.
    """

    blocks: int
    matches: int
    score: float
    score2: float
    both: float
    luck2: float


def weight_of_luck(products: Products) -> float:
    """How much luck counts at the score of this pairing, beside one between equals: 0 to 1.

    One match won and one lost are added to the score, so that few matches promise no certain win.
    """
    score = (products.score * products.matches + 1.0) / (products.matches + 2.0)
    return math.exp(-(_quantile(score) ** 2) / 2.0)


def slopes(pairings: Sequence[Products]) -> list[float]:
    """The factor b of each pairing by these blocks, which must be others than those it is used on."""
    weights = [weight_of_luck(one) for one in pairings]
    degrees = sum(max(0, one.blocks - 1) for one in pairings)
    luck2 = math.fsum(one.luck2 for one in pairings)
    prior = PRIOR_BLOCKS * luck2 / degrees if degrees else 0.0
    if not prior:
        return weights
    both = math.fsum(weight * one.both for weight, one in zip(weights, pairings, strict=True))
    square = math.fsum(weight * weight * one.luck2 for weight, one in zip(weights, pairings, strict=True))
    common = (both + prior) / (square + prior)
    return [
        (one.both + prior * common * weight) / (one.luck2 + prior)
        for weight, one in zip(weights, pairings, strict=True)
    ]


def narrows(pairings: Sequence[Products], factors: Sequence[float], score: float) -> bool:
    """Whether these factors make the interval of the mean score over these pairings, `score`, narrower beyond chance.

    The gain of a pairing is what its sum of squares falls by. Their sum must be above 0 with 97.5 % (Student's t), and
    leave an interval of `NARROWER` or less.
    """
    gains, squares, noise, degrees = [], [], [], 0
    for one, b in zip(pairings, factors, strict=True):
        if one.blocks > 1:
            own = one.blocks - 1
            scale = one.blocks / own
            taken = scale * b * b * one.luck2
            gains.append(2.0 * scale * b * one.both - taken)
            squares.append(scale * one.score2)
            noise.append(4.0 * taken * max(0.0, squares[-1] - gains[-1]) / own)
            degrees += own
    gain, square = math.fsum(gains), math.fsum(squares)
    if gain <= 0.0 or gain < t_quantile(degrees) * math.sqrt(math.fsum(noise)):
        return False
    blocks, matches = sum(one.blocks for one in pairings), sum(one.matches for one in pairings)
    plain, without = (
        interval(score, math.sqrt(max(0.0, left)) / matches, degrees=degrees, blocks=blocks, lowest=0.0, highest=1.0)
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
        (factor,) = slopes([Products(count, count * matches, score, score2, both, luck2)])
        yield own - factor * lucky
        off, lucky_off = own - score, lucky - luck
        score += off / (count + 1)
        luck += lucky_off / (count + 1)
        score2 += off * (own - score)
        both += off * (lucky - luck)
        luck2 += lucky_off * (lucky - luck)
