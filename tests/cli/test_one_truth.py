"""A number that two pages have is one number: the same digits in the same convention, wherever it stands."""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.cli_arena import Terminal

from arena.statistics.distributions import Z_95

NAMES = ("p0", "p1", "p2", "p3")


class Pages:
    """What each command says of one league."""

    def __init__(self, terminal: Terminal) -> None:
        def said(line: str) -> str:
            found = terminal.arena(line)
            assert (found.code, found.err) == (0, ""), line
            return found.out

        self.table, self.markdown = (
            said("leaderboard --columns all"),
            said("leaderboard --columns all --format markdown"),
        )
        self.document = json.loads(said("leaderboard --format json"))
        self.lines = read(said("leaderboard --format csv"))
        self.stats = {name: json.loads(said(f"stats {name} --format json")) for name in NAMES}
        self.stats_lines = {name: read(said(f"stats {name} --format csv")) for name in NAMES}
        self.stats_text = {name: said(f"stats {name}") for name in NAMES}
        self.matrix, self.matrix_lines = json.loads(said("matrix --format json")), read(said("matrix --format csv"))
        self.matrix_text = said("matrix")
        self.matches = read(said("league matches --format csv"))
        self.status = said("league status")
        self.rows: list[dict[str, Any]] = self.document["standings"]["rows"]

    def row(self, name: str) -> dict[str, Any]:
        (found,) = (row for row in self.rows if row["player"] == name)
        return found


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def text_of(value: object) -> str:
    """Return the text in CSV of a value of JSON."""
    return "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)


