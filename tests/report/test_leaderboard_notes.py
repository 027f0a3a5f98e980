"""Below the leaderboard: what it was made from, what its columns mean, and what not to conclude from it."""

import csv
import io
import json
import re
from typing import Any

import pytest
from msgspec.structs import replace
from support.golden import Golden
from support.leaderboard_made import below, league, one
from support.made_matches import made_standings

from arena.report.columns import LEADERBOARD, LUCK_ADJUSTED
from arena.report.formats import Style
from arena.report.leaderboard import leaderboard_page
from arena.standings.ratings import RatingSettings
from arena.standings.rows import Entrant
from arena.statistics.model import ProbitSettings, chances_at


def test_what_the_columns_mean_stands_below_them_on_request(golden: Golden) -> None:
    """A sentence for each column, then what ± is; and what a seat is worth, with its error."""
    page = leaderboard_page(*league(["random", "greedy"]))

    explained = page.render("table", Style(width=60, is_wide=True)).split("\n\n")
    plain = page.render("table", Style(width=60)).split("\n\n")

    heads = [line.split(":")[0] for line in explained[-2].splitlines() if not line.startswith(" ")]
    assert heads == [*(column.name for column in LEADERBOARD if column is not LUCK_ADJUSTED), "±"]
    assert max(map(len, explained[-2].splitlines())) <= 60
    assert explained[0] == plain[0]
    golden(explained[-1])


def test_a_point_of_the_rating_is_explained() -> None:
    """The explanation uses the beta and the draws of this league."""
    found, _ = league(["a", "b"])
    drawish = replace(found, rating=RatingSettings(beta=2.0, draw_probability=0.5))

    for standings, said in ((found, "4.17 points (beta) more are a score of 76.0 %"), (drawish, "2.00 points (beta)")):
        text = leaderboard_page(standings, None).render("table", Style(is_wide=True))
        (line,) = [line for line in text.splitlines() if line.startswith("rating:")]
        assert said in line
    usual = ProbitSettings()
    worth = [chances_at(times * usual.beta, usual.scale, usual.margin).score for times in (1, 2, 0.5)]
    assert [f"{100 * score:.0f}" for score in worth] == ["76", "92", "64"], "as docs/statistics.md says"
    model = ProbitSettings(beta=2.0, draw_probability=0.5)
    assert f"{100 * chances_at(2.0, model.scale, model.margin).score:.1f} % against" in line


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
    played = [replace(row, rank=place, group=1) for place, row in enumerate(found.rows, start=1)]

    def said(*mus: float, **changes: Any) -> list[str]:
        rows = tuple(replace(row, mu=mu) for row, mu in zip(played, mus, strict=True))
        page = leaderboard_page(replace(found, rows=rows, **changes), times)
        return [line for line in below(page.render("table")) if line.startswith("TrueSkill in one pass")]

    names = [row.name for row in played]
    assert said(30.0, 25.0, 20.0) == ["TrueSkill in one pass: same order"]
    assert said(25.0, 25.0, 25.0) == ["TrueSkill in one pass: same order"]
    assert said(25.0, 20.0, 30.0) == [
        f"TrueSkill in one pass: {names[2]} above {names[0]}, {names[2]} above {names[1]}"
    ]
    assert said(30.0, 25.0, 20.0, sorted_by="mu") == [], "ranks are that order"
    played[2] = replace(played[2], group=2)
    assert said(25.0, 20.0, 30.0) == ["TrueSkill in one pass: same order"]


NOTES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        {"contradictions": (("a" * 100, "b"),) * 7},
        {},
        r".* contradicts the rating at 95 %: (a+…a+ above b, ){4}a+…a+ above b and 2 more",
    ),
    ({}, {"idle_s": 30.0}, r"idle while they owed answers, seconds a match: a 7\.5.*"),
    ({}, {"startup_s": 9.0}, r"start-up, seconds a match: a 2\.2.*"),
    (
        {},
        {"timeouts_by_load": 2},
        r"WARNING: 2 timeouts by wall time came while the bot waited for a core .*\(a\).*fewer `--workers`.*",
    ),
]


@pytest.mark.parametrize(("of_standings", "of_times", "expected"), NOTES)
def test_what_readers_must_know_stands_below_the_table(
    of_standings: dict[str, Any], of_times: dict[str, Any], expected: str
) -> None:
    """Nothing is said where nothing happened."""
    found, times = league(["a", "b"])
    pages = (
        leaderboard_page(found, times),
        leaderboard_page(replace(found, **of_standings), (replace(times[0], **of_times), times[1])),
    )

    plain, noted = (below(page.render("table")) for page in pages)

    assert [bool(re.fullmatch(expected, line)) for line in plain] == [False] * len(plain)
    assert sum(bool(re.fullmatch(expected, line)) for line in noted) == 1, noted
    assert max(map(len, noted)) < 300


def test_matches_without_a_sandbox_are_told(golden: Golden) -> None:
    """The page has the number of matches without a sandbox, and a warning."""
    standing, times = league(["a", "b"], isolations=("sandbox", "none", "none", "sandbox"))

    found = leaderboard_page(standing, times).render("table")

    golden(found)


def test_news_of_the_league_stand_below_the_table() -> None:
    """News are in every format for people, and in JSON."""
    found, times = league(["a", "b"])
    news = ["decided: 1 pair at 95 %", "no pair is left"]

    assert below(leaderboard_page(found, times, news=news).render("table"))[1:3] == news
    assert all(line in leaderboard_page(found, times, news=news).render("markdown") for line in news)
    assert json.loads(leaderboard_page(found, times, news=news).render("json"))["news"] == news


def test_the_worst_are_named_and_the_others_counted(golden: Golden) -> None:
    """How many faults of which kind a player had, in how many matches; who had none is not named."""
    found, _ = league(["ann", "bob"])
    faults = [{"illegal_action": 7, "timeout": 1}, {}, *({"timeout": count} for count in range(1, 7))]
    rows = tuple(replace(found.rows[0], name=f"p{8 - place}", pardoned=each) for place, each in enumerate(faults))

    lines = below(leaderboard_page(replace(found, rows=rows), None).render("markdown"))

    told = [line for line in lines if "went on" in line or "such faults" in line]
    golden(told[0])
    assert [line.split(":")[0] for line in told[1:]] == ["p1", "p2", "p3", "p4", "2 other players had such faults too"]


def test_programs_get_them_by_kind() -> None:
    """CSV has a column for each kind, with zeros; JSON has an object."""
    found, _ = league(["ann", "bob"])
    faulty = replace(found, rows=(replace(found.rows[0], pardoned={"timeout": 3}), found.rows[1]))

    rows = list(csv.DictReader(io.StringIO(leaderboard_page(faulty, None).render("csv"))))
    document = json.loads(leaderboard_page(faulty, None).render("json"))

    assert [(row["pardoned_timeout"], row["pardoned_illegal_action"]) for row in rows] == [("3", "0"), ("0", "0")]
    assert [row["pardoned"] for row in document["standings"]["rows"]] == [{"timeout": 3}, {}]
