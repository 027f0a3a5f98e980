"""The root finder: known roots, what has none, and rules that keep each search of the numbers from a silent end."""

import math
import random
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from support.golden import Golden
from support.statistics_leagues import Counted, fit_of, mirrored, names_in

from arena.statistics import block_correlation, distributions, likelihood
from arena.statistics.block_correlation import MOST_CORRELATED
from arena.statistics.likelihood import normalised_llr
from arena.statistics.pentanomial import Counts
from arena.statistics.roots import Function, find_root


def grid_and_bisection(
    function: Function, low: float, high: float, *, start: float = 0.0, tolerance: float = 0.0
) -> float:
    """Find a root by a grid and bisection, until no float lies between the ends."""
    del start, tolerance
    inner = [low + (high - low) * number / 60 for number in range(1, 60)]
    signs = [False, *(function(place)[0] >= 0.0 for place in inner), True]
    (cell,) = [number for number, (one, other) in enumerate(pairwise(signs)) if one != other]
    below, above = [low, *inner, high][cell : cell + 2]
    while below < (middle := (below + above) / 2.0) < above:
        below, above = (middle, above) if function(middle)[0] < 0.0 else (below, middle)
    return above


@pytest.mark.parametrize(
    ("function", "low", "high", "start", "root"),
    [
        (lambda x: (x**3 - 2.0, 3.0 * x * x), 0.0, 2.0, 1.0, 2.0 ** (1 / 3)),
        (lambda x: (math.exp(x) - 1e30, math.exp(x)), 0.0, 700.0, 1.0, math.log(1e30)),
        (lambda x: (math.tanh(50.0 * (x - 0.9)), 50.0 / math.cosh(50.0 * (x - 0.9)) ** 2), 0.0, 1.0, 0.0, 0.9),
        (lambda x: (math.atan(x - 3.0), 1.0 / (1.0 + (x - 3.0) ** 2)), -1e6, 1e6, -9e5, 3.0),
        (lambda x: (1.0 / (1.0 - x) - 1e9, 1.0 / (1.0 - x) ** 2), 0.0, 1.0, 0.5, 1.0 - 1e-9),
        (lambda x: (x - 12345.0, 1.0), 0.0, math.inf, 1.0, 12345.0),
        (lambda x: (math.log(x) - 30.0, 1.0 / x), 0.0, math.inf, 1.0, math.exp(30.0)),
        (lambda x: (math.copysign(1.0, x - 0.3), 0.0), -1.0, 1.0, -0.5, 0.3),
        (lambda x: (math.copysign(abs(x) ** 0.2, x), 0.2 * (abs(x) or 1.0) ** -0.8), -1.0, 2.0, 1.5, 0.0),
        (lambda x: (x**9, 9.0 * x**8), -1.0, 2.0, 1.5, 0.0),
        (lambda x: (np.float64(x) - 0.25, np.float64(1.0)), -1.0, 1.0, 0.0, 0.25),
    ],
)
def test_a_root_is_found(function: Function, low: float, high: float, start: float, root: float) -> None:
    """A root is found for functions that saturate, have a pole at an end, or have no slope."""
    seen = list[float]()

    def recorded(x: float) -> tuple[float, float]:
        seen.append(x)
        return function(x)

    found = find_root(recorded, low, high, start=start, tolerance=1e-12)

    assert found == pytest.approx(root, rel=1e-12, abs=1e-12)
    assert len(seen) < 130
    assert all(low < x < high for x in seen[1:])


@pytest.mark.parametrize(
    "function",
    [lambda _x: (math.nan, 1.0), lambda x: (-1.0, 1.0 / (1.0 + x)), lambda x: (-1.0 / (x + 1.0), 0.0)],
)
def test_a_search_that_finds_nothing_raises(function: Function, golden: Golden) -> None:
    """A value that is not a number, or a function without a root, raises ArithmeticError."""
    with golden.raises(ArithmeticError):
        find_root(function, 0.0, math.inf, start=1.0, tolerance=1e-12)


def test_a_tolerance_that_floats_cannot_meet_raises(golden: Golden) -> None:
    """A tolerance below the distance of two floats raises ArithmeticError."""
    with golden.raises(ArithmeticError):
        find_root(lambda x: (x - 1.0 / 3.0 if x > 1.0 / 3.0 else -1.0, 1.0), 0.0, 1.0, start=0.9, tolerance=1e-30)


def test_a_series_that_does_not_end_raises(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """Series and fraction raise ArithmeticError if they need more terms than allowed."""
    monkeypatch.setattr(distributions, "_TERMS", 20)
    for x in (95_000.0, 100_300.0):
        with golden.raises(ArithmeticError):
            distributions.lower_gamma(100_000.0, x)


def test_a_peak_that_is_not_reached_raises(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """A peak that needs 37 iterations raises ArithmeticError after 30."""
    counts = Counts((0, 0, 19, 1, 0))
    assert math.isfinite(normalised_llr(counts, 0.0, 200.0))

    monkeypatch.setattr(likelihood, "_ROUNDS", 30)
    with golden.raises(ArithmeticError):
        normalised_llr(counts, 0.0, 200.0)


def test_blocks_that_are_nearly_all_even_reach_their_peak() -> None:
    """Rounding that moves the shares of 603 428 even blocks by 4e-9 in each iteration does not prevent the end."""
    assert normalised_llr(Counts((0, 603_428, 0)), -200.0, 200.0) == pytest.approx(0.0, abs=1e-2)


def leagues() -> Iterator[tuple[Counted, ...]]:
    """Leagues of all kinds, and first those of players at 33, 25 and 17, where the expected sum saturates."""
    unequal = {"ann": 33.0, "bob": 25.0, "cid": 17.0}
    for luck, first_seat, seed in ((0.95, 4.0, 3), (0.5, 0.0, 2), (0.8, 0.0, 1)):
        yield mirrored(unequal, random.Random(seed), per_pairing=60, shared_luck=luck, first_seat=first_seat)
    rng = random.Random(5)
    for _ in range(7):
        seats = rng.choice((2, 2, 3))
        skills = {f"p{place}": rng.gauss(25.0, rng.choice((0.5, 4.0, 8.0))) for place in range(seats + 1)}
        shared = rng.choice(({"shared_luck": rng.random()}, {"shared_form": rng.random()}))
        yield mirrored(skills, rng, per_pairing=30, first_seat=rng.choice((0.0, 4.0)), seats=seats, **shared)


def test_the_correlation_is_that_of_a_slow_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """The correlation agrees with that of a grid and bisection."""
    correlations = []
    for played in leagues():
        found = fit_of(names_in(played), played).effect
        with monkeypatch.context() as context:
            context.setattr(block_correlation, "find_root", grid_and_bisection)
            slow = fit_of(names_in(played), played).effect
        assert found is not None
        assert slow is not None
        assert found.correlation == pytest.approx(slow.correlation, abs=1e-9)
        correlations.append(found.correlation)

    assert correlations[:3] == pytest.approx([0.6080772, 0.6141813, 0.5681013], abs=1e-6)
    assert sum(abs(correlation) >= MOST_CORRELATED for correlation in correlations) < 5
