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
_USER_FOLDER: Final = Path("tournaments")
_ENDINGS: Final = (".yaml", ".yml")
_HIDDEN: Final = "bundled, hidden"
log: Final = logging.getLogger("arena.bundled")


def bundled_folder(kind: str, package: Path = PACKAGE) -> Path:
    """Return the folder `bots` or `tournaments` of arena: in the package of a wheel, beside it in a checkout."""
    inside = package / kind
    return inside if inside.is_dir() else package.parent / kind


def is_path(text: str) -> bool:
    """Return True if the text names a file or folder by its path: if it has a slash."""
    return "/" in text or os.sep in text


def list_tournaments() -> list[tuple[Path, str]]:
    """Return (file, place) of each tournament: the user's own in `tournaments`, then the bundled ones, by name.

    In a checkout both folders are one, and its tournaments are bundled. The place of a hidden tournament says that it
    is hidden.
    """
    bundled = bundled_folder("tournaments")
    user_files = {} if _USER_FOLDER.resolve() == bundled.resolve() else _files_by_name(_USER_FOLDER)
    rows = [(path, f"{_USER_FOLDER}/") for path in user_files.values()]
    for name, path in _files_by_name(bundled).items():
        is_hidden = name in user_files and not filecmp.cmp(user_files[name], path, shallow=False)
        rows.append((path, _HIDDEN if is_hidden else "bundled"))
    return rows


def find_tournament(text: str) -> Path:
    """Return the tournament file for a path or for the name of a tournament, the user's own or a bundled one.

    Logs a warning if the user's own hides a bundled one. SpecError if there is none.
    """
    path = Path(text)
    if path.is_file():
        return path
    places = list_tournaments()
    if is_path(text) or path.suffix in _ENDINGS:
        is_known = any(file.stem == path.stem for file, _place in places)
        hint = f"; `{path.stem}` without a path is a tournament that is there" if is_known else ""
        raise SpecError(f"{text}: {'Is a directory' if path.is_dir() else 'No such file or directory'}{hint}")
    matches = [(file, place) for file, place in places if file.stem == text]
    if not matches:
        raise SpecError(unknown("tournament", text, [file.stem for file, _place in places]))
    if matches[-1][1] == _HIDDEN:
        log.warning("%s is %s here; it hides the bundled tournament %s", text, matches[0][0], matches[-1][0])
    return matches[0][0]


def _files_by_name(folder: Path) -> dict[str, Path]:
    """Return the tournament files of a folder by name; none if the folder does not exist."""
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    return {path.stem: path for path in paths if path.suffix in _ENDINGS}
