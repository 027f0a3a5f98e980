"""What the command line says of itself, and its exit codes."""

import re
import shlex
from pathlib import Path

import click
import pytest
from support.cli_arena import Terminal, commands
from support.golden import Golden

from arena import __version__
from arena.cli import COMMAND_MODULES, cli


@pytest.mark.parametrize("words", commands())
def test_every_command_has_an_example_that_parses(words: str) -> None:
    """`--help` ends with a command line of that very command, which click accepts."""
    text = commands()[words].help or ""
    (example,) = re.findall(r"Example: arena (.+)", text)
    arguments = shlex.split(example)

    command: click.Command | None = cli
    while isinstance(command, click.Group):
        _, command, arguments = command.resolve_command(click.Context(command), arguments)
    assert command is not None
    context = command.make_context("arena", arguments)

    assert example.startswith(words)
    assert set(context.params) == {str(each.name) for each in command.params}


@pytest.mark.parametrize("words", ["", *commands()])
def test_help_is_on_stdout(terminal: Terminal, words: str) -> None:
    """Exit 0, nothing on stderr, the usage first, lines within a terminal's width."""
    said = terminal.arena(f"{words} --help")

    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"Usage: arena {words}".rstrip())
    assert max(map(len, said.out.splitlines())) <= 100


def test_every_listed_command_exists(terminal: Terminal) -> None:
    """The table of commands and the commands are the same, and the help lists them all."""
    out = terminal.arena("--help").out

    assert all(re.search(rf"^  {name} ", out, re.MULTILINE) for name in COMMAND_MODULES)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("leag", 'did you mean "league"?'),
        (
            "league rnu",
            'unknown command "rnu"; known: close, history, matches, reveal, run, status; did you mean "run"?',
        ),
        ("run first", 'no command "run"; try: arena league run first'),
        ("standings", "try: arena leaderboard"),
        ("match", "Missing argument 'BOT BOT"),
        ("match random random random --game nim", "nim is for 2 players, found 3"),
        ("play random random", "shanghaien is for 2 players, found 3: you and 2 bots"),
        ("play random --seat 2", "--seat 2: there are seats 0 to 1"),
        ("match a b --blokcs 1", "--blokcs"),
        ("match random random --options [1]", "expected a JSON object, found [1]"),
        ("check random --move-ms 0 --bank-ms -1", "--bank-ms: expected a number >= 0.0, found -1.0"),
        ("match random random --bank-ms 100+x", "--bank-ms: expected a number, or two with + between them, found 'x'"),
        ("match random random --bank-ms 100+5", "increments go with a move_ms of 0 (--move-ms 0)"),
        (
            """match random random --game nim --options '{"heaps": ["\\ud800"]}'""",
            "heaps[0]: a text in it is no Unicode",
        ),
        ("""match random random --game nim --options '{"\\ud800": 1}'""", 'unknown key "\\ud800"'),
        ("league run none.yaml", "none.yaml: No such file or directory"),
        (
            "league run tournaments/nim.yaml",
            "tournaments/nim.yaml: No such file or directory; `nim` without a path is a",
        ),
        ("league run frist", 'did you mean "first"?'),
        ("match random random --bots none", "none: no such folder"),
        *((line, "nothing is stored in results yet") for line in ("league status", "leaderboard", "matrix", "stats p")),
        ("league run none.yaml --yes", "--yes goes with --update"),
        ("show x --to x.png", "--to x.png: expected a name that ends in .html, for a page, or in .svg, for a picture"),
        ("compare random random --game nim --model luck-adjusted", "nim has no value function"),
        ("compare random greedy --blocks 8", "error: --blocks: expected 16 or more, found 8"),
        (
            "compare random greedy --elo0 30",
            "error: --elo1: expected at least 0.01 more than --elo0, which is 30, found 20",
        ),
        ("new-bot x --lang cobol", 'unknown language "cobol"; known: python, javascript, typescript, c, cpp'),
    ],
)
def test_mistakes_of_the_command_line_exit_with_2(terminal: Terminal, line: str, said: str) -> None:
    """The mistake is named on stderr; nothing is printed on stdout, nothing is made."""
    found = terminal.arena(line)

    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert "Traceback" not in found.err
    assert not (terminal.results / "arena.db").exists()
    assert [path.name for path in terminal.folder.iterdir() if path.name != "results"] == []


def test_there_are_few_options() -> None:
    """A new one takes the name of an old one that means the same, or replaces one."""
    names = {name for command in commands().values() for option in command.params for name in option.opts}

    assert len([name for name in names if name.startswith("--")]) <= 63


def test_version(terminal: Terminal) -> None:
    """Name and version on one line."""
    assert terminal.arena("--version").out == f"arena, version {__version__}\n"


def test_a_damaged_database_exits_with_1(terminal: Terminal, golden: Golden) -> None:
    """A damaged database counts as a failed check: exit code 1."""
    terminal.results.mkdir()
    (terminal.results / "arena.db").write_bytes(b"x" * 200)

    said = terminal.arena("leaderboard")

    assert said.code == 1
    golden(said.err)


def test_results_that_cannot_be_written_exit_with_2(terminal: Terminal) -> None:
    """The folder is named, and the option that chooses another."""
    Path("results").write_text("a file")

    said = terminal.league()

    assert said.code == 2
    assert "results" in said.err
    assert "--results" in said.err
