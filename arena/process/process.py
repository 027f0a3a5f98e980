"""A bot process, sandboxed or not: pipes, freeze, exit; and what /proc tells of it: memory, delay, sleep, open pipes.

Rule: the process group is the only thing that differs with the isolation. `kill` alone reaps our child, so that until
then nobody else can get its id or its group's. A look at /proc takes a few microseconds. Memory is what is resident,
pages shared with other programs included; a control group is more exact, and is used beside this where there is one.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from arena.process.clock import CpuClock, read_cpu
from arena.process.death import Evidence
from arena.process.limits import Limits
from arena.process.reaper import delay_in, descendants, read_proc, read_threads
from arena.process.shortage import free_tasks, oom_kills, refused_starts

_EXIT_CODE_S: Final = 0.2
"""The most that an ended bot's exit code takes to come through its sandbox; it takes less than a millisecond."""
_KILL_S: Final = 5.0
"""The most that a killed process takes to be gone: one that hangs in the kernel must not stop the referee."""
_SHELLS_SIGNAL: Final = 128
"""A wrapper ends with 128 + n when what it wraps was ended by signal n, as shells do."""
_COUNTED: Final = (b"VmRSS:", b"VmPTE:", b"VmSwap:")
"""In KiB."""
_STOPPED: Final = {b"T", b"Z", b"X"}
"""Letters of the kernel for threads: stopped, and ended."""


class ProcessGroup:
    """The processes of a bot without a sandbox, held together by their process group. `Sandbox` is the other kind.

    `cpu` tells the CPU seconds that the bot has used so far.
    """

    is_wrapped: ClassVar = False
    """Whether the process that we started hands on how the bot's own one ended."""

    def __init__(self, pid: int, limits: Limits) -> None:
        self.id = pid
        self.limits = limits
        self._read_cpu = CpuClock(pid)
        self.cpu: Callable[[], float] = self._read_cpu
        self._faults = 0
        self._oom_kills, self._refused_starts = oom_kills(), refused_starts()

    def pids(self) -> set[int]:
        """All processes, found anew at each look."""
        return {self.id} | descendants(self.id)

    def bot_pids(self) -> set[int]:
        """Those that run the bot's program."""
        return self.pids()

    @property
    def is_running(self) -> bool:
        """Whether the bot's own process was there when `cpu` was asked last."""
        return self._read_cpu.is_running

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

    def is_stopped(self) -> bool:
        """Whether all threads of the bot stand still by a stop signal, or have ended."""
        return set().union(*map(_states_of_threads, self.bot_pids())) <= _STOPPED

    def cpu_by_process(self) -> dict[int, float]:
        """CPU seconds of each process that runs the bot's program now, with all its threads."""
        return {pid: cpu_s for pid in self.bot_pids() if (cpu_s := read_cpu(pid)) is not None}

    def _has_paged(self, pids: Iterable[int]) -> bool:
        """Whether pages had to be read from the disk since this was asked last."""
        before, self._faults = self._faults, sum(map(_major_faults, pids))
        return self._faults > before

    def limit_violation(self) -> str:
        """The use of memory beyond the limit, in words; empty if there is none."""
        used_mib = (sum(map(resident_bytes, self.pids())) + self.socket_bytes()) / 2**20
        if used_mib <= self.limits.memory_mib:
            return ""
        return f"it used {used_mib:.0f} MiB of memory, allowed are {self.limits.memory_mib} MiB"

    def oom_kills(self) -> int:
        """Return how many processes the kernel ended for want of memory since the bot started."""
        return oom_kills() - self._oom_kills

    def is_crowded(self) -> bool:
        """Return whether the machine cannot give the bot all its tasks, or refused some since the bot started."""
        left = free_tasks()
        return refused_starts() > self._refused_starts or (left is not None and left < self.limits.tasks)

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


@cache
def setpriv() -> str | None:
    """The program of util-linux, which sets a signal for the parent's death, or another user."""
    return shutil.which("setpriv", path="/usr/bin:/bin")


