"""The floor: what the machine itself asks for moving the same lines to the same bots and back.

Rule: no code of the referee runs here. `Bare` only writes and reads; `Loop` is the bare loop of the protocol's
comparison with other programs: encode, write, poll with a deadline, read, decode, look the action up.
"""

import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from recording import Recording

from arena.process.launch import clean_environment
from arena.process.manifest import BotSpec

_READ: Final = 1 << 16
_DEADLINE_MS: Final = 1000


class Cost(msgspec.Struct, frozen=True):
    """Seconds for one request: wall time, CPU time of this process, CPU time of the bots."""

    wall_s: float
    own_s: float
    bots_s: float


class Pipes:
    """A running bot and the two ends of its pipes. Its stderr goes nowhere."""

    def __init__(self, bot: BotSpec) -> None:
        environment = clean_environment(os.environ.get("PATH", os.defpath), "/")
        program, *arguments = bot.manifest.command
        path = str(Path(bot.folder, program)) if "/" in program else shutil.which(program, path=environment["PATH"])
        assert path is not None, f"no program {program!r} on the PATH"
        self.process = subprocess.Popen(
            [path, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=bot.folder,
            env=environment,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin = self.process.stdin.fileno()
        self.stdout = self.process.stdout.fileno()

    def end(self) -> None:
        """Kill the bot and give the pipes back."""
        self.process.kill()
        self.process.communicate()


class Floor:
    """Two bots, by seat, and the lines that one recorded match sent them, in order."""

    def __init__(self, pipes: list[Pipes], recording: Recording) -> None:
        self.pids = [each.process.pid for each in pipes]
        self._lines = [(pipes[seat].stdin, pipes[seat].stdout, line) for seat, line in recording.requests]
        self._messages = [(into, out, json.loads(line)) for into, out, line in self._lines]
        self._polls = {each.stdout: _poll(each.stdout) for each in pipes}

    def bare(self) -> None:
        """All lines once: only os.write and os.read."""
        write, read = os.write, os.read
        for into, out, line in self._lines:
            write(into, line)
            read(out, _READ)

    def loop(self) -> None:
        """All requests once: encode, write, poll with a deadline, read, decode, look the action up."""
        encode, decode = msgspec.json.Encoder().encode, msgspec.json.Decoder(dict[str, Any]).decode
        for into, out, message in self._messages:
            os.write(into, encode(message) + b"\n")
            line = b""
            while not line.endswith(b"\n"):
                if not self._polls[out].poll(_DEADLINE_MS):
                    raise TimeoutError("an instant bot did not answer within a second")
                line += os.read(out, _READ)
            answer = decode(line)
            assert answer["id"] == message["id"]
            message["legal"][answer["action"]]


@contextmanager
def floor(bot: BotSpec, recording: Recording) -> Iterator[Floor]:
    """Both measures of the floor, with two processes of `bot` that end with the context."""
    pipes = [Pipes(bot), Pipes(bot)]
    try:
        yield Floor(pipes, recording)
    finally:
        for each in pipes:
            each.end()


def _poll(fd: int) -> select.poll:
    made = select.poll()
    made.register(fd, select.POLLIN)
    return made
