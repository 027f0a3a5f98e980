"""Time for one move: what has been used, what is left, and when to look again.

Rule: CPU time decides, wall time is the backstop (or decides, where a tournament says so). Both are passed in as
functions, so that a test needs no sleep. All times are in seconds.

CPU time of another process comes from the kernel's per-process clock (all threads, nanoseconds, a system call of
0.2 us). Its clock id is (~pid << 3) | 2, the Linux ABI behind clock_getcpuclockid(3), which Python does not wrap.
"""

import time
from collections.abc import Callable
from typing import Final

from arena.errors import OutOfTime

_PER_PROCESS_SCHED: Final = 2
_SHORTEST_WAIT_S: Final = 0.001


def cpu_clock(pid: int) -> Callable[[], float]:
    """A function that reads the CPU seconds used by all threads of process `pid` so far.

    Once the process is gone its last reading stands; the end of its pipes tells that it is gone.
    """
    clock_id = (~pid << 3) | _PER_PROCESS_SCHED
    read = time.clock_gettime
    last_s = 0.0

    def used_s() -> float:
        nonlocal last_s
        try:
            last_s = read(clock_id)
        except OSError:
            return last_s
        return last_s

    return used_s


class MoveClock:
    """The clock of one move, started when it is made.

    `budget_s` is the move's allowance and the bank together; `wall_s` the backstop. `decides_cpu` tells which clock
    the budget is counted on. After `stop`, `used_s` is the deciding time and `elapsed_s` the wall time.
    """

    __slots__ = (
        "_budget_s",
        "_cpu",
        "_cpu_start",
        "_decides_cpu",
        "_wall",
        "_wall_s",
        "_wall_start",
        "cpu_s",
        "elapsed_s",
    )

    def __init__(
        self,
        *,
        cpu: Callable[[], float],
        wall: Callable[[], float],
        budget_s: float,
        wall_s: float,
        decides_cpu: bool,
    ) -> None:
        self._cpu = cpu
        self._wall = wall
        self._budget_s = budget_s
        self._wall_s = wall_s
        self._decides_cpu = decides_cpu
        self.cpu_s = 0.0
        self.elapsed_s = 0.0
        self._cpu_start = cpu()
        self._wall_start = wall()

    @property
    def used_s(self) -> float:
        """Time of the deciding kind, as of the last look."""
        return self.cpu_s if self._decides_cpu else self.elapsed_s

    def first_wait_s(self) -> float:
        """How long to wait at first, without a look at any clock."""
        return min(self._budget_s, self._wall_s)

    def stop(self) -> None:
        """Take both times. OutOfTime if the answer came too late."""
        self._look()
        self._judge()

    def wait_s(self) -> float:
        """How long to wait before the next look. OutOfTime if the time is used up."""
        self._look()
        self._judge()
        left = min(self._budget_s - self.used_s, self._wall_s - self.elapsed_s)
        return max(left, _SHORTEST_WAIT_S)

    def _look(self) -> None:
        self.elapsed_s = self._wall() - self._wall_start
        self.cpu_s = self._cpu() - self._cpu_start

    def _judge(self) -> None:
        if self.used_s > self._budget_s:
            kind = "CPU time" if self._decides_cpu else "wall time"
            raise OutOfTime(
                f"used {self.used_s * 1000:.0f} ms of {kind}, had {self._budget_s * 1000:.0f} ms",
                hint="answer earlier: the allowance of the move and the bank are used up",
            )
        if self.elapsed_s > self._wall_s:
            raise OutOfTime(
                f"no answer within {self._wall_s:.1f} s of wall time ({self.cpu_s * 1000:.0f} ms of CPU time)",
                hint="the bot slept, waited for something else, or never flushed its answer",
            )
