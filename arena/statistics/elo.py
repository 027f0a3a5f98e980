"""Blocks of NEW against OLD -> score, Elo, normalised Elo and the likelihood of superiority, each with its interval.

Rule: intervals hold 95 % and come from the spread between blocks. A sample without any spread (one block, or nothing
but wins) says nothing about it: the widest is taken that scores from 0 to 1 can have at that mean (Wilson's interval),
so that no single block looks like a proof.

Logistic Elo is a mean score on another scale; normalised Elo is the mean score in standard deviations of one match,
which tells how many matches it takes to see it. Between equals without draws and with independent matches they agree.
"""

import math
from dataclasses import dataclass
from typing import Final

from arena.statistics.interval import Z_95, Interval
from arena.statistics.pentanomial import ZERO_FLOOR, Counts, moments

NORMALISED_SCALE: Final = 800.0 / math.log(10.0)
"""Normalised Elo of one standard deviation of a match, 347.4356: makes it logistic Elo where sd is 1/2, near equals."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What counted blocks say of NEW against OLD. `superiority`: the chance that NEW is better (LOS), 0 to 1."""

    blocks: int
    score: Interval
    elo: Interval
    normalised: Interval
    superiority: float


def estimate(counts: Counts) -> Estimate:
    """Estimate NEW's strength against OLD; ValueError without a block."""
    blocks = counts.blocks
    if not blocks:
        raise ValueError("expected at least one block to estimate from, found none")
    mean, variance = moments(counts.numbers, counts.values)
    score = _score(mean, variance, blocks)
    least = ZERO_FLOOR / blocks  # keeps the Elo of nothing but wins finite
    elo = Interval(*(elo_of(min(max(one, least), 1.0 - least)) for one in (score.value, score.low, score.high)))
    spread = math.sqrt(variance or 0.25) / math.sqrt(blocks)
    return Estimate(blocks, score, elo, _normalised(counts), normal_cdf((mean - 0.5) / spread))


def expected_score(elo: float) -> float:
    """Turn logistic Elo into the mean score it promises."""
    return 0.5 * (1.0 + math.tanh(elo / NORMALISED_SCALE))  # 1 / (1 + 10^(-elo / 400)), without overflow


def elo_of(score: float) -> float:
    """Turn a mean score, above 0 and below 1, into logistic Elo."""
    return 400.0 * (math.log10(score) - math.log10(1.0 - score))


def standardised(normalised_elo: float, matches: int) -> float:
    """Turn normalised Elo, a matter of one match, into standard deviations of a block of so many."""
    return math.sqrt(matches) * normalised_elo / NORMALISED_SCALE


def normalised_elo(standardised_mean: float, matches: int) -> float:
    """Turn a mean in standard deviations of a block of so many matches into normalised Elo."""
    return standardised_mean * NORMALISED_SCALE / math.sqrt(matches)


def normal_cdf(x: float) -> float:
    """Tell the share of a normal distribution below `x` standard deviations."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def _score(mean: float, variance: float, blocks: int) -> Interval:
    if variance:
        error = Z_95 * math.sqrt(variance / blocks)
        return Interval(mean, max(mean - error, 0.0), min(mean + error, 1.0))
    shrink = 1.0 / (1.0 + Z_95**2 / blocks)
    centre = shrink * (mean + Z_95**2 / (2.0 * blocks))
    error = shrink * Z_95 * math.sqrt(mean * (1.0 - mean) / blocks + Z_95**2 / (4.0 * blocks**2))
    return Interval(mean, max(min(centre - error, mean), 0.0), min(max(centre + error, mean), 1.0))


def _normalised(counts: Counts) -> Interval:
    mean, variance = moments(counts.numbers, counts.values)
    if not variance:  # with the zero floor as in the tests, to stay finite
        mean, variance = moments(counts.floored, counts.values)
    value = normalised_elo((mean - 0.5) / math.sqrt(variance), counts.matches)
    error = normalised_elo(Z_95 / math.sqrt(counts.blocks), counts.matches)
    return Interval(value, value - error, value + error)
