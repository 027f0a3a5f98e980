"""Parts of sentences for a person: counts, lists of names, and text of others that no terminal obeys."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count
from textwrap import wrap
from typing import Final

_SHOWN_MAX: Final = 60
_MOST_LISTED: Final = 30
"""Known names that are listed all; of more, the nearest and a few."""
_NAMED_OF_MANY: Final = 5


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 match`, `2 matches`; `plural` where it is not the noun with an s."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def names_apart(names: Sequence[str], *marks: Sequence[str]) -> list[str]:
    """The names, of which equal ones get the first of `marks` that tells all apart, or else a number, behind them."""
    times, apart = Counter(names), list[str]()
    telling = next((mark for mark in marks if len(set(mark)) == len(names)), None)
    for place, name in enumerate(names):
        endings = count(1) if telling is None else telling[place : place + 1]
        longer = (f"{name}-{ending}" for ending in endings)
        free = (other for other in longer if times[other] != 1 and other not in apart)
        apart.append(name if times[name] == 1 else next(free))
    return apart


def in_columns(entries: Sequence[str], width: int) -> list[str]:
    """The entries in lines of at most so many characters, as many columns as fit, to be read column by column."""
    if not entries:
        return []
    gap = 3
    columns = max(1, (width + gap) // (max(map(len, entries)) + gap))
    rows = -(-len(entries) // columns)
    by_column = [entries[start : start + rows] for start in range(0, len(entries), rows)]
    widths = [max(map(len, column)) + gap for column in by_column]
    return [
        "".join(
            f"{column[row]:<{wide}}" for column, wide in zip(by_column, widths, strict=True) if row < len(column)
        ).rstrip()
        for row in range(rows)
    ]


def folded(text: str, width: int) -> str:
    """The text in lines of at most so many characters; the rest of a longer one goes on below, four further right."""
    return "\n".join(part for line in text.split("\n") for part in _fold(line, width))


def _fold(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return wrap(line, width, subsequent_indent=indent, break_on_hyphens=False, expand_tabs=False)


def shortened(name: str, most: int) -> str:
    """A name of at most so many characters. The middle of a longer one is left out: versions differ at the end."""
    tail = most // 2
    return name if len(name) <= most else f"{name[: most - tail - 1]}…{name[-tail:]}"


def spanned(numbers: Sequence[int]) -> str:
    """`2`, `2 to 4`, and with gaps `2 or 4`; `numbers` in ascending order."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) > 1 and last - first == len(numbers) - 1:
        return f"{first} to {last}"
    return " or ".join(map(str, numbers))


def enumerated(words: Sequence[object]) -> str:
    """Join words: `0`, `0 and 1`, `0, 1 and 3`."""
    *first, last = map(str, words)
    return f"{', '.join(first)} and {last}" if first else last


def printable(text: str, *, keep: str = "") -> str:
    """The text with an escape in place of each character that does not print, those in `keep` excepted.

    Text of others goes through it before it reaches a terminal, where its escapes would act.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def in_one_line(text: str) -> str:
    """The text of several lines as one sentence, without characters that do not print."""
    first, *others = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    separator = " " if first.endswith(":") else "; "
    return printable(separator.join([first, "; ".join(others)]) if others else first)


def unknown(what: str, found: str, known: Iterable[str]) -> str:
    """`unknown option "wnd"; known: wind, sail; did you mean "wind"?` as one phrase for every such message."""
    names = list(known)
    found = printable(cut(found))
    close = difflib.get_close_matches(found, names, n=_NAMED_OF_MANY)
    listed = ", ".join(names) or "none"
    if len(names) > _MOST_LISTED:
        few = [*close, *(name for name in names if name not in close)][:_NAMED_OF_MANY]
        listed = f"{', '.join(few)} and {len(names) - len(few)} more"
    question = f'; did you mean "{close[0]}"?' if close else ""
    return f'unknown {what} "{found}"; known: {listed}{question}'


def cut(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 3] + "..."
