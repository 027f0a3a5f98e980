"""Standings -> a leaderboard: a table for a person in a terminal, Markdown, CSV or JSON.

Rule: a table for people says what its numbers cannot. Below it stand its sources, the meaning of its columns, and
conclusions that it does not allow: one sentence a line, and only those that say something about this table. The other
formats have all numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from arena.match.record import FAULTS, PARDONABLE, Termination
from arena.report import formats
from arena.report.formats import (
    UNKNOWN,
    Column,
    Page,
    Style,
    aligned,
    clipped,
    fixed,
    half_width,
    intervals,
    percent,
    some,
)
from arena.report.luck_origin import luck_description
from arena.standings.luck_audit import LEVEL, PlayerLuck
from arena.standings.rows import Row, deprecated, record
from arena.standings.scores import Mean
from arena.standings.skills import worth
from arena.standings.table import Standings, Timing, standings_json
from arena.statistics.interval import Interval
from arena.statistics.model import ProbitSettings, chances_at
from arena.statistics.probit import SeatAdvantage
from arena.text import counted

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
_ORDERS: Final = {"map": "MAP", "mu": "mu (too many players for MAP)"}
_AHEAD: Final = (
    "LOS: likelihood of superiority over the player in the next line; ahead: whether it is 95 % or more (all pairs:"
    " `arena matrix`)"
)
_LUCK_ADJUSTED: Final = (
    "luck-adjusted: the score with luck excluded (control variate: the game's value function, version {}), where that"
    " is surer; no part of rank, mu or MAP"
)
_MOST_NAMED: Final = 5
_IDLE_S: Final = 0.1
_STARTUP_S: Final = 1.0
"""Seconds a match from which on it is told who takes them."""


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
    bots = [formats.escaped(f"{row.bot} {row.version} ({row.hash[:8]})") for row in rows]
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
        Column("LOS\n%", [formats.likelihood_percent(row.los) for row in rows]),
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


def _records(standings: Standings, timing: Sequence[Timing] | None) -> formats.Records:
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


def notes(
    standings: Standings, headers: Sequence[str], timing: Sequence[Timing], news: Sequence[str] = ()
) -> list[str]:
    """The sentences for a table with these columns; `timing` is empty where times are left out, `news` as it is."""
    luck = luck_description(standings.luck, standings.isolation)
    return [
        _summary(standings),
        *news,
        *([luck] if luck else ()),
        *_of_intervals(standings.rows, headers),
        *(_of_skills(standings) if "MAP" in headers else ()),
        *([_AHEAD] if "ahead" in headers and any(row.los is not None for row in standings.rows) else ()),
        *([_LUCK_ADJUSTED.format(standings.luck_version)] if "luck-adjusted %" in headers else ()),
        *_of_pardons(standings.rows),
        *_of_waiting(timing),
        *_of_load(timing),
        *_of_seats(standings.seats),
        *luck_audit(standings),
        *_of_contradictions(standings),
        *_of_groups(standings),
    ]


def luck_audit(standings: Standings) -> list[str]:
    """The audit of luck: a sentence for each player who stands out, or one that says that nobody does."""
    known = {row.name: row.luck for row in standings.rows if row.luck is not None}
    if not standings.matches:
        return []
    if not known:
        return ["luck audit: not tested: no match has its luck measured (no value of the game, or `luck: false`)"]
    named = {name: luck for name, luck in known.items() if luck.stands_out}
    if named:
        return [_outlier(name, luck) for name, luck in zip(clipped([*named]), named.values(), strict=True)]
    measured = counted(max(luck.matches for luck in known.values()), "match", "matches")
    chance = f"somebody is named by chance in at most {percent(LEVEL)} % of leagues"
    return [f"luck audit: nobody is luckier than chance explains (up to {measured} a player; {chance})"]


def _outlier(name: str, luck: PlayerLuck) -> str:
    return (
        f"WARNING: luck audit: {name} is luckier than a player can be who does not know draws before they fall:"
        f" {luck.mean:+.3f} wins a match by luck in {counted(luck.matches, 'match', 'matches')}, at least"
        f" {luck.least:+.3f} ({percent(1 - LEVEL)} %); chance makes anybody of a league so lucky with a"
        f" probability of {luck.p:.1g} at most"
    )


def _summary(standings: Standings) -> str:
    state = "" if standings.is_complete else ", incomplete"
    draws = "" if standings.draw_rate is None else f"; draws {percent(standings.draw_rate)} %"
    played = f"{standings.matches} of {standings.scheduled} matches{state}; ranks by {_ORDERS[standings.sorted_by]}"
    is_open = "none" in standings.isolation
    warning = ". UNSANDBOXED: bots could read the files of this account, and each other's" if is_open else ""
    return f"{played}{draws}; isolation: {standings.isolation}{warning}"


def _of_intervals(rows: Sequence[Row], headers: Sequence[str]) -> Iterator[str]:
    """Explanations of the intervals that are not plain ones."""
    shown = [row.score and half_width(row.score.interval, 1, 100.0) for row in rows]
    if any(each and not each.startswith("±") for each in shown):
        yield (
            "score: an interval of 95 % ends at 0 or 100 %, and where all blocks are equal it is a bound: -8.2/+4.2"
            " reaches 8.2 down and 4.2 up, -13.9 only down"
        )
    if "margin" in headers and any(row.margin and not row.margin.interval.is_bounded for row in rows):
        yield "±?: blocks that are all equal, or a single one, tell nothing of how far a margin may be off"


def _of_skills(standings: Standings) -> Iterator[str]:
    if not standings.matches:
        return
    effect, rating = standings.design_effect, standings.rating
    unit = "as of independent matches" if effect is None else f"from blocks (design effect {effect.players:.2f})"
    model = ProbitSettings(beta=rating.beta, draw_probability=rating.draw_probability)
    score = chances_at(rating.beta, model.scale, model.margin).score
    yield (
        f"MAP: skill fitted to all matches jointly, on the scale of mu; 95 % intervals {unit};"
        f" {rating.beta:.2f} points (beta) more are a score of {percent(score)} % against {percent(1 - score)} %"
    )


def _of_pardons(rows: Sequence[Row]) -> Iterator[str]:
    """A sentence for each of the worst: such faults are no forfeits, so the table does not show them."""
    guilty = sorted((row for row in rows if row.pardoned), key=lambda row: -sum(row.pardoned.values()))
    named = guilty[:_MOST_NAMED]
    for row, name in zip(named, clipped([row.name for row in named]), strict=True):
        kinds = ", ".join(f"{count} {kind}" for kind, count in row.pardoned.items())
        faults = counted(sum(row.pardoned.values()), "fault", "faults")
        yield f"{name}: {faults} in {counted(row.matches, 'match', 'matches')}, after which the game went on ({kinds})"
    if guilty[_MOST_NAMED:]:
        yield f"{counted(len(guilty) - _MOST_NAMED, 'other player')} had such faults too"


def _of_waiting(timing: Sequence[Timing]) -> Iterator[str]:
    """Time in which the league waited for a bot that did nothing, or that was starting."""
    idle = {one.name: one.idle_s / one.matches for one in timing if one.idle_s > _IDLE_S * one.matches}
    startup = {one.name: one.startup_s / one.matches for one in timing if one.startup_s > _STARTUP_S * one.matches}
    for what, found in (("idle while they owed answers", idle), ("start-up", startup)):
        if found:
            worst = sorted(found, key=lambda name: (-found[name], name))
            told = zip(clipped(worst[:_MOST_NAMED]), worst, strict=False)
            more = f" and {len(worst) - _MOST_NAMED} more" if worst[_MOST_NAMED:] else ""
            yield f"{what}, seconds a match: {', '.join(f'{shown} {found[name]:.1f}' for shown, name in told)}{more}"


def _of_load(timing: Sequence[Timing]) -> Iterator[str]:
    """Forfeits that a machine with less to do would not have seen."""
    late = [one.name for one in timing if one.timeouts_by_load]
    if late:
        count = counted(sum(one.timeouts_by_load for one in timing), "timeout")
        yield (
            f"WARNING: {count} by wall time came while the bot waited for a core for longer than it was late"
            f" ({some(clipped(late))}): the machine was too busy; play with fewer `--workers`, or let CPU time decide"
        )


def _of_seats(seats: Sequence[SeatAdvantage]) -> Iterator[str]:
    """Of two seats the second one loses what the first one wins."""
    told = seats[:1] if len(seats) == 2 else seats
    found = [(one.seat, worth(one).points) for one in told]
    if found:
        listed = ", ".join(f"seat {seat} {points.value:+.1f} {half_width(points, 1)}" for seat, points in found)
        yield f"seat advantage, percentage points of score ±95 %: {listed}"


def _of_contradictions(standings: Standings) -> Iterator[str]:
    pairs = standings.contradictions
    if pairs:
        named = some([" better than ".join(clipped((lower, higher))) for higher, lower in pairs])
        yield f"mu depends on the order of matches; its order contradicts MAP at 95 % for: {named}"


def _of_groups(standings: Standings) -> Iterator[str]:
    idle = {row.name for row in standings.rows if not row.matches}
    groups = [group for group in standings.groups if not idle.issuperset(group)]
    if len(groups) > 1:
        named = " | ".join(some(clipped(group)) for group in groups[:_MOST_NAMED])
        more = f" | {len(groups) - _MOST_NAMED} more" if len(groups) > _MOST_NAMED else ""
        yield f"WARNING: no match connects these groups; nothing compares them, each has its own ranks: {named}{more}"
    if idle and standings.matches:
        yield f"without a match: {some(clipped(sorted(idle)))}"
