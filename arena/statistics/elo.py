"""Blocks of NEW against OLD -> Elo, normalised Elo and the likelihood of superiority, with intervals of 95 %.

Rule: intervals come from the spread between blocks. A sample without any spread (one block, or nothing but wins) says
nothing about it: the widest is taken that scores from 0 to 1 can have, so that no single block looks like a proof.

Logistic Elo is a mean score on another scale; normalised Elo is the mean score in standard deviations of one match,
which tells how many matches it takes to see it. Between equals without draws and with independent matches they agree.
"""

import math
from dataclasses import dataclass
from typing import Final, Protocol

from arena.statistics.interval import Z_95, Interval
from arena.statistics.pentanomial import ZERO_FLOOR

NORMALISED_SCALE: Final = 800.0 / math.log(10.0)
"""Normalised Elo of one standard deviation of a match, 347.4356: makes it logistic Elo where sd is 1/2, near equals."""


class Blocks(Protocol):
    """Block scores, counted or one by one: mean and variance, also with a floor that leaves some variance."""

    @property
    def blocks(self) -> int: ...  # noqa: D102
    @property
    def matches(self) -> int: ...  # noqa: D102
    @property
    def moments(self) -> tuple[float, float]: ...  # noqa: D102
    @property
    def floored_moments(self) -> tuple[float, float]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Estimate:
    """What counted blocks say of NEW against OLD. `superiority`: the chance that NEW is better (LOS), 0 to 1."""

    blocks: int
    score: Interval
    elo: Interval
    normalised: Interval
    superiority: float


def estimate(seen: Blocks, score: Interval) -> Estimate:
    """Estimate NEW's strength against OLD from blocks and the interval of their mean score; ValueError without a block.

    Elo is that score with that interval on another scale.
    """
    mean, variance = seen.moments
    least = ZERO_FLOOR / seen.blocks  # keeps the Elo of nothing but wins finite
    elo = Interval(*(elo_of(min(max(one, least), 1.0 - least)) for one in (score.value, score.low, score.high)))
    spread = math.sqrt(variance or 0.25) / math.sqrt(seen.blocks)
    return Estimate(seen.blocks, score, elo, _normalised(seen), normal_cdf((mean - 0.5) / spread))


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


def _normalised(seen: Blocks) -> Interval:
    mean, variance = seen.moments
    if not variance:  # with the zero floor as in the tests, to stay finite
        mean, variance = seen.floored_moments
    value = normalised_elo((mean - 0.5) / math.sqrt(variance), seen.matches)
    error = normalised_elo(Z_95 / math.sqrt(seen.blocks), seen.matches)
    return Interval(value, value - error, value + error)
