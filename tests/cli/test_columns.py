"""Columns and widths of tables on the command line, ids that other programs take, and options in errors as typed."""

import csv
import io
import json
import os
from pathlib import Path

import click
import pytest
from support.cli_arena import Terminal, commands
from support.golden import Golden

from arena.cli.options import page_width

NAMES = "rank,player,score,W-D-L,TrueSkill,rating,ahead"
WIDE_TABLES = ("leaderboard", "stats p0", "league matches", "league run league.yaml", "match random random --game nim")


@pytest.fixture
def played(terminal: Terminal) -> Terminal:
    """Return a terminal with a league of nim, two blocks of two players."""
    terminal.played()
    return terminal


@pytest.mark.process
def test_every_wide_table_has_the_same_options(played: Terminal) -> None:
    """`--columns all` shows all and says what each means; nothing of that changes what is stored."""
    kept = played.arena("leaderboard --format json --no-timing").out

    for command in WIDE_TABLES:
        plain, wide = (played.arena(f"{command}{flags}") for flags in ("", " --columns all"))
        assert [plain.code, wide.code] == [0, 0], wide.err
        assert max(map(len, wide.out.splitlines())) >= max(map(len, plain.out.splitlines()))
        assert "\nscore: " in wide.out
        assert "\nscore: " not in plain.out
    assert played.arena("leaderboard --format json --no-timing").out == kept
    assert played.arena("verify").code == 0


@pytest.mark.process
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("leaderboard --columns score,palyer", "known: rank, player, score, W-D-L, TrueSkill, rating, "),
        ("stats p0 --columns palyer", "known: name, matches, score, W-D-L, margin, forfeits, luck-adjusted"),
        ("league matches --format json --columns scroe", 'did you mean "score"?'),
        ("matrix --columns score", "those of the matrix are its players"),
        ("match random random --game nim --columns nmae", 'unknown column "nmae"'),
        ("leaderboard --columns ,", "expected names with commas between them"),
        ("leaderboard --no-timing --columns ms/move", 'unknown column "ms/move"'),
    ],
)
def test_columns_that_cannot_be_shown_are_told(played: Terminal, command: str, said: str) -> None:
    """In a sentence with the known ones, and the option."""
    found = played.arena(command)

    assert (found.code, found.out) == (2, "")
    assert "--columns" in found.err
    assert said in found.err


def test_an_unknown_column_ends_a_league_before_its_first_match(terminal: Terminal, golden: Golden) -> None:
    """An unknown column ends a league before its first match, not after the last."""
    said = terminal.league(flags="--columns nmae")

    assert said.code == 2
    golden(said.err)
    assert not (terminal.results / "arena.db").exists()


@pytest.mark.process
def test_lists_of_matches_have_the_columns_that_are_asked_for(played: Terminal) -> None:
    """In each format; JSON has those of CSV."""
    text = played.arena("league matches --columns id,player,rank_1 --format csv").out
    rows = list(csv.DictReader(io.StringIO(text)))

    assert [*rows[0]] == ["id", "player_0", "player_1", "rank_1"]
    as_json = json.loads(played.arena("league matches --columns id,players,rank1 --format json").out)
    assert [{name: str(value) for name, value in row.items()} for row in as_json] == rows
    lines = played.arena("league matches --columns id,player,rank_1").out.splitlines()
    assert [line.split("  ") for line in lines] == [[*row.values()] for row in rows]


PAGES = ("leaderboard", "leaderboard --columns all", "stats p0", "matrix", "tournaments", "bots")


@pytest.mark.process
def test_the_width_is_that_of_columns(played: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pipe, too; no words are lost, and only a single one is longer than a line."""
    width = 80
    for page in PAGES:
        monkeypatch.delenv("COLUMNS", raising=False)
        free = played.arena(page).out
        monkeypatch.setenv("COLUMNS", str(width))
        said = played.arena(page).out

        assert set(free.split()) - set(said.split()) <= {word for word in free.split() if set(word) <= {"-"}}
        assert [line for line in said.splitlines() if len(line) > width and len(line.split()) > 1] == []
        monkeypatch.setenv("COLUMNS", "40")
        assert played.arena(page).out != said


@pytest.mark.parametrize("nonsense", ["0", "wide"])
def test_columns_that_is_no_width_is_none(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, nonsense: str) -> None:
    """Without a width in COLUMNS each description is one line, as without the variable."""
    monkeypatch.delenv("COLUMNS", raising=False)
    free = terminal.arena("bots").out
    monkeypatch.setenv("COLUMNS", nonsense)

    assert terminal.arena("bots").out == free
    assert max(map(len, free.splitlines())) > 100


def test_the_width_of_a_terminal_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless COLUMNS says another one, as for all programs."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: os.terminal_size((70, 24)))

    own = page_width()
    monkeypatch.setenv("COLUMNS", "50")

    assert (own, page_width()) == (70, 50)


WRONG = {
    "--as": "nobody",
    "--expect": "[1",
    "--name": "a/b",
    "--bots": "none",
    "compare --blocks": "3",
    "--cluster": "local:0",
    "--game": "go",
    "--lang": "cobol",
    "--options": '{"none": 1}',
    "--players": "nobody",
    "--results": "league.yaml",
    "--root": "none",
    "--secret-file": "none",
    "--step": "0",
    "--to": ".",
    "positions save --to": "league.yaml",
    "submit --to": "league.yaml",
    "--baseline": "nobody",
}
"""Values that are wrong wherever they are given; every other option refuses the text `?`."""
ARGUMENTS = {
    "submit": "./bot.py",
    "check": "random --game nim",
    "withdraw": "random",
    "new-bot": "mine",
    "new-game": "mine",
    "check-game": "nim",
    "match": "random random --game nim",
    "compare": "random random --game nim",
    "play": "random --game nim",
    "league run": "league.yaml",
    "league reveal": "test",
    "stats": "p0",
    "grades": "--yardstick p0",
    "report": "--to reports",
    "show": "MATCH",
    "ask": "random MATCH --as p0",
    "coach": "--league test",
    "positions save": "MATCH p0 --step 1 --to set",
    "positions run": "random set",
    "completion": "bash",
    "site build": "--to site",
    "worker": "tls://127.0.0.1:1",
}
ANY_TEXT = {"--seed", "--name", "--owner", "--lines"}  # it is taken, or named as a player


def valued_options() -> list[tuple[str, str]]:
    """(command, option) of every option that takes a value which can be wrong."""
    return [
        (words, option.opts[0])
        for words, command in commands().items()
        if not isinstance(command, click.Group)
        for option in command.params
        if isinstance(option, click.Option) and not option.is_flag and option.opts[0] not in ANY_TEXT
    ]


@pytest.mark.process
def test_an_error_names_the_option_as_it_is_typed(played: Terminal) -> None:
    """Whatever finds the value wrong: the command line, the game, the settings of a match or of a test."""
    Path("bot.py").write_text("#!/usr/bin/env python3\n")
    match = played.first_match()
    silent = []

    for command, option in valued_options():
        given = ARGUMENTS.get(command, "").replace("MATCH", match)
        said = played.arena(f"{command} {given}", option, WRONG.get(f"{command} {option}", WRONG.get(option, "?")))
        assert said.code == 2, (command, option, said)
        told = said.err.replace("Usage: arena", "").split("--help' for help.")[-1]
        if option not in told:
            silent.append((command, option, told))

    assert silent == []
