"""The users of bots on the host, and the files those users can reach, where the harness runs as root.

Rule: a bot is never root. An ordinary user's bots have the same user, and see nothing of it. Root gives each running
bot a spare user id (without a name), and binds files that this user could not reach, such as a bot below /root, in a
mount namespace that nobody else sees and that ends with the process: no copy, nothing left behind.
"""

import contextlib
import ctypes
import os
import stat
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from arena.errors import HarnessFault

_FIRST_UID: Final = 0x7000_0000
"""First user id for bots: above the ranges that systemd gives to containers, so that nobody else uses it."""
_UIDS_PER_PROCESS: Final = 64
_LENDING: Final = Path("/run/arena")
"""Folder for binds; other processes see it empty, because they do not see the file system mounted on it."""
_CLONE_NEWNS: Final = 0x0002_0000
_MS_NODEV, _MS_NOSUID, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x4, 0x2, 0x1000, 0x4000, 0x4_0000
_taken: set[int | None] = set()
_here: Final = threading.local()
_one_at_a_time: Final = threading.Lock()
"""User ids belong to the whole process, and an executor may play in several threads."""


def acquire_uid() -> int | None:
    """Reserve a user id for a bot until `release_uid`; None unless arena runs as root. Raises HarnessFault."""
    if os.geteuid() != 0:
        return None
    first = _FIRST_UID + os.getpid() * _UIDS_PER_PROCESS  # process ids end at 2**22, so this stays below 2**31
    with _one_at_a_time:
        free = next((uid for uid in range(first, first + _UIDS_PER_PROCESS) if uid not in _taken), None)
        if free is None:
            raise HarnessFault(f"more than {_UIDS_PER_PROCESS} bots at once in one process")
        if not _is_mapped(free):
            raise HarnessFault(
                "arena runs as root in a container that has no other users to give to bots: run it as an ordinary user"
            )
        _taken.add(free)
    return free


def release_uid(uid: int | None) -> None:
    """Release a user id of `acquire_uid` after the end of its bot."""
    _taken.discard(uid)


@contextlib.contextmanager
def real_user(uid: int | None) -> Iterator[None]:
    """Take the real user id `uid` inside the `with`, so that rlimits can be set on a process of that user.

    Root without CAP_SYS_RESOURCE, as in containers and some virtual machines, could not set them otherwise. Nothing
    changes if `uid` is None.
    """
    if uid is None:
        yield
        return
    with _one_at_a_time:
        os.setresgid(uid, -1, -1)
        os.setresuid(uid, -1, -1)
        try:
            yield
        finally:
            os.setresuid(0, -1, -1)
            os.setresgid(0, -1, -1)


def reachable(path: Path) -> Path:
    """Return a path at which a bot's user can read the folder: `path` itself, or a bind mount of it.

    Only root needs a bind, once in each thread, which gets a mount namespace for it, and so do its children. A folder
    that was deleted and made again has another inode and is bound again. Raises HarnessFault if the kernel refuses.
    """
    path = path.resolve()
    if os.geteuid() != 0:
        return path
    if _allows(path, stat.S_IROTH) and all(_allows(folder, stat.S_IXOTH) for folder in path.parents):
        return path
    if not hasattr(_here, "lent"):
        _unshare_mounts()
        _here.lent = {}
    lent: dict[tuple[Path, int, int], Path] = _here.lent
    key = (path, path.stat().st_dev, path.stat().st_ino)
    if key not in lent:
        place = _LENDING / str(len(lent))
        place.mkdir()
        _mount(str(path), str(place), "", _MS_BIND, "")
        lent[key] = place
    return lent[key]


def require_readable(folder: Path) -> None:
    """Raise HarnessFault if a bot's own user cannot read its folder."""
    if os.geteuid() == 0 and not _allows(folder, stat.S_IROTH | stat.S_IXOTH):
        raise HarnessFault(
            f"{folder} can be read by its owner only, and bots have another user: `chmod -R o+rX {folder}`"
        )


def _allows(path: Path, permission: int) -> bool:
    """Return True if the mode of a file has all bits of `permission`."""
    return path.stat().st_mode & permission == permission


@cache
def _is_mapped(uid: int) -> bool:
    """Return True if the user id exists in this process's user namespace."""
    lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    ranges = [(int(first), int(count)) for first, _, count in map(str.split, lines)]
    return any(first <= uid < first + count for first, count in ranges)


def _unshare_mounts() -> None:
    """Give this thread a mount namespace of its own, with an empty file system for binds."""
    _LENDING.mkdir(mode=0o755, parents=True, exist_ok=True)
    _require_success(_libc().unshare(_CLONE_NEWNS), "a mount namespace")
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE, "")
    _mount("arena", str(_LENDING), "tmpfs", _MS_NODEV | _MS_NOSUID, "mode=0711,size=1m")


def _mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    """Make the system call mount(2); raises HarnessFault if it fails."""
    texts = [ctypes.c_char_p(os.fsencode(text)) for text in (source, target, kind, options)]
    failed = _libc().mount(*texts[:3], ctypes.c_ulong(flags), texts[3])
    _require_success(failed, f"the mount of {source} on {target}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _require_success(failed: int, what: str) -> None:
    """Raise HarnessFault, with errno in words, if a call returned `failed`; `what` is what it was to do."""
    if failed:
        raise HarnessFault(
            f"the kernel refuses {what} ({os.strerror(ctypes.get_errno())}), which root needs here to show bots what"
            " only root can read; run arena as an ordinary user, or from a folder that everybody may enter"
        )
