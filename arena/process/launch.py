"""The start of a bot process, in a sandbox or (`--isolation none`) without.

Rule: a bot gets three pipes, a clean environment, a session and a process group of its own, and nothing inherited. It
dies with the thread that started it, so start bots only from a long-lived thread.
"""

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import Final

import msgspec

from arena.errors import Crashed, HarnessFault
from arena.process.group import ProcessGroup
from arena.process.limits import DEFAULT_ISOLATION, Isolation, Limits, prefer_for_oom_kill, rlimits, set_rlimits
from arena.process.manifest import BotSpec
from arena.process.process import BotProcess, setpriv, spawn
from arena.process.program import START_HINT, BotFolder, find_program
from arena.process.sandbox import runtimes, sandbox

_AUTHORS_ERRORS: Final = {
    *(errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOTDIR),
    *(errno.EISDIR, errno.ENOEXEC, errno.ELOOP, errno.ENAMETOOLONG),
}
"""Reasons not to start that lie in the bot; all others (no memory, no descriptors, no processes) are ours."""
_UNREAD: Final = bytearray(1 << 18)
"""Nobody looks at it, so threads may share it."""


class Confinement(msgspec.Struct, frozen=True):
    """The isolation of a bot and its limits."""

    isolation: Isolation = DEFAULT_ISOLATION
    limits: Limits = Limits(processes=False, scratch_mib=0)


STRICTEST: Final = Confinement()


def start(bot: BotSpec, arguments: tuple[str, ...] = (), confinement: Confinement = STRICTEST) -> BotProcess:
    """Start the bot. Crashed names the command, the folder, the program and the reason if it cannot be started."""
    try:
        Path(bot.folder).stat()
    except FileNotFoundError:
        raise HarnessFault(f"{bot.folder}: the folder of {bot.label} is gone") from None
    except OSError:
        pass  # the start will say it
    if confinement.isolation == "sandbox":
        _preload(bot)
    folder = BotFolder(bot.folder, bot.given_folder)
    return start_command([*bot.manifest.command, *arguments], folder, confinement)


def start_command(
    command: list[str], folder: BotFolder, confinement: Confinement, *, is_build: bool = False
) -> BotProcess:
    """Start a command in `folder`, which that of a build may write to. Crashed as for `start`."""
    if confinement.isolation == "sandbox":
        path = runtimes.search_path()
        program, origin = find_program(command, folder, path, is_visible=runtimes.is_visible)
        words = [command[0] if "/" in command[0] else program, *command[1:]]
        environment = clean_environment(path, "/tmp" if is_build else "/")  # noqa: S108 - the sandbox's
        popen, group = sandbox.start(words, Path(folder.path), environment, confinement.limits, is_build=is_build)
        return BotProcess(popen, group, origin)
    # for bots one trusts: a clean environment, a session of its own, some limits
    path = os.environ.get("PATH", os.defpath)
    program, origin = find_program(command, folder, path, is_visible=lambda _: True)
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
    """All the environment a bot or its build gets: no tokens, no settings of ours; Python made reproducible."""
    return {
        "PATH": path,
        "HOME": home,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _preload(bot: BotSpec) -> None:
    """Read the bot's files, so that the kernel has all of them in memory.

    Otherwise a bot's process could leave a message to its next one, or to another match, in which files are there. A
    script without a folder of its own, not submitted, lies among files that are not the bot's. Nothing but plain files
    is opened for long, no link followed.
    """
    source, folder = Path(bot.source), Path(bot.folder)
    is_script = source.parent == folder and source.is_file()
    for place, _, names in [(folder, [], [source.name])] if is_script else os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError), open(f"{place}/{name}", "rb", 0, opener=_open_plain) as file:
                while stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.readinto(_UNREAD):
                    pass


def _open_plain(path: str, _flags: int) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
