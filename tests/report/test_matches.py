"""The matches of a league as text, CSV and JSON: every value can be read back, no name harms, nothing piles up."""

import csv
import io
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.golden import Golden
from support.made_matches import match_result
from support.report_leagues import HOSTILE

from arena.match.record import Forfeit, MatchRecord, RefusedAnswer, SeatRecord, Termination, pack
from arena.match.results import MatchKey, MatchResult
from arena.match.settings import ClockSettings
from arena.report.formats import Style
from arena.report.matches import MATCH_COLUMNS, MATCH_FORMATS, match_list
from arena.text import printable


def result(players: tuple[str, ...] = ("ann", "bob"), block: int = 0, rotation: int = 0, **changes: Any) -> MatchResult:
    """The first seat wins."""
    seats = range(len(players))
    fields = {
        "isolation": "sandbox",
        "moves": tuple(10 + seat for seat in seats),
        "time_us": tuple(1000 + seat for seat in seats),
        "slowest_us": tuple(100 + seat for seat in seats),
    }
    scores = () if "at_fault" in changes else (Fraction(7, 2), *[Fraction(1)] * len(players[1:]))
    return match_result(MatchKey("0123456789ab", block, rotation), players, scores, **{**fields, **changes})


def forfeit(**changes: Any) -> MatchResult:
    """The second seat ran out of time."""
    return result(at_fault=1, **changes)


def text(*results: MatchResult, form: str) -> str:
    return "".join(match_list(results, seats=len(results[0].players) if results else 2, form=form))


def table(*results: MatchResult) -> list[dict[str, Any]]:
    """The CSV as a program reads it."""
    return list(csv.DictReader(io.StringIO(text(*results, form="csv"))))


def test_lines_for_people(golden: Golden) -> None:
    """Id, seats, scores, the end, and the faults after which it went on."""
    pardoned = result(pardoned=({}, {"illegal_action": 2, "timeout": 1}), block=3)

    found = text(result(("ann", "bob", "cid")), forfeit(rotation=1), pardoned, form="table")

    golden(found)


def test_a_csv_line_has_all_of_a_match() -> None:
    """A column for each value of each seat; no value is an empty cell."""
    luck = result(block=12, rotation=1, luck=(250_000, -250_001), luck_version="2", pardoned=({"timeout": 1}, {}))

    first, second = table(luck, forfeit())

    by_seat = {
        "player": ("ann", "bob"),
        "rank": (0, 1),
        "score": (3.5, 1),
        "luck": (0.25, -0.250001),
        "moves": (10, 11),
        "time_us": (1000, 1001),
        "slowest_us": (100, 101),
        "startup_us": (0, 0),
        "idle_us": (0, 0),
        "timeouts_by_load": (0, 0),
        "pardoned": ("timeout 1", ""),
    }
    assert first == {
        "id": "0123456789ab-12-1",
        "pairing": "0123456789ab",
        "block": "12",
        "rotation": "1",
        "termination": "normal",
        "at_fault": "",
        "isolation": "sandbox",
        "luck_version": "2",
        **{f"{name}_{seat}": str(value) for name, values in by_seat.items() for seat, value in enumerate(values)},
    }
    assert [second[name] for name in ("termination", "at_fault", "score_0", "luck_1")] == ["timeout", "1", "", ""]


def test_json_is_one_document_with_a_match_a_line() -> None:
    """Read whole or line by line, the same; nothing is null without a reason."""
    many = [result(block=block, rotation=rotation) for block in range(2500) for rotation in (0, 1)]
    said = text(*many, forfeit(block=2500), form="json")

    whole = json.loads(said)
    lines = [json.loads(line.removesuffix(",")) for line in said.splitlines()[1:-1]]

    assert whole == lines
    assert [(one["block"], one["rotation"]) for one in whole] == [(one.key.block, one.key.rotation) for one in many] + [
        (2500, 0)
    ]
    assert whole[0]["scores"] == [3.5, 1]
    assert (whole[-1]["scores"], whole[-1]["luck"], whole[-1]["at_fault"]) == (None, None, 1)


@pytest.mark.parametrize("players", [("ann", "bob"), ("ann", "bob", "cid")])
def test_all_columns_have_a_meaning(players: tuple[str, ...]) -> None:
    """Meanings are in the order of the columns in CSV and JSON; reasons come with --faults only."""
    (row,) = table(result(players))
    known = MATCH_COLUMNS[:-1]

    assert [*row] == [field for each in known for field in each.fields(len(players))]
    assert [*json.loads(text(result(players), form="json"))[0]] == [each.key for each in known]
    assert MATCH_COLUMNS[-1].key == "reasons"
    assert [*json.loads(with_reasons("json", None))[0]] == [each.key for each in MATCH_COLUMNS]


