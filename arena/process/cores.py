"""One core for a worker and its bots: claimed on this machine, and left for a free one where other work crowds it.

Rule: where only one of them runs at a time, a wake-up on the same core is the cheapest. A claim is a local socket whose
name has the core's number: one process on the machine can hold it, and the kernel takes it back when that one ends.
"""

import contextlib
import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from arena.process.clock import CpuClock
from arena.process.portable import usable_cores
from arena.process.reaper import descendants

_NAME: Final = "arena-core"
_LOOK_S: Final = 1.0
"""Between two looks: the kernel counts the use of a core in hundredths of a second."""
_CROWDED: Final = 0.25
_FREE: Final = 0.75
"""Shares of a core: other work that is worth a move, and the idle time of the core to move to."""
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
log: Final = logging.getLogger("arena.cores")


class CoreTimes(NamedTuple):
    """Seconds since the machine started for which a core had work, and had none."""

    busy_s: float
    idle_s: float


def read_core_times() -> dict[int, CoreTimes]:
    """The times of all cores, as /proc/stat has them."""
    found: dict[int, CoreTimes] = {}
    for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
        name, *ticks = line.split()
        if name.startswith("cpu") and name != "cpu":
            times_s = [int(each) / _TICKS_PER_S for each in ticks[:8]]
            idle_s = times_s[3] + times_s[4]  # nothing to do, and nothing to do but wait for a disk
            found[int(name[3:])] = CoreTimes(sum(times_s) - idle_s, idle_s)
    return found


def free_cores() -> list[int]:
    """The cores that this process may use and nobody has claimed."""
    free: list[int] = []
    for core in usable_cores():
        if (claimed := _claimed(_NAME, core)) is not None:
            claimed.close()
            free.append(core)
    return free


def _claimed(name: str, core: int) -> socket.socket | None:
    """The claim of that core; None if somebody else has it."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0{name}-{core}")
    except OSError:
        claim.close()
        return None
    return claim


class OwnCore:
    """The core that this process has claimed for itself and its bots, if any. `name` begins the names of the claims."""

    def __init__(
        self,
        *,
        read: Callable[[], dict[int, CoreTimes]] = read_core_times,
        wall: Callable[[], float] = time.monotonic,
        name: str = _NAME,
    ) -> None:
        self.core: int | None = None
        self._read, self._wall, self._name = read, wall, name
        self._usable = usable_cores()
        self._claimed: socket.socket | None = None

    def claim(self) -> None:
        """Stay on the core that is claimed, or on the last one that nobody else has; else on all, as before."""
        if self.core is None and sys.platform == "linux" and len(self._usable) > 1:
            self._move_to(reversed(self._usable))

    def release(self) -> None:
        """Give the core back: from now on the kernel chooses among all."""
        if self._claimed is not None:
            self._claimed.close()
            self.core = self._claimed = None
            _stay_on(self._usable)

    def look(self) -> None:
        """Leave a core that is crowded by work of others for one that is free, with all bots. To be asked often."""
        if self.core is None:
            return
        window_s = self._wall() - self._begin_s
        if window_s < _LOOK_S:
            return
        now = self._read()
        if self.core not in now or self.core not in self._before:  # a container counts its cores in another way
            self._begin()
            return
        others_s = now[self.core].busy_s - self._before[self.core].busy_s - (_used_s() - self._own_s)
        idle_s = {core: now[core].idle_s - self._before[core].idle_s for core in self._usable if core in self._before}
        free = sorted((core for core in idle_s if idle_s[core] > _FREE * window_s), key=lambda core: -idle_s[core])
        if others_s > _CROWDED * window_s and self._move_to(free):
            log.info("moved to core %d: other work took %.0f %% of the last one", self.core, 100 * others_s / window_s)
        self._begin()

    def _move_to(self, cores: Iterable[int]) -> bool:
        """Claim the first of these that nobody has; whether there was one."""
        for core in cores:
            claimed = _claimed(self._name, core)
            if claimed is None:
                continue
            if self._claimed is not None:
                self._claimed.close()
            self.core, self._claimed = core, claimed
            _stay_on([core])
            self._begin()
            return True
        return False

    def _begin(self) -> None:
        self._begin_s, self._before, self._own_s = self._wall(), self._read(), _used_s()


def _used_s() -> float:
    """CPU seconds of this process and all below it, those that have ended included."""
    import resource  # noqa: PLC0415 - not on Windows

    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living_s = sum(CpuClock(pid)() for pid in {os.getpid()} | descendants(os.getpid()))
    return ended.ru_utime + ended.ru_stime + living_s


def _stay_on(cores: Iterable[int]) -> None:
    """Let this thread and all bots run on these cores only; threads and bots to come will."""
    allowed = set(cores)
    os.sched_setaffinity(0, allowed)
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - a number, no path
                os.sched_setaffinity(int(thread), allowed)
