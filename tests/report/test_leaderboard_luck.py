"""Scores without luck in a leaderboard: the same as on the player's page, and without any say in ranks."""

import random
from collections.abc import Sequence

import pytest
from leaderboard_made import made
from msgspec.structs import replace
from report_leagues import FOUR, league

from arena.report.formats import FORMATS
from arena.report.leaderboard import render
from arena.report.luck_free import scores_without_luck, stored_luck
from arena.report.means import Value, mean_of
from arena.standings.rows import Entrant
from arena.standings.table import MatchResult, Standings, standings_json

FIELD = [Entrant(name=name, bot=name, version="1.10", hash="0123456789abcdef" * 4) for name in FOUR]
SKILLS = dict(zip(FOUR, (24.0, 25.0, 25.5, 29.0), strict=True))


def lucky(cycles: int, seed: int = 3) -> list[MatchResult]:
    """A league whose margins are skill and luck, and the value of the game knows the luck but for some noise."""
    rng = random.Random(seed)
    found = []
    for one in league(SKILLS, cycles, seed):
        first, second = one.players
        chance = 0.0 if one.scores is None else one.scores[0] - one.scores[1] - SKILLS[first] + SKILLS[second]
        luck = round(chance / 40 + rng.gauss(0.0, 0.1), 6)
        found.append(replace(one, luck=(luck, -luck), luck_version="1"))
    return found


def table(results: Sequence[MatchResult]) -> Standings:
    return made(FIELD, list(results), scheduled=len(results))


@pytest.mark.parametrize("cycles", [1, 2, 39, 60])
def test_it_is_the_score_of_the_players_page(cycles: int) -> None:
    """Computed there from matches with floats, here from whole sums: the same mean and error, also of few blocks."""
    results = [replace(one, block=one.block // 6) for one in lucky(cycles)]
    page_results = lucky(cycles)
    ids = [str(number) for number in range(len(results))]

    rows = {row.name: row for row in table(results).rows}

    for name in FOUR:
        luck = stored_luck(name, page_results, ids)
        free = scores_without_luck(name, page_results, ids, luck)
        page = mean_of(
            Value(one.block, one.pairing, free[match])
            for one, match in zip(page_results, ids, strict=True)
            if match in free
        )
        adjusted = rows[name].luck_adjusted
        assert adjusted is not None
        assert adjusted.value == pytest.approx(page.value, abs=1e-5)
        assert adjusted.standard_error == pytest.approx(page.error or 0.0, abs=1e-5)


def test_its_error_is_smaller() -> None:
    """And it agrees with the score as far as the errors tell."""
    for row in table(lucky(100)).rows:
        assert row.score is not None
        assert row.luck_adjusted is not None
        assert row.luck_adjusted.interval.error < 0.97 * row.score.interval.error
        assert abs(row.luck_adjusted.value - row.score.value) < row.score.interval.error


def test_no_order_matters() -> None:
    """Equal results in any order give equal bytes."""
    results = lucky(30)
    other = random.Random(1).sample(results, len(results))

    one, two = table(results), table(other)

    free = [{row.name: row.luck_adjusted for row in each.rows} for each in (one, two)]
    assert free[0] == free[1]


def test_it_has_no_part_in_ranks() -> None:
    """Without luck, or with that of another league, everything else in the table is the same."""
    with_luck = table(lucky(30))
    without = table([replace(one, luck=(), luck_version="") for one in lucky(30)])

    rows = tuple(replace(row, luck_adjusted=None, luck=None) for row in with_luck.rows)

    assert standings_json(replace(with_luck, rows=rows, luck_version="")) == standings_json(without)


@pytest.mark.parametrize("changes", [{"luck": (), "luck_version": ""}, {"luck_version": "2"}])
def test_it_needs_the_luck_of_all_matches_under_one_version(changes: dict[str, object]) -> None:
    """One match without it, or of another version, and there is no such column."""
    results = lucky(10)

    whole, broken = table(results), table([replace(results[0], **changes), *results[1:]])

    assert "luck-adjusted %" in render(whole, None, format="table")
    assert "luck-adjusted: " in render(whole, None, format="table")
    for form in set(FORMATS) - {"csv", "json"}:
        assert "luck-adjusted" not in render(broken, None, format=form)
    assert (broken.luck_version, {row.luck_adjusted for row in broken.rows}) == ("", {None})


def test_a_player_who_has_not_played_yet_has_none() -> None:
    """As in the first minutes of a league: the others have it, and the table stands."""
    results = [one for one in lucky(10) if FOUR[0] not in one.players]

    rows = {row.name: row.luck_adjusted for row in table(results).rows}

    assert rows.pop(FOUR[0]) is None
    assert None not in rows.values()


def test_a_narrow_table_goes_without_it() -> None:
    """And does not explain what it does not show."""
    said = render(table(lucky(10)), None, format="table", width=70)

    assert "luck-adjusted" not in said
