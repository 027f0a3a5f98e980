"""Authors of submitted bots: the removal of one with all that no result rests on, and the times of their hand-ins."""

import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from arena.errors import SpecError
from arena.operations.grades import report_name
from arena.operations.request import Request
from arena.store.authors import delete_author, read_authors
from arena.store.bots import BotStore
from arena.store.folder import open_store_for_writing
from arena.store.owners import owner_of_user
from arena.store.times import Correction
from arena.text import printable, unknown

_REPORTS: Final = {".html", ".md", ".txt"}


class CorrectTime(Request, frozen=True, kw_only=True):
    """The time, in ISO 8601 with its zone, of the last hand-in of `bot`, `name` or `name@beginning-of-hash`."""

    bot: str
    time: str


class RemoveAuthor(Request, frozen=True, kw_only=True):
    """The author to remove, the owner of bots; `places` are the file of the class, and folders with reports."""

    author: str
    places: tuple[Path, ...] = ()


def correct_time(request: CorrectTime) -> Correction:
    """Correct the time of a hand-in, and note this user as the maker. SpecError for an unknown bot, or another form."""
    try:
        at = msgspec.convert(request.time, Annotated[datetime, Meta(tz=True)])
    except msgspec.ValidationError:
        expected = "expected a time with its zone, as 2026-11-27T18:00:00+01:00"
        raise SpecError(f"{printable(request.time)}: {expected}") from None
    return BotStore(request.results, request.results).correct_time(request.bot, at, owner_of_user())


def remove_author(request: RemoveAuthor) -> list[tuple[str, str]]:
    """Remove an author for ever; return the name and hash of each version that was handed in.

    Sources, texts on stderr, reports and the line of the file are deleted; played names, hashes and matches stay. The
    request may be repeated, also after a kill. SpecError for an unknown author or a place that is missing.
    """
    bots, author = BotStore(request.results, request.results), request.author
    versions, owned = bots.versions_of(author), bots.owned_names()
    files = [place for place in request.places if not place.is_dir()]
    listed = {line.name for file in files for line in read_authors(file)}
    if not versions and author not in listed:
        raise SpecError(unknown("author", author, sorted({entry.owner for entry in bots.submissions()})))
    digests = {digest for _, digest in versions}
    with open_store_for_writing(request.results) as store:
        store.remove_bots(digests)
        bots.delete_sources(digests)
    for file in files:
        delete_author(file, author)
    names = {author, report_name(author), *(name for name, owner in owned.items() if owner == author)}
    others = {*owned, *owned.values()} - names
    for folder in request.places:
        for path in folder.iterdir() if folder.is_dir() else ():
            first = re.sub(r"-\d+\Z", "", path.stem)  # `ada-2.txt` is a second report for ada, if nobody is called so
            if path.suffix in _REPORTS and (path.stem in names or (first in names and path.stem not in others)):
                path.unlink()
    return versions
