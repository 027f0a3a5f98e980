"""Hand-ins of a class: from the folders and archives that a learning platform exports to one bot for each author.

Rule: the name of a hand-in says whose it is; only names that the organiser or the platform gave are looked at, and none
that an author could choose. A hand-in that cannot be used is refused alone.
"""

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from arena.errors import SpecError
from arena.process.manifest import INTERPRETERS, MANIFEST, SOURCE_FILE_LIMIT, bot_files, safe_path
from arena.store.authors import Author, match_author
from arena.store.bots import is_note
from arena.store.homes import write_file
from arena.store.unpack import ENDINGS, NO_PART, reason_of, unpack

_MOST_NAMED: Final = 6
_NESTED_ARCHIVES: Final = 2
"""Most archives in each other in a hand-in."""


class HandIn(NamedTuple):
    """A hand-in: `text` names it for the organiser, `path` is its place, and then that of the bot in it.

    `verdict` is empty for a hand-in with a bot, else "refused", "missing" or "left out", with the reason.
    """

    text: str
    path: Path
    reason: str = ""
    verdict: str = ""
    author: str = ""

    def end(self, verdict: str, reason: str) -> "HandIn":
        """Return the hand-in with its verdict; the reason it has already stays, else it is `reason`."""
        return self._replace(verdict=verdict, reason=self.reason or reason)


def read_hand_ins(texts: Sequence[str], authors: Sequence[Author], scratch: Path) -> Iterator[HandIn]:
    """Yield the hand-in of each author, in their order, then those that are nobody's; files are made in `scratch`.

    `texts` are hand-ins, or if no line of the authors matches one of them, folders and archives of hand-ins. The path
    of a hand-in becomes that of its bot. SpecError for a text that names nothing, or a damaged archive of hand-ins.
    """
    by_author, others = dict[str, list[HandIn]](), list[HandIn]()
    for hand_in in _list_all(texts, authors, scratch):
        try:
            author = match_author(hand_in.path.name, authors)
        except SpecError as error:
            others.append(hand_in.end("refused", str(error)))
            continue
        if not hand_in.reason and is_note(hand_in.path):
            others.append(hand_in.end("left out", "no bot"))
        elif author is None:
            others.append(hand_in.end("refused", f"no line matches the name {safe_path(hand_in.path.name)}"))
        else:
            by_author.setdefault(author.name, []).append(hand_in._replace(author=author.name))
    for author in authors:
        entries = by_author.get(author.name, [])
        if not entries and author.active == "yes":
            yield HandIn(author.hand_in, Path(), "no hand-in", "missing", author.name)
        for hand_in in entries:
            if author.active == "no":
                yield hand_in.end("left out", "not active")
            elif hand_in.reason or len(entries) > 1:
                yield hand_in.end("refused", f"{author.name} has {len(entries)} hand-ins here; leave one of them")
            else:
                yield _open(hand_in, scratch)
    yield from others


def _open(hand_in: HandIn, scratch: Path) -> HandIn:
    """Find the bot of a hand-in, or the reason why there is none."""
    try:
        return hand_in._replace(path=_find_bot(hand_in.path, hand_in.author, scratch))
    except (SpecError, OSError) as error:
        return hand_in.end("refused", reason_of(error))


def _list_all(texts: Sequence[str], authors: Sequence[Author], scratch: Path) -> list[HandIn]:
    """List all hand-ins. SpecError for a text that names nothing, or a damaged archive of hand-ins."""
    places = [
        HandIn(text.rstrip("/") or text, Path(os.path.abspath(text)))  # noqa: PTH100 - no link is followed
        for text in dict.fromkeys(texts)
    ]
    for place in places:
        if not os.path.lexists(place.path):
            raise SpecError(f"{place.text}: no such file or folder")
    if any(_is_known(place.path.name, authors) for place in places):
        return places
    return [hand_in for place in places for hand_in in _list_class(place, authors, scratch)]


