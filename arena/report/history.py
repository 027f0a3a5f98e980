"""The page of a league's history: what changed from run to run, and the rank and rating of each player in each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from arena.league.history import EndedRun
from arena.report.columns import read_interval
from arena.report.formats import UNKNOWN, Column, Style, align, clip_names, intervals, two_decimals
from arena.report.page import Page, Records
from arena.text import counted, join_words, printable

if TYPE_CHECKING:
    from arena.standings.rows import Row

MOST_RUNS_SHOWN: Final = 6
"""The latest runs that a table for a terminal has; other formats have all."""
_IDENTITY: Final = ("player", "bot", "version", "hash", "matches")
_NUMBERS: Final = ("rank", "rating", "rating_low", "rating_high", "mu", "sigma")
_FIELDS: Final = (*_IDENTITY, *_NUMBERS)


def history_page(league: str, runs: Sequence[EndedRun]) -> Page:
    """Make the page of the runs of a league."""

    def text(style: Style) -> Iterator[str]:
        """Yield a sentence for each run, and the table."""
        yield style.sentences([run_sentence(run) for run in runs] or ["no run has ended yet"], title=league)
        if runs:
            yield style.table(run_columns(runs if style.is_markdown else runs[-MOST_RUNS_SHOWN:]))

    def records() -> Records:
        names = ("run", "ended_at", *_FIELDS)
        return names, [
            {"run": run.number, "ended_at": run.ended_at, **{name: row.get(name) for name in _FIELDS}}
            for run in runs
            for row in run.rows
        ]

    return Page(text, records, lambda: {"league": league, "runs": msgspec.to_builtins(runs)})


def run_sentence(run: EndedRun) -> str:
    """Describe a run: its number, its end, its matches, and what changed since the one before."""
    changes = f"; {', '.join(run.changes)}" if run.changes else ""
    players, matches = counted(len(run.rows), "player"), counted(run.scheduled, "match", "matches")
    matches = matches if run.matches == run.scheduled else f"closed with {run.matches} of {matches}"
    return f"run {run.number}, ended {run.ended_at[:16].replace('T', ' ')} UTC: {players}, {matches}{changes}"


def standing_columns(name: str, runs: Sequence[EndedRun]) -> list[Column]:
    """Return the columns of one player's standing, a row a run in which they played: version, rank and rating."""
    rows = [(run, row) for run in runs for row in run.rows if row.get("player") == name]
    ratings = [read_interval(row, "rating") for _, row in rows]
    return [
        Column("run", [str(run.number) for run, _ in rows], is_key=True),
        Column("ended (UTC)", [run.ended_at[:16].replace("T", " ") for run, _ in rows], align="left"),
        Column("version", [_version_text(row.get("version"), row.get("hash")) for _, row in rows], align="left"),
        Column("rank", [_cell(row)[0] for _, row in rows]),
        Column("rating\n±95 %", intervals(ratings)),
    ]


def hand_in_columns(hand_ins: Sequence[tuple[str, str, str | None, str]]) -> list[Column]:
    """Return the columns of the hand-ins of a bot: time, version with hash, and if it was accepted or withdrawn.

    A hand-in is (bot, time, version, hash); a version of None means that the bot was withdrawn.
    """
    return [
        Column("handed in (UTC)", [at[:16].replace("T", " ") for _, at, *_ in hand_ins], align="left", is_key=True),
        Column("version", [_version_text(version, digest) for *_, version, digest in hand_ins], "left"),
        Column("now", ["withdrawn" if version is None else "accepted" for *_, version, _ in hand_ins], "left"),
    ]


def passing_sentences(runs: Sequence[EndedRun], rows: "Sequence[Row]") -> list[str]:
    """Name the players of standings that passed others since the last run with another result; most passed ones first.

    For example `version 3 of dora passed carl and ben since run 2`.
    """
    now = [(row.name, row.rating.value if row.rating else None) for row in rows]
    former = [run for run in runs if [(row.get("player"), row.get("rating")) for row in run.rows] != now][-1:]
    sentences = []
    for run in former:
        places = {row.get("player"): place for place, row in enumerate(run.rows)}
        known = [row for row in rows if row.name in places]
        for number, row in enumerate(known):
            passed = [other.name for other in known[number:] if places[other.name] < places[row.name]]
            if passed:
                text = f"version {row.version} of {row.name} passed {join_words(passed)} since run {run.number}"
                sentences.append((-len(passed), number, text))
    return [text for *_, text in sorted(sentences)]


def run_columns(runs: Sequence[EndedRun]) -> list[Column]:
    """Return the column of players, the best of the last run first, and a column a run with rank and rating.

    Players of former runs only come last.
    """
    names = list(dict.fromkeys(str(row.get("player")) for run in reversed(runs) for row in run.rows))
    columns = [Column("player", clip_names(names), align="left", is_key=True)]
    for run in runs:
        rows = {str(row.get("player")): row for row in run.rows}
        cells = align([_cell(rows.get(name, {})) for name in names], "  ")
        columns.append(Column(f"run {run.number}\nrank, rating", cells))
    return columns


def _version_text(version: object, digest: object) -> str:
    """Return a version, if it has a number, with the beginning of its hash."""
    return printable(f"{version or ''} ({str(digest)[:8]})".strip())


def _cell(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the rank and the rating of a player in a run; both unknown if they did not play."""
    rank, rating = row.get("rank"), row.get("rating")
    return (UNKNOWN if rank is None else str(rank), two_decimals(rating))
