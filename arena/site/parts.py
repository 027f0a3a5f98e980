"""Parts of pages: tables, pictures and lines of matches, from the values of reports.

Rule: values only; templates make the HTML and escape it. The text alternative of a picture contains its numbers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from math import nan
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from arena.games.looks import looks_of
from arena.league.profiles import ProfilePage
from arena.match.record import MatchRecord
from arena.match.results import MatchResult
from arena.report.columns import LEADERBOARD, LUCK_ADJUSTED
from arena.report.formats import UNKNOWN, Column, Style, percent, two_decimals
from arena.report.leaderboard import table_rows
from arena.report.matches import fault_reasons, match_words
from arena.report.matrix import matrix_sentences, meeting_marks
from arena.report.profile import section_table
from arena.site.leagues import Highlights, LeagueView, key_of, pair_of
from arena.site.plots import Plot, bar_plot, interval_plot, line_plot
from arena.standings.matrix import Meeting
from arena.standings.profile import Extreme
from arena.statistics.drift import LEAST_BLOCKS_FOR_DRIFT
from arena.text import counted, printable

MOST_LINES: Final = 12
"""Players in the plot of ratings; more lines cannot be told apart."""
MOST_INTERVALS: Final = 60
_WIDE: Final = Style(is_wide=True)
_SHADES: Final = 8
_SECTIONS: Final = {"opponent": "By opponent", "seat": "By seat", "tenth": "Tenths of the schedule"}
STANDINGS: Final = tuple(definition for definition in LEADERBOARD if definition.name not in {"bot", "mu-3s"})
"""The columns of the leaderboard that the site shows: bots have their own page, and mu-3s follows from TrueSkill."""
CARD_KINDS: Final = {
    "upset": "Upsets",
    "swing": "Swings",
    "decision": "Costly decisions",
    "closest": "Closest",
    "fault": "Faults",
    "latest": "Latest",
}
"""Kinds of matches worth a look, with their headings; a swing and a decision are marks of the match."""
_REASONS: Final[dict[str, Callable[[float], str]]] = {
    "upset": lambda lead: f"upset: {lead:.1f} behind in rating",
    "closest": lambda margin: f"won by {-margin:g}" if margin else "tie",
    "latest": lambda _: "latest",
}
_MOST_OF_KIND: Final = 12
_MOST_SIDES: Final = 4
ON_PHONE: Final = {"rank", "player", "score", "rating", "opponent", "seat", "tenth", "margin", "bot", "league", "run"}
"""First words of the headers of columns that a phone shows of a table whose columns can be chosen."""
LUCK_MEANING: Final = (
    "shares of a win that dice and cards brought, on average over the matches: +0.05 is 5 % of a win in each; 0 is"
    " nobody's luck"
)


def player_file(name: str) -> str:
    """Return the file of a player's page, within the folder of the league."""
    return f"player-{key_of(name)}.html"


def pair_file(pair: tuple[str, str]) -> str:
    """Return the file of the page of two players, within the folder of the league."""
    return f"pair-{key_of(pair[0])}-{key_of(pair[1])}.html"


def rows_of(columns: Sequence[Column]) -> list[tuple[tuple[Column, str, str], ...]]:
    """Return the rows of a table; a cell is its column, its text and the page that it links to."""
    cells = (zip_longest(map(str.strip, column.cells), column.links, fillvalue="") for column in columns)
    filled = ([(column, *cell) for cell in texts] for column, texts in zip(columns, cells, strict=True))
    return list(zip(*filled, strict=True))


def standings_table(view: LeagueView) -> list[Column]:
    """Return the columns of the leaderboard, with a link to each player."""
    is_adjusted = any(row.luck_adjusted for row in view.table.rows)
    rows, links = table_rows(view.table, view.timing), {"player": [*map(player_file, view.players)]}
    shown = [definition for definition in STANDINGS if definition is not LUCK_ADJUSTED or is_adjusted]
    return [definition.column(rows, _WIDE, links.get(definition.name, ())) for definition in shown]


