"""The batch skills of the standings: from counts what `arena.statistics` makes of blocks, and what is said of them."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise, permutations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.made_matches import SETTINGS, pairing_ranks, ranks_by_pairing
from support.standings_made import FIELD, NAMES, block_of, leagues, played, row, table
from support.statistics_leagues import deviations

from arena.match.results import MatchResult, PairingRanks, rotate
from arena.standings.match_table import match_table
from arena.standings.ratings import RatingSettings, rate
from arena.standings.skills import GrowingRanking, contradicted_pairs, fit_skills, points_of, skills
from arena.standings.sums import sums_of
from arena.standings.table import standings
from arena.statistics.comparisons import table_of
from arena.statistics.distributions import Z_95
from arena.statistics.pairs import comparisons
from arena.statistics.probit import ProbitFit, fit


@settings(max_examples=60)
@given(st.integers(2, 4).flatmap(leagues))
def test_comparisons_and_points_are_counted_as_match_by_match(results: list[MatchResult]) -> None:
    """Counts from block ranks, incomplete blocks included, equal those of single results."""
    expected: Counter[tuple[str, str, int, int, int]] = Counter()
    points: Counter[str] = Counter()
    for one in results:
        for (seat, name), (other_seat, other) in permutations(enumerate(one.players), 2):
            sign = (one.ranks[seat] < one.ranks[other_seat]) - (one.ranks[seat] > one.ranks[other_seat])
            points[name] += 1 + sign
            if name < other:
                expected[name, other, seat, other_seat, sign] += 1

    found = table_of(NAMES, ranks_by_pairing(results).values())

    occurred: Counter[tuple[str, str, int, int, int]] = Counter()
    for places, of_rows in zip(found.places.tolist(), found.counts().tolist(), strict=True):
        for compared, counts in zip(comparisons(found.seats), of_rows, strict=True):
            ends = [
                (NAMES[places[compared.first]], compared.first_seat),
                (NAMES[places[compared.second]], compared.second_seat),
            ]
            for sign, times in zip((1, 0, -1), counts, strict=True):
                (name, seat), (other, other_seat) = ends if ends[0] < ends[1] else ends[::-1]
                occurred[name, other, seat, other_seat, sign if ends[0] < ends[1] else -sign] += round(times)
    assert +occurred == expected
    for name, own in points_of(found, found.counts()).items():
        assert own.matches == sum(name in one.players for one in results)
        assert own.score == pytest.approx(points[name] / (2 * (found.seats - 1) * own.matches))


@settings(max_examples=30)
@given(st.integers(2, 4).flatmap(leagues))
def test_a_ranking_that_grows_begins_with_that_of_the_table(results: list[MatchResult]) -> None:
    """After its first round."""
    found = GrowingRanking(NAMES, SETTINGS)
    found.add([*ranks_by_pairing(results).values()])

    assert found.order() == [one.name for one in table(*results).rows if one.matches]


def growth(rng: random.Random, pairs: Sequence[tuple[str, str]]) -> list[PairingRanks]:
    """Blocks of these pairs."""
    return [pairing_ranks(pair, rng.choices(("0110", "1001", "0101", "0000", "0001", "0100"), k=5)) for pair in pairs]


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), rounds=st.integers(1, 6))
def test_after_each_round_the_skills_are_those_of_a_fit_from_scratch(seed: int, rounds: int) -> None:
    """Skills agree to the ninth decimal, by which ranks go; a pairing missing in the first round is refused."""
    rng, chosen, pairs = random.Random(seed), RatingSettings(draw_probability=0.3), [*combinations(NAMES, 2)]
    grown = GrowingRanking(NAMES, chosen)
    whole = growth(rng, pairs)
    grown.add(whole)
    for _ in range(rounds):
        new = growth(rng, rng.sample(pairs, k=3))
        whole += new
        grown.add(new)

        scratch, found = fit_skills(table_of(NAMES, whole), chosen), grown.skills()

        assert scratch is not None
        middle = sum(found.values()) / len(found)
        assert [found[name] - middle + 25.0 for name in NAMES] == pytest.approx(scratch.means, abs=1e-10)
    with pytest.raises(KeyError):
        grown.add(growth(rng, [("bob", "ann")]))


def league(seed: int, *, cycles: int = 20, skill: float = 3.0, seats: int = 2) -> list[MatchResult]:
    """A complete league in which later names are better; scores have a noise of 10."""
    rng = random.Random(seed)
    tables = list(combinations("abcd", seats))
    results = []
    for cycle in range(cycles):
        for number, letters in enumerate(tables):
            for rotation in range(seats):
                players = "".join(rotate(letters, rotation))
                scores = [round(rng.gauss(skill * "abcd".index(letter), 10)) for letter in players]
                results.append(played(players, scores, block=cycle * len(tables) + number, pairing=number))
    return results


def fit_of(results: list[MatchResult], chosen: RatingSettings = SETTINGS) -> ProbitFit:
    found = fit_skills(table_of(NAMES, ranks_by_pairing(results).values()), chosen)
    assert found is not None
    return found


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_row_has_the_skill_by_all_matches_at_once(seats: int) -> None:
    """Mean and error of the fit with the errors of blocks, which are not those of independent matches."""
    results = league(1, seats=seats)
    found = table(*results)
    expected = fit(table_of(NAMES, ranks_by_pairing(results).values()))
    doubts = deviations(expected)

    for name in NAMES:
        own = row(found, name)
        assert own.rating is not None
        assert own.rating.value == pytest.approx(expected.mean(name), abs=1e-9)
        assert own.rating.error == pytest.approx(Z_95 * doubts[name], abs=1e-9)
    assert found.seats == expected.seats
    assert found.design_effect == expected.effect is not None
    assert len(found.groups) == 1


def test_superiority_is_over_the_next_row() -> None:
    """The next row is that of the table's order; the last row has no value."""
    results = league(2)
    found = table(*results)
    order = [one.name for one in found.rows]

    expected = [fit_of(results).likelihood_better(one, other) for one, other in pairwise(order)]

    assert [one.los for one in found.rows] == [*expected, None]


