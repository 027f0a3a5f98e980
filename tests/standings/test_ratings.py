"""Ratings: the known answers of TrueSkill, both roads to them, and what must hold for any results."""

import math
from collections.abc import Sequence
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
import trueskill
from hypothesis import given
from hypothesis import strategies as st
from support.golden import Golden

from arena.errors import SpecError
from arena.standings import ratings
from arena.standings.ratings import (
    Belief,
    Rating,
    RatingSettings,
    Result,
    advance,
    newcomers,
    rate,
    rate_by_factor_graph,
    recentre,
    validate,
)

DEFAULT_TAU = 25.0 / 300.0
ROADS = [rate, rate_by_factor_graph]
PLAYERS = ("ann", "bob", "cid", "dot")

# The package's defaults (draw probability 0.1), all players new; (ranks, [(mu, sigma), ...]).
WITH_TAU = [
    ((0, 1), [(29.395831693, 7.171475807), (20.604168307, 7.171475807)]),
    ((1, 0), [(20.604168307, 7.171475807), (29.395831693, 7.171475807)]),
    ((0, 0), [(25.0, 6.457515683), (25.0, 6.457515683)]),
    ((0, 1, 2), [(31.675351912, 6.655985808), (25.0, 6.207896944), (18.324648088, 6.655985808)]),
    ((0, 0, 1), [(27.551961150, 5.974128315), (27.557337578, 5.972006730), (19.890701272, 6.735245261)]),
    (
        (0, 0, 1, 2),
        [
            (29.263003785, 5.685948784),
            (29.271984900, 5.682473443),
            (23.832732636, 5.806540267),
            (17.632278679, 6.426386615),
        ],
    ),
]
WITHOUT_TAU = [
    ((0, 1), [(29.395575651, 7.171141464), (20.604424349, 7.171141464)]),
    ((0, 0), [(25.0, 6.457235982), (25.0, 6.457235982)]),
    ((0, 1, 2), [(31.674966178, 6.655689113), (25.0, 6.207635164), (18.325033822, 6.655689113)]),
    ((0, 0, 1), [(27.551812924, 5.973886007), (27.557189470, 5.971764419), (19.890997607, 6.734942831)]),
]
KNOWN = [(DEFAULT_TAU, *case) for case in WITH_TAU] + [(0.0, *case) for case in WITHOUT_TAU]


def closed_form(chosen: RatingSettings) -> Any:
    """The update of a match of two, by ratings."""

    def update(old: Sequence[Rating], ranks: tuple[int, ...]) -> list[Rating]:
        beliefs = dict(zip(PLAYERS, map(belief, old), strict=False))
        return as_ratings([*advance(beliefs, [(PLAYERS[:2], ranks)], chosen).values()])

    return update


def factor_graph(chosen: RatingSettings) -> Any:
    """The package's update, by ratings."""
    update = ratings._factor_graph(chosen)
    return lambda old, ranks: as_ratings(update([belief(rating) for rating in old], ranks))


def belief(rating: Rating) -> Belief:
    return rating.mu, rating.sigma**2


def as_ratings(beliefs: Sequence[Belief]) -> list[Rating]:
    return [Rating(mean, math.sqrt(variance)) for mean, variance in beliefs]


def pairs(found: Sequence[Rating]) -> list[Any]:
    return [pytest.approx((rating.mu, rating.sigma), abs=2e-9, rel=0.0) for rating in found]


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize(("tau", "ranks", "expected"), KNOWN)
def test_new_players_get_the_known_answers(
    road: Any, tau: float, ranks: tuple[int, ...], expected: list[tuple[float, float]]
) -> None:
    """Both roads reach the published numbers to the last digit given."""
    players = PLAYERS[: len(ranks)]

    table = road(players, [(players, ranks)], RatingSettings(tau=tau, draw_probability=0.1))

    assert expected == pairs([table[player] for player in players])


beliefs = st.builds(Rating, mu=st.floats(0.0, 50.0), sigma=st.floats(0.05, 10.0))
constants = st.builds(
    RatingSettings,
    mu=st.sampled_from((25.0, 1500.0)),
    beta=st.floats(1.0, 20.0),
    tau=st.sampled_from((0.0, DEFAULT_TAU)),
    draw_probability=st.floats(0.01, 0.5),
)


