"""The games on offer: those of arena, and those of other packages that are installed."""

import msgspec

from arena.games import offered_games, openspiel
from arena.operations.events import OnEvent, Warned, ignore
from arena.text import spanned


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
        if offered.game is None:
            on(Warned(f"left out: {offered.problem}"))
        else:
            players = spanned(offered.game.seat_counts)
            games.append(GameOnOffer(offered.name, offered.game.rules_version, players, offered.place))
    if openspiel.is_installed():
        name, place = f"{openspiel.PREFIX}:NAME", openspiel.place_of_openspiel()
        games.append(GameOnOffer(name, openspiel.rules_version(), "2 to 10", place))
    return tuple(games)
