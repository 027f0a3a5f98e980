"""From an expected margin to the chance to win.

Student's distribution with 8 degrees of freedom: near the normal one, and it takes only operations that are rounded in
the same way on every machine, so that the value has the same bits everywhere.
"""

from functools import cache
from math import sqrt

from arena.games.shanghaien.state import ROUNDS
from arena.games.shanghaien.value.constants import DEVIATION, LAST_DEVIATION, MOST_DICE, SLOPE


@cache
def scale(round_: int, dice: int) -> float:
    """From margins to standard deviations: the variance goes evenly from the start of a round to that of the next."""
    if round_ == ROUNDS:
        return 1 / LAST_DEVIATION[dice]
    here, there = DEVIATION[round_ - 1] ** 2, DEVIATION[round_] ** 2
    return SLOPE / sqrt(here + (there - here) * dice / MOST_DICE)


def chance_of(deviations: float) -> float:
    """The chance to win with a margin of so many standard deviations expected."""
    u = deviations / sqrt(8 + deviations * deviations)
    v = u * u
    return 0.5 + u * (35 - v * (35 - v * (21 - 5 * v))) / 32


def steepness(deviations: float) -> float:
    """The derivative of `chance_of`."""
    above = 8 + deviations * deviations
    return 35 / 4 * (8 / above) ** 3 / (above * sqrt(above))
