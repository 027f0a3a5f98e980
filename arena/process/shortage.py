"""Memory, processes and open files of this machine: how much is free, and the errors that say that nothing is.

Rule: read only. Free is what the machine has left, and what the limit of each control group around this process leaves
(versions 1 and 2), whichever is less.
"""

import contextlib
import errno
import os
import re
import resource
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from arena.errors import Shortage

_ROOT: Final = Path("/")
_NO_THREAD: Final = "can't start new thread"
"""The message of Python's RuntimeError."""
SHORTAGES: Final = {
    errno.ENOMEM: "not enough memory: end other programs, or use fewer --workers",
    errno.EAGAIN: (
        "no more processes are allowed (`ulimit -u`, or pids.max of a control group): end other programs, or use fewer"
        " --workers"
    ),
    errno.EMFILE: "no more open files are allowed (`ulimit -n`): raise that, or use fewer --workers",
    errno.ENFILE: "the machine has no more open files: end other programs",
}
"""Remedy by errno."""
_LIMIT_FILES: Final = ("memory.max", "memory.high", "memory.limit_in_bytes")
_USAGE_FILES: Final = ("memory.current", "memory.usage_in_bytes")
_RECLAIMABLE: Final = re.compile(r"^(?:total_)?inactive_file (\d+)$", re.MULTILINE)
"""A line of memory.stat; version 1 includes the groups below only in `total_`."""
_AVAILABLE: Final = re.compile(r"^MemAvailable: +(\d+) kB$", re.MULTILINE)
_REFUSALS: Final = re.compile(r"^max (\d+)$", re.MULTILINE)
_KILLS: Final = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


def group_folders(controller: str = "", root: Path = _ROOT) -> list[Path]:
    """Return the folders of this process's control group, first, and of all groups above it.

    They are those of a controller of version 1, or without `controller` those of version 2. `root`: the root of the
    file system, another one in tests.
    """
    with contextlib.suppress(OSError):
        mounts = (root / "proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
        for where, _, kind in (line.partition(" - ") for line in mounts):
            system, _, options = kind.split(maxsplit=2)
            is_wanted = controller in options.split(",") if controller else True
            if system == ("cgroup" if controller else "cgroup2") and is_wanted:
                top, mount = where.split()[3:5]
                return _groups_upwards(root / mount.lstrip("/"), top, _group_name(controller, root))
    return []


def _group_name(controller: str, root: Path) -> str:
    """Return the path of this process's control group below the root of its tree."""
    lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    names = (line.split(":", 2) for line in lines)
    return next((name for _, controllers, name in names if controller in controllers.split(",")), "/")


def _groups_upwards(mount: Path, top: str, name: str) -> list[Path]:
    """Return the folders from group `name` up to the mount, whose root is group `top` of the tree."""
    is_shown = Path(name).is_relative_to(top) and ".." not in name
    inside = Path(name).relative_to(top) if is_shown else Path()
    return [mount / inside, *(mount / above for above in inside.parents)]


def free_memory(root: Path = _ROOT) -> int:
    """Return the bytes that new processes can use before the kernel ends some for want of memory."""
    available = _AVAILABLE.search(_read_text(root / "proc/meminfo"))
    free = sys.maxsize if available is None else int(available[1]) << 10
    for folder in (*group_folders("", root), *group_folders("memory", root)):
        used = next(_read_numbers(folder, *_USAGE_FILES), 0)
        reclaimable = max(map(int, _RECLAIMABLE.findall(_read_text(folder / "memory.stat"))), default=0)
        limit = min(_read_numbers(folder, *_LIMIT_FILES), default=free + used)
        free = min(free, limit - used + reclaimable)
    return max(0, free)


def free_tasks(root: Path = _ROOT) -> int | None:
    """Return how many processes and threads can still be started; None where nothing limits them."""
    free = [
        limit - next(_read_numbers(folder, "pids.current"), 0)
        for folder in (*group_folders("", root), *group_folders("pids", root))
        for limit in _read_numbers(folder, "pids.max")
    ]
    if (allowed := _allowed_tasks()) is not None:
        free.append(allowed - _own_tasks(root))
    return max(0, min(free)) if free else None


def address_space() -> int:
    """Return the bytes of address space that a process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


def oom_kills(root: Path = _ROOT) -> int:
    """Return how often the OOM killer ended a process: in this process's control group, else on the whole machine."""
    return sum(int(number) for file in _kill_files(root) for number in _KILLS.findall(_read_text(file)))


def refused_starts(root: Path = _ROOT) -> int:
    """Return how often the kernel refused a process or thread because a control group around this process was full.

    Version 1 counts it in the group of the refused process, version 2 in the group that is full, if the kernel has
    `pids.events.local`. A bot's own group, with the bot's own limit, is not counted.
    """
    return sum(int(number) for file in _refusal_files(root) for number in _REFUSALS.findall(_read_text(file)))


@cache
def _refusal_files(root: Path) -> list[Path]:
    """Return the files that count refused starts; they do not change while this process plays."""
    group_files = [folder / "pids.events" for folder in group_folders("pids", root)[:1]]
    files = [*group_files, *(folder / "pids.events.local" for folder in group_folders("", root))]
    return [file for file in files if file.exists()]


@cache
def _kill_files(root: Path) -> list[Path]:
    """Return the files that count OOM kills; they do not change while this process plays."""
    groups = [*group_folders("", root)[:1], *group_folders("memory", root)[:1]]
    files = [folder / name for folder in groups for name in ("memory.events", "memory.oom_control")]
    return [file for file in files if _KILLS.search(_read_text(file))] or [root / "proc/vmstat"]


def as_shortage(error: BaseException, place: str = "") -> Shortage | None:
    """Return an error that tells of a shortage as a Shortage, with `place` before its message; None for any other.

    Only the error itself is looked at, not its causes.
    """
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, MemoryError):
        number = errno.ENOMEM
    if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
        number = errno.EAGAIN
    return None if number not in SHORTAGES else Shortage(f"{place}{os.strerror(number)}; {SHORTAGES[number]}")


def shortage_in(text: str) -> Shortage | None:
    """Return the Shortage named in a program's error message; None if it names none."""
    number = next((number for number in SHORTAGES if os.strerror(number) in text), None)
    return None if number is None else Shortage(f"{text}; {SHORTAGES[number]}")


def _read_numbers(folder: Path, *names: str) -> Iterator[int]:
    """Yield the number in each of these files; skips missing files and the word `max`."""
    for name in names:
        text = _read_text(folder / name).strip()
        if text.isdecimal():
            yield int(text)


def _read_text(file: Path) -> str:
    """Return the text of a file; empty if it cannot be read."""
    try:
        return file.read_text(encoding="ascii")
    except OSError:
        return ""


def _allowed_tasks() -> int | None:
    """Return the limit of tasks of this user (RLIMIT_NPROC); None without a limit, as for root."""
    if os.geteuid() == 0:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return None if soft == resource.RLIM_INFINITY else soft


def _own_tasks(root: Path) -> int:
    """Return the number of threads of all processes of this user."""
    count = 0
    for place in (root / "proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if place.stat().st_uid == os.geteuid():
                count += len(os.listdir(place / "task"))  # noqa: PTH208 - names only
    return count
