"""Shanghaien: two captains roll dice for sailors. `GAME` is the game as the rest of the house meets it."""

from typing import Final

from arena.games.shanghaien.rules import Shanghaien

GAME: Final = Shanghaien()
