"""Rows for a notebook: a list of dicts that shows itself as a table, and a picture that shows itself.

Rule: `pandas.DataFrame(table)` and `polars.DataFrame(table)` take it as it is; neither is needed.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from arena.report.columns import Definition
from arena.report.formats import PLAIN, Column, format_table


class Table(list[dict[str, Any]]):
    """Rows by column. A notebook or a terminal shows these `columns`, by default all, and `title` above them."""

    def __init__(
        self, rows: Iterable[dict[str, Any]], *, columns: Sequence[Definition | str] = (), title: str = ""
    ) -> None:
        super().__init__(rows)
        self.columns = tuple(columns) or tuple(dict.fromkeys(name for row in self for name in row))
        self.title = title

    def __str__(self) -> str:
        return "\n\n".join(filter(None, [self.title, format_table(self._columns())]))

    def _repr_html_(self) -> str:
        """Return the table as HTML for a notebook; names are escaped."""
        columns = self._columns()
        head = "".join(f"<th>{escape(column.header)}</th>" for column in columns)
        rows = zip(*(column.cells for column in columns), strict=True)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        return f"<p>{escape(self.title)}</p><table><tr>{head}</tr>{body}</table>"

    def _columns(self) -> list[Column]:
        """Make the columns to show: by their definition, or of the values of that name."""
        return [
            column.column(self, PLAIN)
            if isinstance(column, Definition)
            else Column(column, [_cell_text(row.get(column)) for row in self], "left")
            for column in self.columns
        ]


class Picture(str):
    """An SVG document as text; a notebook draws it."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def _cell_text(value: object) -> str:
    """Format a value for a cell: numbers with three decimals, lists and dicts in one line."""
    match value:
        case None:
            return "-"
        case float():
            return f"{value:.3f}"
        case list() | tuple():
            return " ".join(map(_cell_text, value))
        case dict():
            return ", ".join(f"{name} {_cell_text(entry)}" for name, entry in value.items()) or "-"
    return PLAIN.names([str(value)])[0]
