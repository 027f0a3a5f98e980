"""The files of this machine that a sandboxed bot sees besides its own folder: system folders and runtimes, read-only.

Rule: /usr, a few files of /etc, and the Python that arena itself runs on. Other folders, such as a Java
in /opt or a Node below the home folder, the person who runs the league names: no folder is added by guessing.
"""

import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Final

from arena.errors import HarnessFault, SpecError
from arena.process.sandbox.users import reachable

RUNTIMES: Final = "ARENA_RUNTIMES"
"""Environment variable: more folders that bots see, with colons between them."""
_USR: Final = Path("/usr")
_SYSTEM_LINKS: Final = tuple(map(Path, ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")))
_OF_ETC: Final = ("ld.so.cache", "alternatives", "java*")
"""Entries of /etc that the loader, programs chosen by update-alternatives and Debian's Java need."""
_SYSTEM_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")


@cache
def search_path() -> str:
    """Return PATH inside the sandbox: named runtimes, arena's own Python, the system."""
    programs = [str(folder / "bin" if (folder / "bin").is_dir() else folder) for folder in folders()]
    return ":".join([*programs, *_SYSTEM_PATH])


@cache
def folders() -> tuple[Path, ...]:
    """Return the folders that bots see besides the system's: those in ARENA_RUNTIMES, and the Python arena runs on.

    Raises SpecError for a folder that does not exist or contains the home folder.
    """
    named = [Path(word) for word in os.environ.get(RUNTIMES, "").split(":") if word]
    for folder in named:
        if not folder.is_absolute() or not folder.is_dir():
            raise SpecError(f"{RUNTIMES}: {folder}: expected the absolute path of a folder")
        if Path.home().resolve().is_relative_to(folder.resolve()):
            raise SpecError(f"{RUNTIMES}: {folder}: your home folder is in there; name the runtime's own folder")
    python = Path(sys.base_prefix).resolve()
    return tuple(named) if python.is_relative_to(_USR) else (*named, python)


def binds() -> list[str]:
    """Return arguments for bwrap that make system folders and runtimes visible, read-only."""
    return [*_system_binds(), *(word for path in folders() for word in ("--ro-bind", str(reachable(path)), str(path)))]


@cache
def _system_binds() -> tuple[str, ...]:
    """Return arguments for bwrap that make system folders visible, and links to them such as /bin."""
    links = (word for link in system_links() for word in ("--symlink", str(link.readlink()), str(link)))
    return (*links, *(word for root in _system_roots() for word in ("--ro-bind", str(root), str(root))))


@cache
def system_links() -> tuple[Path, ...]:
    """Return the links in `/` that bots see, such as /bin."""
    return tuple(link for link in _SYSTEM_LINKS if link.is_symlink())


@cache
def _system_roots() -> tuple[Path, ...]:
    """Return the system folders and the entries of /etc that bots see."""
    folders = (link for link in _SYSTEM_LINKS if link.is_dir() and not link.is_symlink())
    return (_USR, *folders, *(path for pattern in _OF_ETC for path in sorted(Path("/etc").glob(pattern))))


def roots() -> tuple[Path, ...]:
    """Return the folders and files of this machine that bots see at the same path."""
    return (*_system_roots(), *folders())


def is_visible(path: Path) -> bool:
    """Return True if a bot sees the file at this absolute path of the machine."""
    return any(path.is_relative_to(root) for root in (*roots(), *system_links()))


def require_python() -> str:
    """Return the path of the Python for bots; raises HarnessFault if there is none."""
    python = shutil.which("python3", path=search_path())
    if python is None:
        raise HarnessFault("no python3 for bots: install Python for the whole machine")
    return python
