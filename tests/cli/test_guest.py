"""Commands that get themselves a control group: what that changes, which is nothing but the groups.

Run by .ci/guest in a virtual machine, in a session or service without a group of its own that systemd could be asked
for more. ARENA_GUEST_BASE is a pattern of the group that a command is to get.
"""

import fnmatch
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from support.golden import Golden
from support.waiting import eventually

pytestmark = pytest.mark.guest
ROOT: Final = Path(__file__).parents[2]
ARENA: Final = (sys.executable, "-c", "import sys; from arena.cli import main; sys.argv[0] = 'arena'; main()")
BOTS: Final = """
name: guest
game: nim
seed: 1
cycles: 100000
chunk_blocks: 1
players:
  - {bot: random, name: anna}
  - {bot: random, name: bert}
clock: {move_ms: 5000, bank_ms: 5000, wall_ms: 60000, startup_ms: 60000}
"""
PATIENCE_S: Final = 120.0


def arena(*words: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*ARENA, *words], cwd=ROOT, capture_output=True, text=True, env={**os.environ, **settings}, check=False
    )


def groups(pattern: str) -> list[Path]:
    """Control groups by their name; `os.walk` passes over those that end meanwhile, `rglob` fails."""
    return [
        Path(place, name) for place, names, _ in os.walk("/sys/fs/cgroup") for name in fnmatch.filter(names, pattern)
    ]


def scopes() -> list[Path]:
    """Return the control groups that arena asked for."""
    return groups("arena-*.scope")


def group_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii").strip()


def test_the_doctor_finds_a_control_group(golden: Golden) -> None:
    """The doctor finds a control group and reports no weakness."""
    said = arena("doctor")

    assert said.returncode == 0, said
    golden(said.stdout)
    assert "WEAK" not in said.stdout
    assert eventually(lambda: not scopes(), PATIENCE_S)


def test_the_doctor_says_what_is_weaker_without() -> None:
    """Here because somebody wants it so; nothing is asked of systemd."""
    said = arena("doctor", ARENA_CGROUP="no")

    assert said.returncode == 0, said
    assert "WEAK" in said.stdout
    assert "ARENA_CGROUP=no" in said.stdout


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 3), (signal.SIGKILL, -9)], ids=["interrupted", "killed"])
def test_a_command_that_moved_is_ended_as_ever(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """Its exit code is its own, and neither bots nor groups are left."""
    tmp_path.chmod(0o755)
    tournament = tmp_path / "guest.yaml"
    tournament.write_text(BOTS, encoding="utf-8")
    words = ["league", "run", str(tournament), "--workers", "1", "--results", str(tmp_path / "results")]
    before = group_of(os.getpid())
    with subprocess.Popen(
        [*ARENA, *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "ARENA_CGROUP": "required"},
    ) as league:
        started = eventually(lambda: league.poll() is not None or any(_bots_groups()), PATIENCE_S)
        assert started
        assert league.poll() is None, league.communicate()
        moved = group_of(league.pid)
        league.send_signal(number)
        said, _ = league.communicate(timeout=PATIENCE_S)

    assert re.search(os.environ["ARENA_GUEST_BASE"], moved)
    assert moved.endswith("/arena-harness")
    assert group_of(os.getpid()) == before
    assert league.returncode == code, said
    assert eventually(lambda: not scopes(), PATIENCE_S)
    assert list(_bots_groups()) == []


def _bots_groups() -> list[Path]:
    return groups("arena-*-0")
