"""A running bot, whatever stands around it: its pipes, its clock, its freezing, its end.

Rule: one process object for bare and sandboxed bots; what differs is who they are (`Body`) and how they are killed.
The child of ours is reaped by `kill` and nowhere else, so that until then its id, and its group's, cannot be somebody
else's.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Final, Protocol

_EXIT_CODE_S: Final = 0.2
"""How long an ended bot's exit code may take to come through its box; it takes less than a millisecond."""
_KILL_S: Final = 5.0
"""How long a killed process may take to be gone: one that hangs in the kernel must not stop the referee."""
_SHELLS_SIGNAL: Final = 128
"""A wrapper ends with 128 + n when what it wraps was ended by signal n, as shells do."""


class Body(Protocol):
    """The processes of a bot."""

    group: int
    """Its process group."""

    def cpu(self) -> float:
        """CPU seconds the bot has used so far."""

    def delayed_s(self) -> float:
        """Seconds for which the bot was ready to run and the machine had no time for it."""

    def is_asleep(self) -> bool:
        """Whether no thread of it runs now, is ready to run, or waits for memory that was swapped out."""

    def excess(self) -> str:
        """What it uses beyond its limits, in words; empty if it keeps to them."""

    def holds(self, pipe: int) -> bool:
        """Whether the bot still has the pipe with that inode open, as far as the pipe itself would not tell."""

    def hint_on(self, stderr: str) -> str:
        """What its surroundings may have to do with its last words; empty if nothing points to them."""

    def signal(self, number: int) -> None:
        """Stop or continue all of it; 0 only asks. ProcessLookupError or PermissionError if its own process is gone."""

    def kill(self) -> None:
        """Kill all of it, at once."""

    def release(self) -> None:
        """All of it is gone: give back what was held for it."""


class BotProcess:
    """A started bot. `origin` tells its author what was started: the command, the folder, the program behind it."""

    def __init__(self, popen: "subprocess.Popen[bytes]", body: Body, origin: str, *, is_wrapped: bool) -> None:
        assert popen.stdin is not None
        assert popen.stdout is not None
        assert popen.stderr is not None
        self._popen = popen
        self._body = body
        self._is_wrapped = is_wrapped
        self.is_frozen = False
        self.origin = origin
        self.pid = popen.pid
        self.stdin = popen.stdin.fileno()
        self.stdout = popen.stdout.fileno()
        self.stderr = popen.stderr.fileno()
        self.cpu: Callable[[], float] = body.cpu
        self.delayed_s: Callable[[], float] = body.delayed_s
        self.is_asleep: Callable[[], bool] = body.is_asleep
        self.excess: Callable[[], str] = body.excess
        self.holds: Callable[[int], bool] = body.holds
        self.hint_on: Callable[[str], str] = body.hint_on

    @property
    def group(self) -> int:
        """The process group of the bot."""
        return self._body.group

    def ending(self) -> str:
        """How the process ended, in words; empty while it runs."""
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
        """Stop it where it is: it is not on move. False if its own process is gone; then all the rest is killed."""
        if not self.is_frozen:
            self.is_frozen = self._signal(signal.SIGSTOP)
        return self.is_frozen

    def is_there(self) -> bool:
        """Whether its own process can be reached; if not, all the rest is killed."""
        return self._signal(0)

    def thaw(self) -> None:
        """Let it run on."""
        if self.is_frozen:
            self._signal(signal.SIGCONT)
            self.is_frozen = False

    def close_stdin(self) -> None:
        """Let the bot see the end of its input."""
        self._popen.stdin.close()  # type: ignore[union-attr]

    def kill(self) -> None:
        """Kill all of it, reap it, give its pipes back."""
        if self._popen.returncode is None:
            self._body.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(_KILL_S)
            self._body.release()
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            pipe.close()  # type: ignore[union-attr]

    def _signal(self, number: int) -> bool:
        """Whether it reached the bot's own process. Nothing of a bot lives on that cannot be stopped."""
        try:
            self._body.signal(number)
        except (ProcessLookupError, PermissionError):
            self._wait_for_exit_code()
            self._body.kill()
            return False
        return True

    def _wait_for_exit_code(self) -> None:
        """The box's first process hands it on, or is killed: a crash is told with the bot's own exit code."""
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
