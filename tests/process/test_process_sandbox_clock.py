"""Time of a bot in its box."""

import os
import statistics
import time
from pathlib import Path

import pytest
from process_boxes import ask, folder_of, in_a_box, talking

pytestmark = in_a_box
BURN = """
import sys, threading, time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
for line in sys.stdin:
    threads = [threading.Thread(target=burn, args=(float(word),)) for word in line.split()[1:]]
    for thread in threads: thread.start()
    burn(float(line.split()[0]))
    for thread in threads: thread.join()
    print("done", flush=True)
"""


@pytest.mark.parametrize("line", [b"0.05", b"0 0.05", b"0.02 0.015 0.015"], ids=["main", "thread", "three"])
def test_the_clock_counts_all_threads_of_the_bot(tmp_path: Path, line: bytes) -> None:
    """50 ms of work are 50 ms on the clock, with little on top, however long they took."""
    with talking(folder_of(tmp_path, bot_py=BURN)) as (channel, process):
        ask(channel, b"0")
        measured = []
        for _ in range(3):
            before_s = process.group.cpu()
            ask(channel, line)
            measured.append(process.group.cpu() - before_s)

    assert 0.045 < statistics.median(measured) < 0.080


def test_a_sleeping_bot_uses_no_time(tmp_path: Path) -> None:
    """Nor has it been kept waiting."""
    code = "import time\nfor _ in range(2): input(); time.sleep(0.05); print(1, flush=True)\n"
    with talking(folder_of(tmp_path, bot_py=code)) as (channel, process):
        ask(channel)
        cpu_s, delayed_s = process.group.cpu(), process.group.delayed_s()
        ask(channel)

        assert process.group.cpu() - cpu_s < 0.02
        assert process.group.delayed_s() - delayed_s < 0.045


def test_the_clock_of_a_bot_that_is_gone_stands(tmp_path: Path) -> None:
    """Its last reading is kept."""
    with talking(folder_of(tmp_path, bot_py=BURN)) as (channel, process):
        ask(channel, b"0.02")
        before_s = process.group.cpu()
        process.kill()

    assert process.group.cpu() == before_s
    assert process.group.delayed_s() == 0.0


def test_a_bot_kept_waiting_by_others_is_seen_to_be(tmp_path: Path) -> None:
    """Here by itself: its threads share one core, which it got with its start and cannot leave."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        with talking(folder_of(tmp_path, bot_py=BURN)) as (channel, process):
            os.sched_setaffinity(0, cores)
            ask(channel, b"0")
            before_s, begin_s = process.group.delayed_s(), time.monotonic()
            ask(channel, b"0.03 0.03 0.03")
            elapsed_s = time.monotonic() - begin_s

            assert elapsed_s > 0.089
            assert 0.0 < process.group.delayed_s() - before_s <= elapsed_s
    finally:
        os.sched_setaffinity(0, cores)
