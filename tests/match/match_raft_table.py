"""A raft and who sits on it: scripted bots that lean, and matches of them without a process."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec
from match_raft import Raft
from match_table import CLOCK, Message, ScriptedBot, answer, match_of, seated

from arena.games import GAMES
from arena.match.bot_player import BotPlayer
from arena.match.participant import Participant
from arena.match.record import ActionStep, MatchRecord
from arena.match.settings import ClockSettings
from arena.process.scripted import Reply

STRICT: Final = msgspec.structs.replace(CLOCK, strict=True)
SIMULATING: Final = b'{"type":"hello","protocols":[1],"capabilities":["simulate"]}'


@contextmanager
def raft_on_offer() -> Iterator[None]:
    """Within, the raft is a game like those of ours, which a record can name."""
    GAMES["raft"] = "match_raft"
    try:
        yield
    finally:
        del GAMES["raft"]


Odd = Callable[[Message, int], Iterable[Reply] | None]


def raft_bot(mm: int = 20, odd: Odd = lambda _message, _number: None, **more: Any) -> ScriptedBot:
    """Leans out `mm`, trims to 0. `odd` may answer a request in another way, given its number from 1."""

    def plain(message: Message) -> Reply:
        return answer(message, {"mm": mm} if message["legal"] is None else 0)

    return ScriptedBot(odd, plain=plain, **more)


def on_raft(
    bot: ScriptedBot, game: Raft, clock: ClockSettings = CLOCK, *, seats: int = 2, keep_transcript: bool = True
) -> BotPlayer:
    """The bot's bot_player at a table of that size."""
    return seated(bot, clock, game=game, seats=seats, keep_transcript=keep_transcript)


def sail(
    *participants: Participant,
    game: Raft | None = None,
    clock: ClockSettings = CLOCK,
    options: dict[str, Any] | None = None,
    match: str = "m",
) -> MatchRecord:
    """A match of those at the table."""
    rules: Any = game or Raft()
    return match_of(*participants, game="raft", options=options, clock=clock, match=match, rules=rules)


def sail_bots(*bots: ScriptedBot, clock: ClockSettings = CLOCK, options: dict[str, Any] | None = None) -> MatchRecord:
    """The same of these bots, on a new raft."""
    game = Raft()
    return sail(*[on_raft(bot, game, clock, seats=len(bots)) for bot in bots], game=game, clock=clock, options=options)


def simulate(message: Message, query: int, what: Any, **more: Any) -> bytes:
    """A question about a request."""
    return json.dumps({"type": "simulate", "id": message["id"], "query": query, "what": what, **more}).encode()


def acted(record: MatchRecord, seat: int) -> list[ActionStep]:
    """What a seat did, in order."""
    return [step for step in record.steps if isinstance(step, ActionStep) and step.seat == seat]
