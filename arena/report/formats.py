"""Formats of a page: values -> cells, and cells and sentences -> a terminal's table, Markdown, CSV or JSON.

Rule: names are hostile input. With any name of a player every format keeps its rows and columns, no terminal obeys
an escape sequence, and no spreadsheet computes a formula.
"""

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import msgspec

from arena.statistics.interval import Interval
from arena.text import printable

FORMATS: Final = ("table", "markdown", "csv", "json")
UNKNOWN: Final = "-"
LONGEST_NAME: Final = 24
"""Longer names lose their middle in a table for a terminal; it grows while two names would look the same."""
LEAST_NAME: Final = 8
"""The shortest length to which names are cut so that a table fits; one that never fits is printed in parts."""
LONGEST_NAME_AT_ALL: Final = 60
LEAST_TEXT: Final = 20
"""The least width of a column of descriptions, however narrow the page."""

_ROWS_IN_A_PIECE: Final = 1000

# Characters that GitHub's Markdown reads as markup inside a table cell; underscores only at the edge of a word.
_MARKUP: Final = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])")
# Characters that a spreadsheet takes for the start of a formula, also in the wide forms that it reads the same way.
_FORMULA: Final = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


class Column(msgspec.Struct, frozen=True):
    """A column of a table: header of up to two lines and cells; on a web page `links` are the targets of cells."""

    header: str
    cells: Sequence[str]
    align: str = "right"
    meaning: str = ""
    links: Sequence[str] = ()
    surprises: Sequence[float] = ()
    """The surprise of each cell, by which the matrix is shaded."""
    is_key: bool = False
    """True if it identifies the rows: each part of a table that is too wide begins with it."""


class Style(msgspec.Struct, frozen=True):
    """The look of a page for people: lines of up to `width` characters, or Markdown or HTML, which have no limit.

    Tables have the named `columns` in this order; without names they have a few, or if `is_wide` all, with a sentence
    for each below.
    """

    is_markdown: bool = False
    width: int | None = None
    columns: tuple[str, ...] = ()
    is_wide: bool = False
    longest_name: int = LONGEST_NAME
    is_html: bool = False

    def fit(self, columns: Callable[["Style"], Sequence[Column]]) -> Sequence[Column]:
        """Make the columns of this style; names in a table that is too wide are cut, if that makes it fit.

        `columns` makes them for a style, whose `longest_name` is the limit of names; it may be called twice.
        """
        made = columns(self)
        lengths = [len(cell) for column in made if column.is_key and column.align == "left" for cell in column.cells]
        if self.is_markdown or not lengths or self.fits(text := format_table(made)):
            return made
        excess = max(map(len, text.splitlines())) - (self.width or 0)
        cut = columns(msgspec.structs.replace(self, longest_name=max(LEAST_NAME, max(lengths) - excess)))
        return cut if self.fits(format_table(cut)) else made

    def table(self, columns: Sequence[Column]) -> str:
        """Format columns side by side; a table that is too wide comes in parts, one below the other."""
        if self.is_markdown or self.is_html:
            return format_table(columns, "html" if self.is_html else "pipe")
        return "\n\n".join(map(format_table, split_columns(columns, lambda part: self.fits(format_table(part)))))

    def fits(self, text: str) -> bool:
        """Return True if no line is longer than `width`."""
        return self.width is None or max(map(len, text.splitlines()), default=0) <= self.width

    def names(self, names: Sequence[str]) -> list[str]:
        """Format the names of players as cells: escaped for Markdown, else cut to `longest_name`."""
        return [escape(name) for name in names] if self.is_markdown else clip_names(names, self.longest_name)

    def sentences(self, lines: Iterable[str], *, title: str = "") -> str:
        """Format each sentence as a line, in Markdown and HTML as a paragraph, below a title."""
        if self.is_html:
            heading = [f"<h2>{escape_html(title)}</h2>"] if title else []
            return "\n".join([*heading, *(f"<p>{escape_html(line.strip())}</p>" for line in lines)])
        if self.is_markdown:
            heading = [f"## {escape(title)}"] if title else []
            return "\n\n".join([*heading, *(escape(line.strip()) for line in lines)])
        return "\n".join(wrap_sentence(printable(line), self.width) for line in ([title, *lines] if title else lines))

    def output(self, text: str) -> str:
        """Format the output of a bot as it is: indented, which no line of it can end in Markdown, or as HTML."""
        if self.is_html:
            return f"<pre>{escape_html(text)}</pre>"
        return "\n".join(f"    {printable(line)}" for line in text.splitlines())


