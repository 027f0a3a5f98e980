"""Suspension of the referee with all its bots: a stop signal to all, `docker pause`, a paused virtual machine.

Rule: one thread of each process that plays sleeps half a second at a time. A sleep that ends over 2 s late is a
suspension, unless something else explains it: waiting for a core, work of this process, memory that ran short. A bot
can bring about the latter, and must not get a match played again for it. The thread touches no pipe of a bot, so that
none can hold it up.
"""

import re
import resource
import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from arena.process.reaper import own_delay_s, read_proc

SLEEP_S: Final = 0.5
LATE_S: Final = 2.0
_TICK_WITHIN_S: Final = 5.0
"""Longest wait for the thread, which may be late under load."""
_FAULT_S: Final = 1.0
"""Longest delay that one page from the disk explains, if the kernel does not measure it."""
_STALLED: Final = re.compile(rb"some .*total=(\d+)")


class Reading(NamedTuple):
    """A reading of clocks and counters; only differences between two readings have a meaning.

    `at_s`: the time; `waited_s`: seconds this thread waited for a core; `cpu_s`: CPU seconds of this process;
    `memory_s`, `disk_s`: seconds that programs of this machine waited for memory or for the disk, None if the kernel
    does not measure that; `faults`: pages for which this thread had to wait.
    """

    at_s: float
    waited_s: float
    cpu_s: float
    faults: int
    memory_s: float | None
    disk_s: float | None


def suspended_s(before: Reading, after: Reading) -> float:
    """Return the seconds by which a sleep of SLEEP_S was too long and that only a suspension explains."""
    late_s = after.at_s - before.at_s - SLEEP_S
    explained_s = after.waited_s - before.waited_s + after.cpu_s - before.cpu_s
    explained_s += (after.memory_s or 0.0) - (before.memory_s or 0.0)
    if faults := after.faults - before.faults:
        explained_s += faults * _FAULT_S if after.disk_s is None else after.disk_s - (before.disk_s or 0.0)
    return max(0.0, late_s - explained_s)


def take_reading() -> Reading:
    """Read the kernel's numbers for this thread, process and machine; takes about 30 us."""
    return Reading(
        at_s=time.monotonic(),
        waited_s=own_delay_s(),
        cpu_s=time.process_time(),
        faults=resource.getrusage(resource.RUSAGE_THREAD).ru_majflt,
        memory_s=_read_stall_s("memory"),
        disk_s=_read_stall_s("io"),
    )


def _read_stall_s(resource_name: str) -> float | None:
    """Return the seconds that programs waited for `memory` or `io` (/proc/pressure); None if not measured."""
    match = _STALLED.search(read_proc(f"/proc/pressure/{resource_name}"))
    return int(match[1]) / 1e6 if match else None


class SuspensionWatch:
    """A thread that detects suspensions from the first call of `start` on. `read` takes its readings."""

    def __init__(self, read: Callable[[], Reading] = take_reading) -> None:
        self._read = read
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless it runs in this process; return after its first reading."""
        if self._thread is not None and self._thread.is_alive():
            return
        self._wake = threading.Event()  # a new one: after a fork the old one may be in any state
        self._ticked = threading.Condition()
        self._tick_s = self._ended_s = -1.0
        self._length_s = 0.0
        self._thread = threading.Thread(target=self._watch, name="suspension-watch", daemon=True)
        self._thread.start()
        self._await_reading(0.0)

    def since(self, start_s: float) -> float:
        """Return the seconds of the last suspension that ended after `start_s` (time.monotonic); 0.0 without one.

        Starts the thread if need be, and waits for its next reading, at most 5 s.
        """
        self.start()
        self._wake.set()
        self._await_reading(time.monotonic())
        return self._length_s if self._ended_s > start_s else 0.0

    def _await_reading(self, from_s: float) -> None:
        """Wait until the thread has read the clocks at `from_s` or later, at most 5 s."""
        with self._ticked:
            self._ticked.wait_for(lambda: self._tick_s >= from_s, _TICK_WITHIN_S)

    def _watch(self) -> None:
        """Read the clocks every half second, and when woken, for ever; publish each reading with its suspension."""
        before = self._read()
        self._publish(before, 0.0)
        while True:
            self._wake.wait(SLEEP_S)
            self._wake.clear()
            after = self._read()
            self._publish(after, suspended_s(before, after))
            before = after

    def _publish(self, reading: Reading, length_s: float) -> None:
        """Store the time of a reading, and its suspension of `length_s` if that is over LATE_S; wake waiters."""
        with self._ticked:
            self._tick_s = reading.at_s
            if length_s > LATE_S:
                self._ended_s, self._length_s = reading.at_s, length_s
            self._ticked.notify_all()


def never_suspended(_start_s: float) -> float:
    """Return 0.0: ignore suspensions, where a match cannot be played again."""
    return 0.0


WATCH: Final = SuspensionWatch()
"""The watch of this process."""
