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
"""Links on one path, as in the kernel."""


class Sight:
    """The files that the bot in `folder` sees: its own, and those below `roots`, which lie at the same place here."""

    def __init__(self, folder: str, roots: tuple[Path, ...], links: tuple[Path, ...] = ()) -> None:
        self._folder, self._links = PurePath(folder), frozenset(map(PurePath, links))
        self._roots = tuple(map(PurePath, roots))

    def find(self, path: str) -> Path | None:
        """The place, without links, to which a path of the bot leads; None if it leads out of what the bot sees.

        Nothing need lie at the place.
        """
        here, left, links = self._folder, _parts(path), 0
        if path.startswith("/"):
            here = _ROOT
        while left:
            part = left.pop()
            if part == "..":
                here = _ROOT if here == self._folder else here.parent
                continue
            here /= part
            if here == PurePath(HOME_INSIDE):
                here = self._folder
            elif here not in self._links and not self._is_within(here):
                if not any(root.is_relative_to(here) for root in self._roots):
                    return None
            elif here not in self._roots and (target := _target(here)):
                links += 1
                if links > _MOST_LINKS:
                    return None
                here = _ROOT if target.startswith("/") else here.parent
                left += _parts(target)
        return Path(here) if self._is_within(here) else None

    def _is_within(self, place: PurePath) -> bool:
        return place.is_relative_to(self._folder) or any(place.is_relative_to(root) for root in self._roots)


def sight(folder: str) -> Sight:
    """The files that a sandboxed bot in `folder` sees."""
    return Sight(folder, runtimes.roots(), runtimes.system_links())


def _parts(path: str) -> list[str]:
    """The parts of a path, the first one last."""
    return [part for part in reversed(path.split("/")) if part not in {"", "."}]


def _target(place: PurePath) -> str:
    """The text of a link; empty for anything else."""
    try:
        return str(Path(place).readlink())
    except OSError:
        return ""
