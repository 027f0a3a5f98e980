"""A bot on disk: a single script, or a folder with a `bot.yaml`; and its identity, the hash of its content.

Rule: a bot is its bytes. Name and version are what it calls itself; the hash is what results belong to. Each file is
opened from the folder that it lies in, never through a link, and looked at once it is open. So whatever is exchanged
meanwhile, nothing outside the bot's folder is read, and nothing is read that is no plain file.
"""

import errno
import os
import shlex
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena import validation
from arena.errors import SpecError
from arena.process.limits import LimitRequest
from arena.text import printable
from arena.yaml_file import parse_yaml

MANIFEST: Final = "bot.yaml"
MANIFEST_LIMIT: Final = 64 << 10
"""Bytes of a bot.yaml."""
SOURCE_SIZE_LIMIT: Final = 64 * 2**20
SOURCE_FILE_LIMIT: Final = 2000
DEEPEST_FOLDER: Final = 64
"""Folders within each other."""
IGNORED: Final = {"__pycache__", ".git", ".DS_Store", ".mypy_cache", ".pytest_cache"}
"""Names of files and folders that are no part of a bot."""
_HAS_FOLDERS: Final = sys.platform == "linux"
"""Elsewhere files are read by their paths: bots that run there are trusted."""
FileHandle = int | Path
"""An open descriptor, or a path."""
_A_FOLDER: Final = getattr(os, "O_DIRECTORY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_UNOPENED: Final = getattr(os, "O_PATH", 0) | _NO_LINK
"""A device does something when it is opened."""
_INTERPRETERS: Final = {
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

_CONTROLS: Final = r"\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""Characters that act on a terminal instead of being shown: escapes, line ends, changes of the direction of text."""
_IN_TEXTS: Final = _CONTROLS.replace(r"\x00-\x1f", r"\x00-\x08\x0b-\x1f")
"""The same without line end and tab, which texts of several lines have."""
_NAME_DESCRIBED: Final = (
    "a name of 1 to 40 characters: letters A to Z and a to z, digits, _ . + -, a letter or digit first"
)


def _line(most: int) -> Meta:
    shape = rf"^[^{_CONTROLS}]{{0,{most}}}\Z"
    return Meta(pattern=shape, description=f"text of one line, at most {most} characters that print")


def _text(length: str, least: int, most: int) -> Meta:
    shape = rf"^[^{_IN_TEXTS}]{{{least},{most}}}\Z"
    return Meta(pattern=shape, description=f"text of {length} {most} characters, without control characters")


Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}\Z", description=_NAME_DESCRIBED)]
SingleLine = Annotated[str, _line(100)]
Version = Annotated[str, _line(40)]
CommandWord = Annotated[str, _text("1 to", 1, 4096)]
Words = Annotated[
    tuple[CommandWord, ...],
    Meta(min_length=1, max_length=256, description="a list of words, such as [python3, bot.py]"),
]
Cores = Annotated[int, Meta(ge=1, le=1024)]
Description = Annotated[str, _text("at most", 0, 500)]


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
        """The name in the manifest."""
        return self.manifest.name

    @property
    def label(self) -> str:
        """Name, version and the beginning of the hash, for people: `greedy 1 (3f2a9c01)`."""
        return label_of(self.name, self.manifest.version, self.digest)

    @property
    def given_folder(self) -> str:
        """The folder of `given`, in which its author finds the files that messages name; empty without it."""
        if not self.given or Path(self.source).is_dir():
            return self.given
        return os.path.dirname(self.given) or "."  # noqa: PTH120 - "./" stays as written


def label_of(name: str, version: str, digest: str) -> str:
    """Name, version and the beginning of the hash, for people."""
    return f"{printable(name)} {printable(version)} ({digest[:8]})"


def read_bot(path: Path, given: str = "") -> BotSpec:
    """The bot at `path`, a script or a folder with `bot.yaml`; `given` is the path as it was written, if otherwise.

    SpecError says what is wrong with it.
    """
    text: bytes | None = None
    try:
        mode = path.stat().st_mode
    except OSError as error:
        reason = "no such file or folder" if isinstance(error, FileNotFoundError) else error.strerror
        raise SpecError(f"{safe_path(path)}: {reason}") from None
    if stat.S_ISDIR(mode):
        text = _manifest_text(path)
        manifest = parse_yaml(text, Manifest, place=str(path / MANIFEST), limit=MANIFEST_LIMIT)
    elif stat.S_ISREG(mode):
        manifest = _manifest_of_script(path)
    else:
        what = f"a pipe, socket or device; expected a script or a folder with a {MANIFEST}"
        raise SpecError(f"{safe_path(path)}: {what}")
    return BotSpec(
        manifest=manifest,
        source=str(path.resolve()),
        folder=str((path if stat.S_ISDIR(mode) else path.parent).resolve()),
        digest=bot_digest(path, manifest, text),
        given=given or str(path),
    )


def _manifest_text(folder: Path) -> bytes:
    """The bytes of the folder's manifest; a link is refused before it is opened, so nothing of its target is shown."""
    place = folder / MANIFEST
    try:
        is_link = stat.S_ISLNK(place.lstat().st_mode)
    except FileNotFoundError:
        try:
            names = sorted(entry.name for entry in islice(folder.iterdir(), SOURCE_FILE_LIMIT))
        except OSError as error:
            raise SpecError(f"{safe_path(folder)}: {error.strerror}") from None
        found = (safe_path(", ".join(names[:6])) + " ..." * (len(names) > 6)) or "nothing"
        raise SpecError(f"{safe_path(folder)}: a bot's folder needs a {MANIFEST}; found {found}") from None
    except OSError as error:
        raise SpecError(f"{safe_path(place)}: {error.strerror}") from None
    if is_link:
        raise SpecError(f"{safe_path(place)}: a symbolic link; put the file itself there")
    return read_file(place, place, limit=MANIFEST_LIMIT).content


def bot_digest(path: Path, manifest: Manifest, text: bytes | None = None) -> str:
    """SHA-256 over the manifest and each file's relative path, executable bit and bytes, in order of path.

    `text`: the bytes that the manifest was read from; SpecError if its file has others by now.
    """
    total = sha256(msgspec.json.encode(manifest, order="deterministic"))
    for name, content, is_executable in bot_files(path):
        if name == MANIFEST and text is not None and content != text:
            raise SpecError(f"{safe_path(path / name)} was changed while it was being read; try again")
        total.update(f"\n{name}\n{int(is_executable)}\n{len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def _manifest_of_script(path: Path) -> Manifest:
    interpreter = _INTERPRETERS.get(path.suffix.lower())
    if interpreter is not None:
        command: tuple[str, ...] = (*interpreter, path.name)
    elif os.access(path, os.X_OK):
        command = (f"./{path.name}",)
    else:
        known, ending = ", ".join(_INTERPRETERS), safe_path(path.suffix) or "(none)"
        raise SpecError(
            f"{safe_path(path)}: not executable, and its ending {ending} names no interpreter; known: {known};"
            f" run `chmod +x {safe_path(shlex.quote(str(path)))}`, or make a folder with a {MANIFEST}"
        )
    return validation.read_struct({"name": path.stem, "command": list(command)}, Manifest, place=str(path))


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
    with _opened(path, path, _A_FOLDER) as folder:
        for number, file in enumerate(_walk(path, folder, ""), start=1):
            size += len(file.content) if file else 0
            if size > SOURCE_SIZE_LIMIT or number > SOURCE_FILE_LIMIT:
                raise _too_large(path)
            if file:
                yield file


def read_file(
    place: Path,
    name: Path | str,
    *,
    folder: FileHandle | None = None,
    relative: str = "",
    limit: int = SOURCE_SIZE_LIMIT,
) -> BotFile:
    """The file `name`, in the open `folder` if one is given; `place` is the whole path, for messages.

    SpecError for what is no plain file, has more than `limit` bytes, or is not there any more.
    """
    with _opened(place, name, _UNOPENED, folder) as entry:
        found = entry.lstat() if isinstance(entry, Path) else os.fstat(entry)
        if not stat.S_ISREG(found.st_mode):
            raise _odd(place, found.st_mode)
        content = b""
        if found.st_size <= limit:
            with Path(f"/proc/self/fd/{entry}" if isinstance(entry, int) else entry).open("rb") as file:
                content = file.read(limit + 1)
    if max(found.st_size, len(content)) > limit:
        raise _too_large(place, limit)
    return BotFile(relative or place.name, content, bool(found.st_mode & stat.S_IXUSR))


def safe_path(path: Path | str) -> str:
    """A path in a message."""
    return printable(str(path))


def _walk(path: Path, folder: FileHandle, before: str) -> Iterator[BotFile | None]:
    """All in an open folder and below it; nothing in place of a folder. The names of folders are sorted with a `/`."""
    if before.count("/") > DEEPEST_FOLDER:
        raise SpecError(f"{safe_path(path)}: folders lie more than {DEEPEST_FOLDER} deep in each other")
    with os.scandir(folder) as entries:
        some = islice(entries, SOURCE_FILE_LIMIT + len(IGNORED) + 1)
        names = sorted(each.name + "/" * each.is_dir(follow_symlinks=False) for each in some)
    for each in names:
        name, relative = each.rstrip("/"), before + each
        if name in IGNORED:
            continue
        if not relative.isprintable():  # with line ends in it the hash could be ambiguous
            raise SpecError(f"{safe_path(path / relative)}: a file's name may contain only characters that print")
        if name == each:
            yield read_file(path / relative, name, folder=folder, relative=relative)
            continue
        yield None
        with _opened(path / relative, name, _A_FOLDER | _NO_LINK, folder) as inner:
            yield from _walk(path, inner, relative)


@contextmanager
def _opened(place: Path, name: Path | str, flags: int, folder: FileHandle | None = None) -> Iterator[FileHandle]:
    """An open descriptor of `name`, or its path; SpecError, with `place`, if that or something done with it fails."""
    try:
        if isinstance(folder, Path) or not _HAS_FOLDERS:
            yield place if folder else Path(name)
            return
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