def spawn(
    words: list[str], folder: str, environment: dict[str, str], *, fds: tuple[int, ...] = (), uid: int | None = None
) -> "subprocess.Popen[bytes]":
    """A process with three pipes, a session of its own and these descriptors, as user and group `uid` if given."""
    if uid is not None and (quicker := setpriv()):  # than Python, which then copies itself first
        words = [quicker, "--reuid", str(uid), "--regid", str(uid), "--clear-groups", "--", *words]
        uid = None
    return subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
        bufsize=0,
        pass_fds=fds,
        start_new_session=True,
        user=uid,
        group=uid,
        extra_groups=None if uid is None else (),
    )


class _End(NamedTuple):
    """The end of a started process in words, empty while it runs; the signal that ended the bot, 0 if none did.

    `is_direct`: the signal ended the process that we started; otherwise that one handed on the end of what it wraps.
    """

    words: str
    signal: int = 0
    is_direct: bool = False


class BotProcess:
    """A started bot. `origin` names the command, the folder and the program behind it, for the author."""

    def __init__(self, popen: "subprocess.Popen[bytes]", group: ProcessGroup, origin: str) -> None:
        self._popen = popen
        self._pipes = [pipe for pipe in (popen.stdin, popen.stdout, popen.stderr) if pipe is not None]
        self.is_frozen = self._is_killed_by_us = False
        self.group = group
        self.origin = origin
        self.pid = popen.pid
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in self._pipes)

    def ending(self) -> str:
        """The end of the process, in words; empty while it runs."""
        return self._end().words

    def evidence(self, ending: str) -> Evidence:
        """Return all that is known about the end of the bot; `ending` is the end in words."""
        end = self._end()
        is_others = end.signal > 0 and not self._is_killed_by_us
        return Evidence(
            ending=ending,
            violation=self.group.limit_violation(),
            is_killed=is_others and end.signal == signal.SIGKILL,
            is_wrapper_killed=is_others and self.group.is_wrapped and end.is_direct,
            oom_kills=self.group.oom_kills(),
            has_processes=self.group.limits.processes,
            is_crowded=self.group.is_crowded(),
        )

    def _end(self) -> "_End":
        try:
            ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return _End("ended")  # reaped by a sweep of ours, so nobody knows how
        if ended is None:
            return _End("")
        is_direct = ended.si_code != os.CLD_EXITED
        number = ended.si_status - (0 if is_direct else _SHELLS_SIGNAL)
        if not is_direct and not (self.group.is_wrapped and number > 0):
            return _End(f"ended with exit code {ended.si_status}")
        names = {each.value: f" ({each.name})" for each in signal.Signals}  # real-time signals have no name
        return _End(f"was ended by signal {number}{names.get(number, '')}", number, is_direct)

    def freeze(self) -> bool:
        """Stop the bot, which is not on move. False if its own process is gone; then all the rest is killed."""
        if not self.is_frozen:
            self.is_frozen = self._signal(signal.SIGSTOP)
        return self.is_frozen

    def is_there(self) -> bool:
        """Whether its own process can be reached; if not, all the rest is killed."""
        return self._signal(0)

    def thaw(self) -> None:
        """Let the bot run on."""
        if self.is_frozen:
            self._signal(signal.SIGCONT)
            self.is_frozen = False

    def close_stdin(self) -> None:
        """Let the bot see the end of its input."""
        self._pipes[0].close()

    def kill(self) -> None:
        """Kill the whole group, reap it, close the pipes."""
        if self._popen.returncode is None:
            self.group.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(_KILL_S)
            self.group.release()
        for pipe in self._pipes:
            pipe.close()

    def _signal(self, number: int) -> bool:
        """Whether it reached the bot's own process. Nothing of a bot lives on that cannot be stopped.

        A sandbox's first process hands the exit code on, or is killed: a crash is told with the bot's own.
        """
        try:
            self.group.signal(number)
        except (ProcessLookupError, PermissionError):
            deadline_s = time.monotonic() + _EXIT_CODE_S
            while not self.ending() and time.monotonic() < deadline_s:
                time.sleep(0.001)
            self._is_killed_by_us = not self.ending()
            self.group.kill()
            return False
        return True


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


_LOOKS: Final = 3
"""For a pipe: a kit that moves it to another descriptor may do so between the list of descriptors and what they are."""


def is_held(pids: Iterable[int], pipe: int) -> bool:
    """Whether one of these processes has the pipe with that inode open, or nobody can tell."""
    held = tuple(pids)
    return any(_is_seen(held, pipe) for _ in range(_LOOKS))


def _is_seen(pids: Iterable[int], pipe: int) -> bool:
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