def grid(rows: Iterable[Sequence[object]], **options: Any) -> str:
    """Format rows with `tabulate`, which is imported with the first table: most processes print none."""
    from tabulate import tabulate  # noqa: PLC0415 - see above

    return tabulate(rows, **options)


def format_table(columns: Sequence[Column], style: str = "simple") -> str:
    """Format columns side by side: `simple` for a terminal; `pipe` for Markdown and `html` have headers of one line."""
    has_one_line = style != "simple"
    return grid(
        list(zip(*(column.cells for column in columns), strict=True)),
        headers=[column.header.replace("\n", " ") if has_one_line else column.header for column in columns],
        tablefmt=style,
        disable_numparse=True,  # the name of a player may be 1e5
        colalign=[column.align for column in columns],
    )


PLAIN: Final = Style()
"""The style without a limit of width, with the default columns."""


def split_columns(columns: Sequence[Column], fits: Callable[[list[Column]], bool]) -> list[list[Column]]:
    """Divide columns into parts for which `fits` is true; each part after the first begins with the key columns.

    A column that never fits stands alone beside them.
    """
    keys = [column for column in columns if column.is_key]
    parts: list[list[Column]] = [[]]
    for column in columns:
        if any(not other.is_key for other in parts[-1]) and not fits([*parts[-1], column]):
            parts.append([*keys])
        if not (len(parts) > 1 and column.is_key):
            parts[-1].append(column)
    return parts


