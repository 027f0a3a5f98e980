"""`arena stats` and `matrix` in this process, over a league of real bots."""

import csv
import io
import json
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal

from arena.cli.options import wants_colours
from arena.report.formats import FORMATS

COMMAND_LINES = ("stats p1", "matrix")


@pytest.mark.process
def test_the_page_of_a_bot_names_fields_that_were_ignored(terminal: Terminal) -> None:
    """In the terminal, as JSON and on the site; other players have none."""
    Path("typo.py").write_text(bot_script().replace('"note":', '"notes":'))
    terminal.played("./typo.py", "random", cycles=1)

    page, other = terminal.arena("stats p0"), terminal.arena("stats p1")
    assert 'unknown field "notes"' in page.out
    assert 'did you mean "note"?' in page.out
    assert "unknown field" not in other.out
    assert len(json.loads(terminal.arena("stats p0 --format json").out)["ignored"]) == 1
    assert terminal.arena("site build --to site").code == 0
    assert ["did you mean" in path.read_text() for path in sorted(Path("site").rglob("player-*.html"))] == [True, False]


@pytest.mark.process
def test_the_pages_of_a_league(terminal: Terminal) -> None:
    """Each command prints in each format, without colours in a pipe, and with ids of matches."""
    terminal.played("random", "random", "random", cycles=12)

    for command in COMMAND_LINES:
        for form in FORMATS:
            said = terminal.arena(f"{command} --format {form}")
            assert (said.code, said.err) == (0, ""), command
            assert "\x1b" not in said.out

    page, cells = terminal.arena("stats p1 test").out, terminal.arena("matrix test --format csv").out
    document = json.loads(terminal.arena("stats p1 --format json").out)
    assert page.startswith("p1 in test: bot random ")
    assert "48 matches in 24 blocks" in page
    best = terminal.arena("matrix test --format csv --players 2").out
    assert [len(list(csv.DictReader(io.StringIO(text)))) for text in (cells, best)] == [6, 2]
    ids = {one["match"] for one in (*document["wins"], *document["losses"])}
    listed = {line.split()[0] for line in terminal.arena("league matches test").out.splitlines()}
    assert ids
    assert ids <= listed
    assert terminal.arena(f"show {ids.pop()}").code == 0


@pytest.mark.process
def test_luck_is_for_games_that_know_theirs(terminal: Terminal) -> None:
    """Nim has none, and says so; Shanghaien's is measured by replaying its matches."""
    terminal.league("random", "random", cycles=1)
    refused, without = terminal.arena("stats p0 test --luck"), terminal.arena("stats p0 test")
    terminal.league("greedy", "random", cycles=1, name="dice", game="shanghaien")

    said = terminal.arena("stats p0 dice --luck")

    assert (refused.code, refused.out) == (2, "")
    assert "--luck: nim has no value function" in refused.err
    assert "luck-adjusted score: not shown, as nim has no value function" in without.out
    assert (said.code, said.err) == (0, "")
    assert "luck-adjusted score" in said.out


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, True),
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "dumb"}, False),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": "", "TERM": "xterm"}, True),
    ],
)
def test_colours_can_be_refused(environment: dict[str, str], expected: bool) -> None:
    """NO_COLOR (any text but the empty one) and TERM=dumb turn colours off."""
    assert wants_colours(environment) is expected
