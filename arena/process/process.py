"""A bot process, sandboxed or not: pipes, freeze, exit.

Rule: the process group is the only thing that differs with the isolation. `kill` alone reaps our child, so that until
then nobody else can get its id or its group's.
"""

import contextlib
import os
import signal
import subprocess
import time
from typing import Final

from arena.process.group import ProcessGroup

_EXIT_CODE_S: Final = 0.2
"""The most that an ended bot's exit code takes to come through its sandbox; it takes less than a millisecond."""
_KILL_S: Final = 5.0
"""The most that a killed process takes to be gone: one that hangs in the kernel must not stop the referee."""
_SHELLS_SIGNAL: Final = 128
"""A wrapper ends with 128 + n when what it wraps was ended by signal n, as shells do."""


def spawn(
    words: list[str], folder: str, environment: dict[str, str], *, fds: tuple[int, ...] = (), uid: int | None = None
) -> "subprocess.Popen[bytes]":
    """A process with three pipes, a session of its own and these descriptors, as user and group `uid` if given."""
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


class BotProcess:
    """A started bot. `origin` names the command, the folder and the program behind it, for the author."""

    def __init__(self, popen: "subprocess.Popen[bytes]", group: ProcessGroup, origin: str, *, is_wrapped: bool) -> None:
        assert popen.stdin is not None
        assert popen.stdout is not None
        assert popen.stderr is not None
        self._popen = popen
        self._pipes = (popen.stdin, popen.stdout, popen.stderr)
        self._is_wrapped = is_wrapped
        self.is_frozen = False
        self.group = group
        self.origin = origin
        self.pid = popen.pid
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in self._pipes)

    def ending(self) -> str:
        """The end of the process, in words; empty while it runs."""
        try:
            ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return "ended"  # reaped by a sweep of ours, so nobody knows how
        if ended is None:
            return ""
        if ended.si_code != os.CLD_EXITED:
            return _by_signal(ended.si_status)
        if self._is_wrapped and ended.si_status > _SHELLS_SIGNAL:
            return _by_signal(ended.si_status - _SHELLS_SIGNAL)
        return f"ended with exit code {ended.si_status}"

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
        """Whether it reached the bot's own process. Nothing of a bot lives on that cannot be stopped."""
        try:
            self.group.signal(number)
        except (ProcessLookupError, PermissionError):
            self._wait_for_exit_code()
            self.group.kill()
            return False
        return True

    def _wait_for_exit_code(self) -> None:
        """The sandbox's first process hands it on, or is killed: a crash is told with the bot's own exit code."""
        deadline_s = time.monotonic() + _EXIT_CODE_S
        while not self.ending() and time.monotonic() < deadline_s:
            time.sleep(0.001)


def _by_signal(number: int) -> str:
    """In words; real-time signals have no name."""
    try:
        name = f" ({signal.Signals(number).name})"
    except ValueError:
        name = ""
    return f"was ended by signal {number}{name}"
