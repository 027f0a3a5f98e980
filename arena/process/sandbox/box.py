"""One bot in its box: the start handshake, what is held for it, and its end.

Rule: nothing of the bot runs before its limits stand. bwrap builds the box and tells the process id of its first
process; limits are set on that; only then a byte lets the bot's own program begin.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from arena.errors import HarnessFault
from arena.process.clock import cpu_clock
from arena.process.hints import hint_on
from arena.process.limits import Limits
from arena.process.reaper import children, descendants
from arena.process.rlimits import limit_box, take_first
from arena.process.sandbox import bubblewrap, cgroup, syscalls
from arena.process.sandbox.advice import advice_on
from arena.process.sandbox.reach import give_back_uid, insist_on_readable, reachable, real_user, take_uid
from arena.process.usage import MemoryWatch, delayed_s, is_held

_HANDSHAKE_S: Final = 20.0
"""For the box to stand; it takes 2 ms, and on a machine with a hundred other things to do, a second."""
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
        self._read_cpu: Callable[[], float] | None = None
        self._main = 0
        self._main_handle = -1
        root = Path(f"/proc/{first}/root")
        places = {"scratch": root / "tmp", "shared": root / "dev/shm"} if limits.scratch_mib else {}
        self._watch = MemoryWatch(limits.memory_mib, self._pids, **places)

    def cpu(self) -> float:
        """See Body.cpu. A control group counts all processes, those that have ended too."""
        return self._main_and_first_cpu() if self._audited is None else self._audited()

    def _main_and_first_cpu(self) -> float:
        """CPU seconds of the process that runs the bot's program, and of the first one.

        The first one only waits. But a bot can write to its memory (/proc/1/mem), and so make it work.
        """
        if self._read_cpu is None:
            if not self._find_main():
                return 0.0
            self._read_cpu = cpu_clock(self._main)
        return self._read_cpu() + self._read_first_cpu()

    def delayed_s(self) -> float:
        """See Body.delayed_s."""
        return delayed_s(self._main) if self._find_main() else 0.0

    def excess(self) -> str:
        """See Body.excess. A control group counts exactly, and ends the bot itself."""
        return self._watch.excess() if self._cgroup is None else self._cgroup.excess()

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

    def signal(self, number: signal.Signals) -> None:
        """See Body.signal. A bot without processes of its own is one, and to stop only that one costs half as much.

        The box's first process runs on: it only waits, and if a bot has given it something to do, that is charged.
        """
        if self._has_processes or not self._find_main():
            os.killpg(self.group, number)
        else:
            signal.pidfd_send_signal(self._main_handle, number)

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

    def _find_main(self) -> bool:
        """Whether the bot's own process is there: the one child that bwrap's first process starts."""
        if not self._main:
            main = min(children(self.group), default=0)
            if main:
                with contextlib.suppress(ProcessLookupError):
                    self._main_handle = os.pidfd_open(main)
                    self._main = main
        return bool(self._main)

    def _pids(self) -> Iterable[int]:
        if self._has_processes:
            return {self.group} | descendants(self.group)
        return (self.group, self._main) if self._find_main() else (self.group,)


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
        letting, let = _pipe(theirs, ours)
        words = [*arguments, "--info-fd", str(telling), "--block-fd", str(letting)]
        listed = os.memfd_create("arena-bwrap")
        theirs.callback(os.close, listed)
        os.write(listed, b"".join(os.fsencode(word) + b"\0" for word in words))
        os.lseek(listed, 0, os.SEEK_SET)
        try:
            popen = _spawn(["--args", str(listed), "--", *command], (*passed, telling, letting, listed), uid)
            theirs.close()
            first = _first_process(told)
            box = Box(first, uid, limits, cgroup.make_group(limits))
            _confine(box, uid, limits)
            os.write(let, b"1")
        except (OSError, EOFError, ValueError) as error:
            failure = _failure(popen, error)
            if box is None:
                give_back_uid(uid)
            else:
                box.release()
            raise failure from error
    return popen, box


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


def _spawn(words: list[str], fds: tuple[int, ...], uid: int | None) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [bubblewrap.runnable(), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env={},  # otherwise a bot reads it from /proc/1/environ
        bufsize=0,
        pass_fds=fds,
        start_new_session=True,
        user=uid,
        group=uid,
        extra_groups=None if uid is None else (),
    )


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
