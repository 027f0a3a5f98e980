"""One bot in its box: the start handshake, what is held for it, and its end.

Rule: nothing of the bot runs before its limits stand. bwrap builds the box and tells the process id of its first
process; limits are set on that; only then a byte lets the bot's own program begin.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Final

from arena.errors import HarnessFault
from arena.process.clock import cpu_clock
from arena.process.hints import hint_on
from arena.process.limits import Limits
from arena.process.reaper import children, descendants
from arena.process.rlimits import limit_box, take_first
from arena.process.sandbox import bubblewrap, cgroup, kernel_files, leftovers, syscalls
from arena.process.sandbox.advice import advice_on
from arena.process.sandbox.users import give_back_uid, insist_on_readable, reachable, real_user, take_uid
from arena.process.usage import MemoryWatch, SleepWatch, delayed_s, is_held

_HANDSHAKE_S: Final = 20.0
"""For the box to stand; it takes 2 ms, and on a machine with a hundred other things to do, a second."""
_GLANCE_S: Final = 0.0002
"""Between two looks for the bot's own process, which comes half a millisecond after the box."""
_GONE_S: Final = 5.0
"""For a killed box to be empty; it takes 2 ms."""

Start = Callable[[list[str], Path, dict[str, str], Limits], "tuple[subprocess.Popen[bytes], Box]"]


