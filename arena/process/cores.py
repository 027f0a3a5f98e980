"""One core for a worker and its bots: claimed on this machine, and left for a free one where other work crowds it.

Rule: where only one of them runs at a time, a wake-up on the same core is the cheapest. A claim is a lock on a file of
that number, in a folder that only this user may enter: one process can hold it, and the kernel takes it back when that
one ends. Claims of other users are not seen; a core that they use is crowded, and left.
"""

import contextlib
import fcntl
import logging
import os
import resource
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from arena.process.clock import CpuClock
from arena.process.reaper import descendants

_SHARED: Final = "/dev/shm"  # noqa: S108 - its owner is looked at
"""Memory of this machine alone, where everybody may make folders of any name."""
_MOST_FOLDERS: Final = 20
"""Names tried there."""
_LOOK_S: Final = 1.0
"""Between two looks: the kernel counts the use of a core in hundredths of a second."""
_CROWDED: Final = 0.25
_FREE: Final = 0.75
"""Shares of a core: other work that is worth a move, and the idle time of the core to move to."""
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
log: Final = logging.getLogger("arena.cores")


class CoreTimes(NamedTuple):
    """Seconds since the machine started for which a core had work, and had none."""

    busy_s: float
    idle_s: float


def usable_cores() -> list[int]:
    """Return the cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


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
    """The cores that this process may use and that no other one of this user has claimed."""
    free: list[int] = []
    folder = claims_folder()
    for core in usable_cores():
        if (claim := _claim_of(core, folder)) is not None:
            os.close(claim)
            free.append(core)
    return free


def claims_folder() -> Path | None:
    """The folder of this user's claims, made if it is missing; None if there can be none that nobody else may enter."""
    uid = os.geteuid()
    beside = Path(_SHARED, f"arena-{uid}")
    for folder in (
        Path(f"/run/user/{uid}/arena"),
        beside,
        *(beside.with_name(f"{beside.name}-{number}") for number in range(2, _MOST_FOLDERS)),
    ):
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
            status = folder.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == uid and not status.st_mode & 0o077:
                return folder
    return None


def _claim_of(core: int, folder: Path | None) -> int | None:
    """The descriptor that holds the claim of that core; None if it cannot be had."""
    if folder is None:
        return None
    try:
        claim = os.open(folder / f"core-{core}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(claim)
        return None
    return claim


class OwnCore:
    """The core that this process has claimed for itself and its bots, if any. `folder` is that of the claims."""

    def __init__(
        self,
        *,
        read: Callable[[], dict[int, CoreTimes]] = read_core_times,
        wall: Callable[[], float] = time.monotonic,
        folder: Callable[[], Path | None] = claims_folder,
    ) -> None:
        self.core: int | None = None
        self._read, self._wall, self._folder = read, wall, folder
        self._usable = usable_cores()
        self._claim: int | None = None

    def claim(self) -> None:
        """Stay on the core that is claimed, or on the last one that nobody else has; else on all, as before."""
        if self.core is None and len(self._usable) > 1:
            self._move_to(reversed(self._usable))

    def release(self) -> None:
        """Give the core back: from now on the kernel chooses among all."""
        if self._claim is not None:
            os.close(self._claim)
            self.core = self._claim = None
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
        folder = self._folder()
        for core in cores:
            claim = _claim_of(core, folder)
            if claim is None:
                continue
            if self._claim is not None:
                os.close(self._claim)
            self.core, self._claim = core, claim
            _stay_on([core])
            self._begin()
            return True
        return False

    def _begin(self) -> None:
        self._begin_s, self._before, self._own_s = self._wall(), self._read(), _used_s()


def _used_s() -> float:
    """CPU seconds of this process and all below it, those that have ended included."""
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
