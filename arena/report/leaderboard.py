"""Standings -> a leaderboard: a table for a person in a terminal, Markdown, CSV or JSON.

Rule: names are hostile input. Whatever a player is called, every format keeps its rows and columns, no terminal obeys
an escape sequence, and no spreadsheet computes a formula.
"""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from tabulate import tabulate

from arena.errors import SpecError
from arena.league.standings import Row, Standings, Timing, standings_json
from arena.match.record import FAULTS, Termination
from arena.strict import unknown

LONGEST_NAME: Final = 24
"""In the table for a terminal; longer names lose their middle. It is stretched while two names would look the same."""
LONGEST_NAME_AT_ALL: Final = 60
UNKNOWN: Final = "-"
MOST_FAULTS: Final = 2
"""Kinds named in a row of that table, the most frequent ones."""
_LEFT_OUT: Final = ("sigma", "mu-3s", "seat ")
"""Beginnings of the headers of the columns that a narrow terminal goes without, the first one first."""
_NO_SPREAD: Final = 1e-12

_SHORT: Final = {
    Termination.ILLEGAL_ACTION.value: "illegal",
    Termination.MALFORMED_REPLY.value: "malformed",
    Termination.PROTOCOL_VIOLATION.value: "protocol",
}
# What GitHub's Markdown reads as markup inside a table cell; underscores only at the edge of a word.
_MARKUP: Final = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])")
# What a spreadsheet takes for a formula, also in the wide forms that it reads the same way.
_FORMULA: Final = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


class _Column(msgspec.Struct, frozen=True):
    header: str
    cells: Sequence[str]
    align: str = "right"


def render(
    standings: Standings,
    timing: Sequence[Timing] | None,
    *,
    format: str,  # noqa: A002 - its name
    width: int | None = None,
) -> str:
    """Write the leaderboard in one of `FORMATS`, without a final newline; SpecError for any other format.

    Without `timing` the columns of time are left out, and equal results give equal text. A table that is wider than
    `width` columns of a terminal goes without sigma, then mu-3s (unless it is the order), then the seats.
    """
    if format not in _RENDERERS:
        raise SpecError(unknown("format", format, FORMATS))
    if format == "table" and width is not None:
        return _table(standings, timing, width)
    return _RENDERERS[format](standings, timing)


def _table(standings: Standings, timing: Sequence[Timing] | None, width: int | None = None) -> str:
    rows = standings.rows
    columns = [
        _Column("#", [str(row.rank) for row in rows]),
        _Column("player", _clipped([_printable(row.name) for row in rows]), "left"),
        *_numbers(standings),
        _Column("faults", [_faults(row, named=MOST_FAULTS) for row in rows], "left"),
        *_times(rows, timing),
    ]
    table = _tabulated(columns, "simple")
    for header in _LEFT_OUT:
        if width is None or max(map(len, table.splitlines())) <= width:
            break
        if header == "mu-3s" and standings.sorted_by == "exposure":
            continue
        columns = [column for column in columns if not column.header.startswith(header)]
        table = _tabulated(columns, "simple")
    return f"{table}\n\n{_printable(_summary(standings))}"


def _markdown(standings: Standings, timing: Sequence[Timing] | None) -> str:
    rows = standings.rows
    columns = [
        _Column("#", [str(row.rank) for row in rows]),
        _Column("player", [_escaped(row.name) for row in rows], "left"),
        _Column("bot", [_escaped(f"{row.bot} {row.version} ({row.hash[:8]})") for row in rows], "left"),
        *_numbers(standings),
        _Column("faults", [_faults(row, named=len(FAULTS)) for row in rows], "left"),
        *_times(rows, timing),
    ]
    one_line = [msgspec.structs.replace(column, header=column.header.replace("\n", " ")) for column in columns]
    return f"{_tabulated(one_line, 'pipe')}\n\n{_escaped(_summary(standings))}"


def _tabulated(columns: Sequence[_Column], style: str) -> str:
    return tabulate(
        list(zip(*(column.cells for column in columns), strict=True)),
        headers=[column.header for column in columns],
        tablefmt=style,
        disable_numparse=True,  # a player may be called 1e5
        colalign=[column.align for column in columns],
    )


def _numbers(standings: Standings) -> list[_Column]:
    """Make the columns that the table and Markdown share."""
    rows = standings.rows
    seats = len(rows[0].score_by_seat) if rows else 0
    by_seat = [[_percent(score) for score in row.score_by_seat] for row in rows]
    columns = [
        _Column("score %\n±95 %", _aligned([_score(row) for row in rows], "")),
        _Column("W-D-L", _aligned([(str(row.wins), str(row.draws), str(row.losses)) for row in rows], "-")),
        _Column("margin\n±s.e.", _aligned([(_signed(r.mean_margin), _margin_error(r)) for r in rows], " ±")),
        _Column("mu", [_fixed(row.mu) for row in rows]),
        _Column("sigma", [_fixed(row.sigma) for row in rows]),
        _Column("mu-3s", [_fixed(row.exposure) for row in rows]),
    ]
    if seats:
        columns.append(_Column(f"seat {'/'.join(map(str, range(seats)))}\n%", _aligned(by_seat, "/")))
    return columns


