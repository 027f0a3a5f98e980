"""Results of a league for a course: the grades of all players, and a report for each author of a submitted bot."""

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from arena.errors import CheckFailed, SpecError
from arena.league.profiles import AuthorReport, BotReport, ignored_fields, player_profile
from arena.league.standings import matrix_of, standings_after
from arena.match.record import MatchRecord
from arena.match.results import record_of
from arena.operations.coach_league import kept_mistakes
from arena.operations.events import OnEvent, Warned, ignore
from arena.operations.leagues import authors_of, load_league, newer_versions
from arena.operations.request import Request
from arena.report.authors import author_html, author_markdown
from arena.standings.grades import Grade, Grades
from arena.standings.profile import Profile
from arena.store.folder import open_store
from arena.store.made_folder import claim_folder, require_made
from arena.store.matches import MatchStore
from arena.text import unknown

MOST_OF_A_KIND: Final = 3
"""The number of matches shown of each kind of fault."""
_COMMAND: Final = "arena report"
_FORMS: Final = {"md": author_markdown, "html": author_html}


class ReadGrades(Request, frozen=True, kw_only=True):
    """The grades of `league`, or of the only one; `yardstick` is the player with whom all others are compared."""

    yardstick: str
    league: str | None = None


class ReportAuthors(Request, frozen=True, kw_only=True):
    """Reports on `league`, or on the only one, in the folder `out`, which is new or was written before."""

    out: Path
    league: str | None = None


def read_grades(request: ReadGrades, on: OnEvent = ignore) -> Grades:
    """Collect the grades of all players. SpecError for unknown names. An incomplete league is a warning."""
    with open_store(request.results) as store:
        state = load_league(store, request.league)
        names, league = [player.name for player in state.tournament.players], state.tournament.name
        if request.yardstick not in names:
            raise SpecError(f"--yardstick: league {league}: {unknown('player', request.yardstick, names)}")
        table = standings_after(state, store.sums(state.blocks))
        mistakes = kept_mistakes(store, state, table.rows)
    if not table.is_complete:
        on(Warned(f"league {league} is incomplete: {table.matches} of {table.scheduled} matches"))
    meetings = matrix_of(state, top=None, only=()).meetings
    against = {meeting.player: meeting for meeting in meetings if meeting.opponent == request.yardstick}
    costs = mistakes.by_name if mistakes else {}
    authors = authors_of(request.results, state.tournament)
    newer = {} if "@" in (request.league or "") else newer_versions(request.results, state.tournament)
    grades = (
        Grade(authors.get(row.name, ""), row, against.get(row.name), costs.get(row.name), newer.get(row.name))
        for row in table.rows
    )
    return Grades(league, request.yardstick, mistakes, tuple(grades))


def report_authors(request: ReportAuthors) -> dict[str, str]:
    """Write a report for each author of a submitted bot; return the names of their files, without .md and .html.

    SpecError without an author, and for a folder with other files.
    """
    require_made(request.out, _COMMAND)
    reports = [*_reports(request)]
    names = {report.author: report_name(report.author) for report in reports}
    files = {f"{names[report.author]}.{form}": write(report) for report in reports for form, write in _FORMS.items()}
    claim_folder(request.out, _COMMAND, files, mode=0o700)
    for name, text in files.items():
        (request.out / name).write_text(text, encoding="utf-8")
    return names


def _reports(request: ReportAuthors) -> Iterator[AuthorReport]:
    """Yield the report for each author, in the order of names; an author's bots are in that of the standings.

    SpecError if no player has an author.
    """
    with open_store(request.results) as store:
        state = load_league(store, request.league)
        sums = store.sums(state.blocks)
        table = standings_after(state, sums)
        mistakes = kept_mistakes(store, state, table.rows)
        runs = store.runs(state.tournament.name)
        judge, costs = (mistakes.by, mistakes.by_name) if mistakes else ("", {})
        newer = {} if "@" in (request.league or "") else newer_versions(request.results, state.tournament)
        authors, bots = authors_of(request.results, state.tournament), defaultdict[str, list[BotReport]](list)
        for name in (row.name for row in table.rows if row.name in authors):
            page = player_profile(state, name, table, sums)
            page = replace(page, ignored=ignored_fields(state, name, store.matches))
            faulty = tuple(_read_faulty(store, page.profile))
            bots[authors[name]].append(BotReport(page, faulty, costs.get(name), newer.get(name)))
    if not bots:
        raise SpecError(f"league {state.tournament.name}: no player is a submitted bot, so that nobody is an author")
    yield from (AuthorReport(author, table, judge, tuple(bots[author]), runs) for author in sorted(bots))


def _read_faulty(store: MatchStore, profile: Profile) -> Iterator[MatchRecord]:
    """Yield the records of the first matches of each kind of fault; `verify` names one that cannot be read."""
    kinds = (fault.first for fault in (*profile.faults, *profile.pardons))
    for match in dict.fromkeys(key for first in kinds for key in islice(first, MOST_OF_A_KIND)):
        with contextlib.suppress(CheckFailed):
            yield record_of(store.match(str(match)))


def report_name(author: str) -> str:
    """Return the name of an author's files: the author's own if that is a safe name of a file, else with a digest."""
    if re.fullmatch(r"\w[\w.-]{0,39}", author):
        return author
    safe = re.sub(r"\W", "_", author)[:40]
    return f"{safe}~{sha256(author.encode()).hexdigest()[:12]}"
