"""The scripted twin of a bot process: a channel whose other side is a function in this process.

Rule: it behaves as a process would, so that tests patch nothing: lines queue up, silence runs into the clock, and the
script may crash, stall or take CPU time by saying so.
"""

from collections import deque
from collections.abc import Callable, Iterable

from arena.errors import BotFault
from arena.process.channel import BoundedLog
from arena.process.clock import MoveClock

Reply = bytes | BotFault
"""A line without its newline, or the fault that the channel raises when it is read (a crash, an overlong line)."""


class ScriptedChannel:
    """`respond` gets each line sent and returns what the other side says to it, now or as faults.

    `stderr_log`: a script may add bytes to it, as a process that writes to stderr.
    """

    def __init__(self, respond: Callable[[bytes], Iterable[Reply]], *, cpu: Callable[[], float] = lambda: 0.0) -> None:
        self.cpu = cpu
        self.delayed_s: Callable[[], float] = lambda: 0.0
        self.is_asleep: Callable[[], bool] = lambda: False
        self.taken_s = 0.0
        self.origin = "a function in this process"
        self._respond = respond
        self._replies: deque[Reply] = deque()
        self.sent: list[bytes] = []
        self.is_closed = False
        self.stderr_log = BoundedLog()

    def before_wait(self, stop_others: Callable[[], object] | None) -> None:
        """Do nothing: a function lets nobody wait."""

    def send(self, line: bytes, clock: MoveClock) -> None:  # noqa: ARG002 - a function takes a line at once
        """Give the line to the script."""
        self.sent.append(line)
        self._replies.extend(self._respond(line))

    def receive(self, clock: MoveClock) -> bytes:
        """The next line, or a fault. With nothing left it waits for the clock to run out, which a fake clock does."""
        while not self._replies:
            clock.wait_s()
        reply = self._replies.popleft()
        if isinstance(reply, BotFault):
            raise reply
        return reply

    def pending(self) -> list[bytes]:
        """The lines that are there already."""
        lines = [reply for reply in self._replies if isinstance(reply, bytes)]
        self._replies = deque(reply for reply in self._replies if not isinstance(reply, bytes))
        return lines

    def wake(self) -> None:
        """Do nothing: a function runs when it is called."""

    def rest(self) -> None:
        """Do nothing, likewise."""

    def run_on(self) -> None:
        """Do the same as for `rest`."""
        self.rest()

    def stop(self) -> bool:
        """Do nothing, likewise."""
        return True

    def stderr(self) -> str:
        """The text that the script added."""
        return self.stderr_log.text()

    def stderr_bytes(self) -> int:
        """The number of its bytes."""
        return self.stderr_log.total

    def pids(self) -> set[int]:
        """None: a function runs in this process."""
        return set()

    def copy_stderr(self, log: BoundedLog) -> None:
        """Let `log` have all that the script adds from now on."""
        self.stderr_log.follower = log

    def close(self, grace_s: float) -> str:  # noqa: ARG002 - a function ends at once
        """Note the end; its words are those of a process."""
        self.is_closed = True
        return "ended with exit code 0"
