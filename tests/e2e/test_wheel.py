"""The wheel in a fresh environment outside the checkout: its commands work in an empty folder, on every Python here."""

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from support.cli_arena import ROOT
from support.docs_pages import blocks
from support.waiting import a_second

pytestmark = [pytest.mark.slow, pytest.mark.process]

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
SYSTEM = "/usr/bin/python3"
"""The distribution's, such as Debian's."""
PROMISED_S = 120.0
"""From `pip install` to a leaderboard of one's own bot, on a machine with nothing else to do."""


class Installed(NamedTuple):
    """An environment with the wheel in it, and the seconds that made it so."""

    version: str
    python: Path
    took_s: float

    def arena(self, line: str, folder: Path, *, exit_code: int = 0) -> subprocess.CompletedProcess[str]:
        """What `arena LINE` says in that folder."""
        return ran([str(self.python.with_name("arena")), *line.split()], folder, exit_code=exit_code)


def ran(command: list[str], folder: Path, *, exit_code: int = 0, **more: str) -> subprocess.CompletedProcess[str]:
    """A program with an environment that knows nothing of this checkout."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("ARENA_", "PYTHON", "PIP_CON"))}
    done = subprocess.run(
        command, cwd=folder, env={**known, **more}, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == exit_code, (command, done.returncode, done.stdout, done.stderr)
    return done


def interpreter(version: str) -> str | None:
    """A Python of that version on this machine: the one of the tests, made by pyenv, or installed; or the system's."""
    if version == SYSTEM:
        return SYSTEM if Path(SYSTEM).exists() else None
    if version == OWN:
        return sys.executable
    made = sorted(Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python3"))
    return str(made[-1]) if made else shutil.which(f"python{version}", path="/usr/bin:/usr/local/bin")


def built(folder: Path) -> Path:
    """The wheel of this checkout."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    ran(command, folder)
    (made,) = folder.glob("bot_arena-*.whl")
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for every platform."""
    return built(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module", params=(*VERSIONS, SYSTEM))
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment of a Python of that version, with the wheel and what pip brings along."""
    python = interpreter(request.param)
    if python is None:
        pytest.skip(f"no Python {request.param} on this machine")
    return fresh(request.param, python, wheel, tmp_path_factory.mktemp("environment"))


def fresh(version: str, python: str, wheel: Path, folder: Path) -> Installed:
    """A new environment in that folder."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    # by the pip of the tests, for Debian's Python has none to put into an environment
    ran([python, "-m", "venv", "--without-pip", str(folder / "venv")], folder)
    found = folder / "venv" / "bin" / "python"
    begun_s = time.monotonic()
    ran([sys.executable, "-m", "pip", "--python", str(found), "install", "--quiet", str(wheel)], folder)
    return Installed(version, found, time.monotonic() - begun_s)


def test_three_commands_lead_to_a_leaderboard_of_the_own_bot(
    installed: Installed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the first page, in the sandbox and within the promised time."""
    (block,) = [each.text for each in blocks("docs/index.md") if "arena new-bot" in each.text and "pip" in each.text]
    install, *commands = [line.partition("#")[0].strip() for line in block.splitlines()]
    begun_s = time.monotonic()
    made, played = (installed.arena(line.removeprefix("arena "), tmp_path) for line in commands)
    took_s = installed.took_s + time.monotonic() - begun_s
    with capsys.disabled():
        sys.stdout.write(f"\nPython {installed.version}: {took_s:.0f} s, {installed.took_s:.0f} s of them {install}\n")

    assert install.startswith("pip install ")
    assert install.endswith(".whl")
    assert "arena league run mybot" in made.stdout
    assert "240 of 240 matches" in played.stdout
    assert "  mybot  " in played.stdout
    assert "isolation: sandbox" in played.stdout
    assert f"results are kept in {tmp_path}/results/, which is new" in played.stderr
    assert took_s < PROMISED_S * a_second()


def test_a_bundled_tournament_runs_in_an_empty_folder(installed: Installed, tmp_path: Path) -> None:
    """By its name; the longer one on the Python of the tests. The leaderboard is there afterwards."""
    name = "first" if installed.version == OWN else "nim"

    ran_league = installed.arena(f"league run {name}", tmp_path)
    shown = installed.arena(f"leaderboard {name} --no-timing", tmp_path)

    assert "isolation: sandbox" in ran_league.stdout
    assert "matches; ranks by rating" in shown.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results"]


def test_a_new_game_is_written_and_a_game_checked(installed: Installed, tmp_path: Path) -> None:
    """From the wheel alone, without what the installer compiled beside the templates."""
    made = installed.arena("new-game mygame --like kuhn_poker", tmp_path)
    checked = installed.arena("check-game kuhn_poker", tmp_path)

    assert "arena check-game mygame" in made.stdout
    assert "kuhn_poker keeps all " in checked.stdout
    assert (tmp_path / "mygame" / "mygame" / "rules.py").is_file()
    assert not list((tmp_path / "mygame").rglob("*.pyc"))


def test_a_new_bot_and_the_machine_pass_their_checks(installed: Installed, tmp_path: Path) -> None:
    """The sandbox comes with the wheel: no program has to be installed on top."""
    installed.arena("new-bot mybot", tmp_path)

    checked = installed.arena("check ./mybot", tmp_path)
    looked = installed.arena("doctor", tmp_path)

    assert "FAILED" not in checked.stdout
    assert "Bots can be run safely here." in looked.stdout


def test_the_wheel_offers_what_the_checkout_does(installed: Installed, tmp_path: Path) -> None:
    """The same bots with the same hashes, and the same tournaments: from the wheel, the checkout, and beside it."""
    for command in ("bots", "tournaments"):
        of_wheel = installed.arena(command, tmp_path).stdout
        beside = ran([sys.executable, "-m", "arena", command], tmp_path, PYTHONPATH=str(ROOT)).stdout
        inside = ran([sys.executable, "-m", "arena", command], ROOT).stdout

        assert listed(of_wheel) == listed(beside) == listed(inside)
        assert f"{installed.python.parents[1]}/" in of_wheel.splitlines()[-1]


def listed(text: str) -> list[str]:
    """The table without its last line, which tells where the bundled ones lie."""
    lines = text.splitlines()
    assert lines[-1].startswith("bundled: in ")
    return lines[:-1]


def test_the_wheel_has_its_licence_and_its_types(wheel: Path) -> None:
    """And nothing of the tests."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith("/METADATA"))

    assert "arena/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"arena", "bot_arena"}
    assert "License-Expression: MIT" in metadata
    assert all(f"Programming Language :: Python :: {version}" in metadata for version in VERSIONS)


PLAYED = """
import msgspec
from arena.games import load_game
from arena.match.baseline import BaselinePlayer
from arena.match.luck import LuckMeter
from arena.match.referee import play_match
from arena.match.settings import ClockSettings, MatchSpec
for number in range(120):
    options = {"expansions": ["crazy_captain", "no_shanghai", "sharks", "doubles"][: number % 5]}
    seed = f"played {number}"
    spec = MatchSpec("m", "shanghaien", options, seed, ClockSettings(), wire_id="m", bot_seeds=(number, -number))
    meter = LuckMeter(load_game("shanghaien"), 2)
    record = play_match(spec, [BaselinePlayer(), BaselinePlayer()], meter=meter)
    print(record.ranks, record.scores, msgspec.json.encode(record.steps).decode())
    print(*[(node.step, *[each.hex() for each in node.luck]) for node in meter.luck().nodes])
"""


def test_luck_has_the_same_bits_on_every_python(installed: Installed, tmp_path: Path) -> None:
    """From 3.12 on `sum` compensates for rounding; the value of a game must not."""
    of_checkout = ran([sys.executable, "-c", PLAYED], ROOT).stdout

    assert ran([str(installed.python), "-c", PLAYED], tmp_path).stdout == of_checkout