def skill_plot(view: LeagueView) -> Plot | None:
    """Plot the ratings of the best `MOST_INTERVALS` players with their intervals; None without a match."""
    rows = [row for row in view.table.rows if row.rating][:MOST_INTERVALS]
    if not rows:
        return None
    names, ratings = [row.name for row in rows], [row.rating for row in rows if row.rating]
    numbers = "; ".join(f"{row.name} {two_decimals(row.rating.value)}" for row in rows[:MOST_LINES] if row.rating)
    caption = (
        "The rating, fitted to all matches, with its 95 % interval. Two intervals that overlap do not show who is"
        " better; the column `ahead` and the matrix do."
    )
    return Plot(interval_plot(_looks(view, names), ratings, printable(f"Skill, best first: {numbers}")), caption)


def _looks(view: LeagueView, names: Sequence[str]) -> list[tuple[str, int]]:
    """Return the names, each with the look of the player."""
    return [(name, looks_of([name], view.names)[0]) for name in names]


def _line_plot(
    view: LeagueView, x: Sequence[int], lines: Mapping[str, Sequence[float]], axes: tuple[str, str], caption: str
) -> Plot:
    """Plot a line for each player by name, in their colours; the last values are the text alternative."""
    numbers = "; ".join(f"{name} {two_decimals(values[-1])}" for name, values in lines.items())
    alternative = printable(f"{axes[1]} at the end: {numbers}")
    return Plot(line_plot(x, _looks(view, [*lines]), [*lines.values()], alternative, axes), caption)


def rating_plot(view: LeagueView) -> Plot | None:
    """Plot TrueSkill's mu of the best `MOST_LINES` players over the matches of the league; None without a match."""
    names = [row.name for row in view.table.rows if row.matches][:MOST_LINES]
    if len(view.ratings) < 2:
        return None
    lines = {name: [by_player[name].mu for _, by_player in view.ratings] for name in names}
    omission = f" The best {MOST_LINES} are drawn." if len(names) < len(view.players) else ""
    caption = f"TrueSkill's mu, in the order of the schedule; it settles as matches are played.{omission}"
    return _line_plot(view, [matches for matches, _ in view.ratings], lines, ("matches", "mu"), caption)


def history_plot(view: LeagueView) -> Plot | None:
    """Plot the rating of the best players at the end of each run; None before the second run."""
    if len(view.runs) < 2:
        return None
    tables = [{str(row.get("player")): row.get("rating") for row in run.rows} for run in view.runs]
    names = [row.name for row in view.table.rows][:MOST_LINES]
    lines = {name: [nan if (value := table.get(name)) is None else value for table in tables] for name in names}
    caption = "The rating at the end of each run; only differences within a run count."
    return _line_plot(view, [run.number for run in view.runs], lines, ("run", "rating"), caption)


def luck_table(view: LeagueView) -> list[Column]:
    """Return the columns of the players' luck; empty if none was measured."""
    lucks = [(row.name, row.luck) for row in view.table.rows if row.luck]
    if not lucks:
        return []
    names = [name for name, _ in lucks]
    return [
        Column("player", Style().names(names), "left", links=[*map(player_file, names)], is_key=True),
        Column("matches", [str(luck.matches) for _, luck in lucks]),
        Column("luck", [f"{luck.mean:+z.3f}" for _, luck in lucks], meaning=LUCK_MEANING),
    ]


def heat_map(view: LeagueView) -> dict[str, Any]:
    """Return the matrix as values for its template: rows of shaded cells, heads, and sentences."""
    names = [player.name for player in view.matrix.players]
    cells = {(meeting.player, meeting.opponent): meeting for meeting in view.matrix.meetings}
    rows = [
        {"name": name, "href": player_file(name), "cells": [_heat(view, cells.get((name, other))) for other in names]}
        for name in names
    ]
    heads = [{"number": number, "name": name} for number, name in enumerate(names, start=1)]
    return {"heads": heads, "rows": rows, "notes": [*matrix_sentences(view.matrix)]}


