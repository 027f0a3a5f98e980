"""The pages of a league in every format: no league breaks one, and no name."""

import csv
import io
import json
import re
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.made_matches import SETTINGS
from support.report_leagues import (
    FOUR,
    HOSTILE,
    NUMBERS_THAT_ARE_NONE,
    odd_leagues,
    profile_of,
    ranks_of,
    result,
    tables,
)

from arena.match.results import MatchResult
from arena.report.formats import FORMATS, Style
from arena.report.leaderboard import leaderboard_page
from arena.report.matrix import matrix_page
from arena.report.page import Page
from arena.report.profile import profile_page
from arena.standings.matrix import compare_players

UNESCAPED = r"(?<!\\)(?:\\\\)*"


def pages(results: list[MatchResult], names: tuple[str, ...], players: tuple[str, ...]) -> list[Page]:
    """The leaderboard, the matrix, and the page of each of `players`."""
    matrix = compare_players("test", names, ranks_of(results), SETTINGS)
    profiles = [profile_page(profile_of(name, results, names)) for name in players]
    return [leaderboard_page(*tables(results, names)), matrix_page(matrix), *profiles]


@cache
def odd_pages(name: str) -> list[Page]:
    """The pages of an odd league, for all formats."""
    return pages(odd_leagues()[name], FOUR, FOUR)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", odd_leagues())
def test_odd_leagues_have_pages(name: str, form: str) -> None:
    """No page fails, and no number is undefined or infinite."""
    for page in odd_pages(name):
        text = page.render(form, Style(width=80))

        assert not NUMBERS_THAT_ARE_NONE.search(text)
        assert form != "json" or json.loads(text)


def test_a_league_without_players_has_a_leaderboard() -> None:
    """The leaderboard exists in every format."""
    assert all(leaderboard_page(*tables([], ())).render(form) for form in FORMATS[:2])


names = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(codec="utf-8"))), min_size=2, max_size=4)


@settings(max_examples=10)
@given(names.map(lambda drawn: tuple(dict.fromkeys([*drawn, "a", "b"]))))
@example(HOSTILE)
def test_no_name_breaks_a_format(hostile: tuple[str, ...]) -> None:
    """Lines and columns are those of plain names, no control character gets out, no cell is a formula."""
    plain = tuple(f"p{number:02}" for number in range(len(hostile)))
    ours, theirs = (
        pages([result(place, (field[0], other), (1, 0)) for place, other in enumerate(field[1:])], field, field[:1])
        for field in (hostile, plain)
    )
    for number, (page, harmless) in enumerate(zip(ours, theirs, strict=True)):
        said = {form: page.render(form, Style(is_wide=number != 1)) for form in FORMATS}
        for form, text in said.items():
            assert all(char.isprintable() or char == "\n" for char in text)
            assert text.count("\n") == harmless.render(form, Style(is_wide=number != 1)).count("\n"), form
        for table in re.findall(r"(?:^\|.*\n?)+", said["markdown"], re.MULTILINE):
            assert len({len(re.findall(rf"{UNESCAPED}\|", line)) for line in table.strip().split("\n")}) == 1
            assert number == 1 or not re.search(rf"{UNESCAPED}[<`\[]", table)
        cells = [*csv.reader(io.StringIO(said["csv"]))]
        assert len({len(row) for row in cells}) == 1
        for cell in (cell.lstrip() for row in cells for cell in row):
            assert not cell.startswith(("=", "+", "@"))
            assert not cell.startswith("-") or float(cell) <= 0
        json.loads(said["json"])
