"""A results folder is its user's alone, whatever the umask; a site that is built for others is not."""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli_arena import Terminal

import arena as library

NOBODY = 65534
pytestmark = pytest.mark.process


@pytest.fixture
def umask() -> Iterator[None]:
    """Files that everybody may read and write, unless somebody says otherwise."""
    former = os.umask(0)
    yield
    os.umask(former)


def open_to_others(folder: Path) -> list[str]:
    """Files and folders of which another user has any right; those that root lends to the users of bots excepted."""
    places = [folder, *folder.rglob("*")]
    lent = [path / "run" for path in (folder / "bots").iterdir()] if os.geteuid() == 0 else []
    modes = {path: path.lstat().st_mode for path in places if not any(path.is_relative_to(run) for run in lent)}
    return [f"{stat.filemode(mode)} {path}" for path, mode in modes.items() if mode & 0o077]


@pytest.mark.usefixtures("umask")
def test_results_are_their_users_alone(terminal: Terminal) -> None:
    """Database, lock, log, secrets, installed bots."""
    terminal.arena("new-bot mine --lang c" if shutil.which("cc") else "new-bot mine")
    said = terminal.arena("submit ./mine")
    assert said.code == 0, said
    assert terminal.league("mine", "random", game="shanghaien").code == 0

    assert open_to_others(terminal.results) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another user")
def test_another_user_lists_nothing(terminal: Terminal) -> None:
    """Where all folders above are open to everybody."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        terminal.arena("new-bot mine")
        assert terminal.arena(f"submit ./mine --results {place}/results").code == 0
        home = next(Path(place, "results", "bots").iterdir())

        for command in (["ls", f"{place}/results"], ["ls", f"{home}/run"], ["cat", f"{place}/results/arena.db"]):
            said = subprocess.run(command, user=NOBODY, group=NOBODY, capture_output=True, text=True, check=False)
            assert said.returncode != 0
            assert "Permission denied" in said.stderr
            assert said.stdout == ""


@pytest.mark.usefixtures("umask")
def test_functions_that_play_leave_nothing_open(tmp_path: Path) -> None:
    """Their sockets would answer anybody."""
    players = [{"bot": lambda _view, _legal: 0, "name": "zero"}, {"bot": "random"}]
    content = {"name": "own", "game": "nim", "players": players, "cycles": 1}
    library.League(content, results=tmp_path / "results").run(isolation="none", workers=1)

    callables = tmp_path / "results" / "callables"
    assert stat.S_IMODE((tmp_path / "results").stat().st_mode) == 0o700
    assert stat.S_IMODE(callables.stat().st_mode) == 0o700


@pytest.mark.usefixtures("umask")
def test_a_site_is_for_everybody(terminal: Terminal) -> None:
    """The files of a site are readable by everybody, because it is built to be published."""
    assert terminal.league("random", "random").code == 0
    assert terminal.arena("site build --to public").code == 0

    modes = {stat.S_IMODE(path.stat().st_mode) for path in Path("public").rglob("*") if path.is_file()}

    assert modes == {0o666}
    assert stat.S_IMODE(Path("public").stat().st_mode) == 0o777


def test_the_doctor_names_results_that_others_may_enter(terminal: Terminal) -> None:
    """Unpacked by somebody, say. An open folder with nothing in it is as Git makes it, and no matter."""
    terminal.results.mkdir()
    terminal.results.chmod(0o755)
    empty = terminal.arena("doctor").out
    secrets = terminal.results / "secrets"
    secrets.mkdir()
    secrets.chmod(0o755)

    open_ones = terminal.arena("doctor").out
    secrets.chmod(0o700)
    closed_ones = terminal.arena("doctor").out

    assert "`chmod -R go= results`" in " ".join(open_ones.split())
    assert "chmod -R" not in empty + closed_ones
