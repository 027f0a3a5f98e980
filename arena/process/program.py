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


def find_program(
    command: list[str], folder: BotFolder, path: str, *, is_visible: Callable[[Path], bool]
) -> tuple[str, str]:
    """The file that runs as the first word of `command`, in `folder` or on `path`; and both in words for its author.

    Crashed tells why there is none. `is_visible` tells of a file outside `folder` whether the bot will see it.
    """
    place = f"`{shell_text(command)}` in {folder.name}"
    # a program given by a path is meant from the bot's folder, as the shell would take it there
    wanted = os.path.join(folder.path, command[0]) if "/" in command[0] else command[0]  # noqa: PTH118 - "./x" stays
    program = shutil.which(wanted, path=path)
    told = folder.as_written(program or wanted)
    if program is None and "/" in wanted and Path(wanted).is_file():
        where = "" if folder.given else " in the bot's folder"
        hint = f"run `chmod +x {shlex.quote(told)}`{where} and try again"
        raise Crashed(f"cannot start {place}: {told} is not executable", hint=hint)
    if program is None:
        raise Crashed(
            f"cannot start {place}: no program {command[0]!r} there or on the PATH",
            hint=f"install {command[0]!r}, or correct `command` in bot.yaml",
        )
    first = _first_line(program)
    interpreter = first[2:].strip(b" \t").decode("utf-8", "backslashreplace") if first.startswith(b"#!") else ""
    if not _is_inside(program, folder.path) and not is_visible(Path(program)):
        refusal = f"{program} is not among what bots see of this machine; `arena doctor` lists that"
    elif interpreter:
        refusal = _interpreter_refusal(interpreter, told, folder.path, is_visible)
    else:
        strange = f"{told} is neither a program for Linux (ELF) nor a script that begins with #!"
        refusal = "" if first.startswith(_ELF) else strange
    if refusal:
        raise Crashed(f"cannot start {place}: {refusal}", hint=START_HINT)
    return program, f"{place} (program {told}{interpreter and ', interpreter '}{interpreter})"


def shell_text(command: Iterable[str]) -> str:
    """The command as one would type it, the beginning of a long one."""
    text = shlex.join(command)
    return printable(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _interpreter_refusal(interpreter: str, told: str, folder: str, is_visible: Callable[[Path], bool]) -> str:
    """Why the kernel will not run a script with these words after `#!`; a wrapper would give it to a shell."""
    name = re.split(r"[ \t]", interpreter)[0]
    asks = f"the first line of {told} asks for the interpreter {interpreter.encode('unicode_escape').decode()}"
    if not Path(folder, name).exists():
        return f"{asks}, which is not on this machine"
    return "" if _is_inside(name, folder) or is_visible(Path(name)) else f"{asks}, which bots do not see"


def _is_inside(program: str, folder: str) -> bool:
    return not Path(program).is_absolute() or Path(program).is_relative_to(folder)


def _first_line(program: str) -> bytes:
    """The first line, a carriage return included, or its beginning; that of a program if it may not be read."""
    try:
        with Path(program).open("rb") as file:
            return file.read(_FIRST_LINE).split(b"\n")[0]
    except OSError:
        return _ELF


def sandbox_hint(stderr: str, *, processes: bool) -> str:
    """The sandbox's part in what a bot wrote at its end; empty if nothing points to it."""
    hints = _HINTS if processes else _HINTS_WITHOUT_PROCESSES
    return next((hint for pattern, hint in hints.items() if re.search(pattern, stderr, re.IGNORECASE)), "")
