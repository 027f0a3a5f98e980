"""The grades of a league: results of each player as an organiser takes them over, with the author of the bot.

Rule: no number is computed here. Ranks and faults are those of the standings, scores and significant differences those
of the matrix, costs of decisions those of the coach.
"""

from collections.abc import Mapping

import msgspec

from arena.match.record import FAULTS
from arena.standings.matrix import HeadToHead, Meeting
from arena.standings.mistakes import LeagueMistakes, PlayerMistakes
from arena.standings.rows import Row, interval_fields
from arena.standings.table import Standings


class Grade(msgspec.Struct, frozen=True):
    """A player with the `author` of the bot, which is empty unless the bot was submitted.

    `meeting` is with the yardstick; None for the yardstick itself, and if no matches connect the two. `mistakes` is
    None without judgements.
    """

    author: str
    row: Row
    meeting: Meeting | None
    mistakes: PlayerMistakes | None


class Grades(msgspec.Struct, frozen=True):
    """The grades of all players of a league, best player first. `mistakes` is None if no judge judged all players."""

    league: str
    yardstick: str
    matches: int
    scheduled: int
    mistakes: LeagueMistakes | None
    players: tuple[Grade, ...]


def grades(
    table: Standings, matrix: HeadToHead, mistakes: LeagueMistakes | None, authors: Mapping[str, str], yardstick: str
) -> Grades:
    """Return the grades of all players; `matrix` has all of them, `authors` are by player."""
    meetings = {meeting.player: meeting for meeting in matrix.meetings if meeting.opponent == yardstick}
    costs = {player.name: player for player in mistakes.players} if mistakes else {}
    players = tuple(
        Grade(authors.get(row.name, ""), row, meetings.get(row.name), costs.get(row.name)) for row in table.rows
    )
    return Grades(matrix.league, yardstick, table.matches, table.scheduled, mistakes, players)


def grade_fields(grade: Grade) -> dict[str, object]:
    """Return a grade for programs, by the names of the columns; an interval is a value with its `_low` and `_high`."""
    row, meeting, mistakes = grade.row, grade.meeting, grade.mistakes
    return {
        "author": grade.author,
        "player": row.name,
        **{name: getattr(row, name) for name in ("bot", "version", "hash", "rank")},
        **{name: getattr(meeting, name, None) for name in ("score", "score_low", "score_high")},
        "better": getattr(meeting, "is_better", None),
        "faults": sum(row.faults.values()),
        **{f"faults_{kind.value}": row.faults.get(kind.value, 0) for kind in FAULTS},
        **interval_fields("cost", mistakes.cost if mistakes else None),
    }
