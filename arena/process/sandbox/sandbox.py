"""One bot in its sandbox: the start handshake, its processes, and its end.

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
from arena.process.process import ProcessGroup, is_held, spawn
from arena.process.reaper import children, read_proc
from arena.process.sandbox import bubblewrap, cgroup, kernel_files, leftovers, syscalls
from arena.process.sandbox.users import acquire_uid, reachable, real_user, release_uid, require_readable
from arena.process.shortage import as_shortage, shortage_in

_HANDSHAKE_S: Final = 20.0
"""For the sandbox to stand; it takes 2 ms, and on a machine with a hundred other things to do, a second."""
_GLANCE_S: Final = 0.0002
"""Between two looks for the bot's own process, which comes half a millisecond after the sandbox."""
_LATER: Final = 0.1
"""The part of the time waited so far that passes between two looks: a busy machine is not kept busy by looking."""
_ENDING_S: Final = 0.5
"""For a bubblewrap that closed its pipes to be seen as ended."""
_GONE_S: Final = 5.0
"""For a killed sandbox to be empty; it takes 2 ms."""
_SCRATCH_FILES: Final = 10_000
"""Empty files use memory of the kernel that no size limit of a file system counts."""
_SOCKET_BYTES: Final = 320 << 10
"""The most that waits for the reader of a local socket: Linux's wmem_default, and a message of half of that."""
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
"""By what a bot wrote at its end. A hint guesses and never judges: the author sees the stderr too."""

Started = tuple["subprocess.Popen[bytes]", "Sandbox"]
Start = Callable[..., Started]


class Sandbox(ProcessGroup):
    """The processes of a sandboxed bot: bwrap's first one, `id`, leads the group; the bot's program runs below it."""

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
        """See ProcessGroup.limit_violation. A control group counts memory exactly, and ends the bot itself."""
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
        """The most that the bot's sockets can hold: it is in no process, and an unaccepted socket is no open file."""
        sockstat = read_proc(str(self._sockstat))
        return int(sockstat.split(None, 3)[2]) * _SOCKET_BYTES if sockstat else 0

    def has_pipe_open(self, inode: int) -> bool:
        """See ProcessGroup.has_pipe_open. bwrap has it open too, so that its end is not seen while the bot lives."""
        mine = self.bot_pids()
        return not mine or is_held(mine, inode)

    def hint_on(self, stderr: str) -> str:
        """See ProcessGroup.hint_on."""
        hints = ({} if self.limits.processes else _HINTS_WITHOUT_PROCESSES) | _HINTS
        return next((hint for pattern, hint in hints.items() if re.search(pattern, stderr, re.IGNORECASE)), "")

    def signal(self, number: int) -> None:
        """See ProcessGroup.signal. A bot without processes of its own is one; to stop only that one costs half as much.

        The first process runs on: it only waits, and if a bot could give it something to do, that is charged.
        """
        if not self._main:
            raise ProcessLookupError("the bot's own process ended before it was seen")
        signal.pidfd_send_signal(self._main_handle, 0 if self.limits.processes else number)
        if self.limits.processes:
            super().signal(number)

    def kill(self) -> None:
        """See ProcessGroup.kill. With the first process of a process namespace the kernel kills all the others."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def release(self) -> None:
        """See ProcessGroup.release. Once its first process is gone, so are all the others: nothing writes any more."""
        self._is_gone(_GONE_S)
        with contextlib.suppress(ChildProcessError):  # ours only where orphans come to us
            os.waitpid(self.id, os.WNOHANG)
        os.close(self._handle)
        if self._main:
            os.close(self._main_handle)
        release_uid(self._uid)
        if self._cgroup is not None:
            self._cgroup.remove()

    def _is_gone(self, patience_s: float) -> bool:
        """Whether the first process ends within that time."""
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
        """Find the bot's own process: the one child that the first process starts. EOFError if it never does.

        One that has ended already is not found, and so cannot be stopped, which ends the bot.
        """
        start_s = time.monotonic()
        while not (main := min(children(self.id), default=0)):
            waited_s = time.monotonic() - start_s
            if waited_s > _HANDSHAKE_S:
                raise EOFError(f"no sign of the bot's own process within {_HANDSHAKE_S:.0f} s")
            if self._is_gone(0):
                return
            time.sleep(max(_GLANCE_S, _LATER * waited_s))
        with contextlib.suppress(ProcessLookupError):
            self._main_handle = os.pidfd_open(main)
            self._main = main
            self._read_cpu = fast = CpuClock(main, self.id)  # the first process only waits; else the bot pays for it
            # a control group counts all processes, those that have ended too
            self.cpu = fast if self._cgroup is None else cgroup.audited_clock(fast, self._cgroup.cpu_s)


def start_sandboxed(
    command: list[str], folder: Path, environment: dict[str, str], limits: Limits, *, is_build: bool = False
) -> Started:
    """Start `command` in a sandbox where `folder` is its home, which a build may write to.

    HarnessFault if there can be none.
    """
    require_readable(folder)
    arguments = bubblewrap.bwrap_arguments(
        reachable(folder), environment=environment, scratch_mib=limits.scratch_mib, is_writable=is_build
    )
    filters = syscalls.compile_filter(
        is_play=not is_build,
        processes=limits.processes,
        counts_shared_memory=cgroup.delegated() is not None,
    )
    return start_with(command, arguments, limits, filters)


def start_with(command: list[str], arguments: list[str], limits: Limits, filters: bytes | None) -> Started:
    """Start `command` in the sandbox that these arguments and this filter make, whether it holds or not.

    bwrap waits for the filter, which it loads just before the bot begins. If this process is killed before, bwrap finds
    no filter and ends: no bot begins without limits. Without a filter, as in tests, it waits for a byte instead.
    """
    uid = acquire_uid()
    popen: subprocess.Popen[bytes] | None = None
    box: Sandbox | None = None
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs, contextlib.ExitStack() as gate:
        try:
            told, telling = _pipe(ours, theirs)
            barred, opening = _pipe(theirs, gate)
            # bwrap can read this one as well: it is not ended by a broken pipe if this process is killed meanwhile,
            # which would leave its child waiting for ever.
            telling = os.open(f"/proc/self/fd/{telling}", os.O_RDWR)
            theirs.callback(os.close, telling)
            contents = {path: _text(text, theirs) for path, text in kernel_files.synthetic(limits.memory_mib).items()}
            words = [
                *arguments,
                "--block-fd" if filters is None else "--seccomp",
                str(barred),
                "--info-fd",
                str(telling),
            ]
            words += [word for path, fd in contents.items() for word in ("--ro-bind-data", str(fd), path)]
            listed = _text(b"".join(os.fsencode(word) + b"\0" for word in words), theirs)
            words = [bubblewrap.runnable(), *leftovers.owner_mark(), "--args", str(listed), "--", *command]
            # a bot reads the environment from /proc/1/environ, so there is none
            popen = spawn(words, "/", {}, fds=(telling, barred, listed, *contents.values()), uid=uid)
            theirs.close()
            box = Sandbox(_first_process(told), uid, limits, cgroup.make_group(limits))
            box.confine()
            os.write(opening, filters or b"1")
            gate.close()
            box.wait_for_main()
        except (OSError, EOFError, ValueError) as error:
            failure = _failure(popen, error)
            if box is None:
                release_uid(uid)
            else:
                box.release()
            raise failure from error
    return popen, box


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """A pipe whose ends are closed with these."""
    ends = os.pipe()
    reader.callback(os.close, ends[0])
    writer.callback(os.close, ends[1])
    return ends


def _text(text: bytes, stack: contextlib.ExitStack) -> int:
    """A file descriptor from which it can be read, closed with `stack`."""
    fd = os.memfd_create("arena-text")
    stack.callback(os.close, fd)
    os.write(fd, text)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _first_process(told: int) -> int:
    """The process id that bwrap tells as JSON, in pieces. EOFError if it ended instead."""
    text = b""
    deadline_s = time.monotonic() + _HANDSHAKE_S
    while not text.rstrip().endswith(b"}"):
        ready, _, _ = select.select([told], [], [], max(0.0, deadline_s - time.monotonic()))
        data = os.read(told, 4096) if ready else b""
        if not data:
            raise EOFError("it ended" if ready else f"no sign of it within {_HANDSHAKE_S:.0f} s")
        text += data
    return int(json.loads(text)["child-pid"])


def _failure(popen: "subprocess.Popen[bytes] | None", error: Exception) -> HarnessFault:
    """The message of bwrap, with the remedy; no bot has any part in it, as none runs yet."""
    if popen is None:
        return as_shortage(error) or HarnessFault(f"bubblewrap cannot be started: {error}")
    with contextlib.suppress(subprocess.TimeoutExpired):  # one that ended closed its pipes a moment before
        popen.wait(_ENDING_S if isinstance(error, EOFError) else 0)
    is_killed = popen.returncode == -signal.SIGKILL
    popen.kill()
    _, said = popen.communicate()
    text = said.decode("utf-8", "backslashreplace").strip() or str(error)
    if is_killed:
        return Shortage("bubblewrap was killed before the bot began: the machine ran out of memory, or somebody did it")
    shortage = as_shortage(error) or shortage_in(text)
    return shortage or HarnessFault(f"the sandbox cannot be set up: {text}{bubblewrap.advice_on(text)}")


def count_files(place: Path, on_host: Path) -> int:
    """Files of the file system at `place`; 0 until bwrap has mounted it, when it still is the host's own `on_host`."""
    try:
        if place.stat().st_dev == on_host.stat().st_dev:
            return 0
        found = os.statvfs(place)
    except OSError:
        return 0
    return found.f_files - found.f_ffree
