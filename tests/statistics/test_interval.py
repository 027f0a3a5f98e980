import math
from random import Random

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.golden import Golden

from arena.statistics.distributions import Z_95, t_quantile
from arena.statistics.interval import Interval, degrees_of_freedom, equal_blocks, interval


@pytest.mark.parametrize("degrees", [0.5, 1.3, 2.5, 3, 7.7, 29, 333.3, 999.9, 1000, 1500, 1e6])
@pytest.mark.parametrize("probability", [0.75, 0.95, 0.975, 0.999])
def test_the_quantile_agrees_with_thirty_digits(degrees: float, probability: float) -> None:
    with mpmath.workdps(30):
        t, n = mpmath.mpf(t_quantile(degrees, probability)), mpmath.mpf(degrees)
        tail = mpmath.betainc(n / 2, 0.5, 0, n / (n + t**2), regularized=True) / 2
        density = mpmath.exp(mpmath.loggamma((n + 1) / 2) - mpmath.loggamma(n / 2)) / mpmath.sqrt(n * mpmath.pi)
        slope = density * (1 + t**2 / n) ** (-(n + 1) / 2)
        assert abs((tail - (1 - mpmath.mpf(probability))) / slope) < 1e-9


def test_the_quantile_of_infinitely_many_degrees_is_the_normal_one() -> None:
    assert t_quantile(math.inf) == Z_95 == pytest.approx(1.959963984540054, abs=1e-15)
    assert t_quantile(999.999) == pytest.approx(t_quantile(1000.001), abs=1e-8)


@pytest.mark.parametrize(("degrees", "probability"), [(0, 0.9), (-1, 0.9), (math.nan, 0.9), (3, 1.0), (3, 0.4)])
def test_a_quantile_that_is_none_is_refused(degrees: float, probability: float, golden: Golden) -> None:
    with golden.raises(ValueError):
        t_quantile(degrees, probability)


def test_an_interval_is_symmetric_and_student() -> None:
    assert interval(10.0, 2.0, degrees=4, blocks=5) == Interval(
        10.0, *(10.0 + s * 2.0 * t_quantile(4) for s in (-1, 1))
    )
    assert interval(25.0, 1.0) == Interval(25.0, 25.0 - Z_95, 25.0 + Z_95)


def test_an_interval_is_clipped_to_what_is_possible() -> None:
    found = interval(0.95, 0.05, degrees=9, blocks=10, lowest=0, highest=1)
    assert found.high == 1.0
    assert found.low < 0.95 - t_quantile(9) * 0.05 + 1e-12


def test_equal_blocks_have_the_bound_of_the_rule_of_three() -> None:
    for blocks in (1, 2, 3, 10, 100):
        left = 0.05 ** (1 / blocks)
        for value in (1.0, 0.75, 0.5, 0.0):
            found = interval(value, 0.0, degrees=blocks - 1, blocks=blocks, lowest=0, highest=1)
            assert found.low == pytest.approx(value * left)
            assert found.high == pytest.approx(1 - (1 - value) * left)


def test_a_single_block_says_what_the_inequality_of_markov_says() -> None:
    assert interval(1.0, 0.0, degrees=0, blocks=1, lowest=0, highest=1).low == pytest.approx(0.05)
    assert interval(3.0, 0.0, degrees=0, blocks=1) == Interval(3.0, -math.inf, math.inf)
    assert not interval(3.0, 0.0, degrees=0, blocks=1).is_bounded


def test_equal_blocks_of_unequal_strata_are_pulled_where_it_costs_least() -> None:
    # One block at 1 and one at 0: the first alone can be pulled to 0.05, and so the mean to 0.025.
    assert equal_blocks([(1, 1.0), (1, 0.0)], lowest=0, highest=1).low == pytest.approx(0.025)
    # 1 and 0.9: both are pulled down to c with c (c / 0.9) = 0.05.
    assert equal_blocks([(1, 1.0), (1, 0.9)], lowest=0, highest=1).low == pytest.approx(math.sqrt(0.05 * 0.9))


@given(st.lists(st.tuples(st.integers(1, 30), st.floats(0, 1)), min_size=1, max_size=6), st.randoms())
def test_nobody_pulls_equal_blocks_further_down(strata: list[tuple[int, float]], random: Random) -> None:
    # An adversary shares the 5 % out among the strata as they like: the mean they reach is never below the bound.
    total = sum(blocks for blocks, _ in strata)
    bound = equal_blocks(strata, lowest=0, highest=1)
    for _ in range(20):
        weights = [0.01 + random.random() for _ in strata]
        chances = [
            0.05 ** (weight / sum(weights) / blocks) for (blocks, _), weight in zip(strata, weights, strict=True)
        ]
        low = sum(blocks * value * q for (blocks, value), q in zip(strata, chances, strict=True)) / total
        high = sum(blocks * (1 - (1 - value) * q) for (blocks, value), q in zip(strata, chances, strict=True)) / total
        assert bound.low <= low + 1e-9
        assert high <= bound.high + 1e-9
    assert 0 <= bound.low <= bound.value <= bound.high <= 1


def test_degrees_of_freedom_by_hand() -> None:
    assert degrees_of_freedom([(2.0, 9)]) == 9
    assert degrees_of_freedom([(1.0, 1)] * 10) == pytest.approx(
        10
    )  # Satterthwaite's own form would say 3.3 in the mean
    assert degrees_of_freedom([(1.0, 4), (1e-9, 40)]) == pytest.approx(4)
    assert degrees_of_freedom([(0.0, 5), (0.0, 3)]) == 8
    assert degrees_of_freedom([]) == 0
    # One block of a hundred is off the others: its spread is known as by two degrees, not 99.
    off = 1.0 / 100
    fourth = 99 * off**4 + (1 - off) ** 4
    squares = 99 * off**2 + (1 - off) ** 2
    assert degrees_of_freedom([(squares, 99)], fourth=fourth, blocks=100) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(
    ("value", "error", "blocks"), [(1.1, 0.1, 3), (0.5, -0.1, 3), (0.5, math.nan, 3), (0.5, 0.1, 0)]
)
def test_what_is_no_estimate_is_refused(value: float, error: float, blocks: int, golden: Golden) -> None:
    with golden.raises(ValueError):
        interval(value, error, degrees=2, blocks=blocks, lowest=0, highest=1)
    with golden.raises(ValueError):
        equal_blocks([])


def test_another_unit() -> None:
    assert Interval(0.5, 0.25, 1.0).scale(100.0) == Interval(50.0, 25.0, 100.0)
    assert Interval(0.5, 0.25, 1.0).error == 0.375
