"""The leaderboard: each format says what the standings say, and no name can break one."""

import csv
import io
import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from leaderboard_made import below, cells, league, made

from arena.errors import SpecError
from arena.report.formats import LONGEST_NAME
from arena.report.leaderboard import FORMATS, render
from arena.standings.rows import Entrant
from arena.standings.table import Standings, standings_json, timing

HOSTILE = [
    "two\nlines",
    "\x1b[31mred\x1b[0m",
    "\x9b2J",
    "a|b",
    "a\\|b",
    "=HYPERLINK(1)",
    "+1",
    "-2+3",
    "@SUM(A1)",
    " =1+1",
    "\t=1+1",
    "\uff1d1+1",
    'quo"te, comma; semicolon',
    "<img src=x>",
    "[link](http://example.org)",
    "`code`",
    "\u202egnp.exe",
    "\u2028",
    "1e5",
    "\x01",
    "'",
    "",
]


def test_the_table_tells_it_to_a_person() -> None:
    """Score with its error, results, margin, ratings, seats, faults and time; below it, what it is made from."""
    found = render(*league(["random", "greedy"]), format="table")

    lines = found.splitlines()
    assert cells(lines[0]) == [
        *("#", "player", "score %", "W-D-L", "margin", "mu", "sigma", "mu-3s", "MAP", "LOS %", "seat 0/1", "faults"),
        "ms/move",
    ]
    assert cells(lines[3])[:4] == ["1", "random", "87.5 ±24.5", "3-1-0"]
    assert cells(lines[4])[:5] == ["2", "greedy", "12.5 ±24.5", "0-1-3", "-8.67 ±5.78"]
    assert re.fullmatch(r"\d\d\.\d\d ±\d\.\d\d", cells(lines[3])[8])
    assert re.fullmatch(r"\d\d\.\d a", cells(lines[3])[9])
    assert cells(lines[3])[10:] == ["100.0/75.0", "-", "3.75/61.50"]
    assert cells(lines[4])[9:] == ["- a", "25.0/ 0.0", "1 timeout", "3.75/61.50"]
    assert below(found)[0] == "4 of 4 matches, sorted by mu; draws 25.0 %; isolation: sandbox"


def test_a_table_before_the_first_match() -> None:
    """No numbers where there are none, and no seats."""
    field = [Entrant("a", "a", "1", "00"), Entrant("b", "b", "1", "11")]

    found = render(made(field, [], scheduled=2), timing(field, []), format="table")

    lines = found.splitlines()
    assert cells(lines[3]) == ["1", "a", "-", "0-0-0", "-", "25.00", "8.33", "0.00", "-", "- a", "-", "-"]
    assert lines[-1] == "0 of 2 matches, incomplete, so sorted by mu-3s; isolation: not stated"


def test_the_numbers_stand_below_each_other() -> None:
    """Every line of the table is as wide as its rule, or ends earlier."""
    found = render(*league(["random", "greedy", "player_three"]), format="table").splitlines()[:6]

    assert max(map(len, found)) == len(found[2])
    assert len({line.index("±") for line in found[3:] if "±" in line}) == 1


def equal_blocks(score: float, blocks: int) -> Standings:
    """The league with its first row's blocks all alike."""
    found, _ = league(["a", "b"])
    row = msgspec.structs.replace(found.rows[0], score=score, score_error=0.0, margin_error=0.0, matches=2 * blocks)
    return msgspec.structs.replace(found, rows=(row, found.rows[1]))


