"""The CPU time of a request by its parts: the same match with more and more of the way to a bot and back.

Rule: CPU time of one core. All play in turns, and of many short samples the lower decile counts, because other programs
only add to it, by the caches that they take. A part is the difference of two neighbours; the parts of a bot in Python
are its library's work on the lines of that match.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchbots import instant
from matches import CLOCK, SHANGHAIEN, match_of, seated
from measure import interleaved, one_core
from tables import Figure, Table

from arena.games import load_game
from arena.games.api import Game
from arena.games.shanghaien.rules import Shanghaien
from arena.match.bot_player import BotPlayer
from arena.match.participant import ActionRequest, Participant
from arena.match.record import pack
from arena.match.referee import hello_for, play_match
from arena.process.scripted import ScriptedChannel
from arena.protocol.messages import Answer

_US: Final = 1e6
_MATCHES: Final = 2
"""Matches of a sample; some 250 requests."""
_BOT: Final[dict[str, Callable[[Any], bytes]]] = {
    "hello": lambda _: b'{"type":"hello","protocols":[1]}',
    "match_start": lambda message: json.dumps({"type": "ready", "match": message["match"]}).encode(),
}


class FirstAction(Participant):
    """A participant in this process that takes the first action."""

    def __init__(self) -> None:
        super().__init__("", "", CLOCK.terms())

    def ask(self, request: ActionRequest) -> Answer:  # noqa: ARG002 - any request
        """Answer with index 0."""
        self.moves += 1
        return Answer(id=self.moves, action=0)


class GameWithoutViews(Shanghaien):
    """The game without views."""

    view_for_bots = staticmethod(lambda _state, _seat: None)  # type: ignore[assignment]


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Measure the referee's parts and the bots' parts: two tables."""
    bots, notes = instant(scratch)
    game = load_game(SHANGHAIEN.game)
    lines = [line for line in _lines_of_a_match(game) if line.startswith(b'{"type":"request"')]
    with ExitStack() as stack:
        stack.enter_context(one_core())
        tables: dict[str, Sequence[Participant]] = {name: [FirstAction(), FirstAction()] for name in ("rules", "view")}
        tables["dialogue"] = [_scripted(game)[0], _scripted(game)[0]]
        tables |= {name: stack.enter_context(seated(SHANGHAIEN, (bot, bot))) for name, bot in bots.items()}
        games = {"rules": GameWithoutViews()}
        plays = {name: partial(_played_s, games.get(name, game), pair) for name, pair in tables.items()}
        samples = interleaved(plays, 20 if is_quick else 200)
    own = {name: [pair[0] for pair in pairs] for name, pairs in samples.items()}
    theirs = {name: [pair[1] for pair in samples[name]] for name in bots}
    return [_referee_table(own, list(bots), notes), _bot_table(theirs, lines)]


def _referee_table(own: dict[str, list[float]], languages: list[str], notes: tuple[str, ...]) -> Table:
    first = languages[0]
    rows = [
        ("rules, chance, steps, and the record", own["rules"], None),
        ("view", own["view"], own["rules"]),
        ("line, session, clocks, use of time by request", own["dialogue"], own["view"]),
        (f"pipes of a bot in {first}: calls of the system, switches", own[first], own["dialogue"]),
    ]
    rows += [(f"more beside a bot in {other}", own[other], own[first]) for other in languages[1:]]
    return Table(
        title="A request: CPU time of the referee",
        headers=("part", "us a request"),
        rows=tuple((label, Figure(_us(above) - (_us(below) if below else 0.0))) for label, above, below in rows)
        + tuple((f"all, beside bots in {name}", Figure(_us(own[name]))) for name in languages),
        notes=(*notes, "Shanghaien, two bots that answer index 0, sandbox on, luck off; lower deciles"),
    )


def _bot_table(theirs: dict[str, list[float]], lines: list[bytes]) -> Table:
    texts = [line.decode() for line in lines]
    work: dict[str, Callable[[], object]] = {
        "json.loads of the line": lambda: [json.loads(text) for text in texts],
        "json.dumps of the answer": lambda: [json.dumps({"type": "action", "id": 7, "action": 0}) for _ in texts],
    }
    python_s = interleaved({name: partial(_cpu_s, call, len(texts)) for name, call in work.items()}, 21)
    rows = [(f"a bot in {name}, all of it", Figure(_us(seconds))) for name, seconds in theirs.items()]
    rows += [(f"of that in Python, with warm caches: {name}", Figure(_us(cpu))) for name, cpu in python_s.items()]
    return Table(
        title="A request: CPU time of the bot",
        headers=("part", "us a request"),
        rows=tuple(rows),
        notes=(f"a line has {sum(map(len, lines)) / len(lines):.0f} bytes",),
    )


def _us(samples: list[float]) -> float:
    """Return the lower decile of samples in seconds, in microseconds."""
    return sorted(samples)[len(samples) // 10] * _US


def _played_s(game: Any, table: Sequence[Participant]) -> tuple[float, float]:
    """Play; return the CPU seconds a request of this process, and of the bots."""
    moves, bots_ms, begun_s = 0, 0.0, time.process_time()
    for number in range(_MATCHES):
        record = play_match(match_of(SHANGHAIEN, name=f"bench-{number}-0"), table, game=game)
        pack(record)
        moves += sum(seat.moves for seat in record.seats)
        bots_ms += sum(seat.cpu_ms for seat in record.seats)
    return (time.process_time() - begun_s) / moves, bots_ms / 1000 / moves


def _cpu_s(work: Callable[[], object], count: int) -> float:
    begun_s = time.process_time()
    work()
    return (time.process_time() - begun_s) / count


def _scripted(game: Game[Any, Any]) -> tuple[BotPlayer, list[ScriptedChannel]]:
    """Return a bot that is a function in this process, complete but for pipes, and its channels."""
    opened: list[ScriptedChannel] = []

    def respond(line: bytes) -> Iterator[bytes]:
        if line.startswith(b'{"type":"request","id":'):
            yield b'{"type":"action","id":%s,"action":0}' % line[23 : line.index(b",", 23)]
        else:
            message = json.loads(line)
            if message["type"] in _BOT:
                yield _BOT[message["type"]](message)

    def open_channel() -> ScriptedChannel:
        opened.append(ScriptedChannel(respond))
        return opened[-1]

    hello = hello_for(game, SHANGHAIEN.options, CLOCK.startup_ms)
    return BotPlayer(player="", bot="", open_channel=open_channel, hello=hello, clock=CLOCK), opened


def _lines_of_a_match(game: Game[Any, Any]) -> list[bytes]:
    """Return the lines to the bot of seat 0 in the match that all measurements play."""
    bot, opened = _scripted(game)
    play_match(match_of(SHANGHAIEN), [bot, FirstAction()])
    return opened[0].sent
