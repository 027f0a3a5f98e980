"""A report for each author of a league, as files: of their own bots, with their stderr."""

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.errors import CheckFailed, SpecError
from arena.league.author_reports import AuthorReport, BotReport
from arena.league.profiles import ignored_fields, player_profile
from arena.league.standings import standings_after
from arena.match.record import MatchRecord
from arena.match.results import record_of
from arena.operations.coach_league import kept_mistakes
from arena.operations.leagues import authors_of, load_league
from arena.operations.request import Request
from arena.report.authors import author_html, author_markdown
from arena.standings.profile import Profile
from arena.store.folder import open_store
from arena.store.made_folder import claim_folder, require_made
from arena.store.matches import MatchStore

MOST_OF_A_KIND: Final = 3
"""The number of matches shown of each kind of fault."""
_COMMAND: Final = "arena report"


class ReportAuthors(Request, frozen=True, kw_only=True):
    """Reports on `league`, or on the only one, in the folder `out`, which is new or was written before."""

    out: Path
    league: str | None = None


class AuthorFile(msgspec.Struct, frozen=True):
    """An author with the name of their report, which ends in .md and in .html."""

    author: str
    file: str


def report_authors(request: ReportAuthors) -> tuple[AuthorFile, ...]:
    """Write a report for each author of a submitted bot. SpecError without one, and for a folder with other files."""
    require_made(request.out, _COMMAND)
    reports = {_file_name(report.author): report for report in _reports(request)}
    forms = {"md": author_markdown, "html": author_html}
    files = {f"{name}.{form}": write(report) for name, report in reports.items() for form, write in forms.items()}
    claim_folder(request.out, _COMMAND, files, mode=0o700)
    for name, text in files.items():
        (request.out / name).write_text(text, encoding="utf-8")
    return tuple(AuthorFile(report.author, name) for name, report in reports.items())


def _reports(request: ReportAuthors) -> Iterator[AuthorReport]:
    """Yield the report for each author, in the order of names; an author's bots are in that of the standings."""
    with open_store(request.results) as store:
        state = load_league(store, request.league)
        sums = store.sums(state.blocks)
        table = standings_after(state, sums)
        mistakes = kept_mistakes(store, state, table.rows)
        costs = {player.name: player for player in mistakes.players} if mistakes else {}
        players = defaultdict[str, list[str]](list)
        authors = authors_of(request.results, state.tournament)
        for row in table.rows:
            players[authors.get(row.name, "")].append(row.name)
        players.pop("", None)
        if not players:
            raise SpecError(
                f"league {state.tournament.name}: no player is a submitted bot, so that nobody is an author"
            )
        for author in sorted(players):
            bots = []
            for name in players[author]:
                page = player_profile(state, name, table, sums)
                page = replace(page, ignored=ignored_fields(state, name, store.matches))
                bots.append(BotReport(page, tuple(_read_faulty(store, page.profile)), costs.get(name)))
            yield AuthorReport(author, table, mistakes.by if mistakes else "", tuple(bots))


def _read_faulty(store: MatchStore, profile: Profile) -> Iterator[MatchRecord]:
    """Yield the records of the first matches of each kind of fault; `verify` names one that cannot be read."""
    kinds = (fault.first for fault in (*profile.faults, *profile.pardons))
    for match in dict.fromkeys(key for first in kinds for key in islice(first, MOST_OF_A_KIND)):
        with contextlib.suppress(CheckFailed):
            yield record_of(store.match(str(match)))


def _file_name(author: str) -> str:
    """Return the name of an author's files: the author's own if that is a safe name of a file, else with a digest."""
    if re.fullmatch(r"\w[\w.-]{0,39}", author):
        return author
    safe = re.sub(r"\W", "_", author)[:40]
    return f"{safe}~{sha256(author.encode()).hexdigest()[:12]}"
