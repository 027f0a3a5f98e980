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
    """Orphans among our descendants become our children from now on."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def read_proc(path: str) -> bytes:
    """The beginning of a file in /proc; empty once its process is gone."""
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
    """That file of each thread of process `pid`; empty ones of threads that have just ended."""
    try:
        return [read_proc(f"/proc/{pid}/task/{thread}/{name}") for thread in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208
    except OSError:
        return []


def children(pid: int) -> set[int]:
    """Direct children of process `pid`, of all its threads."""
    return {int(child) for listed in read_threads(pid, "children") for child in listed.split()}


def descendants(pid: int) -> set[int]:
    """Children of `pid`, their children, and so on."""
    found: set[int] = set()
    fresh = children(pid)
    while fresh:
        found |= fresh
        fresh = {child for parent in fresh for child in children(parent)} - found
    return found


def own_delay_s() -> float:
    """Seconds that this thread was ready to run, but waiting for a core."""
    return delay_in(read_proc("/proc/thread-self/schedstat"))


def delay_in(schedstat: bytes) -> float:
    """Seconds in a queue of a core: the second number of that file of a thread."""
    return int(schedstat.split()[1]) / 1e9 if schedstat else 0.0


def kill_descendants(*, spare: frozenset[int] = frozenset()) -> int:
    """Kill and reap all our descendants but those in `spare` and theirs; how many were killed.

    A child that a spared process starts after the first look is not among them, and so is safe.
    """

    def targets() -> set[int]:
        return descendants(os.getpid()).difference(spare, *map(descendants, spare))

    for pid in targets():  # those that ended by themselves need no killing
        _reap(pid)
    return kill_all(targets, _KILLED_WITHIN_S)


def kill_all(targets: Callable[[], set[int]], patience_s: float) -> int:
    """Kill and reap these processes; how many there were.

    Killing a parent hands us its children, so this asks again until there are none, at most `patience_s` long.
    """
    killed: set[int] = set()
    deadline_s = time.monotonic() + patience_s
    while (found := targets()) and time.monotonic() < deadline_s:
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            _reap(pid)
        killed |= found
        time.sleep(0.002)
    return len(killed)


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
