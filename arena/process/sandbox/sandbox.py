"""A bot in its sandbox: the start handshake, its processes, and its end.

Rule: nothing of the bot runs before its limits stand. bwrap builds the sandbox and tells the process id of its first
process; limits are set on that; only then bwrap gets what the bot's own program waits for.
"""

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final

from arena.errors import HarnessFault, Shortage
from arena.process.clock import CpuClock
from arena.process.limits import Limits, prefer_for_oom_kill, sandbox_rlimits, set_rlimits
from arena.process.process import ProcessGroup, is_pipe_open, spawn
from arena.process.reaper import children, read_proc
from arena.process.sandbox import bubblewrap, cgroup, kernel_files, leftovers, syscalls
from arena.process.sandbox.users import acquire_uid, reachable, real_user, release_uid, require_readable
from arena.process.shortage import as_shortage, shortage_in

_HANDSHAKE_S: Final = 20.0
"""Longest start of a sandbox; it takes 2 ms, on a machine at a load of a hundred a second."""
_GLANCE_S: Final = 0.0002
"""Shortest interval between two checks for the bot's own process, which starts 0.5 ms after the sandbox."""
_LATER: Final = 0.1
"""Interval between two checks as a share of the time waited so far: checks must not load a busy machine."""
_ENDING_S: Final = 0.5
"""Longest wait for the exit code of a bubblewrap that closed its pipes."""
_GONE_S: Final = 5.0
"""Longest wait for the end of a killed sandbox; it takes 2 ms."""
_SCRATCH_FILES: Final = 10_000
"""Most files in a scratch folder: empty ones use kernel memory that the file system's size limit does not count."""
_SOCKET_BYTES: Final = 320 << 10
"""Most bytes queued in a local socket: Linux's wmem_default, and a message of half of that."""
_HINTS: Final = {
    "read-only file system|EROFS": (
        "a bot's folder is read-only; bot.yaml may ask for a writable /tmp: `limits: {scratch_mib: 16}`"
    ),
    "name resolution|network is unreachable|getaddrinfo|EAI_AGAIN|address family not": "there is no network for bots",
    "MemoryError|cannot allocate memory|OutOfMemoryError|bad_alloc|heap out of memory": (
        "the memory of a bot is limited; bot.yaml may ask for more, up to what the tournament allows:"
        " `limits: {memory_mib: 512}`"
    ),
    "function not implemented|ENOSYS|Errno 38": (
        "bots do not have all system calls, such as those for locks, or for shared memory without a file;"
        ' protocol.md names them under "The process"'
    ),
    "can't start new thread|pthread_create|Resource temporarily unavailable": (
        "threads and processes are limited; bot.yaml may ask for more, up to what the tournament allows:"
        " `limits: {tasks: 64}`"
    ),
}
_HINTS_WITHOUT_PROCESSES: Final = {
    "fork|operation not permitted|EPERM|subprocess|spawn": (
        "bots may not start processes unless bot.yaml says `processes: true`; a shell script can end with"
        " `exec python3 bot.py` instead"
    ),
}
"""Hints by patterns of stderr. A hint is a guess and changes no verdict; the author sees the stderr, too."""

Started = tuple["subprocess.Popen[bytes]", "Sandbox"]
Start = Callable[..., Started]


