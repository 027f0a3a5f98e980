"""The grades of a league: results of each player as an organiser takes them over, with the author of the bot.

Rule: no number is computed here. Ranks and faults are those of the standings, scores and significant differences those
of the matrix, costs of decisions those of the coach.
"""

import msgspec

from arena.match.record import FAULTS
from arena.standings.matrix import Meeting
from arena.standings.mistakes import LeagueMistakes, PlayerMistakes
from arena.standings.rows import Row, interval_fields


class Grade(msgspec.Struct, frozen=True):
    """A player with the `author` of the bot, which is empty unless the bot was submitted.

    `meeting` is with the yardstick; None for the yardstick itself, and if no matches connect the two. `mistakes` is
    None without judgements. `late`: the time of hand-in (UTC, ISO 8601) of a newer version, which does not play yet.
    """

    author: str
    row: Row
    meeting: Meeting | None
    mistakes: PlayerMistakes | None
    late: str | None = None


class Grades(msgspec.Struct, frozen=True):
    """The grades of all players of a league, best player first. `mistakes` is None if no judge judged all players."""

    league: str
    yardstick: str
    mistakes: LeagueMistakes | None
    players: tuple[Grade, ...]


def grade_fields(grade: Grade) -> dict[str, object]:
    """Return a grade for programs, by the names of the columns; an interval is a value with its `_low` and `_high`.

    `judged` is the number of matches behind the cost.
    """
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
        "judged": mistakes.matches if mistakes else None,
        "late": grade.late,
    }
