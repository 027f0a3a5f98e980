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
"""Longest wait for the exit code of an ended bot to come through its sandbox; it takes less than a millisecond."""
_KILL_S: Final = 5.0
"""Longest wait for the end of a killed process: one that hangs in the kernel must not stop the referee."""
_SHELLS_SIGNAL: Final = 128
"""A wrapper ends with 128 + n when what it wraps was ended by signal n, as shells do."""
_COUNTED: Final = (b"\nVmRSS:", b"\nVmPTE:", b"\nVmSwap:")
"""Fields of /proc/PID/status, in KiB, at the start of a line: a bot may call itself "VmRSS: 0" in the first line."""
_STOPPED: Final = {b"T", b"Z", b"X"}
"""States of threads in /proc/PID/stat: stopped (T), ended (Z, X)."""


class ProcessGroup:
    """The processes of a bot without a sandbox: a process group. The subclass `Sandbox` is that of a sandboxed bot.

    `cpu` returns the CPU seconds that the bot has used so far.
    """

    is_wrapped: ClassVar = False
    """True if the started process is a wrapper, which ends with the exit code of the bot's own process."""

    def __init__(self, pid: int, limits: Limits) -> None:
        self.id = pid
        self.limits = limits
        self._read_cpu = CpuClock(pid)
        self.cpu: Callable[[], float] = self._read_cpu
        self._faults = 0
        self._delayed_s, self._delays = 0.0, dict[int, dict[str, float]]()
        self._oom_kills, self._refused_starts = oom_kills(), refused_starts()

    def pids(self) -> set[int]:
        """Return the ids of all processes of the bot, its sandbox included, as of now."""
        return {self.id} | descendants(self.id)

    def bot_pids(self) -> set[int]:
        """Return the ids of the processes that run the bot's program, without its sandbox, as of now."""
        return self.pids()

    @property
    def is_running(self) -> bool:
        """True if the bot's own process existed at the last call of `cpu`."""
        return self._read_cpu.is_running

    def delayed_s(self) -> float:
        """Return the seconds for which the bot waited for a core, a sum over its processes and over the times of calls.

        Between two calls the most delayed thread of a process counts; one that ends meanwhile is not seen.
        """
        before, self._delays = self._delays, {pid: delays_by_thread(pid) for pid in self.bot_pids()}
        for pid, delays in self._delays.items():
            former = before.get(pid, {})
            waits = (delay_s - former.get(thread, 0.0) for thread, delay_s in delays.items())
            self._delayed_s += max((*waits, 0.0))
        return self._delayed_s

    def is_asleep(self) -> bool:
        """Return True if no thread of the bot runs, is ready to run, or waits for memory that was swapped out.

        A thread that waits for the disk counts as asleep, unless it waits for pages of its own memory, for which the
        machine is to blame. False if all processes have ended.
        """
        pids = self.bot_pids()
        states = set().union(*map(_states_of_threads, pids)) - {b"Z", b"X"}
        if not states or b"R" in states:
            return False
        return b"D" not in states or not self._has_paged(pids)

    def is_stopped(self) -> bool:
        """Return True if all threads of the bot are stopped by a signal, or have ended."""
        return set().union(*map(_states_of_threads, self.bot_pids())) <= _STOPPED

    def cpu_by_process(self) -> dict[int, float]:
        """Return the CPU seconds, of all threads, by id of each process that runs the bot's program now."""
        return {pid: cpu_s for pid in self.bot_pids() if (cpu_s := read_cpu(pid)) is not None}

    def _has_paged(self, pids: Iterable[int]) -> bool:
        """Return True if pages were read from the disk for these processes since the last call."""
        before, self._faults = self._faults, sum(map(_major_faults, pids))
        return self._faults > before

    def limit_violation(self) -> str:
        """Return a sentence about memory used beyond the limit; empty if there is none."""
        used_mib = (sum(map(resident_bytes, self.pids())) + self.socket_bytes()) / 2**20
        if used_mib <= self.limits.memory_mib:
            return ""
        return f"it used {used_mib:.0f} MiB of memory, allowed are {self.limits.memory_mib} MiB"

    def oom_kills(self) -> int:
        """Return how many processes the kernel ended for want of memory since the bot started."""
        return oom_kills() - self._oom_kills

    def is_crowded(self) -> bool:
        """Return True if the machine has fewer tasks left than the bot's limit, or refused one since the start."""
        free = free_tasks()
        return refused_starts() > self._refused_starts or (free is not None and free < self.limits.tasks)

    def socket_bytes(self) -> int:
        """Return the bytes in sockets of the bot that count as its memory."""
        return 0

    def has_pipe_open(self, _inode: int) -> bool:
        """Return True if the bot has the pipe with that inode open; always without a sandbox, where EOF shows it."""
        return True

    def hint_on(self, _stderr: str) -> str:
        """Return a hint for the author if the sandbox may have caused the errors in `stderr`; otherwise empty."""
        return ""

    def signal(self, number: int) -> None:
        """Send a signal to the group, with 0 none; raises ProcessLookupError or PermissionError if the bot is gone."""
        os.killpg(self.id, number)

    def kill(self) -> None:
        """Send SIGKILL to the group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.id, signal.SIGKILL)

    def release(self) -> None:
        """Release descriptors, user id and control group of the bot after its end."""


@cache
def setpriv() -> str | None:
    """Return the path of util-linux's setpriv, which sets a parent-death signal or another user; None without it."""
    return shutil.which("setpriv", path="/usr/bin:/bin")


