"""The batch fit: known answers from elsewhere, and what must hold for any results."""

import math
import random
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statistics_leagues import mirrored, repeated, table_of
from statistics_oracle import most_likely

from arena.statistics.model import ProbitSettings
from arena.statistics.pairs import Result, pair_table
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

    found = fit(pair_table(NAMES[:3], results), chosen)

    expected, covariance = most_likely(NAMES[:3], results, chosen)
    assert found.means == pytest.approx(expected[:3], abs=1e-9)
    assert found.seats[0].skill == pytest.approx(expected[3], abs=1e-9)
    assert found.seats[0].error == pytest.approx(math.sqrt(covariance[3][3]), abs=1e-8)
    for line, theirs in zip(found.covariance, covariance, strict=False):
        assert line == pytest.approx(theirs[:3], abs=1e-7)


@pytest.mark.parametrize(("share", "quantile"), [(75, 0.674489750), (90, 1.281551566), (99, 2.326347874)])
def test_without_a_prior_a_pair_is_as_far_apart_as_the_normal_quantile(share: int, quantile: float) -> None:
    """The known answer of a probit: z(share won) times sqrt 2 beta; quantiles from a printed table."""
    table = pair_table("ab", repeated("a", "b", wins=share, losses=100 - share))

    found = fit(table, NO_PRIOR)

    scale = math.sqrt(2.0) * NO_PRIOR.beta
    assert (found.mean("a") - found.mean("b")) / scale == pytest.approx(quantile, abs=1e-7)


