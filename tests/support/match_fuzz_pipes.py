"""A bot process that is none: real pipes, and a bot's side that the test works by hand, in the same thread.

Rule: one class stands in for BotProcess, and whatever a channel asks of a process is answered here and nowhere else.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, cast

from arena.process.channel import ProcessChannel
from arena.process.clock import MoveClock
from arena.process.death import Evidence
from arena.process.process import BotProcess

_AT_ONCE: Final = 1 << 20


class PipedProcess:
    """What a channel sees of a process, and below it the bot's own side. No write of the bot ever blocks."""

    origin: Final = "pipes in this process"

    def __init__(self) -> None:
        self.group = self
        self.cpu = lambda: 0.0
        self.is_suspended = False
        self._ears, self.stdin = os.pipe()
        self.stdout, self._mouth = os.pipe()
        self.stderr, self._diary = os.pipe()
        self._open = {self._ears, self.stdin, self.stdout, self._mouth, self.stderr, self._diary}
        self._ending = ""
        self._patience = 3
        for fd in (self._ears, self._mouth, self._diary):
            os.set_blocking(fd, False)

    def ending(self) -> str:
        """See BotProcess.ending. A bot whose input has ended ends; one that hung up does so when asked again."""
        if self._mouth not in self._open and not self._ending:
            self._patience -= 1
            if not self._patience:
                self.exit()
        return self._ending or ("" if self.stdin in self._open else "ended with exit code 0")

    def close_stdin(self) -> None:
        """See BotProcess.close_stdin."""
        self._close(self.stdin)

    def kill(self) -> None:
        """See BotProcess.kill."""
        for fd in tuple(self._open):
            self._close(fd)

    def delayed_s(self) -> float:
        """The machine has always time for it."""
        return 0.0

    def is_asleep(self) -> bool:
        """It never sleeps: its time is set by the test."""
        return False

    def evidence(self, ending: str) -> Evidence:
        """It ends by itself."""
        return Evidence(ending)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return not self._ending

    def is_there(self) -> bool:
        """The same."""
        return not self._ending

    def suspend(self) -> bool:
        """Until it is resumed it neither hears nor says anything. One that has ended cannot be stopped."""
        self.is_suspended = not self._ending
        return self.is_suspended

    def resume(self) -> None:
        """See BotProcess.resume."""
        self.is_suspended = False

    def limit_violation(self) -> str:
        """It never takes too much."""
        return ""

    def cpu_by_process(self) -> dict[int, float]:
        """None: it is no process."""
        return {}

    def has_pipe_open(self, _inode: int) -> bool:
        """The pipes tell."""
        return True

    def hint_on(self, _stderr: str) -> str:
        """Nothing surrounds it."""
        return ""

    def hear(self) -> bytes:
        """What the referee wrote since the last time."""
        with contextlib.suppress(BlockingIOError):
            if self._ears in self._open and not self.is_suspended:
                return os.read(self._ears, _AT_ONCE)
        return b""

    def say(self, data: bytes) -> int:
        """Write to stdout what the pipe takes; the number of bytes it took."""
        return self._write(self._mouth, data)

    def log(self, data: bytes) -> int:
        """Write to stderr what the pipe takes; the number of bytes it took."""
        return self._write(self._diary, data)

    def hang_up(self) -> None:
        """Close stdout and run on for a little while."""
        self._close(self._mouth)

    def exit(self) -> None:
        """End by itself, with all its pipes."""
        for fd in (self._ears, self._mouth, self._diary):
            self._close(fd)
        self._ending = "ended with exit code 3"

    def _write(self, fd: int, data: bytes) -> int:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            if data and fd in self._open and not self.is_suspended:
                return os.write(fd, data)
        return 0

    def _close(self, fd: int) -> None:
        if fd in self._open:
            self._open.remove(fd)
            os.close(fd)


@contextmanager
def piped(*, limit: int) -> Iterator[tuple[PipedProcess, ProcessChannel]]:
    """A process and a channel to it, both gone at the end."""
    process = PipedProcess()
    try:
        yield process, ProcessChannel(cast(BotProcess, process), limit=limit)
    finally:
        process.kill()


def stepping(step: Callable[[], bool]) -> MoveClock:
    """A clock by which the bot takes one step at each look, and which runs out when there is none to take."""
    now_s = 0.0

    def wall() -> float:
        nonlocal now_s
        now_s += 0.0 if step() else 1.0
        return now_s

    return MoveClock(cpu=lambda: 0.0, wall=wall, budget_s=1e-6, wall_s=1e-6, decides_cpu=False)


def lines_of(stream: bytes, *, limit: int) -> tuple[list[bytes], bool]:
    """The whole lines of a stream up to the first that is too long, and whether there is one: the reference."""
    *whole, rest = stream.split(b"\n")
    for number, line in enumerate(whole):
        if len(line) + 1 > limit:
            return whole[:number], True
    return whole, len(rest) + 1 > limit
