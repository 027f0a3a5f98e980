"""`arena league`, `leaderboard`, `show` and `verify` in this process, with real bots."""

import re
from pathlib import Path

import pytest
from support.cli_arena import Terminal
from support.golden import Golden

pytestmark = pytest.mark.process


def test_run_status_matches_leaderboard(terminal: Terminal, golden: Golden) -> None:
    """The way of a league: played, counted, listed, ranked."""
    ran = terminal.league("random", "random", "random", cycles=3)

    status = terminal.arena("league status")
    matches = terminal.arena("league matches test")
    board = terminal.arena("leaderboard")

    assert ran.code == status.code == matches.code == board.code == 0
    assert ran.err == ""
    of_league, luck, history = status.out.splitlines()
    golden(of_league)
    golden(luck)
    assert re.fullmatch("history: 18:[0-9a-f]{64}", history)
    assert len(matches.out.splitlines()) == 18
    assert terminal.arena("league matches test --faults").out == ""
    assert f"{board.out}\n{history}\n" == ran.out
    head = history.removeprefix("history: ")
    verified = terminal.arena(f"verify --root {head}")
    assert (verified.code, "history: the first 18 matches have the root that was given" in verified.out) == (0, True)
    assert terminal.arena(f"verify --root 17{head[2:]}").code == 1
    assert terminal.arena("verify --root 17").code == 2
    golden(board.out)


def test_show_and_verify(terminal: Terminal, golden: Golden) -> None:
    """A stored match is replayed step by step, drawn, and verified."""
    terminal.played()
    match_id = terminal.first_match()

    shown = terminal.arena(f"show {match_id} --states --to match.svg --step 1")
    verified = terminal.arena("verify")

    assert shown.code == verified.code == 0
    assert "wins: " in shown.out
    assert Path("match.svg").read_text().startswith("<svg")
    golden(verified.out)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("show nothing", 'no match "nothing"'),
        ("league status tset", 'no league "tset" in results/arena.db; known: test'),
        ("league status test.yaml", "known: test; give the name of the league, not its file"),
        ("league matches tset", 'no league "tset"'),
        *((f"{command} tset", 'no league "tset"') for command in ("leaderboard", "verify", "stats p0", "matrix")),
        ("stats pp1", 'league test: unknown player "pp1"; known: p0, p1; did you mean "p1"?'),
    ],
)
def test_unknown_names_exit_with_2(terminal: Terminal, line: str, said: str) -> None:
    """The known ones are listed."""
    terminal.played()

    found = terminal.arena(line)

    assert found.code == 2
    assert said in found.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--to x.svg --step 99", "error: --step 99: the match has "),
        ("--to nowhere/x.svg", "error: nowhere/x.svg: No such file or directory\n"),
    ],
)
def test_a_picture_that_cannot_be_made(terminal: Terminal, options: str, said: str) -> None:
    """The number of steps is told, or the place; no traceback, no file."""
    terminal.played()

    found = terminal.arena(f"show {terminal.first_match()} {options}")

    assert (found.code, said in found.err) == (2, True), found.err
    assert not list(Path().rglob("x.svg"))


def test_a_wrong_file_stores_nothing(terminal: Terminal, golden: Golden) -> None:
    """The place is named, exit 2, no database is made."""
    said = terminal.league(players=[{"bot": "random"}, {"bot": "rnadom"}])

    assert said.code == 2
    golden(said.err)
    assert not terminal.results.exists()


def test_the_only_league_need_not_be_named(terminal: Terminal) -> None:
    """For its list of matches too; with two it has to be said which."""
    terminal.played()
    only = terminal.arena("league matches")
    terminal.league(name="other", seed=2)
    which = [terminal.arena(command) for command in ("league matches", "leaderboard")]

    assert len(only.out.splitlines()) == 4
    assert [(said.code, said.err) for said in which] == [(2, "error: which league? known: other, test\n")] * 2
