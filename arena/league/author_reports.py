"""The report for an author: results of their own bots in a league.

Rule: a report is for one author. It holds records of matches in which a bot of the author was at fault; whoever lays
them out shows the seat of that bot alone.
"""

import msgspec

from arena.league.profiles import ProfilePage
from arena.match.record import MatchRecord
from arena.standings.mistakes import PlayerMistakes
from arena.standings.table import Standings


class BotReport(msgspec.Struct, frozen=True):
    """The results of one bot: its profile, `faulty` matches with a fault of it, and what its decisions cost."""

    page: ProfilePage
    faulty: tuple[MatchRecord, ...]
    mistakes: PlayerMistakes | None


class AuthorReport(msgspec.Struct, frozen=True):
    """The report for an author. `judge`: whose opinion the costs of decisions are; empty if there is none."""

    author: str
    standings: Standings
    judge: str
    bots: tuple[BotReport, ...]
