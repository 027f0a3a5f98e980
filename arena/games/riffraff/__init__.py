"""Riff Raff: cargo on a rocking ship, for two to four players. `GAME` is the game that the registry loads."""

from typing import Final

from arena.games.riffraff.rules import RiffRaff

GAME: Final = RiffRaff()
