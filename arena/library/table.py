"""Rows for a notebook: a list of dicts that shows itself as a table, and a picture that shows itself.

Rule: `pandas.DataFrame(table)` and `polars.DataFrame(table)` take it as it is; neither is needed.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from tabulate import tabulate

from arena.report.formats import Style


class Table(list[dict[str, Any]]):
    """Rows by column. `shown`: the columns of the picture that a notebook or a terminal gets; `title` stands above."""

    def __init__(self, rows: Iterable[dict[str, Any]], *, shown: Sequence[str] = (), title: str = "") -> None:
        super().__init__(rows)
        self.shown = tuple(shown) or tuple(dict.fromkeys(name for row in self for name in row))
        self.title = title

    def __str__(self) -> str:
        cells = [[_cell(row.get(name)) for name in self.shown] for row in self]
        table = tabulate(cells, headers=self.shown, disable_numparse=True)
        return "\n\n".join(filter(None, [self.title, table]))

    def _repr_html_(self) -> str:
        """The table for a notebook; names are text, whatever they hold."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.shown)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(_cell(row.get(name)))}</td>' for name in self.shown)}</tr>" for row in self
        )
        return f"<p>{escape(self.title)}</p><table><tr>{head}</tr>{body}</table>"


class Picture(str):
    """An SVG document, as text; a notebook draws it."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def _cell(value: object) -> str:
    match value:
        case None:
            return "-"
        case float():
            return f"{value:.3f}"
        case list() | tuple():
            return " ".join(map(_cell, value))
        case dict():
            return ", ".join(f"{name} {_cell(one)}" for name, one in value.items()) or "-"
    return Style().names([str(value)])[0]
