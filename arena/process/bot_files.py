"""The files of a bot: listed and read within bounds, without following a link and without waiting.

Rule: each name is opened from the folder that it lies in, never through a link, and looked at once it is open. So
whatever is exchanged meanwhile, nothing outside the bot's folder is read, and nothing is read that is no plain file.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
_NO_WAITING: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class BotFile(NamedTuple):
    """The bytes of a file, and whether its owner may run it."""

    content: bytes
    is_executable: bool


def names_of(path: Path) -> list[str]:
    """The bot's files by relative path, sorted. SpecError for links, devices and what is too large."""
    if path.is_file():
        return [path.name]
    found: list[str] = []
    size = entries = 0
    with _opened(path, path, _FOLDER) as folder:
        for name, mode, length in _walk(path, folder, "", 0):
            size, entries = size + length, entries + 1
            if size > SOURCE_SIZE_LIMIT or entries > SOURCE_FILE_LIMIT:
                raise _too_large(path)
            if stat.S_ISREG(mode):
                found.append(name)
    return sorted(found)


def read_file(path: Path, name: str, *, limit: int = SOURCE_SIZE_LIMIT) -> BotFile:
    """The file `name` of the bot at `path`, of at most `limit` bytes; of a script, the script itself.

    SpecError for what is no plain file, is too large, or is not there any more.
    """
    if path.is_file():  # the path itself may be a link: that is its owner's own choice
        with _opened(path, path, _NO_WAITING) as script:
            return _content(path, script, limit)
    place = path
    with ExitStack() as held:
        folder = held.enter_context(_opened(path, path, _FOLDER))
        *above, last = name.split("/")
        for each in above:
            place /= each
            folder = held.enter_context(_opened(place, each, _FOLDER | os.O_NOFOLLOW, folder))
        place /= last
        _refuse_odd(place, _status(place, last, folder).st_mode)  # a device does something when it is opened
        return _content(place, held.enter_context(_opened(place, last, _NO_WAITING | os.O_NOFOLLOW, folder)), limit)


def safe_path(path: Path | str) -> str:
    """A path in a message."""
    return printable(str(path))


def _walk(path: Path, folder: int, before: str, depth: int) -> Iterator[tuple[str, int, int]]:
    """All in an open folder and below it: relative name, mode, and bytes of a plain file, else 0."""
    if depth > _DEEPEST:
        raise SpecError(f"{safe_path(path)}: folders lie more than {_DEEPEST} deep in each other")
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in islice(entries, SOURCE_FILE_LIMIT + len(_IGNORED) + 1))
    for name in names:
        if name in _IGNORED:
            continue
        relative = f"{before}{name}"
        if not relative.isprintable():  # with line ends in it the hash could be ambiguous
            raise SpecError(f"{safe_path(path / relative)}: a file's name may contain only characters that print")
        found = _status(path / relative, name, folder)
        if stat.S_ISDIR(found.st_mode):
            yield relative, found.st_mode, 0
            with _opened(path / relative, name, _FOLDER | os.O_NOFOLLOW, folder) as inner:
                yield from _walk(path, inner, f"{relative}/", depth + 1)
        else:
            _refuse_odd(path / relative, found.st_mode)
            yield relative, found.st_mode, found.st_size


def _content(path: Path, file: int, limit: int) -> BotFile:
    found = os.fstat(file)
    _refuse_odd(path, found.st_mode)
    content = b""
    if found.st_size <= limit:
        with os.fdopen(file, "rb", closefd=False) as stream:
            content = stream.read(limit + 1)
    if max(found.st_size, len(content)) > limit:
        raise _too_large(path, limit)
    return BotFile(content, bool(found.st_mode & stat.S_IXUSR))


@contextmanager
def _opened(place: Path, name: Path | str, flags: int, folder: int | None = None) -> Iterator[int]:
    """An open descriptor of `name`, in the open `folder` if one is given; `place` is the whole path, for messages."""
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        raise _unreadable(place, error) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _status(place: Path, name: str, folder: int) -> os.stat_result:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        raise _unreadable(place, error) from None


def _refuse_odd(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kind = "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "a pipe, socket or device"
    raise SpecError(f"{safe_path(path)}: a bot may contain only plain files and folders, this is {kind}")


def _too_large(path: Path, limit: int = SOURCE_SIZE_LIMIT) -> SpecError:
    files = f" or {SOURCE_FILE_LIMIT} files" if limit == SOURCE_SIZE_LIMIT else ""
    size = f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit >> 10} KiB"
    return SpecError(f"{safe_path(path)}: larger than {size}{files}")


def _unreadable(path: Path, error: OSError) -> SpecError:
    if error.errno == errno.ENOENT:
        return SpecError(f"{safe_path(path)}: no such file or folder; it was there a moment ago, try again")
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return SpecError(f"{safe_path(path)}: a bot may contain only plain files and folders, this is a link")
    return SpecError(f"{safe_path(path)}: {error.strerror}")
