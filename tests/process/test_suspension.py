"""Suspensions of the referee: what is taken for one, and what a bot could bring about is not."""

import os
import signal
import time
from typing import Any

import pytest
from support.process_boxes import next_line, python_process

from arena.process.suspension import SLEEP_S, Reading, SuspensionWatch, suspended_s

NOTHING = Reading(at_s=100.0, waited_s=1.0, cpu_s=2.0, faults=3, memory_s=4.0, disk_s=5.0)
LATE_S = 4.0


def after(*, slept_s: float = SLEEP_S + LATE_S, **grown: float) -> Reading:
    """Return a reading after a sleep in which these values grew by so much."""
    values: dict[str, Any] = {**grown, "at_s": slept_s}
    return NOTHING._replace(**{name: getattr(NOTHING, name) + value for name, value in values.items()})


@pytest.mark.parametrize(
    ("grown", "suspension_s"),
    [
        ({}, LATE_S),  # nothing explains it
        ({"slept_s": 0.0}, 0.0),  # cut short by a question
        ({"slept_s": 0.125}, 0.0),
        ({"slept_s": SLEEP_S}, 0.0),
        ({"waited_s": 4.0}, 0.0),  # CPU hogs of a bot with processes
        ({"cpu_s": 4.0}, 0.0),  # another thread of the referee at work, with the interpreter's lock
        ({"memory_s": 4.0}, 0.0),  # memory pressure
        ({"faults": 1, "disk_s": 4.0}, 0.0),  # the referee itself was swapped out
        ({"waited_s": 1.0, "cpu_s": 1.0, "memory_s": 1.0, "faults": 9, "disk_s": 1.0}, 0.0),
        ({"disk_s": 4.0}, LATE_S),  # others may write all the time, and this thread did not need the disk
        ({"slept_s": 3600.5, "waited_s": 1.0}, 3599.0),  # an hour's stop with a second of load
    ],
)
def test_a_suspension_is_a_late_sleep_that_nothing_explains(grown: dict[str, float], suspension_s: float) -> None:
    """Load, floods, memory pressure, swapping: each explains as much time as the kernel measured of it."""
    assert suspended_s(NOTHING, after(**grown)) == suspension_s


def test_without_measures_each_fault_explains_a_second() -> None:
    """Kernels without pressure stall information; a container that was stopped for an hour comes back with faults."""
    bare = NOTHING._replace(memory_s=None, disk_s=None)
    end = after(faults=3)._replace(memory_s=None, disk_s=None)

    assert suspended_s(bare, end) == LATE_S - 3.0


def scripted(*readings: Reading) -> SuspensionWatch:
    """A watch that gets these readings, and then the last one for ever, later and later."""
    left = list(readings)

    def read() -> Reading:
        now_s = time.monotonic()
        reading = left.pop(0) if left else readings[-1]
        return reading._replace(at_s=now_s if reading.at_s < 1e6 else reading.at_s - 1e6 + now_s)

    return SuspensionWatch(read)


def test_a_watch_tells_of_a_suspension_that_ended_after_a_moment() -> None:
    """A suspension that ended before it is not reported."""
    began_s = time.monotonic()
    watch = scripted(NOTHING, NOTHING._replace(at_s=1e6 + 5.0), NOTHING._replace(at_s=1e6 + 5.0))

    watch.start()
    found_s = watch.since(began_s)

    assert 4.0 < found_s < 5.0
    assert watch.since(time.monotonic() + 60.0) == 0.0


def test_a_watch_answers_at_once() -> None:
    """The question wakes it from its sleep."""
    watch = SuspensionWatch()
    watch.start()
    watch.since(0.0)  # the thread is there now

    start_s = time.monotonic()
    for _ in range(10):
        assert watch.since(0.0) == 0.0

    assert time.monotonic() - start_s < 10 * SLEEP_S


SUSPENDED = """\
import sys, time
from arena.process.suspension import WATCH
WATCH.start()
began_s = time.monotonic()
print("ready", flush=True)
sys.stdin.readline()
print(WATCH.since(began_s), flush=True)
"""


@pytest.mark.process
@pytest.mark.parametrize(("stopped_s", "is_suspension"), [(3.0, True), (1.0, False)])
def test_a_process_knows_that_it_was_stopped(stopped_s: float, is_suspension: bool) -> None:
    """SIGSTOP for three seconds is reported; one second is not, because clocks allow for it."""
    with python_process(SUSPENDED) as process:
        assert next_line(process) == "ready"
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(stopped_s)  # the length of the stop is the point
        os.kill(process.pid, signal.SIGCONT)
        said, _ = process.communicate("how long?\n")

    assert (float(said) > 2.0) == is_suspension
