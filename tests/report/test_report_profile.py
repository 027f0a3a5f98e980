"""One player's page: lines by opponent, seat and tenth, drift, times, faults and extremes, by hand."""

import csv
import io
import json
import re

import pytest
from report_leagues import (
    FOUR,
    HOSTILE,
    NUMBERS_THAT_ARE_NONE,
    forfeit,
    league,
    mirrored,
    odd_leagues,
    result,
    tournament,
)

from arena.errors import SpecError
from arena.match.results import MatchResult
from arena.report.formats import FORMATS
from arena.report.profile import Profile, profile
from arena.report.profile_page import render


def page_of(player: str, results: list[MatchResult]) -> Profile:
    return profile(tournament(), player, results, ids_of(results))


def ids_of(results: list[MatchResult]) -> list[str]:
    return [f"key-{one.key.block}-{FOUR.index(one.players[0])}" for one in results]


def test_lines_by_opponent() -> None:
    """The hardest first, with wins, draws, losses, score and margin of the matches against that one alone."""
    results = [*mirrored(0, "ann", "bob", 3, 1), *mirrored(1, "ann", "cid", -2, 0), *mirrored(2, "bob", "cid", 9, 9)]

    page = page_of("ann", results)

    cid, bob = page.opponents
    assert (cid.name, cid.wins, cid.draws, cid.losses, cid.score.value, cid.margin.value) == (
        "cid",
        0,
        1,
        1,
        0.25,
        -1.0,
    )
    assert (bob.name, bob.wins, bob.draws, bob.losses, bob.score.value, bob.margin.value) == ("bob", 2, 0, 0, 1.0, 2.0)
    assert (page.total.matches, page.total.score.value, page.total.margin.value) == (4, 0.625, 0.5)


def test_lines_by_seat() -> None:
    """What the player scored where it sat."""
    page = page_of("ann", [*mirrored(0, "ann", "bob", 3, -1), *mirrored(1, "ann", "bob", 5, 1)])

    assert [(line.name, line.wins, line.losses, line.margin.value) for line in page.seats] == [
        ("0", 2, 0, 4.0),
        ("1", 1, 1, 0.0),
    ]


def test_tenths_follow_the_schedule() -> None:
    """A player that loses everything in the last fifth of its blocks."""
    results = [one for block in range(50) for one in mirrored(block, "ann", "bob", *(((1, -1), (-1, -1))[block >= 40]))]

    page = page_of("ann", results)

    assert [line.name for line in page.tenths] == [str(number) for number in range(1, 11)]
    assert [line.score.value for line in page.tenths] == [0.5] * 8 + [0.0] * 2
    assert {line.matches for line in page.tenths} == {10}
    assert page.drift is not None
    assert page.drift.change.high < -0.2
    assert "Drift: the player gets worse" in render(page, format="table")


def test_few_blocks_are_not_cut_into_tenths() -> None:
    """Nor asked for drift."""
    page = page_of("ann", mirrored(0, "ann", "bob", 1, 1))

    assert (page.tenths, page.drift) == ((), None)
    assert "Drift: not tested" in render(page, format="table")


def test_who_never_decided_took_no_time() -> None:
    """A bot that did not start."""
    page = page_of("ann", [forfeit(0, ("ann", "bob"), 0, "crash", moves=(0, 0))])

    assert page.times.mean_ms is None
    assert "it never had to decide" in render(page, format="table")


def test_faults_come_with_the_ids_of_their_matches() -> None:
    """Own ones by kind, those of others counted; all ids in Markdown, the first ones in a terminal."""
    results = [forfeit(block, ("ann", "bob"), 0) for block in range(6)]
    results += [
        forfeit(6, ("bob", "ann"), 1, "crash"),
        forfeit(7, ("ann", "bob"), 1),
        result(8, ("ann", "bob"), (1, 0)),
    ]

    page = page_of("ann", results)

    text, markdown = render(page, format="table"), render(page, format="markdown")
    assert {kind.kind: len(kind.matches) for kind in page.faults} == {"timeout": 6, "crash": 1}
    assert (page.total.forfeits, page.opponents_forfeits, page.opponents[0].forfeits) == (7, 1, 7)
    assert "  6 timeout: key-0-0 key-1-0 key-2-0 key-3-0 and 2 more" in text
    assert "6 timeout: key-0-0 key-1-0 key-2-0 key-3-0 key-4-0 key-5-0" in markdown
    assert "  1 crash: key-6-1" in text


def test_biggest_wins_and_losses() -> None:
    """Three of each at most; a forfeit is neither, a draw is neither."""
    margins = [5, -9, 7, 0, 1, 9, -1]
    results = [result(block, ("ann", "bob"), (20 + margin, 20)) for block, margin in enumerate(margins)]

    page = page_of("ann", [*results, forfeit(9, ("ann", "bob"), 0)])

    assert [(one.match, one.margin) for one in page.wins] == [("key-5-0", 9), ("key-2-0", 7), ("key-0-0", 5)]
    assert [one.margin for one in page.losses] == [-9, -1]
    assert "+9 key-5-0 ann 29 : bob 20" in render(page, format="table")


