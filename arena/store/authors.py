"""The authors of a class: a file `authors.csv` with a line for each of them.

Rule: this file alone says whose a hand-in is, by the name that the platform or the organiser gave to it; nothing inside
a hand-in can. It is read strictly: a mistake names its line and column, and nobody is guessed.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from arena import validation
from arena.errors import SpecError
from arena.process.manifest import SingleLine
from arena.store.owners import normalize_owner
from arena.text import cut, join_words, printable

AUTHORS_FILE_LIMIT: Final = 1 << 20
"""Bytes of an authors.csv."""
_COLUMNS: Final = ("author", "hand_in", "address", "active")
_HandInName = Annotated[
    str,
    Meta(pattern=r"^(?=.*[^*\s])[^/]{1,200}\Z", description="the name of a file or folder, its beginning, or a `*`"),
]


class Author(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An author: the owner of their bots, the name of their hand-in or its beginning, and the address for reports."""

    name: str = msgspec.field(name="author")
    hand_in: _HandInName
    address: SingleLine
    active: Literal["no", "yes"]

    @property
    def is_active(self) -> bool:
        """True for an author who takes part."""
        return self.active == "yes"


def read_authors(file: Path) -> tuple[Author, ...]:
    """Read the authors of a class. SpecError lists all mistakes, each with its line and column."""
    reader = csv.reader(io.StringIO(_read_text(file), newline=""), strict=True)
    mistakes, authors = list[str](), dict[int, Author]()
    try:
        header = next(reader, [])
        if tuple(header) != _COLUMNS:
            found = cut(printable(",".join(header))) or "nothing"
            raise SpecError(f"{file}: line 1: expected the columns {','.join(_COLUMNS)}, found {found}")
        for row in filter(None, reader):
            try:
                authors[reader.line_num] = _author_of(row, f"{file}: line {reader.line_num}")
            except SpecError as error:
                mistakes.append(str(error))
    except csv.Error as error:
        raise SpecError(f"{file}: line {reader.line_num}: {error}") from None
    mistakes += [f"{file}: {mistake}" for mistake in _repetitions(authors)]
    if mistakes:
        raise SpecError("\n".join(mistakes))
    return (*authors.values(),)


def _read_text(file: Path) -> str:
    """Read the text of the file. SpecError if it cannot be read, is too large, or is no UTF-8."""
    try:
        with file.open("rb") as opened:
            content = opened.read(AUTHORS_FILE_LIMIT + 1)
        if len(content) > AUTHORS_FILE_LIMIT:
            raise SpecError(f"{file}: larger than {AUTHORS_FILE_LIMIT >> 20} MiB")
        return content.decode("utf-8-sig")
    except OSError as error:
        raise SpecError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SpecError(f"{file}: line {line}: no UTF-8; save the table as CSV in UTF-8") from None


def _author_of(row: Sequence[str], place: str) -> Author:
    """Return the author of a line. SpecError for a wrong number of values, or for a wrong value."""
    if len(row) != len(_COLUMNS):
        raise SpecError(f"{place}: expected {len(_COLUMNS)} values, found {len(row)}")
    values = {column: unicodedata.normalize("NFC", value.strip()) for column, value in zip(_COLUMNS, row, strict=True)}
    author = validation.read_struct(values, Author, place=place)
    try:
        normalize_owner(author.name)
    except SpecError as error:
        raise SpecError(f"{place}: author: {error}") from None
    if not author.hand_in.isprintable():
        raise SpecError(f"{place}: hand_in: expected characters that print, found {author.hand_in!a:.80}")
    return author


def _repetitions(authors: dict[int, Author]) -> Iterator[str]:
    """Yield a mistake for each author and each hand-in that an earlier line has, too."""
    lines = dict[tuple[str, str], int]()
    for line, author in authors.items():
        for column, value in (("author", author.name), ("hand_in", author.hand_in)):
            first = lines.setdefault((column, value.casefold()), line)
            if first != line:
                yield f"line {line}: {column}: {value} is in line {first}, too"


def match_author(name: str, authors: Iterable[Author]) -> Author | None:
    """Return the author of a hand-in with that file name, None if no line matches; the longest `hand_in` wins.

    SpecError if two of that length match.
    """
    plain = unicodedata.normalize("NFC", name)
    matching = [author for author in authors if _matches(plain, author.hand_in)]
    most = max((len(author.hand_in.replace("*", "")) for author in matching), default=0)
    longest = [author for author in matching if len(author.hand_in.replace("*", "")) == most]
    if len(longest) > 1:
        listed = join_words([author.hand_in for author in longest])
        raise SpecError(f"the lines with the hand_in {listed} match it; make one of them longer")
    return longest[0] if longest else None


def _matches(name: str, hand_in: str) -> bool:
    """Return True for the name itself, or one that goes on after the end of a word; a `*` stands for any characters."""
    if "*" in hand_in:
        return re.fullmatch(".*".join(map(re.escape, re.split(r"\*+", hand_in))), name) is not None
    following = name.removeprefix(hand_in)[:1]
    return name.startswith(hand_in) and not (hand_in[-1].isalnum() and following.isalnum())