class Captured:
    """Both streams for longer than one test; as much of `capsys` as a terminal needs."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._streams = io.StringIO(), io.StringIO()
        patch.setattr("sys.stdout", self._streams[0])
        patch.setattr("sys.stderr", self._streams[1])

    def readouterr(self) -> tuple[str, str]:
        found = self._streams[0].getvalue(), self._streams[1].getvalue()
        for stream in self._streams:
            stream.seek(0)
            stream.truncate()
        return found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """Dice and cards, so that luck is known; a bot that crashes, so that blocks are all equal."""
    folder = tmp_path_factory.mktemp("league")
    folder.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        terminal = Terminal(folder, patch, Captured(patch))  # type: ignore[arg-type]
        Path("gone.py").write_text("raise SystemExit('gone')\n")
        said = terminal.league("greedy", "random", "random", "./gone.py", game="shanghaien", cycles=3)
        assert said.code == 0, said.err
        return Pages(terminal)


pytestmark = pytest.mark.process


def shown(row: Mapping[str, Any], name: str, digits: int, scale: float = 1.0, sign: str = "") -> str:
    """A value with its interval, by the rule in docs/statistics.md."""
    value, low, high = (row[key] for key in (name, f"{name}_low", f"{name}_high"))
    text = f"{scale * value:{sign}.{digits}f} "
    if low is None or high is None:
        return text + "±?"
    down, up = f"{scale * (value - low):.{digits}f}", f"{scale * (high - value):.{digits}f}"
    if down == up:
        return f"{text}±{up}"
    return text + "/".join(f"{sign}{width}" for sign, width in (("-", down), ("+", up)) if float(width))


def squeezed(text: str) -> str:
    return re.sub(r" +", " ", text.strip())


def table_of(text: str) -> list[dict[str, str]]:
    """The rows of a table for a terminal, by header."""
    lines = text.splitlines()
    rule = next(number for number, line in enumerate(lines) if set(line) == {"-", " "})
    spans = [found.span() for found in re.finditer("-+", lines[rule])]
    headers = [lines[0][start:end].strip() for start, end in spans]
    cells = ([squeezed(line[start:end]) for start, end in spans] for line in lines[rule + 1 : lines.index("")])
    return [dict(zip(headers, line, strict=True)) for line in cells]


@pytest.mark.slow
def test_csv_has_the_digits_of_json(pages: Pages) -> None:
    """CSV has the digits of JSON for every number, by name."""
    for row, line in zip(pages.rows, pages.lines, strict=True):
        flat = {name: value for name, value in row.items() if not isinstance(value, dict | list)}
        assert {name: line[name] for name in flat if name != "luck"} == {
            name: text_of(value) for name, value in flat.items() if name != "luck"
        }


def test_the_table_has_the_numbers_of_json(pages: Pages) -> None:
    """Rounded, with the interval by the one rule; and Markdown has the same cells."""
    markdown = [[cell.strip() for cell in line.split("|")[1:-1]] for line in pages.markdown.splitlines() if "|" in line]
    for row, line, mark in zip(pages.rows, table_of(pages.table), markdown[2:], strict=True):
        assert line["rank"] == str(row["rank"])
        assert line["score %"] == shown(row, "score", 1, 100.0)
        assert line["rating"] == shown(row, "rating", 2)
        if row["margin"] is not None:
            assert line["margin"] == shown(row, "margin", 2, sign="+")
        if row["los"] is not None:
            los = 100 * row["los"]
            assert line["LOS"] == (">99.9" if los > 99.9 else "<0.1" if los < 0.1 else f"{los:.1f}")
            assert line["ahead"] == ("yes" if row["ahead"] else "no")
            assert row["ahead"] == (row["los"] >= 0.975)
        assert line["TrueSkill"] == squeezed(f"{row['mu']:.2f}  {row['sigma']:.2f}")
        assert line["mu-3s"] == f"{row['mu_3s']:.2f}"
        marked = [squeezed(cell) for cell in mark]
        assert {line[name] for name in ("score %", "margin", "TrueSkill", "rating", "LOS", "mu-3s")} <= set(marked)


def test_the_page_of_a_player_is_a_row_of_the_table(pages: Pages) -> None:
    """Rank, rating, score, margin, luck, W-D-L, seats, faults; in JSON, CSV, and on the page."""
    for name in NAMES:
        row, page = pages.row(name), pages.stats[name]
        standing, total = page["standing"], page["total"]
        assert {key: standing[key] for key in ("rank", "rating", "rating_low", "rating_high")} == {
            key: row[key] for key in ("rank", "rating", "rating_low", "rating_high")
        }
        for key in ("matches", "wins", "draws", "losses"):
            assert total[key] == row[key]
        for key in ("score", "margin", "luck_adjusted"):
            found = total[key] or {"value": None, "low": None, "high": None}
            assert (found["value"], found["low"], found["high"]) == (row[key], row[f"{key}_low"], row[f"{key}_high"])
        assert [each["score"]["value"] for each in page["seats"]] == row["score_by_seat"]
        assert {each["kind"]: each["faults"] for each in page["faults"]} == row["faults"]
        (line,) = (line for line in pages.stats_lines[name] if line["section"] == "all")
        for key in ("score", "score_low", "score_high", "margin", "margin_low", "margin_high", "matches"):
            assert line[key] == text_of(row[key])
        text = squeezed(pages.stats_text[name])
        assert shown(row, "score", 1, 100.0) in text
        assert shown(row, "rating", 2) in text
        assert f"{row['wins']}-{row['draws']}-{row['losses']}" in text


def test_opponents_are_cells_of_the_matrix(pages: Pages) -> None:
    """W-D-L and score of every pair; and rating and rank of the players."""
    meetings = {(one["player"], one["opponent"]): one for one in pages.matrix["meetings"]}
    lines = {(one["player"], one["opponent"]): one for one in pages.matrix_lines}
    for name in NAMES:
        for other in pages.stats[name]["opponents"]:
            meeting, line = meetings[name, other["name"]], lines[name, other["name"]]
            for key in ("matches", "wins", "draws", "losses"):
                assert meeting[key] == other[key] == int(line[key])
            for end, of_stats in (("score", "value"), ("score_low", "low"), ("score_high", "high")):
                assert meeting[end] == other["score"][of_stats] == float(line[end])
            assert meeting["blocks"] == other["score"]["blocks"]
    for player in pages.matrix["players"]:
        row = pages.row(player["name"])
        for key in ("rank", "rating", "rating_low", "rating_high", "matches", "group"):
            assert player[key] == row[key]
    assert [one["name"] for one in pages.matrix["players"]] == [row["player"] for row in pages.rows]
    text = squeezed(pages.matrix_text)
    assert all(shown(row, "rating", 2) in text for row in pages.rows)


def test_the_worth_of_a_seat_is_that_of_the_footer(pages: Pages) -> None:
    """In JSON with both ends of the 95 % interval, in skill and in points of score."""
    first, second = pages.document["standings"]["seats"]

    assert f"seat 0 {shown(first, 'points', 1, sign='+')}" in pages.table
    for name in ("points", "skill"):
        assert first[f"{name}_low"] < first[name] < first[f"{name}_high"]
        assert (second[f"{name}_low"], second[f"{name}_high"]) == pytest.approx(
            (-first[f"{name}_high"], -first[f"{name}_low"])
        )


def test_los_is_that_of_the_difference_in_the_matrix(pages: Pages) -> None:
    """The LOS of each row follows from the matrix's rating difference to the next row."""
    meetings = {(one["player"], one["opponent"]): one for one in pages.matrix["meetings"]}
    for row, below in zip(pages.rows, pages.rows[1:], strict=False):
        meeting = meetings[row["player"], below["player"]]
        half = (meeting["rating_difference_high"] - meeting["rating_difference_low"]) / 2
        z = Z_95 * meeting["rating_difference"] / half
        assert row["los"] == pytest.approx(math.erfc(-z / math.sqrt(2)) / 2, abs=1e-12)
        assert meeting["rating_difference"] == pytest.approx(row["rating"] - below["rating"], abs=1e-9)


