"""Processes as /proc shows them: children, delays; and the end of all that descend from us.

Rule: whoever starts bots is the subreaper of all their descendants (prctl(2), PR_SET_CHILD_SUBREAPER), so that a
daemon that left its session and its process group still becomes our child, where it is found and killed.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36
_KILLED_WITHIN_S: Final = 0.5


def become_subreaper() -> None:
    """Make this process the parent of its orphaned descendants from now on."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def read_proc(path: str) -> bytes:
    """Return the first 8 KiB of a file in /proc; empty if its process is gone."""
    try:
        handle = os.open(path, os.O_RDONLY)  # a file object costs as much as the read
    except OSError:
        return b""
    try:
        return os.read(handle, 1 << 13)
    except OSError:
        return b""
    finally:
        os.close(handle)


def read_threads(pid: int, name: str) -> list[bytes]:
    """Return the contents of /proc file `name` of each thread, b"" for one that has just ended; [] if all have."""
    try:
        return [read_proc(f"/proc/{pid}/task/{thread}/{name}") for thread in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208
    except OSError:
        return []


def children(pid: int) -> set[int]:
    """Return the process ids of the direct children of process `pid`, of all its threads."""
    return {int(child) for listed in read_threads(pid, "children") for child in listed.split()}


def descendants(pid: int) -> set[int]:
    """Return the process ids of the children of `pid`, their children, and so on."""
    family: set[int] = set()
    fresh = children(pid)
    while fresh:
        family |= fresh
        fresh = {child for parent in fresh for child in children(parent)} - family
    return family


def own_delay_s() -> float:
    """Return the seconds for which this thread waited for a core."""
    return delay_in(read_proc("/proc/thread-self/schedstat"))


def delay_in(schedstat: bytes) -> float:
    """Return the seconds that a thread waited for a core: the second number of its /proc schedstat."""
    return int(schedstat.split()[1]) / 1e9 if schedstat else 0.0


def kill_descendants(*, spare: frozenset[int] = frozenset()) -> int:
    """Kill and reap the descendants of this process; return the number of those killed.

    Processes in `spare` and their descendants are left alone, also those that start meanwhile.
    """

    def targets() -> set[int]:
        return descendants(os.getpid()).difference(spare, *map(descendants, spare))

    for pid in targets():  # processes that have ended by themselves do not count as killed
        _reap(pid)
    return kill_all(targets, _KILLED_WITHIN_S)


def kill_all(targets: Callable[[], set[int]], patience_s: float) -> int:
    """Kill and reap the processes that `targets` returns; return how many there were.

    Calls `targets` until it returns none, at most for `patience_s`: orphans of killed processes become our children.
    """
    killed: set[int] = set()
    deadline_s = time.monotonic() + patience_s
    while (pids := targets()) and time.monotonic() < deadline_s:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            _reap(pid)
        killed |= pids
        time.sleep(0.002)
    return len(killed)


def _reap(pid: int) -> None:
    """Reap a child that has ended; no effect on others."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