def format_listing(headers: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> str:
    """Format a table whose last column is broken into lines so that it fits into `width` (characters; None: no limit).

    The column keeps a width of `LEAST_TEXT`, so that a table with much before it is wider.
    """
    before = grid([row[:-1] for row in rows], headers=headers[:-1], disable_numparse=True)
    left = None if width is None else max(width - len(before.splitlines()[1]) - 2, LEAST_TEXT)
    return grid(rows, headers=headers, disable_numparse=True, maxcolwidths=[*[None] * (len(headers) - 1), left])


def wrap_sentence(text: str, width: int | None) -> str:
    """Break a sentence into lines and indent those after the first; without a width it stays one line.

    A word that is longer than a line stays whole: it may be the id of a match.
    """
    start = " " * (len(text) - len(text.lstrip(" ")))
    lines, line = [], ""
    for word in text.split():
        before = f"{line} " if line else start
        if line and width is not None and len(before) + len(word) > width:
            lines.append(line)
            before = f"{start}  "
        line = before + word
    return "\n".join([*lines, line])


def escape(text: str) -> str:
    """Escape `text` so that Markdown shows it as it is."""
    return _MARKUP.sub(lambda sign: "\\" + sign[0], printable(text))


def escape_html(text: str) -> str:
    """Escape `text` so that HTML shows it as it is."""
    return html.escape(printable(text, keep="\n"))


def clip_names(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """Make names printable and cut them to the first length from `longest` on that keeps them distinct.

    `LONGEST_NAME_AT_ALL` is the last length tried: longer names may come out equal.
    """
    shown = [printable(name) for name in names]
    cut: list[str] = []
    for length in range(longest, LONGEST_NAME_AT_ALL + 1):
        head, tail = length - length // 3 - 1, length // 3
        cut = [name if len(name) <= length else f"{name[:head]}…{name[-tail:]}" for name in shown]
        if len(set(cut)) == len(set(shown)):
            break
    return cut


def list_some(names: Sequence[str], most: int = 5) -> str:
    """Format the first `most` of `names`, and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def align(parts: Sequence[Sequence[str]], between: str) -> list[str]:
    """Join the parts of each row, each padded to the widest of its column, so that digits stand below digits.

    A row of nothing but `UNKNOWN` becomes a single `UNKNOWN`.
    """
    widths = [max(map(len, column)) for column in zip(*parts, strict=True)]
    return [
        between.join(part.rjust(width) for part, width in zip(row, widths, strict=True))
        if any(part != UNKNOWN for part in row)
        else UNKNOWN
        for row in parts
    ]


def half_width(interval: Interval | None, digits: int = 2, scale: float = 1.0) -> str:
    """Format the reach of a 95 % interval: `±4.2`; `-8.2/+4.2` if its sides differ; `-13.9` if it has one side.

    `±?` if one of its ends is not known; `UNKNOWN` without an interval. Numbers are multiplied by `scale`.
    """
    if interval is None:
        return UNKNOWN
    if not interval.is_bounded:
        return "±?"
    down, up = (
        f"{scale * side:.{digits}f}" for side in (interval.value - interval.low, interval.high - interval.value)
    )
    none = f"{0:.{digits}f}"
    if down == up:
        return f"±{up}"
    return "/".join(text for text, width in ((f"-{down}", down), (f"+{up}", up)) if width != none)


def intervals(
    values: Sequence[Interval | None], digits: int = 2, scale: float = 1.0, *, is_signed: bool = False
) -> list[str]:
    """Format values with their intervals as the cells of a column, digits below digits; `UNKNOWN` for None.

    Numbers are multiplied by `scale`; `is_signed` puts a sign before each value.
    """
    sign = "+" if is_signed else ""
    return align(
        [
            (UNKNOWN, UNKNOWN)
            if interval is None
            else (f"{scale * interval.value:{sign}.{digits}f}", half_width(interval, digits, scale))
            for interval in values
        ],
        " ",
    )


def chance_percent(fraction: float | None) -> str:
    """Format a chance (0 to 1) in per cent, as `>99.9` or `<0.1` near the ends; `UNKNOWN` for None."""
    if fraction is None:
        return UNKNOWN
    return ">99.9" if fraction > 0.999 else "<0.1" if fraction < 0.001 else percent(fraction)


def percent(fraction: float | None) -> str:
    """Format a fraction in per cent with one decimal, without the sign; `UNKNOWN` for None."""
    return UNKNOWN if fraction is None else f"{100 * fraction:z.1f}"


def two_decimals(value: float | None) -> str:
    """Format a number with two decimals; `UNKNOWN` for None."""
    return UNKNOWN if value is None else f"{value:z.2f}"


def csv_pieces(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield CSV in pieces of whole lines, with quotes only where they are necessary: `cut -d,` gives ids as they are.

    True is written as 1, None as an empty cell.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    left = iter(rows)
    while piece := text.getvalue():
        yield piece
        text.seek(0)
        text.truncate()
        writer.writerows(map(_csv_cell, row) for row in islice(left, _ROWS_IN_A_PIECE))


def json_text(document: object) -> str:
    """Format a document as one line of JSON, the same bytes for equal values; no terminal obeys it."""
    text = msgspec.json.encode(document).decode()
    if text.isprintable():
        return text
    return "".join([char if char.isprintable() else json.dumps(char)[1:-1] for char in text])


def _csv_cell(value: object) -> object:
    """Format a value for CSV so that no terminal obeys it and no spreadsheet computes it.

    A dict of counts by name and a tuple of sentences become text.
    """
    match value:
        case str():
            return _disarm(value)
        case bool():
            return int(value)
        case dict():
            return ", ".join(f"{name} {count}" for name, count in value.items())
        case tuple():
            return _disarm("; ".join(value))
    return value


@lru_cache(maxsize=4096)
def _disarm(text: str) -> str:
    """Return a printable text that no spreadsheet takes for a formula."""
    shown = printable(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown
