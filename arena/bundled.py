"""Bots and tournaments found by name: the user's own folders first, then those that come with arena.

Rule: names mean the same in a checkout, an editable installation and a wheel. A name that the user has taken hides the
bundled one, and each use of it says so.
"""

import filecmp
import logging
import os
from importlib.resources import files
from pathlib import Path
from typing import Final

from arena.errors import SpecError
from arena.text import unknown

PACKAGE: Final = Path(str(files("arena")))
_OWN: Final = Path("tournaments")
_ENDINGS: Final = (".yaml", ".yml")
_HIDDEN: Final = "bundled, hidden"
log: Final = logging.getLogger("arena.bundled")


def bundled_folder(kind: str, package: Path = PACKAGE) -> Path:
    """The folder `bots` or `tournaments` that comes with arena: inside a wheel's package, beside it in a checkout."""
    inside = package / kind
    return inside if inside.is_dir() else package.parent / kind


def is_path(text: str) -> bool:
    """Whether a person means a file or folder rather than a name: anything with a slash."""
    return "/" in text or os.sep in text


def tournaments_on_offer() -> list[tuple[Path, str]]:
    """The file and the place of each tournament: the user's own in `tournaments`, then the bundled ones, by name.

    A folder that is the bundled one, as in a checkout, is that and no other. A hidden tournament says so.
    """
    bundled = bundled_folder("tournaments")
    own = {} if _OWN.resolve() == bundled.resolve() else _tournaments(_OWN)
    found = [(path, f"{_OWN}/") for path in own.values()]
    for name, path in _tournaments(bundled).items():
        is_hidden = name in own and not filecmp.cmp(own[name], path, shallow=False)
        found.append((path, _HIDDEN if is_hidden else "bundled"))
    return found


def find_tournament(text: str) -> Path:
    """The tournament file that a person means: a path, or a name, of the user's own or a bundled one.

    SpecError if there is none.
    """
    path = Path(text)
    if path.is_file():
        return path
    places = tournaments_on_offer()
    if is_path(text) or path.suffix in _ENDINGS:
        known = any(each.stem == path.stem for each, _place in places)
        hint = f"; `{path.stem}` without a path is a tournament that is there" if known else ""
        raise SpecError(f"{text}: {'Is a directory' if path.is_dir() else 'No such file or directory'}{hint}")
    named = [(each, place) for each, place in places if each.stem == text]
    if not named:
        raise SpecError(unknown("tournament", text, [each.stem for each, _place in places]))
    if named[-1][1] == _HIDDEN:
        log.warning("%s is %s here; it hides the bundled tournament %s", text, named[0][0], named[-1][0])
    return named[0][0]


def _tournaments(folder: Path) -> dict[str, Path]:
    """Tournament files by name; none without the folder."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return {path.stem: path for path in found if path.suffix in _ENDINGS}
