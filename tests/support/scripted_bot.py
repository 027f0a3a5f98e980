"""The scripted bot of the tests, and matches of such bots, at any game, without processes."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from random import Random
from typing import Any, Final

import msgspec
from msgspec import UNSET

from arena.games import load_game
from arena.games.api import Game
from arena.games.luck import derive
from arena.league.schedule import Fixture, Job
from arena.league.tournament import Tournament
from arena.match.bot_player import BotPlayer
from arena.match.columns import PlayedBlock, pack_blocks
from arena.match.participant import Participant
from arena.match.reconstruction import lines_of
from arena.match.record import ActionStep, MatchRecord, Step, pack, unpack
from arena.match.referee import hello_for, play_match
from arena.match.requests import banks_us
from arena.match.results import result_of, rotate
from arena.match.settings import ClockSettings, MatchSpec, spec_of
from arena.process.scripted import Reply, ScriptedChannel
from support.fake_clock import FakeClock
from support.toy_game import NAME, ToyGame

NIM: Final = load_game("nim")
HELLO: Final = b'{"type":"hello","protocols":[1]}'
CLOCK: Final = ClockSettings(move_ms=100.0, bank_ms=1000.0, startup_ms=5000.0)
STRICT: Final = msgspec.structs.replace(CLOCK, strict=True)
SIMULATING: Final = b'{"type":"hello","protocols":[1],"capabilities":["simulate"]}'
Message = dict[str, Any]


class ScriptedBot:
    """Plays by index 0, or what `plain` makes of a request. `odd` gets it first, with its number from 1.

    `heard` are all messages it got, `channels` one for each process it was started as.
    """

    def __init__(
        self,
        odd: Callable[[Message, int], Iterable[Reply] | None] = lambda _message, _number: None,
        *,
        hello: Iterable[Reply] = (HELLO,),
        ready: Callable[[Message], Iterable[Reply]] = lambda message: [ready(message)],
        plain: Callable[[Message], Reply] = lambda message: answer(message),  # noqa: PLW0108 - defined below
    ) -> None:
        self.heard: list[Message] = []
        self.channels: list[ScriptedChannel] = []
        self.times = FakeClock()
        self._odd = odd
        self._hello = hello
        self._ready = ready
        self._plain = plain
        self._requests = 0

    def open(self) -> ScriptedChannel:
        self.channels.append(ScriptedChannel(self._respond, cpu=self.times.cpu))
        return self.channels[-1]

    def of_type(self, kind: str) -> list[Message]:
        return [message for message in self.heard if message["type"] == kind]

    def _respond(self, line: bytes) -> Iterable[Reply]:
        message = json.loads(line)
        self.heard.append(message)
        if message["type"] == "hello":
            return self._hello
        if message["type"] == "match_start":
            return self._ready(message)
        if message["type"] not in {"request", "evaluate"}:
            return []
        self._requests += 1
        replies = self._odd(message, self._requests)
        return [self._plain(message)] if replies is None else replies


class RandomBot(ScriptedBot):
    """Chooses among the listed actions by its bot_seed; with another salt differently."""

    def __init__(self, salt: int = 0, **more: Any) -> None:
        super().__init__(plain=lambda message: answer(message, self._random.randrange(len(message["legal"]))), **more)
        self._random = Random(0)
        self._salt = salt

    def _respond(self, line: bytes) -> Iterable[Reply]:
        message = json.loads(line)
        if message["type"] == "match_start":
            self._random.seed(message["bot_seed"] + self._salt)
        return super()._respond(line)


class NotingChannel(ScriptedChannel):
    """The channel that a bot opens: it notes when the bot is woken (`runs`), stopped and written to (the type)."""

    def __init__(self, bot: ScriptedBot) -> None:
        super().__init__(bot._respond, cpu=bot.times.cpu)
        bot.open = lambda: self  # type: ignore[method-assign]
        self.noted: list[str] = []

    @property
    def states(self) -> list[str]:
        return [word for word in self.noted if word in {"runs", "stopped"}]

    def wake(self) -> None:
        self.noted.append("runs")

    def rest(self) -> None:
        self.noted.append("stopped")

    def send(self, line: bytes, clock: Any) -> None:
        self.noted.append(json.loads(line)["type"])
        super().send(line, clock)


def ready(message: Message) -> bytes:
    return json.dumps({"type": "ready", "match": message["match"]}).encode()


def answer(message: Message, action: Any = 0, **more: Any) -> bytes:
    return json.dumps({"type": "action", "id": message["id"], "action": action, **more}).encode()


def only(number: int, *replies: Reply) -> Callable[[Message, int], Iterable[Reply] | None]:
    """These replies to the request of that number, good answers to all others."""
    return lambda _message, now: replies if now == number else None


def seated(
    bot: ScriptedBot,
    clock: ClockSettings = CLOCK,
    *,
    keep_transcript: bool = True,
    game: Game[Any, Any] = NIM,
    options: dict[str, Any] | None = None,
    seats: int = 2,
    player: str = "scripted",
    digest: str = "0" * 64,
) -> BotPlayer:
    made = BotPlayer(
        player=player,
        bot=digest,
        open_channel=bot.open,
        hello=hello_for(game, options or {}, clock.startup_ms, seats=seats),
        clock=clock,
        wall=bot.times.wall,
    )
    if keep_transcript:
        made.transcript = deque()
    return made


def house(clock: ClockSettings = CLOCK) -> BotPlayer:
    """A bot that chooses by its bot_seed, as the baseline does, and whose lines are recorded."""
    return seated(RandomBot(), clock, player="house")


def spec_for(
    game: str,
    options: dict[str, Any] | None,
    *,
    clock: ClockSettings = CLOCK,
    match: str = "m",
    seed: str,
    seats: int = 2,
) -> MatchSpec:
    """A match that gets its id on the wire too; seat s has the bot_seed s + 1."""
    return MatchSpec(match, game, options or {}, seed, clock, wire_id=match, bot_seeds=tuple(range(1, seats + 1)))


def match_of(
    *participants: Participant,
    game: str = "nim",
    options: dict[str, Any] | None = None,
    seed: str = "",
    clock: ClockSettings = CLOCK,
    match: str = "m",
    rules: Game[Any, Any] | None = None,
) -> MatchRecord:
    """`rules` stand in for the game of that name, if it is none of ours."""
    spec = spec_for(game, options, clock=clock, match=match, seed=seed or derive("test"), seats=len(participants))
    for each in participants:
        if isinstance(each, BotPlayer):
            greet(each, rules or load_game(game), spec)
    record = play_match(spec, participants, game=rules)
    assert_told_again(record, participants, rules)
    return record


def greet(bot_player: BotPlayer, game: Game[Any, Any], spec: MatchSpec) -> None:
    """Its `hello` is for this game, as in every league."""
    hello, seats = bot_player.start_up.hello, len(spec.bot_seeds)
    if (hello.game, hello.options) != (spec.game, spec.options):
        limits = hello.limits
        bot_player.start_up.hello = hello_for(game, spec.options, limits.startup_ms, limits.line_from_bot, seats)


def assert_told_again(record: MatchRecord, participants: Iterable[Participant], rules: Game[Any, Any] | None) -> None:
    """From the stored record alone all lines can be made again; byte by byte where a whole transcript is at hand."""
    if not all(isinstance(each, BotPlayer) for each in participants):
        return
    try:
        untouched = deepcopy(rules)
    except TypeError:  # a game that remembers threads
        return
    by_seat = lines_of(unpack(pack(record)), game=untouched)
    for entry, told, participant in zip(record.seats, by_seat, participants, strict=True):
        assert told.left_out or told.is_exact, (entry, told.lines)
        banks = banks_us(entry, record.clock)
        for number, way, line in told.lines:
            if way == ">" and line.startswith(b'{"type":"request"'):
                assert json.loads(line)["clock"]["bank_ms"] == banks[number - 1] / 1000, (entry, number, banks)
        if participant.transcript.maxlen is None and entry.lines and not told.left_out:
            last = [(way, line.removesuffix(b"\n")) for _, way, line in participant.transcript]
            last = last[len(last) - len(told.lines) :]
            assert [(way, line) for _, way, line in told.lines] == last


def played_block(league: Job | Tournament, planned: Fixture, seats: Sequence[BotPlayer]) -> PlayedBlock:
    """All matches of the block between these bots, by place, with their records."""
    records = [
        play_match(
            spec_of(league.settings, planned.match_id(rotation), planned.draw, rotation, "none"),
            rotate(seats, rotation),
        )
        for rotation in range(len(seats))
    ]
    return next(pack_blocks([msgspec.structs.replace(result_of(record), record=pack(record)) for record in records]))


def random_match(game: str, number: int, options: dict[str, Any] | None = None) -> MatchRecord:
    """A match of two bots that choose by the number."""
    rng = Random(number)

    def choose(message: Message, _number: int) -> Iterable[Reply]:
        return [answer(message, rng.randrange(len(message["legal"])))]

    bots = [seated(ScriptedBot(choose)) for _ in range(2)]
    return match_of(*bots, game=game, options=options, seed=derive("random", number))


Odd = Callable[[Message, int], Iterable[Reply] | None]


def toy_bot(mm: int = 20, odd: Odd = lambda _message, _number: None, **more: Any) -> ScriptedBot:
    """Leans out `mm`, trims to 0. `odd` may answer a request in another way, given its number from 1."""

    def plain(message: Message) -> Reply:
        return answer(message, {"mm": mm} if message["legal"] is None else 0)

    return ScriptedBot(odd, plain=plain, **more)


def at_toy_game(
    bot: ScriptedBot, game: ToyGame, clock: ClockSettings = CLOCK, *, seats: int = 2, player: str = "scripted"
) -> BotPlayer:
    """The bot at a table of that size."""
    return seated(bot, clock, game=game, seats=seats, player=player)


def toy_match(
    *players: ScriptedBot | Participant,
    game: ToyGame | None = None,
    clock: ClockSettings = CLOCK,
    options: dict[str, Any] | None = None,
    match: str = "m",
) -> MatchRecord:
    """A match of these players, by seat, at a new toy game unless one is given."""
    rules = game or ToyGame()
    seats = [
        at_toy_game(each, rules, clock, seats=len(players)) if isinstance(each, ScriptedBot) else each
        for each in players
    ]
    return match_of(*seats, game=NAME, options=options, clock=clock, match=match, rules=rules)


def stored_toy_match(*bots: ScriptedBot, seats: int = 3, rounds: int = 3) -> MatchRecord:
    """A match of ann, bob, cid and dot, plain bots but for these in the first seats, as it comes out of the store."""
    game, names = ToyGame(), ("ann", "bob", "cid", "dot")[:seats]
    seated_bots = [*bots, *[toy_bot() for _ in names[len(bots) :]]]
    players = [at_toy_game(bot, game, seats=seats, player=name) for bot, name in zip(seated_bots, names, strict=True)]
    return unpack(pack(toy_match(*players, game=game, options={"rounds": rounds}, match="m-0-0")))


def at_reference(record: MatchRecord) -> MatchRecord:
    """The same match of the toy game, named so that it can be loaded."""
    return msgspec.structs.replace(record, game="support.toy_game:ToyGame", package=UNSET)


def simulate(message: Message, query: int, what: Any, **more: Any) -> bytes:
    """A question about a request."""
    return json.dumps({"type": "simulate", "id": message["id"], "query": query, "what": what, **more}).encode()


def acted(record: MatchRecord, seat: int) -> list[ActionStep]:
    """The actions of a seat, in order."""
    return [step for step in record.steps if isinstance(step, ActionStep) and step.seat == seat]


def with_step(record: MatchRecord, place: int, step: Step) -> MatchRecord:
    """The record with another step in that place."""
    return msgspec.structs.replace(record, steps=(*record.steps[:place], step, *record.steps[place + 1 :]))


def with_seat(record: MatchRecord, seat: int = 0, **changes: Any) -> MatchRecord:
    """The record with changes in what it keeps of a seat."""
    seats = list(record.seats)
    seats[seat] = msgspec.structs.replace(seats[seat], **changes)
    return msgspec.structs.replace(record, seats=tuple(seats))
