"""Shanghaien: two captains roll dice for sailors. `GAME` is the game that the registry loads."""

from typing import Final

from arena.games.shanghaien.rules import Shanghaien

GAME: Final = Shanghaien()
