"""Standings: every column by hand, and what must hold for any league."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.golden import Golden
from support.made_matches import SETTINGS, ranks_by_pairing
from support.standings_made import FIELD, NAMES, block_of, forfeited, leagues, played, row, table
from support.standings_reference import draw_rate, reference, times

from arena.match.results import MatchResult
from arena.standings.match_table import match_table
from arena.standings.ratings import Rating, RatingSettings, rate
from arena.standings.rows import Row, rank_rows
from arena.standings.scores import Mean
from arena.standings.skills import fit_skills
from arena.standings.sums import sums_of
from arena.standings.table import Standings, standings, standings_json, timing
from arena.statistics.comparisons import table_of


def value(found: Mean | None) -> float | None:
    return None if found is None else found.value


def error(found: Mean | None) -> float | None:
    return None if found is None else found.standard_error


def test_a_row_counts_wins_draws_and_losses() -> None:
    """Score, margin, seats and totals of a small league, by hand."""
    found = table(
        played("ab", (7, 3), block=0),
        played("ba", (5, 5), block=0),
        played("ab", (1, 2), block=1),
        played("ba", (0, 6), block=1),
    )

    ann, bob = row(found, "ann"), row(found, "bob")
    assert (ann.matches, ann.wins, ann.draws, ann.losses, value(ann.score)) == (4, 2, 1, 1, 0.625)
    assert (bob.matches, bob.wins, bob.draws, bob.losses, value(bob.score)) == (4, 1, 1, 2, 0.375)
    assert (value(ann.margin), value(bob.margin)) == (2.25, -2.25)
    assert (ann.score_by_seat, bob.score_by_seat) == ((0.5, 0.75), (0.25, 0.5))
    assert (ann.bot, ann.version, ann.hash) == ("annbot", "1.0", "ann" * 8)
    assert (found.matches, found.scheduled, found.draw_rate) == (4, 4, 0.25)


def test_a_league_that_has_not_begun_has_a_table() -> None:
    """The table has all players, without ranks and numbers."""
    found = table(scheduled=10)

    assert [(row.rank, row.name) for row in found.rows] == [(None, name) for name in NAMES]
    assert (found.draw_rate, found.is_complete, found.sorted_by) == (None, False, "rating")


def test_faults_come_in_the_order_of_the_terminations() -> None:
    """Only faults that happened are listed, in whatever order they happened."""
    kinds = ("crash", "timeout", "illegal_action", "crash")

    found = table(*(forfeited("ab", kind, 0, block=block) for block, kind in enumerate(kinds)))

    assert list(row(found, "ann").faults.items()) == [("illegal_action", 1), ("timeout", 1), ("crash", 2)]


def test_ranks_are_by_map_in_every_league() -> None:
    """Complete or not; also where mu, which knows an order of matches, says otherwise."""
    results = [one for block in range(9) for one in block_of(0, block, "ab", 1, block % 3 > 0)]
    results += [one for block in range(9, 18) for one in block_of(1, block, "bc", 1, block % 2)]
    ratings = {name: Rating(float(place), 1.0) for place, name in enumerate(NAMES)}

    for scheduled in (len(results), 100):
        found = standings(FIELD, sums_of(match_table(results)), ratings, SETTINGS, scheduled=scheduled)
        assert [(one.rank, one.name) for one in found.rows] == [(1, "ann"), (2, "bob"), (3, "cid"), (None, "dot")]
        assert (found.sorted_by, found.is_complete) == ("rating", scheduled == len(results))
        assert ("cid", "ann") in found.contradictions


def test_equal_values_share_the_rank_and_stand_by_name() -> None:
    """1, 1, 3: a rank tells how many are better."""
    found = table(*block_of(0, 0, "ca", 1, 1), *block_of(1, 1, "cb", 1, 1))

    assert [(r.rank, r.name) for r in found.rows[:3]] == [(1, "cid"), (2, "ann"), (2, "bob")]


def test_equal_map_goes_by_the_score() -> None:
    """Players with equal ratings are ordered by score before name."""
    rows = [row(table(played("ab", (1, 0)), played("cd", (1, 0), block=1, pairing=1)), name) for name in ("ann", "bob")]
    alike = [replace(one, matches=1) for one in rows]
    fit = fit_skills(table_of(["ann", "bob"], ranks_by_pairing([played("ab", (1, 1))]).values()), SETTINGS)
    assert fit is not None

    found = rank_rows(alike[::-1], [("ann", "bob")], fit, SETTINGS)

    assert [(one.rank, one.name) for one in found] == [(1, "ann"), (2, "bob")]


def test_groups_that_nothing_connects_have_ranks_of_their_own() -> None:
    """The larger group first, whatever the skills in it; nobody is ahead of a player they cannot be compared with."""
    results = [one for block in range(30) for one in block_of(1, block, "cd", 1, 1)]
    found = table(*results, *block_of(0, 30, "ab", 1, 0), field=FIELD)

    assert [(one.group, one.rank, one.name) for one in found.rows] == [
        *((1, 1, "ann"), (1, 1, "bob"), (2, 1, "cid"), (2, 2, "dot"))
    ]
    assert [one.ahead for one in found.rows] == [False, None, True, None]


@pytest.mark.parametrize(
    ("results", "scheduled", "found"),
    [
        ([msgspec.structs.replace(played("ab", (1, 0)), players=("ann", "eve"))], 1, "no entrants: eve"),
        ([played("ab", (1, 0), block=block) for block in (0, 1)], 1, "2 results for 1 scheduled"),
        ([played("ab", (1, 0))] * 2, 2, "match p0-0-0 of ann, bob is there twice"),
        (
            [played("abc", (2, 1, 0)), played("bac", (2, 1, 0), block=1)],
            2,
            "bob, ann, cid do not sit in a rotation of ann, bob, cid",
        ),
        ([played("abc", (2, 1, 0)), played("ab", (1, 0), pairing=1)], 2, "matches of 2 and of 3 players"),
    ],
)
def test_results_of_no_such_league_are_refused(results: list[MatchResult], scheduled: int, found: str) -> None:
    """A void match never counts, and nothing else is left out or made up either."""
    ratings = rate(NAMES, [], SETTINGS)

    with pytest.raises(ValueError, match=found):
        standings(FIELD, sums_of(match_table(results)), ratings, SETTINGS, scheduled=scheduled)


def test_two_entrants_of_one_name_are_refused(golden: Golden) -> None:
    """Their results could not be told apart."""
    with golden.raises(ValueError):
        table(field=(FIELD[0], FIELD[0]))


@given(st.integers(2, 4).flatmap(leagues), st.randoms(use_true_random=False))
def test_equal_results_give_identical_bytes(results: list[MatchResult], rng: Any) -> None:
    """Whatever the order in which matches ended, the time they took, and the order of entrants and pairings."""
    times = [(rng.randrange(10**6),) * len(one.players) for one in results]
    finished = [replace(one, time_us=us, slowest_us=us) for one, us in zip(results, times, strict=True)]
    ratings = rate(NAMES, [(one.players, one.ranks) for one in results], SETTINGS)
    shuffled = rng.sample(finished, len(finished))
    other = standings(
        rng.sample(FIELD, len(FIELD)),
        sums_of(match_table(shuffled)),
        ratings,
        SETTINGS,
        scheduled=60,
    )

    assert standings_json(other) == standings_json(table(*results, scheduled=60))


def rounded(value: Any) -> Any:
    """Round numbers to the digits on which two ways of computing them agree."""
    if isinstance(value, tuple):
        return tuple(map(rounded, value))
    return value if value is None or isinstance(value, int | dict) else pytest.approx(value, rel=1e-9, abs=1e-9)


def plain(one: Row) -> dict[str, Any]:
    own = msgspec.structs.asdict(one)
    errors = {"score_error": error(one.score), "margin_error": error(one.margin)}
    return own | errors | {"score": value(one.score), "margin": value(one.margin)}


@given(st.integers(2, 4).flatmap(leagues))
def test_the_rows_are_those_of_the_slow_formulas(results: list[MatchResult]) -> None:
    """Counts to the last digit, and every mean and error to the accuracy of floats, with two to four seats."""
    found, ratings = table(*results), rate(NAMES, [(one.players, one.ranks) for one in results], SETTINGS)

    assert found.draw_rate == draw_rate(results)
    for name, expected in reference(NAMES, results).items():
        own, rating = plain(row(found, name)), ratings[name]
        assert (own["mu"], own["sigma"], own["mu_3s"]) == (rating.mu, rating.sigma, rating.exposure)
        assert {field: own[field] for field in expected} == {field: rounded(value) for field, value in expected.items()}


@given(st.integers(2, 4).flatmap(leagues))
def test_the_times_are_those_of_the_slow_formulas(results: list[MatchResult]) -> None:
    """Times are equal to the microsecond."""
    found = timing(FIELD, sums_of(match_table(results)))

    for name, (moves, mean_ms, slowest_ms) in times(NAMES, results).items():
        own = next(one for one in found if one.name == name)
        assert [own.moves, own.mean_ms, own.slowest_ms] == [
            moves,
            *map(rounded, (mean_ms, slowest_ms)),
        ]


@given(st.integers(2, 4).flatmap(lambda seats: leagues(seats, 4)), st.booleans())
def test_there_is_always_a_table(results: list[MatchResult], has_anchor: bool) -> None:
    """Leagues of few or odd matches have tables without nan and infinity."""
    found = table(*results, scheduled=100, chosen=RatingSettings(anchor="cid" if has_anchor else None))

    assert not re.search(r"\bnan\b", repr(found))
    json.loads(standings_json(found), parse_constant=pytest.fail)
    assert len(found.rows) == 4
    assert all(one.los is None or 0.5 - 1e-9 <= one.los <= 1.0 for one in found.rows)
    assert found.rows[-1].los is None
    for mean in (each for one in found.rows for each in (one.score, one.margin) if each):
        assert mean.interval.low <= mean.value <= mean.interval.high
    assert {name for group in found.groups for name in group} == set(NAMES)


def test_the_canonical_form_is_plain_json() -> None:
    """The JSON reads back as the original values, with settings, totals and a digest of the results."""
    found = table(*block_of(0, 0, "ab", 1, 0), forfeited("cd", "timeout", 1, block=1, pairing=1))

    text = standings_json(found)

    document = json.loads(text)
    assert list(document) == list(Standings.__struct_fields__)
    assert document["rating"]["draw_probability"] == 0.04
    assert len(document["results"]) == 64
    first = document["rows"][0]
    assert (first["player"], first["rank"]) == (found.rows[0].name, 1)
    for ends in ("score", "margin", "rating"):
        assert {ends, f"{ends}_low", f"{ends}_high"} <= set(first)
