"""Lines to and from one bot process, always with a deadline on the whole line, never with unbounded memory.

Rule: one blocking poll loop. Writes never block, stderr is drained in the same loop, and nothing waits without asking
the clock.
"""

import contextlib
import fcntl
import math
import os
import random
import select
import struct
import termios
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from arena.errors import Crashed, MalformedReply, Shortage
from arena.process.clock import MoveClock
from arena.process.death import judge
from arena.process.process import BotProcess
from arena.process.standstill import Standstill
from arena.process.suspension import WATCH
from arena.text import printable

READ_SIZE: Final = 1 << 16
_AHEAD_LIMIT: Final = 1 << 18
"""Bytes that a bot may write before a request, and again while the referee is writing it."""
_CRASH_S: Final = 0.2
"""Longest wait for the exit code of a bot whose pipes have ended."""
_SHOWN_OF_OVERLONG: Final = 200
_TICK_S: Final = 0.002
_MEMORY_LOOK_S: Final = 0.02
"""Time on move, in one or several moves, between two checks of a bot's memory: too short to touch 50 MiB."""
_ALIVE_S: Final = 0.1
"""Time on move after which process and pipes of the bot are checked; the end of a pipe is seen at once."""
QUICK_S: Final = 0.005
"""Wait for an answer before the other bots of the match are suspended.

More than the 4 ms between two ticks of most kernels: a wait that may end before the next tick programs the timer of its
core twice, and on a virtual machine that costs more than the wait itself.
"""
_LONGEST_WAIT_S: Final = 0.05
KEPT_STDERR: Final = 8 << 10
_READABLE: Final = select.POLLIN | select.POLLHUP | select.POLLERR


class BoundedLog:
    """A log of the first and the last `size` bytes of a stream; a `follower` gets all bytes added from now on."""

    def __init__(self, size: int = KEPT_STDERR) -> None:
        self._size = size
        self._head = b""
        self._tail = b""
        self.total = 0
        self.follower: BoundedLog | None = None

    def add(self, data: bytes) -> None:
        """Append the next bytes of the stream."""
        if self.follower is not None:
            self.follower.add(data)
        self.total += len(data)
        room = self._size - len(self._head)
        self._head += data[:room]
        if room < len(data) and self._size:
            self._tail = (self._tail + data[room:])[-self._size :]

    def text(self, start: int = 0, end: int | None = None) -> str:
        """Return the kept bytes from `start` to `end` as text, with a note of the number of bytes left out between.

        Empty if none of them was kept.
        """
        end, tail_at = self.total if end is None else end, self.total - len(self._tail)
        head, tail = self._head[start:end], self._tail[max(0, start - tail_at) : max(0, end - tail_at)]
        left_out = end - start - len(head) - len(tail) if head or tail or not self._size else 0
        gap = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
        text = (head + gap + tail).decode("utf-8", "backslashreplace")
        return printable(text, keep="\n\t")  # no terminal escapes: a bot must not control the screen of a user


class Channel:
    """The interface to one bot by lines, with the defaults for a bot that has no process.

    `cpu`: returns the CPU seconds used so far; `delayed_s`: the seconds it waited for a core; `is_asleep`: True if no
    thread of the bot runs, is ready to run, or waits for memory that was swapped out; `taken_s`: CPU seconds used after
    it was seen stopped; `origin`: command and folder, for messages to its author; `stderr_log`: its stderr so far.
    """

    def __init__(self, cpu: Callable[[], float], origin: str, stderr_log: BoundedLog) -> None:
        self.cpu, self.origin, self.stderr_log = cpu, origin, stderr_log
        self.delayed_s: Callable[[], float] = lambda: 0.0
        self.is_asleep: Callable[[], bool] = lambda: False
        self.taken_s = 0.0

    def send(self, line: bytes, clock: MoveClock) -> None:
        """Write a whole line."""
        raise NotImplementedError

    def receive(self, clock: MoveClock) -> bytes:
        """Return the next line, without its newline."""
        raise NotImplementedError

    def pending(self) -> list[bytes]:
        """Return the lines that have arrived, without waiting."""
        raise NotImplementedError

    def close(self, grace_s: float) -> str:
        """End the bot, by force after `grace_s`; return how it ended, in words."""
        raise NotImplementedError

    def before_wait(self, stop_others: Callable[[], object] | None) -> None:
        """Set the function that is called before each wait for the bot that is longer than QUICK_S; None: no call."""

    def wake(self) -> None:
        """Resume a stopped bot: it is on move."""

    def rest(self) -> None:
        """Suspend the bot after its answer, until `wake`."""

    def run_on(self) -> None:
        """Keep the bot running after its answer; by default suspend it, as `rest`."""
        self.rest()

    def stop(self) -> bool:
        """Suspend the bot; return False if it has ended (the next request raises Crashed)."""
        return True

    def pids(self) -> set[int]:
        """Return the process ids of the bot, without those of its sandbox."""
        return set()

    def stderr(self) -> str:
        """Return head and tail of what the bot wrote to its stderr."""
        return self.stderr_log.text()

    def stderr_bytes(self) -> int:
        """Return the number of bytes that the bot wrote to its stderr, as far as they were read."""
        return self.stderr_log.total

    def copy_stderr(self, log: BoundedLog) -> None:
        """Copy all further stderr to `log`, which replaces an earlier such log."""
        self.stderr_log.follower = log


