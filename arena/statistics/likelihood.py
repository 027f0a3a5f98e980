"""Counts of blocks -> how much likelier H1 is than H0: the generalised log-likelihood ratio of two strengths.

Rule: exact. For each hypothesis the likeliest distribution of block results is found that has the claimed strength, and
the two are compared. The usual approximation from mean and variance is fine between near equals and far off between
unequals: 0.13 where 120.55 is right, for 4250 wins in 4250 matches.

Formulas of Michel Van den Bergh (the normalised Elo practical note), as fishtest, fastchess and OpenBench use them.
"""

import math
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from arena.statistics.elo import block_deviations, expected_score
from arena.statistics.pentanomial import ZERO_FLOOR, Counts, Moments, moments
from arena.statistics.roots import find_root

_ROUNDS: Final = 500
"""The most iterations. Usual are 4 to 6, and up to 40 for blocks nearly all even; the programs named stop after 10."""
_SECOND_START: Final = 0.99
"""The share of the observed distribution in the second start; the rest is uniform, as the first start is."""
_CLOSE_ENOUGH: Final = 1e-9
"""The distance of two successive distributions at the end; with rare results rounding alone makes more."""
_PEAKED: Final = 0.75
"""The share of one result from which a second peak is looked for: in 8,000 random counts none was below 0.87."""
_EXACT: Final = 1e-13
"""The tolerance of the root, on a scale where the nearer pole is 1."""


def normalised_llr(counts: Counts, elo0: float, elo1: float) -> float:
    """Return the log-likelihood ratio (LLR) of a normalised Elo of `elo1` against `elo0`; above 0 it speaks for `elo1`.

    0 without blocks.
    """
    if not counts.blocks:
        return 0.0
    weights = _normalise(counts.floored)
    null, claim = (
        _likeliest_with_ratio(weights, counts.values, block_deviations(elo, counts.matches)) for elo in (elo0, elo1)
    )
    return _log_ratio(counts.floored, null, claim)


def logistic_llr(counts: Counts, elo0: float, elo1: float) -> float:
    """Return the LLR of a logistic Elo of `elo1` against `elo0`, that is, of their mean scores; 0 without blocks."""
    return _llr_of_means(counts.floored, counts.values, elo0, elo1) if counts.blocks else 0.0


def sample_llr(scores: Collection[float], elo0: float, elo1: float) -> float:
    """Return the `logistic_llr` of block scores of any value, such as luck-adjusted ones.

    The scores 0 and 1 are counted with `ZERO_FLOOR` blocks more. 0 without blocks.
    """
    if not scores:
        return 0.0
    counts = Counter(scores)
    weights = [*map(float, counts.values()), ZERO_FLOOR, ZERO_FLOOR]
    return _llr_of_means(weights, [*counts, min(0.0, *counts), max(1.0, *counts)], elo0, elo1)


def student_llr(blocks: Moments, elo0: float, elo1: float, *, matches: int) -> float:
    """Return the LLR of a normalised Elo of `elo1` against `elo0`: N/2 ln[(1 + (t - t0)^2) / (1 + (t - t1)^2)].

    The formula has its extremes about one standard deviation from even, and would fall back to 0 beyond, where NEW wins
    nearly every block by nearly the same. There the extreme is returned: more evidence never counts for less.
    """
    low, high = block_deviations(elo0, matches), block_deviations(elo1, matches)
    middle, reach = (low + high) / 2.0, math.hypot(1.0, (high - low) / 2.0)
    ratio = min(max(blocks.ratio, middle - reach), middle + reach)
    return blocks.blocks / 2.0 * (math.log1p((ratio - low) ** 2) - math.log1p((ratio - high) ** 2))


def _llr_of_means(weights: Sequence[float], points: Sequence[float], elo0: float, elo1: float) -> float:
    """Return the LLR of the mean scores at `elo1` and at `elo0`, for points with these weights."""
    shares = _normalise(weights)
    null, claim = (_tilt(shares, [point - expected_score(elo) for point in points]) for elo in (elo0, elo1))
    return _log_ratio(weights, null, claim)


def _normalise(weights: Sequence[float]) -> list[float]:
    """Divide the weights by their sum."""
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _log_ratio(weights: Sequence[float], null: Sequence[float], claim: Sequence[float]) -> float:
    """Return the log of the likelihood of weighted results under `claim` over that under `null`, two distributions."""
    return math.fsum(weight * math.log(new / old) for weight, old, new in zip(weights, null, claim, strict=True))


def _likeliest_with_ratio(weights: Sequence[float], points: Sequence[float], ratio: float) -> list[float]:
    """Find the likeliest distribution with (mean - 1/2) / sd = `ratio`.

    The likelihood can have two peaks where nearly all blocks are even, as between versions that hardly differ. The
    programs named start from the uniform distribution only and can end on the lower peak, over 1 below the other.
    """
    first = _climb_to_peak([1.0 / len(points)] * len(points), weights, points, ratio)
    if first is None:
        raise ArithmeticError(f"no distribution of {points} has a ratio of {ratio} and is likeliest for {weights}")
    if max(weights) < _PEAKED:
        return first
    start = [_SECOND_START * weight + (1.0 - _SECOND_START) / len(points) for weight in weights]
    second = _climb_to_peak(start, weights, points, ratio)
    return first if second is None else max(first, second, key=lambda shares: _log_likelihood(weights, shares))


def _log_likelihood(weights: Sequence[float], shares: Sequence[float]) -> float:
    """Return the log likelihood of weighted results, with these chances (`shares`)."""
    return math.fsum(weight * math.log(share) for weight, share in zip(weights, shares, strict=True))


def _climb_to_peak(
    start: list[float], weights: Sequence[float], points: Sequence[float], ratio: float
) -> list[float] | None:
    """Go from `start` to a peak of the likelihood, by a linear form of the condition in each iteration.

    None where no distribution meets the linear condition; that does not happen from the uniform start. ArithmeticError
    if it does not converge.
    """
    shares, tolerance = start, max(_CLOSE_ENOUGH, sys.float_info.epsilon / min(weights))
    for _ in range(_ROUNDS):
        mean, variance = moments(shares, points)
        sd = math.sqrt(variance)
        excess = [point - 0.5 - ratio * sd * (1.0 + ((mean - point) / sd) ** 2) / 2.0 for point in points]
        if not min(excess) < 0.0 < max(excess):
            return None
        former, shares = shares, _tilt(weights, excess)
        if max(abs(new - old) for new, old in zip(shares, former, strict=True)) < tolerance:
            return shares
    raise ArithmeticError(f"no peak of the likelihood of {weights} at a ratio of {ratio} after {_ROUNDS} rounds")


def _tilt(weights: Sequence[float], excess: Sequence[float]) -> list[float]:
    """Find the distribution q with sum q * excess = 0 under which `weights` are likeliest: weight / (1 + x * excess).

    x is the only zero of a falling function between two poles, the nearer of which is 1 after scaling.
    """
    scale = max(*excess, -min(excess))
    pairs = [(weight, scaled / scale) for weight, scaled in zip(weights, excess, strict=True)]

    def imbalance(x: float) -> tuple[float, float]:
        """Return the negative of sum q * excess at `x`, which rises, with its slope."""
        terms = [(weight, scaled / (1.0 + x * scaled)) for weight, scaled in pairs]
        return -sum(weight * term for weight, term in terms), sum(weight * term * term for weight, term in terms)

    low, high = -scale / max(excess), -scale / min(excess)
    x = find_root(imbalance, low, high, start=0.0, tolerance=_EXACT)
    return [weight / (1.0 + x * scaled) for weight, scaled in pairs]
