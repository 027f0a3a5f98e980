"""Lines to and from one bot process, always with a deadline on the whole line, never with unbounded memory.

Rule: one blocking poll loop. Writes never block, stderr is drained in the same loop, and nothing waits without asking
the clock. `Channel` is the seam: the scripted twin in the tests and the person in `arena play` stand behind it too.
"""

import contextlib
import os
import select
import time
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from arena.errors import Crashed, MalformedReply
from arena.process.clock import MoveClock
from arena.process.launch import BotProcess

READ_SIZE: Final = 1 << 16
_AHEAD_LIMIT: Final = 1 << 18
"""Bytes a bot may say before a request, and again while the referee is still writing it."""
_CRASH_S: Final = 0.2
"""How long to wait for the exit code of a bot whose pipes have ended."""
_TICK_S: Final = 0.002
KEPT_STDERR: Final = 8 << 10
_POLLOUT: Final = select.POLLOUT
_READABLE: Final = select.POLLIN | select.POLLHUP | select.POLLERR


class Channel(Protocol):
    """Where lines go to and come from."""

    cpu: Callable[[], float]
    """CPU seconds the other side has used so far."""
    origin: str
    """What was started and where, for the author of a bot that does not start."""

    def send(self, line: bytes, clock: MoveClock) -> None:
        """Write a whole line. Raises Crashed or OutOfTime."""

    def receive(self, clock: MoveClock) -> bytes:
        """The next line without its newline. Raises Crashed, OutOfTime, or MalformedReply for an overlong line."""

    def pending(self) -> list[bytes]:
        """Whole lines that have arrived already, without waiting; to be asked before a request is sent."""

    def stderr(self) -> str:
        """Head and tail of what the other side wrote to its stderr."""

    def close(self, grace_s: float) -> str:
        """End the other side, by force after `grace_s`; how it ended, in words."""


class HeadAndTail:
    """The first and the last bytes of a stream of any length."""

    def __init__(self, size: int = KEPT_STDERR) -> None:
        self._size = size
        self._head = b""
        self._tail = b""
        self._total = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self._total += len(data)
        room = self._size - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:] if room < len(data) else self._tail)[-self._size :]

    def text(self) -> str:
        """Head, what was left out, tail."""
        left_out = self._total - len(self._head) - len(self._tail)
        gap = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
        text = (self._head + gap + self._tail).decode("utf-8", "backslashreplace")
        if text.isprintable():
            return text
        # escapes of a terminal are no way for a bot to draw on somebody's screen
        return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


