"""The house bot: a legal opponent inside this process, for checking a bot without needing another one.

Rule: it speaks the protocol like any bot, through a scripted channel; it knows no game.
"""

import json
import random
from collections.abc import Iterable

from arena.match.contestant import Contestant
from arena.match.terms import ClockSettings
from arena.process.scripted import Reply, ScriptedChannel
from arena.protocol.messages import Hello


def house_contestant(hello: Hello, clock: ClockSettings) -> Contestant:
    """A contestant that chooses among the legal actions by its bot_seed."""
    return Contestant(
        player="house",
        bot="house",
        open_channel=lambda: ScriptedChannel(_HouseBot().respond),
        hello=hello,
        clock=clock,
    )


class _HouseBot:
    def __init__(self) -> None:
        self._random = random.Random(0)  # noqa: S311 - play, not secrets

    def respond(self, line: bytes) -> Iterable[Reply]:
        message = json.loads(line)
        match message["type"]:
            case "hello":
                return [b'{"type":"hello","protocols":[1],"name":"house"}']
            case "match_start":
                self._random.seed(message["bot_seed"])
                return [json.dumps({"type": "ready", "match": message["match"]}).encode()]
            case "request":
                choice = self._random.randrange(len(message["legal"]))
                return [json.dumps({"type": "action", "id": message["id"], "action": choice}).encode()]
        return []
