"""Sandboxes that a killed arena left behind, known by a mark on their command line, and ended at the next start.

Rule: only boxes whose owner is gone, and only those of one's own user. A box dies with the process that started it, but
for a few microseconds of its start bwrap has a child that nobody would miss; `kill -9` of all of arena in that moment
leaves it waiting for ever.

The processes of a box are children of each other, and the first one of its owner: what the kernel gave to another
parent, which had its number while the owner lived, has been left behind. The mark is a hash of the owner's number. A
bot may read it, and learns nothing of use.
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
    """Words for bwrap that mark a box as ours: it forgets a variable that does not exist."""
    return ["--unsetenv", _PREFIX + _identity("self")]


def end_leftovers() -> int:
    """Kill the boxes that this user's killed programs left behind; how many there were."""
    ended = 0
    for pid in marked():
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            handle = os.pidfd_open(pid)
            stack.callback(os.close, handle)
            if _is_left(pid):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                ended += 1
    if ended:
        log.warning("%d sandboxed processes of an arena that was killed were still there: ended", ended)
    return ended


def marked() -> dict[int, str]:
    """The marks of all processes of sandboxes, by process id."""
    pids = [int(place.name) for place in Path("/proc").glob("[0-9]*")]
    return {pid: mark for pid in pids if (mark := _mark(pid))}


def _is_left(pid: int) -> bool:
    """Whether the parent is neither the owner nor of the box; not if that cannot be told."""
    mark, parent = _mark(pid), int(_status(pid).get("PPid", 0))
    owner = _identity(parent)
    return bool(mark and owner) and owner != mark and not _mark(parent)


def _mark(pid: int) -> str:
    """The mark of the sandbox that a process belongs to; empty for one that is none, or not ours to end.

    Ours are those of this user; for root, those of all users that root lends to bots too.
    """
    try:
        is_ours = os.geteuid() in {0, Path(f"/proc/{pid}").stat().st_uid}
    except OSError:
        return ""
    words = read_proc(f"/proc/{pid}/cmdline").split(b"\0")[:12]
    marks = [word.decode("ascii", "replace") for word in words if word.startswith(_PREFIX.encode())]
    return marks[0].removeprefix(_PREFIX) if marks and is_ours else ""


def _identity(pid: int | str) -> str:
    """A hash of the number that the process has in its own namespace, as in a container; empty if none is known."""
    number = _status(pid).get("NSpid", "").split()[-1:]
    return sha256(number[0].encode()).hexdigest()[:16] if number else ""


def _status(pid: int | str) -> dict[str, str]:
    lines = read_proc(f"/proc/{pid}/status").decode("utf-8", "replace").splitlines()
    return {name: value for name, _, value in (line.partition(":\t") for line in lines)}
