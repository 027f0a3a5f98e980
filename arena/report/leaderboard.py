"""Standings -> a leaderboard: a table for a person in a terminal, Markdown, CSV or JSON.

Rule: a table for people has seven columns unless they ask for others. Below it stand its sources and its limits: one
sentence a line, and only sentences that apply to this table. CSV and JSON have all numbers.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from arena.match.record import FAULTS, PARDONABLE
from arena.report.columns import (
    DECISION_TIMES,
    LEADERBOARD,
    LUCK_ADJUSTED,
    SHOWN_STANDINGS,
    explanation,
    fault_counts,
    select_columns,
)
from arena.report.formats import Style, clip_names, half_width, list_some, percent
from arena.report.luck_origin import luck_description
from arena.report.page import Page, Records
from arena.standings.luck_audit import LEVEL, PlayerLuck
from arena.standings.rows import Row, inverted_by_mu, row_fields
from arena.standings.skills import score_of_beta
from arena.standings.table import Standings, Timing, standings_json
from arena.statistics.probit import SeatAdvantage
from arena.text import counted

_ORDERS: Final = {"rating": "rating", "mu": "mu of TrueSkill (too many players for a rating)"}
_MORE: Final = "`--columns all` shows all columns and says what they mean"
_MOST_NAMED: Final = 5
_IDLE_S: Final = 0.1
_STARTUP_S: Final = 1.0
"""Idle and start-up time, in seconds a match, above which a player is named below the table."""


def leaderboard_page(standings: Standings, timing: Sequence[Timing] | None, news: Sequence[str] = ()) -> Page:
    """Make the page of the leaderboard; `news` are sentences on how the league goes on, or what ended it.

    Without `timing` the columns of time are left out, and equal results give equal text.
    """
    definitions = [column for column in LEADERBOARD if timing is not None or column is not DECISION_TIMES]

    def text(style: Style) -> Iterator[str]:
        """Yield the parts of the page in a style: table, meanings of its columns, sentences."""
        rows = table_rows(standings, timing)
        known = [item for item in definitions if item is not LUCK_ADJUSTED or style.columns or _is_adjusted(standings)]
        shown = select_columns(known, style, SHOWN_STANDINGS)
        yield style.table(style.fit(lambda style: [item.column(rows, style) for item in shown]))
        if style.is_wide:
            yield style.sentences(explanation(shown, _league_explanations(standings)))
        hint = [] if style != Style(width=style.width) else [_MORE]
        names = {column.name for column in shown}
        below = notes(standings, timing or (), news, names, has_luck_audit=style.is_wide)
        yield style.sentences([*below, *hint])

    return Page(
        text,
        lambda: _records(standings, timing),
        lambda: _document(standings, timing, news),
        definitions=definitions,
    )


def table_rows(standings: Standings, timing: Sequence[Timing] | None) -> list[dict[str, object]]:
    """Return the rows for programs, best first, with their use of time; without `timing` they lack these fields."""
    by_name = {times.name: times for times in timing or ()}
    return [row_fields(row) | _time_fields(by_name.get(row.name)) for row in standings.rows]


def _time_fields(timing: Timing | None) -> dict[str, object]:
    """Return the use of time for programs, by name; nothing without `timing`."""
    times = {} if timing is None else msgspec.structs.asdict(timing)
    return {key: value for key, value in times.items() if key not in {"name", "matches"}}


def _is_adjusted(standings: Standings) -> bool:
    """Return True if some player has a score without luck."""
    return any(row.luck_adjusted for row in standings.rows)


def _league_explanations(standings: Standings) -> dict[str, str]:
    """Return the explanations of columns that hold for this league only, by the name of the column."""
    version = f"by the game's value function, version {standings.luck_version}" if _is_adjusted(standings) else ""
    return {"rating": _rating_sentence(standings), LUCK_ADJUSTED.name: version}


def _records(standings: Standings, timing: Sequence[Timing] | None) -> Records:
    """Return the columns of CSV and the row of each player, with the origin of luck."""
    by_name = {times.name: times for times in timing or ()}
    luck = {"luck": luck_description(standings.luck, standings.isolation)}
    records = [_csv_fields(row, by_name.get(row.name)) | luck for row in standings.rows]
    return tuple(records[0]) if records else (), records


def _csv_fields(row: Row, timing: Timing | None) -> dict[str, object]:
    """Return all columns of a row by name, with a column for each of several values."""
    columns = row_fields(row)
    for name in ("score_by_seat", "faults", "pardoned", "luck"):
        del columns[name]
    for field in PlayerLuck.__struct_fields__:
        columns[f"luck_{field}"] = None if row.luck is None else getattr(row.luck, field)
    columns |= {f"score_seat_{seat}": score for seat, score in enumerate(row.score_by_seat)}
    columns |= {f"faults_{kind.value}": row.faults.get(kind.value, 0) for kind in FAULTS}
    columns |= {f"pardoned_{kind.value}": row.pardoned.get(kind.value, 0) for kind in PARDONABLE}
    return columns | _time_fields(timing)


def _document(standings: Standings, timing: Sequence[Timing] | None, news: Sequence[str]) -> dict[str, object]:
    """Return the JSON document: canonical standings, luck and its audit, news, and timing if given, a key for each."""
    document: dict[str, object] = {
        "standings": msgspec.Raw(standings_json(standings)),
        "luck_audit": luck_audit(standings),
        "luck": luck_description(standings.luck, standings.isolation),
        "news": news,
    }
    return document if timing is None else document | {"timing": timing}


def notes(
    standings: Standings,
    timing: Sequence[Timing],
    news: Sequence[str] = (),
    shown: Container[str] = (),
    *,
    has_luck_audit: bool = False,
) -> list[str]:
    """Return the sentences below a table with the columns `shown`; `timing` is empty where times are left out.

    A player who is luckier than chance explains is named in any case.
    """
    luck = luck_description(standings.luck, standings.isolation)
    return [
        summary_sentence(standings),
        *news,
        *([luck] if luck else ()),
        *(() if "faults" in shown else _fault_sentences(standings.rows)),
        *_pardon_sentences(standings.rows),
        *_waiting_sentences(timing),
        *_load_sentences(timing),
        *_seat_sentences(standings.seats),
        *(luck_audit(standings) if has_luck_audit else _luck_warnings(standings)),
        *_trueskill_sentences(standings),
        *_group_sentences(standings),
    ]


def luck_audit(standings: Standings) -> list[str]:
    """Return the warnings of the luck audit, or one sentence: no outlier, or nothing measured.

    Nothing without a match in the league.
    """
    measured = [row.luck.matches for row in standings.rows if row.luck is not None]
    if not standings.matches:
        return []
    if not measured:
        return ["luck audit: not tested: no match has its luck measured"]
    matches = counted(max(measured), "match", "matches")
    chance = f"family-wise error {percent(LEVEL)} %"
    return _luck_warnings(standings) or [f"luck audit: no outlier (up to {matches} a player; {chance})"]


def _luck_warnings(standings: Standings) -> list[str]:
    """Return a warning for each player who is luckier than chance explains."""
    lucky = {row.name: row.luck for row in standings.rows if row.luck is not None and row.luck.stands_out}
    return [_luck_warning(name, luck) for name, luck in zip(clip_names([*lucky]), lucky.values(), strict=True)]


def _luck_warning(name: str, luck: PlayerLuck) -> str:
    """Return the warning that a player is luckier than chance explains."""
    return (
        f"WARNING: luck audit: {name} is luckier than a player can be who does not know draws before they fall:"
        f" {luck.mean:+.3f} wins a match by luck in {counted(luck.matches, 'match', 'matches')}, at least"
        f" {luck.least:+.3f} ({percent(1 - LEVEL)} %); chance makes anybody of a league so lucky with a"
        f" probability of {luck.p:.1g} at most"
    )


def summary_sentence(standings: Standings) -> str:
    """Return the sentence on matches, order, draws and isolation, with a warning for bots without a sandbox."""
    state = "" if standings.is_complete else ", incomplete"
    draws = "" if standings.draw_rate is None else f"; draws {percent(standings.draw_rate)} %"
    played = f"{standings.matches} of {standings.scheduled} matches{state}; ranks by {_ORDERS[standings.sorted_by]}"
    is_open = "none" in standings.isolation
    warning = ". UNSANDBOXED: bots could read the files of this account, and each other's" if is_open else ""
    return f"{played}{draws}; isolation: {standings.isolation}{warning}"


def _rating_sentence(standings: Standings) -> str:
    """Explain the meaning of a point of the rating in this league."""
    if not standings.matches:
        return ""
    effect, rating = standings.design_effect, standings.rating
    unit = "as of independent matches" if effect is None else f"from blocks (design effect {effect.players:.2f})"
    score = score_of_beta(rating)
    return (
        f"here {rating.beta:.2f} points (beta) more are a score of {percent(score)} % against {percent(1 - score)} %,"
        f" and intervals are {unit}"
    )


def _fault_sentences(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a sentence with the players who lost matches by their own fault, the worst first."""
    guilty = sorted((row for row in rows if row.faults), key=lambda row: -sum(row.faults.values()))
    named = zip(clip_names([row.name for row in guilty[:_MOST_NAMED]]), guilty, strict=False)
    parts = [f"{name} {sum(row.faults.values())} of {row.matches} ({fault_counts(row.faults)})" for name, row in named]
    if parts:
        more = f" and {counted(len(guilty) - _MOST_NAMED, 'other player')}" if guilty[_MOST_NAMED:] else ""
        yield f"matches lost by the bot's own fault: {', '.join(parts)}{more}"


