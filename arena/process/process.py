"""A bot process, sandboxed or not: pipes, freeze, exit.

Rule: the process group is the only thing that differs with the isolation. `kill` alone reaps our child, so that until
then nobody else can get its id or its group's.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from functools import cache
from typing import Final

from arena.process.group import ProcessGroup

_EXIT_CODE_S: Final = 0.2
"""The most that an ended bot's exit code takes to come through its sandbox; it takes less than a millisecond."""
_KILL_S: Final = 5.0
"""The most that a killed process takes to be gone: one that hangs in the kernel must not stop the referee."""
_SHELLS_SIGNAL: Final = 128
"""A wrapper ends with 128 + n when what it wraps was ended by signal n, as shells do."""


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


class BotProcess:
    """A started bot. `origin` names the command, the folder and the program behind it, for the author."""

    def __init__(self, popen: "subprocess.Popen[bytes]", group: ProcessGroup, origin: str) -> None:
        self._popen = popen
        self._pipes = [pipe for pipe in (popen.stdin, popen.stdout, popen.stderr) if pipe is not None]
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
        number = ended.si_status - (_SHELLS_SIGNAL if ended.si_code == os.CLD_EXITED else 0)
        if ended.si_code == os.CLD_EXITED and not (self.group.is_wrapped and number > 0):
            return f"ended with exit code {ended.si_status}"
        names = {each.value: f" ({each.name})" for each in signal.Signals}  # real-time signals have no name
        return f"was ended by signal {number}{names.get(number, '')}"

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
            self.group.kill()
            return False
        return True
