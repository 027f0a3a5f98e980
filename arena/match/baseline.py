"""The house bot: a legal opponent inside this process, for checking a bot without needing another one.

Rule: it speaks the protocol like any bot, through a scripted channel; it knows no game. Where the actions are not
listed it finds one of them in its view: `HouseGame` puts it there.
"""

import json
import random
from collections.abc import Collection, Iterable
from typing import Any, Final

import msgspec

from arena.games.api import Game, Json, Seat
from arena.match.bot_player import BotPlayer
from arena.match.settings import ClockSettings
from arena.match.suggestion import random_action
from arena.process.scripted import Reply, ScriptedChannel
from arena.protocol.messages import Hello

SUGGESTED: Final = "suggested"
"""The key under which `HouseGame` adds an action to a view."""


def baseline_player(hello: Hello, clock: ClockSettings) -> BotPlayer:
    """A bot_player that chooses among the legal actions by its bot_seed; unlisted ones come with a `HouseGame` only."""
    return BotPlayer(
        player="house",
        bot="house",
        open_channel=lambda: ScriptedChannel(_HouseBot().respond),
        hello=hello,
        clock=clock,
    )


class HouseGame:
    """A game at whose table the house has these seats; it differs for them, and only where actions are not listed.

    One object is for one match: what it suggests follows from `seed` and from what was suggested before.
    """

    def __init__(self, game: Game[Any, Any], seats: Collection[int], seed: str) -> None:
        self._game = game
        self._seats = seats
        self._random = random.Random(seed)  # noqa: S311 - play, not secrets

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def observe(self, state: Any, seat: Seat) -> dict[str, Json]:
        """The view; for the house with an action, where it could not choose from a list."""
        view = self._game.observe(state, seat)
        if seat not in self._seats or self._game.legal(state, seat) is not None:
            return view
        return {**view, SUGGESTED: msgspec.to_builtins(random_action(self._game, state, seat, self._random))}


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
                return [json.dumps({"type": "action", "id": message["id"], "action": self._choose(message)}).encode()]
        return []

    def _choose(self, request: dict[str, Any]) -> Json:
        legal = request["legal"]
        return request["view"][SUGGESTED] if legal is None else self._random.randrange(len(legal))
