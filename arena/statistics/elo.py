"""Blocks of NEW against OLD -> Elo, normalised Elo and the likelihood of superiority, with intervals of 95 %.

Rule: intervals come from the spread between blocks. A sample without any spread (one block, or nothing but wins) says
nothing about it: the widest is taken that scores from 0 to 1 can have, so that no single block looks like a proof.

Logistic Elo is a mean score on another scale; normalised Elo is the mean score in standard deviations of one match,
which tells how many matches it takes to see it. Between equals without draws and with independent matches they agree.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.statistics.distributions import normal_cdf, t_quantile
from arena.statistics.interval import NO_SPREAD, UNSEEN, Interval, interval
from arena.statistics.pentanomial import ZERO_FLOOR, Counts, Moments, Sample, moments

NORMALISED_SCALE: Final = 800.0 / math.log(10.0)
"""Normalised Elo of one standard deviation of a match, 347.4356: makes it logistic Elo where sd is 1/2, near equals."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The strength of NEW against OLD by counted blocks.

    `superiority` is the likelihood that NEW is better (LOS), 0 to 1. `normalised` divides by the spread of blocks, and
    is None where they have none.
    """

    blocks: int
    score: Interval
    elo: Interval
    normalised: Interval | None
    superiority: float


@dataclass(frozen=True, slots=True)
class MarginEstimate:
    """The strength of NEW against OLD by real-valued blocks; without any spread, a value is None."""

    blocks: int
    margin: Interval
    normalised: Interval | None
    superiority: float | None


def estimate(results: Counts | Sample, score: Interval) -> Estimate:
    """Estimate NEW's strength against OLD from blocks and the interval of their mean score; ValueError without a block.

    `elo` is that interval on the scale of logistic Elo, with scores of 0 and 1 moved inward so that it is finite.
    """
    mean, variance = results.moments
    lowest = ZERO_FLOOR / results.blocks  # keeps the Elo of nothing but wins finite
    elo = Interval(*(elo_of(min(max(share, lowest), 1.0 - lowest)) for share in (score.value, score.low, score.high)))
    spread = math.sqrt(variance or 0.25) / math.sqrt(results.blocks)
    return Estimate(results.blocks, score, elo, _normalised_interval(results), normal_cdf((mean - 0.5) / spread))


def estimate_margin(blocks: Moments, *, matches: int) -> MarginEstimate:
    """Estimate by how much NEW does better in a block; ValueError without a block.

    The margin has the interval of the leaderboard, which is infinite where all blocks are equal.
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
        normalised=ratio.scale(normalised_elo(1.0, matches)),
        superiority=normal_cdf(blocks.ratio * root),
    )


def expected_score(elo: float) -> float:
    """Return the mean score at a difference of logistic Elo."""
    return 0.5 * (1.0 + math.tanh(elo / NORMALISED_SCALE))  # 1 / (1 + 10^(-elo / 400)), without overflow


def elo_of(score: float) -> float:
    """Return the logistic Elo of a mean score above 0 and below 1."""
    return 400.0 * (math.log10(score) - math.log10(1.0 - score))


def block_deviations(normalised_elo: float, matches: int) -> float:
    """Convert normalised Elo, which is of one match, to standard deviations of a block of `matches`."""
    return math.sqrt(matches) * normalised_elo / NORMALISED_SCALE


def normalised_elo(standardised_mean: float, matches: int) -> float:
    """Convert a mean in standard deviations of a block of `matches` to normalised Elo."""
    return standardised_mean * NORMALISED_SCALE / math.sqrt(matches)


def ratio_interval(ratio: float, squares: float, blocks: float) -> Interval:
    """Return the interval of a mean in standard deviations of blocks, both estimated from `blocks`, 2 or more.

    `squares` is the number of blocks times the variance of `ratio`; it is floored at 1, the value for a known standard
    deviation. The interval is symmetric in asinh(ratio), where large ratios have about the same error.
    """
    error = math.sqrt(max(1.0, squares) / (blocks - 1.0))
    middle, half = math.asinh(ratio), t_quantile(blocks - 1.0) * error / math.hypot(1.0, ratio)
    return Interval(ratio, math.sinh(middle - half), math.sinh(middle + half))


def _normalised_interval(results: Counts | Sample) -> Interval | None:
    """Return the normalised Elo with its interval, widened by half an unseen block at either end of the scores.

    None where all blocks have the same score.
    """
    if math.sqrt(results.moments[1]) <= NO_SPREAD:
        return None
    weights, scores = results.weighted
    plain = _standardised_mean(weights, scores)
    all_ends = [plain, *(_standardised_mean([*weights, UNSEEN], [*scores, end]) for end in (0.0, 1.0))]
    widest = Interval(plain.value, min(bounds.low for bounds in all_ends), max(bounds.high for bounds in all_ends))
    return widest.scale(normalised_elo(1.0, results.matches))


def _standardised_mean(weights: Sequence[float], scores: Sequence[float]) -> Interval:
    """Return (mean - 1/2) / sd of weighted scores with its 95 % interval.

    The variance of that value t is that of the delta method: 1 - skewness t + (kurtosis - 1) t^2 / 4, over the blocks.
    """
    mean, variance = moments(weights, scores)
    blocks, sd = math.fsum(weights), math.sqrt(variance)
    skewness, kurtosis = (
        math.fsum(weight * ((score - mean) / sd) ** power for weight, score in zip(weights, scores, strict=True))
        / blocks
        for power in (3, 4)
    )
    ratio = (mean - 0.5) / sd
    return ratio_interval(ratio, 1.0 - skewness * ratio + (kurtosis - 1.0) * ratio**2 / 4.0, blocks)
