"""Sandboxes that a killed arena left behind, known by a mark on their command line, and ended at the next start.

Rule: only boxes whose owner is gone, and only those of one's own user. A box dies with the process that started it, but
for a few microseconds of its start bwrap has a child that nobody would miss; `kill -9` of all of arena in that moment
leaves it waiting for ever.

The mark is a hash of the owner's process id, start time and namespace of process ids, so that no number that was given
again, and no container beside, is taken for the owner. A bot may read it, and learns nothing of use.
"""

import contextlib
import logging
import os
import signal
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

_PREFIX: Final = "arena-box-"
log: Final = logging.getLogger("arena.process")


def owner_mark() -> list[str]:
    """Words for bwrap that mark a box as ours: it forgets a variable that does not exist."""
    return ["--unsetenv", _PREFIX + _identity(Path("/proc/self"))]


def end_leftovers() -> int:
    """Kill the boxes that this user's killed programs left behind; how many there were."""
    boxes = _boxes()
    if not boxes:
        return 0
    try:
        owners = {_identity(place) for place in _own_processes()}
    except PermissionError:  # an owner that cannot be looked at may be alive
        return 0
    ended = sum(_end(pid, token) for pid, token in boxes.items() if token not in owners)
    if ended:
        log.warning("%d sandboxed processes of an arena that was killed were still there: ended", ended)
    return ended


def _end(pid: int, token: str) -> bool:
    """Kill the process if it still is the one that has this mark."""
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        handle = os.pidfd_open(pid)
        stack.callback(os.close, handle)
        if _token(Path(f"/proc/{pid}")) == token:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            return True
    return False


def _boxes() -> dict[int, str]:
    """The marks of all sandboxes by process id."""
    return {int(place.name): token for place in _processes() if (token := _token(place))}


def _processes() -> Iterator[Path]:
    return (place for place in Path("/proc").iterdir() if place.name.isdigit())


def _token(place: Path) -> str:
    """The mark of the sandbox that a process belongs to; empty for one that is none, or not ours to end.

    Ours are those of this user; for root, those of all users that root lends to bots too.
    """
    try:
        words = (place / "cmdline").read_bytes().split(b"\0")
        owner = place.stat().st_uid
    except OSError:
        return ""
    marks = [word for word in words[:12] if word.startswith(_PREFIX.encode())]
    is_ours = os.geteuid() in {0, owner}
    return marks[0].decode("ascii", "replace").removeprefix(_PREFIX) if marks and is_ours else ""


def _own_processes() -> Iterator[Path]:
    """All processes of this user that are there."""
    for place in _processes():
        with contextlib.suppress(OSError):
            if place.stat().st_uid == os.geteuid():
                yield place


def _identity(place: Path) -> str:
    """A hash that no other process has, ended ones and those of containers included; empty if it has ended."""
    try:
        status = (place / "status").read_text(encoding="utf-8", errors="replace")
        started = (place / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
        numbers = next(line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:"))
        # A process with one number is in our own namespace; that of others may be closed to us.
        namespace = ((Path("/proc/self") if len(numbers) == 1 else place) / "ns/pid").stat().st_ino
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return sha256(f"{namespace} {numbers[-1]} {started}".encode()).hexdigest()[:16]
