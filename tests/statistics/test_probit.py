"""The batch fit: known answers from elsewhere, what must hold for any results, and its edges."""

import math
import random
from itertools import combinations, pairwise, permutations

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.golden import Golden
from support.statistics_leagues import (
    Counted,
    Result,
    blocks,
    deviations,
    fit_of,
    mirrored,
    order_of,
    pairings_of,
    repeated,
)
from support.statistics_oracle import most_likely

from arena.statistics import newton
from arena.statistics.comparisons import table_of
from arena.statistics.distributions import Z_95, t_quantile
from arena.statistics.model import ProbitSettings, chances_at
from arena.statistics.newton import Floats, solve
from arena.statistics.probit import ProbitFit, fit

NAMES = ("ann", "bob", "cid", "dot")
FIXED_SEATS = ProbitSettings(seat_sigma=0.0)
NO_PRIOR = ProbitSettings(sigma=1e5, seat_sigma=0.0, draw_probability=1e-12)

pairs_of_names = st.sampled_from([(one, other) for one in NAMES for other in NAMES if one != other])
ranks_of_two = st.sampled_from([(0, 1), (1, 0), (0, 0)])
matches_of_two = st.tuples(pairs_of_names, ranks_of_two)


def test_the_fit_is_the_one_of_an_independent_calculation() -> None:
    """Means, covariance, seat advantage and its error agree with mpmath at 30 digits."""
    results = (
        repeated("ann", "bob", wins=7, draws=2, losses=3)
        + repeated("bob", "ann", wins=6, losses=4)
        + repeated("bob", "cid", wins=8, losses=1)
        + repeated("cid", "ann", wins=2, draws=1, losses=9)
    )
    chosen = ProbitSettings(draw_probability=0.1, seat_sigma=3.0)

    found = fit_of(NAMES[:3], pairings_of(results), chosen)

    expected, covariance = most_likely(NAMES[:3], results, chosen)
    assert found.means == pytest.approx(expected[:3], abs=1e-9)
    assert found.seats[0].skill.value == pytest.approx(expected[3], abs=1e-9)
    assert found.effect is not None
    wider = widening(found.effect.degrees)
    assert found.seats[0].skill.error == pytest.approx(Z_95 * math.sqrt(wider * covariance[3][3]), abs=1e-8)
    for line, theirs in zip(found.covariance, covariance, strict=False):
        assert line == pytest.approx([wider * each for each in theirs[:3]], abs=1e-7)


def widening(degrees: int) -> float:
    """Return the factor on variances: Student's t with one more degree of freedom over the normal quantile, squared."""
    return (t_quantile(degrees + 1.0) / Z_95) ** 2


@pytest.mark.parametrize(("share", "quantile"), [(75, 0.674489750), (90, 1.281551566), (99, 2.326347874)])
def test_without_a_prior_a_pair_is_as_far_apart_as_the_normal_quantile(share: int, quantile: float) -> None:
    """The difference of two players is z(share won) times sqrt 2 beta, with quantiles from a printed table."""
    found = fit_of("ab", pairings_of(repeated("a", "b", wins=share, losses=100 - share)), NO_PRIOR)

    scale = math.sqrt(2.0) * NO_PRIOR.beta
    assert (found.mean("a") - found.mean("b")) / scale == pytest.approx(quantile, abs=1e-7)