def _heat(view: LeagueView, meeting: Meeting | None) -> dict[str, str]:
    """Return a cell of the matrix: the score, shaded from 0 to 100 %; without text for a player and themselves."""
    if meeting is None or meeting.score is None:
        return {"text": UNKNOWN if meeting else "", "shade": "none", "title": "", "href": ""}
    pair = pair_of(meeting.player, meeting.opponent)
    return {
        "text": f"{percent(meeting.score)} {meeting_marks(meeting)}".strip(),
        "shade": f"s{round(_SHADES * meeting.score)}",
        "title": pair_sentence(meeting),
        "href": pair_file(pair) if pair in view.pairs else "",
    }


def pair_sentence(meeting: Meeting) -> str:
    """Return the result between two players as a sentence, seen from the first."""
    matches, result = counted(meeting.matches, "match", "matches"), f"{meeting.wins}-{meeting.draws}-{meeting.losses}"
    score = "" if meeting.score is None else f", score {percent(meeting.score)} %"
    ends = (
        ""
        if meeting.score_low is None or meeting.score_high is None
        else f" ({percent(meeting.score_low)} to {percent(meeting.score_high)})"
    )
    return f"{meeting.player} against {meeting.opponent}: {result} in {matches}{score}{ends}"


def bot_table(leagues: Sequence[LeagueView], bot: str = "", root: str = "league/") -> list[Column]:
    """Return columns with a row for each player of each league, sorted by bot and version.

    `bot`: the name of the only bot to list. `root`: the relative path to the folder of all leagues, for links.
    """
    lines = sorted(
        (
            (player.bot.name, player.bot.manifest.version, player.bot.digest, view.name, player.name, view)
            for view in leagues
            for player in view.state.tournament.players
            if player.bot.name == (bot or player.bot.name)
        ),
        key=lambda line: line[:5],
    )
    rows = [next(row for row in view.table.rows if row.name == name) for *_, name, view in lines]
    folders = [f"{root}{view.key}" for *_, view in lines]
    players = [f"{folder}/{player_file(name)}" for folder, (*_, name, _) in zip(folders, lines, strict=True)]
    return [
        Column("bot", [name for name, *_ in lines], "left", is_key=True),
        Column("version", [version for _, version, *_ in lines], "left"),
        Column("hash", [digest[:8] for _, _, digest, *_ in lines], "left"),
        Column(
            "league", [league for *_, league, _, _ in lines], "left", links=[f"{path}/index.html" for path in folders]
        ),
        Column("player", [player for *_, player, _ in lines], "left", links=players),
        Column("rank", [str(row.rank) if row.matches else UNKNOWN for row in rows]),
        Column("score %", [percent(row.score.value) if row.score else UNKNOWN for row in rows]),
    ]


def section_tables(page: ProfilePage) -> Iterator[dict[str, Any]]:
    """Yield `title` and `data` (columns) of each table of a player; not that of tenths with too few blocks."""
    for section, lines in page.sections:
        if section == "tenth" and not _has_form(page):
            continue
        rows, shown = section_table(page, section, lines, _WIDE)
        links = [player_file(line.name) for line in lines] if section == "opponent" else []
        columns = [column.column(rows, _WIDE, links if column.name == "name" else ()) for column in shown]
        yield {"title": _SECTIONS[section], "data": columns}


def _has_form(page: ProfilePage) -> bool:
    """Return True if a tenth of the schedule has five blocks of the player or more."""
    return page.row.score is not None and page.row.score.blocks >= LEAST_BLOCKS_FOR_DRIFT


def form_plot(view: LeagueView, page: ProfilePage) -> Plot | None:
    """Plot a player's score by tenth of the schedule; None with too few blocks."""
    tenths = [(line.name, line.score.interval) for line in page.profile.tenths if line.score]
    if not _has_form(page):
        return None
    names, scores = [name for name, _ in tenths], [interval for _, interval in tenths]
    alternative = f"Score in percent by tenth of the schedule: {', '.join(percent(score.value) for score in scores)}"
    picture = bar_plot(_looks(view, [page.row.name])[0][1], names, scores, alternative)
    return Plot(picture, "Score by tenth of the schedule, with its 95 % interval.")


