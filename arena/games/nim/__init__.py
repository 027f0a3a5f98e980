"""Nim: the small game that tests use and that newcomers may copy. `GAME` is the game as the house meets it."""

from typing import Final

from arena.games.nim.rules import Nim

GAME: Final = Nim()
