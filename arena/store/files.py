"""Files of a results folder, which may come from somebody else: the only way to open one.

Rule: below the results folder no link is followed and no open blocks. A link in the place of a file could name
any file of the reader's, a pipe has no end, and a device has no size: only plain files are opened, in plain folders.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final

from arena.errors import DamagedStore

_KINDS: Final = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@contextlib.contextmanager
def open_folder(results: Path, name: str = ".") -> Iterator[int]:
    """Open the folder `name` below `results` and yield its descriptor; `results` may be a link: its user named it.

    DamagedStore if a link, or anything else but a folder, lies on the way. OSError as from `os.open`.
    """
    folder = os.open(results, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        place = results
        for part in PurePath(name).parts:
            place /= part
            _require_kind(place, stat.S_IFDIR, os.lstat(part, dir_fd=folder))
            inner = _open_without_links(place, part, os.O_RDONLY | os.O_DIRECTORY, folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def open_file(results: Path, name: str, flags: int = os.O_RDONLY) -> int:
    """Open the plain file `name` below `results` and return its descriptor; a new file is for this user alone.

    DamagedStore for a link, pipe, device or folder, there or on the way. OSError as from `os.open`.
    """
    path = PurePath(name)
    place = results / name
    with open_folder(results, str(path.parent)) as folder:
        with contextlib.suppress(FileNotFoundError):  # opening a device may have an effect
            _require_kind(place, stat.S_IFREG, os.lstat(path.name, dir_fd=folder))
        number = _open_without_links(place, path.name, flags | os.O_NONBLOCK, folder)
    try:
        _require_kind(place, stat.S_IFREG, os.fstat(number))
    except BaseException:
        os.close(number)
        raise
    return number


def read_plain(results: Path, name: str, limit: int) -> bytes:
    """Read the plain file `name` below `results`. DamagedStore if it has more than `limit` bytes."""
    with os.fdopen(open_file(results, name), "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise DamagedStore(f"{results / name} has more than {limit} bytes; put a copy back")
    return content


def write_plain(results: Path, name: str, content: str | bytes) -> None:
    """Write the plain file `name` below `results`; replace its content if it exists."""
    number = open_file(results, name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(number, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def replace_plain(results: Path, name: str, content: str | bytes) -> None:
    """Write the plain file `name` below `results` in one step: whole or not at all."""
    write_plain(results, f"{name}.new", content)
    path = PurePath(name)
    with open_folder(results, str(path.parent)) as folder:
        os.replace(f"{path.name}.new", path.name, src_dir_fd=folder, dst_dir_fd=folder)


def make_folder(results: Path, name: str = ".") -> None:
    """Make the folder `results` and those of `name` in it, for this user alone; what is there stays as it is.

    DamagedStore if a link, or anything else but a folder, lies on the way below `results`. OSError as from `os.mkdir`.
    """
    with contextlib.suppress(FileExistsError):
        results.mkdir(mode=0o700, parents=True)
    place = PurePath()
    for part in PurePath(name).parts:
        with open_folder(results, str(place)) as folder, contextlib.suppress(FileExistsError):
            os.mkdir(part, 0o700, dir_fd=folder)
        place /= part
    with open_folder(results, name):
        pass


def _open_without_links(place: Path, name: str, flags: int, folder: int) -> int:
    """Open a file or folder in `folder`; raises DamagedStore for a link, OSError with `place` in its message."""
    try:
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):  # exchanged since its check
            raise _refusal(place, "a link") from None
        raise OSError(error.errno, error.strerror, str(place)) from None


def _require_kind(place: Path, kind: int, status: os.stat_result) -> None:
    """Raise DamagedStore unless a file has this kind (stat.S_IFREG or S_IFDIR)."""
    actual_kind = stat.S_IFMT(status.st_mode)
    if actual_kind != kind:
        raise _refusal(place, _KINDS.get(actual_kind, "a plain file"))


def _refusal(place: Path, kind: str) -> DamagedStore:
    """Return the error for a file of this kind in a results folder."""
    return DamagedStore(
        f"{place} is {kind}; a results folder holds plain files and folders only, and arena opens nothing else there:"
        " move it away or put a copy back"
    )
