"""What a bot is on disk: a single script, or a folder with a `bot.yaml`; and its identity, the hash of its content.

Rule: a bot is its bytes. Name and version are what it calls itself; the hash is what results belong to.
"""

import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from arena import strict
from arena.errors import SpecError
from arena.process.limits import Wishes

MANIFEST: Final = "bot.yaml"
SIZE_LIMIT: Final = 64 * 2**20
FILE_LIMIT: Final = 2000
_IGNORED: Final = {"__pycache__", ".git", ".DS_Store", ".mypy_cache", ".pytest_cache", "node_modules/.cache"}
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

Name = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}\Z",
        description="a name of 1 to 40 characters: letters A to Z and a to z, digits, _ . + -, a letter or digit first",
    ),
]
Words = Annotated[
    tuple[Annotated[str, Meta(min_length=1)], ...],
    Meta(min_length=1, description="a list of words, such as [python3, bot.py]"),
]


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of `bot.yaml`.

    `command` runs in the bot's folder; each command of `build` runs there once, at submission. `games`: the games the
    bot can play, none named means any. `processes`: the bot starts processes of its own, so wall time decides.
    `limits`: what it asks for.
    """

    name: Name
    command: Words
    version: Annotated[str, Meta(max_length=40)] = "1"
    build: tuple[Words, ...] = ()
    games: tuple[str, ...] = ()
    processes: bool = False
    limits: Wishes = Wishes()
    description: Annotated[str, Meta(max_length=500)] = ""
    authors: tuple[str, ...] = ()


class BotSpec(msgspec.Struct, frozen=True):
    """A bot ready to be started.

    `source`: the script or folder it was read from; `folder`: where its command runs; `digest`: the SHA-256 of its
    content (hex).
    """

    manifest: Manifest
    source: str
    folder: str
    digest: str

    @property
    def name(self) -> str:
        """What the bot calls itself."""
        return self.manifest.name

    @property
    def label(self) -> str:
        """Name, version and the beginning of the hash, for people: `greedy 1 (3f2a9c01)`."""
        return f"{self.name} {self.manifest.version} ({self.digest[:8]})"


def read_bot(path: Path) -> BotSpec:
    """The bot at `path`, a script or a folder with `bot.yaml`. SpecError says what is wrong with it."""
    if path.is_dir():
        manifest_path = path / MANIFEST
        if not manifest_path.is_file():
            raise SpecError(f"{path}: a bot's folder needs a {MANIFEST}; found {_listing(path)}")
        manifest = strict.read_yaml(manifest_path, Manifest)
        return _spec(manifest, path, path)
    if not path.is_file():
        raise SpecError(f"{path}: no such file or folder")
    manifest = _manifest_of_script(path)
    return _spec(manifest, path, path.parent)


def _spec(manifest: Manifest, source: Path, folder: Path) -> BotSpec:
    digest = digest_of(source, manifest)
    return BotSpec(manifest=manifest, source=str(source.resolve()), folder=str(folder.resolve()), digest=digest)


def digest_of(path: Path, manifest: Manifest) -> str:
    """SHA-256 over the manifest and each file's relative path, executable bit and bytes, in order of path."""
    total = sha256(msgspec.json.encode(manifest, order="deterministic"))
    for name, file in files_of(path):
        content = file.read_bytes()
        is_executable = bool(file.stat().st_mode & stat.S_IXUSR)
        total.update(f"\n{name}\n{int(is_executable)}\n{len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def files_of(path: Path) -> list[tuple[str, Path]]:
    """The bot's files by relative path, sorted. SpecError for links, devices and what is too large."""
    if path.is_file():
        return [(path.name, path)]
    found: list[tuple[str, Path]] = []
    size = 0
    for folder, subfolders, names in os.walk(path):
        subfolders[:] = sorted(name for name in subfolders if name not in _IGNORED)
        for name in sorted(set(names) - _IGNORED) + [s for s in subfolders if (Path(folder) / s).is_symlink()]:
            file = Path(folder) / name
            if not str(file.relative_to(path)).isprintable():  # with line ends in it the hash could be ambiguous
                shown = str(file).encode("unicode_escape").decode()
                raise SpecError(f"{shown}: a file's name may contain only characters that print")
            mode = file.lstat().st_mode
            if not stat.S_ISREG(mode):
                raise SpecError(f"{file}: a bot may contain only plain files and folders, this is {_kind(mode)}")
            size += file.stat().st_size
            found.append((file.relative_to(path).as_posix(), file))
            if size > SIZE_LIMIT or len(found) > FILE_LIMIT:
                raise SpecError(f"{path}: larger than {SIZE_LIMIT >> 20} MiB or {FILE_LIMIT} files")
    return sorted(found)


def _manifest_of_script(path: Path) -> Manifest:
    name = path.stem
    interpreter = _INTERPRETERS.get(path.suffix.lower())
    if interpreter is not None:
        command: tuple[str, ...] = (*interpreter, path.name)
    elif os.access(path, os.X_OK):
        command = (f"./{path.name}",)
    else:
        known = ", ".join(_INTERPRETERS)
        raise SpecError(
            f"{path}: not executable, and its ending {path.suffix or '(none)'} names no interpreter; known: {known};"
            f" run `chmod +x {path}`, or make a folder with a {MANIFEST}"
        )
    return strict.read({"name": name, "command": list(command)}, Manifest, place=str(path))


def _listing(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir())
    return ", ".join(names[:6]) + (" ..." if len(names) > 6 else "") if names else "nothing"


def _kind(mode: int) -> str:
    return "a link" if stat.S_ISLNK(mode) else "a pipe, socket or device"