class Sandbox(ProcessGroup):
    """The processes of a sandboxed bot: bwrap's first one (`id`) leads the group, the bot's program is its child."""

    is_wrapped: ClassVar = True

    def __init__(self, first: int, uid: int | None, limits: Limits, group: cgroup.Group | None) -> None:
        super().__init__(first, limits)
        self._handle = os.pidfd_open(first)
        self._uid = uid
        self._cgroup = group
        self._main = 0
        self._main_handle = -1
        self._sockstat = Path(f"/proc/{first}/net/sockstat")

    def pids(self) -> set[int]:
        """See ProcessGroup.pids."""
        return super().pids() if self.limits.processes else {self.id, self._main or self.id}

    def bot_pids(self) -> set[int]:
        """See ProcessGroup.bot_pids."""
        return self.pids() - {self.id}

    def cpu_by_process(self) -> dict[int, float]:
        """See ProcessGroup.cpu_by_process."""
        return super().cpu_by_process() if self.limits.processes else {self._main: self._read_cpu()}

    def limit_violation(self) -> str:
        """See ProcessGroup.limit_violation. A control group counts memory exactly, and ends the bot itself.

        Also a sentence about too many files in a scratch folder.
        """
        self._read_cpu.look()
        memory = super().limit_violation() if self._cgroup is None else self._cgroup.limit_violation()
        if not memory and self.limits.scratch_mib:
            for name in ("/tmp", "/dev/shm"):  # noqa: S108 - the sandbox's
                files = count_files(Path(f"/proc/{self.id}/root{name}"), Path(name))
                if files > _SCRATCH_FILES:
                    return f"it made {files} files in {name}, allowed are {_SCRATCH_FILES}"
        return memory

    def oom_kills(self) -> int:
        """See ProcessGroup.oom_kills. A control group counts those of the bot alone."""
        return super().oom_kills() if self._cgroup is None else self._cgroup.oom_kills()

    def socket_bytes(self) -> int:
        """Return the most bytes that the bot's sockets can hold.

        They count in no process, and an unaccepted connection is not an open file.
        """
        sockstat = read_proc(str(self._sockstat))
        return int(sockstat.split(None, 3)[2]) * _SOCKET_BYTES if sockstat else 0

    def has_pipe_open(self, inode: int) -> bool:
        """See ProcessGroup.has_pipe_open. bwrap has it open, too, so that there is no EOF while the bot lives."""
        pids = self.bot_pids()
        return not pids or is_pipe_open(pids, inode)

    def hint_on(self, stderr: str) -> str:
        """See ProcessGroup.hint_on."""
        hints = ({} if self.limits.processes else _HINTS_WITHOUT_PROCESSES) | _HINTS
        return next((hint for pattern, hint in hints.items() if re.search(pattern, stderr, re.IGNORECASE)), "")

    def signal(self, number: int) -> None:
        """Send a signal to the bot's program, and to its other processes if it may start any.

        ProcessLookupError if the program has ended.

        The sandbox's first process keeps running: it only waits, and CPU time that it uses is charged to the bot.
        """
        if not self._main:
            raise ProcessLookupError("the bot's own process ended before it was seen")
        signal.pidfd_send_signal(self._main_handle, 0 if self.limits.processes else number)
        if self.limits.processes:
            super().signal(number)

    def kill(self) -> None:
        """See ProcessGroup.kill. Kills the first process of the namespace; the kernel then kills all others in it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def release(self) -> None:
        """Free descriptors, user id and control group after the end of the bot, which it awaits for a bounded time."""
        self._has_ended(_GONE_S)
        with contextlib.suppress(ChildProcessError):  # our child only if this process is a subreaper
            os.waitpid(self.id, os.WNOHANG)
        os.close(self._handle)
        if self._main:
            os.close(self._main_handle)
        release_uid(self._uid)
        if self._cgroup is not None:
            self._cgroup.remove()

    def _has_ended(self, patience_s: float) -> bool:
        """Return True if the first process has ended, or ends within `patience_s`."""
        gone = select.poll()
        gone.register(self._handle, select.POLLIN)
        return bool(gone.poll(patience_s * 1000))

    def confine(self) -> None:
        """Set the limits of the first process, which all others inherit."""
        with real_user(self._uid):
            set_rlimits(self.id, sandbox_rlimits(self.limits))
        prefer_for_oom_kill(self.id)
        if self._cgroup is not None:
            self._cgroup.enter(self.id)

    def wait_for_main(self) -> None:
        """Wait for the bot's own process, the only child of the first one, whose CPU time can be read from then on.

        Raises EOFError if none appears in 20 s.

        Returns without it if the sandbox has ended already; then `signal` fails and the bot counts as ended.
        """
        start_s = time.monotonic()
        while not (main := min(children(self.id), default=0)):
            waited_s = time.monotonic() - start_s
            if waited_s > _HANDSHAKE_S:
                raise EOFError(f"no sign of the bot's own process within {_HANDSHAKE_S:.0f} s")
            if self._has_ended(0):
                return
            time.sleep(max(_GLANCE_S, _LATER * waited_s))
        with contextlib.suppress(ProcessLookupError):
            self._main_handle = os.pidfd_open(main)
            self._main = main
            self._read_cpu = fast = CpuClock(main, self.id)  # CPU time of the first process is charged to the bot
            # a control group counts all processes, also those that have ended
            self.cpu = fast if self._cgroup is None else cgroup.audited_clock(fast, self._cgroup.cpu_s)


def start_sandboxed(
    command: list[str], folder: Path, environment: dict[str, str], limits: Limits, *, is_build: bool = False
) -> Started:
    """Start `command` in a sandbox with `folder` as its home, which a build may write to.

    Raises HarnessFault if no sandbox can be set up.
    """
    require_readable(folder)
    arguments = bubblewrap.bwrap_arguments(
        reachable(folder), environment=environment, scratch_mib=limits.scratch_mib, is_writable=is_build
    )
    filters = syscalls.compile_filter(
        is_play=not is_build,
        processes=limits.processes,
        counts_shared_memory=cgroup.delegated_group() is not None,
    )
    return start_with(command, arguments, limits, filters)


def start_with(command: list[str], arguments: list[str], limits: Limits, filters: bytes | None) -> Started:
    """Start `command` in a sandbox with these arguments of bwrap and this filter, which tests make weaker.

    bwrap waits for the filter, which it loads just before the bot begins. If this process is killed before, bwrap gets
    no filter and ends: no bot begins without limits. Without a filter, as in tests, it waits for a byte instead.
    Raises HarnessFault, and Shortage if the machine is short of memory or processes.
    """
    uid = acquire_uid()
    popen: subprocess.Popen[bytes] | None = None
    box: Sandbox | None = None
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs, contextlib.ExitStack() as gate:
        try:
            info_end, info_fd = _pipe(ours, theirs)
            filter_fd, filter_end = _pipe(theirs, gate)
            # Opened for reading, too: so bwrap gets no SIGPIPE if this process is killed meanwhile, which would leave
            # bwrap's child waiting for ever.
            info_fd = os.open(f"/proc/self/fd/{info_fd}", os.O_RDWR)
            theirs.callback(os.close, info_fd)
            texts = kernel_files.synthetic_contents(limits.memory_mib)
            contents = {path: _text_file(text, theirs) for path, text in texts.items()}
            gate_option = "--block-fd" if filters is None else "--seccomp"
            words = [*arguments, gate_option, str(filter_fd), "--info-fd", str(info_fd)]
            words += [word for path, fd in contents.items() for word in ("--ro-bind-data", str(fd), path)]
            listed = _text_file(b"".join(os.fsencode(word) + b"\0" for word in words), theirs)
            words = [bubblewrap.runnable(), *leftovers.owner_mark(), "--args", str(listed), "--", *command]
            # an empty environment, because the bot can read /proc/1/environ
            popen = spawn(words, "/", {}, fds=(info_fd, filter_fd, listed, *contents.values()), uid=uid)
            theirs.close()
            box = Sandbox(_read_first_pid(info_end), uid, limits, cgroup.make_group(limits))
            box.confine()
            os.write(filter_end, filters or b"1")
            gate.close()
            box.wait_for_main()
        except (OSError, EOFError, ValueError) as error:
            failure = _end_failed_start(popen, error)
            if box is None:
                release_uid(uid)
            else:
                box.release()
            raise failure from error
    return popen, box


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """Make a pipe; each end is closed with its stack."""
    ends = os.pipe()
    reader.callback(os.close, ends[0])
    writer.callback(os.close, ends[1])
    return ends


def _text_file(text: bytes, stack: contextlib.ExitStack) -> int:
    """Return a file descriptor from which `text` can be read, closed with `stack`."""
    fd = os.memfd_create("arena-text")
    stack.callback(os.close, fd)
    os.write(fd, text)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _read_first_pid(info_fd: int) -> int:
    """Read the id of the sandbox's first process, which bwrap writes as JSON; raises EOFError if bwrap has ended."""
    text = b""
    pipe = select.poll()  # select.select refuses numbers from 1024 on
    pipe.register(info_fd, select.POLLIN)
    deadline_s = time.monotonic() + _HANDSHAKE_S
    while not text.rstrip().endswith(b"}"):
        ready = pipe.poll(max(0.0, deadline_s - time.monotonic()) * 1000)
        data = os.read(info_fd, 4096) if ready else b""
        if not data:
            raise EOFError("it ended" if ready else f"no sign of it within {_HANDSHAKE_S:.0f} s")
        text += data
    return int(json.loads(text)["child-pid"])