def test_the_exported_matches_add_up_to_the_table(pages: Pages) -> None:
    """Whoever counts them again gets the same."""
    for name in NAMES:
        row = pages.row(name)
        own = [
            (one, 0 if one["player_0"] == name else 1)
            for one in pages.matches
            if name in (one["player_0"], one["player_1"])
        ]
        outcomes = Counter(
            "draws" if one["rank_0"] == one["rank_1"] else "wins" if float(one[f"rank_{seat}"]) == 0 else "losses"
            for one, seat in own
        )
        assert (len(own), *(outcomes[key] for key in ("wins", "draws", "losses"))) == tuple(
            row[key] for key in ("matches", "wins", "draws", "losses")
        )
        assert row["score"] == pytest.approx((outcomes["wins"] + outcomes["draws"] / 2) / len(own), abs=1e-12)
        margins = [
            float(one[f"score_{seat}"]) - float(one[f"score_{1 - seat}"]) for one, seat in own if one["score_0"] != ""
        ]
        assert row["margin"] == (pytest.approx(sum(margins) / len(margins), abs=1e-9) if margins else None)
        guilty = Counter(one["termination"] for one, seat in own if one["at_fault"] and float(one["at_fault"]) == seat)
        assert row["faults"] == guilty
        moves = sum(float(one[f"moves_{seat}"]) for one, seat in own)
        (times,) = (each for each in pages.document["timing"] if each["name"] == name)
        assert moves == times["moves"] == pages.stats[name]["times"]["moves"]
        if moves:
            spent = sum(float(one[f"time_us_{seat}"]) for one, seat in own if float(one[f"moves_{seat}"]))
            assert times["mean_ms"] == pytest.approx(spent / moves / 1e3, abs=1e-9)


def test_all_pages_tell_of_the_same_matches(pages: Pages) -> None:
    """Their number, and the origin of their luck."""
    standings = pages.document["standings"]
    played = standings["matches"]

    assert played == len(pages.matches) == pages.matrix["matches"]
    assert f"{played} of {standings['scheduled']} matches" in pages.table
    assert f"{played} of {standings['scheduled']} matches" in pages.status
    assert sum(row["matches"] for row in pages.rows) == 2 * played
    origin = pages.document["luck"]
    for text in (pages.table, pages.status, pages.matrix_text, *pages.stats_text.values()):
        assert origin in re.sub(r"\s+", " ", text)


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
    assert re.search(rf"^margin +{re.escape(shown(row, 'margin', 2, sign='+'))}$", margins, re.MULTILINE)


def test_the_table_tells_what_stopped_a_league(terminal: Terminal) -> None:
    """`until: decided`: the sentences of the status stand below the table, and in JSON."""
    rule = {"kind": "round_robin", "until": "decided", "step_blocks": 4, "cap_blocks": 8}
    run = terminal.league("random", "random", schedule=rule)

    status = terminal.arena("league status").out
    news = json.loads(terminal.arena("leaderboard --format json").out)["news"]

    assert news
    for text in (run.out, terminal.arena("leaderboard").out, status):
        assert all(sentence in text for sentence in news)
