"""A bot on disk: a single script, or a folder with a `bot.yaml`; and its identity, the hash of its content.

Rule: a bot is its bytes. Name and version are what it calls itself; the hash is what results belong to. A bot's folder
is opened once, never through a link; each file is opened from the folder that it lies in, and looked at once it is
open. So whatever is exchanged meanwhile, nothing outside the bot's folder is read, and nothing that is no plain file.
"""

import errno
import os
import shlex
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePath
from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena import validation
from arena.errors import SpecError
from arena.process.limits import LimitRequest
from arena.text import printable
from arena.yaml_file import parse_yaml

MANIFEST: Final = "bot.yaml"
_EXAMPLE: Final = "{name: mybot, command: [python3, bot.py]}"
MANIFEST_LIMIT: Final = 64 << 10
"""Bytes of a bot.yaml."""
BOT_SIZE: Final = "ARENA_BOT_MIB"
"""Environment variable: the mebibytes that the files of a bot may have together."""
_SIZES_MIB: Final = range(1, 513)
SOURCE_FILE_LIMIT: Final = 2000
DEEPEST_FOLDER: Final = 64
"""Most levels of nested folders."""
IGNORED: Final = {"__pycache__", ".git", ".DS_Store", ".mypy_cache", ".pytest_cache"}
"""Names of files and folders that are no part of a bot."""
_A_FOLDER: Final = os.O_DIRECTORY
_NO_LINK: Final = os.O_NOFOLLOW
_NAME_ONLY: Final = os.O_PATH | os.O_CLOEXEC
"""Opens without side effects; a device may act when it is really opened."""
_MAY_RUN: Final = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
INTERPRETERS: Final = {
    ".py": ("python3",),
    ".js": ("node",),
    ".mjs": ("node",),
    ".pl": ("perl",),
    ".rb": ("ruby",),
    ".lua": ("lua",),
    ".php": ("php",),
    ".sh": ("sh",),
    ".bash": ("bash",),
    # mawk, the awk of Debian, would read a pipe until its buffer is full; gawk and busybox ignore the option
    ".awk": ("awk", "-W", "interactive", "-f"),
    ".jar": ("java", "-jar"),
}
"""The beginning of the command of a script, by the ending of its name."""

_CONTROLS: Final = r"\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""Characters that act on a terminal instead of being shown: escapes, line ends, changes of the direction of text."""
_IN_TEXTS: Final = _CONTROLS.replace(r"\x00-\x1f", r"\x00-\x08\x0b-\x1f")
"""_CONTROLS without newline and tab, which texts of several lines contain."""
_NAME_DESCRIPTION: Final = (
    "a name of 1 to 40 characters: letters A to Z and a to z, digits, _ . + -, a letter or digit first"
)


def source_size_limit() -> int:
    """Return the most bytes of a bot's files, by ARENA_BOT_MIB. Raises SpecError if that is no such number."""
    text = os.environ.get(BOT_SIZE, "64")
    if not text.isdecimal() or int(text) not in _SIZES_MIB:
        raise SpecError(f"{BOT_SIZE}: expected whole mebibytes from 1 to {_SIZES_MIB[-1]}, found {printable(text)}")
    return int(text) << 20


def single_line_rule(most: int) -> Meta:
    """Return the constraint on a text of one line, of at most `most` characters that print."""
    shape = rf"^[^{_CONTROLS}]{{0,{most}}}\Z"
    return Meta(pattern=shape, description=f"text of one line, at most {most} characters that print")