class ProcessChannel(Channel):
    """A channel to a process by its three pipes.

    `limit`: bytes of the longest line; `kept_stderr`: bytes of stderr to keep, half from each end. With `may_ponder`
    the process is never suspended: it may think while others are on move. Otherwise `rest` suspends it, or it runs
    after `run_on` until `stop`. With `is_last` a death of the process is always the bot's fault, see `death`.
    """

    def __init__(
        self,
        process: BotProcess,
        *,
        limit: int,
        kept_stderr: int = 2 * KEPT_STDERR,
        may_ponder: bool = False,
        is_last: bool = False,
    ) -> None:
        self._process, self._group = process, process.group
        super().__init__(self._group.cpu, process.origin, BoundedLog(kept_stderr // 2))
        self.delayed_s, self.is_asleep = self._group.delayed_s, self._group.is_asleep
        self._limit = limit
        self._lines: deque[bytes] = deque()
        self._partial = self._overlong = b""
        self._is_cut = False
        self._taken = 0
        self._may_ponder = may_ponder
        self._stop_others: Callable[[], object] | None = None
        self._standstill = Standstill(self._group)
        self._is_last = is_last
        self._looked_s = self._stopped_s = time.monotonic()
        self._is_stdout_open = True
        self._stdin_inode, self._stdout_inode = (os.fstat(fd).st_ino for fd in (process.stdin, process.stdout))
        self._poll = select.poll()
        for fd in (process.stdout, process.stderr):
            os.set_blocking(fd, False)
            self._poll.register(fd, select.POLLIN)
        os.set_blocking(process.stdin, False)
        WATCH.start()

    def before_wait(self, stop_others: Callable[[], object] | None) -> None:
        """See Channel.before_wait."""
        self._stop_others = stop_others

    def send(self, line: bytes, clock: MoveClock) -> None:
        """Write a whole line. Raises Crashed or OutOfTime.

        Output of the bot is read meanwhile, so that neither side waits for the other.
        """
        sent = self._write(line)
        if sent < len(line):
            self._send_rest(memoryview(line)[sent:], clock)

    def receive(self, clock: MoveClock) -> bytes:
        """Return the next line, without its newline; raises Crashed, OutOfTime, or MalformedReply if it is too long.

        Before a wait longer than QUICK_S calls the function set by `before_wait`.
        """
        if self._stop_others is not None and not self._lines:
            self._read_output(QUICK_S)
            if self._partial and not self._lines:  # Python's `print` writes the newline in a call of its own
                self._read_output(QUICK_S)
            if not self._lines or clock.elapsed_s > 2 * QUICK_S:  # lines that answer nothing must not delay the stop
                self._stop_others()
        if not self._lines:
            self._await_line(clock)
        return self._lines.popleft()

    def _await_line(self, clock: MoveClock) -> None:
        """Wait until a line has arrived; check memory, time and sleep meanwhile. Raises as `receive`."""
        wait_s = min(clock.budget_s, clock.wall_s)
        while not self._lines:
            if self._overlong:
                raise self._overlong_error()
            if not self._is_stdout_open:
                raise self._death_error()
            self._read_output(min(wait_s, max(0.0, clock.look_at_s - clock.elapsed_s)))
            if not self._lines and not self._overlong:
                self._check_memory()
                wait_s = clock.wait_s()
                if clock.elapsed_s >= clock.look_at_s:
                    self._check_sleep(clock)

    def _check_sleep(self, clock: MoveClock) -> None:
        """Check whether the bot sleeps and whether its process lives; the clock sets the next check at a random moment.

        A bot whose line has just arrived may wait for the referee, so its sleep does not count.
        """
        is_asleep = clock.idle_bank_s < math.inf and self.is_asleep()
        if is_asleep:
            self._read_output(0.0)
        if not self._lines and not self._overlong:
            if clock.elapsed_s >= _ALIVE_S:
                self._check_alive()
            clock.count_look(is_asleep=is_asleep, share=random.uniform(0.5, 1.0))  # noqa: S311 - no secret

    def pending(self) -> list[bytes]:
        """Return the whole lines that have arrived, without waiting; to be called before each request.

        Reads until the pipe is empty, so that no early line is taken for the answer to a later request. Suspends a
        running bot that wrote something: it might write again before the request is sent. Raises MalformedReply for an
        endless stream of lines or a line that is too long.
        """
        if not self._lines and not self._overlong and not self._poll.poll(0):
            return []
        taken_before, taken = self._taken, -1
        while taken != self._taken:
            taken = self._taken
            self._read_output(0.0)
            if taken != self._taken:
                self.stop()
            if taken - taken_before > _AHEAD_LIMIT:
                raise MalformedReply("lines without end before a request", hint="speak only when asked")
        if self._overlong and not self._lines:
            raise self._overlong_error()
        lines = list(self._lines)
        self._lines.clear()
        return lines

    def wake(self) -> None:
        """Resume the bot: it is on move."""
        if self._process.is_suspended:
            self.taken_s += self._standstill.end()
            self._process.resume()
            self._looked_s += time.monotonic() - self._stopped_s  # a suspended bot takes no memory

    def rest(self) -> None:
        """Suspend the bot until `wake`.

        Raises Crashed if it broke its limits or ended, even after an answer: nobody knows which came first.
        """
        if not self.stop():
            raise self._death_error()
        self._standstill.confirm()
        self._check_memory()

    def run_on(self) -> None:
        """Keep the bot running after its answer, which saves a signal; raises Crashed as `rest`."""
        if not self._group.is_running and not self._process.is_there():
            raise self._death_error()
        if time.monotonic() - self._looked_s >= _MEMORY_LOOK_S:
            self._check_memory()

    def stop(self) -> bool:
        """Suspend the bot, unless it may ponder; return False if it has ended (the next request raises Crashed)."""
        if self._may_ponder:
            return self._process.is_there()
        if self._process.is_suspended:
            return True
        self._stopped_s = time.monotonic()
        is_stopped = self._process.suspend()
        if is_stopped:
            self._standstill.begin()
        return is_stopped

    def pids(self) -> set[int]:
        """Return the process ids of the bot, without those of its sandbox."""
        return self._group.bot_pids()

    def close(self, grace_s: float) -> str:
        """Close the bot's stdin, wait `grace_s` for its end, kill its process group; return how it ended, in words."""
        if grace_s > 0:
            self._process.resume()
        self._process.close_stdin()
        ending = self._wait_for_end(grace_s)
        self._drain_stderr()
        self._process.kill()
        return ending or "was killed"

    def _send_rest(self, rest: memoryview, clock: MoveClock) -> None:
        """Write the rest of a request that the pipe did not take at once, and read output meanwhile.

        Other bots are stopped first; a suspended bot is woken for it and suspended again. Raises Crashed, OutOfTime,
        or MalformedReply for lines without end.
        """
        if self._stop_others is not None:
            self._stop_others()
        was_frozen = self._process.is_suspended
        self.wake()  # a frozen bot would never make room
        stdin = self._process.stdin
        taken_before = self._taken
        self._poll.register(stdin, select.POLLOUT)
        try:
            while rest:
                if self._taken - taken_before > _AHEAD_LIMIT:
                    raise MalformedReply("lines without end while the referee was writing a request")
                self._read_output(min(clock.wait_s(), _LONGEST_WAIT_S))
                self._check_alive()
                rest = rest[self._write(rest) :]
        finally:
            self._poll.unregister(stdin)
            clock.restart_looks()
            if was_frozen:
                self.stop()

    def _write(self, data: bytes | memoryview) -> int:
        """Write without blocking; return the number of bytes that the pipe took. Raises Crashed if it is closed."""
        try:
            return os.write(self._process.stdin, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise self._death_error() from None

    def _read_output(self, wait_s: float) -> None:
        """Wait for output at most `wait_s`; read each ready stream once and store its lines or its stderr."""
        for fd, event in self._poll.poll(wait_s * 1000):
            if not event & _READABLE or fd == self._process.stdin:
                continue  # a closed stdin shows at the next write
            try:
                data = os.read(fd, READ_SIZE)
            except BlockingIOError:
                continue
            if not data:
                self._poll.unregister(fd)
                self._is_stdout_open &= fd != self._process.stdout
            elif fd == self._process.stdout:
                self._split_lines(data)
            else:
                self.stderr_log.add(data)

    def _split_lines(self, data: bytes) -> None:
        """Add data from stdout to the lines; from a line that is too long on, drop all until that is raised as a fault.

        `_is_cut`: the end of the line that is too long has not arrived yet.
        """
        self._taken += len(data)
        if self._is_cut:
            _, end, data = data.partition(b"\n")
            self._is_cut = not end
        text = self._partial + data
        *lines, self._partial = text.split(b"\n")
        if self._overlong:
            lines = []
        elif len(text) >= self._limit:  # rare; only then a line can be too long
            whole = [*lines, self._partial]
            first = next((number for number, line in enumerate(whole) if len(line) >= self._limit), len(lines))
            if len(whole[first]) >= self._limit:
                self._overlong = whole[first][:_SHOWN_OF_OVERLONG]
            lines = lines[:first]
        if len(self._partial) >= self._limit:
            self._partial, self._is_cut = b"", True
        self._lines.extend(lines)

    def _drain_stderr(self) -> None:
        """Read what is left in stderr; at most 16 reads, because a daemon of the bot may still write to it."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(16):
                self.stderr_log.add(os.read(self._process.stderr, READ_SIZE))

    def _check_alive(self) -> None:
        """Raise Crashed if the bot's process has ended or closed its pipes.

        It may have ended while a child holds the pipes open. A bot that closed its stdin may still answer what it read.
        """
        if self._is_stdout_open and (self._process.ending() or not self._group.has_pipe_open(self._stdout_inode)):
            self._read_output(0.0)
            if not self._lines:
                raise self._death_error()
        if not self._group.has_pipe_open(self._stdin_inode):
            (unread,) = struct.unpack("i", fcntl.ioctl(self._process.stdin, termios.FIONREAD, bytes(4)))
            if unread:
                raise self._death_error()

    def _wait_for_end(self, patience_s: float) -> str:
        """Wait for the end of the process; return it in words, empty if it still runs after `patience_s`.

        Discards stdout meanwhile: a full pipe would keep the bot from ending.
        """
        deadline = time.monotonic() + patience_s
        while not (ending := self._process.ending()):
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return ""
            self._read_output(min(left_s, _TICK_S))
            self._lines.clear()
            self._partial = b""
        return ending

    def _check_memory(self) -> None:
        """Raise Crashed if the bot uses more memory than its limit; checked at most every 20 ms."""
        now_s = time.monotonic()
        if now_s - self._looked_s < _MEMORY_LOOK_S:
            return
        self._looked_s = now_s
        if violation := self._group.limit_violation():
            raise Crashed(
                f"the bot was stopped: {violation}", hint="the limits are those of the tournament and bot.yaml"
            )

    def _death_error(self) -> Crashed | Shortage:
        """Return the error for the end of the bot: Crashed if the bot is to blame, Shortage if the machine is.

        Waits up to 0.2 s for the exit code, and reads the rest of stderr.
        """
        ending = self._wait_for_end(_CRASH_S) or "closed its stdin or stdout while still running"
        self._drain_stderr()
        written = self.stderr()
        hint = self._group.hint_on(written) or ("see the bot's stderr" if written else "it wrote nothing to stderr")
        return judge(self._process.evidence(ending), hint, is_last=self._is_last)

    def _overlong_error(self) -> MalformedReply:
        """Return the fault for a line that is too long, and forget it: later lines count again."""
        begin, self._overlong = self._overlong, b""
        return MalformedReply(
            f"a line of more than {self._limit} bytes",
            hint="answer with one short line",
            got=begin.decode("utf-8", "backslashreplace"),
        )
