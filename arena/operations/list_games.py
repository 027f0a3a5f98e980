"""The games on offer: those of arena, and those of other packages that are installed."""

from arena.games import OfferedGame, load_all_games
from arena.operations.events import OnEvent, Warned, ignore


def list_games(on: OnEvent = ignore) -> tuple[OfferedGame, ...]:
    """List the games. One that cannot be played is a warning with the reason."""
    offered = tuple(load_all_games())
    for game in offered:
        if game.problem:
            on(Warned(f"left out: {game.problem}"))
    return tuple(game for game in offered if not game.problem)
