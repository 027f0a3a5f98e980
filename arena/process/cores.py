"""A core for a worker and its bots, claimed on this machine.

Rule: where only one of them runs at a time, a wake-up on the same core is the cheapest. A claim is a lock on a file of
that number, in a folder that only this user may enter: one process can hold it, and the kernel takes it back when that
one ends. Claims of other users are not seen.
"""

import contextlib
import fcntl
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from arena.process.reaper import descendants

_SHARED: Final = "/dev/shm"  # noqa: S108 - its owner is looked at
"""A file system in memory, where every user may make folders."""
_MOST_FOLDERS: Final = 20
"""Number of folder names tried there."""


def usable_cores() -> list[int]:
    """Return the cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


def free_cores() -> list[int]:
    """Return the cores that this process may use and that no process of this user, itself included, has claimed.

    Empty if there is no folder for claims.
    """
    free: list[int] = []
    folder = claims_folder()
    for core in usable_cores():
        if (claim := _try_claim(core, folder)) is not None:
            os.close(claim)
            free.append(core)
    return free


def claims_folder() -> Path | None:
    """Return the private folder of this user's claims, made if missing; None if none can be made."""
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


def _try_claim(core: int, folder: Path | None) -> int | None:
    """Claim a core; return the file descriptor that holds the claim, None if it is taken or there is no folder."""
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
    """The core that this process claims for itself and its bots. `folder` returns the folder of the claims."""

    def __init__(self, folder: Callable[[], Path | None] = claims_folder) -> None:
        self.core: int | None = None
        self._folder = folder
        self._usable = usable_cores()
        self._claim: int | None = None

    def claim(self) -> None:
        """Claim the last free core and run on it alone, with all processes below this one, until `release`.

        Without a free one all run on all cores, as before; nothing changes if a core is claimed already.
        """
        if self.core is not None or len(self._usable) == 1:
            return
        folder = self._folder()
        for core in reversed(self._usable):
            if (claim := _try_claim(core, folder)) is not None:
                self.core, self._claim = core, claim
                _restrict_to([core])
                return

    def release(self) -> None:
        """Release the core; let this process and its bots run on all usable ones."""
        if self._claim is not None:
            os.close(self._claim)
            self.core = self._claim = None
            _restrict_to(self._usable)


def _restrict_to(cores: Iterable[int]) -> None:
    """Restrict this thread and all running bots to these cores; later threads and bots inherit that."""
    allowed = set(cores)
    os.sched_setaffinity(0, allowed)
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - a number, no path
                os.sched_setaffinity(int(thread), allowed)
