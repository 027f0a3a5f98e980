"""The command line in this process: arguments in, exit code, stdout and stderr out."""

import contextlib
import hashlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable
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
    """A folder with `results`, the shelf of the project, and arena at hand; leagues that many read in `leagues`."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        leagues: Path | None = None,
    ) -> None:
        self.folder = folder
        self.results = folder / "results"
        self._capsys = capsys
        self._leagues = leagues
        monkeypatch.chdir(folder)
        monkeypatch.setenv("ARENA_RESULTS", "results")
        monkeypatch.setenv("ARENA_BOTS", str(ROOT / "bots"))
        monkeypatch.setenv("XDG_STATE_HOME", f"{folder}-state")

    def arena(self, line: str, *more: str) -> Said:
        """Run `arena LINE`."""
        self._capsys.readouterr()
        code = execute([*shlex.split(line), *more])
        out, err = self._capsys.readouterr()
        return Said(code, out, err)

    def league(self, *players: str, flags: str = "", **changes: Any) -> Said:
        """Write a tournament of nim between these bots and run it with these flags; None leaves a setting out."""
        entries = [{"bot": player, "name": f"p{number}"} for number, player in enumerate(players or ("random",) * 2)]
        content = {"name": "test", "game": "nim", "seed": 1, "cycles": 2, "players": entries, **changes}
        written = {name: value for name, value in content.items() if value is not None}
        Path("league.yaml").write_text(yaml.safe_dump(written))
        return self.arena(f"league run league.yaml --workers 2 {flags}")

    def played(self, *players: str, flags: str = "", **changes: Any) -> None:
        """The folder after `league`, which is called once for the same words and files; each test gets a copy."""
        files = sorted((str(path), path.read_bytes()) for path in Path().rglob("*") if path.is_file())

        def play() -> None:
            said = self.league(*players, flags=flags, **changes)
            assert said.code == 0, said.err

        self.made(hashlib.sha256(repr((players, flags, changes, files)).encode()).hexdigest(), play)

    def made(self, key: str, make: Callable[[], object]) -> None:
        """The folder after `make`, which is called once for the same key; each test gets a copy."""
        assert self._leagues is not None
        kept = self._leagues / key
        if not kept.exists():
            folder = Path(tempfile.mkdtemp(dir=self._leagues))
            folder.chmod(0o755)
            shutil.copytree(".", folder, dirs_exist_ok=True)
            with contextlib.chdir(folder):
                make()
            with contextlib.suppress(OSError):  # there already: another process of pytest was quicker
                folder.rename(kept)
        shutil.copytree(kept, ".", dirs_exist_ok=True)

    def first_match(self) -> str:
        """The id of the first stored match of the only league."""
        return self.arena("league matches").out.split()[0]

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


@pytest.fixture(scope="session")
def leagues(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for leagues that are played once, by whichever process of pytest; bots may read it too."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "leagues"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    return folder


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], leagues: Path
) -> Terminal:
    return Terminal(tmp_path, monkeypatch, capsys, leagues)
