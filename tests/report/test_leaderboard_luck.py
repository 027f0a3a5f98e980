"""Scores without luck in a leaderboard: only where they are narrower, and without any say in ranks."""

import random
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from support.made_matches import made_standings
from support.report_leagues import FOUR, league

from arena.match.results import LUCK_UNIT, MatchResult
from arena.report.formats import FORMATS, Style
from arena.report.leaderboard import leaderboard_page
from arena.standings.rows import Entrant
from arena.standings.table import Standings, standings_json

FIELD = [Entrant(name=name, bot=name, version="1.10", hash="0123456789abcdef" * 4) for name in FOUR]
SKILLS = dict(zip(FOUR, (24.0, 25.0, 25.5, 29.0), strict=True))


def lucky(cycles: int, seed: int = 3) -> list[MatchResult]:
    """A league whose margins are skill and luck, and the value of the game knows the luck but for some noise."""
    rng = random.Random(seed)
    found = []
    for one in league(SKILLS, cycles, seed):
        first, second = one.players
        chance = float((one.margins or (0,))[0]) - SKILLS[first] + SKILLS[second]
        luck = round((chance / 20 + rng.gauss(0.0, 0.05)) * LUCK_UNIT)
        found.append(replace(one, luck=(luck, -luck), luck_version="1"))
    return found


def table(results: Sequence[MatchResult]) -> Standings:
    return made_standings(FIELD, list(results), scheduled=len(results))


def test_it_has_no_part_in_ranks() -> None:
    """The rest of the table is the same without luck, or with that of another league."""
    with_luck = table(lucky(30))
    without = table([replace(one, luck=(), luck_version="") for one in lucky(30)])

    rows = tuple(replace(row, luck_adjusted=None, luck=None) for row in with_luck.rows)

    assert standings_json(replace(with_luck, rows=rows, luck_version="", results=without.results)) == standings_json(
        without
    )


@pytest.mark.parametrize("changes", [{"luck": (), "luck_version": ""}, {"luck_version": "2"}])
def test_it_needs_the_luck_of_all_matches_under_one_version(changes: dict[str, object]) -> None:
    """A single match without luck, or of another version, removes the column."""
    results = lucky(40)

    whole, broken = table(results), table([replace(results[0], **changes), *results[1:]])

    style = Style(is_wide=True)
    assert "luck-adjusted %" in leaderboard_page(whole, None).render("table", style)
    assert "luck-adjusted: " in leaderboard_page(whole, None).render("table", style)
    for form in set(FORMATS) - {"csv", "json"}:
        assert "luck-adjusted" not in leaderboard_page(broken, None).render(form, style)
    assert (broken.luck_version, {row.luck_adjusted for row in broken.rows}) == ("", {None})


def test_a_player_who_has_not_played_yet_has_none() -> None:
    """In the first minutes of a league the other players have the score, and the table is complete."""
    results = [one for one in lucky(100) if FOUR[0] not in one.players]

    rows = {row.name: row.luck_adjusted for row in table(results).rows}

    assert rows.pop(FOUR[0]) is None
    assert any(rows.values())