@settings(max_examples=60)
@given(st.lists(matches_of_two, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_the_matches_changes_no_byte(results: list[Result], rng: random.Random) -> None:
    """Any order of the same matches gives the same table and exactly the same fit."""
    shuffled = list(results)
    rng.shuffle(shuffled)

    found, again = (fit_of(NAMES, pairings_of(order)) for order in (results, shuffled))

    assert repr(found) == repr(again)


@settings(max_examples=40)
@given(st.lists(matches_of_two, min_size=1, max_size=30))
def test_a_draw_brings_two_players_nearer_to_each_other(results: list[Result]) -> None:
    """One more draw between the two furthest apart never moves them further apart."""
    before = fit_of(NAMES, pairings_of(results), FIXED_SEATS)
    best, *_, worst = order_of(before)

    after = fit_of(NAMES, pairings_of([*results, ((best, worst), (0, 0))]), FIXED_SEATS)

    assert after.mean(best) - after.mean(worst) <= before.mean(best) - before.mean(worst) + 1e-9


@settings(max_examples=40)
@given(st.lists(matches_of_two, max_size=30))
def test_results_that_look_the_same_for_all_give_equal_skills(results: list[Result]) -> None:
    """With every match also played under all rotations of the names, nobody is better."""
    turned = [
        (tuple(NAMES[(NAMES.index(player) + by) % 4] for player in seats), ranks)
        for seats, ranks in results
        for by in range(4)
    ]

    found = fit_of(NAMES, pairings_of(turned))

    assert found.means == pytest.approx([25.0] * 4, abs=1e-9)
    assert order_of(found) == NAMES


def test_players_whom_nothing_connects_are_not_compared() -> None:
    """Two groups are reported, and the likelihood to be better is undefined between them."""
    results = repeated("ann", "bob", wins=5) + repeated("cid", "dot", wins=5)

    found = fit_of((*NAMES, "eve"), pairings_of(results))

    assert found.groups == (("ann", "bob"), ("cid", "dot"), ("eve",))
    assert len(found.groups) > 1
    assert found.likelihood_better("ann", "dot") is None
    assert found.likelihood_better("eve", "ann") is None
    better = found.likelihood_better("ann", "bob")
    assert better is not None
    assert better > 0.85


def test_the_likelihoods_of_both_sides_add_up_to_1() -> None:
    """Likelihood to be better: more for the better one, a half against oneself."""
    found = fit_of(NAMES[:2], pairings_of(repeated("ann", "bob", wins=6, losses=4)))

    one, other = found.likelihood_better("ann", "bob"), found.likelihood_better("bob", "ann")
    assert one is not None
    assert other is not None
    assert one + other == pytest.approx(1.0)
    assert 0.5 < one < 0.9
    assert found.likelihood_better("ann", "ann") == 0.5


def test_the_seat_advantage_is_found_and_can_be_switched_off() -> None:
    """The first of two equal players wins 76 %: 26 points in the first seat, as much the other way in the second."""
    results = repeated("ann", "bob", wins=760, losses=240) + repeated("bob", "ann", wins=760, losses=240)

    found, fixed = (fit_of(NAMES[:2], pairings_of(results), chosen) for chosen in (ProbitSettings(), FIXED_SEATS))

    first, second = found.seats
    assert first.points.value == pytest.approx(26.0, abs=0.5)
    assert first.points.error == pytest.approx(100 * Z_95 * math.sqrt(0.76 * 0.24 / 2000), rel=0.1)
    assert (second.skill.value, second.points.value) == pytest.approx((-first.skill.value, -first.points.value))
    assert found.means == pytest.approx([25.0, 25.0])
    assert fixed.seats == ()


def test_chances_add_up() -> None:
    """The chances of win, draw and loss add up to 1, even where one is next to 0."""
    found = fit_of(NAMES[:2], pairings_of(repeated("ann", "bob", wins=20_000)), ProbitSettings(beta=0.1))

    difference, _ = found.difference("ann", "bob")
    chances = chances_at(difference, found.settings.scale, found.settings.margin)

    assert chances.win + chances.draw + chances.loss == pytest.approx(1.0)
    assert 0.0 < chances.draw < 1e-6
    assert 0.0 < chances.loss < 1e-6


def test_the_pairs_of_a_match_of_three_hang_together() -> None:
    """In a random order of n the variance of one player's wins is (n^2 - 1) / 12, and not (n - 1) / 4: 8/9 for n = 3.

    So the variance of the fit is 8/9 of that of comparisons of weight 2/3 that do not hang together.
    """
    orders = [(NAMES[:3], ranks) for ranks in permutations(range(3)) for _ in range(400)]
    pairs = [
        result for one, other in combinations(NAMES[:3], 2) for result in repeated(one, other, wins=1200, losses=1200)
    ]

    three = fit_of(NAMES[:3], pairings_of(orders), NO_PRIOR)
    two = fit_of(NAMES[:3], pairings_of(pairs), NO_PRIOR)

    assert deviations(three)["ann"] / deviations(two)["ann"] == pytest.approx(math.sqrt(3 / 2 * 8 / 9), rel=1e-3)


def test_the_order_of_a_match_of_three_is_found() -> None:
    """Each seat gets an advantage of its own, and the order of the players is that of their places."""
    rotated = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    results: list[Result] = [
        (tuple(NAMES[player] for player in seats), tuple(seats)) for seats in rotated for _ in range(10)
    ]

    found = fit_of(NAMES[:3], pairings_of(results))

    assert order_of(found) == NAMES[:3]
    assert [seat.skill.value for seat in found.seats] == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)


def test_a_fit_of_many_players_takes_fewer_steps_to_the_same_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fit starts from the skills of tiers, also if a player has no match."""
    skills = {f"p{number:02}": 25.0 + 2.0 * number for number in range(70)}
    table = table_of([*skills, "zoe"], mirrored(skills, random.Random(1), per_pairing=1, first_seat=1.0))
    steps: list[int] = []

    def counted(matrix: Floats, right: Floats) -> Floats:
        steps.append(len(matrix))
        return solve(matrix, right)

    monkeypatch.setattr(newton, "solve", counted)

    expected = newton.maximise(table.design(ProbitSettings()), table.counts().reshape(-1, 3)).parameters
    from_centre = steps.count(len(expected))
    found = fit(table)

    assert found.means == pytest.approx((expected[:71] - expected[:71].mean() + 25.0).tolist(), abs=1e-9)
    assert found.seat_effects == pytest.approx(expected[71:].tolist(), abs=1e-9)
    assert steps.count(len(expected)) - from_centre <= from_centre - 1


def test_luck_that_is_mirrored_narrows_the_errors_of_players_and_widens_those_of_seats() -> None:
    """Blocks that all end one to one tell much of their players, nothing of others, and of seats as 500 matches do."""
    alike = [blocks("ann", "bob", [(number % 2, 1 - number % 2) for number in range(500)])]
    coins = [blocks("ann", "bob", [(number & 1, number >> 1 & 1) for number in range(500)])]

    plain, narrow = (fit_of(NAMES[:3], played, FIXED_SEATS) for played in (coins, alike))
    (first, _), (wide, _) = (fit_of(NAMES[:2], played).seats for played in (coins, alike))

    assert narrow.means == pytest.approx(plain.means)
    assert narrow.difference("ann", "bob")[1] < plain.difference("ann", "bob")[1] / 3
    assert narrow.covariance[2][2] == pytest.approx(widening(499) * ProbitSettings().sigma ** 2)
    for error, doubled in ((first.skill.error, wide.skill.error), (first.points.error, wide.points.error)):
        assert doubled == pytest.approx(math.sqrt(2.0) * error, rel=0.05)


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


def test_a_course_of_another_size_is_refused(golden: Golden) -> None:
    """A block of two players without four ranks raises ValueError."""
    with golden.raises(ValueError):
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
