"""What a sandboxed bot sees of this machine besides its own folder: system folders and language runtimes, read-only.

Rule: /usr, a few files of /etc, and the Python that arena itself runs on. Whatever else shall be there, such as a Java
in /opt or a Node below the home folder, the person who runs the league names: no folder is added by guessing.
"""

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from arena.errors import HarnessFault, SpecError
from arena.process.sandbox.users import reachable

RUNTIMES: Final = "ARENA_RUNTIMES"
"""Environment variable: more folders that bots see, with colons between them."""
_USR: Final = Path("/usr")
_SYSTEM_LINKS: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_OF_ETC: Final = ("ld.so.cache", "alternatives", "java*")
"""For the loader, for programs chosen by update-alternatives, and for Debian's Java."""
_SYSTEM_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")


@cache
def search_path() -> str:
    """PATH inside the sandbox: named runtimes, arena's own Python, the system."""
    return ":".join([*map(str, map(_programs, folders())), *_SYSTEM_PATH])


def folders() -> tuple[Path, ...]:
    """Folders that bots see besides the system's: named runtimes, arena's own Python."""
    return (*_named(), *_python())


def binds() -> list[str]:
    """Arguments for bwrap that make all of it visible."""
    arguments = [*_of_system()]
    for folder in folders():
        arguments += ["--ro-bind", str(reachable(folder)), str(folder)]
    return arguments


@cache
def _of_system() -> tuple[str, ...]:
    arguments = ["--ro-bind", "/usr", "/usr"]
    for link in _SYSTEM_LINKS:
        arguments += (
            ["--symlink", str(Path(link).readlink()), link]
            if Path(link).is_symlink()
            else ["--ro-bind-try", link, link]
        )
    for pattern in _OF_ETC:
        for found in sorted(Path("/etc").glob(pattern)):
            arguments += ["--ro-bind", str(found), str(found)]
    return tuple(arguments)


def is_visible(path: Path) -> bool:
    """Whether a bot sees the file at this absolute path of the machine."""
    roots = [_USR, *map(Path, _SYSTEM_LINKS), *folders()]
    return any(path.is_relative_to(root) for root in roots)


def _programs(runtime: Path) -> Path:
    return runtime / "bin" if (runtime / "bin").is_dir() else runtime


@cache
def _python() -> tuple[Path, ...]:
    """The Python below arena's virtual environment, if it is not the system's."""
    prefix = Path(sys.base_prefix).resolve()
    return () if prefix.is_relative_to(_USR) else (prefix,)


@cache
def _named() -> tuple[Path, ...]:
    return tuple(_read(os.environ.get(RUNTIMES, "")))


def _read(text: str) -> Iterator[Path]:
    for word in filter(None, text.split(":")):
        folder = Path(word)
        if not folder.is_absolute() or not folder.is_dir():
            raise SpecError(f"{RUNTIMES}: {word}: expected the absolute path of a folder")
        if Path.home().resolve().is_relative_to(folder.resolve()):
            raise SpecError(f"{RUNTIMES}: {word}: your home folder is in there; name the runtime's own folder")
        yield folder


def insist_on_python() -> str:
    """The Python for bots, for the probe. HarnessFault if there is none."""
    for folder in search_path().split(":"):
        if (Path(folder) / "python3").exists():
            return f"{folder}/python3"
    raise HarnessFault("no python3 for bots: install Python for the whole machine")
