"""Arena is killed at the worst moments of a start: no bot begins without limits, and what stays is ended later."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.process_boxes import next_line, open_to_all, python_process
from support.waiting import eventually

from arena.process.sandbox import leftovers

pytestmark = pytest.mark.process
WITHIN_S = 20.0
A_MOMENT_S = 1.0
NAP = f"3600.{os.getpid()}"
STARTER = """
import os, signal, subprocess, sys, tempfile
from pathlib import Path
from arena.process.limits import Limits
from arena.process.sandbox import sandbox, bubblewrap, leftovers

where, folder = sys.argv[1], Path(sys.argv[2])
print(leftovers._mark_made_by("self"), flush=True)

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if where == "before the child is told":
    sandbox._read_first_pid = die
elif where == "before the limits stand":
    sandbox.Sandbox.confine = die
elif where == "before the gate opens":
    confine = sandbox.Sandbox.confine
    sandbox.Sandbox.confine = lambda self: die(confine(self))
sandbox.start_sandboxed(["sleep", sys.argv[3]], folder, {"PATH": "/usr/bin:/bin"}, Limits())
if where == "after the start":
    die()
print("ready", flush=True)
sys.stdin.readline()
"""


@contextlib.contextmanager
def starter(where: str, folder: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Run a program that starts a sandbox and is killed there; yield the mark of its sandboxes, and end the rest."""
    with python_process(STARTER, where, str(folder), NAP) as process:
        token = next_line(process)
        try:
            yield process, token
        finally:
            process.kill()
            process.communicate()
            for pid in alive(token):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def bots() -> list[int]:
    """Return the processes that do what the bot in the sandbox does."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if place.read_bytes() == f"sleep\0{NAP}\0".encode():
                found.append(int(place.parent.name))
    return found


def alive(token: str) -> list[int]:
    """Return the processes of sandboxes with that mark."""
    return [pid for pid, found in leftovers.read_marks().items() if found == token]


def settled(token: str) -> list[int]:
    """Wait until no process of the sandboxes starts or ends (helpers of the start end by themselves); return them."""
    before: list[int] = []
    while not before or before != sorted(alive(token)):
        before = sorted(alive(token))
        time.sleep(0.1)
    return before


@pytest.mark.parametrize(
    "where", ["before the child is told", "before the limits stand", "before the gate opens", "after the start"]
)
def test_no_bot_begins_after_its_starter_was_killed(tmp_path: Path, where: str) -> None:
    """bwrap's child is released and finds no filter, or dies with bwrap; it may wait for ever, until it is swept."""
    with starter(where, open_to_all(tmp_path)) as (process, token):
        assert len(token) == 16
        process.wait(WITHIN_S)
        assert process.returncode == -signal.SIGKILL
        eventually(lambda: not alive(token), A_MOMENT_S)

        assert eventually(lambda: not bots()), "a bot runs that nobody watches"
        leftovers.end_leftovers()
        assert eventually(lambda: not alive(token)), "its box is still there"


@pytest.mark.slow
def test_kills_at_any_moment_of_a_start_leave_nothing_that_is_not_swept(tmp_path: Path) -> None:
    """At 200 random moments: almost all end by themselves, and the sweep ends the others and nothing else."""
    rng, left = random.Random(3), 0
    folder = open_to_all(tmp_path)
    with starter("nowhere", folder) as (living, its_token):
        assert next_line(living) == "ready"
        before = settled(its_token)
        for _ in range(200):
            with starter("nowhere", folder) as (process, token):
                time.sleep(rng.uniform(0, 0.03))  # the moment is the point: any is right
                process.kill()
                process.wait()
                if not eventually(lambda token=token: not alive(token), 0.5):  # type: ignore[misc]
                    left += 1
                    leftovers.end_leftovers()
                assert eventually(lambda token=token: not alive(token))  # type: ignore[misc]
        assert sorted(alive(its_token)) == before, "a box of a living program was ended"
    print(f"{left} of 200 were swept")  # noqa: T201 - a figure for people


def test_a_box_whose_owner_is_gone_is_ended_and_no_other(tmp_path: Path) -> None:
    """A stand-in for bwrap's child in its few microseconds, and the box of a living program beside it."""
    gone = "arena-cage-" + "0" * 16
    script = "import time; time.sleep(3600)"
    orphan = subprocess.Popen([sys.executable, "-c", script, "--unsetenv", gone])
    stranger = subprocess.Popen([sys.executable, "-c", script, "--unsetenv", "another-program"])
    with starter("nowhere", open_to_all(tmp_path)) as (living, token):
        try:
            assert next_line(living) == "ready"
            before = settled(token)
            assert leftovers.end_leftovers() <= 1  # another arena of this user may be first

            assert orphan.wait(WITHIN_S) == -signal.SIGKILL
            assert stranger.poll() is None
            assert sorted(alive(token)) == before
        finally:
            for process in (orphan, stranger):
                process.kill()
                process.wait()


@pytest.mark.alone  # any other arena would rightly end this process
def test_nobody_is_ended_while_an_owner_cannot_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container that keeps root from other processes, an owner may be alive and not be seen."""
    words = [sys.executable, "-c", "import time; time.sleep(3600)", "--unsetenv", "arena-cage-" + "0" * 16]
    process = subprocess.Popen(words, cwd=tmp_path)
    try:
        assert eventually(lambda: process.pid in leftovers.read_marks())
        monkeypatch.setattr(leftovers, "_mark_made_by", lambda _pid: "")
        assert leftovers.end_leftovers() == 0
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
