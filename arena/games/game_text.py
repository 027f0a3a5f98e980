"""Matches as text in the format of other programs: the optional capability `game_text` of a game."""

from collections.abc import Mapping
from typing import Any, Protocol, cast

import msgspec

from arena.games.api import Game, Json


class PlayedMove(msgspec.Struct, frozen=True):
    """An action of a match; seconds that it took and that were left in the bank, None if not known; the bot's note."""

    action: Json
    note: str = ""
    took_s: float | None = None
    left_s: float | None = None


class PlayedGame(msgspec.Struct, frozen=True):
    """A match to be written: names and ranks by seat, `title` and `number` of a series, and the reason for its end."""

    title: str
    number: str
    options: Mapping[str, Json]
    players: tuple[str, ...]
    ranks: tuple[int, ...]
    termination: str
    moves: tuple[PlayedMove, ...]


class GameWriter(Protocol):
    """Optional capability `game_text`: matches in a format that programs for the game read; `form` is its name."""

    form: str

    def write(self, played: PlayedGame) -> str:
        """Return the match as text, with a newline at its end."""


def game_text_of(game: Game[Any, Any]) -> GameWriter | None:
    """Return the writer of matches of the game; None if it has none."""
    return cast("GameWriter | None", getattr(game, "game_text", None))
