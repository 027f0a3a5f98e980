"""How a program is stopped: once with a clean-up, and at once when that takes too long."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.golden import Golden
from support.process_boxes import next_line, python_process
from support.waiting import until

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys, time
from arena.cli import edge

edge._CLEAN_UP_S = float(sys.argv[1])
end_s = time.monotonic() + 30
try:
    with edge.stoppable():
        print("ready", flush=True)
        while time.monotonic() < end_s:
            time.sleep(0.01)
except KeyboardInterrupt:
    print("cleaning up", flush=True)
    sys.stdin.readline()
    edge.ignore_signals()
    print("clean", flush=True)
    sys.stdin.readline()
    sys.exit(3)
"""


@contextlib.contextmanager
def stopped(clean_up_s: float) -> Iterator["subprocess.Popen[str]"]:
    """The program, stopped once and in its clean-up."""
    with python_process(PROGRAM, str(clean_up_s)) as process:
        assert next_line(process) == "ready"
        process.send_signal(signal.SIGINT)
        assert next_line(process) == "cleaning up"
        yield process


def go_on(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_impatience_does_not_disturb_the_clean_up(number: signal.Signals) -> None:
    """However often and however late it comes, the exit code is the same and there is no traceback."""
    with stopped(clean_up_s=60) as process:
        for _ in range(5):
            process.send_signal(number)
        go_on(process)
        assert next_line(process) == "clean"
        process.send_signal(number)
        out, err = process.communicate("\n", timeout=30)

    assert (process.returncode, out, err) == (3, "", "")


def test_a_clean_up_that_takes_too_long_is_cut_off(golden: Golden) -> None:
    """The next stop ends the program on the spot, with the same exit code and a sentence."""
    with stopped(clean_up_s=0) as process:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)

    assert (process.returncode, out) == (3, "")
    golden(err)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_while_a_command_is_imported_is_an_exit_code(tmp_path: Path, number: signal.Signals) -> None:
    """A stop during `exec` (of a dataclass) is an exit code; `python -m` alone would die of SIGINT at its end."""
    (tmp_path / "interrupted.py").write_text(
        "import os, signal\n"
        "import arena.text\n"
        "from arena import cli\n"
        f"text = 'os.kill(os.getpid(), {number})\\nfor _ in range(10**7): pass'\n"
        "cli.cli.main = lambda *_, **__: exec(text)\n"
        "cli.main()\n"
    )
    program = subprocess.run(
        [sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (program.returncode, program.stderr) == (3, "interrupted\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["check", "submit", "play", "check-game"])
def test_a_stop_of_a_command_leaves_nothing(tmp_path: Path, command: str, number: signal.Signals) -> None:
    """Exit 3; the luck of a trial is printed, and the scratch folder is removed."""
    scratch, begun = tmp_path / "scratch", tmp_path / "begun"
    scratch.mkdir()
    (tmp_path / "hangs.py").write_text(f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(99)\n")
    words = [sys.executable, "-m", "arena", command, "./hangs.py", "--game", "nim", "--isolation", "none"]
    words = [*words[:4], "hangs:Game"] if command == "check-game" else words
    env = {**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": str(ROOT), "ARENA_TRUST_CODE": str(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, env=env, stdout=pipe, stderr=pipe, text=True) as program:
        until(begun.exists, within_s=30, what="the bot or the game")
        program.send_signal(number)
        out, err = program.communicate(timeout=30)

    assert (program.returncode, err.splitlines()[-1:]) == (3, ["interrupted"])
    assert ("luck: secret " in out) == (command in {"check", "submit"})
    assert not [*scratch.iterdir()]
