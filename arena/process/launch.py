"""How a bot becomes a process, and how everything it started ends again.

Rule: a bot gets three pipes, a clean environment, a session and a process group of its own, and nothing inherited. It
dies with the thread that started it (`setpriv --pdeathsig`, util-linux), so start bots only from a long-lived thread.
The sandbox will live here; until then every result says isolation "none".
"""

import contextlib
import errno
import os
import re
import shlex
import shutil
import signal
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from arena.errors import Crashed, HarnessFault
from arena.process.clock import cpu_clock
from arena.process.manifest import BotSpec

ISOLATION: Final = "none"
_OOM_SCORE: Final = "800"
"""Between 0 and 1000: when memory runs out the kernel shall take the bot, never the referee."""
_KILL_S: Final = 5.0
"""How long a killed process may take to be gone: one that hangs in the kernel must not stop the referee."""
_AUTHORS_ERRORS: Final = frozenset(
    {
        errno.ENOENT,
        errno.EACCES,
        errno.EPERM,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.ENOEXEC,
        errno.ELOOP,
        errno.ENAMETOOLONG,
    }
)
"""Reasons not to start that lie in the bot; all others (no memory, no descriptors, no processes) are ours."""
_START_HINT: Final = (
    "a program must be made for this machine, or begin with a line like #!/usr/bin/python3 (without a carriage return)"
)
_ELF: Final = b"\x7fELF"
_FIRST_LINE: Final = 256
"""Bytes of a script's first line that the kernel reads (BINPRM_BUF_SIZE)."""


class BotProcess:
    """A running bot: file descriptors of its pipes, its CPU clock, and its end.

    `origin` tells its author what was started: the command, the folder, the program behind it. The process is reaped
    by `kill` and nowhere else, so that until then its id, and its group's, cannot be somebody else's.
    """

    def __init__(self, popen: "subprocess.Popen[bytes]", origin: str) -> None:
        assert popen.stdin is not None
        assert popen.stdout is not None
        assert popen.stderr is not None
        self._popen = popen
        self.origin = origin
        self.pid = popen.pid
        self.stdin = popen.stdin.fileno()
        self.stdout = popen.stdout.fileno()
        self.stderr = popen.stderr.fileno()
        self.cpu = cpu_clock(popen.pid)

    def ending(self) -> str:
        """How the process ended, in words; empty while it runs."""
        try:
            ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return "ended"  # reaped by a sweep of ours, so nobody knows how
        if ended is None:
            return ""
        if ended.si_code == os.CLD_EXITED:
            return f"ended with exit code {ended.si_status}"
        return f"was ended by signal {ended.si_status}{_signal_name(ended.si_status)}"

    def close_stdin(self) -> None:
        """Let the bot see the end of its input."""
        self._popen.stdin.close()  # type: ignore[union-attr]

    def kill(self) -> None:
        """Kill the process and its whole group, reap it, give its pipes back."""
        if self._popen.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(_KILL_S)
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            pipe.close()  # type: ignore[union-attr]


def start(bot: BotSpec, arguments: tuple[str, ...] = ()) -> BotProcess:
    """Start the bot. Crashed names the command, the folder, the program and the reason if it cannot be started."""
    command = [*bot.manifest.command, *arguments]
    _insist_on_folder(bot)
    environment = clean_environment()
    program = _program(command, bot.folder, environment["PATH"])
    origin = _origin(command, bot.folder, program)
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
    except OSError as error:
        if error.errno not in _AUTHORS_ERRORS:
            raise
        raise Crashed(f"cannot start {origin}: {error.strerror}: {error.filename}", hint=_START_HINT) from None
    with contextlib.suppress(OSError):
        Path(f"/proc/{popen.pid}/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
    return BotProcess(popen, origin)


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


def _insist_on_folder(bot: BotSpec) -> None:
    """A folder that vanished after it was read is not the bot's fault."""
    try:
        Path(bot.folder).stat()
    except FileNotFoundError:
        raise HarnessFault(f"{bot.folder}: the folder of {bot.label} is gone") from None
    except OSError:
        return  # the start will say it


def _program(command: list[str], folder: str, path: str) -> str:
    """The file that runs as the first word of `command`. Crashed tells why there is none."""
    wanted = _from_folder(command[0], folder)
    program = shutil.which(wanted, path=path)
    if program is None:
        what = f"cannot start `{shlex.join(command)}` in {folder}: "
        if Path(wanted).is_file() and "/" in wanted:
            raise Crashed(f"{what}{wanted} is not executable", hint=f"run `chmod +x {wanted}` and submit it again")
        raise Crashed(
            f"{what}no program {command[0]!r} there or on the PATH",
            hint=f"install {command[0]!r}, or correct `command` in bot.yaml",
        )
    refusal = _refusal(program, folder)
    if refusal:
        raise Crashed(f"cannot start `{shlex.join(command)}` in {folder}: {refusal}", hint=_START_HINT)
    return program


def _refusal(program: str, folder: str) -> str:
    """Why the kernel will not run this file, as far as its first line tells; setpriv would give it to a shell."""
    interpreter = _interpreter(program)
    if interpreter and not Path(folder, re.split(r"[ \t]", interpreter)[0]).exists():
        shown = interpreter.encode("unicode_escape").decode()
        return f"the first line of {program} asks for the interpreter {shown}, which is not on this machine"
    if not interpreter and not _first_line(program).startswith(_ELF):
        return f"{program} is neither a program for Linux (ELF) nor a script that begins with #!"
    return ""


def _origin(command: list[str], folder: str, program: str) -> str:
    interpreter = _interpreter(program)
    by = f"{program}, interpreter {interpreter}" if interpreter else program
    return f"`{shlex.join(command)}` in {folder} (program {by})"


def _interpreter(program: str) -> str:
    """What the first line of a script names after `#!`, a carriage return included; empty for everything else."""
    first = _first_line(program)
    if not first.startswith(b"#!"):
        return ""
    return first[2:].split(b"\n")[0].strip(b" \t").decode("utf-8", "backslashreplace")


def _first_line(program: str) -> bytes:
    """The beginning of the file; that of a program if it may be run, but not read."""
    try:
        with Path(program).open("rb") as file:
            return file.read(_FIRST_LINE)
    except OSError:
        return _ELF


def _signal_name(number: int) -> str:
    """The name in brackets; real-time signals have none."""
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:
        return ""


@cache
def _die_with_parent() -> tuple[str, ...]:
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()
