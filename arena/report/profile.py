"""The page of one player: a table of results for each section, and the ids of notable matches.

Rule: `arena show` accepts every id on it, and numbers that the leaderboard has are taken from its row.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from arena.league.profiles import ProfilePage
from arena.match.record import plain_number
from arena.report.columns import LUCK_ADJUSTED, SHOWN, Definition, explanation, section_columns, select_columns
from arena.report.formats import Column, Style, half_width, percent, two_decimals
from arena.report.page import Page, Records
from arena.standings.profile import Extreme, Fault, ProfileLine
from arena.standings.rows import interval_fields
from arena.standings.scores import Mean
from arena.statistics.drift import LEAST_BLOCKS_FOR_DRIFT, LEAST_UNUSUAL, Drift
from arena.text import counted

MOST_IDS_SHOWN: Final = 4
"""The most ids for a kind of fault in the table; other formats have more."""
_UNLIKELY: Final = 0.01


def profile_page(page: ProfilePage, luck: str | None = None) -> Page:
    """Make the page of a player."""

    def text(style: Style) -> Iterator[str]:
        """Yield the parts of the page in a style: sentences, tables of results, of time, and more sentences."""
        title, *head = head_sentences(page)
        yield style.sentences(head, title=title)
        yield from _tables(page, style)
        if page.timing.moves:
            yield style.table(time_columns(page))
        yield style.sentences(_closing_sentences(page, most_ids=None if style.is_markdown else MOST_IDS_SHOWN))

    def records() -> Records:
        rows = [*_csv_records(page)]
        return tuple(dict.fromkeys(name for row in rows for name in row)), rows

    return Page(text, records, lambda: _document(page), luck, section_columns("name"))


def _tables(page: ProfilePage, style: Style) -> Iterator[str]:
    """Yield a table for each section, and the meanings of their columns."""
    shown: list[Definition] = []
    for section, lines in page.sections:
        rows, shown = section_table(page, section, lines, style)
        yield style.table([definition.column(rows, style) for definition in shown])
    if style.is_wide and shown:
        yield style.sentences(explanation(shown))


def section_table(
    page: ProfilePage, section: str, lines: Sequence[ProfileLine], style: Style
) -> tuple[list[dict[str, Any]], list[Definition]]:
    """Return the rows of a section for programs, and the columns that a style shows of it."""
    is_adjusted = any(line.luck_adjusted for _, group in page.sections for line in group)
    known = [item for item in section_columns(section) if item is not LUCK_ADJUSTED or style.columns or is_adjusted]
    return [_csv_record(section, line) for line in lines], select_columns(known, style, SHOWN + page.is_luck_asked)


def head_sentences(page: ProfilePage) -> Iterator[str]:
    """Yield the sentences on the player and the result of all matches."""
    row = page.row
    arguments = f" with {' '.join(page.arguments)}" if page.arguments else ""
    yield f"{row.name} in {page.league}: bot {row.bot} {row.version} ({row.hash[:8]}){arguments}"
    if row.score is None:
        yield "No match of it is stored."
        return
    score = f"{percent(row.score.value)} {half_width(row.score.interval, 1, 100.0)} %"
    margin = f", margin {row.margin.value:+z.2f} {half_width(row.margin.interval)}" if row.margin else ""
    yield (
        f"{counted(row.matches, 'match', 'matches')} in {counted(row.score.blocks, 'block')}:"
        f" {row.wins}-{row.draws}-{row.losses}, score {score}{margin}"
    )
    if without := page.profile.total.luck_adjusted:
        adjusted = f"{percent(without.value)} {half_width(without.interval, 1, 100.0)} %"
        yield f"luck-adjusted score {adjusted}; the rank is by results alone"
    elif page.no_luck_reason:
        yield f"luck-adjusted score: not shown, as {page.no_luck_reason}"
    skill = f", rating {two_decimals(row.rating.value)} {half_width(row.rating)}" if row.rating else ""
    yield f"Rank {row.rank} of {page.ranking_size}{skill}"
    yield from page.ignored


def _closing_sentences(page: ProfilePage, *, most_ids: int | None) -> Iterator[str]:
    """Yield the sentences on drift, time, faults and matches with large margins; nothing without a match."""
    profile = page.profile
    if not page.row.matches:
        return
    yield drift_sentence(profile.drift)
    yield from time_sentences(page)
    yield from fault_sentences(page, most_ids)
    yield from _extreme_lines("Closest matches", profile.closest)
    yield from _extreme_lines("Biggest wins", profile.wins)
    yield from _extreme_lines("Biggest losses", profile.losses)
    yield "To see a match: arena show ID. To ask a bot for its answers there: arena ask BOT ID"
    yield f"What each decision cost there: arena coach ID {page.row.name}"


def fault_sentences(page: ProfilePage, most_ids: int | None = MOST_IDS_SHOWN) -> Iterator[str]:
    """Yield the faults of a player by kind, with the first matches of each."""
    profile = page.profile
    if profile.faults:
        count = sum(kind.faults for kind in profile.faults)
        yield f"Faults: {count}, and {profile.opponents_forfeits} by others in its matches."
        yield from _fault_lines(profile.faults, most_ids)
    else:
        yield f"Faults: none; {counted(profile.opponents_forfeits, 'forfeit')} by others in its matches."
    if profile.pardons:
        yield "Faults after which the game went on:"
        yield from _fault_lines(profile.pardons, most_ids)


def drift_sentence(drift: Drift | None) -> str:
    """Describe if the player changed in the course of the league."""
    if drift is None:
        return (
            f"Drift: not tested; the test needs {LEAST_BLOCKS_FOR_DRIFT} blocks, of which {LEAST_UNUSUAL} differ from"
            " the usual result of their pairing."
        )
    change = f"{100 * drift.change.value:+z.1f} {half_width(drift.change, 1, 100.0)} points"
    if drift.p_trend < _UNLIKELY:
        way = "better" if drift.change.value > 0 else "worse"
        chance = _p_text(drift.p_trend)
        return f"Drift: the player gets {way}, by {change} from the first block to the last (p {chance})."
    if drift.p_tenths is not None and drift.p_tenths < _UNLIKELY:
        return f"Drift: no trend, but tenths differ by more than chance (p {_p_text(drift.p_tenths)})."
    return f"Drift: none found; {change} from the first block to the last."


def _p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def time_columns(page: ProfilePage) -> list[Column]:
    """Make the columns of the use of time: over matches, and over all moves."""
    times, timing = page.profile.times, page.timing
    means, slowest = times.means_ms, times.slowest_decisions_ms
    return [
        Column("ms/move", ["mean", "max"], "left"),
        Column("p50", [two_decimals(means.p50), two_decimals(slowest.p50)]),
        Column("p99", [two_decimals(means.p99), two_decimals(slowest.p99)]),
        Column("all", [two_decimals(timing.mean_ms), two_decimals(timing.slowest_ms)]),
    ]


def time_sentences(page: ProfilePage) -> Iterator[str]:
    """Yield the meaning of the columns of time, and the time spent beside moves, of a player with a match."""
    times, timing = page.profile.times, page.timing
    if not timing.moves:
        yield "Time: it never had to decide."
    else:
        yield (
            "ms/move is by the clock that decides. p50 and p99 are over matches, as single moves are not kept: half and"
            f" 99 % of {counted(times.matches, 'match', 'matches')} have no larger mean, or slowest move; all is over"
            f" {counted(timing.moves, 'move')}, the slowest in {times.slowest_match}."
        )
    idle, startup = timing.idle_s / timing.matches, timing.startup_s / timing.matches
    yield f"A match takes {startup:.2f} s of start-up, and {idle:.2f} s idle while the bot owes answers."
    if timing.timeouts_by_load:
        timeouts = counted(timing.timeouts_by_load, "timeout")
        yield f"{timeouts} came while the machine was too busy: play with fewer --workers."


def _fault_lines(faults: Sequence[Fault], most_ids: int | None) -> Iterator[str]:
    """Yield a line for each kind of fault, with the ids of its first matches."""
    for fault in faults:
        shown = fault.first[:most_ids]
        others = fault.matches - len(shown)
        yield f"  {fault.faults} {fault.kind}: {' '.join(map(str, shown))}{f' and {others} more' if others else ''}"


def _extreme_lines(title: str, games: Sequence[Extreme]) -> Iterator[str]:
    """Yield the title and a line for each match: margin, id, and players with scores."""
    if games:
        yield f"{title}:"
    for game in games:
        seated = " : ".join(
            f"{name} {plain_number(score)}" for name, score in zip(game.players, game.scores, strict=True)
        )
        yield f"  {plain_number(game.margin):+}  {game.match}  {seated}"


def _csv_records(page: ProfilePage) -> Iterator[dict[str, Any]]:
    """Yield the rows of the CSV: the total, then one per line of a table, of drift and of time, and per notable match.

    Notable are the matches of faults and pardoned faults, and the extreme ones.
    """
    profile = page.profile
    skill = interval_fields("value", page.row.rating)
    yield _csv_record("all", msgspec.structs.replace(page.profile.total, name=page.row.name)) | skill
    for section, lines in page.sections:
        yield from (_csv_record(section, line) for line in lines)
    if profile.drift:
        yield {"section": "drift", "name": "change"} | interval_fields("value", profile.drift.change)
        for name in ("p_trend", "p_tenths"):
            yield {"section": "drift", "name": name, "value": getattr(profile.drift, name)}
    for name, value in _time_values(page).items():
        match = str(profile.times.slowest_match) if name == "slowest_ms" and profile.times.slowest_match else None
        yield {"section": "time", "name": name, "matches": profile.times.matches, "value": value, "match": match}
    for section, faults in (("fault", profile.faults), ("pardoned", profile.pardons)):
        for fault in faults:
            yield from ({"section": section, "name": fault.kind, "match": str(match)} for match in fault.first)
    for section, extremes in (("win", profile.wins), ("loss", profile.losses), ("closest", profile.closest)):
        for game in extremes:
            names = " v ".join(game.players)
            yield {"section": section, "name": names, "match": str(game.match), "margin": plain_number(game.margin)}


def _time_values(page: ProfilePage) -> dict[str, float | None]:
    """Return the use of time for programs, by name: over all moves, and percentiles over matches."""
    timing, times = page.timing, page.profile.times
    percentiles = {
        f"{name}_{which}": value
        for name in ("means_ms", "slowest_decisions_ms")
        for which, value in msgspec.structs.asdict(getattr(times, name)).items()
    }
    names = ("moves", "mean_ms", "slowest_ms", "startup_s", "idle_s", "timeouts_by_load")
    return {name: getattr(timing, name) for name in names} | percentiles


def _csv_record(section: str, line: ProfileLine) -> dict[str, Any]:
    """Return a line of a table as a row of CSV."""
    return {
        "section": section,
        "name": line.name,
        "matches": line.matches,
        "blocks": line.score.blocks if line.score else 0,
        **{name: getattr(line, name) for name in ("wins", "draws", "losses")},
        **interval_fields("score", line.score),
        **interval_fields("margin", line.margin),
        **interval_fields("luck_adjusted", line.luck_adjusted),
        "forfeits": line.forfeits,
        "value": None,
        "match": None,
    }


def _document(page: ProfilePage) -> dict[str, Any]:
    """Return the whole page for JSON."""
    profile, row = page.profile, page.row
    standing = {
        "rank": row.rank,
        "players": page.ranking_size,
        **interval_fields("rating", row.rating),
    }
    percentiles = {name: getattr(profile.times, name) for name in ("means_ms", "slowest_decisions_ms")}
    match = profile.times.slowest_match and str(profile.times.slowest_match)
    return {
        "league": page.league,
        "player": row.name,
        **{name: getattr(row, name) for name in ("bot", "version", "hash")},
        "arguments": page.arguments,
        "standing": standing if row.matches else None,
        "total": _line_document(page.profile.total),
        **{name: [*map(_line_document, getattr(profile, name))] for name in ("opponents", "seats", "tenths")},
        "drift": profile.drift,
        "times": {"matches": profile.times.matches} | _time_values(page) | percentiles | {"slowest_match": match},
        "ignored": page.ignored,
        "faults": [*map(_fault_document, profile.faults)],
        "pardons": [*map(_fault_document, profile.pardons)],
        "opponents_forfeits": profile.opponents_forfeits,
        **{name: [*map(_extreme_document, getattr(profile, name))] for name in ("wins", "losses", "closest")},
    }


def _line_document(line: ProfileLine) -> dict[str, Any]:
    """Return a line of a table for JSON."""
    return {
        **{name: getattr(line, name) for name in ("name", "matches", "wins", "draws", "losses")},
        "score": _mean_document(line.score),
        "margin": _mean_document(line.margin),
        "luck_adjusted": _mean_document(line.luck_adjusted),
        "forfeits": line.forfeits,
    }


def _mean_document(mean: Mean | None) -> dict[str, Any] | None:
    """Return a mean with the ends of its 95 % interval for JSON; `error` is its standard error."""
    if mean is None:
        return None
    bounds = mean.interval
    error, blocks = mean.standard_error, mean.blocks
    return {"value": mean.value, "low": bounds.low, "high": bounds.high, "error": error, "blocks": blocks}


def _fault_document(fault: Fault) -> dict[str, Any]:
    """Return a kind of fault for JSON; `not_listed` counts the matches beyond those listed."""
    listed = [*map(str, fault.first)]
    return {"kind": fault.kind, "faults": fault.faults, "matches": listed, "not_listed": fault.matches - len(listed)}


def _extreme_document(game: Extreme) -> dict[str, Any]:
    """Return a match with a large margin for JSON."""
    scores = [*map(plain_number, game.scores)]
    return {"match": str(game.match), "players": game.players, "scores": scores, "margin": plain_number(game.margin)}
