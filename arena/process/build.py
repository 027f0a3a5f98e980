"""The build of a bot: the commands of its manifest, run once in a copy of its folder, confined like the bot itself.

Rule: a build runs somebody's program too. It may write to its folder and nowhere else, has limits of its own, and what
it leaves is looked at without being followed or run. One that fails is the author's to read: the command, how it
ended, and what it said.
"""

import contextlib
import errno
import os
import select
import stat
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from arena.errors import Crashed, SpecError
from arena.process import launch
from arena.process.channel import READ_SIZE, BoundedLog
from arena.process.launch import BotFolder, shell_text
from arena.process.limits import Isolation, Limits
from arena.process.manifest import Manifest
from arena.process.process import BotProcess
from arena.process.scratch import remove, run_on

TIMEOUT_S: Final = 300.0
LIMITS: Final = Limits(memory_mib=2048, tasks=256, processes=True, scratch_mib=512)
BUILT_SIZE_LIMIT: Final = 512 << 20
BUILT_FILE_LIMIT: Final = 20_000
_DEEPEST: Final = 64
_OF_OWNER: Final = stat.S_IRUSR | stat.S_IXUSR
_LONGEST_PATH: Final = 3000
"""Bytes of a path; the kernel takes at most 4095 in one call."""
_SHOWN: Final = 80
_KEPT_OUTPUT: Final = 8 << 10
_LOOK_S: Final = 0.1
_LOOK_AT_FOLDER_S: Final = 0.5


def build(
    manifest: Manifest, folder: Path, isolation: Isolation, *, given: str = "", timeout_s: float = TIMEOUT_S
) -> None:
    """Run the build commands of `manifest` in `folder`, in order; then set owner and mode of all files.

    `given` is the path of the folder as the author wrote it, for messages. If a command fails, or leaves files that a
    bot may not have, removes `folder` and raises SpecError.
    """
    try:
        for command in manifest.build:
            if os.geteuid() == 0:  # the build has another user, who must be able to write
                run_on(folder, "chmod", "-R", "a+rwX")
            _run_command(command, BotFolder(str(folder), given), isolation, timeout_s)
        _set_permissions(folder)
    except SpecError:
        remove(folder)
        raise


def digest_of_folder(folder: Path) -> str:
    """Return the SHA-256 (hex) over path, executable bit and bytes of all files, in order of path.

    A link counts by its target as text. Raises SpecError for folders that are too deep or closed to their owner.
    """
    total = sha256()
    for path in _walk_folder(folder):
        name = os.fsencode(path.relative_to(folder))
        mode = path.lstat().st_mode
        kind = f"{int(bool(mode & stat.S_IXUSR))}{int(stat.S_ISLNK(mode))}"
        if stat.S_ISLNK(mode):
            text = os.fsencode(path.readlink())
            total.update(f"\n{len(name)}\n{kind}\n{len(text)}\n".encode() + name + text)
        elif stat.S_ISREG(mode):
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                total.update(f"\n{len(name)}\n{kind}\n{os.fstat(file.fileno()).st_size}\n".encode() + name)
                while part := file.read(READ_SIZE):
                    total.update(part)
    return total.hexdigest()


def _run_command(command: tuple[str, ...], folder: BotFolder, isolation: Isolation, timeout_s: float) -> None:
    """Run one build command; raises SpecError with its output if it fails, breaks a limit or takes too long."""
    what = f"build `{shell_text(command)}`"
    try:
        process = launch.start_command([*command], folder, launch.Confinement(isolation, LIMITS), is_build=True)
    except Crashed as crash:
        raise SpecError(f"{what}: {crash.message}; {crash.hint}") from None
    log = BoundedLog(_KEPT_OUTPUT)
    try:
        process.close_stdin()
        trouble = _watch_build(process, Path(folder.path), log, timeout_s)
        ending = process.ending()
    finally:
        process.kill()
    if trouble or ending != "ended with exit code 0":
        raise SpecError(f"{what} {trouble or ending} and said:\n{log.text()}")