@pytest.mark.parametrize(("form", "said"), [("table", ""), ("json", "[]\n")])
def test_a_league_without_matches(form: str, said: str) -> None:
    """A header, an empty list, nothing."""
    assert text(form=form) == said
    assert table() == []


@settings(max_examples=25)
@given(names=st.lists(st.sampled_from(HOSTILE) | st.text(max_size=10), min_size=2, max_size=4))
def test_no_name_harms(names: list[str]) -> None:
    """Whatever players are called (in a database that was edited): the same lines and columns, nothing that acts."""
    players = tuple(names)
    harmless = tuple(f"p{seat}" for seat in range(len(names)))
    match = result(players, isolation="=2\x1b", luck=(1,) * len(names), luck_version="\n+1")

    said = {form: text(match, match, form=form) for form in MATCH_FORMATS}
    plain = {form: text(result(harmless), result(harmless), form=form) for form in MATCH_FORMATS}

    for form in MATCH_FORMATS:
        lines = said[form].split("\n")
        assert len(lines) == len(plain[form].split("\n")), form
        assert "".join(lines).isprintable(), form
    for row in table(match):
        cells = [row[f"player_{seat}"] for seat in range(len(names))]
        assert all(cell in {printable(name), f"'{printable(name)}"} for cell, name in zip(cells, names, strict=True))
        assert not any(str(row[name]).startswith(("=", "+", "-", "@")) for name in ("isolation", "luck_version"))
        assert not any(cell.lstrip().startswith(("=", "+", "-", "@", "\uff1d")) for cell in cells)
    assert json.loads(said["json"])[0]["players"] == names


def with_reasons(form: str, width: int | None = None, said: str = "Error: no such card") -> str:
    """A match in which ann had six faults that were pardoned, and bob crashed."""
    refused = tuple(
        RefusedAnswer(step, "illegal_action", "found 9, expected 0 to 3", "no_card") for step in range(1, 6)
    )
    seats = (
        SeatRecord("ann", "a" * 64, 9, 0.0, 0.0, 0.0, {}, faults={"illegal_action": 6}, refusals=refused),
        SeatRecord("bob", "b" * 64, 8, 0.0, 0.0, 0.0, {}),
    )
    fault = Forfeit(1, "ended with exit code 1", "", "", f"Traceback\n{said}\n", ())
    one = forfeit(pardoned=({"illegal_action": 6}, {}), termination=Termination.CRASH)
    told = MatchRecord(
        match=str(one.key), arena="0", game="nim", rules="1", options={}, seed="", clock=ClockSettings().terms(),
        isolation="none", seats=seats, steps=(), ranks=one.ranks, scores=None, termination=one.termination, fault=fault,
    )  # fmt: skip
    one = replace(one, record=pack(told))
    return "".join(match_list([one], seats=2, form=form, has_reasons=True, style=Style(width=width)))


def test_reasons_of_faults_stand_below_their_match(golden: Golden) -> None:
    """Reasons are by seat, in lines of up to 80 columns, with the number of those that were not kept."""
    lines = with_reasons("table", 80).splitlines()

    golden(lines[1])
    assert lines[6:] == [
        "    ann: and 1 more fault after which the game went on",
        "    bob: crash: ended with exit code 1; the last line of its stderr: Error: no",
        "      such card",
    ]
    assert max(map(len, lines[1:])) <= 80


def test_reasons_of_faults_for_programs() -> None:
    """Sentences by seat, which no terminal obeys and no spreadsheet computes."""
    row = next(csv.DictReader(io.StringIO(with_reasons("csv", said="=1+\x1b[2J"))))
    (document,) = json.loads(with_reasons("json"))

    assert len(row["reasons_0"].split("; ")) == len(document["reasons"][0]) == 6
    assert row["reasons_1"].endswith("stderr: =1+\\x1b[2J")
    assert document["reasons"][1] == ["crash: ended with exit code 1; the last line of its stderr: Error: no such card"]


@pytest.mark.parametrize("form", MATCH_FORMATS)
def test_matches_pass_through(form: str) -> None:
    """Text comes while there are matches to come: of a million of them, some thousand are in memory."""
    taken = 0

    def endless() -> Iterator[MatchResult]:
        nonlocal taken
        while True:
            taken += 1
            yield result(block=taken)

    pieces = match_list(endless(), seats=2, form=form)
    lengths = []
    for _ in range(5):
        before = taken
        lengths.append(len(next(pieces)))
        assert taken - before <= 2000

    assert max(lengths) < 2_000_000
