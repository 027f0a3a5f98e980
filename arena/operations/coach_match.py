"""The cost of every decision of a match, and the ledger of its seats."""

import contextlib
from collections.abc import Iterator
from hashlib import sha256
from typing import Annotated

import msgspec

from arena import __version__
from arena.errors import SpecError
from arena.games import load_game
from arena.games.api import value_of
from arena.league.tournament import Player, require_game
from arena.league.worker import make_bot_player
from arena.match.analyst import opinion_of_bot
from arena.match.bot_player import BotPlayer
from arena.match.judgement import Judgement, judge, opinion_of_game
from arena.match.record import MatchRecord
from arena.match.requests import seat_of
from arena.match.settings import ClockSettings, MatchSettings, confine
from arena.operations.playing import BotRequest, installing, naming_option, prepare_isolation
from arena.operations.read_match import ReadMatch, read_match
from arena.process.limits import Isolation, Limits

_IDLE_MS = 3_600_000.0
"""Time in which an analyst may do nothing: it does not sit at a table."""


class CoachRequest(BotRequest, frozen=True, kw_only=True):
    """The choice of judges: the bots `by`, by name or path, in `budget_ms` of CPU time a decision.

    Without a bot the judge is the game's own value.
    """

    by: tuple[str, ...] = ()
    budget_ms: Annotated[float, msgspec.Meta(ge=1)] = 100.0


class CoachMatch(CoachRequest, frozen=True, kw_only=True):
    """A judgement of `match`; of the decisions of `player`, a name or a number, or of all."""

    match: str
    player: str | None = None


class Coaching(msgspec.Struct, frozen=True):
    """A judged match, the seats whose decisions are asked for, and what further judges think of it."""

    record: MatchRecord
    judgement: Judgement
    seats: tuple[int, ...]
    others: tuple[Judgement, ...] = ()


class Judge(msgspec.Struct, frozen=True):
    """A judge of matches of `game`: the game's own value, or a `bot` with so much CPU time a decision."""

    game: str
    bot: Player | None
    budget_ms: float
    isolation: Isolation

    @property
    def limits(self) -> list[Limits]:
        """The limits of the bot; none without one."""
        if self.bot is None:
            return []
        return [confine(self.bot.bot, Limits(), ClockSettings(), self.isolation).limits]

    @property
    def key(self) -> str:
        """A digest of all that judgements of a record depend on."""
        if self.bot is not None:
            identity: list[object] = [self.bot.bot.digest, self.budget_ms]
        else:
            identity = [self.game, getattr(value_of(load_game(self.game)), "version", "")]
        return sha256(msgspec.json.encode([__version__, *identity])).hexdigest()[:16]

    def judge(self, record: MatchRecord) -> Judgement:
        """Judge a match. CheckFailed if it cannot be replayed, or if the bot does not evaluate."""
        if self.bot is None:
            opinion = opinion_of_game(record)
            assert opinion is not None, "`choosing_judges` has looked"
            return judge(record, opinion)
        player = self.bot
        clock = ClockSettings(move_ms=self.budget_ms, bank_ms=0.0, idle_ms=_IDLE_MS)
        settings = MatchSettings(record.game, record.options, clock)

        def open_bot(_seat: int) -> BotPlayer:
            return make_bot_player(player, settings, self.isolation, seats=len(record.seats))

        return judge(record, opinion_of_bot(record, player.name, open_bot))


def coach_match(request: CoachMatch) -> Coaching:
    """Judge a match. SpecError if match, player or bot is unknown, or if nobody judges the game.

    CheckFailed if the match cannot be replayed, or if the bot does not evaluate.
    """
    record = read_match(ReadMatch(match=request.match, results=request.results)).record
    seats = range(len(record.seats)) if request.player is None else (seat_of(record, request.player),)
    with choosing_judges(request, record.game) as judges:
        judgement, *others = [judge.judge(record) for judge in judges]
    return Coaching(record, judgement, tuple(seats), tuple(others))


@contextlib.contextmanager
def choosing_judges(request: CoachRequest, game: str) -> Iterator[tuple[Judge, ...]]:
    """Yield the judges of the request, with installed bots. SpecError if one is unknown, or if there is none."""
    if not request.by:
        if value_of(load_game(game)) is None:
            raise SpecError(f"{game} has no value of its own; name a bot that evaluates with --by")
        yield (Judge(game, None, request.budget_ms, request.isolation),)
        return
    prepare_isolation(request.isolation, game)
    with installing(request.results, request.bot_store(), request.isolation) as bots:
        judges = []
        for name in request.by:
            with naming_option("--by"):
                bot = bots.find(name)
                require_game(bot, game)
            player = Player(name=bot.label, bot=bots.install(bot))
            judges.append(Judge(game, player, request.budget_ms, request.isolation))
        yield tuple(judges)
