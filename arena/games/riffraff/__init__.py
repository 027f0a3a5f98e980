"""Riff Raff: cargo on a rocking ship, for two to four players. `GAME` is the game as the house meets it."""

from typing import Final

from arena.games.riffraff.rules import RiffRaff

GAME: Final = RiffRaff()
