"""Parts of sentences for a person: counts, lists of names, and text of others that no terminal obeys."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, count
from textwrap import wrap
from typing import Final

_SHOWN_MAX: Final = 60
_MOST_LISTED: Final = 30
"""The most known names that are all listed; of more, only a few are, similar ones first."""
_NAMED_OF_MANY: Final = 5


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return `1 match`, `2 matches`; `plural` is needed where it is not the noun with an s."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def distinguish_names(names: Sequence[str], *marks: Sequence[str]) -> list[str]:
    """Return the names with suffixes that make equal ones differ.

    `marks` are lists of suffixes, one for each name. The first list without a repetition is used; numbers, if there is
    none, or if the result is another name of the list.
    """
    counts, distinct = Counter(names), list[str]()
    chosen = next((mark for mark in marks if len(set(mark)) == len(names)), None)
    for place, name in enumerate(names):
        suffixes: Iterable[object] = chain(() if chosen is None else chosen[place : place + 1], count(1))
        candidates = (f"{name}-{suffix}" for suffix in suffixes)
        unused = (candidate for candidate in candidates if counts[candidate] != 1 and candidate not in distinct)
        distinct.append(name if counts[name] == 1 else next(unused))
    return distinct


def lay_out_columns(entries: Sequence[str], width: int) -> list[str]:
    """Lay out the entries in as many columns as fit into `width` characters; return the lines."""
    if not entries:
        return []
    gap = 3
    columns = max(1, (width + gap) // (max(map(len, entries)) + gap))
    rows = -(-len(entries) // columns)
    by_column = [entries[start : start + rows] for start in range(0, len(entries), rows)]
    widths = [max(map(len, column)) + gap for column in by_column]
    return [
        "".join(
            f"{column[row]:<{size}}" for column, size in zip(by_column, widths, strict=True) if row < len(column)
        ).rstrip()
        for row in range(rows)
    ]


def wrap_lines(text: str, width: int) -> str:
    """Wrap each line at `width` characters; the continuation of a line is indented by four more."""
    return "\n".join(part for line in text.split("\n") for part in _wrap_line(line, width))


def _wrap_line(line: str, width: int) -> list[str]:
    """Return the parts of a line of at most `width` characters each; the second and later ones are indented."""
    if len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return wrap(line, width, subsequent_indent=indent, break_on_hyphens=False, expand_tabs=False)


def shorten(name: str, limit: int) -> str:
    """Cut a name to at most `limit` characters in the middle, because versions differ at the end."""
    end = limit // 2
    return name if len(name) <= limit else f"{name[: limit - end - 1]}…{name[-end:]}"


def describe_range(numbers: Sequence[int]) -> str:
    """Return `2`, `2 to 4`, or with gaps `2 or 4`, for `numbers` in ascending order."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) > 1 and last - first == len(numbers) - 1:
        return f"{first} to {last}"
    return " or ".join(map(str, numbers))


def join_words(words: Sequence[object]) -> str:
    """Return the words as `0`, `0 and 1` or `0, 1 and 3`; ValueError without any."""
    *first, last = map(str, words)
    return f"{', '.join(first)} and {last}" if first else last


def printable(text: str, *, keep: str = "") -> str:
    """Replace each character that does not print by its escape; those in `keep` stay.

    Text of others must pass here before it reaches a terminal, which would obey its control characters.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def join_lines(text: str) -> str:
    """Join the lines that are not empty by "; " (a space after a first line that ends with ":"), as printable text."""
    first, *others = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    separator = " " if first.endswith(":") else "; "
    return printable(separator.join([first, "; ".join(others)]) if others else first)


def unknown(what: str, found: str, known: Iterable[str]) -> str:
    """Return the message about an unknown word: `unknown option "wnd"; known: wind, sail; did you mean "wind"?`.

    `what` is the kind of word. Of more than 30 known words only 5 are listed, the similar ones first.
    """
    names = list(known)
    found = printable(cut(found))
    similar = difflib.get_close_matches(found, names, n=_NAMED_OF_MANY)
    listed = ", ".join(names) or "none"
    if len(names) > _MOST_LISTED:
        listed_names = [*similar, *(name for name in names if name not in similar)][:_NAMED_OF_MANY]
        listed = f"{', '.join(listed_names)} and {len(names) - len(listed_names)} more"
    question = f'; did you mean "{similar[0]}"?' if similar else ""
    return f'unknown {what} "{found}"; known: {listed}{question}'


def cut(text: str) -> str:
    """Return a text of at most 60 characters: a longer one ends with `...`."""
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 3] + "..."
