"""What the benchmarks print: tables of text and figures, a figure beside its goal with `ok` or `MISS`.

Rule: values only. A table is printed for people and written as JSON for programs; nothing here measures.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import msgspec
from tabulate import tabulate

_HOLDS: Final[Mapping[str, Callable[[float, float], bool]]] = {"<=": operator.le, ">=": operator.ge, "<": operator.lt}


class Goal(msgspec.Struct, frozen=True):
    """The bound that a figure should keep: `Goal("<=", 3)`."""

    relation: Literal["<=", ">=", "<"]
    bound: float

    def verdict(self, value: float) -> str:
        """Return `ok` or `MISS`."""
        return "ok" if _HOLDS[self.relation](value, self.bound) else "MISS"

    def __str__(self) -> str:
        return f"{self.relation} {self.bound:g}"


class Figure(msgspec.Struct, frozen=True):
    """A measured number, the decimals worth showing, its goal if it has one, and the half width of its 95 % interval.

    A difference has an error; one within its error is shown as `< error`.
    """

    value: float
    digits: int = 1
    goal: Goal | None = None
    error: float | None = None

    def __str__(self) -> str:
        return self._shown() if self.goal is None else f"{self._shown()} ({self.goal}) {self.goal.verdict(self.value)}"

    def _shown(self) -> str:
        number, digits = f"{self.value:,.{self.digits}f}", self.digits
        if self.error is None:
            return number
        return (
            f"< {self.error:,.{digits}f}" if abs(self.value) <= self.error else f"{number} +- {self.error:,.{digits}f}"
        )

    def plain(self) -> dict[str, Any]:
        """Return the figure for JSON."""
        error = {} if self.error is None else {"error": self.error}
        goal = {} if self.goal is None else {"goal": str(self.goal), "verdict": self.goal.verdict(self.value)}
        return {"value": self.value, **error, **goal}


Cell = str | Figure
Row = tuple[Cell, ...]


class Table(msgspec.Struct, frozen=True):
    """A table of a section; units stand in the headers, caveats in `notes`."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the table as printed text."""
        cells = [[str(cell) for cell in row] for row in self.rows]
        align = ["left", *["right"] * (len(self.headers) - 1)]
        body = tabulate(cells, headers=self.headers, tablefmt="simple", disable_numparse=True, colalign=align)
        return "\n".join([self.title, body, *(f"  {note}" for note in self.notes)])

    def plain(self) -> dict[str, Any]:
        """Return the table for JSON: rows as objects keyed by the headers."""
        rows = [
            {
                header.replace("\n", " "): cell.plain() if isinstance(cell, Figure) else cell
                for header, cell in zip(self.headers, row, strict=True)
            }
            for row in self.rows
        ]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}

    def misses(self) -> int:
        """Count the figures that miss their goal."""
        figures = [cell for row in self.rows for cell in row if isinstance(cell, Figure)]
        return sum(figure.goal is not None and figure.goal.verdict(figure.value) == "MISS" for figure in figures)