def _watch_build(process: BotProcess, folder: Path, log: BoundedLog, timeout_s: float) -> str:
    """Read the output of a build until it ends; return why it has to be stopped, empty if it ended by itself."""
    deadline_s = time.monotonic() + timeout_s
    look_at_folder_s = 0.0
    fds = [process.stdout, process.stderr]  # if both are ready, stdout is read first
    while not process.ending():
        _read_output(fds, log, _LOOK_S)
        now_s = time.monotonic()
        if violation := process.group.limit_violation():
            return f"was stopped: {violation}"
        if now_s > deadline_s:
            return f"did not end within {timeout_s:g} s"
        if now_s > look_at_folder_s:
            look_at_folder_s = now_s + _LOOK_AT_FOLDER_S
            if is_too_large(folder):
                return f"made more than {BUILT_SIZE_LIMIT >> 20} MiB or {BUILT_FILE_LIMIT} files"
    _read_output(fds, log, 0.0)
    return ""


def _read_output(fds: list[int], log: BoundedLog, wait_s: float) -> None:
    """Wait at most `wait_s` for output and add it to `log`; remove pipes that have ended from `fds`."""
    pipes = select.poll()  # select.select refuses numbers from 1024 on
    for fd in fds:
        pipes.register(fd, select.POLLIN)
    for fd, _ in pipes.poll(wait_s * 1000):
        data = os.read(fd, READ_SIZE)
        log.add(data)
        if not data:
            fds.remove(fd)


def is_too_large(folder: Path) -> bool:
    """Return True if `folder` exceeds BUILT_SIZE_LIMIT or BUILT_FILE_LIMIT; files deleted meanwhile do not count.

    Raises SpecError for folders that are too deep or closed to their owner.
    """
    size = 0
    for number, path in enumerate(_walk_folder(folder), start=1):
        try:
            size += path.lstat().st_size
        except FileNotFoundError:
            continue
        if size > BUILT_SIZE_LIMIT or number > BUILT_FILE_LIMIT:
            return True
    return False


def _walk_folder(folder: Path) -> Iterator[Path]:
    """Yield the paths of all files and folders below `folder` in a fixed order; links are not followed.

    Raises SpecError for folders that are too deep or closed to their owner: they could hide any number of files.
    """

    def refuse(error: OSError) -> None:
        """Raise SpecError for a folder that cannot be listed, unless it was deleted meanwhile."""
        if not isinstance(error, FileNotFoundError):  # deleted meanwhile
            raise SpecError(
                f"the build made {_short_path(Path(error.filename), folder)}, a folder that its owner may not look into"
            )

    for name, folders, files in os.walk(folder, onerror=refuse):
        place = Path(name)
        if len(place.relative_to(folder).parts) > _DEEPEST or len(os.fsencode(place)) > _LONGEST_PATH:
            raise SpecError(f"the build made folders within folders: {_short_path(place, folder)}")
        with contextlib.suppress(FileNotFoundError):
            if place.lstat().st_mode & _OF_OWNER != _OF_OWNER:  # for root, os.walk reports no error
                refuse(PermissionError(errno.EACCES, "", name))
        folders.sort()
        yield from (place / entry for entry in sorted(folders + files))


def _short_path(place: Path, folder: Path) -> str:
    """Return the path relative to `folder` for a message, cut after 80 characters."""
    text = str(place.relative_to(folder)).encode("unicode_escape").decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _set_permissions(folder: Path) -> None:
    """Set owner and mode of all built files: as root, root's own and readable by all; else closed to other users.

    Raises SpecError for pipes, sockets and devices, and if the folder is too large.
    """
    is_root = os.geteuid() == 0
    mask = 0o755 if is_root else 0o700
    if is_too_large(folder):
        raise SpecError(f"the built bot is larger than {BUILT_SIZE_LIMIT >> 20} MiB or {BUILT_FILE_LIMIT} files")
    for path in (folder, *_walk_folder(folder)):
        mode = path.lstat().st_mode
        if is_root:
            os.lchown(path, 0, 0)
        if stat.S_ISDIR(mode):
            path.chmod(mask)
        elif stat.S_ISREG(mode):
            path.chmod(mask if mode & stat.S_IXUSR else mask & 0o666)
        elif not stat.S_ISLNK(mode):
            raise SpecError(f"the build made {_short_path(path, folder)}, which is no plain file, folder or link")