def _score(row: Row) -> tuple[str, str, str]:
    """The score, a sign and its error; where no block differs from another, a bound in the place of an error of 0.

    Rule of three: if a share q of blocks came out otherwise, N equal ones would be seen with a chance of (1 - q)^N, and
    that is below 5 % for q > 1 - 0.05^(1/N), about 3/N. Such a block shifts the score by max(score, 1 - score) at most.
    For several pairings with shares q_p the chance is prod (1 - q_p)^n_p, at most (1 - sum n_p q_p / N)^N: the bound
    holds for their mean as well. It is one-sided: below 100 % only downwards, above 0 % only upwards.
    """
    if row.score is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    blocks = row.matches // max(len(row.score_by_seat), 1)
    if row.score_error is None or row.score_error > _NO_SPREAD or not blocks:
        return f"{_percent(row.score)} ", "±", _percent(row.score_error)
    bound = (1 - 0.05 ** (1 / blocks)) * max(row.score, 1 - row.score)
    return f"{_percent(row.score)} ", {1.0: "-", 0.0: "+"}.get(row.score, "±"), _percent(bound)


def _margin_error(row: Row) -> str:
    """Equal margins say that the spread is small, not how small: no figure in the place of 0."""
    return UNKNOWN if row.margin_error is not None and row.margin_error <= _NO_SPREAD else _fixed(row.margin_error)


def _times(rows: Sequence[Row], timing: Sequence[Timing] | None) -> list[_Column]:
    if timing is None:
        return []
    by_name = _by_name(timing)
    cells = [(_fixed(by_name[row.name].mean_ms), _fixed(by_name[row.name].slowest_ms)) for row in rows]
    return [_Column("ms/move\nmean/max", _aligned(cells, "/"))]


def _by_name(timing: Sequence[Timing]) -> Mapping[str, Timing]:
    return {one.name: one for one in timing}


def _aligned(parts: Sequence[Sequence[str]], between: str) -> list[str]:
    """Join the parts of each row, each as wide as the widest of its kind, so that digits stand below digits."""
    widths = [max(map(len, column)) for column in zip(*parts, strict=True)]
    return [
        between.join(part.rjust(width) for part, width in zip(row, widths, strict=True))
        if any(part != UNKNOWN for part in row)
        else UNKNOWN
        for row in parts
    ]


def _percent(fraction: float | None) -> str:
    return UNKNOWN if fraction is None else f"{100 * fraction:.1f}"


def _fixed(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:+.2f}"


def _faults(row: Row, *, named: int) -> str:
    """`2 timeout, 1 crash`, most frequent first; what is beyond `named` kinds is added up."""
    ordered = sorted(row.faults.items(), key=lambda item: -item[1])
    parts = [f"{count} {_SHORT.get(kind, kind)}" for kind, count in ordered[:named]]
    rest = sum(count for _, count in ordered[named:])
    return ", ".join([*parts, f"{rest} more"] if rest else parts) or "-"


def _summary(standings: Standings) -> str:
    order = "sorted by mu" if standings.is_complete else "incomplete, so sorted by mu-3s"
    draws = "" if standings.draw_rate is None else f"; draws {_percent(standings.draw_rate)} %"
    has_bound = any(row.score_error is not None and row.score_error <= _NO_SPREAD for row in standings.rows)
    bound = "; where all blocks are equal, a one-sided 95 % bound" if has_bound else ""
    counted = f"{standings.matches} of {standings.scheduled} matches"
    return f"{counted}, {order}{draws}{bound}; isolation: {standings.isolation}{_warning(standings.isolation)}"


def _warning(isolation: str) -> str:
    """What it means if bots were not kept apart."""
    if "none" not in isolation:
        return ""
    return ". UNSANDBOXED: bots could read the files of this account, and each other's"


def _printable(text: str) -> str:
    """`text` with every control, format and separator character but the space as its escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def _clipped(names: Sequence[str]) -> list[str]:
    """`names` within the first length that tells them all apart."""
    clipped: list[str] = []
    for length in range(LONGEST_NAME, LONGEST_NAME_AT_ALL + 1):
        head, tail = length - length // 3 - 1, length // 3
        clipped = [name if len(name) <= length else f"{name[:head]}…{name[-tail:]}" for name in names]
        if len(set(clipped)) == len(set(names)):
            break
    return clipped


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda found: "\\" + found[0], _printable(text))


def _csv(standings: Standings, timing: Sequence[Timing] | None) -> str:
    """Text in quotes, numbers without, an empty string for None: `csv.QUOTE_NONNUMERIC` reads it back."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    by_name = None if timing is None else _by_name(timing)
    records = [_record(row, by_name[row.name] if by_name else None) for row in standings.rows]
    writer.writerow(records[0] if records else ())
    writer.writerows([_cell(value) for value in record.values()] for record in records)
    return text.getvalue().removesuffix("\n")


def _record(row: Row, timing: Timing | None) -> dict[str, object]:
    """All columns of a row by name: the fields in their order, those with several values spread out."""
    record = msgspec.structs.asdict(row)
    del record["score_by_seat"], record["faults"]
    record |= {f"score_seat_{seat}": score for seat, score in enumerate(row.score_by_seat)}
    record |= {f"faults_{kind.value}": row.faults.get(kind.value, 0) for kind in FAULTS}
    if timing is not None:
        record |= {"moves": timing.moves, "mean_ms": timing.mean_ms, "slowest_ms": timing.slowest_ms}
    return record


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = _printable(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def _json(standings: Standings, timing: Sequence[Timing] | None) -> str:
    """Set the canonical standings, as they are, beside the timing."""
    document: dict[str, object] = {"standings": msgspec.Raw(standings_json(standings))}
    if timing is not None:
        document["timing"] = timing
    return msgspec.json.encode(document).decode()


_RENDERERS: Final[Mapping[str, Callable[[Standings, Sequence[Timing] | None], str]]] = {
    "table": _table,
    "markdown": _markdown,
    "csv": _csv,
    "json": _json,
}
FORMATS: Final = tuple(_RENDERERS)
