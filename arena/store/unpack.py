"""Archives of other people, unpacked: zip, tar, and tar compressed by gzip.

Rule: an archive becomes plain files below one folder, of the names and sizes that a bot may have, or it is refused;
nothing is read into memory that an archive chose the size of. The archive of a class is judged hand-in by hand-in: what
one author packed costs no other.
"""

import os
import re
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from io import FileIO
from pathlib import Path
from tempfile import gettempdir
from typing import Final, NamedTuple

from arena.errors import MachineFault, SpecError
from arena.process.manifest import IGNORED, SOURCE_FILE_LIMIT, BotFile, safe_path, source_size_limit
from arena.store.archives import is_file_name
from arena.store.files import make_folder
from arena.store.homes import NO_ROOM, write_file

NO_PART: Final = IGNORED | {"__MACOSX"}
"""Names of files and folders that are no part of a hand-in."""
ENDINGS: Final = (".zip", ".tar", ".tar.gz", ".tgz")
"""Endings of the names of archives."""
_CLASS_SIZE_LIMIT: Final = 2 << 30
_TAR_HEADERS_LIMIT: Final = 2 * SOURCE_FILE_LIMIT * tarfile.BLOCKSIZE
_LIST_LIMIT: Final = 4 << 20
"""Bytes of the list of files in a zip archive."""
_PIECE: Final = 1 << 20
_GZIP: Final = 16 + zlib.MAX_WBITS
_IS_ENCRYPTED: Final = 1
_PLAIN: Final = {tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE}
_NAMING: Final = {tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}
_PAX_PATH: Final = re.compile(rb"(?:\A|\n)\d{1,9} path=([^\n]+)\n")
_DAMAGES: Final = (
    *(SpecError, OSError, ArithmeticError, RuntimeError, ValueError),
    *(EOFError, struct.error, tarfile.TarError, zipfile.BadZipFile, zlib.error),
)
"""Errors of the modules that read archives."""


class _Entry(NamedTuple):
    """A file or folder of an archive, of `size` bytes; `fault` says why nobody may have it."""

    name: str
    is_folder: bool
    mode: int
    size: int
    fault: str
    read: Callable[[], bytes]

    @property
    def parts(self) -> list[str]:
        """Parts of its path."""
        return [part for part in self.name.split("/") if part not in {"", "."}]


def unpack(archive: Path, folder: Path, is_known: Callable[[str], bool] | None = None) -> dict[str, str]:
    """Unpack an archive into the empty `folder`; return the paths of hand-ins in it, each with the reason if refused.

    `is_known` recognises the name of a hand-in; without it the archive is one hand-in, with an empty path. SpecError if
    the archive as a whole is damaged or too large.
    """
    number = os.open(archive, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with _BoundedFile(number) as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode) or (is_known is None and status.st_nlink > 1):
            raise SpecError("a pipe, a device, or a file with other names (a hard link)")
        try:
            entries = _zip_entries(file) if archive.suffix.lower() == ".zip" else _tar_entries(file, archive.suffix)
        except _DAMAGES as error:
            raise SpecError(reason_of(error)) from None
        depth, targets, size = 0 if is_known is None else _depth_of(entries, is_known), dict[str, _Target](), 0
        for entry in entries:
            parts = entry.parts
            if len(parts) <= depth or NO_PART.intersection(parts):
                continue
            path = "" if is_known is None else "/".join(parts[: depth + 1])
            target = targets.setdefault(_fold(path), _Target(folder, path))
            try:
                size += 0 if target.reason else target.add(entry, "/".join(parts))
            except _DAMAGES as error:
                target.reason = reason_of(error)
            if size > _CLASS_SIZE_LIMIT:
                raise SpecError(f"larger than {_CLASS_SIZE_LIMIT >> 30} GiB; unpack it, and give a part of it")
    return {target.path: target.reason for target in targets.values()}


def reason_of(error: Exception) -> str:
    """Return why an archive or a file is refused, without a path of ours. MachineFault if the disk is full."""
    if isinstance(error, SpecError):
        return str(error)
    strerror = error.strerror if isinstance(error, OSError) else ""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        raise MachineFault(f"a hand-in cannot be unpacked: {strerror}; make room in {gettempdir()}") from None
    return strerror or f"a damaged archive: {safe_path(str(error))}"


def _depth_of(entries: Sequence[_Entry], is_known: Callable[[str], bool]) -> int:
    """Return the number of folders in each other that contain all hand-ins: those above the first known name."""
    names = {(depth, name) for entry in entries for depth, name in enumerate(entry.parts[:3])}
    return next((depth for depth, name in sorted(names) if is_known(name)), 0)


