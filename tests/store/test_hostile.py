"""Results folders that somebody sends: whatever they hold, reading them ends, says something, and touches nothing."""

import os
import resource
import shutil
import signal
import sys
import traceback
from pathlib import Path

import pytest
from support.hostile_folders import CHANGES, picture, sound
from support.store_made import reading

from arena.cli import execute

pytestmark = pytest.mark.process
COMMANDS = (
    "league status",
    "league matches",
    "leaderboard",
    "stats ann",
    "matrix",
    "show {match}",
    "bots",
    "verify",
)
SLOW = [name for name in CHANGES if name.startswith("other bytes") and not name.endswith("0")]
MOST_S, MOST_MB = 10, 300
"""CPU time of a command, and memory of all of them beyond that of the tests."""
MOST_WAIT_S = 200
"""The time after which a command waits for something; a machine under load takes long."""


def in_a_fork(results: Path, match: str, said: Path) -> tuple[int, int]:
    """Run all commands in one child with their outputs in `said`; return its exit code and added megabytes."""
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    if child := os.fork():
        _, status, used = os.wait4(child, 0)
        return os.waitstatus_to_exitcode(status), (used.ru_maxrss >> 10) - (before >> 20)
    code = 99
    try:
        number = os.open(said, os.O_WRONLY | os.O_CREAT)
        os.dup2(number, 1)
        os.dup2(number, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        resource.setrlimit(resource.RLIMIT_FSIZE, (200 << 20, resource.RLIM_INFINITY))
        for command in COMMANDS:
            for timer, number in ((signal.ITIMER_PROF, signal.SIGPROF), (signal.ITIMER_REAL, signal.SIGALRM)):
                signal.signal(number, signal.SIG_DFL)
                signal.setitimer(timer, MOST_S if timer == signal.ITIMER_PROF else MOST_WAIT_S)
            code = execute([*command.format(match=match).split(), "--results", str(results)])
            sys.stdout.write(f"\n{command}: exit {code}\n")
            sys.stdout.flush()
        code = 0
    except BaseException:  # noqa: BLE001 - a fork never goes on as a test
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A sound folder, and the id of a match in it; all that the commands import is there."""
    results = tmp_path_factory.mktemp("sound") / "results"
    sound(results)
    with reading(results) as store:
        match = next(store.entries()).match
    for command in COMMANDS:
        execute([*command.format(match=match).split(), "--results", str(results)])
    return results, match


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in CHANGES]
)
def test_reading_touches_nothing(
    tmp_path: Path, template: tuple[Path, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading makes, changes, removes and follows no file; it ends within 10 s and 300 MB with a message."""
    sent, scratch = tmp_path / "results", tmp_path.parent / f"{tmp_path.name}-scratch"
    shutil.copytree(template[0], sent)
    scratch.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("TOPSECRET\n")
    CHANGES[name](sent, victim)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = [*picture(tmp_path)]

    code, megabytes = in_a_fork(sent, template[1], tmp_path.parent / f"{tmp_path.name}.txt")
    said = (tmp_path.parent / f"{tmp_path.name}.txt").read_text(errors="replace")

    assert code == 0, said
    assert [*picture(tmp_path)] == before
    assert [*scratch.iterdir()] == []
    assert megabytes < MOST_MB
    exits = {line.rpartition("exit ")[2] for line in said.splitlines() if ": exit " in line}
    assert exits <= {"0", "1", "2", "5"}, said
    assert "Traceback" not in said
    assert "TOPSECRET" not in said


@pytest.mark.parametrize("name", ["tables", "bots", "coach"])
def test_a_copy_follows_no_link(tmp_path: Path, template: tuple[Path, str], name: str) -> None:
    """A folder that leads to one of the reader's would be published."""
    shutil.copytree(template[0], tmp_path / "sent", ignore=shutil.ignore_patterns(name))
    (tmp_path / "mine").mkdir()
    (tmp_path / "sent" / name).symlink_to(tmp_path / "mine")

    assert execute(["results", "copy", str(tmp_path / "out"), "--results", str(tmp_path / "sent")]) == 1
    assert sorted(place.name for place in tmp_path.iterdir()) == ["mine", "sent"]
