"""The files of a bot, read within bounds, without following a link and without waiting.

Rule: each name is opened from the folder that it lies in, never through a link, and looked at once it is open. So
whatever is exchanged meanwhile, nothing outside the bot's folder is read, and nothing is read that is no plain file.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from arena.errors import SpecError
from arena.text import printable

SOURCE_SIZE_LIMIT: Final = 64 * 2**20
SOURCE_FILE_LIMIT: Final = 2000
_DEEPEST: Final = 64
"""Folders within each other."""
_IGNORED: Final = {"__pycache__", ".git", ".DS_Store", ".mypy_cache", ".pytest_cache"}
_UNOPENED: Final = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW
"""A device does something when it is opened. Python has O_PATH on Linux only, and `arena doctor` speaks everywhere."""


class BotFile(NamedTuple):
    """Relative path and bytes of a file, and whether its owner may run it."""

    name: str
    content: bytes
    is_executable: bool


def bot_files(path: Path) -> Iterator[BotFile]:
    """The bot's files, in order of their relative paths; of a script, the script itself.

    SpecError for links, devices, what is too large, and what vanishes meanwhile.
    """
    if path.is_file():
        yield read_file(path, path.resolve())  # the path itself may be a link: that is its owner's own choice
        return
    size = 0
    with _opened(path, path, os.O_DIRECTORY) as folder:
        for number, file in enumerate(_walk(path, folder, ""), start=1):
            size += len(file.content) if file else 0
            if size > SOURCE_SIZE_LIMIT or number > SOURCE_FILE_LIMIT:
                raise _too_large(path)
            if file:
                yield file


def read_file(
    place: Path, name: Path | str, *, folder: int | None = None, relative: str = "", limit: int = SOURCE_SIZE_LIMIT
) -> BotFile:
    """The file `name`, in the open `folder` if one is given; `place` is the whole path, for messages.

    SpecError for what is no plain file, has more than `limit` bytes, or is not there any more.
    """
    with _opened(place, name, _UNOPENED, folder) as entry:
        found = os.fstat(entry)
        if not stat.S_ISREG(found.st_mode):
            raise _odd(place, found.st_mode)
        content = b""
        if found.st_size <= limit:
            with open(f"/proc/self/fd/{entry}", "rb") as file:  # noqa: PTH123 - no path, but what is open
                content = file.read(limit + 1)
    if max(found.st_size, len(content)) > limit:
        raise _too_large(place, limit)
    return BotFile(relative or place.name, content, bool(found.st_mode & stat.S_IXUSR))


def safe_path(path: Path | str) -> str:
    """A path in a message."""
    return printable(str(path))


def _walk(path: Path, folder: int, before: str) -> Iterator[BotFile | None]:
    """All in an open folder and below it; nothing in place of a folder. The names of folders are sorted with a `/`."""
    if before.count("/") > _DEEPEST:
        raise SpecError(f"{safe_path(path)}: folders lie more than {_DEEPEST} deep in each other")
    with os.scandir(folder) as entries:
        some = islice(entries, SOURCE_FILE_LIMIT + len(_IGNORED) + 1)
        names = sorted(each.name + "/" * each.is_dir(follow_symlinks=False) for each in some)
    for each in names:
        name, relative = each.rstrip("/"), before + each
        if name in _IGNORED:
            continue
        if not relative.isprintable():  # with line ends in it the hash could be ambiguous
            raise SpecError(f"{safe_path(path / relative)}: a file's name may contain only characters that print")
        if name == each:
            yield read_file(path / relative, name, folder=folder, relative=relative)
            continue
        yield None
        with _opened(path / relative, name, os.O_DIRECTORY | os.O_NOFOLLOW, folder) as inner:
            yield from _walk(path, inner, relative)


@contextmanager
def _opened(place: Path, name: Path | str, flags: int, folder: int | None = None) -> Iterator[int]:
    """An open descriptor of `name`; SpecError, with `place`, if that or something done with it fails."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | flags, dir_fd=folder)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno == errno.ENOENT:
            reason = "no such file or folder; it was there a moment ago, try again"
        elif error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise _odd(place, stat.S_IFLNK) from None
        else:
            reason = str(error.strerror)
        raise SpecError(f"{safe_path(place)}: {reason}") from None


def _odd(place: Path, mode: int) -> SpecError:
    kind = "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "a pipe, socket or device"
    return SpecError(f"{safe_path(place)}: a bot may contain only plain files and folders, this is {kind}")


def _too_large(place: Path, limit: int = SOURCE_SIZE_LIMIT) -> SpecError:
    files = f" or {SOURCE_FILE_LIMIT} files" if limit == SOURCE_SIZE_LIMIT else ""
    size = f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit >> 10} KiB"
    return SpecError(f"{safe_path(place)}: larger than {size}{files}")
