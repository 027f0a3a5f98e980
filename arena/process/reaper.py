"""No process left behind: what a bot's children and grandchildren need so that they end with it.

Rule: whoever starts bots is the subreaper of all their descendants (prctl(2), PR_SET_CHILD_SUBREAPER), so that a
daemon that left its session and its process group still becomes our child, where it is found and killed.
"""

import contextlib
import ctypes
import os
import signal
import time
from pathlib import Path
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36


def become_subreaper() -> None:
    """Orphans among our descendants become our children from now on."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(pid: int) -> set[int]:
    """Direct children of process `pid`, of all its threads."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found.update(map(int, (task / "children").read_text(encoding="ascii").split()))
    return found


def descendants(pid: int) -> set[int]:
    """Children of `pid`, their children, and so on."""
    found: set[int] = set()
    fresh = children(pid)
    while fresh:
        found |= fresh
        fresh = {child for parent in fresh for child in children(parent)} - found
    return found


def kill_descendants(*, spare: frozenset[int] = frozenset(), patience_s: float = 0.5) -> int:
    """Kill and reap all our descendants but those in `spare` and theirs; how many were killed.

    Killing a parent hands us its children, so this looks again until there are none, at most `patience_s` long.
    """
    _reap(_targets(spare))  # those that ended by themselves need no killing
    killed: set[int] = set()
    deadline = time.monotonic() + patience_s
    while targets := _targets(spare):
        for pid in targets:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed |= targets
        _reap(targets)
        if time.monotonic() > deadline:
            break
        time.sleep(0.002)
    return len(killed)


def _targets(spare: frozenset[int]) -> set[int]:
    """Those alive now. What a spared process starts after the first look is not among them, and so is safe."""
    found = descendants(os.getpid())
    for pid in spare:
        found -= descendants(pid)
    return found - spare


def _reap(pids: set[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
