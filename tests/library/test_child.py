"""The child in which an operation runs: events, values and errors over a pipe, and how it ends."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from arena.errors import CheckFailed, HarnessFault, Interrupted
from arena.library.child import run_in_child
from arena.operations.events import OnEvent, Progress
from arena.operations.request import Request

pytestmark = pytest.mark.process
MANY = 100_000


class Play(Request, frozen=True, kw_only=True):
    """So many `steps`."""

    steps: int = MANY


def count(request: Play, on: OnEvent) -> int:
    """Report as many steps of progress as are asked for."""
    for step in range(request.steps):
        on(Progress("steps", step + 1, request.steps))
    return request.steps


def die(_request: Play) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(_request: Play) -> None:
    raise CheckFailed("it is not so")


def mistake(_request: Play) -> None:
    sys.stdout.write("on stdout")
    raise ZeroDivisionError


def stop(_request: Play) -> None:
    raise KeyboardInterrupt


def wait(_request: Play, on: OnEvent) -> None:
    """Report progress as long as somebody hears it."""
    Path("pid").write_text(str(os.getpid()))
    while True:
        on(Progress("steps", 1, 2))
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def _findable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let the child import this module by its name."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.chdir(tmp_path)
    for operation in (count, die, fail, mistake, stop, wait):
        monkeypatch.setattr(operation, "__module__", Path(__file__).stem)


def test_many_events_block_nobody() -> None:
    """A caller who takes its time hears the latest, and the last; the child goes on meanwhile."""
    heard: list[tuple[int, int]] = []

    def slowly(done: int, total: int) -> None:
        heard.append((done, total))
        time.sleep(0.02)

    start_s = time.monotonic()
    assert run_in_child(count, Play(), on_counts=slowly) == MANY

    assert heard[-1] == (MANY, MANY)
    assert len(heard) < MANY / 100
    assert time.monotonic() - start_s < 60


@pytest.mark.parametrize(
    ("operation", "error", "text"),
    [
        (fail, CheckFailed, "^it is not so$"),
        (mistake, HarnessFault, "ZeroDivisionError"),
        (stop, Interrupted, "interrupted"),
        (die, HarnessFault, "the process of die ended with exit code -9"),
    ],
)
def test_errors_come_out(operation: Any, error: type[Exception], text: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Errors of arena come out as they are, a mistake with its traceback; nothing is printed."""
    with pytest.raises(error, match=text):
        run_in_child(operation, Play())

    assert capfd.readouterr() == ("", "")


def test_an_exception_of_the_listener_ends_the_child() -> None:
    def heard(_done: int, _total: int) -> None:
        raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        run_in_child(wait, Play(), on_counts=heard)

    with pytest.raises(ProcessLookupError):
        os.kill(int(Path("pid").read_text()), 0)


def assert_gone(process: int) -> None:
    """Wait for the end of a process, which nobody may reap here."""
    deadline_s = time.monotonic() + 10
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        while " Z " not in Path(f"/proc/{process}/stat").read_text():
            assert time.monotonic() < deadline_s
            time.sleep(0.02)


CALLER = """
import test_child as here
from arena.library.child import run_in_child
def heard(done, total): print("heard", flush=True)
run_in_child(here.wait, here.Play(), on_counts=heard)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_caller_that_ends_takes_the_child_along(number: signal.Signals) -> None:
    """The child ends with its caller, by Ctrl-C or kill -9, from a script without a guard of `__main__`."""
    caller = subprocess.Popen([sys.executable, "-c", CALLER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert caller.stdout is not None
    caller.stdout.readline()

    caller.send_signal(number)
    caller.communicate()

    assert_gone(int(Path("pid").read_text()))


def test_ctrl_c_while_the_child_starts() -> None:
    """Ctrl-C ends a child that has no handler yet, or nothing to read."""
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    children = Path(f"/proc/{caller.pid}/task/{caller.pid}/children")
    while not (found := children.read_text().split()):
        time.sleep(0.001)

    caller.send_signal(signal.SIGINT)
    _, said = caller.communicate(timeout=20)

    assert said.rstrip().endswith("KeyboardInterrupt")
    assert_gone(int(found[0]))


CELL = """
import arena, os, signal
league = arena.play("random", "random", game="nim", seed="7", isolation="none")
assert len(league.matches()) == 2
"""
STOPPED = """
stop = lambda done, total: os.kill(os.getpid(), signal.SIGINT)
arena.play("random", "random", game="nim", seed="7", isolation="none", blocks=5000, progress=stop)
"""


@pytest.mark.slow
def test_a_real_kernel_plays(tmp_path: Path) -> None:
    """A league runs in a kernel of Jupyter with its own event loop, signals and streams; an interrupt ends a cell."""
    manager = pytest.importorskip("jupyter_client.manager", reason="`pip install -e '.[docs]'` brings it")
    kernel, client = manager.start_new_kernel(cwd=str(tmp_path))
    try:
        played = client.execute_interactive(CELL, timeout=120)
        stopped = client.execute_interactive(STOPPED, timeout=120)
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)

    assert played["content"]["status"] == "ok"
    assert stopped["content"]["ename"] == "KeyboardInterrupt"
