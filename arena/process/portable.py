"""Bots on systems other than Linux, without isolation: threads read and write their pipes, wall time decides.

Rule: nothing here needs more than Python has on every system. Only tests on Linux run it, with all that macOS and
Windows lack hidden; on those systems themselves it is untested. A bot is not stopped while others are on move, and its
memory has no limit.
"""

import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Final

from arena.errors import Crashed, MalformedReply
from arena.process.channel import KEPT_STDERR, READ_SIZE, BoundedLog, ProcessChannel
from arena.process.clock import MoveClock
from arena.process.launch import START_HINT, shell_text
from arena.process.manifest import BotSpec
from arena.process.scripted import ScriptedChannel

IS_LINUX: Final = sys.platform == "linux"
LINUX_ONLY: Final = (
    "the sandbox works on Linux only; elsewhere, untested, `check`, `match` and `play` run bots that you trust with"
    " `--isolation none`, and wall time decides"
)
_AHEAD_LIMIT: Final = 1 << 18
"""Bytes of a bot that wait to be asked for; it waits with the rest."""
_LOOK_S: Final = 0.05
_CRASH_S: Final = 0.2


def usable_cores() -> list[int]:
    """The cores this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [*range(os.cpu_count() or 1)]


def start_portably(bot: BotSpec, arguments: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    """The bot's process, with three pipes. Crashed names the command and the reason if it cannot be started."""
    words = [*bot.manifest.command, *arguments]
    if words[0] == "python3" and shutil.which("python3") is None:
        words[0] = sys.executable  # on Windows it has another name
    elif "/" in words[0]:
        words[0] = os.path.join(bot.folder, words[0])  # noqa: PTH118 - an absolute path stays as it is
    known = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT", "TEMP") if name in os.environ}
    environment = {**known, "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=bot.folder,
            env=environment,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise Crashed(f"cannot start `{shell_text(words)}`: {error.strerror}", hint=START_HINT) from None


class PortableChannel:
    """The pipes of a bot's process; a `Channel`. `limit` and `kept_stderr` as those of `ProcessChannel`."""

    def __init__(self, process: "subprocess.Popen[bytes]", *, limit: int, kept_stderr: int = 2 * KEPT_STDERR) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.cpu: Callable[[], float] = lambda: 0.0
        self.delayed_s: Callable[[], float] = lambda: 0.0
        self.is_asleep: Callable[[], bool] = lambda: False
        self.taken_s = 0.0
        self.origin = f"`{shell_text(map(str, process.args))}`"  # type: ignore[arg-type]
        self._process, self._stdin, self._limit = process, process.stdin, limit
        self._stderr = BoundedLog(kept_stderr // 2)
        self._news = threading.Condition()
        self._buffer = b""
        self._is_stdout_open, self._is_cut, self._is_broken = True, False, False
        self._unsent: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unsent_lines = 0
        for work in (partial(self._read, process.stdout), partial(self._read_stderr, process.stderr), self._write):
            threading.Thread(target=work, daemon=True).start()

    def send(self, line: bytes, clock: MoveClock) -> None:
        """Write a whole line, as `ProcessChannel.send`."""
        with self._news:
            self._unsent_lines += 1
            self._unsent.put(line)
            while self._unsent_lines and not self._is_broken:
                self._news.wait(min(clock.wait_s(), _LOOK_S))
        if self._is_broken:
            raise self._crash()

    def receive(self, clock: MoveClock) -> bytes:
        """The next line, as `ProcessChannel.receive`."""
        with self._news:
            while (line := self._next_line()) is None:
                if not self._is_stdout_open:
                    raise self._crash()
                self._news.wait(min(clock.wait_s(), _LOOK_S))
        return line

    def pending(self) -> list[bytes]:
        """Lines that have arrived already, as `ProcessChannel.pending`."""
        with self._news:
            if len(self._buffer) > _AHEAD_LIMIT:
                raise MalformedReply("lines without end before a request", hint="speak only when asked")
            return list(iter(self._next_line, None))

    def wake(self) -> None:
        """Nothing: the bot was not stopped."""

    def rest(self) -> None:
        """Crashed if the bot has ended."""
        if self._process.poll() is not None:
            raise self._crash()

    run_on = rest

    def stop(self) -> bool:
        """Whether the bot still runs; nothing stops it."""
        return self._process.poll() is None

    def stderr(self) -> str:
        """As `ProcessChannel.stderr`."""
        return self._stderr.text()

    def stderr_bytes(self) -> int:
        """As `ProcessChannel.stderr_bytes`."""
        return self._stderr.total

    def pids(self) -> set[int]:
        """The bot's own process."""
        return {self._process.pid}

    def copy_stderr(self, log: BoundedLog) -> None:
        """As `ProcessChannel.copy_stderr`."""
        self._stderr.follower = log

    def close(self, grace_s: float) -> str:
        """End the bot, by force after `grace_s`; how it ended, in words."""
        self._unsent.put(None)
        ending = self._ending(grace_s)
        self._process.kill()
        self._process.wait()
        with self._news:
            self._news.notify_all()
        return ending or "was killed"

    def _next_line(self) -> bytes | None:
        """The next whole line, if there is one. MalformedReply for one that is too long; the rest of it is dropped."""
        line, end, rest = self._buffer.partition(b"\n")
        if self._is_cut:
            self._buffer, self._is_cut = rest, not end
            return self._next_line() if end else None
        if len(line) >= self._limit:
            self._buffer, self._is_cut = rest, not end
            got = line[:200].decode("utf-8", "backslashreplace")
            told = f"a line of more than {self._limit} bytes"
            raise MalformedReply(told, hint="answer with one short line", got=got)
        if not end:
            return None
        self._buffer = rest
        self._news.notify_all()
        return line

    def _read(self, pipe: IO[bytes]) -> None:
        for data in _pieces(pipe):
            with self._news:
                self._buffer += data
                self._news.notify_all()
                self._news.wait_for(self._has_room)
        with self._news:
            self._is_stdout_open = False
            self._news.notify_all()

    def _has_room(self) -> bool:
        return len(self._buffer) <= _AHEAD_LIMIT + self._limit or self._process.poll() is not None

    def _read_stderr(self, pipe: IO[bytes]) -> None:
        for data in _pieces(pipe):
            self._stderr.add(data)

    def _write(self) -> None:
        """One line after the other; the end of the bot's input after the last."""
        while (line := self._unsent.get()) is not None:
            try:
                while line and not self._is_broken:
                    line = line[self._stdin.write(line) :]
            except OSError:
                self._is_broken = True
            with self._news:
                self._unsent_lines -= 1
                self._news.notify_all()
        with self._news:
            self._is_broken = True
        self._stdin.close()

    def _ending(self, patience_s: float) -> str:
        """The end of the process, in words; empty if it still runs after `patience_s`."""
        deadline_s = time.monotonic() + patience_s
        while (code := self._process.poll()) is None:
            if time.monotonic() > deadline_s:
                return ""
            time.sleep(0.002)
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def _crash(self) -> Crashed:
        ending = self._ending(_CRASH_S) or "closed its stdin or stdout while still running"
        return Crashed(f"the bot {ending}", hint="see the bot's stderr")


Channel = ProcessChannel | PortableChannel | ScriptedChannel
"""The lines to and from one bot."""


def _pieces(pipe: IO[bytes]) -> Iterator[bytes]:
    """All that comes out of a pipe, until its end."""
    with pipe:
        while data := pipe.read(READ_SIZE):
            yield data