def test_a_player_is_ahead_of_the_next_at_95_per_cent() -> None:
    """Two strong ones far above two weak ones: only the second of the strong ones is ahead."""
    results = [one for number, pair in enumerate(("ac", "ad", "bc", "bd")) for one in sure(number, pair)]

    found = table(*results)

    assert {one.name: one.ahead for one in found.rows} == {"ann": False, "bob": True, "cid": False, "dot": None}


def sure(pairing: int, pair: str) -> list[MatchResult]:
    """The first of the pair wins all 30 blocks."""
    return [one for block in range(30) for one in block_of(pairing, 30 * pairing + block, pair, 1, 1)]


def test_the_anchor_keeps_its_skill() -> None:
    """Differences stay; the error of the anchor is 0, and that of the others is of the difference."""
    results = league(3)
    chosen = RatingSettings(anchor="bob")

    free, held = skills(fit_of(results), SETTINGS), skills(fit_of(results, chosen), chosen)

    assert held["bob"].value == 25.0
    assert held["bob"].error == pytest.approx(0.0, abs=1e-6)
    for name in NAMES:
        assert held[name].value - held["bob"].value == pytest.approx(free[name].value - free["bob"].value, abs=1e-9)
    assert held["ann"].error > free["ann"].error


def test_who_has_not_played_makes_nobody_uncertain() -> None:
    """Errors are against those whom matches connect; with all connected that is the deviation of the fit."""
    results = [one for one in league(5) if "dot" not in one.players]
    fit_of_three = fit_skills(table_of(NAMES[:3], ranks_by_pairing(results).values()), SETTINGS)
    assert fit_of_three is not None

    four, three = skills(fit_of(results), SETTINGS), skills(fit_of_three, SETTINGS)

    for name in NAMES[:3]:
        assert four[name].error == pytest.approx(three[name].error, rel=1e-6)
        assert three[name].error == pytest.approx(Z_95 * deviations(fit_of_three)[name], rel=1e-6)
        assert four[name].value == pytest.approx(three[name].value, abs=1e-6)
    assert four["dot"].value == pytest.approx(25.0)


def test_an_order_that_all_matches_contradict_is_told() -> None:
    """Ratings that put the best last: every pair of which the fit is sure; none where they agree."""
    results = league(4, cycles=60, skill=6.0)
    upside_down = rate(NAMES, [(one.players, one.ranks[::-1]) for one in results], SETTINGS)

    wrong = standings(FIELD, sums_of(match_table(results)), upside_down, SETTINGS, scheduled=len(results))

    assert ("ann", "dot") in wrong.contradictions
    assert table(*results).contradictions == ()
    assert contradicted_pairs(NAMES[::-1], fit_of(results)) == ()


def test_a_field_too_large_for_the_fit_goes_without() -> None:
    """The ratings are there all the same, and the groups."""
    names = [f"p{number:04}" for number in range(1001)]
    field = [msgspec.structs.replace(FIELD[0], name=name) for name in names]
    results = [msgspec.structs.replace(played("ab", (1, 0)), players=("p0000", "p0001"))]

    found = standings(field, sums_of(match_table(results)), rate(names, [], SETTINGS), SETTINGS, scheduled=1)

    assert (found.rows[0].rating, found.sorted_by) == (None, "mu")
    assert [one.rank for one in found.rows[:3]] == [1, 2, None]
    assert found.groups[0] == ("p0000", "p0001")
