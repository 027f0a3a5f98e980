"""Below the leaderboard: what it was made from, what its columns mean, and what not to conclude from it."""

import json
import re
from typing import Any

import msgspec
from support.leaderboard_made import below, league, one
from support.made_matches import made_standings

from arena.report.columns import LEADERBOARD, LUCK_ADJUSTED
from arena.report.formats import Style
from arena.report.leaderboard import leaderboard_page
from arena.standings.ratings import RatingSettings
from arena.standings.rows import Entrant
from arena.statistics.model import ProbitSettings, chances_at


def test_what_the_columns_mean_stands_below_them_on_request() -> None:
    """A sentence for each column, then what ± is; and what a seat is worth, with its error."""
    page = leaderboard_page(*league(["random", "greedy"]))

    explained = page.render("table", Style(width=60, is_wide=True)).split("\n\n")
    plain = page.render("table", Style(width=60)).split("\n\n")

    heads = [line.split(":")[0] for line in explained[-2].splitlines() if not line.startswith(" ")]
    assert heads == [*(column.name for column in LEADERBOARD if column is not LUCK_ADJUSTED), "±"]
    assert max(map(len, explained[-2].splitlines())) <= 60
    assert explained[0] == plain[0]
    assert re.search(r"seat advantage.*: seat 0\s+[+-]\d+\.\d\s+(±\d+\.\d|-\d+\.\d/\+\d+\.\d)", explained[-1])


def test_a_point_of_the_rating_is_explained() -> None:
    """The explanation uses the beta and the draws of this league."""
    found, _ = league(["a", "b"])
    drawish = msgspec.structs.replace(found, rating=RatingSettings(beta=2.0, draw_probability=0.5))

    for standings, said in ((found, "4.17 points (beta) more are a score of 76.0 %"), (drawish, "2.00 points (beta)")):
        text = leaderboard_page(standings, None).render("table", Style(is_wide=True))
        (line,) = [line for line in text.splitlines() if line.startswith("rating:")]
        assert said in line
    usual = ProbitSettings()
    worth = [chances_at(times * usual.beta, usual.scale, usual.margin).score for times in (1, 2, 0.5)]
    assert [f"{100 * score:.0f}" for score in worth] == ["76", "92", "64"], "as docs/statistics.md says"
    model = ProbitSettings(beta=2.0, draw_probability=0.5)
    assert f"{100 * chances_at(2.0, model.scale, model.margin).score:.1f} % against" in line


def test_news_of_the_league_stand_below_the_table() -> None:
    """News are in every format for people, and in JSON."""
    found, times = league(["a", "b"])
    news = ["decided: 1 pair at 95 %", "no pair is left"]

    assert below(leaderboard_page(found, times, news=news).render("table"))[1:3] == news
    assert all(line in leaderboard_page(found, times, news=news).render("markdown") for line in news)
    assert json.loads(leaderboard_page(found, times, news=news).render("json"))["news"] == news


def test_players_whom_nothing_connects_are_told() -> None:
    """Groups by name, who has no match by itself; no likelihood across."""
    names = ["a", "b", "c", "d", "idle"]
    field = [Entrant(name=name, bot=name, version="1", hash="00" * 32) for name in names]
    results = [one("a", "b", (3, 1)), one("c", "d", (2, 1), block=1, pairing=1)]

    found = below(leaderboard_page(made_standings(field, results, scheduled=9), None).render("table"))

    assert found[-3:-1] == [
        "WARNING: no match connects these groups; nothing compares them, each has its own ranks: a, b | c, d",
        "without a match: idle",
    ]


def test_the_footer_compares_the_order_of_one_pass() -> None:
    """`same order`, or each pair in which mu puts the lower rank above the higher one; never pairs of two groups."""
    found, times = league(["a", "b", "c"])
    played = [msgspec.structs.replace(row, rank=place, group=1) for place, row in enumerate(found.rows, start=1)]

    def said(*mus: float, **changes: Any) -> list[str]:
        rows = tuple(msgspec.structs.replace(row, mu=mu) for row, mu in zip(played, mus, strict=True))
        page = leaderboard_page(msgspec.structs.replace(found, rows=rows, **changes), times)
        return [line for line in below(page.render("table")) if line.startswith("TrueSkill in one pass")]

    names = [row.name for row in played]
    assert said(30.0, 25.0, 20.0) == ["TrueSkill in one pass: same order"]
    assert said(25.0, 25.0, 25.0) == ["TrueSkill in one pass: same order"]
    assert said(25.0, 20.0, 30.0) == [
        f"TrueSkill in one pass: {names[2]} above {names[0]}, {names[2]} above {names[1]}"
    ]
    assert said(30.0, 25.0, 20.0, sorted_by="mu") == [], "ranks are that order"
    played[2] = msgspec.structs.replace(played[2], group=2)
    assert said(25.0, 20.0, 30.0) == ["TrueSkill in one pass: same order"]


def test_an_order_that_the_skills_contradict_is_warned_of() -> None:
    """The warning names the pairs, only the first ones if there are many."""
    found, times = league(["a" * 100, "b"])
    wrong = msgspec.structs.replace(found, contradictions=(("a" * 100, "b"),) * 7)

    lines = below(leaderboard_page(wrong, times).render("table"))

    (warning,) = [line for line in lines if "contradicts the rating" in line]
    assert warning.count("a above b") == 5
    assert warning.endswith(" and 2 more")
    assert len(warning) < 300


def test_matches_without_a_sandbox_are_told() -> None:
    """The page has the number of matches without a sandbox, and a warning."""
    standing, times = league(["a", "b"], isolations=("sandbox", "none", "none", "sandbox"))

    found = leaderboard_page(standing, times).render("table")

    assert "isolation: none in 2 matches, sandbox in 2 matches. UNSANDBOXED: bots could read the files" in found


def test_the_table_tells_when_it_is_incomplete() -> None:
    """The order is by the rating all the same."""
    found = leaderboard_page(*league(["a", "b"], scheduled=9)).render("table")

    assert below(found)[0] == "4 of 9 matches, incomplete; ranks by rating; draws 25.0 %; isolation: sandbox"


def test_who_lets_others_wait_is_told() -> None:
    """Idle time and start-up by match, the worst first; who hardly does either is not named."""
    found, times = league(["sleepy", "slow"])
    idle, starting = (msgspec.structs.replace(times[0], idle_s=30.0), msgspec.structs.replace(times[1], startup_s=9.0))

    told = below(leaderboard_page(found, (idle, starting)).render("table"))

    assert "idle while they owed answers, seconds a match: sleepy 7.5" in told
    assert "start-up, seconds a match: slow 2.2" in told
    assert not any("seconds a match" in line for line in below(leaderboard_page(found, times).render("table")))
    assert not any("seconds a match" in line for line in below(leaderboard_page(found, None).render("table")))


def test_timeouts_by_load_are_a_warning() -> None:
    """The warning has their number, the players, and what to do."""
    found, times = league(["a", "b"])
    late = (msgspec.structs.replace(times[0], timeouts_by_load=2), times[1])

    (warning,) = [line for line in below(leaderboard_page(found, late).render("table")) if line.startswith("WARNING")]

    assert warning.startswith("WARNING: 2 timeouts by wall time came while the bot waited for a core for longer")
    assert "(a)" in warning
    assert "fewer `--workers`" in warning
