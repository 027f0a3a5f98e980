"""The engine as a child process: lines to it and from it, of a bounded length, and what is due while it is silent."""

import hashlib
import math
import os
import select
import shlex
import subprocess
import sys
import time
from pathlib import Path

LONGEST = 1 << 16  # bytes of a line; a longer one is dropped
now = time.monotonic


class EngineFault(Exception):
    """A sentence about what the engine did."""


def require_known(program, sha256):
    """Raise EngineFault unless the program lies in this folder, which the bot's hash covers, or has this SHA-256."""
    path = Path(program)
    try:
        is_own = Path.cwd() in path.resolve().parents
        digest = "" if is_own else hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise EngineFault(f"{program} cannot be read: {error.strerror}") from None
    if digest != sha256.lower() and not is_own:
        expected = f"--sha256={sha256}" if sha256 else "no --sha256 in the command of this bot"
        raise EngineFault(f"{program} has the SHA-256 {digest}, and there is {expected}")


class Child:
    """The process of an engine, which `command` starts (words as for a shell)."""

    def __init__(self, command, sha256):
        words = shlex.split(command)
        require_known(words[0], sha256)
        try:
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        except OSError as error:
            raise EngineFault(f"{words[0]} cannot be started: {error.strerror}") from None
        self.unread, self.is_dropping = b"", False
        os.set_blocking(self.process.stdin.fileno(), False)

    def send(self, line):
        """Write a line; EngineFault if the engine has ended, or does not read for a second."""
        data, until = f"{line}\n".encode(), now() + 1
        while data:
            try:
                data = data[os.write(self.process.stdin.fileno(), data) :]
            except BlockingIOError:
                if not select.select([], [self.process.stdin], [], max(0, until - now()))[1]:
                    raise EngineFault(f"the engine does not read: `{line[:40]}` could not be written") from None
            except OSError:
                raise self.fault_of_end() from None

    def lines(self, asked, end, *alarms):
        """Yield the lines of the engine for ever. Alarms, (monotonic seconds, function), go off in their order.

        At `end` a sentence says that the engine owes what it was `asked`; the referee's clock decides what follows.
        """

        def complain():
            sys.stderr.write(f"the engine has not answered `{asked[:100]}`, and its time is almost up\n")
            sys.stderr.flush()

        for until, act in (*alarms, (end, complain), (math.inf, None)):
            while (line := self.read_line(until)) is not None:
                yield line
            act()

    def read_line(self, until):
        """Return the next line, or None if there is none until then."""
        while now() < until:
            line, end, rest = self.unread.partition(b"\n")
            if end:
                self.unread, was_dropping, self.is_dropping = rest, self.is_dropping, False
                if not was_dropping:
                    return line.decode("utf-8", "replace").strip()
            else:
                if len(line) > LONGEST:
                    self.unread, self.is_dropping = b"", True
                self.read_more(until)
        return None

    def read_more(self, until):
        """Read what the engine writes until then, if anything; return True if it wrote."""
        wait_s = None if until == math.inf else max(0, until - now())
        if not select.select([self.process.stdout], [], [], wait_s)[0]:
            return False
        data = os.read(self.process.stdout.fileno(), LONGEST)
        if not data:
            raise self.fault_of_end()
        self.unread += data
        return True

    def drop_lines(self):
        """Drop what the engine wrote since its last answer."""
        self.unread = b""
        for _ in range(100):
            if not self.read_more(0):
                break
            self.unread = b""

    def fault_of_end(self):
        """Return the fault of an engine that has ended, or has closed a pipe."""
        try:
            code = self.process.wait(0.2)
            return EngineFault(
                f"the engine has ended, {f'by signal {-code}' if code < 0 else f'with exit code {code}'}"
            )
        except subprocess.TimeoutExpired:
            return EngineFault("the engine has closed its input or output")

    def end(self):
        """Ask the engine to end, and kill it if it does not within half a second."""
        try:
            self.send("quit")
            self.process.wait(0.5)
        except (EngineFault, subprocess.TimeoutExpired):
            self.process.kill()
