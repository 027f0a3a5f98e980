"""The files of this machine that a sandboxed bot sees besides its own folder: system folders and runtimes, read-only.

Rule: /usr, a few files of /etc, and the Python that arena itself runs on. Other folders, such as a Java
in /opt or a Node below the home folder, the person who runs the league names: no folder is added by guessing.
"""

import os
import shutil
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
    own = (word for folder in folders() for word in ("--ro-bind", str(reachable(folder)), str(folder)))
    return [*_of_system(), *own]


@cache
def _of_system() -> tuple[str, ...]:
    arguments = ["--ro-bind", "/usr", "/usr"]
    for link in _SYSTEM_LINKS:
        is_link = Path(link).is_symlink()
        arguments += ["--symlink", str(Path(link).readlink()), link] if is_link else ["--ro-bind-try", link, link]
    found = [str(path) for pattern in _OF_ETC for path in sorted(Path("/etc").glob(pattern))]
    return (*arguments, *(word for path in found for word in ("--ro-bind", path, path)))


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


def require_python() -> str:
    """The Python for bots, for the self-test. HarnessFault if there is none."""
    found = shutil.which("python3", path=search_path())
    if found is None:
        raise HarnessFault("no python3 for bots: install Python for the whole machine")
    return found
