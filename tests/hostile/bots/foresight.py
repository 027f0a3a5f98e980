"""A bot that knows the public seed of its league: it finds out which block it plays, and foresees every die.

Arguments: the seed, and a file with the keys of the pairings it may meet in, one a line. It runs without a sandbox, for
it borrows the rules and the value of the game from arena; a bot in a sandbox would bring its own.
"""

import json
import sys
from pathlib import Path
from typing import Any

from arena.games import load_game
from arena.games.api import Chance, Seat
from arena.games.luck import draw
from arena.games.shanghaien.value.position import ShanghaienValue
from arena.match.secret_luck import Secret, draw_block

GAME, VALUE = load_game("shanghaien"), ShanghaienValue()
MOST_BLOCKS = 200


def wire_ids(seed: str, keys: list[str]) -> dict[str, str]:
    """The luck of the block by the id of a match on the wire: the recipe is public, and so is everything in it."""
    secret, found = Secret.public(seed), {}
    for key in keys:
        for block in range(MOST_BLOCKS):
            drawn = draw_block(secret, f"{key}-{block}", 2)
            found.update(dict.fromkeys(drawn.wire_ids, drawn.luck))
    return found


class Table:
    """The match as it stands, dice to come included."""

    def __init__(self, luck: str, seat: int, options: dict[str, Any]) -> None:
        self._luck = luck
        self._seat = Seat(seat)
        self._state = GAME.setup(options, 2)

    def heard(self, events: list[dict[str, Any]]) -> None:
        """Follow what the others, and the referee for us, did."""
        for event in events:
            if event["event"] == "action":
                self._act(event["seat"], event["action"])

    def choose(self, legal: list[Any]) -> int:
        """The action that makes most of what falls next."""
        self._state, _ = self._after_draws(self._state)
        worths = [self._worth(action) for action in legal]
        best = worths.index(max(worths))
        self._act(self._seat, legal[best])
        return best

    def _act(self, seat: int, action: Any) -> None:
        self._state, _ = self._after_draws(self._state)
        self._state = GAME.apply(self._state, {Seat(seat): GAME.parse(self._state, Seat(seat), action)})

    def _worth(self, action: Any) -> float:
        own = GAME.parse(self._state, self._seat, action)
        state, luck = self._after_draws(GAME.apply(self._state, {self._seat: own}))
        return VALUE(state)[self._seat] + luck

    def _after_draws(self, state: Any) -> tuple[Any, float]:
        luck = 0.0
        while isinstance(turn := GAME.turn(state), Chance):
            after = GAME.resolve(state, draw(self._luck, turn))
            luck += VALUE(after)[self._seat] - VALUE(state)[self._seat]
            state = after
        return state, luck


def main() -> None:
    """Play, and foresee."""
    seed, keys = sys.argv[1], Path(sys.argv[2])
    lucks: dict[str, str] = {}
    table: Table | None = None
    for line in sys.stdin:
        message = json.loads(line)
        match message["type"]:
            case "hello":
                lucks = wire_ids(seed, keys.read_text().split())
                answer: dict[str, Any] = {"type": "hello", "protocols": [1], "name": "foresight"}
            case "match_start":
                table = Table(lucks[message["match"]], message["seat"], message.get("options", {}))
                answer = {"type": "ready", "match": message["match"]}
            case "request":
                assert table is not None
                table.heard(message["events"])
                answer = {"type": "action", "id": message["id"], "action": table.choose(message["legal"])}
            case "quit":
                return
            case _:
                continue
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
