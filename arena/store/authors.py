"""The authors of a class: a file `authors.csv` with a line for each of them.

Rule: this file alone says whose a hand-in is, by the name that the platform or the organiser gave to it; nothing inside
a hand-in can. It is read strictly: a mistake names its line and column, and nobody is guessed.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from arena import validation
from arena.errors import SpecError
from arena.process.manifest import SingleLine
from arena.store.files import replace_plain
from arena.store.owners import normalize_owner
from arena.text import cut, join_words, printable

_COLUMNS: Final = ["author", "hand_in", "address", "active"]
_REST: Final = "a fifth value"
_Word = Annotated[
    str,
    Meta(
        pattern=r"^(?!\s)[^/\x00-\x1f\x7f-\x9f]{1,100}(?<!\s)\Z",
        description="1 to 100 characters that print, without a slash and spaces at the ends",
    ),
]


class Author(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An author: the owner of their bots, the name of their hand-in or its beginning, and the address for reports.

    A `*` in `hand_in` stands for any characters. `active` is `no` for an author who does not take part any more.
    """

    name: _Word = msgspec.field(name="author")
    hand_in: _Word
    address: SingleLine
    active: Literal["no", "yes"]


def read_authors(file: Path) -> tuple[Author, ...]:
    """Read the authors of a class. SpecError lists all mistakes, each with its line and column."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        reader = csv.DictReader(io.StringIO(text), restkey=_REST, skipinitialspace=True)
        found = ",".join(reader.fieldnames or ["nothing"])
        rows = [(f"line {reader.line_num}", row) for row in reader]
    except OSError as error:
        raise SpecError(f"{file}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise SpecError(f"{file}: {error}; save the table as CSV in UTF-8") from None
    if reader.fieldnames != _COLUMNS:
        raise SpecError(f"{file}: line 1: expected the columns {','.join(_COLUMNS)}, found {cut(printable(found))}")
    authors, mistakes, places = list[Author](), list[str](), dict[tuple[str, str], str]()
    for place, row in rows:
        try:
            author = validation.read_struct(row, Author, place=place)
            authors.append(msgspec.structs.replace(author, name=normalize_owner(author.name)))
        except SpecError as error:
            mistakes.append(f"{file}: {place}: {str(error).removeprefix(f'{place}: ')}")
            continue
        for column, value in (("author", author.name), ("hand_in", author.hand_in)):
            if (first := places.setdefault((column, value.casefold()), place)) != place:
                mistakes.append(f"{file}: {place}: {column}: {value} is in {first}, too")
    if mistakes:
        raise SpecError("\n".join(mistakes))
    return (*authors,)


def delete_author(file: Path, name: str) -> None:
    """Delete the line of an author, if it is there, in one step. SpecError as from `read_authors`."""
    read_authors(file)
    header, *lines = io.StringIO(file.read_bytes().decode(), newline="")
    rows = csv.reader(lines, skipinitialspace=True)  # a cell has no end of a line, so a row is one
    kept = [line for line, row in zip(lines, rows, strict=True) if not row or normalize_owner(row[0]) != name]
    place = file.resolve()
    replace_plain(place.parent, place.name, "".join([header, *kept]))


def match_author(name: str, authors: Iterable[Author]) -> Author | None:
    """Return the author of a hand-in with that file name, None if no line matches; the longest `hand_in` wins.

    SpecError if a line with a `*` matches and another one, too: the end of a name may be that of the author's own file.
    """
    name = unicodedata.normalize("NFC", name)
    matching = [author for author in authors if _matches(name, unicodedata.normalize("NFC", author.hand_in))]
    if len(matching) > 1 and any("*" in author.hand_in for author in matching):
        listed = join_words([author.hand_in for author in matching])
        raise SpecError(f"the lines with the hand_in {listed} match it; where one has a `*`, only one may match")
    return max(matching, key=lambda author: len(author.hand_in), default=None)


def _matches(name: str, hand_in: str) -> bool:
    """Return True for the name itself, or one that goes on after the end of a word."""
    if "*" in hand_in:
        return re.fullmatch(".*".join(map(re.escape, re.split(r"\*+", hand_in))), name) is not None
    following = name.removeprefix(hand_in)[:1]
    return name.startswith(hand_in) and not (hand_in[-1].isalnum() and following.isalnum())