def _list_class(place: HandIn, authors: Sequence[Author], scratch: Path) -> list[HandIn]:
    """List the hand-ins in a folder of hand-ins, or in the one folder that lies in it, or in an archive of them.

    Any other place, and a folder with a manifest, is one hand-in. `authors` only tell one author's folder, which is not
    entered, from a folder of many. SpecError for an archive that is refused as a whole, or a place that cannot be read.
    """
    text, path = place.text, place.path
    try:
        if path.is_dir() and not os.path.lexists(path / MANIFEST):
            reasons = dict.fromkeys(sorted({entry.name for entry in path.iterdir()} - NO_PART), "")
        elif _is_archive(path) and not path.is_dir():
            path = Path(tempfile.mkdtemp(dir=scratch))
            reasons = unpack(place.path, path, lambda name: _is_known(name, authors))
        else:
            return [place]
    except (SpecError, OSError) as error:
        raise SpecError(f"{text}: {reason_of(error)}") from None
    entries = [HandIn(f"{text}/{name}", path / name, reason) for name, reason in reasons.items()]
    inner = entries[0].path if len(entries) == 1 and not entries[0].reason else None
    if inner and inner.is_dir() and not inner.is_symlink() and not _is_known(inner.name, authors):
        return _list_class(entries[0], authors, scratch)
    return entries


def _is_archive(path: Path) -> bool:
    """Return True for the name of an archive that can be unpacked."""
    return path.name.lower().endswith(ENDINGS)


def _is_known(name: str, authors: Sequence[Author]) -> bool:
    """Return True if a line of the authors matches the name of a hand-in, or several lines do."""
    try:
        return match_author(name, authors) is not None
    except SpecError:
        return True


def _find_bot(path: Path, author: str, scratch: Path, depth: int = 0) -> Path:
    """Return the bot of a hand-in, which `depth` archives contain: its only folder with a manifest, or its only script.

    A script is copied, with the name of its author: platforms give files names with that of the person. SpecError if
    there is none, or several, or if an archive on the way is refused.
    """
    if stat.S_ISDIR(path.lstat().st_mode):
        folders, files = _look_into(path)
        if len(folders) == 1:
            return folders[0]
        if folders or len(files) != 1:
            found = [str(place.relative_to(path)) for place in folders or files]
            listed = safe_path(", ".join(found[:_MOST_NAMED])) + " ..." * (len(found) > _MOST_NAMED) or "none"
            expected = f"one folder with a {MANIFEST}, one script or one archive ({', '.join(ENDINGS)})"
            raise SpecError(f"expected {expected}; found {len(found)}: {listed}")
        path = files[0]
    folder = Path(tempfile.mkdtemp(dir=scratch))
    if _is_archive(path):
        if depth == _NESTED_ARCHIVES:
            raise SpecError(f"archives lie more than {_NESTED_ARCHIVES} deep in each other")
        if reason := unpack(path, folder).get(""):
            raise SpecError(reason)
        return _find_bot(folder, author, scratch, depth + 1)
    for file in bot_files(path, is_handed_in=True):
        write_file(folder, file._replace(name=f"{author}{path.suffix}"))
    return folder / f"{author}{path.suffix}"


def _look_into(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the outermost folders with a manifest at `path` and below, and the scripts and archives outside them.

    Hidden files, and folders in `NO_PART`, are skipped. SpecError for more than SOURCE_FILE_LIMIT folders.
    """
    bots, others = list[Path](), list[Path]()
    for number, (place, folders, names) in enumerate(os.walk(path), start=1):
        if number > SOURCE_FILE_LIMIT:
            raise SpecError(f"more than {SOURCE_FILE_LIMIT} folders")
        folders[:] = sorted(set(folders) - NO_PART)
        if MANIFEST in names or MANIFEST in folders:
            bots.append(Path(place))
            folders.clear()
        files = [Path(place, name) for name in sorted(names) if name[0] != "."]
        others += [file for file in files if _is_archive(file) or _is_script(file)]
    return bots, others


def _is_script(file: Path) -> bool:
    """Return True for a script by its ending, and for a plain file with an executable bit."""
    mode = file.lstat().st_mode
    return file.suffix.lower() in INTERPRETERS or (stat.S_ISREG(mode) and bool(mode & stat.S_IXUSR))