@pytest.mark.parametrize(
    ("score", "blocks", "cell"),
    [
        (1.0, 100, "100.0 - 3.0"),
        (0.0, 100, "0.0 + 3.0"),
        (1.0, 1, "100.0 -95.0"),
        (1.0, 1000, "100.0 - 0.3"),
        (0.5, 100, "50.0 ± 1.5"),
    ],
)
def test_equal_blocks_have_a_bound_in_the_place_of_no_error(score: float, blocks: int, cell: str) -> None:
    """About 3 / blocks, one-sided at the ends; a margin without spread has no error. JSON keeps what was computed."""
    found = equal_blocks(score, blocks)

    lines = render(found, None, format="table").splitlines()
    assert cells(lines[3])[2] == cell
    assert re.search(r"± +- ", lines[3])
    assert "where all blocks are equal, a one-sided 95 % bound" in lines[lines.index("") + 1]
    assert cell in render(found, None, format="markdown")
    assert json.loads(render(found, None, format="json"))["standings"]["rows"][0]["score_error"] == 0.0


def headers(width: int | None, *, scheduled: int = 4) -> list[str]:
    found, times = league(["random", "greedy"], scheduled=scheduled)
    text = render(found, times, format="table", width=width)
    assert width is None or width < 85 or max(map(len, text.splitlines())) <= width
    return cells(text.splitlines()[0])


def test_a_narrow_terminal_goes_without_some_columns() -> None:
    """Sigma first, then mu-3s, the seats and so on; nothing where there is room, and nothing of the other formats."""
    whole = headers(None)
    lines = render(*league(["random", "greedy"]), format="table").splitlines()
    widest = max(map(len, lines[: lines.index("")]))

    assert headers(widest) == whole
    assert set(whole) - set(headers(widest - 1)) == {"sigma"}
    assert set(whole) - set(headers(widest - 12)) == {"sigma", "mu-3s"}
    assert set(whole) - set(headers(widest - 28)) == {"sigma", "mu-3s", "seat 0/1"}
    assert headers(20) == ["#", "player", "score %", "W-D-L", "mu", "faults", "ms/move"]
    assert "mu-3s" in headers(20, scheduled=9)
    arguments = league(["random", "greedy"])
    assert render(*arguments, format="csv", width=20) == render(*arguments, format="csv")


@pytest.mark.parametrize(
    ("width", "left_out"),
    [(140, {"sigma", "mu-3s"}), (120, {"sigma", "mu-3s", "seat 0/1", "margin"})],
)
def test_ordinary_names_fit_a_terminal(width: int, left_out: set[str]) -> None:
    """Names at the limit, a kind of fault, thousands of matches: with the skill and its likelihood all the same."""
    found, times = league(["x" * LONGEST_NAME, "y" * LONGEST_NAME])
    busy = {"wins": 1234, "draws": 123, "losses": 1234, "faults": {"illegal_action": 12}}
    rows = tuple(msgspec.structs.replace(row, **busy) for row in found.rows)

    lines = render(msgspec.structs.replace(found, rows=rows), times, format="table", width=width).splitlines()

    assert max(map(len, lines)) <= width
    assert set(headers(None)) - set(cells(lines[0])) == left_out


def test_long_names_lose_their_middle_but_stay_different() -> None:
    """The table is stretched as far as it takes to tell two players apart, up to a limit."""
    plain = ["monte-carlo-tree-search--depth=12", "another-monte-carlo-tree-search--depth=12"]
    alike = ["monte-carlo-tree-search-v1--depth=12", "monte-carlo-tree-search-v2--depth=12"]

    short = render(*league(plain), format="table").splitlines()
    stretched = render(*league(alike), format="table").splitlines()

    assert cells(short[3])[1] == "monte-carlo-tre…depth=12"
    assert len({cells(line)[1] for line in stretched[3:5]}) == 2
    assert len(cells(render(*league(["a" * 5000, "b"]), format="table").splitlines()[3])[1]) == LONGEST_NAME


def test_many_kinds_of_faults_are_added_up() -> None:
    """The most frequent two by name in a terminal, all in Markdown."""
    found, _ = league(["a", "b"])
    faults = {"illegal_action": 1, "malformed_reply": 2, "timeout": 30, "crash": 4}
    rows = (msgspec.structs.replace(found.rows[0], faults=faults), found.rows[1])
    faulty = msgspec.structs.replace(found, rows=rows)

    assert "30 timeout, 4 crash, 3 more" in render(faulty, None, format="table")
    assert "30 timeout, 4 crash, 2 malformed, 1 illegal" in render(faulty, None, format="markdown")


