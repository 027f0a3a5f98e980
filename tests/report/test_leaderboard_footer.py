"""Below the leaderboard: what it was made from, what its columns mean, and what not to conclude from it."""

import json
import re

import msgspec
import pytest
from leaderboard_made import below, cells, league, made, one

from arena.league.rows import Entrant
from arena.league.standings import MatchResult, timing
from arena.report.leaderboard import FORMATS, render

BAD_LEAGUES: dict[str, tuple[list[str], list[MatchResult]]] = {
    "no match": (["a", "b", "c"], []),
    "one match": (["a", "b", "c"], [one("a", "b", (3, 1))]),
    "one bot": (["a"], []),
    "no bot": ([], []),
    "only draws": (["a", "b"], [one("a", "b", (1, 1), block=n) for n in range(5)]),
    "only forfeits": (["a", "b"], [one("a", "b", None, block=n) for n in range(5)]),
    "groups": (["a", "b", "c", "d"], [one("a", "b", (3, 1)), one("c", "d", (2, 2), block=1, pairing=1)]),
    "one always wins": (["a", "b"], [one("a", "b", (9, 0), block=n) for n in range(400)]),
}


@pytest.mark.parametrize(("band", "letter"), [(1, "a"), (26, "z"), (27, "aa"), (53, "ba")])
def test_bands_have_letters_as_columns_of_a_spreadsheet(band: int, letter: str) -> None:
    """Beyond z there are two."""
    found, times = league(["a", "b"])
    rows = tuple(msgspec.structs.replace(row, band=band) for row in found.rows)

    lines = render(msgspec.structs.replace(found, rows=rows), times, format="table").splitlines()

    assert cells(lines[3])[9].endswith(f" {letter}")


def test_what_the_columns_mean_stands_below_them() -> None:
    """Of those that are there; and what a seat is worth, with its error."""
    arguments = league(["random", "greedy"])

    whole, narrow = below(render(*arguments, format="table")), below(render(*arguments, format="table", width=40))

    assert [line.split(":")[0] for line in whole[1:]] == [
        "MAP",
        "LOS",
        "what a seat is worth, in points of score %",
        "luck audit",
    ]
    assert re.fullmatch(r"what a seat .*: seat 0 [+-]\d+\.\d ±\d+\.\d", whole[3])
    assert not any(line.startswith(("MAP:", "LOS:")) for line in narrow)
    assert max(map(len, narrow)) <= 40


@pytest.mark.parametrize("width", [None, 80])
@pytest.mark.parametrize("chosen", FORMATS)
@pytest.mark.parametrize("kind", BAD_LEAGUES)
def test_any_league_has_a_leaderboard(kind: str, chosen: str, width: int | None) -> None:
    """In every format, without a number that is none."""
    names, results = BAD_LEAGUES[kind]
    field = [Entrant(name=name, bot=name, version="1", hash="00" * 32) for name in names]
    found = made(field, results, scheduled=max(1, len(results)))

    text = render(found, timing(field, results), format=chosen, width=width)

    assert not re.search(r"\b(nan|inf|infinity|none|null)\b", text if chosen != "json" else "", re.IGNORECASE)
    assert chosen != "json" or len(json.loads(text)["standings"]["rows"]) == len(names)


def test_players_whom_nothing_connects_are_told() -> None:
    """Groups by name, who has no match by itself; no likelihood across."""
    names = ["a", "b", "c", "d", "idle"]
    field = [Entrant(name=name, bot=name, version="1", hash="00" * 32) for name in names]
    results = [one("a", "b", (3, 1)), one("c", "d", (2, 1), block=1, pairing=1)]

    found = below(render(made(field, results, scheduled=9), None, format="table"))

    assert found[-2:] == [
        "WARNING: no match connects these groups, so they cannot be compared: a, b | c, d",
        "without a match: idle",
    ]


def test_an_order_that_the_skills_contradict_is_warned_of() -> None:
    """With the pairs it is about, the first of them if there are many."""
    found, times = league(["a" * 100, "b"])
    wrong = msgspec.structs.replace(found, contradictions=(("a" * 100, "b"),) * 7)

    lines = below(render(wrong, times, format="table"))

    (warning,) = [line for line in lines if line.startswith("WARNING")]
    assert warning.count("b better than aaa") == 5
    assert warning.endswith(" and 2 more")
    assert len(warning) < 300


def test_matches_without_a_sandbox_are_told() -> None:
    """As many as there are, and what it means."""
    standing, times = league(["a", "b"], isolations=("sandbox", "none", "none", "sandbox"))

    found = render(standing, times, format="table")

    assert "isolation: none in 2 matches, sandbox in 2 matches. UNSANDBOXED: bots could read the files" in found


def test_the_table_tells_when_it_is_incomplete() -> None:
    """The order is another one then."""
    found = render(*league(["a", "b"], scheduled=9), format="table")

    assert below(found)[0] == "4 of 9 matches, incomplete, so sorted by mu-3s; draws 25.0 %; isolation: sandbox"
