"""Hand-ins of a class: from the folders that a person or a learning platform collected to one bot for each author.

Rule: the name of a hand-in says whose it is; only names that the organiser or the platform gave are looked at, and none
that an author could choose. A hand-in that cannot be used is refused alone.
"""

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from arena.errors import SpecError
from arena.process.manifest import IGNORED, INTERPRETERS, MANIFEST, SOURCE_FILE_LIMIT, bot_files, safe_path
from arena.store.authors import Author, match_author
from arena.store.bots import is_note
from arena.store.homes import write_file
from arena.text import counted

_NO_PART: Final = IGNORED | {"__MACOSX"}
"""Names of files and folders that are no part of a hand-in."""
_MOST_NAMED: Final = 6


class HandIn(msgspec.Struct, frozen=True):
    """A hand-in: `text` names it for the organiser, `bot` is the bot in it, `reason` says why there is none.

    Without an author it is nobody's; without `bot` and `reason` it is missing, or not for this command.
    """

    text: str
    author: Author | None = None
    bot: Path | None = None
    reason: str = ""


def read_hand_ins(texts: Sequence[str], authors: Sequence[Author], scratch: Path) -> Iterator[HandIn]:
    """Yield the hand-in of each author, in their order, then those that are nobody's; files are made in `scratch`.

    `texts` are hand-ins, or if no line of the authors matches one of them, folders of hand-ins.
    """
    by_author, others = dict[str, list[tuple[str, Path]]](), list[HandIn]()
    for text, path in _list_places(texts, authors):
        try:
            author = match_author(path.name, authors)
        except SpecError as error:
            others.append(HandIn(text, reason=str(error)))
            continue
        if author is None or is_note(path):
            reason = "" if is_note(path) else f"no line matches the name {safe_path(path.name)}"
            others.append(HandIn(text, reason=reason))
        else:
            by_author.setdefault(author.name, []).append((text, path))
    for author in authors:
        yield from _hand_ins_of(author, by_author.get(author.name, []), scratch)
    yield from others


def _list_places(texts: Sequence[str], authors: Sequence[Author]) -> list[tuple[str, Path]]:
    """Return the text and the path of each hand-in. SpecError for a text that names nothing."""
    places = [(text.rstrip("/") or text, Path(os.path.abspath(text))) for text in dict.fromkeys(texts)]  # noqa: PTH100 - no link is followed
    for text, path in places:
        if not os.path.lexists(path):
            raise SpecError(f"{text}: no such file or folder")
    if _has_match(places, authors):
        return places
    return [entry for text, path in places for entry in _list_folder(text, path, authors)]


def _list_folder(text: str, path: Path, authors: Sequence[Author]) -> list[tuple[str, Path]]:
    """Return the hand-ins in a folder of hand-ins, or in the one folder that lies in it; else the place itself."""
    if not path.is_dir() or os.path.lexists(path / MANIFEST):
        return [(text, path)]
    names = sorted(entry.name for entry in path.iterdir() if entry.name not in _NO_PART)
    places = [(f"{text}/{name}", path / name) for name in names]
    if len(places) == 1 and not places[0][1].is_symlink() and not _has_match(places, authors):
        return _list_folder(*places[0], authors)
    return places


def _has_match(places: Sequence[tuple[str, Path]], authors: Sequence[Author]) -> bool:
    """Return True if a line of the authors matches one of these names."""
    try:
        return any(match_author(path.name, authors) is not None for _, path in places)
    except SpecError:
        return True


def _hand_ins_of(author: Author, places: Sequence[tuple[str, Path]], scratch: Path) -> Iterator[HandIn]:
    """Yield the hand-in of an author; several are all refused."""
    if not places and author.is_active:
        yield HandIn(author.hand_in, author)
    for text, path in places:
        if not author.is_active:
            yield HandIn(text, author)
        elif len(places) > 1:
            yield HandIn(text, author, reason=f"{author.name} has {len(places)} hand-ins here; leave one of them")
        else:
            try:
                yield HandIn(text, author, _find_bot(path, author.name, scratch))
            except (SpecError, OSError) as error:
                yield HandIn(text, author, reason=getattr(error, "strerror", None) or str(error))


def _find_bot(path: Path, author: str, scratch: Path) -> Path:
    """Return the bot of a hand-in: the only folder in it with a manifest, or a copy of its only script.

    A script gets the name of its author: platforms give files names with that of the person.
    SpecError if it has none or several.
    """
    if stat.S_ISDIR(path.lstat().st_mode):
        folders, scripts = _look_into(path)
        if len(folders) == 1:
            return folders[0]
        if folders or len(scripts) != 1:
            found = [str(place.relative_to(path)) for place in folders or scripts]
            listed = ": " + safe_path(", ".join(found[:_MOST_NAMED])) if found else ""
            kind = "folder" if folders else "script"
            raise SpecError(
                f"{author}: expected one folder with a {MANIFEST}, or one script; found {counted(len(found), kind)}"
                f"{f' with a {MANIFEST}' if folders else ''}{listed}{' ...' * (len(found) > _MOST_NAMED)}"
            )
        path = scripts[0]
    folder = Path(tempfile.mkdtemp(dir=scratch))
    for file in bot_files(path, is_handed_in=True):
        write_file(folder, file._replace(name=f"{author}{path.suffix}"))
    return folder / f"{author}{path.suffix}"


def _look_into(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the outermost folders with a manifest at `path` and below, and the scripts. No link is followed."""
    bots, scripts = list[Path](), list[Path]()
    for number, (place, folders, names) in enumerate(os.walk(path), start=1):
        if number > SOURCE_FILE_LIMIT:
            raise SpecError(f"more than {SOURCE_FILE_LIMIT} folders")
        folders[:] = sorted(set(folders) - _NO_PART)
        if MANIFEST in names or MANIFEST in folders:
            bots.append(Path(place))
            folders.clear()
        files = [Path(place, name) for name in sorted(names) if name[0] != "."]
        scripts += [file for file in files if file.suffix.lower() in INTERPRETERS or _is_executable(file)]
    return bots, scripts


def _is_executable(file: Path) -> bool:
    """Return True for a plain file with an executable bit, which needs no interpreter."""
    mode = file.lstat().st_mode
    return stat.S_ISREG(mode) and bool(mode & stat.S_IXUSR)