def test_markdown_is_a_table_for_github() -> None:
    """With the bot, its version and the start of its hash; underscores inside a word need no escape."""
    found = render(*league(["greedy_v2", "_random_"]), format="markdown").splitlines()

    assert re.fullmatch(r"\|(:?-+:?\|)+", found[1])
    assert [cell.strip() for cell in found[2].split("|")][1:5] == [
        *("1", "greedy_v2", "greedy_v2 1.10 (01234567)", "87.5 ±24.5")
    ]
    assert [cell.strip() for cell in found[3].split("|")][2] == r"\_random\_"


def test_csv_has_a_value_per_column() -> None:
    """Text is quoted and numbers are plain, so that a version of 1.10 stays text; unknown is empty."""
    found = render(*league(["a", "b", "c"]), format="csv")

    rows = list(csv.DictReader(io.StringIO(found)))
    first, last = rows[0], next(row for row in rows if row["name"] == "c")
    assert ',"1.10",' in found
    assert (first["rank"], first["wins"], first["score"], first["score_seat_1"]) == ("1", "3", "0.875", "0.75")
    assert (first["faults_timeout"], rows[-1]["faults_timeout"]) == ("0", "1")
    assert (first["moves"], first["mean_ms"], first["slowest_ms"]) == ("60", "3.75", "61.5")
    assert (last["score"], last["mean_margin"], last["mean_ms"]) == ("", "", "")


def test_json_holds_the_canonical_standings() -> None:
    """Byte by byte, with the timing beside it."""
    found, times = league(["a", "b"])

    text = render(found, times, format="json")

    assert standings_json(found).decode() in text
    assert json.loads(text)["timing"] == [msgspec.to_builtins(one) for one in times]


@pytest.mark.parametrize("chosen", FORMATS)
def test_without_timing_nothing_tells_of_time(chosen: str) -> None:
    """Then equal results give equal text in every format."""
    found, _ = league(["a", "b"])

    text = render(found, None, format=chosen)

    assert "ms/move" not in text
    assert "_ms" not in text
    assert '"timing"' not in text


def test_an_unknown_format_is_refused() -> None:
    """With the known ones."""
    with pytest.raises(SpecError) as refused:
        render(*league(["a", "b"]), format="cvs")

    assert str(refused.value) == 'unknown format "cvs"; known: table, markdown, csv, json; did you mean "csv"?'


def check_plain_lines(text: str, count: int) -> list[str]:
    assert all(char.isprintable() or char == "\n" for char in text)
    lines = text.split("\n")
    assert len(lines) == count
    return lines


names = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(codec="utf-8"))), min_size=2, max_size=5)


@settings(max_examples=60, deadline=None)
@given(names.map(lambda found: list(dict.fromkeys([*found, "a", "b"]))))
@example(HOSTILE)
def test_no_name_breaks_a_format(hostile: list[str]) -> None:
    """Rows and columns stay what they are, no control character gets out, no cell is a formula."""
    arguments: Any = league(hostile)

    sentences = len(below(render(*arguments, format="table")))
    check_plain_lines(render(*arguments, format="table"), 3 + len(hostile) + 1 + sentences)
    lines = check_plain_lines(render(*arguments, format="markdown"), 2 + len(hostile) + 2 * sentences)
    text = render(*arguments, format="csv")
    document = json.loads(render(*arguments, format="json"))

    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines[: 2 + len(hostile)]} == {15}
    assert not any(re.search(r"(?<!\\)(?:\\\\)*[<`\[]", line) for line in lines[2 + len(hostile) :])
    rows = list(csv.reader(io.StringIO(text)))
    assert len(check_plain_lines(text, len(hostile) + 1)) == len(rows)
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for row in rows for cell in row[1:5])
    assert {row["name"] for row in document["standings"]["rows"]} == set(hostile)
