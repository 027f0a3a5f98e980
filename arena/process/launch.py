"""The start of a bot process, in a sandbox or (`--isolation none`) without.

Rule: a bot gets three pipes, a clean environment, a session and a process group of its own, and nothing inherited. It
dies with the thread that started it, so start bots only from a long-lived thread. A message names paths as the author
wrote them, not those of a sandbox or a copy, and comes before the start where it can.
"""

import contextlib
import errno
import os
import re
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from arena.errors import Crashed, HarnessFault
from arena.process.limits import DEFAULT_ISOLATION, Isolation, Limits, prefer_for_oom_kill, rlimits, set_rlimits
from arena.process.manifest import BotSpec
from arena.process.process import BotProcess, ProcessGroup, setpriv, spawn
from arena.process.sandbox import runtimes, sandbox
from arena.process.sandbox.sight import Sight, sight
from arena.text import printable

_AUTHORS_ERRORS: Final = {
    *(errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOTDIR),
    *(errno.EISDIR, errno.ENOEXEC, errno.ELOOP, errno.ENAMETOOLONG),
}
"""Reasons not to start that lie in the bot; all others (no memory, no descriptors, no processes) are ours."""
_UNREAD: Final = bytearray(1 << 18)
"""Buffer for data that is thrown away; threads may share it."""
START_HINT: Final = (
    "a program must be made for this machine, or begin with a line like #!/usr/bin/python3 (without a carriage return)"
)
_ELF: Final = b"\x7fELF"
_SHOWN: Final = 300
"""Characters of a command in a message."""
_FIRST_LINE: Final = 256
"""Bytes of a script's first line that the kernel reads (BINPRM_BUF_SIZE)."""


class Confinement(msgspec.Struct, frozen=True):
    """The isolation of a bot and its limits."""

    isolation: Isolation = DEFAULT_ISOLATION
    limits: Limits = Limits(processes=False, scratch_mib=0)


STRICTEST: Final = Confinement()


class BotFolder(NamedTuple):
    """The folder in which a bot runs, and the same as its author wrote it: a bot runs from a copy.

    `given` is empty where nobody knows what the author wrote.
    """

    path: str
    given: str = ""

    @property
    def name(self) -> str:
        """Name of the folder for a message."""
        return self.given or "the bot's folder"

    def as_written(self, file: str) -> str:
        """Return the path of a file with the author's folder in place of the copy; other paths unchanged."""
        if not file.startswith(f"{self.path}/"):
            return file
        return os.path.join(self.given or ".", os.path.relpath(file, self.path))  # noqa: PTH118 - "./x" stays as written


def start(bot: BotSpec, arguments: tuple[str, ...] = (), confinement: Confinement = STRICTEST) -> BotProcess:
    """Start the bot; raises Crashed, with command, folder, program and reason, if it cannot be started.

    Raises HarnessFault if its folder is gone or no sandbox can be set up.
    """
    try:
        Path(bot.folder).stat()
    except FileNotFoundError:
        raise HarnessFault(f"{bot.folder}: the folder of {bot.label} is gone") from None
    except OSError:
        pass  # the start reports it
    if confinement.isolation == "sandbox":
        _preload(bot)
    folder = BotFolder(bot.folder, bot.given_folder)
    return start_command([*bot.manifest.command, *arguments], folder, confinement)


def start_command(
    command: list[str], folder: BotFolder, confinement: Confinement, *, is_build: bool = False
) -> BotProcess:
    """Start a command in `folder`, sandboxed or not; a build may write to the folder. Raises as `start`."""
    if confinement.isolation == "sandbox":
        path = runtimes.search_path()
        program, origin = find_program(command, folder, path, sight(folder.path))
        words = [command[0] if "/" in command[0] else program, *command[1:]]
        environment = clean_environment(path, "/tmp" if is_build else "/")  # noqa: S108 - the sandbox's
        popen, group = sandbox.start_sandboxed(
            words, Path(folder.path), environment, confinement.limits, is_build=is_build
        )
        return BotProcess(popen, group, origin)
    # without a sandbox, for trusted bots: a clean environment, a session of its own, some limits
    path = os.environ.get("PATH", os.defpath)
    program, origin = find_program(command, folder, path, None)
    dies_with_us = [setpriv() or "", "--pdeathsig", "KILL", "--"] if setpriv() else []
    environment = clean_environment(path, os.environ.get("HOME", "/"))
    try:
        popen = spawn([*dies_with_us, program, *command[1:]], folder.path, environment)
    except OSError as error:
        if error.errno not in _AUTHORS_ERRORS:
            raise
        what = f"{error.strerror}: {folder.as_written(str(error.filename))}"
        raise Crashed(f"cannot start {origin}: {what}", hint=START_HINT) from None
    prefer_for_oom_kill(popen.pid)
    set_rlimits(popen.pid, rlimits(confinement.limits))
    return BotProcess(popen, ProcessGroup(popen.pid, confinement.limits), origin)


