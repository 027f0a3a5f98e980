"""Standings -> a leaderboard: a table for a person in a terminal, Markdown, CSV or JSON.

Rule: a table for people says what its numbers cannot: below it stands what it was made from, and what not to conclude
from it. The other formats have all numbers.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from arena.match.record import FAULTS, PARDONABLE, Termination
from arena.report.formats import (
    UNKNOWN,
    Column,
    Page,
    Records,
    Style,
    aligned,
    escaped,
    fixed,
    intervals,
    likelihood_percent,
    percent,
)
from arena.report.luck_origin import luck_description
from arena.report.notes import luck_audit, notes
from arena.standings.luck_audit import PlayerLuck
from arena.standings.rows import Row, deprecated, record
from arena.standings.scores import Mean
from arena.standings.table import Standings, Timing, standings_json
from arena.statistics.interval import Interval

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


def leaderboard_page(standings: Standings, timing: Sequence[Timing] | None, news: Sequence[str] = ()) -> Page:
    """The leaderboard. `news` are sentences on how the league goes on, or what ended it.

    Without `timing` the columns of time are left out, and equal results give equal text. A table that is wider than the
    terminal goes without sigma, then mu-3s, the seats, and so on.
    """

    def text(style: Style) -> list[str]:
        columns = style.fitting(_columns(standings, timing, style), _LEFT_OUT)
        headers = tuple(column.header.split("\n")[0] for column in columns)
        return [style.table(columns), style.sentences(notes(standings, headers, timing or (), news))]

    return Page(text, lambda: _records(standings, timing), lambda: _document(standings, timing, news))


def _columns(standings: Standings, timing: Sequence[Timing] | None, style: Style) -> list[Column]:
    rows = standings.rows
    bots = [escaped(f"{row.bot} {row.version} ({row.hash[:8]})") for row in rows]
    named = len(FAULTS) if style.is_markdown else MOST_FAULTS
    return [
        Column("rank", [UNKNOWN if row.rank is None else str(row.rank) for row in rows]),
        Column("player", style.names([row.name for row in rows]), "left"),
        *([Column("bot", bots, "left")] if style.is_markdown else []),
        *_numbers(standings),
        Column("faults", [_faults(row, named=named) for row in rows], "left"),
        *_times(rows, timing),
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
        Column("LOS\n%", [likelihood_percent(row.los) for row in rows]),
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
    by_name = {one.name: one for one in timing}
    cells = [(fixed(by_name[row.name].mean_ms), fixed(by_name[row.name].slowest_ms)) for row in rows]
    return [Column("ms/move\nmean/max", aligned(cells, "/"))]


def _faults(row: Row, *, named: int) -> str:
    """`2 timeout, 1 crash`, most frequent first; what is beyond `named` kinds is added up."""
    ordered = sorted(row.faults.items(), key=lambda item: -item[1])
    parts = [f"{count} {_SHORT.get(kind, kind)}" for kind, count in ordered[:named]]
    rest = sum(count for _, count in ordered[named:])
    return ", ".join([*parts, f"{rest} more"] if rest else parts) or "-"


def _records(standings: Standings, timing: Sequence[Timing] | None) -> Records:
    by_name = {one.name: one for one in timing or ()}
    luck = {"luck": luck_description(standings.luck, standings.isolation)}
    records = [
        _spread_out(row, by_name.get(row.name)) | luck | old
        for row, old in zip(standings.rows, deprecated(standings.rows), strict=True)
    ]
    return tuple(records[0]) if records else (), records


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


def _document(standings: Standings, timing: Sequence[Timing] | None, news: Sequence[str]) -> dict[str, object]:
    """Set the canonical standings, as they are, beside the sentences on luck and the timing."""
    document: dict[str, object] = {
        "standings": msgspec.Raw(standings_json(standings)),
        "luck_audit": luck_audit(standings),
        "luck": luck_description(standings.luck, standings.isolation),
        "news": news,
    }
    return document if timing is None else document | {"timing": timing}
