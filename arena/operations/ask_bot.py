"""The answers of a bot to the requests of a stored match, and a match played on with them."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import msgspec
from msgspec.structs import asdict, replace

from arena.errors import SpecError
from arena.league.schedule import pairing_of
from arena.league.tournament import Player, require_game
from arena.league.worker import make_bot_player
from arena.match.asking import BotAnswer, ask, continue_match
from arena.match.bot_player import BotPlayer
from arena.match.record import MatchRecord
from arena.match.requests import answer_steps, require_answer, seat_of
from arena.match.results import MatchKey
from arena.match.settings import ClockSettings, MatchSettings
from arena.operations.events import Event, OnEvent, ignore
from arena.operations.playing import BotRequest, installing, naming_option, prepare_isolation
from arena.operations.read_match import ReadMatch, read_match
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.process.suspension import never_suspended
from arena.store.folder import open_store
from arena.store.recent import MATCH_ID

_DAY_MS = 86_400_000.0


class AskBot(BotRequest, frozen=True, kw_only=True):
    """The answers of `bot`, by name or path, in `match`: to all requests of `player`, or to those for `step`.

    `player` is by default the one with the bot's name. With `no_clock` an answer may take any time.
    """

    bot: str
    match: str
    player: str | None = None
    step: int | None = None
    no_clock: bool = False


class RequestDue(Event, frozen=True):
    """The first asked request is about to be sent to the bot, whose processes are `pids`."""

    bot: str
    pids: tuple[int, ...]
    step: int


class Answers(msgspec.Struct, frozen=True):
    """The answers of a bot in the `seat` of a match, and the steps for which it was to be asked."""

    record: MatchRecord
    seat: int
    steps: tuple[int, ...]
    answers: tuple[BotAnswer, ...]

    @property
    def is_same(self) -> bool:
        """True if the bot answered every request as recorded."""
        return len(self.answers) == len(self.steps) and all(answer.is_same for answer in self.answers)


class ContinuedMatch(msgspec.Struct, frozen=True):
    """A match as it was recorded, and its continuation with the bot of that label in the place of `player`."""

    record: MatchRecord
    continuation: MatchRecord
    bot: str
    player: str


def ask_bot(request: AskBot, on: OnEvent = ignore) -> Answers:
    """Ask a bot for its answers in a match. SpecError if bot, match or player is unknown, or if they do not fit.

    CheckFailed if the match cannot be replayed, or if the bot does not start. There are fewer answers if it ends early.
    """
    question = _Question(request)
    record, seat = question.record, question.seat
    steps = () if request.step is None else (request.step,)
    with installing(request.results, question.bots, request.isolation) as bots:
        name, bot = record.players[seat], bots.install(question.bot)
        player = replace(question.players[seat], bot=bot) if question.players else Player(name=name, bot=bot)
        bot_player = bot_player_for(record, player, request.isolation, has_clock=not request.no_clock)
        answers = ask(record, bot_player, seat, steps, before=_report_first(bot, on))
        return Answers(record, seat, steps or answer_steps(record, seat), answers)


def play_on(request: AskBot) -> ContinuedMatch:
    """Play a stored match on from a step: one seat is played by the bot, the others by the bots of the match.

    SpecError without a step, and if a bot is not kept any more; CheckFailed if one ends before the step. The match is
    not stored.
    """
    if request.step is None:
        raise SpecError("--play-on goes with --step, the step from which BOT plays")
    question = _Question(request, needs_players=True)
    record, bots = question.record, question.bots
    seated = {}
    for place, player in enumerate(question.players):
        bot = bots.install(question.bot) if place == question.seat else bots.read_installed(player.bot.digest)
        seat = replace(player, bot=bot)
        seated[place] = bot_player_for(record, seat, request.isolation, has_clock=not request.no_clock)
    name = record.players[question.seat]
    return ContinuedMatch(record, continue_match(record, seated, request.step), question.bot.label, name)


class _Question:
    """The bot, match, seat and players of a request, after all checks and the preparation to start bots.

    SpecError if one of them is unknown, or if they do not belong together.
    """

    def __init__(self, request: AskBot, *, needs_players: bool = False) -> None:
        self.bots = request.bot_store()
        try:
            self.bot = self.bots.find(request.bot)
        except SpecError as error:
            order = f"; give the bot first: arena ask BOT {request.bot}" if MATCH_ID.fullmatch(request.bot) else ""
            raise SpecError(f"{error}{order}") from None
        match = read_match(ReadMatch(match=request.match, results=request.results))
        self.record, name = match.record, self.bot.name
        if match.result is None and needs_players:
            raise SpecError(f"match {request.match}: `arena match` keeps no bots, so nobody can play on")
        self.players = [] if match.result is None else players_of(request.results, self.record)
        with naming_option("--as"):
            if request.player is None and name not in self.record.players:
                known = ", ".join(self.record.players)
                raise SpecError(f"no player is called {name}; give --as and one of {known}")
            self.seat = seat_of(self.record, request.player or name)
        if request.step is not None:
            require_answer(self.record, self.seat, request.step)
        require_game(self.bot, self.record.game)
        prepare_isolation(request.isolation, self.record.game)


def bot_player_for(record: MatchRecord, player: Player, isolation: Isolation, *, has_clock: bool = True) -> BotPlayer:
    """Return the bot of a player with the clock of the record, or without one. Its stderr is kept."""
    fields = asdict(record.clock)
    clock = ClockSettings(**fields) if has_clock else ClockSettings(**fields, startup_ms=_DAY_MS, ponder=True)
    settings = MatchSettings(record.game, record.options, clock, stderr="keep")
    seated = make_bot_player(player, settings, isolation, seats=len(record.seats))
    seated.account.has_clock, seated.account.suspended = has_clock, never_suspended
    return seated


def players_of(results: Path, record: MatchRecord) -> list[Player]:
    """Return the players of a stored match with their arguments, as its league has them; no bot is installed.

    SpecError if no stored league has them.
    """
    seated = [(entry.player, entry.bot) for entry in record.seats]
    known: dict[tuple[str, str], Player] = {}
    with open_store(results) as store:
        for tournament in chain.from_iterable(map(store.tournaments, store.leagues())):
            players = {(player.name, player.bot.digest): player for player in tournament.players}
            known |= players
            key = MatchKey.read(record.match).pairing
            if players.keys() >= {*seated} and pairing_of(tournament, record.players).key == key:
                known = players
                break
    missing = [player for player, bot in seated if (player, bot) not in known]
    if missing:
        raise SpecError(f"match {record.match}: no stored league has the version of {missing[0]} that played")
    return [known[entry] for entry in seated]


def _report_first(bot: BotSpec, on: OnEvent) -> Callable[[BotPlayer, int], None]:
    """Return a function that reports the first request, and no other."""
    is_reported = False

    def report(player: BotPlayer, step: int) -> None:
        """Report the request for this step, if it is the first."""
        nonlocal is_reported
        if not is_reported:
            is_reported = True
            on(RequestDue(bot.label, tuple(sorted(player.pids())), step))

    return report