def _text_rule(length: str, least: int, most: int) -> Meta:
    """Return the constraint on a text of `least` to `most` characters; `length` says "1 to" or "at most"."""
    shape = rf"^[^{_IN_TEXTS}]{{{least},{most}}}\Z"
    return Meta(pattern=shape, description=f"text of {length} {most} characters, without control characters")


Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}\Z", description=_NAME_DESCRIPTION)]
SingleLine = Annotated[str, single_line_rule(100)]
Version = Annotated[str, single_line_rule(40)]
CommandWord = Annotated[str, _text_rule("1 to", 1, 4096)]
Words = Annotated[
    tuple[CommandWord, ...],
    Meta(min_length=1, max_length=256, description="a list of words, such as [python3, bot.py]"),
]
Cores = Annotated[int, Meta(ge=1, le=1024)]
Description = Annotated[str, _text_rule("at most", 0, 500)]


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of `bot.yaml`.

    `command` runs in the bot's folder; each command of `build` runs there once, at submission. `games`: the games the
    bot can play, none named means any. `processes`: the bot starts processes of its own, so wall time decides.
    `cores`: how many it uses at once, 1 if it does not say so; a bot that uses more is not kept on one. `limits`: what
    it asks for.
    """

    name: Name
    command: Words
    version: Version = "1"
    build: tuple[Words, ...] = ()
    games: tuple[Name, ...] = ()
    processes: bool = False
    cores: Cores | UnsetType = UNSET
    limits: LimitRequest = LimitRequest()
    description: Description = ""
    authors: tuple[SingleLine, ...] = ()


class BotFile(NamedTuple):
    """A file of a bot: its relative path, its bytes, and True if its owner may execute it."""

    name: str
    content: bytes
    is_executable: bool


class BotSpec(msgspec.Struct, frozen=True):
    """A bot ready to be started.

    `source`: the script or folder it was read from; `folder`: where its command runs; `digest`: the SHA-256 of its
    content (hex). `given`: its path as somebody wrote it, for messages; empty for a bot that was found by its hash.
    """

    manifest: Manifest
    source: str
    folder: str
    digest: str
    given: str = ""

    @property
    def name(self) -> str:
        """Name in the manifest."""
        return self.manifest.name

    @property
    def label(self) -> str:
        """Name, version and the beginning of the hash, for people: `greedy 1 (3f2a9c01)`."""
        return label_of(self.name, self.manifest.version, self.digest)

    @property
    def given_folder(self) -> str:
        """Folder of `given`, where the author finds the files named in messages; empty if `given` is empty."""
        if not self.given or Path(self.source).is_dir():
            return self.given
        return os.path.dirname(self.given) or "."  # noqa: PTH120 - "./" stays as written


def label_of(name: str, version: str, digest: str) -> str:
    """Return name, version and the first 8 digits of the hash, for messages: `greedy 1 (3f2a9c01)`."""
    return f"{printable(name)} {printable(version)} ({digest[:8]})"


def read_bot(path: Path, given: str = "", *, is_handed_in: bool = False) -> BotSpec:
    """Read the bot at `path`, a script or a folder with `bot.yaml`; messages show `given`, or `path` without it.

    No part of `path` may be a link (see `_open_bot`); with `is_handed_in` no file may be a hard link. Raises SpecError.
    """
    named = Path(given) if given else path
    text: bytes | None = None
    with _open_bot(path, named) as entry:
        mode = os.fstat(entry).st_mode
        if stat.S_ISDIR(mode):
            text = _read_manifest_text(entry, named)
            manifest = parse_yaml(text, Manifest, place=str(named / MANIFEST), limit=MANIFEST_LIMIT)
        else:
            manifest = _manifest_of_script(path.name, mode, named)
        digest = _digest_of(_files(entry, path.name, named, is_handed_in=is_handed_in), manifest, named, text)
    return BotSpec(
        manifest=manifest,
        source=str(path.resolve()),
        folder=str((path if stat.S_ISDIR(mode) else path.parent).resolve()),
        digest=digest,
        given=given or str(path),
    )


def _read_manifest_text(folder: int, named: Path) -> bytes:
    """Read the manifest in an open folder; raises SpecError if it is a link, or missing."""
    place = named / MANIFEST
    try:
        status = os.stat(MANIFEST, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        with _open_in(named, ".", _A_FOLDER, folder) as listed, os.scandir(listed) as entries:
            names = sorted(entry.name for entry in islice(entries, SOURCE_FILE_LIMIT))
        excerpt = (safe_path(", ".join(names[:6])) + " ..." * (len(names) > 6)) or "nothing"
        raise SpecError(
            f"{safe_path(named)}: a bot's folder needs a {MANIFEST}, such as `{_EXAMPLE}`; found {excerpt}"
        ) from None
    except OSError as error:
        raise SpecError(f"{safe_path(place)}: {error.strerror}") from None
    if stat.S_ISLNK(status.st_mode):
        raise SpecError(f"{safe_path(place)}: a symbolic link; put the file itself there")
    with _open_in(place, MANIFEST, _NAME_ONLY | _NO_LINK, folder) as entry:
        return _read_file(place, entry, place.name, MANIFEST_LIMIT).content


def bot_digest(path: Path, manifest: Manifest) -> str:
    """Compute the hash of the bot at `path`, as `read_bot` does."""
    return _digest_of(bot_files(path), manifest, path)


def _digest_of(files: Iterable[BotFile], manifest: Manifest, named: Path, text: bytes | None = None) -> str:
    """Return the SHA-256 (hex) over the manifest and path, executable bit and bytes of each file, in order of path.

    `text`: the bytes that the manifest was read from; raises SpecError if its file has changed since.
    """
    total = sha256(msgspec.json.encode(manifest, order="deterministic"))
    for name, content, is_executable in files:
        if name == MANIFEST and text is not None and content != text:
            raise SpecError(f"{safe_path(named / name)} was changed while it was being read; try again")
        total.update(f"\n{name}\n{int(is_executable)}\n{len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def _manifest_of_script(name: str, mode: int, named: Path) -> Manifest:
    """Return the manifest of a script: its name without ending, and a command by its ending or executable bit.

    Raises SpecError if neither gives a command.
    """
    ending = PurePath(name).suffix
    interpreter = INTERPRETERS.get(ending.lower())
    if interpreter is not None:
        command: tuple[str, ...] = (*interpreter, name)
    elif mode & _MAY_RUN:
        command = (f"./{name}",)
    else:
        known = ", ".join(INTERPRETERS)
        raise SpecError(
            f"{safe_path(named)}: not executable, and its ending {safe_path(ending) or '(none)'} names no interpreter;"
            f" known: {known}; run `chmod +x {safe_path(shlex.quote(str(named)))}`, or make a folder with a {MANIFEST}"
        )
    return validation.read_struct({"name": PurePath(name).stem, "command": list(command)}, Manifest, place=str(named))


def bot_files(path: Path, *, is_handed_in: bool = False) -> Iterator[BotFile]:
    """Yield the files of the bot, in order of their relative paths; for a script, the script alone.

    Raises SpecError for links, devices, too many or too large files, and files that vanish meanwhile; with
    `is_handed_in` for hard links, too.
    """
    with _open_bot(path, path) as entry:
        yield from _files(entry, path.name, path, is_handed_in=is_handed_in)


def _files(entry: int, name: str, named: Path, *, is_handed_in: bool = False) -> Iterator[BotFile]:
    """Yield the files of a bot whose script or folder is open as `entry`; raises SpecError as `bot_files`."""
    if not stat.S_ISDIR(os.fstat(entry).st_mode):
        yield _read_file(named, entry, name, source_size_limit(), is_handed_in=is_handed_in)
        return
    size, limit = 0, source_size_limit()
    with _open_in(named, ".", _A_FOLDER, entry) as folder:
        for number, file in enumerate(_walk_folder(named, folder, "", is_handed_in=is_handed_in), start=1):
            size += len(file.content) if file else 0
            if size > limit or number > SOURCE_FILE_LIMIT:
                raise _too_large_error(named, limit)
            if file:
                yield file


def _read_file(place: Path, entry: int, relative: str, limit: int, *, is_handed_in: bool = False) -> BotFile:
    """Read the plain file that `entry`, a descriptor made with O_PATH, refers to.

    Raises SpecError for anything else, above `limit` bytes, and with `is_handed_in` for a file that has other names.
    """
    status = os.fstat(entry)
    if not stat.S_ISREG(status.st_mode):
        raise _not_plain_error(place, status.st_mode)
    if is_handed_in and status.st_nlink > 1:
        raise SpecError(f"{safe_path(place)}: a file with other names (a hard link); hand in a copy of it")
    content = b""
    if status.st_size <= limit:
        try:
            with Path(f"/proc/self/fd/{entry}").open("rb") as file:
                content = file.read(limit + 1)
        except OSError as error:
            raise SpecError(f"{safe_path(place)}: {error.strerror}") from None
    if max(status.st_size, len(content)) > limit:
        raise _too_large_error(place, limit)
    return BotFile(relative, content, bool(status.st_mode & stat.S_IXUSR))


def safe_path(path: Path | str) -> str:
    """Return a path for a message, without characters that act on a terminal."""
    return printable(str(path))


def _walk_folder(path: Path, folder: int, before: str, *, is_handed_in: bool) -> Iterator[BotFile | None]:
    """Yield the files in an open folder and below it, and None for each folder; folders are sorted as `name/`.

    Skips IGNORED names. Raises SpecError as `bot_files`, and for folders nested too deeply.
    """
    if before.count("/") > DEEPEST_FOLDER:
        raise SpecError(f"{safe_path(path)}: folders lie more than {DEEPEST_FOLDER} deep in each other")
    with os.scandir(folder) as entries:
        bounded = islice(entries, SOURCE_FILE_LIMIT + len(IGNORED) + 1)
        listed = sorted(entry.name + "/" * entry.is_dir(follow_symlinks=False) for entry in bounded)
    for word in listed:
        name, relative = word.rstrip("/"), before + word
        if name in IGNORED:
            continue
        if not relative.isprintable():  # newlines would make the hash ambiguous
            raise SpecError(f"{safe_path(path / relative)}: a file's name may contain only characters that print")
        if name == word:
            with _open_in(path / relative, name, _NAME_ONLY | _NO_LINK, folder) as file:
                yield _read_file(path / relative, file, relative, source_size_limit(), is_handed_in=is_handed_in)
            continue
        yield None
        with _open_in(path / relative, name, _A_FOLDER | _NO_LINK, folder) as inner:
            yield from _walk_folder(path, inner, relative, is_handed_in=is_handed_in)


@contextmanager
def _open_bot(path: Path, named: Path) -> Iterator[int]:
    """Open the file or folder at `path` with O_PATH, part by part, without following links.

    An unpacked archive may have a link in place of any of its folders. So links are followed only on the way to the
    working folder or the home folder, and in `/` (a system may have a link /home), where no archive is unpacked.
    `named`: the path in messages. Raises SpecError for a link, and for anything but a file or a folder.
    """
    try:
        entry = _open_or_find_link(path)
    except OSError as error:
        reason = "no such file or folder" if isinstance(error, FileNotFoundError) else error.strerror
        raise SpecError(f"{safe_path(named)}: {reason}") from None
    try:
        mode = os.fstat(entry).st_mode
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            is_link = stat.S_ISLNK(mode)
            what = "it, or a folder on the way to it, is a symbolic link; name the place that it leads to"
            odd = f"a pipe, socket or device; expected a script or a folder with a {MANIFEST}"
            raise SpecError(f"{safe_path(named)}: {what if is_link else odd}")
        yield entry
    finally:
        os.close(entry)


def _open_or_find_link(path: Path) -> int:
    """Return a descriptor of the file or folder at `path`, or of the first link on the way to it."""
    trusted = _part_with_links_allowed(path)
    entry = os.open(trusted, _NAME_ONLY)
    for part in path.relative_to(trusted).parts:
        try:
            inner = os.open(part, _NAME_ONLY | _NO_LINK, dir_fd=entry)
        finally:
            os.close(entry)
        entry = inner
        if stat.S_ISLNK(os.fstat(entry).st_mode):
            break
    return entry


def _part_with_links_allowed(path: Path) -> Path:
    """Return the beginning of `path` in which links may be followed."""
    if not path.is_absolute():
        return Path()
    named = [Path(os.environ.get(name, "/")) for name in ("PWD", "HOME")]
    first = Path(*path.parts[: min(2, len(path.parts) - 1)])
    return max((place for place in (first, *named) if path.is_relative_to(place)), key=lambda place: len(place.parts))


@contextmanager
def _open_in(place: Path, name: str, flags: int, folder: int) -> Iterator[int]:
    """Open `name` in a folder inside the `with`; raises SpecError, with `place`, if that or its body fails."""
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
            raise _not_plain_error(place, stat.S_IFLNK) from None
        else:
            reason = str(error.strerror)
        raise SpecError(f"{safe_path(place)}: {reason}") from None


def _not_plain_error(place: Path, mode: int) -> SpecError:
    """Return the error for a link, folder, pipe, socket or device where only plain files may be."""
    kind = "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "a pipe, socket or device"
    return SpecError(f"{safe_path(place)}: a bot may contain only plain files and folders, this is {kind}")


def _too_large_error(place: Path, limit: int) -> SpecError:
    """Return the error for a file, or a bot as a whole, above its limit of bytes or files."""
    files = f" or {SOURCE_FILE_LIMIT} files" if limit >= 1 << 20 else ""
    size = f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit >> 10} KiB"
    return SpecError(f"{safe_path(place)}: larger than {size}{files}")
