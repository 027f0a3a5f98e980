"""Sandboxes that a killed arena left behind, known by a mark on their command line, and killed at the next start.

Rule: only sandboxes whose owner is gone, and only those of this user. A sandbox dies with the process that started it,
except for a few microseconds of its start, in which bwrap has a child without a parent-death signal; `kill -9` of all
of arena in that moment leaves it waiting for ever.

Each process of a sandbox is the child of another one, the first one that of the owner. If the parent is neither of
these, the kernel has reparented the process, so its owner is gone. The mark is a hash of the owner's process id, which
a bot may read: it is of no use to it.
"""

import contextlib
import logging
import os
import signal
from hashlib import sha256
from pathlib import Path
from typing import Final

from arena.process.reaper import read_proc

_PREFIX: Final = "arena-cage-"
log: Final = logging.getLogger("arena.process")


def owner_mark() -> list[str]:
    """Return arguments for bwrap that mark a sandbox as this process's: they unset a variable that does not exist."""
    return ["--unsetenv", _PREFIX + _mark_made_by("self")]


def end_leftovers() -> int:
    """Kill the sandboxes that killed programs of this user left behind; return the number of their processes."""
    ended = 0
    for pid in read_marks():
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            handle = os.pidfd_open(pid)
            stack.callback(os.close, handle)
            if _is_orphaned(pid):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                ended += 1
    if ended:
        log.warning("%d sandboxed processes of an arena that was killed were still there: ended", ended)
    return ended


def read_marks() -> dict[int, str]:
    """Return the marks of all processes of sandboxes, by process id."""
    pids = [int(place.name) for place in Path("/proc").glob("[0-9]*")]
    return {pid: mark for pid in pids if (mark := _read_mark(pid))}


def _is_orphaned(pid: int) -> bool:
    """Return True if the parent of a process is neither its owner nor in a sandbox; False if that is unknown."""
    mark, parent = _read_mark(pid), int(_read_status(pid).get("PPid", 0))
    owner = _mark_made_by(parent)
    return bool(mark and owner) and owner != mark and not _read_mark(parent)


def _read_mark(pid: int) -> str:
    """Return the mark of the sandbox that a process belongs to; empty if it is in none, or not of this user.

    Root sees the processes of all users, because its bots have other user ids.
    """
    try:
        is_ours = os.geteuid() in {0, Path(f"/proc/{pid}").stat().st_uid}
    except OSError:
        return ""
    words = read_proc(f"/proc/{pid}/cmdline").split(b"\0")[:12]
    marks = [word.decode("ascii", "replace") for word in words if word.startswith(_PREFIX.encode())]
    return marks[0].removeprefix(_PREFIX) if marks and is_ours else ""


def _mark_made_by(pid: int | str) -> str:
    """Return the mark that a process gives its sandboxes: a hash of its id in its own namespace; empty if unknown."""
    number = _read_status(pid).get("NSpid", "").split()[-1:]
    return sha256(number[0].encode()).hexdigest()[:16] if number else ""


def _read_status(pid: int | str) -> dict[str, str]:
    """Return the fields of /proc/PID/status by name; none if the process is gone."""
    lines = read_proc(f"/proc/{pid}/status").decode("utf-8", "replace").splitlines()
    return {name: value for name, _, value in (line.partition(":\t") for line in lines)}
