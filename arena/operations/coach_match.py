"""The cost of every decision of a match, and the ledger of its seats."""

from typing import Annotated

import msgspec

from arena.errors import SpecError
from arena.league.tournament import Player, require_game
from arena.league.worker import make_bot_player
from arena.match.analyst import opinion_of_bot
from arena.match.bot_player import BotPlayer
from arena.match.judgement import Judgement, Opinion, judge, opinion_of_game
from arena.match.record import MatchRecord
from arena.match.requests import seat_of
from arena.match.settings import ClockSettings, MatchSettings
from arena.operations.playing import BotRequest, installing, naming_option, prepare_isolation
from arena.operations.read_match import ReadMatch, read_match

_IDLE_MS = 3_600_000.0
"""Time in which an analyst may do nothing: it does not sit at a table."""


class CoachMatch(BotRequest, frozen=True, kw_only=True):
    """A judgement of `match`; of the decisions of `player`, a name or a number, or of all.

    `by` is the bot that judges, by name or path, in `budget_ms` of CPU time a decision; None for the game's own value.
    """

    match: str
    player: str | None = None
    by: str | None = None
    budget_ms: Annotated[float, msgspec.Meta(ge=1)] = 100.0


class Coaching(msgspec.Struct, frozen=True):
    """A judged match, and the seats whose decisions are asked for."""

    record: MatchRecord
    judgement: Judgement
    seats: tuple[int, ...]


def coach_match(request: CoachMatch) -> Coaching:
    """Judge a match. SpecError if match, player or bot is unknown, or if nobody judges the game.

    CheckFailed if the match cannot be replayed, or if the bot does not evaluate.
    """
    record = read_match(ReadMatch(match=request.match, results=request.results)).record
    seats = range(len(record.seats)) if request.player is None else (seat_of(record, request.player),)
    opinion = opinion_of_game(record) if request.by is None else _opinion_of(request.by, request, record)
    if opinion is None:
        raise SpecError(f"{record.game} has no value of its own; name a bot that evaluates with --by")
    return Coaching(record, judge(record, opinion), tuple(seats))


def _opinion_of(name: str, request: CoachMatch, record: MatchRecord) -> Opinion:
    """Return the opinion of the bot of that name or path, in a process of its own for each seat."""
    prepare_isolation(request.isolation, record.game)
    with installing(request.results, request.bot_store(), request.isolation) as bots:
        with naming_option("--by"):
            bot = bots.find(name)
            require_game(bot, record.game)
        player = Player(name=bot.label, bot=bots.install(bot))
        clock = ClockSettings(move_ms=request.budget_ms, bank_ms=0.0, idle_ms=_IDLE_MS)
        settings = MatchSettings(record.game, record.options, clock)

        def open_bot(_seat: int) -> BotPlayer:
            return make_bot_player(player, settings, request.isolation, seats=len(record.seats))

        return opinion_of_bot(record, bot.label, open_bot)
