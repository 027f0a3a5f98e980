"""The processes of one bot, and the kernel's numbers about them in /proc: memory, delay, sleep, open pipes.

Rule: a few microseconds a look. Memory is what is resident, pages shared with other programs included; a control group
is more exact, and is used beside this where there is one.
"""

import contextlib
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Final

from arena.process.clock import cpu_clock
from arena.process.limits import Limits
from arena.process.reaper import delay_in, descendants, read_proc, read_threads

_COUNTED: Final = (b"VmRSS:", b"VmPTE:", b"VmSwap:")
"""In KiB."""


class ProcessGroup:
    """The processes of a bot without a sandbox, held together by their process group. `Sandbox` is the other kind."""

    is_wrapped: ClassVar = False
    """Whether the process that we started hands on how the bot's own one ended."""

    def __init__(self, pid: int, limits: Limits) -> None:
        self.id = pid
        self._limits = limits
        self._read_cpu = cpu_clock(pid)
        self._faults = 0

    def pids(self) -> set[int]:
        """All processes, found anew at each look."""
        return {self.id} | descendants(self.id)

    def bot_pids(self) -> set[int]:
        """Those that run the bot's program."""
        return self.pids()

    def cpu(self) -> float:
        """CPU seconds the bot has used so far."""
        return self._read_cpu()

    def delayed_s(self) -> float:
        """Seconds for which the most delayed thread of the bot was ready to run, but waiting for a core."""
        return max(map(delayed_s, self.bot_pids()), default=0.0)

    def is_asleep(self) -> bool:
        """Whether no thread of the bot runs, is ready to run, or waits for memory that was swapped out.

        One that waits for the disk counts as asleep, unless it is for pages of its own memory: then the machine is to
        blame. A process that has ended sleeps not.
        """
        pids = self.bot_pids()
        states = set().union(*map(_states_of_threads, pids)) - {b"Z", b"X"}
        if not states or b"R" in states:
            return False
        return b"D" not in states or not self._has_paged(pids)

    def _has_paged(self, pids: Iterable[int]) -> bool:
        """Whether pages had to be read from the disk since this was asked last."""
        before, self._faults = self._faults, sum(map(_major_faults, pids))
        return self._faults > before

    def limit_violation(self) -> str:
        """The use of memory beyond the limit, in words; empty if there is none."""
        used_mib = (sum(map(resident_bytes, self.pids())) + self.socket_bytes()) / 2**20
        if used_mib <= self._limits.memory_mib:
            return ""
        return f"it used {used_mib:.0f} MiB of memory, allowed are {self._limits.memory_mib} MiB"

    def socket_bytes(self) -> int:
        """Memory in sockets, as far as it counts."""
        return 0

    def has_pipe_open(self, _inode: int) -> bool:
        """Whether the bot has the pipe with that inode open. Without a sandbox the end of the pipe tells."""
        return True

    def hint_on(self, _stderr: str) -> str:
        """The sandbox's part in the bot's last words, for its author; empty if nothing points to it."""
        return ""

    def signal(self, number: int) -> None:
        """Stop or continue the group; 0 only asks. ProcessLookupError or PermissionError if the bot is gone."""
        os.killpg(self.id, number)

    def kill(self) -> None:
        """Kill the group at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.id, signal.SIGKILL)

    def release(self) -> None:
        """Give back what was held for the bot, once it is gone."""


def resident_bytes(pid: int) -> int:
    """Memory of that process, with what is swapped out and the tables of its pages; 0 if it is gone.

    The tables need nothing resident behind them: reading 1 byte in 2 MiB of a large mapping takes a page of them each.
    A process whose first thread is over shows its memory in the others only.
    """
    return _counted_in(read_proc(f"/proc/{pid}/status")) or max(
        map(_counted_in, read_threads(pid, "status")), default=0
    )


def _counted_in(status: bytes) -> int:
    try:
        return sum(int(status[status.index(name) + len(name) :].split(None, 1)[0]) for name in _COUNTED) << 10
    except ValueError:
        return 0


def _states_of_threads(pid: int) -> set[bytes]:
    """The kernel's letters, as in proc_pid_stat(5)."""
    return {fields[0] for stat in read_threads(pid, "stat") if (fields := _fields_of(stat))}


def _major_faults(pid: int) -> int:
    """Of all threads, ended ones too."""
    fields = _fields_of(read_proc(f"/proc/{pid}/stat"))
    return int(fields[9]) if fields else 0


def _fields_of(stat: bytes) -> list[bytes]:
    """Those behind the name of the program, which may hold anything: the state is first."""
    return stat.rpartition(b")")[2].split()


def delayed_s(pid: int) -> float:
    """Seconds that the most delayed thread of that process was ready to run, but waiting for a core."""
    return max(map(delay_in, read_threads(pid, "schedstat")), default=0.0)


def is_held(pids: Iterable[int], pipe: int) -> bool:
    """Whether one of these processes has the pipe with that inode open, or nobody can tell."""
    try:
        # by threads: where the first one is over, the process shows no descriptors, and still has them
        links = {_link(entry) for pid in pids for entry in Path(f"/proc/{pid}/task").glob("*/fd/*")}
    except OSError:
        return True
    return not links or f"pipe:[{pipe}]" in links


def _link(entry: Path) -> str:
    """The target; empty if it was closed meanwhile."""
    try:
        return str(entry.readlink())
    except FileNotFoundError:
        return ""
