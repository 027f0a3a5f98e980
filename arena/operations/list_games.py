"""The games on offer: those of arena, and those of other packages that are installed."""

import msgspec

from arena.games import offered_games
from arena.operations.events import OnEvent, Warned, ignore


class GameOnOffer(msgspec.Struct, frozen=True):
    """A game, the version of its rules, its numbers of players, and the place it comes from."""

    name: str
    rules: str
    players: str
    place: str


def list_games(on: OnEvent = ignore) -> tuple[GameOnOffer, ...]:
    """List the games. One that cannot be played is a warning with the reason."""
    games = []
    for offered in offered_games():
        if offered.problem:
            on(Warned(f"left out: {offered.problem}"))
        else:
            games.append(GameOnOffer(offered.name, offered.rules, offered.seats, offered.place))
    return tuple(games)
