"""A bot that is not on move stands still, with all that belongs to it; and ends with its harness."""

import os
import signal
import time
from pathlib import Path

import pytest
from support.golden import Golden
from support.process_boxes import (
    FORKING,
    TICK_S,
    ask,
    cpu_of_all_s,
    folder_of,
    in_a_box,
    next_line,
    python_process,
    talking,
    wall_clock,
)
from support.waiting import eventually, is_alive

from arena.process.reaper import descendants

pytestmark = in_a_box

LOOK_S = 0.3
ANSWER = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n"
THREAD = (
    f"import threading\ndef burn():\n  while True: pass\nthreading.Thread(target=burn, daemon=True).start()\n{ANSWER}"
)


def test_a_frozen_bot_uses_no_time(tmp_path: Path) -> None:
    """Its threads use none either; test_sandbox_stop.py has those that leave its group or would wake it."""
    with talking(folder_of(tmp_path, bot_py=THREAD)) as (channel, process):
        ask(channel)
        before_s = cpu_of_all_s(process)
        time.sleep(LOOK_S)

        assert cpu_of_all_s(process) - before_s < 1.5 * TICK_S

        channel.wake()
        assert eventually(lambda: cpu_of_all_s(process) - before_s > 5 * TICK_S)


def test_a_bot_that_may_ponder_is_not_frozen(tmp_path: Path) -> None:
    """A tournament may allow pondering."""
    with talking(folder_of(tmp_path, bot_py=THREAD), may_ponder=True) as (channel, process):
        ask(channel)
        before_s = cpu_of_all_s(process)

        assert eventually(lambda: cpu_of_all_s(process) - before_s > 5 * TICK_S)


def test_a_frozen_bot_is_given_its_time_to_end(tmp_path: Path, golden: Golden) -> None:
    """It is resumed and reads the end of its input."""
    with talking(folder_of(tmp_path, bot_py=f"{ANSWER}import sys\nsys.exit(7)\n")) as (channel, _):
        ask(channel)

        golden(channel.close(10.0))


def test_a_request_larger_than_the_pipe_thaws_the_bot(tmp_path: Path) -> None:
    """Or it could never be written; it was woken to read, not to think, so it is frozen again."""
    with talking(folder_of(tmp_path, bot_py=ANSWER.replace("line, end=''", "len(line)"))) as (channel, process):
        ask(channel)

        channel.send(b"x" * (1 << 20) + b"\n", wall_clock())

        assert process.is_suspended
        channel.wake()

        assert channel.receive(wall_clock()) == str((1 << 20) + 1).encode()


def test_the_kernel_counts_what_a_frozen_bot_was_told(tmp_path: Path) -> None:
    """A small message for it, while another bot is on move, does not wake it."""
    with talking(folder_of(tmp_path, bot_py=ANSWER)) as (channel, _):
        ask(channel)
        channel.send(b"news\n", wall_clock())
        time.sleep(0.02)

        assert channel.pending() == []

        channel.wake()
        assert channel.receive(wall_clock()) == b"news"


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
from support.process_boxes import FORKING, ask, talking, wall_clock
with talking(Path(sys.argv[1]), limits=FORKING) as (channel, process):
    channel.receive(wall_clock())
    if sys.argv[2] == "frozen": channel.rest()
    print(process.group.id, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("state", ["frozen", "awake"])
def test_a_killed_harness_takes_its_bots_along(tmp_path: Path, state: str) -> None:
    """All bots end within a tenth of a second, suspended or not, whatever signals they ignore."""
    folder = folder_of(tmp_path, bot_py=STUBBORN)
    with python_process(HARNESS, str(folder), state) as harness:
        first = int(next_line(harness))
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