class Card(msgspec.Struct):
    """A match worth a look, with its `kinds` for the filter, and the reasons with the step that each leads to.

    `sides` are the best players, with score and look; `more` players have no room.
    """

    id: str
    has_page: bool
    sides: Sequence[tuple[str, str, int]]
    more: int
    end: str
    kinds: list[str] = []
    reasons: list[tuple[str, int]] = []


Marks = Mapping[str, Sequence[Mapping[str, Any]]]
"""The marks of matches by id, as the data of their pages have them; other matches are not known."""


def cards_of(view: LeagueView, highlights: Highlights, has_page: Callable[[str], bool], marks: Marks) -> list[Card]:
    """Return a card for each match worth a look: the best of each kind, then the second of each, and so on.

    A match of several kinds has one card with all of them. Swings and decisions are known from `marks` only.
    """
    cards = dict[str, Card]()
    kinds = [[(kind, *entry) for entry in _reasons(kind, highlights, marks)] for kind in CARD_KINDS]
    for kind, match, reason, step in filter(None, chain.from_iterable(zip_longest(*kinds))):
        card = cards.setdefault(str(match.key), _card(view, match, has_page))
        card.kinds.append(kind)
        card.reasons.append((reason, step))
    return [*cards.values()]


def _reasons(kind: str, highlights: Highlights, marks: Marks) -> Iterator[tuple[MatchResult, str, int]]:
    """Yield the matches of a kind, best first, each with the reason and its step."""
    if words := _REASONS.get(kind):
        for size, match in highlights.kinds[kind]:
            yield match, words(size), 0
    elif kind == "fault":
        forfeits = [match for match in highlights.matches("faulty") if match.at_fault is not None]
        for match in forfeits[:_MOST_OF_KIND]:
            yield match, match_words(match)[2], 0
    else:
        matches = {match.key: match for match in highlights.matches(*highlights.kinds)}.values()
        pairs = ((mark, match) for match in matches for mark in marks.get(str(match.key), ()))
        found = [(mark, match) for mark, match in pairs if mark["kind"].endswith(kind)]
        for mark, match in sorted(found, key=lambda entry: -entry[0]["size"])[:_MOST_OF_KIND]:
            yield match, f"{mark['kind']} {100 * mark['size']:.0f} %", mark["step"]


def _card(view: LeagueView, match: MatchResult, has_page: Callable[[str], bool]) -> Card:
    """Return the card of a match, without reasons."""
    seats, _, *end = match_words(match)
    scores = map(str, match.scores or [""] * len(match.players))
    by_rank = sorted(zip(match.ranks, match.players, scores, looks_of(match.players, view.names), strict=True))
    sides = [(name, score, look) for _, name, score, look in by_rank]
    more = max(0, len(sides) - _MOST_SIDES)
    return Card(str(match.key), has_page(str(match.key)), sides[:_MOST_SIDES], more, f"{seats}; {'; '.join(end)}")


class MatchLine(msgspec.Struct, frozen=True):
    """A row of a list of matches; `has_page`: the match has a page."""

    id: str
    players: str
    scores: str
    end: str
    has_page: bool
    reasons: Sequence[str] = ()


def match_line(match: MatchResult, has_page: Callable[[str], bool], reasons: Sequence[str] = ()) -> MatchLine:
    """Return the row of a match, with the given reasons of its faults."""
    players, scores, *end = match_words(match)
    return MatchLine(str(match.key), players, scores, "; ".join(end), has_page(str(match.key)), reasons)


def extreme_line(match: Extreme, has_page: Callable[[str], bool]) -> MatchLine:
    """Return the row of a match that was won or lost by a large margin."""
    scores = ":".join(map(str, match.scores))
    margin = f"by {abs(float(match.margin)):g}"
    return MatchLine(str(match.match), " v ".join(match.players), scores, margin, has_page(str(match.match)))


def public_reasons(match: MatchResult, record: MatchRecord) -> list[str]:
    """Return the reasons of a match's faults, without private output: stderr and the dialogue with the bot."""
    fault = record.fault and replace(record.fault, got="", hint="", stderr="", transcript=())
    reasons = fault_reasons(replace(record, fault=fault))
    return [f"{name}: {reason}" for name, texts in zip(match.players, reasons, strict=True) for reason in texts]