def spawn(
    words: list[str], folder: str, environment: dict[str, str], *, fds: tuple[int, ...] = (), uid: int | None = None
) -> "subprocess.Popen[bytes]":
    """Start a process with three pipes, its own session and the descriptors `fds`, as user and group `uid` if given."""
    if uid is not None and (quicker := setpriv()):  # than Python, which would fork first
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
    """The end of a started process, in words (empty while it runs), and the signal that ended the bot (0 if none did).

    `is_direct`: the signal ended the started process itself; otherwise a wrapper reported the signal.
    """

    words: str
    signal: int = 0
    is_direct: bool = False


class BotProcess:
    """A started bot. `origin`: its command, folder and program in words, for messages to the author."""

    def __init__(self, popen: "subprocess.Popen[bytes]", group: ProcessGroup, origin: str) -> None:
        self._popen = popen
        self._pipes = [pipe for pipe in (popen.stdin, popen.stdout, popen.stderr) if pipe is not None]
        self.is_suspended = self._is_killed_by_us = False
        self.group = group
        self.origin = origin
        self.pid = popen.pid
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in self._pipes)

    def ending(self) -> str:
        """Return the end of the process, in words; empty while it runs."""
        return self._read_end().words

    def evidence(self, ending: str) -> Evidence:
        """Return the facts about the end of the bot; `ending` is that end in words."""
        end = self._read_end()
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

    def _read_end(self) -> "_End":
        """Return the end of the started process, empty while it runs; does not reap it."""
        try:
            ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return _End("ended")  # reaped by `reaper`: the exit code is lost
        if ended is None:
            return _End("")
        is_direct = ended.si_code != os.CLD_EXITED
        number = ended.si_status - (0 if is_direct else _SHELLS_SIGNAL)
        if not is_direct and not (self.group.is_wrapped and number > 0):
            return _End(f"ended with exit code {ended.si_status}")
        names = {known.value: f" ({known.name})" for known in signal.Signals}  # real-time signals have no name
        return _End(f"was ended by signal {number}{names.get(number, '')}", number, is_direct)

    def suspend(self) -> bool:
        """Suspend the bot (SIGSTOP); if its own process is gone, kill its other processes and return False."""
        if not self.is_suspended:
            self.is_suspended = self._send_signal(signal.SIGSTOP)
        return self.is_suspended

    def is_there(self) -> bool:
        """Return True if the bot's own process exists; otherwise kill its other processes."""
        return self._send_signal(0)

    def resume(self) -> None:
        """Resume a suspended bot (SIGCONT)."""
        if self.is_suspended:
            self._send_signal(signal.SIGCONT)
            self.is_suspended = False

    def close_stdin(self) -> None:
        """Close the bot's stdin, so that it reads EOF."""
        self._pipes[0].close()

    def kill(self) -> None:
        """Kill the whole group, reap it and close the pipes."""
        if self._popen.returncode is None:
            self.group.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(_KILL_S)
            self.group.release()
        for pipe in self._pipes:
            pipe.close()

    def _send_signal(self, number: int) -> bool:
        """Send a signal; return True if it reached the bot's own process, otherwise kill its other processes.

        Before that wait for the exit code, which the sandbox's first process hands on: a crash is reported with it.
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
    """Return the bytes of memory of a process: resident, swapped out, and in page tables; 0 if it is gone.

    Page tables count because they grow without resident pages: one byte read in each 2 MiB of a mapping takes a page
    of them. If the first thread of a process has ended, only its other threads show the memory.
    """
    return _memory_in(read_proc(f"/proc/{pid}/status")) or max(map(_memory_in, read_threads(pid, "status")), default=0)


def _memory_in(status: bytes) -> int:
    """Return the bytes of memory that the text of a /proc/PID/status counts; 0 if a field is missing."""
    try:
        return sum(int(status[status.index(name) + len(name) :].split(None, 1)[0]) for name in _COUNTED) << 10
    except ValueError:
        return 0


def _states_of_threads(pid: int) -> set[bytes]:
    """Return the states of all threads of a process, as letters of proc_pid_stat(5)."""
    return {fields[0] for stat in read_threads(pid, "stat") if (fields := _split_stat(stat))}


def _major_faults(pid: int) -> int:
    """Return the number of major page faults of all threads of a process, ended ones too."""
    fields = _split_stat(read_proc(f"/proc/{pid}/stat"))
    return int(fields[9]) if fields else 0


def _split_stat(stat: bytes) -> list[bytes]:
    """Split a /proc stat line after the program's name, which may contain any character; the state is first."""
    return stat.rpartition(b")")[2].split()


def delays_by_thread(pid: int) -> dict[str, float]:
    """Return the seconds for which each thread of a process has waited for a core, by thread id; empty if all ended."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - a number, no path
    except OSError:
        return {}
    return {thread: delay_in(read_proc(f"/proc/{pid}/task/{thread}/schedstat")) for thread in threads}


_LOOKS: Final = 3
"""Searches for a pipe: a bot may move it to another descriptor while the descriptors are being read."""


def is_pipe_open(pids: Iterable[int], pipe: int) -> bool:
    """Return True if one of these processes has the pipe with that inode open, or if /proc cannot be read."""
    searched = tuple(pids)
    return any(_is_open_now(searched, pipe) for _ in range(_LOOKS))


def _is_open_now(pids: Iterable[int], pipe: int) -> bool:
    """Search once: return True if one of these processes has the pipe open, or if /proc cannot be read."""
    try:
        # by threads: if the first one has ended, the process shows no descriptors, but still has them
        links = {_link_target(entry) for pid in pids for entry in Path(f"/proc/{pid}/task").glob("*/fd/*")}
    except OSError:
        return True
    return not links or f"pipe:[{pipe}]" in links


def _link_target(entry: Path) -> str:
    """Return the target of a link in /proc; empty if the descriptor was closed meanwhile."""
    try:
        return str(entry.readlink())
    except FileNotFoundError:
        return ""
