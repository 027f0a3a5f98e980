"""One player's page: what it says of a made profile, in each format; the numbers are those of the leaderboard."""

import csv
import io
import json
import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from support.golden import Golden
from support.report_leagues import (
    FOUR,
    forfeit,
    league,
    mirrored,
    odd_leagues,
    profile_of,
    result,
    tables,
)

from arena.match.results import MatchResult
from arena.report.formats import Style
from arena.report.leaderboard import leaderboard_page
from arena.report.profile import profile_page


def page(player: str, results: Sequence[MatchResult], form: str = "table", width: int | None = None) -> str:
    return profile_page(profile_of(player, results)).render(form, Style(width=width))


def test_the_head_says_who_it_is(golden: Golden) -> None:
    """Bot, version, hash, and the rank among those whom matches connect."""
    lines = page("cid", odd_leagues()["two groups"]).splitlines()

    golden(lines[0])
    golden(lines[1])
    golden(lines[2])


@pytest.mark.parametrize("player", FOUR)
def test_numbers_are_those_of_the_leaderboard(player: str) -> None:
    """Digit by digit: score, margin, rating, rank and times stand on both pages, with the same intervals."""
    results = league(dict(zip(FOUR, (24.0, 25.0, 26.0, 27.0), strict=True)), 5, 3)
    rows = list(csv.DictReader(io.StringIO(leaderboard_page(*tables(results)).render("csv"))))
    (row,) = (row for row in rows if row["player"] == player)

    total, *_ = csv.DictReader(io.StringIO(page(player, results, "csv")))
    document = json.loads(page(player, results, "json"))
    text = page(player, results)

    names = [f"{name}{end}" for name in ("score", "margin", "luck_adjusted") for end in ("", "_low", "_high")]
    names += ["matches", "wins", "draws", "losses"]
    assert [total[name] for name in names] == [row[name] for name in names]
    assert [total[f"value{end}"] for end in ("", "_low", "_high")] == [
        row[f"rating{end}"] for end in ("", "_low", "_high")
    ]
    assert document["standing"]["rank"] == int(row["rank"])
    assert document["standing"]["rating"] == float(row["rating"])
    assert document["times"]["mean_ms"] == float(row["mean_ms"])
    (line,) = (
        line for line in leaderboard_page(*tables(results)).render("table").splitlines() if f" {player} " in line
    )
    shown = re.search(r"(\d+\.\d) (\S+)", line)
    assert shown is not None
    assert f"score {shown[1]} {shown[2]} %" in text
    assert f", rating {float(row['rating']):.2f} ±" in text


def test_tables_by_opponent_and_by_seat() -> None:
    """The columns have the names that they have on the leaderboard."""
    text = page("ann", [*mirrored(0, "ann", "bob", 3, 1), *mirrored(1, "ann", "bob", 5, 1)])

    header, under, _, bob = text.split("\n\n")[1].splitlines()
    assert re.split(r" {2,}", header.strip()) == ["opponent", "matches", "score %", "W-D-L", "margin", "forfeits"]
    assert under.split() == ["±95", "%", "±95", "%"]
    assert bob.split()[:4] == ["bob", "4", "100.0", "-77.6"]


def test_drift_and_its_absence(golden: Golden) -> None:
    """A player that loses everything in the last fifth; and one with a single block."""
    results = [one for block in range(50) for one in mirrored(block, "ann", "bob", *((1, -1), (-1, -1))[block >= 40])]

    golden(page("ann", results))
    golden(page("ann", mirrored(0, "ann", "bob", 1, 1)))
    rows = csv.DictReader(io.StringIO(page("ann", results, "csv")))
    assert {row["name"] for row in rows if row["section"] == "drift"} == {"change", "p_trend", "p_tenths"}


def test_start_up_and_idle_time_are_told_a_match(golden: Golden) -> None:
    """Both times are in seconds."""
    results = [
        result(block, ("ann", "bob"), (1, 0), startup_us=(1_500_000, 0), idle_us=(250_000, 0)) for block in range(2)
    ]

    golden(page("ann", results))


def test_faults_come_with_the_ids_of_their_matches(golden: Golden) -> None:
    """Own ones by kind, those of others counted; the first ones in a terminal, more of them in other formats."""
    results = [forfeit(block, ("ann", "bob"), 0) for block in range(6)]
    results += [
        forfeit(6, ("bob", "ann"), 1, "crash"),
        forfeit(7, ("ann", "bob"), 1),
        result(8, ("ann", "bob"), (1, 0)),
    ]
    ids = [str(one.key) for one in results]

    text, markdown = page("ann", results), page("ann", results, "markdown")

    golden(text)
    assert f"  6 timeout: {' '.join(ids[:4])} and 2 more" in text
    assert f"6 timeout: {' '.join(ids[:6])}" in markdown
    assert f"  1 crash: {ids[6]}" in text
    assert json.loads(page("ann", results, "json"))["faults"][0] == {
        "kind": "timeout",
        "faults": 6,
        "matches": ids[:6],
        "not_listed": 0,
    }


