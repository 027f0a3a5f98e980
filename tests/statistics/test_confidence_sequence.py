"""Confidence sequences: the theorem's steps one by one, its promise by full enumeration, and Holm's adjustment."""

import math
from itertools import accumulate, product
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import exp, log, mp, quad  # type: ignore[import-untyped]

from arena.statistics.confidence_sequence import boundary, holm, log_evidence, lower_bound, p_value
from arena.statistics.distributions import chi_square_tail, log_front, lower_gamma

TOTALS_AND_SQUARES = [(0.5, 0.0), (0.01, 3.0), (3.0, 0.2), (12.0, 8.0), (40.0, 100.0), (300.0, 2000.0)]


@given(st.floats(-1.0, 50.0), st.floats(0.0, 0.999999))
def test_the_inequality_under_it_all(y: float, slope: float) -> None:
    """exp(l y - psi(l) y^2) <= 1 + l y holds for y >= -1: the only step of the proof that is not algebra."""
    psi = -math.log1p(-slope) - slope

    assert math.exp(slope * y - psi * y * y) <= (1.0 + slope * y) * (1.0 + 1e-12)


@pytest.mark.parametrize(("total", "squares"), TOTALS_AND_SQUARES)
def test_the_closed_form_is_the_integral(total: float, squares: float) -> None:
    """The closed form of the mixture agrees with quadrature at 30 digits."""
    with mp.workdps(30):
        integral = quad(
            lambda slope: (
                exp(slope * total + (log(1 - slope) + slope) * squares) * exp(slope - 1) / (1 - exp(mp.mpf(-1)))
            ),
            [0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 0.9, 1],
        )

        assert log_evidence(total, squares) == pytest.approx(float(log(integral)), abs=1e-9)


@pytest.mark.parametrize("low", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("error", [0.01, 0.2, 0.9])
def test_its_promise_by_full_enumeration(low: float, error: float) -> None:
    """Of all 2^12 sequences of a coin with mean 0, no more than the promised share ever cross the boundary."""
    lose = 0.3
    values = {-low: lose, low * lose / (1.0 - lose): 1.0 - lose}

    crossed = 0.0
    for course in product(values, repeat=12):
        sums = zip(accumulate(course), accumulate([each * each for each in course]), strict=True)
        if any(log_evidence(*each) >= -math.log(error) for each in sums):
            crossed += math.prod(values[each] for each in course)

    assert crossed <= error


@pytest.mark.parametrize("squares", [0.0, 0.3, 5.0, 1000.0])
@pytest.mark.parametrize("error", [0.05, 0.001])
def test_the_boundary_is_where_the_evidence_is_enough(squares: float, error: float) -> None:
    """The evidence reaches 1/error at the boundary and not before, and the p-value there is the error."""
    edge = boundary(squares, error=error)

    assert p_value(edge, squares) == pytest.approx(error, rel=1e-9)
    assert p_value(edge * 0.999, squares) > error


def test_the_lower_bound_is_below_the_mean_and_closes_in() -> None:
    """The bound follows from the boundary; with equal mean and spread it rises with the number of observations."""
    bounds = [lower_bound(n, 0.1 * n, 0.05 * n, error=0.05) for n in (10, 100, 1000, 100_000)]

    assert bounds == sorted(bounds)
    assert bounds[0] == pytest.approx(0.1 - boundary(0.5, error=0.05) / 10)
    assert lower_bound(1, 0.1, 0.05, error=0.05) == pytest.approx(0.1 - boundary(0.05, error=0.05))
    assert 0.09 < bounds[-1] < 0.1


def test_no_bound_is_zero() -> None:
    """The p-value of the strongest evidence is above 0."""
    assert 0.0 < p_value(1e6, 1e4) < 1e-200


@pytest.mark.parametrize(("count", "squares", "error"), [(0, 0.0, 0.1), (3, -1.0, 0.1), (3, 1.0, 0.0), (3, 1.0, 1.0)])
def test_what_makes_no_sense_is_refused(count: int, squares: float, error: float) -> None:
    """No observation, a negative sum of squares, and an error of 0 or 1 raise ValueError."""
    with pytest.raises(ValueError, match="expected"):
        lower_bound(count, 1.0, squares, error=error)


@pytest.mark.parametrize(("shape", "x"), [(0.5, 0.1), (1.0, 3.0), (8.5, 9.0), (5000.0, 5100.0), (70_000.0, 70_100.0)])
def test_the_lower_gamma_function(shape: float, x: float) -> None:
    """The function agrees with mpmath, and with the tail of the chi-squared distribution."""
    assert lower_gamma(shape, x) == pytest.approx(float(mp.gammainc(shape, 0, x, regularized=True)), rel=1e-9)
    assert lower_gamma(shape, x) == pytest.approx(1.0 - chi_square_tail(2 * x, round(2 * shape)), abs=1e-12)


@pytest.mark.parametrize("shape", [0.5, 999.0, 1001.0, 1e9, 1e20])
@pytest.mark.parametrize("deviations", [0.3, 2.0, 9.0])
def test_large_shapes_lose_no_digits(shape: float, deviations: float) -> None:
    """The front agrees with mpmath at 60 digits; from a shape of 1e8 on the function is about a normal distribution."""
    x = shape + deviations * math.sqrt(shape)
    with mp.workdps(60):
        front = mp.mpf(shape) * log(mp.mpf(x)) - mp.mpf(x) - mp.loggamma(mp.mpf(shape))

    assert log_front(shape, x) == pytest.approx(float(front), abs=1e-5, rel=1e-9)
    if shape > 1e8:
        assert lower_gamma(shape, x) == pytest.approx(NormalDist().cdf(deviations), abs=2e-5)


def test_holm_by_hand() -> None:
    """The smallest p-value is multiplied by four, the next by three and so on, without falling and at most 1."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.9, 0.8]) == (1.0, 1.0)
    assert holm([]) == ()


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8), st.data())
def test_a_smaller_p_value_makes_none_larger(p_values: list[float], data: st.DataObject) -> None:
    """Adjusted values rise with p-values, so what holds at every look for each player holds for all of them."""
    place = data.draw(st.integers(0, len(p_values) - 1))
    lowered = [*p_values]
    lowered[place] *= data.draw(st.floats(0.0, 1.0))

    assert all(after <= before for after, before in zip(holm(lowered), holm(p_values), strict=True))
    assert all(after >= before for after, before in zip(holm(p_values), p_values, strict=True))


@pytest.mark.parametrize(("total", "squares"), [(0.0, 0.0), (-5.0, 3.0), (-1e9, 1e9)])
def test_no_luck_is_no_evidence(total: float, squares: float) -> None:
    """A sum of 0 or less has a p-value of 1: only positive means are tested for."""
    assert p_value(total, squares) == 1.0
