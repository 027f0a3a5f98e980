"""Random play of any game for the tests, as `arena check-game` plays it.

A simulator is scripted: no physics is needed, and a play takes no time.
"""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from arena.conformance.play import GameStep as Step
from arena.conformance.play import random_play
from arena.games.api import Game, Json, Simulator, simulator_of
from support.riffraff_play import TOPPLING

__all__ = ["SCRIPTED", "Step", "scripted_simulator", "steps"]
SCRIPTED: Mapping[str, Simulator] = {"riffraff": TOPPLING}
"""The simulator of each game here."""


def steps(
    game: Game[Any, Any], seed: str, rng: Random, *, options: Mapping[str, Json] | None = None, seats: int = 2
) -> Iterator[Step]:
    """Every state of a random play in order, the last one with the turn `Over` and itself as `after`."""
    return random_play(game, seed, rng, options=options, seats=seats, simulator=scripted_simulator(game))


def scripted_simulator(game: Game[Any, Any]) -> Simulator | None:
    """The simulator that plays in the tests, for a game that has one."""
    return None if simulator_of(game) is None else SCRIPTED[game.name]