def clean_environment(path: str, home: str) -> dict[str, str]:
    """Return the whole environment of a bot or a build: nothing of the harness's own; Python is reproducible."""
    return {
        "PATH": path,
        "HOME": home,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _preload(bot: BotSpec) -> None:
    """Read all files of the bot, so that all are in the page cache.

    Otherwise a bot could pass data to its next process, or to another match, by the choice of cached files. Of a script
    outside the bot store only the script is read. Links are not followed; only plain files are read.
    """
    source, folder = Path(bot.source), Path(bot.folder)
    is_script = source.parent == folder and source.is_file()
    for place, _, names in [(folder, [], [source.name])] if is_script else os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError), open(f"{place}/{name}", "rb", 0, opener=_open_without_waiting) as file:
                while stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.readinto(_UNREAD):
                    pass


def _open_without_waiting(path: str, _flags: int) -> int:
    """Open a file for reading, as an opener of `open`: follows no link and does not wait for a pipe."""
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def find_program(command: list[str], folder: BotFolder, path: str, sight: Sight | None) -> tuple[str, str]:
    """Find the program for the first word of `command`, in `folder` or on `path`.

    Returns its path, and command, folder and program in words for the author. Raises Crashed if it cannot run.
    `sight`: the files that the bot will see; None means all files of this machine.
    """
    word = command[0]
    place = f"`{shell_text(command)}` in {folder.name}"
    # a relative path starts at the bot's folder, as in a shell there
    programs = [word] if "/" in word else [f"{entry}/{word}" for entry in path.split(":")]
    seen = [(program, _visible_file(program, folder.path, sight)) for program in programs]
    there = [(program, file) for program, file in seen if file is not None and file.is_file()]
    program, file = next(((name, target) for name, target in there if os.access(target, os.X_OK)), ("", Path()))
    shown_path = printable(folder.as_written(os.path.join(folder.path, program or word)))  # noqa: PTH118 - "./x" stays
    if not program and "/" in word:
        if seen[0][1] is None:
            refusal = f"{shown_path} leads out of what bots see of this machine; `arena doctor` lists that"
            raise Crashed(f"cannot start {place}: {refusal}", hint=START_HINT)
        if there:
            where = "" if folder.given else " in the bot's folder"
            hint = f"run `chmod +x {shlex.quote(shown_path)}`{where} and try again"
            raise Crashed(f"cannot start {place}: {shown_path} is not executable", hint=hint)
    if not program:
        raise Crashed(
            f"cannot start {place}: no program {word!r} there or on the PATH",
            hint=f"install {word!r}, or correct `command` in bot.yaml",
        )
    first = _first_line(file)
    interpreter = first[2:].strip(b" \t").decode("utf-8", "backslashreplace") if first.startswith(b"#!") else ""
    if interpreter:
        refusal = _interpreter_refusal(interpreter, shown_path, folder.path, sight)
    else:
        strange = f"{shown_path} is neither a program for Linux (ELF) nor a script that begins with #!"
        refusal = "" if first.startswith(_ELF) else strange
    if refusal:
        raise Crashed(f"cannot start {place}: {refusal}", hint=START_HINT)
    if "/" not in word and not program.startswith("/usr/"):
        shown_path = word  # a path below a home folder, say, means nothing to the author
    started = f"program {shown_path}, interpreter {interpreter}" if interpreter else f"program {shown_path}"
    return os.path.join(folder.path, program), f"{place} ({started})"  # noqa: PTH118 - "./x" stays as written


def shell_text(command: Iterable[str]) -> str:
    """Return the command in the syntax of a shell, cut after 300 characters."""
    text = shlex.join(command)
    return printable(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _interpreter_refusal(interpreter: str, shown_path: str, folder: str, sight: Sight | None) -> str:
    """Return why the kernel cannot run a script with `interpreter` after `#!`; empty if it can."""
    asks = f"the first line of {shown_path} asks for the interpreter {interpreter.encode('unicode_escape').decode()}"
    file = _visible_file(re.split(r"[ \t]", interpreter)[0], folder, sight)
    if file is None:
        return f"{asks}, which bots do not see"
    return "" if file.exists() else f"{asks}, which is not on this machine"


def _visible_file(program: str, folder: str, sight: Sight | None) -> Path | None:
    """Return the file at a path that starts at the bot's folder; None if the bot does not see that place."""
    return Path(folder, program) if sight is None else sight.find(program)


def _first_line(program: Path) -> bytes:
    """Return the first line of a program, at most 256 bytes; the magic number of ELF if it cannot be read."""
    try:
        with program.open("rb") as file:
            return file.read(_FIRST_LINE).split(b"\n")[0]
    except OSError:
        return _ELF