def _pardon_sentences(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a sentence for each of the worst players: such faults are no forfeits, so the table lacks them."""
    guilty = sorted((row for row in rows if row.pardoned), key=lambda row: -sum(row.pardoned.values()))
    named = guilty[:_MOST_NAMED]
    for row, name in zip(named, clip_names([row.name for row in named]), strict=True):
        kinds = ", ".join(f"{count} {kind}" for kind, count in row.pardoned.items())
        faults = counted(sum(row.pardoned.values()), "fault", "faults")
        yield f"{name}: {faults} in {counted(row.matches, 'match', 'matches')}, after which the game went on ({kinds})"
    if guilty[_MOST_NAMED:]:
        yield f"{counted(len(guilty) - _MOST_NAMED, 'other player')} had such faults too"


def _waiting_sentences(timing: Sequence[Timing]) -> Iterator[str]:
    """Yield sentences on the time in which the league waited for bots that were idle or starting."""
    idle = {row.name: row.idle_s / row.matches for row in timing if row.idle_s > _IDLE_S * row.matches}
    startup = {row.name: row.startup_s / row.matches for row in timing if row.startup_s > _STARTUP_S * row.matches}
    for what, seconds in (("idle while they owed answers", idle), ("start-up", startup)):
        if seconds:
            worst = sorted(seconds, key=lambda name: (-seconds[name], name))
            pairs = zip(clip_names(worst[:_MOST_NAMED]), worst, strict=False)
            more = f" and {len(worst) - _MOST_NAMED} more" if worst[_MOST_NAMED:] else ""
            yield f"{what}, seconds a match: {', '.join(f'{shown} {seconds[name]:.1f}' for shown, name in pairs)}{more}"


def _load_sentences(timing: Sequence[Timing]) -> Iterator[str]:
    """Yield a warning of forfeits that a machine with less load would not have caused."""
    late = [row.name for row in timing if row.timeouts_by_load]
    if late:
        count = counted(sum(row.timeouts_by_load for row in timing), "timeout")
        yield (
            f"WARNING: {count} by wall time came while the bot waited for a core for longer than it was late"
            f" ({list_some(clip_names(late))}): the machine was too busy; play with fewer `--workers`, or let CPU time"
            " decide"
        )


def _seat_sentences(seats: Sequence[SeatAdvantage]) -> Iterator[str]:
    """Yield the advantage of each seat; of two seats only the first, as the second loses what it wins."""
    rows = seats[:1] if len(seats) == 2 else seats
    if rows:
        listed = ", ".join(f"seat {row.seat} {row.points.value:+.1f} {half_width(row.points, 1)}" for row in rows)
        yield f"seat advantage, percentage points of score ±95 %: {listed}"


def _trueskill_sentences(standings: Standings) -> Iterator[str]:
    """Yield sentences that compare the order of ranks with that of TrueSkill's mu."""
    if standings.sorted_by == "mu" or sum(row.rank is not None for row in standings.rows) < 2:
        return
    pairs = inverted_by_mu(standings.rows)
    yield f"TrueSkill in one pass: {_list_orders(pairs)}" if pairs else "TrueSkill in one pass: same order"
    if standings.contradictions:
        yield f"TrueSkill in one pass contradicts the rating at 95 %: {_list_orders(standings.contradictions)}"


def _list_orders(pairs: Iterable[tuple[str, str]]) -> str:
    """List pairs of names as `a above b`; of many pairs some."""
    return list_some([" above ".join(clip_names(pair)) for pair in pairs])


def _group_sentences(standings: Standings) -> Iterator[str]:
    """Yield a warning of groups that no match connects, and the players without a match."""
    idle = {row.name for row in standings.rows if not row.matches}
    groups = [group for group in standings.groups if not idle.issuperset(group)]
    if len(groups) > 1:
        named = " | ".join(list_some(clip_names(group)) for group in groups[:_MOST_NAMED])
        more = f" | {len(groups) - _MOST_NAMED} more" if len(groups) > _MOST_NAMED else ""
        yield f"WARNING: no match connects these groups; nothing compares them, each has its own ranks: {named}{more}"
    if idle and standings.matches:
        yield f"without a match: {list_some(clip_names(sorted(idle)))}"
