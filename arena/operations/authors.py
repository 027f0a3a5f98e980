"""Authors of submitted bots: the removal of one, with all that can be deleted without a change of results."""

import re
from pathlib import Path
from typing import Final

from arena.errors import SpecError
from arena.operations.grades import report_name
from arena.operations.request import Request
from arena.store.authors import delete_author, read_authors
from arena.store.bots import BotStore
from arena.store.folder import open_store_for_writing
from arena.text import unknown

_REPORTS: Final = {".html", ".md", ".txt"}


class RemoveAuthor(Request, frozen=True, kw_only=True):
    """The author to remove, the owner of bots; `places` are the file of the class, and folders with reports."""

    author: str
    places: tuple[Path, ...] = ()


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