def test_the_chain_of_a_manual_is_symmetric_about_its_middle() -> None:
    """Ordo's example (A 75 % v B, B 75 % v C, A 90 % v C) in the probit model: the root of its one equation."""
    results = (
        repeated("a", "b", wins=75, losses=25)
        + repeated("b", "c", wins=75, losses=25)
        + repeated("a", "c", wins=90, losses=10)
    )

    found = fit(pair_table("abc", results), NO_PRIOR)

    x = (found.mean("a") - found.mean("b")) / (math.sqrt(2.0) * NO_PRIOR.beta)
    normal = NormalDist()
    near = normal.pdf(x) * (0.75 - normal.cdf(x)) / (normal.cdf(x) * normal.cdf(-x))
    far = normal.pdf(2 * x) * (0.90 - normal.cdf(2 * x)) / (normal.cdf(2 * x) * normal.cdf(-2 * x))
    assert 2 * near + 2 * far == pytest.approx(0.0, abs=1e-7)
    assert found.mean("b") == pytest.approx(25.0, abs=1e-6)
    assert found.mean("a") - 25.0 == pytest.approx(25.0 - found.mean("c"), abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.lists(matches_of_two, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_the_matches_changes_no_byte(results: list[Result], rng: random.Random) -> None:
    """Any order of the same matches gives the same table and exactly the same fit."""
    shuffled = list(results)
    rng.shuffle(shuffled)

    found, again = (fit(pair_table(NAMES, order)) for order in (results, shuffled))

    assert repr(found) == repr(again)


@settings(max_examples=40, deadline=None)
@given(st.lists(matches_of_two, min_size=1, max_size=30))
def test_a_draw_brings_two_players_nearer_to_each_other(results: list[Result]) -> None:
    """One more draw between the two furthest apart never moves them further apart."""
    before = fit(pair_table(NAMES, results), FIXED_SEATS)
    best, *_, worst = before.ranking()

    after = fit(pair_table(NAMES, [*results, ((best, worst), (0, 0))]), FIXED_SEATS)

    assert after.mean(best) - after.mean(worst) <= before.mean(best) - before.mean(worst) + 1e-9


@settings(max_examples=40, deadline=None)
@given(st.lists(matches_of_two, max_size=30))
def test_results_that_look_the_same_for_all_give_equal_skills(results: list[Result]) -> None:
    """With every match also played under all rotations of the names, nobody is better."""
    turned = [
        (tuple(NAMES[(NAMES.index(player) + by) % 4] for player in seats), ranks)
        for seats, ranks in results
        for by in range(4)
    ]

    found = fit(pair_table(NAMES, turned))

    assert found.means == pytest.approx([25.0] * 4, abs=1e-9)
    assert found.ranking() == NAMES


def test_players_whom_nothing_connects_are_not_compared() -> None:
    """Two groups are reported, and the likelihood to be better is undefined between them."""
    results = repeated("ann", "bob", wins=5) + repeated("cid", "dot", wins=5)

    found = fit(pair_table((*NAMES, "eve"), results))

    assert found.groups == (("ann", "bob"), ("cid", "dot"), ("eve",))
    assert not found.is_connected
    assert found.likelihood_better("ann", "dot") is None
    assert found.likelihood_better("eve", "ann") is None
    better = found.likelihood_better("ann", "bob")
    assert better is not None
    assert better > 0.9


def test_a_chain_of_matches_connects_whoever_is_in_it() -> None:
    """Two who never met are compared through a third, in whichever order their matches come."""
    found = fit(pair_table(NAMES[:3], repeated("ann", "cid", wins=3) + repeated("bob", "cid", losses=3)))

    assert found.groups == (NAMES[:3],)
    better = found.likelihood_better("ann", "bob")
    assert better is not None
    assert better > 0.9


def test_the_likelihoods_of_both_sides_add_up_to_1() -> None:
    """Likelihood to be better: more for the better one, a half against oneself."""
    found = fit(pair_table(NAMES[:2], repeated("ann", "bob", wins=6, losses=4)))

    one, other = found.likelihood_better("ann", "bob"), found.likelihood_better("bob", "ann")
    assert one is not None
    assert other is not None
    assert one + other == pytest.approx(1.0)
    assert 0.5 < one < 0.9
    assert found.likelihood_better("ann", "ann") == 0.5


def test_the_seat_advantage_is_found_and_can_be_switched_off() -> None:
    """The first of two equal players wins 76 %: 26 points in the first seat, as much the other way in the second."""
    results = repeated("ann", "bob", wins=760, losses=240) + repeated("bob", "ann", wins=760, losses=240)

    found, fixed = (fit(pair_table(NAMES[:2], results), chosen) for chosen in (ProbitSettings(), FIXED_SEATS))

    first, second = found.seats
    assert first.points == pytest.approx(26.0, abs=0.5)
    assert first.points_error == pytest.approx(100 * math.sqrt(0.76 * 0.24 / 2000), rel=0.1)
    assert (second.skill, second.points) == pytest.approx((-first.skill, -first.points))
    assert found.means == pytest.approx([25.0, 25.0])
    assert fixed.seats == ()
    assert found.chances("ann", "bob", seats=(0, 1)).score == pytest.approx(0.76, abs=0.005)


def test_chances_add_up_and_a_forecast_is_less_sure() -> None:
    """Chances sum to 1 even where they are next to nothing; doubt about the skills pulls them to the middle."""
    found = fit(pair_table(NAMES[:2], repeated("ann", "bob", wins=20_000)), ProbitSettings(beta=0.1))

    chances, forecast = found.chances("ann", "bob"), found.forecast("ann", "bob")

    assert chances.win + chances.draw + chances.loss == pytest.approx(1.0)
    assert 0.0 < chances.draw < 1e-6
    assert 0.0 < chances.loss < 1e-6
    assert 0.5 < forecast.score < chances.score


def test_a_small_design_effect_narrows_what_matches_tell_but_not_the_prior() -> None:
    """A quarter of the variance halves the errors of who played a lot, and leaves who did not play alone."""
    table = pair_table(NAMES[:3], repeated("ann", "bob", wins=500, losses=500))

    plain = fit(table, FIXED_SEATS)
    quarter = fit(table, FIXED_SEATS, inflation=0.25)

    def error(found: ProbitFit) -> float:
        (aa, ab, *_), (_, bb, *_), _ = found.covariance
        return math.sqrt(aa + bb - 2 * ab)

    assert quarter.means == plain.means
    assert error(quarter) == pytest.approx(error(plain) / 2, rel=0.01)
    assert quarter.covariance[2][2] == pytest.approx(ProbitSettings().sigma ** 2)


def test_seats_have_a_design_effect_of_their_own() -> None:
    """Four times the variance of the seats' scores doubles the error of the seat advantage, and no other."""
    table = pair_table(
        NAMES[:2], repeated("ann", "bob", wins=300, losses=200) + repeated("bob", "ann", wins=300, losses=200)
    )

    plain, wide = fit(table), fit(table, seat_inflation=4.0)

    assert wide.seats[0].error == pytest.approx(2 * plain.seats[0].error, rel=0.01)
    assert wide.seats[0].points_error == pytest.approx(2 * plain.seats[0].points_error, rel=0.01)
    assert wide.deviations == pytest.approx(plain.deviations)


def test_a_match_of_three_counts_as_two_comparisons() -> None:
    """Three pairs of weight 2/3: the errors are those of two matches of two for each three pairs."""
    three = fit(pair_table(NAMES[:3], [(NAMES[:3], (0, 0, 0))] * 200), FIXED_SEATS)
    pairs = repeated("ann", "bob", draws=200) + repeated("bob", "cid", draws=200) + repeated("ann", "cid", draws=200)
    two = fit(pair_table(NAMES[:3], pairs), FIXED_SEATS)

    assert three.deviation("ann") == pytest.approx(two.deviation("ann") * math.sqrt(1.5), rel=0.01)


def test_the_order_of_a_match_of_three_is_found() -> None:
    """Each seat gets an advantage of its own, and the order of the players is that of their places."""
    rotated = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    results: list[Result] = [
        (tuple(NAMES[player] for player in seats), tuple(seats)) for seats in rotated for _ in range(10)
    ]

    found = fit(pair_table(NAMES[:3], results))

    assert found.ranking() == NAMES[:3]
    assert [seat.skill for seat in found.seats] == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)


def test_errors_are_as_wide_as_they_say() -> None:
    """In 60 made-up leagues of 8 players about 95.4 % of the true skills are within 2 standard deviations."""
    within = []
    for league in range(60):
        rng = random.Random(league)
        skills = {f"p{place}": rng.gauss(25.0, 1.5) for place in range(8)}
        level = 25.0 - math.fsum(skills.values()) / 8

        found = fit(table_of(mirrored(skills, rng, per_pairing=20, first_seat=1.0)))

        within += [abs(found.mean(p) - skills[p] - level) < 2 * found.deviation(p) for p in skills]
    assert 0.93 < sum(within) / len(within) < 0.98
