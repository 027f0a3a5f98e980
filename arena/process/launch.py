"""How a bot becomes a process, and how everything it started ends again.

Rule: a bot gets three pipes, a clean environment, a session and a process group of its own, and nothing inherited. It
dies with the thread that started it (`setpriv --pdeathsig`, util-linux), so start bots only from a long-lived thread.
The sandbox will live here; until then every result says isolation "none".
"""

import contextlib
import os
import shutil
import signal
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from arena.errors import Crashed
from arena.process.clock import cpu_clock
from arena.process.manifest import BotSpec

ISOLATION: Final = "none"
_OOM_SCORE: Final = "800"
"""Between 0 and 1000: when memory runs out the kernel shall take the bot, never the referee."""


class BotProcess:
    """A running bot: file descriptors of its pipes, its CPU clock, and its end."""

    def __init__(self, popen: "subprocess.Popen[bytes]") -> None:
        assert popen.stdin is not None
        assert popen.stdout is not None
        assert popen.stderr is not None
        self._popen = popen
        self.pid = popen.pid
        self.stdin = popen.stdin.fileno()
        self.stdout = popen.stdout.fileno()
        self.stderr = popen.stderr.fileno()
        self.cpu = cpu_clock(popen.pid)

    def wait_for_end(self, patience_s: float) -> str:
        """How the process ended, in words; empty if it still runs after `patience_s`."""
        try:
            code = self._popen.wait(patience_s)
        except subprocess.TimeoutExpired:
            return ""
        if code < 0:
            return f"was ended by signal {-code} ({signal.Signals(-code).name})"
        return f"ended with exit code {code}"

    def end(self, grace_s: float) -> str:
        """Wait `grace_s` for the process to end by itself, then kill and reap its whole process group."""
        with contextlib.suppress(BrokenPipeError):
            self._popen.stdin.close()  # type: ignore[union-attr]
        ending = self.wait_for_end(grace_s) if grace_s > 0 else ""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait()
        return ending or "was killed"

    def close_pipes(self) -> None:
        """Give the file descriptors back."""
        for pipe in (self._popen.stdout, self._popen.stderr):
            pipe.close()  # type: ignore[union-attr]


def start(bot: BotSpec, arguments: tuple[str, ...] = ()) -> BotProcess:
    """Start the bot. Crashed names the command, the folder and the reason if it cannot be started."""
    command = [*bot.manifest.command, *arguments]
    environment = clean_environment()
    program = shutil.which(_from_folder(command[0], bot.folder), path=environment["PATH"])
    if program is None:
        raise Crashed(
            f"cannot start `{' '.join(command)}` in {bot.folder}: no program {command[0]!r} there or on the PATH",
            hint=f"install {command[0]!r}, or correct `command` in bot.yaml",
        )
    try:
        popen = subprocess.Popen(
            [*_die_with_parent(), program, *command[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=bot.folder,
            env=environment,
            bufsize=0,
            start_new_session=True,
        )
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        raise Crashed(f"cannot start `{' '.join(command)}` in {bot.folder}: {error}") from None
    with contextlib.suppress(OSError):
        Path(f"/proc/{popen.pid}/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
    return BotProcess(popen)


def clean_environment() -> dict[str, str]:
    """All the environment a bot or its build gets: no tokens, no settings of ours; Python made reproducible."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.environ.get("HOME", "/"),
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _from_folder(program: str, folder: str) -> str:
    """A program given by a path is meant from the bot's folder, as the shell would take it there."""
    return os.path.join(folder, program) if "/" in program else program  # noqa: PTH118 - "./x" stays as written


@cache
def _die_with_parent() -> tuple[str, ...]:
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()
