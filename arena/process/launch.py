"""How a bot becomes a process: the one way, whatever stands around it.

Rule: a bot gets three pipes, a clean environment, a session and a process group of its own, and nothing inherited. It
dies with the thread that started it, so start bots only from a long-lived thread.
"""

import errno
import os
import stat
from pathlib import Path
from typing import Final

import msgspec

from arena.errors import Crashed, HarnessFault
from arena.process.bare import start_bare
from arena.process.limits import DEFAULT_ISOLATION, Isolation, Limits
from arena.process.manifest import BotSpec
from arena.process.process import BotProcess
from arena.process.program import START_HINT, BotFolder, describe, find_program
from arena.process.sandbox import box, runtimes

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
_UNREAD: Final = bytearray(1 << 18)
"""Nobody looks at it, so threads may share it."""


class Confinement(msgspec.Struct, frozen=True):
    """What stands around a bot, and what it may use there."""

    isolation: Isolation = DEFAULT_ISOLATION
    limits: Limits = Limits(processes=False, scratch_mib=0)


STRICTEST: Final = Confinement()


def start(bot: BotSpec, arguments: tuple[str, ...] = (), confinement: Confinement = STRICTEST) -> BotProcess:
    """Start the bot. Crashed names the command, the folder, the program and the reason if it cannot be started."""
    _insist_on_folder(bot)
    command = [*bot.manifest.command, *arguments]
    folder = BotFolder(bot.folder, bot.given_folder)
    if confinement.isolation == "sandbox":
        _warm(bot)
        return _start_boxed(command, folder, box.start, confinement.limits, home="/")
    return _start_bare(command, folder, confinement.limits)


def start_build(command: tuple[str, ...], folder: BotFolder, isolation: Isolation, limits: Limits) -> BotProcess:
    """Start a command that builds a bot in `folder`, which it may write to. Crashed as for `start`."""
    if isolation == "sandbox":
        return _start_boxed([*command], folder, box.start_build, limits, home="/tmp")  # noqa: S108 - the box's
    return _start_bare([*command], folder, limits)


def _start_boxed(
    command: list[str], folder: BotFolder, start_box: box.Start, limits: Limits, *, home: str
) -> BotProcess:
    path = runtimes.search_path()
    program = find_program(command, folder, path, is_visible=runtimes.is_visible)
    words = [command[0] if "/" in command[0] else program, *command[1:]]
    popen, body = start_box(words, Path(folder.path), clean_environment(path, home), limits)
    return BotProcess(popen, body, describe(command, folder, program), is_wrapped=True)


def _start_bare(command: list[str], folder: BotFolder, limits: Limits) -> BotProcess:
    path = os.environ.get("PATH", os.defpath)
    program = find_program(command, folder, path, is_visible=lambda _: True)
    origin = describe(command, folder, program)
    try:
        environment = clean_environment(path, os.environ.get("HOME", "/"))
        popen, body = start_bare([program, *command[1:]], folder.path, environment, limits)
    except OSError as error:
        if error.errno not in _AUTHORS_ERRORS:
            raise
        what = f"{error.strerror}: {folder.told(str(error.filename))}"
        raise Crashed(f"cannot start {origin}: {what}", hint=START_HINT) from None
    return BotProcess(popen, body, origin, is_wrapped=False)


def clean_environment(path: str, home: str) -> dict[str, str]:
    """All the environment a bot or its build gets: no tokens, no settings of ours; Python made reproducible."""
    return {
        "PATH": path,
        "HOME": home,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _warm(bot: BotSpec) -> None:
    """Read the bot's files, so that the kernel has all of them in memory.

    Which of them it has is a message that a bot's process could leave to its next one, or to another match. A script
    that is no folder of its own, and was not submitted, lies among files that are not the bot's.
    """
    source, folder = Path(bot.source), Path(bot.folder)
    if source.parent == folder and source.is_file():
        _read(str(source))
        return
    for place, _, names in os.walk(folder):
        for name in names:
            _read(f"{place}/{name}")


def _read(path: str) -> None:
    """All of a plain file, into nothing; no other thing is opened for long, no link followed."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            while os.readv(fd, [_UNREAD]):
                pass
    except OSError:
        return
    finally:
        os.close(fd)


def _insist_on_folder(bot: BotSpec) -> None:
    """A folder that vanished after it was read is not the bot's fault."""
    try:
        Path(bot.folder).stat()
    except FileNotFoundError:
        raise HarnessFault(f"{bot.folder}: the folder of {bot.label} is gone") from None
    except OSError:
        return  # the start will say it
