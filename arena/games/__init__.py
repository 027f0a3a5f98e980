"""The games on offer, by name. A game is loaded when it is asked for, so that one game never costs another's import."""

from importlib import import_module
from typing import Any, Final

from arena.errors import SpecError
from arena.games.api import Game
from arena.text import unknown

GAMES: Final = {
    "nim": "arena.games.nim",
    "riffraff": "arena.games.riffraff",
    "shanghaien": "arena.games.shanghaien",
}


def load_game(name: str) -> Game[Any, Any]:
    """The game of that name; SpecError lists the known ones."""
    if name not in GAMES:
        raise SpecError(unknown("game", name, GAMES))
    game: Game[Any, Any] = import_module(GAMES[name]).GAME
    return game
