"""Standings -> a leaderboard: a table for a person in a terminal, Markdown, CSV or JSON.

Rule: a table for people says what its numbers cannot: below it stands what it was made from, and what not to conclude
from it. The other formats have all numbers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from arena.match.record import FAULTS, PARDONABLE, Termination
from arena.report.formats import (
    UNKNOWN,
    Column,
    aligned,
    csv_text,
    escaped,
    fixed,
    insist_on_format,
    intervals,
    json_text,
    labels,
    likelihood,
    percent,
    tabulated,
    width_of,
    wrapped,
)
from arena.report.luck_origin import luck_description
from arena.report.notes import luck_audit, notes
from arena.standings.luck_audit import PlayerLuck
from arena.standings.rows import Row, deprecated, record
from arena.standings.scores import Mean
from arena.standings.table import Standings, Timing, standings_json
from arena.statistics.interval import Interval
from arena.validation import printable

MOST_FAULTS: Final = 2
"""Kinds named in a row of the table for a terminal, the most frequent ones."""
_LEFT_OUT: Final = ("sigma", "mu-3s", "seat ", "margin", "luck-adjusted", "mu", "LOS", "ahead", "MAP")
"""Beginnings of the headers of the columns that a narrow terminal goes without, the first one first."""

_YES_NO: Final = {True: "yes", False: "no", None: UNKNOWN}
_SHORT: Final = {
    Termination.ILLEGAL_ACTION.value: "illegal",
    Termination.MALFORMED_REPLY.value: "malformed",
    Termination.PROTOCOL_VIOLATION.value: "protocol",
}


def render(
    standings: Standings,
    timing: Sequence[Timing] | None,
    *,
    format: str,  # noqa: A002 - its name
    width: int | None = None,
    news: Sequence[str] = (),
) -> str:
    """Write the leaderboard in one of `FORMATS`, without a final newline; SpecError for any other format.

    Without `timing` the columns of time are left out, and equal results give equal text. A table that is wider than
    `width` columns of a terminal goes without sigma, then mu-3s, the seats, and so on.
    `news` are sentences on how the league goes on, or what ended it.
    """
    insist_on_format(format)
    if format == "table" and width is not None:
        return _table(standings, timing, news, width)
    return _RENDERERS[format](standings, timing, news)


def _table(standings: Standings, timing: Sequence[Timing] | None, news: Sequence[str], width: int | None = None) -> str:
    columns = [
        *_names(standings, "simple"),
        *_numbers(standings),
        Column("faults", [_faults(row, named=MOST_FAULTS) for row in standings.rows], "left"),
        *_times(standings.rows, timing),
    ]
    table = tabulated(columns, "simple")
    for header in _LEFT_OUT:
        if width is None or width_of(table) <= width:
            break
        columns = [column for column in columns if not column.header.startswith(header)]
        table = tabulated(columns, "simple")
    headers = tuple(column.header.split("\n")[0] for column in columns)
    return "\n".join(
        [table, "", *(wrapped(printable(line), width) for line in notes(standings, headers, timing or (), news))]
    )


def _markdown(standings: Standings, timing: Sequence[Timing] | None, news: Sequence[str]) -> str:
    rows = standings.rows
    number, player = _names(standings, "pipe")
    columns = [
        number,
        player,
        Column("bot", [escaped(f"{row.bot} {row.version} ({row.hash[:8]})") for row in rows], "left"),
        *_numbers(standings),
        Column("faults", [_faults(row, named=len(FAULTS)) for row in rows], "left"),
        *_times(rows, timing),
    ]
    headers = tuple(column.header.split("\n")[0] for column in columns)
    # An empty line makes each sentence a paragraph of its own.
    return "\n\n".join(
        [tabulated(columns, "pipe"), *(escaped(line) for line in notes(standings, headers, timing or (), news))]
    )


def _names(standings: Standings, style: str) -> list[Column]:
    rows = standings.rows
    return [
        Column("rank", [UNKNOWN if row.rank is None else str(row.rank) for row in rows]),
        Column("player", labels([row.name for row in rows], style), "left"),
    ]


def _numbers(standings: Standings) -> list[Column]:
    """Make the columns that the table and Markdown share."""
    rows = standings.rows
    seats = len(rows[0].score_by_seat) if rows else 0
    by_seat = [[percent(score) for score in row.score_by_seat] for row in rows]
    columns = [
        Column("score %\n±95 %", intervals(_intervals(row.score for row in rows), 1, 100.0)),
        Column("W-D-L", aligned([(str(row.wins), str(row.draws), str(row.losses)) for row in rows], "-")),
        Column("MAP\n±95 %", intervals([row.map for row in rows])),
        Column("LOS\n%", [likelihood(row.los) for row in rows]),
        Column("ahead\n95 %", [_YES_NO[row.ahead] for row in rows]),
        Column("margin\n±95 %", intervals(_intervals(row.margin for row in rows), is_signed=True)),
        Column("mu", [fixed(row.mu) for row in rows]),
        Column("sigma", [fixed(row.sigma) for row in rows]),
        Column("mu-3s", [fixed(row.mu_3s) for row in rows]),
    ]
    if any(row.luck_adjusted for row in rows):
        adjusted = _intervals(row.luck_adjusted for row in rows)
        columns.insert(1, Column("luck-adjusted %\n±95 %", intervals(adjusted, 1, 100.0)))
    if seats:
        columns.append(Column(f"seat {'/'.join(map(str, range(seats)))}\n%", aligned(by_seat, "/")))
    return columns


def _intervals(means: Iterable[Mean | None]) -> list[Interval | None]:
    return [None if mean is None else mean.interval for mean in means]


def _times(rows: Sequence[Row], timing: Sequence[Timing] | None) -> list[Column]:
    if timing is None:
        return []
    by_name = _by_name(timing)
    cells = [(fixed(by_name[row.name].mean_ms), fixed(by_name[row.name].slowest_ms)) for row in rows]
    return [Column("ms/move\nmean/max", aligned(cells, "/"))]


def _by_name(timing: Sequence[Timing]) -> Mapping[str, Timing]:
    return {one.name: one for one in timing}


def _faults(row: Row, *, named: int) -> str:
    """`2 timeout, 1 crash`, most frequent first; what is beyond `named` kinds is added up."""
    ordered = sorted(row.faults.items(), key=lambda item: -item[1])
    parts = [f"{count} {_SHORT.get(kind, kind)}" for kind, count in ordered[:named]]
    rest = sum(count for _, count in ordered[named:])
    return ", ".join([*parts, f"{rest} more"] if rest else parts) or "-"


def _csv(standings: Standings, timing: Sequence[Timing] | None, _: Sequence[str]) -> str:
    by_name = None if timing is None else _by_name(timing)
    luck = {"luck": luck_description(standings.luck, standings.isolation)}
    records = [
        _spread_out(row, by_name[row.name] if by_name else None) | luck | old
        for row, old in zip(standings.rows, deprecated(standings.rows), strict=True)
    ]
    return csv_text(tuple(records[0]) if records else (), records)


def _spread_out(row: Row, timing: Timing | None) -> dict[str, object]:
    """All columns of a row by name, those with several values spread out."""
    found = record(row)
    for name in ("score_by_seat", "faults", "pardoned", "luck"):
        del found[name]
    for field in PlayerLuck.__struct_fields__:
        found[f"luck_{field}"] = None if row.luck is None else getattr(row.luck, field)
    found |= {f"score_seat_{seat}": score for seat, score in enumerate(row.score_by_seat)}
    found |= {f"faults_{kind.value}": row.faults.get(kind.value, 0) for kind in FAULTS}
    found |= {f"pardoned_{kind.value}": row.pardoned.get(kind.value, 0) for kind in PARDONABLE}
    if timing is not None:
        times = msgspec.structs.asdict(timing)
        found |= {key: value for key, value in times.items() if key not in {"name", "matches"}}
    return found


def _json(standings: Standings, timing: Sequence[Timing] | None, news: Sequence[str]) -> str:
    """Set the canonical standings, as they are, beside the sentences on luck and the timing."""
    document: dict[str, object] = {
        "standings": msgspec.Raw(standings_json(standings)),
        "luck_audit": luck_audit(standings),
        "luck": luck_description(standings.luck, standings.isolation),
        "news": news,
    }
    if timing is not None:
        document["timing"] = timing
    return json_text(document)


_RENDERERS: Final[Mapping[str, Callable[[Standings, Sequence[Timing] | None, Sequence[str]], str]]] = {
    "table": _table,
    "markdown": _markdown,
    "csv": _csv,
    "json": _json,
}
FORMATS: Final = tuple(_RENDERERS)
