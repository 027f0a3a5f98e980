"""Time of a bot in its box, and the patience of the backstop with a busy machine."""

import math
import os
import statistics
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from process_boxes import ask, folder_of, in_a_box, talking

from arena.errors import OutOfTime
from arena.process.clock import MoveClock

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


@in_a_box[0]
@in_a_box[1]
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


@in_a_box[0]
@in_a_box[1]
def test_a_sleeping_bot_uses_no_time(tmp_path: Path) -> None:
    """Nor has it been kept waiting."""
    with talking(
        folder_of(tmp_path, bot_py="import time\nfor _ in range(2): input(); time.sleep(0.05); print(1, flush=True)\n")
    ) as (
        channel,
        process,
    ):
        ask(channel)
        cpu_s, delayed_s = process.group.cpu(), process.group.delayed_s()
        ask(channel)

        assert process.group.cpu() - cpu_s < 0.02
        assert process.group.delayed_s() - delayed_s < 0.045


@in_a_box[0]
@in_a_box[1]
def test_the_clock_of_a_bot_that_is_gone_stands(tmp_path: Path) -> None:
    """Its last reading is kept."""
    with talking(folder_of(tmp_path, bot_py=BURN)) as (channel, process):
        ask(channel, b"0.02")
        before_s = process.group.cpu()
        process.kill()

    assert process.group.cpu() == before_s
    assert process.group.delayed_s() == 0.0


@in_a_box[0]
@in_a_box[1]
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


class Times:
    """Three clocks that stand still until they are set."""

    def __init__(self) -> None:
        self.cpu_s = 3.0
        self.wall_s = 1000.0
        self.delay_s = 7.0
        self._clock: MoveClock | None = None

    def clock(self, *, decides_cpu: bool = True, wall_s: float = 4.0) -> MoveClock:
        self._clock = MoveClock(
            cpu=lambda: self.cpu_s,
            wall=lambda: self.wall_s,
            delayed=lambda: self.delay_s,
            budget_s=1.0,
            wall_s=wall_s,
            decides_cpu=decides_cpu,
        )
        return self._clock

    def pass_by(self, wall_s: float, *, of_it_delayed_s: float = 0.0) -> None:
        """With looks at the clock as often as the referee takes some at least."""
        looks = math.ceil(wall_s / 0.5)
        for _ in range(looks):
            self.wall_s += wall_s / looks
            self.delay_s += of_it_delayed_s / looks
            if self._clock is not None:
                self._clock.look()


@pytest.fixture
def times() -> Times:
    return Times()


def test_a_bot_that_the_machine_kept_waiting_has_time_left(times: Times) -> None:
    """The backstop does not count what it could not use."""
    move = times.clock()
    move.wait_s()
    times.pass_by(10.0, of_it_delayed_s=6.5)

    assert move.wait_s() == 0.001
    move.stop()


def test_a_bot_that_sleeps_is_out_of_time_on_a_busy_machine_too(times: Times) -> None:
    """Time for which it did not want to run counts."""
    move = times.clock()
    move.wait_s()
    times.pass_by(10.0, of_it_delayed_s=5.5)

    with pytest.raises(OutOfTime, match=r"no answer within 4\.0 s"):
        move.wait_s()


def test_delays_before_the_move_do_not_count(times: Times) -> None:
    """A match that was slow so far gives nobody time."""
    times.pass_by(100.0, of_it_delayed_s=90.0)
    move = times.clock()
    move.wait_s()
    times.pass_by(4.5)

    with pytest.raises(OutOfTime):
        move.stop()


def test_the_patience_has_an_end(times: Times) -> None:
    """At eleven times the backstop it is over, delayed or not."""
    move = times.clock()
    move.wait_s()
    times.pass_by(43.9, of_it_delayed_s=43.9)
    move.wait_s()
    times.pass_by(0.2, of_it_delayed_s=0.2)

    with pytest.raises(OutOfTime):
        move.wait_s()


def test_where_wall_time_decides_it_is_wall_time(times: Times) -> None:
    """Nothing is stretched."""
    move = times.clock(decides_cpu=False, wall_s=1.0)
    move.wait_s()
    times.pass_by(1.5, of_it_delayed_s=1.5)

    with pytest.raises(OutOfTime, match="used 1500 ms of wall time"):
        move.wait_s()


@given(
    steps=st.lists(st.tuples(st.floats(0.001, 3.0), st.floats(0.0, 1.0)), min_size=1, max_size=30),
    backstop_s=st.floats(0.1, 5.0),
)
def test_time_runs_out_exactly_when_undelayed_time_does(steps: list[tuple[float, float]], backstop_s: float) -> None:
    """Whatever the machine does: never before the backstop, and always after eleven of them."""
    times = Times()
    move = times.clock(wall_s=backstop_s)
    move.wait_s()
    wall_s = delay_s = 0.0
    is_over = False
    for step_s, share in steps:
        times.pass_by(step_s, of_it_delayed_s=step_s * share)
        wall_s, delay_s = wall_s + step_s, delay_s + step_s * share
        try:
            move.wait_s()
        except OutOfTime:
            is_over = True
            break

    slack_s = 1e-6
    if is_over:
        assert wall_s - min(delay_s, 10 * backstop_s) > backstop_s - slack_s
    else:
        assert wall_s - min(delay_s, 10 * backstop_s) < backstop_s + slack_s
