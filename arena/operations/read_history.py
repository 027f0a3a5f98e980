"""The history of a league: the standings at the end of each of its runs."""

from typing import Any

import msgspec

from arena.errors import SpecError
from arena.league.history import EndedRun
from arena.league.update import describe_changes
from arena.operations.request import Request
from arena.store.folder import open_store


class ReadHistory(Request, frozen=True, kw_only=True):
    """The runs of `league` that have ended; None for the only league there is."""

    league: str | None = None


class _Standings(msgspec.Struct):
    """The part of published standings that a history shows."""

    matches: int
    rows: tuple[dict[str, Any], ...]


def read_history(request: ReadHistory) -> tuple[str, tuple[EndedRun, ...]]:
    """Return the name of the league and its runs, the first one first. SpecError if there is no such league."""
    with open_store(request.results) as store:
        names = [request.league] if request.league else store.leagues()
        if len(names) != 1:
            raise SpecError(f"which league? known: {', '.join(names) or 'none'}")
        store.league(names[0])
        known = store.snapshots(names[0])
    runs = []
    for former, snapshot in zip((None, *known), known, strict=False):
        changes = () if former is None else describe_changes(former.tournament, snapshot.tournament)
        standings = msgspec.json.decode(snapshot.standings, type=_Standings)
        runs.append(EndedRun(snapshot.number, snapshot.ended_at, standings.matches, tuple(changes), standings.rows))
    return names[0], tuple(runs)
