"""The files of a command as its bot will find them, looked up before the bot starts.

Rule: outside the bot's folder nothing is looked at that bots do not see. A path is followed part by part as the sandbox
would, links too, and ends where it leaves what bots see, whatever lies there. So no message about a bot shows whether a
file of the machine exists, may be run, or how it begins.
"""

from pathlib import Path, PurePath
from typing import Final

from arena.process.sandbox import runtimes
from arena.process.sandbox.bubblewrap import HOME_INSIDE

_ROOT: Final = PurePath("/")
_MOST_LINKS: Final = 40
"""Most links followed on one path, as in the kernel."""


class Sight:
    """The view that the bot in `folder` has of this machine: its folder, and files below `roots` at the same path."""

    def __init__(self, folder: str, roots: tuple[Path, ...], links: tuple[Path, ...] = ()) -> None:
        self._folder, self._links = PurePath(folder), frozenset(map(PurePath, links))
        self._roots = tuple(map(PurePath, roots))

    def find(self, path: str) -> Path | None:
        """Resolve a path as the bot would; return the path on this machine, None if it leaves what the bot sees.

        The file need not exist.
        """
        here, parts, links = self._folder, _parts_reversed(path), 0
        if path.startswith("/"):
            here = _ROOT
        while parts:
            part = parts.pop()
            if part == "..":
                here = _ROOT if here == self._folder else here.parent
                continue
            here /= part
            if here == PurePath(HOME_INSIDE):
                here = self._folder
            elif here not in self._links and not self._is_visible(here):
                if not any(root.is_relative_to(here) for root in self._roots):
                    return None
            elif here not in self._roots and (target := _link_target(here)):
                links += 1
                if links > _MOST_LINKS:
                    return None
                here = _ROOT if target.startswith("/") else here.parent
                parts += _parts_reversed(target)
        return Path(here) if self._is_visible(here) else None

    def _is_visible(self, place: PurePath) -> bool:
        """Return True if a place lies in the bot's folder, or below a folder that bots see."""
        return place.is_relative_to(self._folder) or any(place.is_relative_to(root) for root in self._roots)


def sight(folder: str) -> Sight:
    """Return the view of a sandboxed bot in `folder`."""
    return Sight(folder, runtimes.roots(), runtimes.system_links())


def _parts_reversed(path: str) -> list[str]:
    """Return the parts of a path in reverse order, without empty ones and `.`."""
    return [part for part in reversed(path.split("/")) if part not in {"", "."}]


def _link_target(place: PurePath) -> str:
    """Return the target of a link; empty for anything else."""
    try:
        return str(Path(place).readlink())
    except OSError:
        return ""
