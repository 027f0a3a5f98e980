"""A command of arena in a child process, for a script or a notebook: its output, progress, warnings and errors.

Rule: the child is in a session of its own, so that Ctrl-C reaches the caller only, who then ends it. It hears the death
of its caller when it next tells its progress.
"""

import contextlib
import json
import logging
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import IO, Final

from arena.errors import CheckFailed, HarnessFault, Interrupted, MachineFault, SpecError
from arena.library.callable_bots import Switchboard

OnCounts = Callable[[int, int], object]
"""Hears about twice a second how many matches are done, and how many there are."""
log: Final = logging.getLogger("arena.library")
_LOOK_EVERY_S: Final = 0.5
_END_WITHIN_S: Final = 10.0
_PREFACE: Final = re.compile(r"\A(?:Usage: .*?\n(?:Error: )|error: )", re.DOTALL)
"""The beginning of a message that means something on a command line only."""
_KINDS: Final = {kind.exit_code: kind for kind in (CheckFailed, SpecError, Interrupted, HarnessFault, MachineFault)}


def command(*words: str) -> str:
    """Run `arena WORDS` in a process of its own, for all that has no function here; its stdout as text.

    The folder is the working folder, as on a command line. Raises the errors of `arena.errors` with what the command
    said on stderr: SpecError (exit code 2), CheckFailed (1), MachineFault (5), Interrupted (3), HarnessFault (4).
    """
    return run_command(list(words))


def run_command(arguments: list[str], players: Switchboard | None = None, heard: OnCounts | None = None) -> str:
    """Run the command; its stdout as text. Its error is raised as one of arena's, with the text that it printed.

    `players` are asked here meanwhile. An exception of theirs, of `heard`, or Ctrl-C ends the child and its bots first.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _progress() as (told, write_end):
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "arena", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            pass_fds=(write_end,),
            start_new_session=True,
            env={**os.environ, "ARENA_PROGRESS_FD": str(write_end)},
        )
        os.close(write_end)
        try:
            _listen(child, _Told(told, heard), players)
            child.wait()
        except BaseException:
            _end(child)
            raise
        printed, said = (_text(file) for file in (out, err))
    if child.returncode:
        kind = _KINDS.get(child.returncode, HarnessFault)
        raise kind(_PREFACE.sub("", said) or f"exit code {child.returncode}")
    if said:
        log.info("%s", said)
    return printed


class _Told:
    """Lines of JSON from the child: its progress, and its warnings."""

    def __init__(self, file: IO[bytes], heard: OnCounts | None) -> None:
        self.file = file
        self._heard = heard
        self._held = bytearray()

    def hear(self) -> bool:
        """Pass on what has arrived, of the progress the latest; whether there may be more."""
        data = os.read(self.file.fileno(), 1 << 16)
        *lines, self._held[:] = (self._held + data).split(b"\n")
        messages = [json.loads(line) for line in lines]
        for message in messages:
            if "warning" in message:
                warnings.warn(message["warning"], stacklevel=2)
        counts = [message for message in messages if "done" in message]
        if counts and self._heard is not None:
            self._heard(counts[-1]["done"], counts[-1]["total"])
        return bool(data)


def _listen(child: "subprocess.Popen[bytes]", told: _Told, players: Switchboard | None) -> None:
    """Hear the child and serve the players until it has closed its end, or is gone and its last words are heard."""
    is_gone = False
    while True:
        with selectors.DefaultSelector() as selector:
            for one in (told.file, *(players.sockets if players else ())):
                selector.register(one, selectors.EVENT_READ)
            for key, _ in selector.select(0 if is_gone else _LOOK_EVERY_S):
                if key.fileobj is not told.file:
                    assert players is not None, "only players have sockets"
                    players.serve(key.fileobj)  # type: ignore[arg-type]
                elif not told.hear():
                    return
        if is_gone:
            return
        is_gone = child.poll() is not None


@contextlib.contextmanager
def _progress() -> Iterator[tuple[IO[bytes], int]]:
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb", buffering=0) as told:
        yield told, write_end


def _end(child: "subprocess.Popen[bytes]") -> None:
    """End the child, which takes its bots along."""
    child.send_signal(signal.SIGTERM)
    try:
        child.wait(_END_WITHIN_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()
