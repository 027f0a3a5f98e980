"""The runs of a league that have ended: who played, and the standings then."""

from typing import Any

import msgspec

from arena.league.tournament import Tournament
from arena.league.update import describe_changes


class EndedRun(msgspec.Struct, frozen=True):
    """A run: its number from 1, its end in UTC (ISO 8601), what changed since the one before, and its standings.

    It was closed if it has fewer matches than are `scheduled`. `rows` are those of the published standings, best first,
    by the names of their columns.
    """

    number: int
    ended_at: str
    matches: int
    changes: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    scheduled: int


class _Standings(msgspec.Struct):
    """The part of published standings that a history shows."""

    matches: int
    scheduled: int
    rows: tuple[dict[str, Any], ...]


def ended_run(number: int, ended_at: str, standings: bytes, now: Tournament, former: Tournament | None) -> EndedRun:
    """Return a run from its published standings (JSON), its tournament, and that of the run before, if any.

    msgspec.MsgspecError if the standings are no such JSON.
    """
    changes = () if former is None else describe_changes(former, now)
    read = msgspec.json.decode(standings, type=_Standings)
    return EndedRun(number, ended_at, read.matches, tuple(changes), read.rows, read.scheduled)