@given(beliefs, beliefs, st.sampled_from(((0, 1), (1, 0), (0, 0))), constants)
def test_the_closed_form_is_what_the_package_computes(
    first: Rating, second: Rating, ranks: tuple[int, int], chosen: RatingSettings
) -> None:
    """For any two players and constants it agrees with the package's own accurate environment.

    Where the gap is over 8 deviations the package itself loses digits in `1 - w`, so such pairs stay near it.
    """
    env = trueskill.TrueSkill(25.0, 25 / 3, chosen.beta, chosen.tau, chosen.draw_probability, ratings._STDLIB)
    scale = math.sqrt(2 * chosen.beta**2 + first.sigma**2 + second.sigma**2)
    second = Rating(max(second.mu, first.mu - 8 * scale), second.sigma)
    second = Rating(min(second.mu, first.mu + 8 * scale), second.sigma)

    found = closed_form(chosen)([first, second], ranks)

    groups = env.rate([(env.create_rating(r.mu, r.sigma),) for r in (first, second)], ranks)
    for rating, (package,) in zip(found, groups, strict=True):
        assert (rating.mu, rating.sigma) == pytest.approx((package.mu, package.sigma), abs=1e-9, rel=0.0)


@st.composite
def leagues(draw: st.DrawFn) -> list[Result]:
    seats = st.permutations(PLAYERS).flatmap(lambda names: st.integers(2, 4).map(lambda n: tuple(names[:n])))
    played = draw(st.lists(seats, max_size=25))
    return [(names, tuple(draw(st.integers(0, 2)) for _ in names)) for names in played]


@given(leagues(), constants)
def test_both_roads_agree_on_a_league(results: list[Result], chosen: RatingSettings) -> None:
    """Matches of two to four players mixed."""
    quick, slow = rate(PLAYERS, results, chosen), rate_by_factor_graph(PLAYERS, results, chosen)

    for player in PLAYERS:
        assert quick[player].mu == pytest.approx(slow[player].mu, abs=1e-8)
        assert quick[player].sigma == pytest.approx(slow[player].sigma, abs=1e-8)


@given(leagues())
def test_an_anchor_moves_everybody_by_one_amount(results: list[Result]) -> None:
    """The anchor stays at mu, all differences and all sigmas stay what they were."""
    free = rate(PLAYERS, results, RatingSettings())

    held = rate(PLAYERS, results, RatingSettings(anchor="bob"))

    assert held["bob"].mu == pytest.approx(25.0, abs=1e-9)
    for player in PLAYERS:
        assert held[player].mu - held["bob"].mu == pytest.approx(free[player].mu - free["bob"].mu, abs=1e-9)
        assert held[player].sigma == free[player].sigma


@given(leagues(), st.permutations(PLAYERS))
def test_the_order_of_the_players_does_not_matter(results: list[Result], order: list[str]) -> None:
    """Ratings are equal to the last bit for any order of players; only that of results may matter."""
    assert rate(order, results, RatingSettings()) == rate(PLAYERS, results, RatingSettings())


@given(leagues(), constants, st.integers(0, 25))
def test_parts_are_as_good_as_the_whole(results: list[Result], chosen: RatingSettings, cut: int) -> None:
    """Going on from what was believed after the first results gives the same numbers to the last bit, with mean mu."""
    first = advance(newcomers(PLAYERS, chosen), results[:cut], chosen)
    before = dict(first)

    found = recentre(advance(first, results[cut:], chosen), chosen)

    assert found == rate(PLAYERS, results, chosen)
    assert math.fsum(rating.mu for rating in found.values()) / len(found) == pytest.approx(chosen.mu, abs=1e-9)
    assert first == before


def test_who_has_not_played_keeps_the_first_rating() -> None:
    """Players without results keep the first rating; without players the table is empty."""
    assert rate(("ann", "bob"), [], RatingSettings())["ann"] == Rating(25.0, 25.0 / 3.0)
    assert rate((), [], RatingSettings()) == {}


def ordered_league() -> tuple[list[str], list[Result]]:
    """Sixty players of whom each always beats the next two: their order is soon beyond doubt."""
    names = [f"p{index:02}" for index in range(60)]
    neighbours = [(names[i], names[j]) for i in range(60) for j in (i + 1, i + 2) if j < 60]
    results: list[Result] = [(pair, (0, 1)) for pair in neighbours]
    return names, results * 100