class _Target:
    """A hand-in that is unpacked into a folder, in which its path is `path`; `reason` is empty unless it is refused."""

    def __init__(self, folder: Path, path: str) -> None:
        self._folder, self.path, self.reason = folder, path, ""
        self._size, self._names = 0, dict[str, str]()

    def add(self, entry: _Entry, path: str) -> int:
        """Write a file, and return its size in bytes. SpecError if a hand-in may not have it."""
        shown, parts = safe_path(entry.name[:80]), path.split("/")
        if entry.name.startswith("/") or not is_file_name(path):
            raise SpecError(f"{shown}: a name that no file of a bot may have")
        if entry.fault:
            raise SpecError(f"{shown}: {entry.fault}")
        for count in range(1, len(parts) + 1):
            name = "/".join(parts[:count])
            is_folder = entry.is_folder or count < len(parts)
            if (known := self._names.get(_fold(name))) and not (is_folder and known == f"{name}/"):
                raise SpecError(f"{shown}: two files have this name, or names that differ only in case")
            self._names[_fold(name)] = f"{name}/" if is_folder else name
        self._size += entry.size
        if self._size > source_size_limit() or len(self._names) > SOURCE_FILE_LIMIT:
            raise SpecError(f"unpacked, larger than {source_size_limit() >> 20} MiB or {SOURCE_FILE_LIMIT} files")
        if entry.is_folder:
            make_folder(self._folder, path)
        else:
            write_file(self._folder, BotFile(path, entry.read(), bool(entry.mode & stat.S_IXUSR)))
        return entry.size


def _fold(name: str) -> str:
    """Return a name as file systems compare it that do not distinguish case."""
    return unicodedata.normalize("NFC", name).casefold()


class _BoundedFile(FileIO):
    """A file of which at most `limit` bytes are read at once: a zip archive chooses the size of its list of files."""

    limit = _LIST_LIMIT

    def read(self, size: int | None = -1, /) -> bytes:
        """See io.FileIO. SpecError above the limit."""
        content = super().read(self.limit + 1 if size is None or size < 0 else min(size, self.limit + 1))
        if len(content) > self.limit:
            raise SpecError("its list of files is too long, or it is too large")
        return content


def _zip_entries(file: _BoundedFile) -> list[_Entry]:
    """Return the entries of a zip archive; one that a bot may not contain has a `fault`, which is not raised."""
    archive, entries = zipfile.ZipFile(file), []
    for info in archive.infolist():
        mode, fault = info.external_attr >> 16, ""
        if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
            fault = "a link, pipe or device; a bot may contain only plain files and folders"
        elif info.flag_bits & _IS_ENCRYPTED or info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            fault = "encrypted, or compressed in an unusual way; pack it without a password, with the defaults of zip"
        name, read = info.orig_filename, partial(_read_member, archive, info)
        entries.append(_Entry(name, name.endswith("/"), mode, info.file_size, fault, read))
    return entries


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Read a file of a zip archive; zipfile ends it at the size that the archive states."""
    with archive.open(info) as member:
        return b"".join(iter(partial(member.read, _PIECE), b""))


def _tar_entries(file: _BoundedFile, suffix: str) -> list[_Entry]:
    """Return the entries of a tar archive; tarfile itself has no bound for the headers of a file.

    One that a bot may not contain has a `fault`, which is not raised. SpecError for an archive that ends too early.
    """
    file.limit = limit = source_size_limit() + _TAR_HEADERS_LIMIT
    content = file.read()
    if suffix.lower() != ".tar":
        content = zlib.decompressobj(_GZIP).decompress(content, limit)
    offset, longer, entries, view = 0, b"", [], memoryview(content)
    while (block := content[offset : offset + tarfile.BLOCKSIZE]).strip(b"\0"):
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        size = header.size if header.type in _PLAIN | _NAMING else 0
        data = view[offset + tarfile.BLOCKSIZE :][: max(size, 0)]
        offset += tarfile.BLOCKSIZE + len(data) + -len(data) % tarfile.BLOCKSIZE
        if len(data) != size:
            break
        if header.type in _NAMING:
            path = _PAX_PATH.search(data) if header.type == tarfile.XHDTYPE else None
            longer = (
                bytes(data).rstrip(b"\0") if header.type == tarfile.GNUTYPE_LONGNAME else path[1] if path else longer
            )
            continue
        fault = "" if header.type in _PLAIN or header.isdir() else "a link, pipe or device"
        name = longer.decode("utf-8", "surrogateescape") or header.name
        entries.append(_Entry(name, header.isdir(), header.mode, size, fault, partial(bytes, data)))
        longer = b""
    if len(block) < tarfile.BLOCKSIZE or block.strip(b"\0"):
        raise SpecError(f"a damaged archive, which ends too early, or is larger than {limit >> 20} MiB")
    return entries
