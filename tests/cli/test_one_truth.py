"""A number that two pages have is one number: the same digits in the same convention, wherever it stands."""

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from support.cli_arena import Terminal

pytestmark = pytest.mark.process


def test_the_exported_matches_add_up_to_the_table(terminal: Terminal) -> None:
    """Whoever counts them again gets the same; dice and cards, so that luck is known, and a bot that crashes."""
    Path("gone.py").write_text("raise SystemExit('gone')\n")
    terminal.played("greedy", "random", "random", "./gone.py", game="shanghaien", cycles=3)
    matches = list(csv.DictReader(io.StringIO(terminal.arena("league matches --format csv").out)))
    document = json.loads(terminal.arena("leaderboard --format json").out)
    rows = {row["player"]: row for row in document["standings"]["rows"]}
    timing = {times["name"]: times for times in document["timing"]}

    assert set(rows) == set(timing) == {"p0", "p1", "p2", "p3"}
    for name, row in rows.items():
        own = [(match, seat) for match in matches for seat in (0, 1) if match[f"player_{seat}"] == name]
        outcomes = Counter(
            "draws" if match["rank_0"] == match["rank_1"] else "wins" if float(match[f"rank_{seat}"]) == 0 else "losses"
            for match, seat in own
        )
        assert (len(own), *(outcomes[key] for key in ("wins", "draws", "losses"))) == tuple(
            row[key] for key in ("matches", "wins", "draws", "losses")
        )
        assert row["score"] == pytest.approx((outcomes["wins"] + outcomes["draws"] / 2) / len(own), abs=1e-12)
        margins = [
            float(match[f"score_{seat}"]) - float(match[f"score_{1 - seat}"])
            for match, seat in own
            if match["score_0"] != ""
        ]
        assert row["margin"] == (pytest.approx(sum(margins) / len(margins), abs=1e-9) if margins else None)
        guilty = Counter(
            match["termination"] for match, seat in own if match["at_fault"] and float(match["at_fault"]) == seat
        )
        assert row["faults"] == guilty
        moves = sum(float(match[f"moves_{seat}"]) for match, seat in own)
        assert moves == timing[name]["moves"]
        if moves:
            spent = sum(float(match[f"time_us_{seat}"]) for match, seat in own if float(match[f"moves_{seat}"]))
            assert timing[name]["mean_ms"] == pytest.approx(spent / moves / 1e3, abs=1e-9)
    seat = document["standings"]["seats"][0]
    half = (seat["points_high"] - seat["points_low"]) / 2
    assert f"seat 0 {seat['points']:+.1f} ±{half:.1f}" in terminal.arena("leaderboard --columns all").out


@pytest.mark.slow
def test_a_comparison_has_the_numbers_of_its_league(terminal: Terminal) -> None:
    """A comparison's score, W-D-L and margin equal those of leaderboard, matrix and player, in table and JSON."""
    command = "compare greedy random --game shanghaien --seed 1 --blocks 30 --elo1 1"
    scores, margins = (terminal.arena(f"{command} --model {model}").out for model in ("normalised", "student"))
    by_score, by_margin = (
        json.loads(terminal.arena(f"{command} --format json --model {model}").out)
        for model in ("normalised", "student")
    )
    league = "compare-greedy-random"
    rows = json.loads(terminal.arena(f"leaderboard {league} --format json").out)["standings"]["rows"]
    (row,) = (each for each in rows if each["player"] == "greedy")
    stats = json.loads(terminal.arena(f"stats greedy {league} --format json").out)["total"]
    meetings = json.loads(terminal.arena(f"matrix {league} --format json").out)["meetings"]
    (meeting,) = (each for each in meetings if each["player"] == "greedy")

    assert by_score["matches"] == row["matches"] == stats["matches"] == meeting["matches"] == 60
    for key in ("wins", "draws", "losses"):
        assert by_score[key] == row[key] == stats[key] == meeting[key]
    for end, of_row in (("value", "score"), ("low", "score_low"), ("high", "score_high")):
        assert by_score["score"][end] == row[of_row] == stats["score"][end] == meeting[of_row]
    for end, of_row in (("value", "margin"), ("low", "margin_low"), ("high", "margin_high")):
        assert by_margin["estimate"]["margin"][end] == pytest.approx(row[of_row], abs=1e-9)
    low, high = (f"{100 * row[each]:.1f}" for each in ("score_low", "score_high"))
    assert re.search(rf"^score +{100 * row['score']:.1f} \({low} to {high}\) %$", scores, re.MULTILINE)
    assert re.search(rf"^W-D-L +{row['wins']}-{row['draws']}-{row['losses']}$", scores, re.MULTILINE)
    assert re.search(rf"^margin +\{row['margin']:+.2f} ", margins, re.MULTILINE)


def test_the_table_tells_what_stopped_a_league(terminal: Terminal) -> None:
    """`until: decided`: the sentences of the status stand below the table, and in JSON."""
    rule = {"kind": "round_robin", "until": "decided", "step_blocks": 4, "cap_blocks": 8}
    run = terminal.league("random", "random", schedule=rule)

    status = terminal.arena("league status").out
    news = json.loads(terminal.arena("leaderboard --format json").out)["news"]

    assert news
    for text in (run.out, terminal.arena("leaderboard").out, status):
        assert all(sentence in text for sentence in news)
