"""How many blocks a sequential test takes, on average: before it, and from where it stands.

Rule: Wald's formulas, for a log-likelihood ratio that walks in small steps. Overshoot and batches come on top, a few
blocks; a test that is capped stays below.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Duration:
    """The expected number of blocks where H0 is true, where H1 is, and in the middle, where it is longest."""

    at_h0: float
    at_h1: float
    at_midpoint: float


def log_bounds(alpha: float, beta: float) -> tuple[float, float]:
    """Tell where the LLR accepts H0 (below) and H1 (above), for these chances of accepting wrongly."""
    return math.log(beta) - math.log1p(-alpha), math.log1p(-beta) - math.log(alpha)


def duration(distance: float, alpha: float, beta: float) -> Duration:
    """Expect a duration for hypotheses that are `distance` standard deviations of a block apart."""
    lower, upper = log_bounds(alpha, beta)
    variance = distance * distance
    return Duration(
        at_h0=-2.0 * ((1.0 - alpha) * lower + alpha * upper) / variance,
        at_h1=2.0 * (beta * lower + (1.0 - beta) * upper) / variance,
        at_midpoint=-lower * upper / variance,
    )


def steps_to_exit(down: float, up: float, drift: float, variance: float) -> float:
    """Expect the number of steps of a walk until it has gone `down` or `up` (both above 0), by its steps' moments."""
    if drift < 0.0:
        return steps_to_exit(up, down, -drift, variance)
    pull = 2.0 * drift / variance
    if pull * (down + up) < 1e-6:  # too little to divide by: the limit without drift
        return down * up / variance
    ends_up = math.expm1(-pull * down) / math.expm1(-pull * (down + up))
    return (ends_up * (down + up) - down) / drift
