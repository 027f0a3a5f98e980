"""A command of arena in a child process, for a script or a notebook: what it prints, how far it is, and its errors.

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
            _listen(child, told, players, heard)
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


def _listen(
    child: "subprocess.Popen[bytes]", told: IO[bytes], players: Switchboard | None, heard: OnCounts | None
) -> None:
    """Hear progress and serve the players until the child has closed its end."""
    while True:
        with selectors.DefaultSelector() as selector:
            for one in (told, *(players.sockets if players else ())):
                selector.register(one, selectors.EVENT_READ)
            for key, _ in selector.select(_LOOK_EVERY_S):
                if key.fileobj is not told:
                    assert players is not None, "only players have sockets"
                    players.serve(key.fileobj)  # type: ignore[arg-type]
                elif not _hear(told, heard):
                    return
        if child.poll() is not None:
            return


def _hear(told: IO[bytes], heard: OnCounts | None) -> bool:
    """Pass on what has arrived, the latest; whether there may be more."""
    lines = os.read(told.fileno(), 1 << 16).splitlines()
    latest: dict[str, int] = {}
    with contextlib.suppress(ValueError, IndexError):  # half a line; the next one is not far
        latest = json.loads(lines[-1])
    if latest and heard is not None:
        heard(latest["done"], latest["total"])
    return bool(lines)


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
