"""The batch fit at its edges: tiny, lopsided and disconnected tables, extreme settings, refusals, growing results."""

import math
from itertools import pairwise

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.statistics_leagues import Counted, Result, deviations, fit_of, order_of, pairings_of, repeated

from arena.statistics import newton
from arena.statistics.comparisons import table_of
from arena.statistics.model import ProbitSettings
from arena.statistics.probit import ProbitFit

NAMES = ("ann", "bob", "cid", "dot")

pairs_of_names = st.sampled_from([(one, other) for one in NAMES for other in NAMES if one != other])
ranks_of_two = st.sampled_from([(0, 1), (1, 0), (0, 0)])
matches_of_two = st.tuples(pairs_of_names, ranks_of_two)
matches_of_three = st.tuples(
    st.permutations(NAMES).map(lambda order: tuple(order[:3])), st.tuples(*[st.integers(0, 2)] * 3)
)


def numbers(found: ProbitFit) -> list[float]:
    """Return all numbers in a fit that could fail to be finite."""
    seats = [x for seat in found.seats for one in (seat.skill, seat.points) for x in (one.value, one.low, one.high)]
    return [*found.means, *deviations(found).values(), *seats, *(x for line in found.covariance for x in line)]


@pytest.mark.parametrize("away", [0.0, 1e-9, 0.5, 5.0, 8.0, 29.9, 30.1, 37.5, 38.5, 1e3, 1e6])
def test_the_logarithm_of_a_tail_keeps_its_digits(away: float) -> None:
    """Log Phi agrees with mpmath from the middle to where Phi itself is 10 to the minus 200 billion."""
    small, large = newton._log_tails(np.array([-away]))

    with mpmath.workdps(60):
        expected = mpmath.log(mpmath.erfc(mpmath.mpf(away) / mpmath.sqrt(2)) / 2)
        other = mpmath.log1p(-mpmath.erfc(mpmath.mpf(away) / mpmath.sqrt(2)) / 2)
    assert float(small[0]) == pytest.approx(float(expected), rel=1e-12)
    assert float(large[0]) == pytest.approx(float(other), rel=1e-12, abs=1e-200)


@pytest.mark.parametrize("start", [(25.0, 25.0), (400.0, -350.0), (-350.0, 400.0), (1e4, 1e4)])
@pytest.mark.parametrize(("wins", "draws", "losses"), [(50, 2, 10), (50, 0, 0)])
def test_the_maximum_is_reached_from_anywhere(start: tuple[float, float], wins: int, draws: int, losses: int) -> None:
    """The maximum is found from far out on either side, where Newton's own step is much too long or too short."""
    chosen = ProbitSettings(sigma=400.0, seat_sigma=0.0)
    played = pairings_of(repeated("ann", "bob", wins=wins, draws=draws, losses=losses))
    expected = fit_of(NAMES[:2], played, chosen).means
    table = table_of(NAMES[:2], played)

    found = newton.maximise(table.design(chosen), table.counts().reshape(-1, 3), np.array(start))

    assert found.parameters.tolist() == pytest.approx(expected, abs=1e-6)


@settings(max_examples=60)
@given(st.lists(matches_of_two, max_size=30) | st.lists(matches_of_three, max_size=20))
def test_any_results_give_finite_numbers_with_the_mean_at_25(results: list[Result]) -> None:
    """Any results give finite numbers, and skills with the mean 25."""
    found = fit_of(NAMES, pairings_of(results))

    assert all(map(math.isfinite, numbers(found)))
    assert math.fsum(found.means) / len(NAMES) == pytest.approx(25.0, abs=1e-12)
    assert all(deviation > 0.0 for deviation in deviations(found).values())


@pytest.mark.parametrize(
    ("players", "results"),
    [
        pytest.param((), [], id="nobody"),
        pytest.param(("ann",), [], id="one player"),
        pytest.param(("ann", "bob"), [], id="no match"),
        pytest.param(("ann", "bob"), repeated("ann", "bob", wins=1), id="one match"),
        pytest.param(("ann", "bob"), repeated("ann", "bob", draws=500), id="draws only"),
        pytest.param(("ann", "bob"), repeated("ann", "bob", losses=40), id="one side forfeits"),
        pytest.param(("ann", "bob"), repeated("ann", "bob", wins=20_000), id="20000 straight wins"),
        pytest.param(
            ("ann", "bob", "cid"),
            repeated("ann", "bob", wins=10**4) + repeated("bob", "cid", wins=10**4) + repeated("cid", "ann", wins=1),
            id="an upset against the order of a chain",
        ),
    ],
)
def test_extreme_tables_stay_finite(players: tuple[str, ...], results: list[Result]) -> None:
    """Tables that are tiny, even or lopsided give finite fits."""
    found = fit_of(players, pairings_of(results))

    assert all(map(math.isfinite, numbers(found)))
    assert len(found.means) == len(players)


@pytest.mark.parametrize("ratio", [0.01, 100.0])
def test_extreme_settings_stay_finite(ratio: float) -> None:
    """Beta of a hundredth or of a hundred times sigma gives finite fits."""
    chosen = ProbitSettings(beta=ratio * 25.0 / 3.0, draw_probability=0.001)
    results = [result for one, other in pairwise(NAMES) for result in repeated(one, other, wins=9)]

    found = fit_of(NAMES, pairings_of([*results, *repeated("dot", "ann", wins=1, draws=1)]), chosen)

    assert all(map(math.isfinite, numbers(found)))
    assert order_of(found) == NAMES


@pytest.mark.parametrize(
    ("results", "complaint"),
    [
        ([(("ann",), (0,))], "two or more different players"),
        ([(("ann", "ann"), (0, 1))], "two or more different players"),
        ([(("ann", "bob"), (0, 1)), (("ann", "bob", "cid"), (0, 1, 2))], "cannot share one table"),
    ],
)
def test_results_that_are_none_are_refused(results: list[Result], complaint: str) -> None:
    """An invalid pairing raises ValueError with the reason."""
    with pytest.raises(ValueError, match=complaint):
        fit_of(NAMES, pairings_of(results))


def test_a_course_of_another_size_is_refused() -> None:
    """A block of two players without four ranks raises ValueError."""
    with pytest.raises(ValueError, match="a rank for each"):
        fit_of(NAMES, [Counted(NAMES[:2], {"011": 1})])


def test_a_stranger_is_refused() -> None:
    """A player who is not in the list of players raises KeyError."""
    with pytest.raises(KeyError, match="zoe"):
        fit_of(NAMES, pairings_of([(("ann", "zoe"), (0, 1))]))


@pytest.mark.parametrize(
    "wrong", [{"sigma": 0.0}, {"beta": -1.0}, {"draw_probability": 0.0}, {"seat_sigma": -1.0}, {"mu": math.nan}]
)
def test_settings_that_make_no_model_are_refused(wrong: dict[str, float]) -> None:
    """Settings outside their range raise ValueError."""
    with pytest.raises(ValueError, match=r"expected|finite"):
        ProbitSettings(**wrong)