def test_pardoned_faults_come_with_their_matches(golden: Golden) -> None:
    """The faults are listed by kind with match ids, apart from forfeits."""
    results = [
        result(block, ("ann", "bob", "cid"), (3, 2, 1), pardoned=({"timeout": 2, "illegal_action": block}, {}, {}))
        for block in (1, 2)
    ]
    ids = " ".join(str(one.key) for one in results)

    lines = page("ann", results).splitlines()

    at = lines.index("Faults after which the game went on:")
    golden(lines[at - 1])
    assert lines[at + 1 : at + 3] == [f"  3 illegal_action: {ids}", f"  4 timeout: {ids}"]
    rows = csv.DictReader(io.StringIO(page("ann", results, "csv")))
    assert [row["name"] for row in rows if row["section"] == "pardoned"] == ["illegal_action"] * 2 + ["timeout"] * 2


def test_biggest_wins_and_losses_and_closest_matches() -> None:
    """Three of each at most; a forfeit is none of them, a draw is close."""
    margins = [5, -9, 7, 0, 1, 9, -1]
    results = [result(block, ("ann", "bob"), (20 + margin, 20)) for block, margin in enumerate(margins)]

    text = page("ann", [*results, forfeit(9, ("ann", "bob"), 0)])

    head, losses = text.split("Biggest losses:\n")
    closest, wins = head.split("Closest matches:\n")[1].split("Biggest wins:\n")
    assert [line.split()[0] for line in closest.splitlines()] == ["+0", "+1", "-1"]
    assert [line.split()[0] for line in wins.splitlines()] == ["+9", "+7", "+5"]
    assert [line.split()[0] for line in losses.splitlines()[:-2]] == ["-9", "-1"]
    assert f"+9 {results[5].key} ann 29 : bob 20" in text


def test_without_a_match_there_is_little_to_say(golden: Golden) -> None:
    """The page names the player and reports that no match is stored."""
    results = mirrored(0, "ann", "bob", 1, 1)

    golden(page("dan", results))
    assert json.loads(page("dan", results, "json"))["standing"] is None


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_page_fits_its_terminal(width: int) -> None:
    """Tables come in parts where it is narrow, and nothing is lost; ids of matches stay whole."""
    results = league(dict(zip(FOUR, (24.0, 25.0, 26.0, 27.0), strict=True)), 30, 3)

    text = page("ann", results, width=width)

    assert max(map(len, text.splitlines())) <= width
    assert (text.count("opponent  ") > 1) == (width < 80)
    assert "margin" in text.split("Drift")[0].split("opponent")[-1]


def test_csv_tells_its_sections_apart() -> None:
    """One table has lines, times, faults and extremes, each with its own columns filled."""
    results = [*mirrored(0, "ann", "bob", 3, -1), forfeit(1, ("ann", "bob"), 0)]

    rows = list(csv.DictReader(io.StringIO(page("ann", results, "csv"))))

    assert [*dict.fromkeys(row["section"] for row in rows)] == [
        *("all", "opponent", "seat", "time", "fault", "win", "loss", "closest")
    ]
    fault = next(row for row in rows if row["section"] == "fault")
    assert (fault["name"], fault["match"]) == ("timeout", str(results[2].key))
    assert {row["name"] for row in rows if row["section"] == "time"} >= {
        "mean_ms",
        "means_ms_p99",
        "moves",
        "idle_s",
    }


def test_json_has_all_of_it() -> None:
    """JSON has the numbers as calculated; a bound that is not known is null."""
    results = mirrored(0, "ann", "bob", 3, -1)
    document = json.loads(page("ann", results, "json"))

    score = document["opponents"][0]["score"]
    assert score | {"low": 0, "high": 1} == {"value": 0.5, "low": 0, "high": 1, "error": None, "blocks": 1}
    assert 0.0 <= score["low"] < 0.5 < score["high"] <= 1.0
    assert document["opponents"][0]["margin"]["low"] is None
    match = str(results[0].key)
    assert document["wins"] == [{"match": match, "players": ["ann", "bob"], "scores": [13, 10], "margin": 3}]
    assert document["times"]["moves"] == 6


def test_luck_adjusted_scores_stand_beside_the_plain_ones() -> None:
    """Where luck decides all, the score without it is surely even; by opponent as in all."""
    results = [
        result(block, players, (1, 0) if side == seat else (0, 1), luck=(lucky, -lucky), luck_version="1")
        for block in range(80)
        for side in (block * 7 % 3 % 2,)
        for seat, players in enumerate((("ann", "bob"), ("bob", "ann")))
        for lucky in (300_000 if side == seat else -300_000,)
    ]

    text, document = page("ann", results), json.loads(page("ann", results, "json"))
    wide = profile_page(profile_of("ann", results)).render("table", Style(is_wide=True))
    asked = profile_page(replace(profile_of("ann", results), is_luck_asked=True)).render("table")

    adjusted, plain = document["total"]["luck_adjusted"], document["total"]["score"]
    assert adjusted["value"] == pytest.approx(0.5, abs=0.03)
    assert adjusted["high"] - adjusted["low"] < (plain["high"] - plain["low"]) / 3
    assert f"luck-adjusted score {100 * adjusted['value']:.1f} " in text
    assert ["luck-adjusted %" in each for each in (text, wide, asked)] == [False, True, True]
    assert document["opponents"][0]["luck_adjusted"] == document["total"]["luck_adjusted"]
