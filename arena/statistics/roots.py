"""The root finder of the statistics: Newton's method, kept in a bracket of which one end is below the root, one above.

Rule: this is the only place that looks for a root, and a bracket narrower than the caller's tolerance is the only way
to end. Too many steps, or a value that is not a number, raise ArithmeticError: no result is a guess.

The steps are those of "rtsafe" (Press and others, Numerical Recipes, section 9.4) with two changes. A step of Newton's
method goes a little beyond the root that it predicts, so that the bracket closes from both sides. And the bracket may
have no upper end, which is then looked for by doubling. A step that leaves the bracket, or that is longer than half of
the step before, is replaced by halving the bracket: so a function that saturates, as the expected products of blocks
between very unequal players do, cannot hold the search at one end.
"""

import math
from collections.abc import Callable
from typing import Final

Function = Callable[[float], tuple[float, float]]
"""The value and the slope at a place, each a float or a NumPy number."""

_MOST_STEPS: Final = 400
"""The most steps of a search. Usual are 5 to 10; halving takes 60, unless the bracket spans all sizes of floats."""


def find_root(function: Function, low: float, high: float, *, start: float, tolerance: float) -> float:
    """Return the place between `low` and `high` at which `function` changes its sign from - to +.

    It must be negative at `low` and positive at `high`; neither is evaluated, so they may be poles, and `high` may be
    infinite. `tolerance` is the width of the last bracket, in units of the root's size where that is above 1.
    ArithmeticError for a value that is not a number, or after too many steps.
    """
    here, change = start, math.inf
    for _ in range(_MOST_STEPS):
        value, slope = map(float, function(here))
        if math.isnan(value):
            raise ArithmeticError(f"no root between {low!r} and {high!r}: the function is {value} at {here!r}")
        if value == 0.0:
            return here
        low, high = (here, high) if value < 0.0 else (low, here)
        width = tolerance * max(1.0, abs(here))
        root = here - value / slope if slope > 0.0 else math.nan
        if high - low <= width:
            return min(max(root, low), high) if slope > 0.0 else here
        next_place = root - math.copysign(width / 4.0, value)
        if not (low < next_place < high and abs(next_place - here) <= change / 2.0):
            next_place = _halve(low, high, here)
        here, change = next_place, max(abs(next_place - here), 2.0 * width)
    raise ArithmeticError(f"no root between {low!r} and {high!r} after {_MOST_STEPS} steps")


def _halve(low: float, high: float, here: float) -> float:
    """Return the middle of the bracket, or twice `here` where the bracket has no upper end."""
    return low + (high - low) / 2.0 if math.isfinite(high) else 2.0 * max(1.0, here)
