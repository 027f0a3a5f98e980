"""What a bot's processes use of memory, and how long they were kept waiting, read from /proc.

Rule: the kernel's numbers, a few microseconds a look. Memory is what is resident, pages shared with other programs
included; a control group is more exact, and is used beside this where there is one.
"""

import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

_COUNTED: Final = (b"VmRSS:", b"VmPTE:", b"VmSwap:")
"""In KiB."""
_SCRATCH_FILES: Final = 10_000
"""Empty files use memory of the kernel that no size limit of a file system counts."""


_SOCKET_BYTES: Final = 320 << 10
"""The most that waits for the reader of a local socket: Linux's wmem_default, and a message of half of that."""


class MemoryWatch:
    """Compares the memory of some processes with a limit. `pids` finds them anew at each look.

    Counted is what is resident, and where `sockets` is given, the sockstat of a network namespace, the most that its
    sockets can hold: what waits in them is in no process, and a socket that nobody has accepted is no open file.
    """

    def __init__(
        self,
        limit_mib: int,
        pids: Callable[[], Iterable[int]],
        *,
        scratch: Path | None = None,
        shared: Path | None = None,
        sockets: Path | None = None,
    ) -> None:
        self._limit_mib = limit_mib
        self._pids = pids
        self._sockets = sockets
        self._places = {name: path for name, path in (("/tmp", scratch), ("/dev/shm", shared)) if path is not None}  # noqa: S108 - the box's

    def excess(self) -> str:
        """What is used beyond the limits, in words; empty if nothing is."""
        used_mib = (sum(map(resident_bytes, self._pids())) + self._waiting_bytes()) / 2**20
        if used_mib > self._limit_mib:
            return f"it used {used_mib:.0f} MiB of memory, allowed are {self._limit_mib} MiB"
        return self.excess_of_files()

    def excess_of_files(self) -> str:
        """The same of the files in its writable places alone."""
        for name, path in self._places.items():
            files = _files_in(path, Path(name))
            if files > _SCRATCH_FILES:
                return f"it made {files} files in {name}, allowed are {_SCRATCH_FILES}"
        return ""

    def _waiting_bytes(self) -> int:
        if self._sockets is None:
            return 0
        try:
            return int(self._sockets.read_bytes().split(None, 3)[2]) * _SOCKET_BYTES
        except OSError:
            return 0


def resident_bytes(pid: int) -> int:
    """Memory of that process, with what is swapped out and the tables of its pages; 0 if it is gone.

    The tables need nothing resident behind them: reading 1 byte in 2 MiB of a large mapping takes a page of them each.
    A process whose first thread is over shows its memory in the others only.
    """
    return _counted_in(f"/proc/{pid}/status") or max(map(_counted_in, _statuses_of_threads(pid)), default=0)


def _counted_in(status: str) -> int:
    try:
        with open(status, "rb", buffering=0) as file:  # noqa: PTH123 - a Path costs more than the read
            text = file.read(1 << 13)
        return sum(int(text[text.index(name) + len(name) :].split(None, 1)[0]) for name in _COUNTED) << 10
    except (OSError, ValueError):
        return 0


def _statuses_of_threads(pid: int) -> list[str]:
    try:
        return [f"/proc/{pid}/task/{thread}/status" for thread in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208
    except OSError:
        return []


class SleepWatch:
    """Tells whether some processes, which `pids` finds anew at each look, do nothing and want to do nothing."""

    def __init__(self, pids: Callable[[], Iterable[int]]) -> None:
        self._pids = pids
        self._faults = 0

    def is_asleep(self) -> bool:
        """Whether all their threads sleep or are stopped.

        One that waits for the disk counts as asleep, unless it is for pages of its own memory: they may have been
        swapped out, and the machine is to blame. A process that has ended sleeps not.
        """
        pids = list(self._pids())
        states = set().union(*map(_states_of_threads, pids)) - {"Z", "X"}
        if not states or "R" in states:
            return False
        return "D" not in states or not self._has_paged(pids)

    def _has_paged(self, pids: Iterable[int]) -> bool:
        """Whether pages had to be read from the disk since this was asked last."""
        before, self._faults = self._faults, sum(map(_major_faults, pids))
        return self._faults > before


def _states_of_threads(pid: int) -> set[str]:
    """The kernel's letters, as in proc_pid_stat(5)."""
    found: set[str] = set()
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/task") as tasks:
        for task in tasks:
            with contextlib.suppress(OSError):  # it has just ended
                found.add(_fields_of(f"{task.path}/stat")[0])
    return found


def _major_faults(pid: int) -> int:
    """Of all threads, ended ones too."""
    try:
        return int(_fields_of(f"/proc/{pid}/stat")[9])
    except OSError:
        return 0


def _fields_of(stat: str) -> list[str]:
    """Those behind the name of the program, which may hold anything: the state is first."""
    with open(stat, "rb", buffering=0) as file:  # noqa: PTH123 - as above
        return file.read(1 << 10).rpartition(b")")[2].decode("ascii").split()


def own_delay_s() -> float:
    """Seconds that this thread was ready to run, but waiting for a core."""
    return _waited_s("/proc/thread-self/schedstat")


def delayed_s(pid: int) -> float:
    """Seconds that the most delayed thread of that process was ready to run, but waiting for a core."""
    longest_s = 0.0
    try:
        with os.scandir(f"/proc/{pid}/task") as tasks:
            for task in tasks:
                longest_s = max(longest_s, _waited_s(f"{task.path}/schedstat"))
    except OSError:
        pass
    return longest_s


def _waited_s(schedstat: str) -> float:
    """The second number: nanoseconds in a queue of a core."""
    try:
        with open(schedstat, "rb", buffering=0) as file:  # noqa: PTH123 - as above
            return int(file.read(200).split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def is_held(pids: Iterable[int], pipe: int) -> bool:
    """Whether one of these processes has the pipe with that inode open, or nobody can tell."""
    try:
        # by threads: where the first one is over, the process shows no descriptors, and still has them
        links = {_link(entry) for pid in pids for entry in Path(f"/proc/{pid}/task").glob("*/fd/*")}
    except OSError:
        return True
    return not links or f"pipe:[{pipe}]" in links


def _link(entry: Path) -> str:
    """Where it leads; empty if it was closed meanwhile."""
    try:
        return str(entry.readlink())
    except FileNotFoundError:
        return ""


def _files_in(place: Path, on_host: Path) -> int:
    """Files of the file system at `place`; 0 while the box is not built, when `place` still leads to the host's own."""
    try:
        if place.stat().st_dev == on_host.stat().st_dev:
            return 0
        found = os.statvfs(place)
    except OSError:
        return 0
    return found.f_files - found.f_ffree