@pytest.mark.parametrize("ranks", [(0, 1), (1, 0), (0, 0)])
def test_a_gap_beyond_floats_is_rated_all_the_same(ranks: tuple[int, int]) -> None:
    """With a tiny beta, two players over 38 deviations apart meet: expected win, upset and draw have a rating."""
    names, results = ordered_league()
    tiny = RatingSettings(beta=0.084, anchor="p30")
    before = rate(names, results, tiny)
    high, low = before["p12"], before["p55"]
    gap, variance = high.mu - low.mu, 2 * tiny.beta**2 + high.sigma**2 + low.sigma**2

    after = rate(names, [*results, (("p12", "p55"), ranks)], tiny)

    # The limit for large gaps: what was expected tells nothing, what was not pulls the gap to what noise explains.
    left = gap if ranks == (0, 1) else gap * 2 * tiny.beta**2 / variance
    assert gap / math.sqrt(variance) > 40
    assert after["p12"].mu - after["p55"].mu == pytest.approx(left, rel=0.01)


@given(st.floats(-60.0, 60.0) | st.floats(-3000.0, 3000.0), st.floats(-5.0, 1.0).map(lambda power: 10.0**power))
def test_update_terms_keep_their_digits_in_the_tails(gap: float, margin: float) -> None:
    """The oracle is mpmath with 80 digits: v, and the variance that a result leaves, 1 - w."""
    with mpmath.workdps(80):
        x, low, high = mpmath.mpf(gap) - margin, -mpmath.mpf(margin) - abs(gap), mpmath.mpf(margin) - abs(gap)
        win = mpmath.npdf(x) / mpmath.ncdf(x)
        chance = mpmath.ncdf(high) - mpmath.ncdf(low)
        draw = (mpmath.npdf(low) - mpmath.npdf(high)) / chance
        left = 1 - draw**2 - (high * mpmath.npdf(high) - low * mpmath.npdf(low)) / chance

        v, w = ratings._win_terms(gap - margin)
        drawn_v, drawn_w = ratings._draw_terms(gap, margin)

        assert v == pytest.approx(float(win), rel=1e-11, abs=1e-300)
        assert w == pytest.approx(float(win * (win + x)), abs=1e-9)
        assert abs(drawn_v) == pytest.approx(abs(float(draw)), rel=1e-8, abs=1e-9)
        assert 1.0 - drawn_w == pytest.approx(float(left), rel=1e-2)
        assert drawn_w < 1.0


def test_both_roads_agree_beyond_floats() -> None:
    """Neither way loses digits, for any number of players."""
    chosen = RatingSettings()
    far, near = Rating(600.0, 1.0), Rating(0.0, 1.0)

    quick = closed_form(chosen)([near, far], (0, 1))
    slow = factor_graph(chosen)([near, far], (0, 1))
    three = factor_graph(chosen)([near, far, near], (0, 1, 2))

    for one, other in zip(quick, slow, strict=True):
        assert (one.mu, one.sigma) == pytest.approx((other.mu, other.sigma), rel=1e-9)
    assert quick[0].mu == pytest.approx(near.mu + 600 / (2 * chosen.beta**2 + 2), rel=0.01)
    assert all(math.isfinite(rating.mu) for rating in three)


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        (RatingSettings(draw_probability=0.0), "rating.draw_probability: expected 0.001 to 0.5, found 0.0"),
        (RatingSettings(draw_probability=math.nan), "rating.draw_probability: expected a finite number"),
        (RatingSettings(sigma=0.0), "rating.sigma: expected a number above 0"),
        (RatingSettings(beta=0.0), "rating.beta: expected 0.0833333 to 833.333"),
        (RatingSettings(tau=-0.1), "rating.tau: expected 0 or more"),
        (RatingSettings(anchor="anne"), 'rating.anchor: unknown player "anne"; known: ann, bob; did you mean "ann"?'),
    ],
)
def test_settings_that_cannot_be_used_are_refused(bad: RatingSettings, found: str) -> None:
    """The error has the place, the value found and the value expected; `rate` raises it before any rating."""
    with pytest.raises(SpecError) as refused:
        validate(bad, ("ann", "bob"))
    with pytest.raises(SpecError):
        rate(("ann", "bob"), [], bad)

    assert found in str(refused.value)


@pytest.mark.parametrize("seats", [("ann",), ("ann", "ann"), ()])
def test_a_match_against_oneself_has_no_rating(seats: tuple[str, ...], golden: Golden) -> None:
    """Two seats of one player would overwrite each other without a word."""
    with golden.raises(ValueError):
        rate(PLAYERS, [(seats, tuple(range(len(seats))))], RatingSettings())


def test_a_stranger_has_no_rating() -> None:
    """A result of somebody who does not take part is damage, not a new player."""
    with pytest.raises(KeyError, match="eve"):
        rate(PLAYERS, [(("ann", "eve"), (0, 1))], RatingSettings())
