"""What README.md and protocol.md tell people to type can be typed."""

import re
import shlex
from pathlib import Path

import click
import pytest

from arena.api import league_table, stored
from arena.cli import cli, execute
from arena.league.state import state_of
from arena.league.tournament import read_tournament
from arena.report.leaderboard import leaderboard_page
from arena.store.bots import BotStore

ROOT = Path(__file__).parent.parent
README_COLUMNS = 113
"""Of the terminal in which its table was printed."""
PAGES = (
    "README.md",
    "protocol.md",
    "docs/shanghaien.md",
    "docs/sandbox.md",
    "docs/statistics.md",
    "benchmarks/README.md",
)


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of that language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


def commands() -> list[tuple[str, str]]:
    """(page, command line) of every `arena ...` that a page shows in a block of shell, and of start.py."""
    lines = [(page, line) for page in PAGES for block in blocks(page, "sh") for line in block.splitlines()]
    prefixes = re.compile(r"^(python3 start\.py|arena)\s+(?!test\b)")
    return [(page, prefixes.sub("", line)) for page, line in lines if prefixes.match(line)]


def test_the_pages_show_commands() -> None:
    """Otherwise the next test would check nothing."""
    assert len(commands()) >= 6


@pytest.mark.parametrize(("page", "line"), commands())
def test_a_shown_command_parses(page: str, line: str) -> None:
    """Command, options and arguments exist as they are written."""
    arguments = shlex.split(line, comments=True)

    command: click.Command | None = cli
    while isinstance(command, click.Group):
        _, command, arguments = command.resolve_command(click.Context(command), arguments)
    assert command is not None, page
    assert command.make_context(page, arguments).command is command


def test_the_tournament_of_the_readme_can_be_read(tmp_path: Path) -> None:
    """Every key it shows is one, with a value of the right kind."""
    (text,) = blocks("README.md", "yaml")
    path = tmp_path / "shown.yaml"
    path.write_text(text, encoding="utf-8")

    tournament = read_tournament(path, BotStore(tmp_path / "results", ROOT / "bots").find)
    assert [player.name for player in tournament.players] == ["random", "greedy", "sensible-a"]


@pytest.mark.parametrize("path", sorted((ROOT / "tournaments").glob("*.yaml")), ids=lambda path: path.name)
def test_a_bundled_tournament_can_be_read(path: Path, tmp_path: Path) -> None:
    """With the bundled bots, and under the name of its file."""
    tournament = read_tournament(path, BotStore(tmp_path / "results", ROOT / "bots").find)
    assert tournament.name == path.stem


def test_links_within_the_project_lead_somewhere() -> None:
    """Files that the README links exist."""
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))

    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_named_tests_are_there() -> None:
    """docs/statistics.md says which test pins a number; a test that was renamed pins nothing there."""
    named = set(re.findall(r"test_\w+\.py", (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")))
    assert named
    assert named <= {path.name for path in (ROOT / "tests").rglob("test_*.py")}


def without_times(table: str) -> str:
    """The text of a leaderboard in one line, without the column of times."""
    return " ".join(re.sub(r" +[\d.]+/ *[\d.]+$", "", table, flags=re.MULTILINE).split())


@pytest.mark.slow
@pytest.mark.process
def test_the_table_of_the_readme_is_that_of_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret of that league is published: whoever plays it again gets the same table, but for times."""
    monkeypatch.chdir(ROOT)
    (line,) = [line for page, line in commands() if page == "README.md" and "--secret-file" in line]
    words = shlex.split(line, comments=True)
    words[words.index("--results") + 1] = str(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"^```\n( *rank  player.*?)^```", text, re.DOTALL | re.MULTILINE)

    assert execute(words) == 0

    with stored(tmp_path) as store:
        standings, times = league_table(store, state_of(store.league("first"), store.ranks))
    played = leaderboard_page(standings, times).render("table", README_COLUMNS)
    assert shown is not None
    assert without_times(shown[1]) == without_times(played)
