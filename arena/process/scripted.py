"""The scripted twin of a bot process: a channel whose other side is a function in this process.

Rule: it behaves as a process would, so that tests patch nothing: lines queue up, silence runs into the clock, and the
script may crash, stall or take CPU time by saying so.
"""

from collections import deque
from collections.abc import Callable, Iterable

from arena.errors import BotFault
from arena.process.channel import BoundedLog, Channel
from arena.process.clock import MoveClock

Reply = bytes | BotFault
"""A line without its newline, or the fault that the channel raises when it is read (a crash, an overlong line)."""


class ScriptedChannel(Channel):
    """A channel to a function: `respond` gets each line sent and returns the replies, lines or faults.

    It may add bytes to `stderr_log`, like a process that writes to stderr.
    """

    def __init__(self, respond: Callable[[bytes], Iterable[Reply]], *, cpu: Callable[[], float] = lambda: 0.0) -> None:
        super().__init__(cpu, "a function in this process", BoundedLog())
        self._respond = respond
        self._replies: deque[Reply] = deque()
        self.sent: list[bytes] = []
        self.is_closed = False

    def send(self, line: bytes, clock: MoveClock) -> None:  # noqa: ARG002 - a function takes a line at once
        """Pass the line to the function and queue its replies."""
        self.sent.append(line)
        self._replies.extend(self._respond(line))

    def receive(self, clock: MoveClock) -> bytes:
        """Return the next line or raise the next fault; without one wait until the (fake) clock runs out."""
        while not self._replies:
            clock.wait_s()
        reply = self._replies.popleft()
        if isinstance(reply, BotFault):
            raise reply
        return reply

    def pending(self) -> list[bytes]:
        """Return the queued lines; faults stay queued."""
        lines = [reply for reply in self._replies if isinstance(reply, bytes)]
        self._replies = deque(reply for reply in self._replies if not isinstance(reply, bytes))
        return lines

    def close(self, grace_s: float) -> str:  # noqa: ARG002 - a function ends at once
        """Mark the channel as closed; return the ending of a process that exits by itself."""
        self.is_closed = True
        return "ended with exit code 0"
