"""Scores in the order of the schedule -> whether a player gets better or worse, or is out of sorts for a while.

Rule: bots should play the same from the first match to the last. Each block is compared with the player's mean in the
same pairing, so that it does not matter who comes when. Two questions are asked: for a trend, by the slope

    b = sum_p sum_{b in p} (t_b - t_p) (y_b - y_p) / sum_p sum_{b in p} (t_b - t_p)^2

with t the time from 0 (first block) to 1 (last one), and y the mean score of a block; and for anything else, by X^2
over the tenths, the sum of what each has above or below its pairings' means, squared, over the variance of that sum.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import msgspec

from arena.report.means import Value, by_block
from arena.statistics.chi_square import chi_square_tail

TENTHS: Final = 10
LEAST_BLOCKS: Final = 50
"""Five in a tenth: with fewer, nothing is asked."""


class Drift(msgspec.Struct, frozen=True):
    """`change` of the score (of 0 to 1) from the first block to the last one, with its standard error; both chances.

    `p_trend` is the chance of a change as large if there is none, `p_tenths` that of tenths as unequal.
    """

    change: float
    change_error: float
    p_trend: float
    p_tenths: float


def drift_of(values: Sequence[Value]) -> Drift | None:
    """Look for drift in the scores of one player; None where blocks are too few, or all alike in each pairing."""
    scores = {block: math.fsum(own) / len(own) for block, own in by_block(values).items()}
    if len(scores) < LEAST_BLOCKS:
        return None
    order = sorted(scores)
    time = {block: place / (len(order) - 1) for place, block in enumerate(order)}
    pairing = {one.block: one.pairing for one in values}
    off, variance = _about_their_pairings(scores, pairing)
    when, _ = _about_their_pairings(time, pairing)
    spread = math.fsum(when[block] ** 2 for block in order)
    noise = math.fsum(when[block] ** 2 * variance[pairing[block]] for block in order)
    if noise <= 0.0 or spread <= 0.0:
        return None
    change, error = math.fsum(when[block] * off[block] for block in order) / spread, math.sqrt(noise) / spread
    return Drift(
        change=change,
        change_error=error,
        p_trend=math.erfc(abs(change / error) / math.sqrt(2.0)),
        p_tenths=_tenths([(off[block], variance[pairing[block]]) for block in order]),
    )


def _about_their_pairings(
    values: dict[int, float], pairing: dict[int, int]
) -> tuple[dict[int, float], dict[int, float]]:
    """What each block has above or below the mean of its pairing, and the variance of each pairing."""
    own: defaultdict[int, list[float]] = defaultdict(list)
    for block, value in values.items():
        own[pairing[block]].append(value)
    means = {name: math.fsum(found) / len(found) for name, found in own.items()}
    variance = {
        name: math.fsum((value - means[name]) ** 2 for value in found) / max(1, len(found) - 1)
        for name, found in own.items()
    }
    # equal values have a mean that differs from them by rounding
    even = {name for name, found in own.items() if min(found) == max(found)}
    off = {block: 0.0 if pairing[block] in even else value - means[pairing[block]] for block, value in values.items()}
    return off, variance | dict.fromkeys(even, 0.0)


def _tenths(blocks: Sequence[tuple[float, float]]) -> float:
    """The chance of tenths as unequal as these: X^2 with nine degrees of freedom, as all together are 0."""
    sums, variances = [0.0] * TENTHS, [0.0] * TENTHS
    for place, (off, variance) in enumerate(blocks):
        tenth = place * TENTHS // len(blocks)
        sums[tenth] += off
        variances[tenth] += variance
    chi_square = math.fsum(total**2 / variance for total, variance in zip(sums, variances, strict=True) if variance)
    return chi_square_tail(chi_square, TENTHS - 1)
