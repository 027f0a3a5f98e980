"""Luck in a leaderboard: scores without it, which have no say in ranks, and the audit of it, in every format."""

import csv
import io
import json
import random
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from support.golden import Golden
from support.leaderboard_made import below
from support.made_matches import made_standings
from support.report_leagues import FOUR, league

from arena.match.results import LUCK_UNIT, MatchResult
from arena.report.formats import FORMATS, Style
from arena.report.leaderboard import leaderboard_page, luck_audit
from arena.standings.luck_audit import LEVEL
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


def foreseen(share: float, cycles: int = 60) -> list[MatchResult]:
    """A league in which the first player has that luck in each match, and the others pay for it."""
    found = []
    for one in league(dict.fromkeys(FOUR, 25.0), cycles, 5):
        lucks = (
            [share if name == FOUR[0] else -share for name in one.players] if FOUR[0] in one.players else [0.01, -0.01]
        )
        found.append(replace(one, luck=tuple([round(luck * LUCK_UNIT) for luck in lucks]), luck_version="1"))
    return found


def test_who_stands_out_is_named_with_what_it_means(golden: Golden) -> None:
    """One sentence warns with the mean luck, its lower bound, and the probability of chance."""
    (said,) = luck_audit(table(foreseen(0.5)))

    assert said.startswith(
        f"WARNING: luck audit: {FOUR[0]} is luckier than a player can be who does not know draws before they fall:"
        " +0.500 wins a match by luck in 360 matches, at least +0."
    )
    golden(said)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_it(form: str, golden: Golden) -> None:
    """People get the sentence, programs the numbers."""
    found, fair = (leaderboard_page(table(foreseen(share)), None).render(form) for share in (0.5, 0.001))

    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(found)))
        assert {row["player"]: row["luck_stands_out"] for row in rows} == {
            name: str(int(name == FOUR[0])) for name in FOUR
        }
        assert float(next(row["luck_p"] for row in rows if row["player"] == FOUR[0])) <= LEVEL
    else:
        golden(found)
        assert "WARNING: luck audit" not in fair
        assert ("luck audit: no outlier (up to 360 matches a player; family-wise" in fair) == (form == "json")
    if form == "json":
        document = json.loads(found)
        assert document["luck_audit"] == luck_audit(table(foreseen(0.5)))
        (cheat,) = [row["luck"] for row in document["standings"]["rows"] if row["luck"]["stands_out"]]
        assert set(cheat) == {"matches", "mean", "least", "p", "stands_out"}


def test_without_luck_it_says_that_nothing_was_tested() -> None:
    """The wide table and JSON report it; before the first match there is no sentence."""
    without = table(list(league(dict.fromkeys(FOUR, 25.0), 2, 5)))

    assert luck_audit(without) == ["luck audit: not tested: no match has its luck measured"]
    page = leaderboard_page(without, None)
    assert luck_audit(without)[0] not in below(page.render("table"))
    assert luck_audit(without)[0] in below(page.render("table", Style(is_wide=True)))
    assert json.loads(leaderboard_page(without, None).render("json"))["luck_audit"] == luck_audit(without)
    assert luck_audit(table([])) == []
    csv_rows = list(csv.DictReader(io.StringIO(leaderboard_page(without, None).render("csv"))))
    assert {row["luck_p"] for row in csv_rows} == {""}
