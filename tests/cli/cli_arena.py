"""The command line in this process: arguments in, exit code, stdout and stderr out."""

import os
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
import yaml

from arena.cli import cli, execute

ROOT = Path(__file__).parents[2]


class Said(NamedTuple):
    """What a command line came to."""

    code: int
    out: str
    err: str


class Terminal:
    """A folder with `results`, the shelf of the project, and arena at hand."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.results = folder / "results"
        self._capsys = capsys
        monkeypatch.chdir(folder)
        monkeypatch.setenv("ARENA_RESULTS", "results")
        monkeypatch.setenv("ARENA_BOTS", str(ROOT / "bots"))

    def arena(self, line: str, *more: str) -> Said:
        """Run `arena LINE`."""
        self._capsys.readouterr()
        code = execute([*shlex.split(line), *more])
        out, err = self._capsys.readouterr()
        return Said(code, out, err)

    def league(self, *players: str, flags: str = "", **changes: Any) -> Said:
        """Write a tournament of nim between these bots and run it with these flags."""
        entries = [{"bot": player, "name": f"p{number}"} for number, player in enumerate(players or ("random",) * 2)]
        content = {"name": "test", "game": "nim", "seed": 1, "cycles": 2, "players": entries, **changes}
        Path("league.yaml").write_text(yaml.safe_dump(content))
        return self.arena(f"league run league.yaml --workers 2 {flags}")

    def registered(self) -> list[str]:
        """Lines of the list of bots that were submitted."""
        return [line for line in self.arena("bots").out.splitlines() if "submitted" in line]


def commands() -> dict[str, click.Command]:
    """Every command by its words, groups too."""
    found: dict[str, click.Command] = {}
    context = click.Context(cli)

    def collect(group: click.Group, words: str) -> None:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            found[f"{words} {name}".strip()] = command
            if isinstance(command, click.Group):
                collect(command, f"{words} {name}".strip())

    collect(cli, "")
    return found


def has(program: str) -> bool:
    """Whether the program is on the PATH."""
    return any((Path(folder) / program).is_file() for folder in os.environ["PATH"].split(os.pathsep))


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(tmp_path, monkeypatch, capsys)
