"""The program of a bot: the file behind its command, and messages for its author if it does not start or ends badly.

Rule: a message names paths as the author wrote them, not those of a sandbox or a copy, and comes before the start where
it can. A hint guesses from the bot's stderr and never judges: the author sees the stderr too.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from arena.errors import Crashed
from arena.text import printable

START_HINT: Final = (
    "a program must be made for this machine, or begin with a line like #!/usr/bin/python3 (without a carriage return)"
)
_HINTS: Final = {
    "read-only file system|EROFS": (
        "a bot's folder is read-only; bot.yaml may ask for a writable /tmp: `limits: {scratch_mib: 16}`"
    ),
    "name resolution|network is unreachable|getaddrinfo|EAI_AGAIN|address family not": "there is no network for bots",
    "MemoryError|cannot allocate memory|OutOfMemoryError|bad_alloc|heap out of memory": (
        "the memory of a bot is limited; bot.yaml may ask for more, up to what the tournament allows:"
        " `limits: {memory_mib: 512}`"
    ),
    "function not implemented|ENOSYS|Errno 38": (
        "bots do not have all system calls, such as those for locks, or for shared memory without a file;"
        ' protocol.md names them under "The process"'
    ),
    "can't start new thread|pthread_create|Resource temporarily unavailable": (
        "threads and processes are limited; bot.yaml may ask for more, up to what the tournament allows:"
        " `limits: {tasks: 64}`"
    ),
}
_HINTS_WITHOUT_PROCESSES: Final = {
    "fork|operation not permitted|EPERM|subprocess|spawn": (
        "bots may not start processes unless bot.yaml says `processes: true`; a shell script can end with"
        " `exec python3 bot.py` instead"
    ),
    **_HINTS,
}
_ELF: Final = b"\x7fELF"
_SHOWN: Final = 300
"""Characters of a command in a message."""
_FIRST_LINE: Final = 256
"""Bytes of a script's first line that the kernel reads (BINPRM_BUF_SIZE)."""


class BotFolder(NamedTuple):
    """The folder in which a bot runs, and the same as its author wrote it: a bot runs from a copy.

    `given` is empty where nobody knows what the author wrote.
    """

    path: str
    given: str = ""

    @property
    def name(self) -> str:
        """The folder in a message."""
        return self.given or "the bot's folder"

    def as_written(self, file: str) -> str:
        """A file in the folder as its author knows it; any other one as it is."""
        if not file.startswith(f"{self.path}/"):
            return file
        return os.path.join(self.given or ".", os.path.relpath(file, self.path))  # noqa: PTH118 - "./x" stays as written


def find_program(command: list[str], folder: BotFolder, path: str, *, is_visible: Callable[[Path], bool]) -> str:
    """The file that runs as the first word of `command`, in `folder` or on `path`. Crashed tells why there is none.

    `is_visible` tells of a file outside `folder` whether the bot will see it.
    """
    wanted = _from_folder(command[0], folder.path)
    program = shutil.which(wanted, path=path)
    what = f"cannot start `{shell_text(command)}` in {folder.name}: "
    if program is None:
        if Path(wanted).is_file() and "/" in wanted:
            told = folder.as_written(wanted)
            where = "" if folder.given else " in the bot's folder"
            hint = f"run `chmod +x {shlex.quote(told)}`{where} and try again"
            raise Crashed(f"{what}{told} is not executable", hint=hint)
        raise Crashed(
            f"{what}no program {command[0]!r} there or on the PATH",
            hint=f"install {command[0]!r}, or correct `command` in bot.yaml",
        )
    refusal = _refusal(program, folder, is_visible)
    if refusal:
        raise Crashed(f"{what}{refusal}", hint=START_HINT)
    return program


def shell_text(command: Iterable[str]) -> str:
    """The command as one would type it, the beginning of a long one."""
    text = shlex.join(command)
    return printable(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def describe_start(command: list[str], folder: BotFolder, program: str) -> str:
    """The command, its folder and its program, for the author of a bot that does not start."""
    interpreter = _interpreter(program)
    told = folder.as_written(program)
    by = f"{told}, interpreter {interpreter}" if interpreter else told
    return f"`{shell_text(command)}` in {folder.name} (program {by})"


def _from_folder(program: str, folder: str) -> str:
    """A program given by a path is meant from the bot's folder, as the shell would take it there."""
    return os.path.join(folder, program) if "/" in program else program  # noqa: PTH118 - "./x" stays as written


def _refusal(program: str, place: BotFolder, is_visible: Callable[[Path], bool]) -> str:
    """Why the kernel will not run this file, as far as its first line tells; a wrapper would give it to a shell."""
    folder, told = place.path, place.as_written(program)
    if not _is_inside(program, folder) and not is_visible(Path(program)):
        return f"{program} is not among what bots see of this machine; `arena doctor` lists that"
    interpreter = _interpreter(program)
    if interpreter:
        name = re.split(r"[ \t]", interpreter)[0]
        shown = interpreter.encode("unicode_escape").decode()
        if not Path(folder, name).exists():
            return f"the first line of {told} asks for the interpreter {shown}, which is not on this machine"
        if not _is_inside(name, folder) and not is_visible(Path(name)):
            return f"the first line of {told} asks for the interpreter {shown}, which bots do not see"
    if not interpreter and not _first_line(program).startswith(_ELF):
        return f"{told} is neither a program for Linux (ELF) nor a script that begins with #!"
    return ""


def _is_inside(program: str, folder: str) -> bool:
    return not Path(program).is_absolute() or Path(program).is_relative_to(folder)


def _interpreter(program: str) -> str:
    """The words after `#!` in the first line of a script, a carriage return included; empty for everything else."""
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


def sandbox_hint(stderr: str, *, processes: bool) -> str:
    """The sandbox's part in what a bot wrote at its end; empty if nothing points to it."""
    hints = _HINTS if processes else _HINTS_WITHOUT_PROCESSES
    return next((hint for pattern, hint in hints.items() if re.search(pattern, stderr, re.IGNORECASE)), "")
