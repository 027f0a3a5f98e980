"""What a bot's processes use of memory, and how long they were kept waiting, read from /proc.

Rule: the kernel's numbers, a few microseconds a look. Memory is what is resident, pages shared with other programs
included; a control group is more exact, and is used beside this where there is one.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_SCRATCH_FILES: Final = 10_000
"""Empty files use memory of the kernel that no size limit of a file system counts."""


class MemoryWatch:
    """Compares the resident memory of some processes with a limit. `pids` finds them anew at each look."""

    def __init__(self, limit_mib: int, pids: Callable[[], Iterable[int]], *, scratch: Path | None = None) -> None:
        self._limit_mib = limit_mib
        self._pids = pids
        self._scratch = scratch

    def excess(self) -> str:
        """What is used beyond the limits, in words; empty if nothing is."""
        used_mib = sum(map(resident_bytes, self._pids())) / 2**20
        if used_mib > self._limit_mib:
            return f"it used {used_mib:.0f} MiB of memory, allowed are {self._limit_mib} MiB"
        files = 0 if self._scratch is None else _files_in(self._scratch)
        if files > _SCRATCH_FILES:
            return f"it made {files} files in /tmp, allowed are {_SCRATCH_FILES}"
        return ""


def resident_bytes(pid: int) -> int:
    """Memory of that process; 0 if it is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb", buffering=0) as file:  # noqa: PTH123 - a Path costs more than the read
            return int(file.read(200).split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def delayed_s(pid: int) -> float:
    """Seconds that the most delayed thread of that process was ready to run, but waiting for a core."""
    longest = 0
    try:
        for task in os.scandir(f"/proc/{pid}/task"):
            with open(f"{task.path}/schedstat", "rb", buffering=0) as file:  # noqa: PTH123 - as above
                longest = max(longest, int(file.read(200).split()[1]))
    except (OSError, IndexError):
        pass
    return longest / 1e9


def is_held(pids: Iterable[int], pipe: int) -> bool:
    """Whether one of these processes has the pipe with that inode open, or nobody can tell."""
    name = Path(f"pipe:[{pipe}]")
    try:
        return any(entry.readlink() == name for pid in pids for entry in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return True


def _files_in(file_system: Path) -> int:
    try:
        found = os.statvfs(file_system)
    except OSError:
        return 0
    return found.f_files - found.f_ffree