def test_three_seats() -> None:
    """Against all: the place among three. Against one: that one only. By hand."""
    page = page_of("ann", [result(0, ("bob", "ann", "cid"), (9, 5, 2)), result(1, ("cid", "bob", "ann"), (4, 4, 8))])

    assert (page.total.wins, page.total.losses, page.total.score.value, page.total.margin.value) == (1, 1, 0.75, 0.0)
    assert [(line.name, line.score.value, line.margin.value) for line in page.opponents] == [
        ("bob", 0.5, 0.0),
        ("cid", 1.0, 3.5),
    ]
    assert [(line.name, line.score.value) for line in page.seats] == [("1", 0.5), ("2", 1.0)]


def test_the_head_says_who_it_is() -> None:
    """Bot, version, hash, and its rank among those it can be compared with."""
    page = page_of("cid", odd_leagues()["two groups"])

    lines = render(page, format="table").splitlines()
    assert lines[0] == "cid in test: bot bot2 1.10 (2abcdef0)"
    assert lines[1].startswith("60 matches in 30 blocks: 30-30-0, score 75.0 ±")
    assert re.fullmatch(r"Rank 1 of 2, skill \d\d\.\d\d ±\d\.\d\d by the MAP fit", lines[2])


def test_without_a_match_there_is_little_to_say() -> None:
    """Who it is, and that."""
    page = page_of("dan", mirrored(0, "ann", "bob", 1, 1))

    assert render(page, format="table") == "dan in test: bot bot3 1.10 (3abcdef0)\nNo match of it is stored."
    assert page.standing is None


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_page_fits_its_terminal(width: int) -> None:
    """Tables go without margins where it is narrow; ids of matches stay whole."""
    page = page_of("ann", league(dict(zip(FOUR, (24.0, 25.0, 26.0, 27.0), strict=True)), 30, 3))

    text = render(page, format="table", width=width)

    assert max(map(len, text.splitlines())) <= width
    assert ("margin" in text.split("Drift")[0].split("opponent")[1]) == (width >= 80)


def test_csv_tells_its_sections_apart() -> None:
    """One table: lines, times, faults and extremes, each with what it has."""
    results = [*mirrored(0, "ann", "bob", 3, -1), forfeit(1, ("ann", "bob"), 0)]

    rows = list(csv.DictReader(io.StringIO(render(page_of("ann", results), format="csv"))))

    sections = [row["section"] for row in rows]
    assert [section for place, section in enumerate(sections) if section not in sections[:place]] == [
        *("all", "opponent", "seat", "time", "fault", "win", "loss")
    ]
    fault = next(row for row in rows if row["section"] == "fault")
    assert (fault["name"], fault["match"]) == ("timeout", "key-1-0")
    assert {row["name"] for row in rows if row["section"] == "time"} >= {"mean_ms", "means_ms_p99"}


def test_json_has_all_of_it() -> None:
    """As calculated."""
    document = json.loads(render(page_of("ann", mirrored(0, "ann", "bob", 3, -1)), format="json"))

    assert document["opponents"][0]["score"] == {"value": 0.5, "error": None, "blocks": 1}
    assert document["wins"][0]["match"] == "key-0-0"
    assert document["times"]["decisions"] == 6


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", odd_leagues())
def test_odd_leagues_have_a_page(name: str, form: str) -> None:
    """For each player. Nothing is undefined or infinite, nothing fails."""
    for player in FOUR:
        text = render(page_of(player, odd_leagues()[name]), format=form, width=80)

        assert not NUMBERS_THAT_ARE_NONE.search(text)
        assert form != "json" or json.loads(text)["player"] == player


def test_no_name_breaks_a_format() -> None:
    """Rows stay rows, no control character gets out, no cell of a spreadsheet is a formula."""
    names = list(HOSTILE)
    results = [result(place, (names[0], name), (1, 0)) for place, name in enumerate(names[1:])]
    page = profile(tournament(names, name="te\x1bst"), names[0], results, [str(one.key.block) for one in results])

    table = render(page, format="table")
    markdown = render(page, format="markdown").splitlines()
    rows = list(csv.reader(io.StringIO(render(page, format="csv"))))

    assert all(char.isprintable() or char == "\n" for char in table)
    start = next(number for number, line in enumerate(markdown) if line.startswith("| opponent"))
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in markdown[start : start + 2 + len(results)]} == {7}
    assert {len(row) for row in rows} == {16}
    assert not any(cell.lstrip().startswith(("=", "+", "@")) for row in rows for cell in row[:2])


def test_an_unknown_format_is_refused() -> None:
    """With the known ones."""
    with pytest.raises(SpecError, match='unknown format "cvs"'):
        render(page_of("ann", []), format="cvs")