class Box:
    """The processes of a sandboxed bot: bwrap's first one, in process group `group`, and what runs below it."""

    def __init__(self, first: int, uid: int | None, limits: Limits, group: cgroup.Group | None) -> None:
        self.group = first
        self._handle = os.pidfd_open(first)
        self._uid = uid
        self._cgroup = group
        self._audited = cgroup.AuditedClock(self._main_and_first_cpu, group.cpu_s) if group is not None else None
        self._has_processes = limits.processes
        self._read_first_cpu = cpu_clock(first)
        self._read_main_cpu: Callable[[], float] = lambda: 0.0  # until it is found; what is not found cannot be stopped
        self._main = 0
        self._main_handle = -1
        root = Path(f"/proc/{first}/root")
        places = {"scratch": root / "tmp", "shared": root / "dev/shm"} if limits.scratch_mib else {}
        sockets = Path(f"/proc/{first}/net/sockstat")
        self._watch = MemoryWatch(limits.memory_mib, self._pids, sockets=sockets, **places)
        self.is_asleep = SleepWatch(lambda: set(self._pids()) - {first}).is_asleep

    def cpu(self) -> float:
        """See Body.cpu. A control group counts all processes, those that have ended too."""
        return self._main_and_first_cpu() if self._audited is None else self._audited()

    def _main_and_first_cpu(self) -> float:
        """CPU seconds of the process that runs the bot's program, and of the first one, which only waits.

        A main process that has ended is seen by `signal`, which has to follow each look that counts.
        """
        return self._read_main_cpu() + self._read_first_cpu()

    def delayed_s(self) -> float:
        """See Body.delayed_s."""
        return max(map(delayed_s, set(self._pids()) - {self.group}), default=0.0)

    def excess(self) -> str:
        """See Body.excess. A control group counts memory exactly, and ends the bot itself."""
        if self._cgroup is None:
            return self._watch.excess()
        return self._cgroup.excess() or self._watch.excess_of_files()

    def holds(self, pipe: int) -> bool:
        """See Body.holds: bwrap has it open too, so that its end is not seen while the bot lives."""
        mine = set(self._pids()) - {self.group}
        return not mine or is_held(mine, pipe)

    def hint_on(self, stderr: str) -> str:
        """See Body.hint_on."""
        return hint_on(stderr, processes=self._has_processes)

    def enter_cgroup(self, pid: int) -> None:
        """Put a process, with all it will start, into the bot's control group, where there is one."""
        if self._cgroup is not None:
            self._cgroup.enter(pid)

    def signal(self, number: int) -> None:
        """See Body.signal. A bot without processes of its own is one, and to stop only that one costs half as much.

        The box's first process runs on: it only waits, and if a bot could give it something to do, that is charged.
        """
        if not self._main:
            raise ProcessLookupError("the bot's own process ended before it was seen")
        signal.pidfd_send_signal(self._main_handle, 0 if self._has_processes else number)
        if self._has_processes:
            os.killpg(self.group, number)

    def kill(self) -> None:
        """See Body.kill: with the first process of a process namespace the kernel kills all the others."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def release(self) -> None:
        """See Body.release. Once its first process is gone, so are all the others: nothing of it writes any more."""
        gone = select.poll()
        gone.register(self._handle, select.POLLIN)
        gone.poll(_GONE_S * 1000)
        with contextlib.suppress(ChildProcessError):  # ours only where orphans come to us
            os.waitpid(self.group, os.WNOHANG)
        os.close(self._handle)
        if self._main:
            os.close(self._main_handle)
        give_back_uid(self._uid)
        if self._cgroup is not None:
            self._cgroup.remove()

    def wait_for_main(self) -> None:
        """Find the bot's own process: the one child that the box's first process starts. EOFError if it never does.

        One that has ended already is not found, and so cannot be stopped, which ends the bot.
        """
        gone = select.poll()
        gone.register(self._handle, select.POLLIN)
        deadline_s = time.monotonic() + _HANDSHAKE_S
        while not (main := min(children(self.group), default=0)):
            if gone.poll(0):
                return
            time.sleep(_GLANCE_S)
            if time.monotonic() > deadline_s:
                raise EOFError(f"no sign of the bot's own process within {_HANDSHAKE_S:.0f} s")
        with contextlib.suppress(ProcessLookupError):
            self._main_handle = os.pidfd_open(main)
            self._main = main
            self._read_main_cpu = cpu_clock(main)

    def _pids(self) -> Iterable[int]:
        if self._has_processes:
            return {self.group} | descendants(self.group)
        return (self.group, self._main) if self._main else (self.group,)


def start(
    command: list[str], folder: Path, environment: dict[str, str], limits: Limits
) -> tuple["subprocess.Popen[bytes]", Box]:
    """Start `command` in a box where `folder` is its read-only home. HarnessFault if there can be no box."""
    insist_on_readable(folder)
    arguments = bubblewrap.arguments(reachable(folder), environment=environment, scratch_mib=limits.scratch_mib)
    filters = syscalls.filter_for_play(processes=limits.processes, counts_shared_memory=_counts_shared_memory())
    return start_with(command, [*arguments, "--seccomp", str(filters)], limits, passed=(filters,))


def start_build(
    command: list[str], folder: Path, environment: dict[str, str], limits: Limits
) -> tuple["subprocess.Popen[bytes]", Box]:
    """The same for a command that builds a bot: it may write to `folder`."""
    arguments = bubblewrap.arguments(
        reachable(folder), environment=environment, scratch_mib=limits.scratch_mib, is_writable=True
    )
    filters = syscalls.filter_for_build(counts_shared_memory=_counts_shared_memory())
    return start_with(command, [*arguments, "--seccomp", str(filters)], limits, passed=(filters,))


def _counts_shared_memory() -> bool:
    """Whether a control group counts memory that is in no count of resident pages."""
    return cgroup.delegated() is not None


def start_with(
    command: list[str], arguments: list[str], limits: Limits, *, passed: tuple[int, ...]
) -> tuple["subprocess.Popen[bytes]", Box]:
    """Start `command` in the box that these arguments make, whether it holds or not: bots go through `start`.

    `passed` are file descriptors that the arguments speak of; they are closed here.
    """
    uid = take_uid()
    popen: subprocess.Popen[bytes] | None = None
    box: Box | None = None
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
        for fd in passed:
            theirs.callback(os.close, fd)
        told, telling = _pipe(ours, theirs)
        gate = _Gate(arguments, ours, theirs)
        contents = {path: _text(text, theirs) for path, text in kernel_files.stand_ins(limits.memory_mib).items()}
        # bwrap can read this one as well: it is not ended by a broken pipe if this process is killed meanwhile, which
        # would leave its child waiting for ever.
        telling = os.open(f"/proc/self/fd/{telling}", os.O_RDWR)
        theirs.callback(os.close, telling)
        words = [*gate.arguments, "--info-fd", str(telling)]
        words += [word for path, fd in contents.items() for word in ("--ro-bind-data", str(fd), path)]
        listed = _text(b"".join(os.fsencode(word) + b"\0" for word in words), theirs)
        try:
            fds = (*gate.left(passed), telling, gate.fd, listed, *contents.values())
            popen = _spawn([*leftovers.mark(), "--args", str(listed), "--", *command], fds, uid)
            theirs.close()
            first = _first_process(told)
            box = Box(first, uid, limits, cgroup.make_group(limits))
            _confine(box, uid, limits)
            gate.open()
            box.wait_for_main()
        except (OSError, EOFError, ValueError) as error:
            failure = _failure(popen, error)
            if box is None:
                give_back_uid(uid)
            else:
                box.release()
            raise failure from error
    return popen, box


class _Gate:
    """Holds a box back until its limits stand: bwrap waits for the filter that it loads just before the bot begins.

    If this process is killed before, bwrap finds no filter and ends: no bot begins without limits. A box without a
    filter, as tests make it, waits for a byte instead.
    """

    def __init__(self, arguments: list[str], ours: contextlib.ExitStack, theirs: contextlib.ExitStack) -> None:
        self.fd, gate = os.pipe()
        theirs.callback(os.close, self.fd)
        self._gate = os.fdopen(gate, "wb")
        ours.callback(self._gate.close)
        self._key, self._filter = b"1", -1
        self.arguments = [*arguments, "--block-fd", str(self.fd)]
        if "--seccomp" in arguments:
            place = arguments.index("--seccomp") + 1
            self._filter = int(arguments[place])
            with open(self._filter, "rb", closefd=False) as filters:
                self._key = filters.read()
            self.arguments = [*arguments[:place], str(self.fd), *arguments[place + 1 :]]

    def left(self, passed: Iterable[int]) -> list[int]:
        """Those of the descriptors that bwrap still needs; it closes no others, and so the bot would have them."""
        return [fd for fd in passed if fd != self._filter]

    def open(self) -> None:
        """Let the bot begin."""
        self._gate.write(self._key)
        self._gate.close()


def _confine(box: Box, uid: int | None, limits: Limits) -> None:
    with real_user(uid):
        limit_box(box.group, limits)
    take_first(box.group)
    box.enter_cgroup(box.group)


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


def _spawn(words: list[str], fds: tuple[int, ...], uid: int | None) -> "subprocess.Popen[bytes]":
    """bwrap, as that user. A program that changes the user is quicker than Python, which then copies itself first."""
    changing = [] if uid is None else _as_user(uid)
    return subprocess.Popen(
        [*changing, bubblewrap.runnable(), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env={},  # otherwise a bot reads it from /proc/1/environ
        bufsize=0,
        pass_fds=fds,
        start_new_session=True,
        user=None if changing else uid,
        group=None if changing else uid,
        extra_groups=None if uid is None or changing else (),
    )


def _as_user(uid: int) -> list[str]:
    """Words before a command (setpriv, util-linux) that give it to this user and group and to no other."""
    setpriv = _setpriv()
    return [setpriv, "--reuid", str(uid), "--regid", str(uid), "--clear-groups", "--"] if setpriv else []


@cache
def _setpriv() -> str | None:
    return shutil.which("setpriv", path="/usr/bin:/bin")


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
    """What bwrap said, with what to do about it."""
    if popen is None:
        return HarnessFault(f"bubblewrap cannot be started: {error}")
    popen.kill()
    _, said = popen.communicate()
    text = said.decode("utf-8", "backslashreplace").strip() or str(error)
    return HarnessFault(f"the sandbox cannot be set up: {text}{advice_on(text)}")