class ProcessChannel:
    """The pipes of a real process. `limit` is the longest line from the bot in bytes."""

    def __init__(self, process: BotProcess, *, limit: int) -> None:
        self.cpu = process.cpu
        self.origin = process.origin
        self._process = process
        self._limit = limit
        self._lines: deque[bytes] = deque()
        self._partial = b""
        self._taken = 0
        self._stderr = HeadAndTail()
        self._is_stdout_open = True
        self._poll = select.poll()
        for fd in (process.stdout, process.stderr):
            os.set_blocking(fd, False)
            self._poll.register(fd, select.POLLIN)
        os.set_blocking(process.stdin, False)

    def send(self, line: bytes, clock: MoveClock) -> None:
        """See Channel.send. What the bot says meanwhile is read, so that neither side waits for the other."""
        try:
            sent = os.write(self._process.stdin, line)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:
            raise self._crash() from None
        if sent < len(line):
            self._send_rest(memoryview(line)[sent:], clock)

    def receive(self, clock: MoveClock) -> bytes:
        """See Channel.receive."""
        wait_s = clock.first_wait_s()
        while not self._lines:
            if not self._is_stdout_open:
                raise self._crash()
            self._pump(wait_s)
            if not self._lines:
                wait_s = clock.wait_s()
                self._insist_on_life()
        return self._lines.popleft()

    def pending(self) -> list[bytes]:
        """See Channel.pending. Reads until nothing is left, so that no early answer waits for a later request."""
        taken_before = self._taken
        taken = -1
        while taken != self._taken:
            taken = self._taken
            self._pump(0.0)
            if taken - taken_before > _AHEAD_LIMIT:
                raise MalformedReply("lines without end before a request", hint="speak only when asked")
        if not self._lines:
            return []
        lines = list(self._lines)
        self._lines.clear()
        return lines

    def stderr(self) -> str:
        """See Channel.stderr."""
        return self._stderr.text()

    def close(self, grace_s: float) -> str:
        """See Channel.close. The whole process group is killed, the process reaped."""
        self._process.close_stdin()
        ending = self._wait_for_end(grace_s)
        self._drain_stderr()
        self._process.kill()
        return ending or "was killed"

    def _send_rest(self, rest: memoryview, clock: MoveClock) -> None:
        stdin = self._process.stdin
        taken_before = self._taken
        self._poll.register(stdin, _POLLOUT)
        try:
            while rest:
                if self._taken - taken_before > _AHEAD_LIMIT:
                    raise MalformedReply("lines without end while the referee was writing a request")
                self._pump(clock.wait_s())
                try:
                    rest = rest[os.write(stdin, rest) :]
                except BlockingIOError:
                    continue
                except BrokenPipeError:
                    raise self._crash() from None
        finally:
            self._poll.unregister(stdin)

    def _pump(self, wait_s: float) -> None:
        """Wait for the bot at most `wait_s` and take what it wrote: one read of each stream."""
        for fd, event in self._poll.poll(wait_s * 1000):
            if not event & _READABLE or fd == self._process.stdin:
                continue  # that the bot closed its stdin is told by the next write
            try:
                data = os.read(fd, READ_SIZE)
            except BlockingIOError:
                continue
            if not data:
                self._forget(fd)
            elif fd == self._process.stdout:
                self._take(data)
            elif fd == self._process.stderr:
                self._stderr.add(data)

    def _take(self, data: bytes) -> None:
        """Split what arrived into lines; a line that grows past the limit is refused, whole or not."""
        self._taken += len(data)
        text = self._partial + data
        *lines, self._partial = text.split(b"\n")
        self._lines.extend(lines)
        if len(text) < self._limit:  # nearly always, and then no line is too long
            return
        if len(self._partial) >= self._limit or any(len(line) >= self._limit for line in lines):
            longest = max((self._partial, *lines), key=len)
            raise self._overlong(longest)

    def _forget(self, fd: int) -> None:
        """A stream has ended."""
        self._poll.unregister(fd)
        if fd == self._process.stdout:
            self._is_stdout_open = False

    def _drain_stderr(self) -> None:
        """What lies in the pipe; bounded, because a daemon of the bot may still be writing to it."""
        for _ in range(16):
            try:
                data = os.read(self._process.stderr, READ_SIZE)
            except BlockingIOError:
                return
            if not data:
                return
            self._stderr.add(data)

    def _insist_on_life(self) -> None:
        """A bot whose process has ended is over, even if a child of it still holds its pipes."""
        if self._is_stdout_open and self._process.ending():
            self._pump(0.0)
            if not self._lines:
                raise self._crash()

    def _wait_for_end(self, patience_s: float) -> str:
        """How the process ended; empty if it still runs after `patience_s`. Nothing it says now counts.

        It is read all the same, so that a bot with much to say can come to its end.
        """
        deadline = time.monotonic() + patience_s
        while not (ending := self._process.ending()):
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return ""
            with contextlib.suppress(MalformedReply):
                self._pump(min(left_s, _TICK_S))
            self._lines.clear()
            self._partial = b""
        return ending

    def _crash(self) -> Crashed:
        ending = self._wait_for_end(_CRASH_S)
        self._drain_stderr()
        what = ending or "closed its stdin or stdout while still running"
        return Crashed(f"the bot {what}", hint="see the bot's stderr")

    def _overlong(self, line: bytes) -> MalformedReply:
        return MalformedReply(
            f"a line of more than {self._limit} bytes",
            hint="answer with one short line",
            got=line[:200].decode("utf-8", "backslashreplace"),
        )
