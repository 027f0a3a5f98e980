"""The runs of a league that have ended: who played, and the standings then."""

from typing import Any

import msgspec


class EndedRun(msgspec.Struct, frozen=True):
    """A run: its number from 1, its end in UTC (ISO 8601), what changed since the one before, and its standings.

    `rows` are those of the published standings, best first, by the names of their columns.
    """

    number: int
    ended_at: str
    matches: int
    changes: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