def _end_failed_start(popen: "subprocess.Popen[bytes] | None", error: Exception) -> HarnessFault:
    """Kill bwrap, if it was started, after a failed start; return the fault with bwrap's message and the remedy."""
    if popen is None:
        return as_shortage(error) or HarnessFault(f"bubblewrap cannot be started: {error}")
    with contextlib.suppress(subprocess.TimeoutExpired):  # a program closes its pipes a moment before its end
        popen.wait(_ENDING_S if isinstance(error, EOFError) else 0)
    is_killed = popen.returncode == -signal.SIGKILL
    popen.kill()
    _, stderr = popen.communicate()
    text = stderr.decode("utf-8", "backslashreplace").strip() or str(error)
    if is_killed:
        return Shortage("bubblewrap was killed before the bot began: the machine ran out of memory, or somebody did it")
    shortage = as_shortage(error) or shortage_in(text)
    return shortage or HarnessFault(f"the sandbox cannot be set up: {text}{bubblewrap.advice_on(text)}")


def count_files(place: Path, on_host: Path) -> int:
    """Return the number of files in the file system at `place`; 0 while that is still the host's own, `on_host`."""
    try:
        if place.stat().st_dev == on_host.stat().st_dev:
            return 0
        status = os.statvfs(place)
    except OSError:
        return 0
    return status.f_files - status.f_ffree
