"""The answers of a bot to the requests of a stored match, and a match played on with them."""

from collections.abc import Callable, Collection, Iterator

import msgspec
from msgspec.structs import asdict, replace

from arena.errors import SpecError
from arena.league.schedule import pairing_of
from arena.league.tournament import Player, require_game
from arena.league.worker import bot_player
from arena.match.asking import BotAnswer, ask, played_on
from arena.match.bot_player import BotPlayer
from arena.match.record import MatchRecord
from arena.match.requests import answer_steps, require_answer, seat_of
from arena.match.results import MatchKey
from arena.match.settings import ClockSettings, MatchSettings
from arena.operations.events import Event, OnEvent, ignore
from arena.operations.playing import BotRequest, installing, option_named, prepare_isolation
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.process.suspension import never_suspended
from arena.store.bots import BotStore
from arena.store.folder import record_of, stored
from arena.store.matches import MatchStore
from arena.store.recent import MATCH_ID, recent_match

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
    """The first request that counts is about to go to the bot, which runs in the processes `pids`."""

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
        """Whether all answers are there and are the recorded ones."""
        return len(self.answers) == len(self.steps) and all(answer.is_same for answer in self.answers)


class PlayedOn(msgspec.Struct, frozen=True):
    """A match as it was recorded, and as it went on with the bot of that label as `player`."""

    record: MatchRecord
    went_on: MatchRecord
    bot: str
    player: str


def ask_bot(request: AskBot, on: OnEvent = ignore) -> Answers:
    """Ask a bot what it answers in a match. SpecError if one of them is unknown, or they do not belong together."""
    bots = request.bot_store()
    bot = _bot_of(request, bots)
    record, _ = recent_match(request.match)
    players: list[Player] = []
    if record is None:
        with stored(request.results) as store:
            record = record_of(store.match(request.match))
            players = players_of(store, record)
    seat = _prepared(request, record, bot)
    asked = players[seat] if players else Player(name=record.players[seat], bot=bot)
    steps = answer_steps(record, seat) if request.step is None else (request.step,)
    with installing(request.results, bots, request.isolation) as store_here:
        asked = replace(asked, bot=store_here.install(bot))
        player = asked_player(record, asked, request.isolation, has_clock=not request.no_clock)
        wanted = () if request.step is None else steps
        return Answers(record, seat, steps, ask(record, player, seat, wanted, before=_announcing(bot, on)))


def play_on(request: AskBot, _on: OnEvent = ignore) -> PlayedOn:
    """Play a stored match on with the answers of the bot from the step on, and with the other bots as they played.

    SpecError without a step, and if a bot is not kept any more.
    """
    if request.step is None:
        raise SpecError("--play-on goes with --step, the step from which BOT plays")
    bots = request.bot_store()
    bot = _bot_of(request, bots)
    if recent_match(request.match)[0] is not None:
        raise SpecError(f"match {request.match}: `arena match` keeps no bots, so nobody can play on")
    with stored(request.results) as store:
        record = record_of(store.match(request.match))
        players = players_of(store, record)
    seat = _prepared(request, record, bot)
    players[seat] = replace(players[seat], bot=bots.install(bot))
    seated = {
        place: asked_player(record, player, request.isolation, has_clock=not request.no_clock)
        for place, player in enumerate(_installed(players, seat, bots))
    }
    return PlayedOn(record, played_on(record, seated, request.step), bot.label, players[seat].name)


def asked_player(record: MatchRecord, player: Player, isolation: Isolation, *, has_clock: bool = True) -> BotPlayer:
    """Return the bot of a player with the clock of the record, or without one. Its stderr is kept."""
    terms = asdict(record.clock)
    clock = ClockSettings(**terms) if has_clock else ClockSettings(**terms, startup_ms=_DAY_MS, ponder=True)
    settings = MatchSettings(record.game, record.options, clock, stderr="keep")
    seated = bot_player(player, settings, isolation, seats=len(record.seats))
    seated.account.has_clock, seated.account.suspended = has_clock, never_suspended
    return seated


def players_of(store: MatchStore, record: MatchRecord) -> list[Player]:
    """Return the players of a stored match with their arguments, as its league has them; no bot is installed."""
    seated = [(entry.player, entry.bot) for entry in record.seats]
    known: dict[tuple[str, str], Player] = {}
    for tournament in map(store.league, store.leagues()):
        players = {(player.name, player.bot.digest): player for player in tournament.players}
        known |= players
        names = record.players
        if players.keys() >= {*seated} and pairing_of(tournament, names).key == MatchKey.read(record.match).pairing:
            known = players
            break
    missing = [player for player, bot in seated if (player, bot) not in known]
    if missing:
        raise SpecError(f"match {record.match}: no stored league has the version of {missing[0]} that played")
    return [known[entry] for entry in seated]


def _bot_of(request: AskBot, bots: BotStore) -> BotSpec:
    """Find the bot. SpecError if there is none, with the order of arguments if it looks like a match."""
    try:
        return bots.find(request.bot)
    except SpecError as error:
        order = f"; give the bot first: arena ask BOT {request.bot}" if MATCH_ID.fullmatch(request.bot) else ""
        raise SpecError(f"{error}{order}") from None


def _prepared(request: AskBot, record: MatchRecord, bot: BotSpec) -> int:
    """Return the seat to be asked, of the player or of the one with the bot's name, when bots can be started."""
    with option_named("--as"):
        if request.player is None and bot.name not in record.players:
            names = ", ".join(record.players)
            raise SpecError(f"no player is called {bot.name}; give --as and one of {names}")
        seat = seat_of(record, request.player or bot.name)
    if request.step is not None:
        require_answer(record, seat, request.step)
    require_game(bot, record.game)
    prepare_isolation(request.isolation, record.game)
    return seat


def _installed(players: Collection[Player], seat: int, bots: BotStore) -> Iterator[Player]:
    """Yield the players with the bots that played, but for `seat`. SpecError if one is not kept any more."""
    for place, player in enumerate(players):
        yield player if place == seat else replace(player, bot=bots.installed(player.bot.digest))


def _announcing(bot: BotSpec, on: OnEvent) -> Callable[[BotPlayer, int], None]:
    """Return what reports, once, that a request goes out."""
    is_reported = False

    def report(player: BotPlayer, step: int) -> None:
        nonlocal is_reported
        if not is_reported:
            is_reported = True
            on(RequestDue(bot.label, tuple(sorted(player.pids())), step))

    return report
