"""Standings -> a leaderboard: a table for a person in a terminal, Markdown, CSV or JSON.

Rule: a table for people says what its numbers cannot: below it stands what it was made from, and what not to conclude
from it. The other formats have all numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from arena.match.record import FAULTS, PARDONABLE, Termination
from arena.report.footer import NO_SPREAD, band_letters, footer, luck_audit
from arena.report.formats import (
    UNKNOWN,
    Column,
    aligned,
    csv_text,
    escaped,
    fixed,
    insist_on_format,
    json_text,
    labels,
    percent,
    signed,
    tabulated,
    width_of,
    wrapped,
)
from arena.report.luck_origin import origin_told
from arena.standings.luck_audit import PlayerLuck
from arena.standings.rows import Row
from arena.standings.table import Standings, Timing, standings_json
from arena.strict import printable

MOST_FAULTS: Final = 2
"""Kinds named in a row of the table for a terminal, the most frequent ones."""
_LEFT_OUT: Final = ("sigma", "mu-3s", "seat ", "margin", "luck-free", "MAP", "LOS")
"""Beginnings of the headers of the columns that a narrow terminal goes without, the first one first."""

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
) -> str:
    """Write the leaderboard in one of `FORMATS`, without a final newline; SpecError for any other format.

    Without `timing` the columns of time are left out, and equal results give equal text. A table that is wider than
    `width` columns of a terminal goes without sigma, then mu-3s (unless it is the order), the seats, and so on.
    """
    insist_on_format(format)
    if format == "table" and width is not None:
        return _table(standings, timing, width)
    return _RENDERERS[format](standings, timing)


def _table(standings: Standings, timing: Sequence[Timing] | None, width: int | None = None) -> str:
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
        if header == "mu-3s" and standings.sorted_by == "exposure":
            continue
        columns = [column for column in columns if not column.header.startswith(header)]
        table = tabulated(columns, "simple")
    headers = tuple(column.header.split("\n")[0] for column in columns)
    return "\n".join(
        [table, "", *(wrapped(printable(line), width) for line in footer(standings, headers, timing or ()))]
    )


def _markdown(standings: Standings, timing: Sequence[Timing] | None) -> str:
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
        [tabulated(columns, "pipe"), *(escaped(line) for line in footer(standings, headers, timing or ()))]
    )


def _names(standings: Standings, style: str) -> list[Column]:
    rows = standings.rows
    return [
        Column("#", [str(row.rank) for row in rows]),
        Column("player", labels([row.name for row in rows], style), "left"),
    ]


def _numbers(standings: Standings) -> list[Column]:
    """Make the columns that the table and Markdown share."""
    rows = standings.rows
    seats = len(rows[0].score_by_seat) if rows else 0
    by_seat = [[percent(score) for score in row.score_by_seat] for row in rows]
    letters = band_letters(rows)
    columns = [
        Column("score %\n±95 %", aligned([_score(row) for row in rows], "")),
        Column("W-D-L", aligned([(str(row.wins), str(row.draws), str(row.losses)) for row in rows], "-")),
        Column("margin\n±s.e.", aligned([(signed(r.mean_margin), _margin_error(r)) for r in rows], " ±")),
        Column("mu", [fixed(row.mu) for row in rows]),
        Column("sigma", [fixed(row.sigma) for row in rows]),
        Column("mu-3s", [fixed(row.exposure) for row in rows]),
        Column("MAP\n±95 %", aligned([(fixed(row.skill), fixed(row.skill_error)) for row in rows], " ±")),
        Column("LOS %\nband", aligned([(percent(r.superiority), letters[r.band]) for r in rows], " ")),
    ]
    if standings.luck_version:
        columns.insert(1, Column("luck-free %\n±95 %", aligned([_luck_free(row) for row in rows], "")))
    if seats:
        columns.append(Column(f"seat {'/'.join(map(str, range(seats)))}\n%", aligned(by_seat, "/")))
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
    if row.score_error is None or row.score_error > NO_SPREAD or not blocks:
        return f"{percent(row.score)} ", "±", percent(row.score_error)
    bound = (1 - 0.05 ** (1 / blocks)) * max(row.score, 1 - row.score)
    return f"{percent(row.score)} ", {1.0: "-", 0.0: "+"}.get(row.score, "±"), percent(bound)


def _luck_free(row: Row) -> tuple[str, str, str]:
    return f"{percent(row.luck_free)} ", "±", percent(row.luck_free_error)


def _margin_error(row: Row) -> str:
    """Equal margins say that the spread is small, not how small: no figure in the place of 0."""
    return UNKNOWN if row.margin_error is not None and row.margin_error <= NO_SPREAD else fixed(row.margin_error)


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


def _csv(standings: Standings, timing: Sequence[Timing] | None) -> str:
    by_name = None if timing is None else _by_name(timing)
    luck = {"luck": origin_told(standings.luck, standings.isolation)}
    records = [_record(row, by_name[row.name] if by_name else None) | luck for row in standings.rows]
    return csv_text(tuple(records[0]) if records else (), records)


def _record(row: Row, timing: Timing | None) -> dict[str, object]:
    """All columns of a row by name: the fields in their order, those with several values spread out."""
    record = msgspec.structs.asdict(row)
    del record["score_by_seat"], record["faults"], record["pardoned"], record["luck"]
    for field in PlayerLuck.__struct_fields__:
        record[f"luck_{field}"] = None if row.luck is None else +getattr(row.luck, field)  # True is 1: a number
    record |= {f"score_seat_{seat}": score for seat, score in enumerate(row.score_by_seat)}
    record |= {f"faults_{kind.value}": row.faults.get(kind.value, 0) for kind in FAULTS}
    record |= {f"pardoned_{kind.value}": row.pardoned.get(kind.value, 0) for kind in PARDONABLE}
    if timing is not None:
        times = msgspec.structs.asdict(timing)
        record |= {key: value for key, value in times.items() if key not in {"name", "matches"}}
    return record


def _json(standings: Standings, timing: Sequence[Timing] | None) -> str:
    """Set the canonical standings, as they are, beside the sentences on luck and the timing."""
    document: dict[str, object] = {
        "standings": msgspec.Raw(standings_json(standings)),
        "luck_audit": luck_audit(standings),
        "luck": origin_told(standings.luck, standings.isolation),
    }
    if timing is not None:
        document["timing"] = timing
    return json_text(document)


_RENDERERS: Final[Mapping[str, Callable[[Standings, Sequence[Timing] | None], str]]] = {
    "table": _table,
    "markdown": _markdown,
    "csv": _csv,
    "json": _json,
}
FORMATS: Final = tuple(_RENDERERS)
