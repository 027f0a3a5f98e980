"""The end of the harness is the end of its bots, and the end of a box that of all in it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from process_boxes import FORKING, ask, eventually, folder_of, host_environment, in_a_box, started, talking

from arena.process.reaper import descendants

pytestmark = in_a_box

STUBBORN = """
import os, signal, sys, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
for _ in range(3):
    if os.fork() == 0: break
else:
    print(1, flush=True)
while True: time.sleep(1)
"""
HARNESS = """
import sys, time
from pathlib import Path
from process_boxes import FORKING, ask, talking
with talking(Path(sys.argv[1]), limits=FORKING) as (channel, process):
    channel.receive(__import__("process_boxes").wall_clock())
    if sys.argv[2] == "frozen": channel.rest()
    print(process.group.id, flush=True)
    time.sleep(60)
"""


def is_alive(pid: int) -> bool:
    """Whether it is there and not just waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


@pytest.mark.parametrize("state", ["frozen", "awake"])
def test_a_killed_harness_takes_its_bots_along(tmp_path: Path, state: str) -> None:
    """Within a tenth of a second, all of them, frozen or not, whatever they ignore."""
    folder = folder_of(tmp_path, bot_py=STUBBORN)
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(folder), state], stdout=subprocess.PIPE, env=host_environment()
    ) as harness:
        assert harness.stdout is not None
        first = int(harness.stdout.readline())
        pids = {first} | descendants(first)
        harness.send_signal(signal.SIGKILL)
        begin_s = time.monotonic()
        gone = eventually(lambda: not any(map(is_alive, pids)), 5.0)
        took_s = time.monotonic() - begin_s

    assert len(pids) == 5
    assert gone
    assert took_s < 0.1 + 0.4 * (os.getloadavg()[0] > 2)


def test_kill_ends_what_ignores_everything(tmp_path: Path) -> None:
    """SIGKILL for the first process is SIGKILL for all."""
    with talking(folder_of(tmp_path, bot_py=STUBBORN), limits=FORKING) as (channel, process):
        ask(channel)
        pids = {process.group.id} | descendants(process.group.id)
        ending = channel.close(0.05)

    assert ending == "was killed"
    assert len(pids) == 5
    assert not any(map(is_alive, pids))


def test_children_end_with_their_bot(tmp_path: Path) -> None:
    """A daemon does not outlive the program that started it."""
    code = "import os, time\nif os.fork() == 0:\n  if os.fork() == 0:\n    time.sleep(60)\n"
    with started(folder_of(tmp_path, bot_py=code), limits=FORKING) as process:
        assert eventually(lambda: process.ending() == "ended with exit code 0")
        first = process.group.id

    assert not is_alive(first)
    assert descendants(first) == set()
