"""Random play of any game, step by step, for the tests: luck from a seed, decisions from `Game.sample`."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from arena.games.api import Chance, Decision, Game, Json, Over, Seat, Turn
from arena.games.luck import draw


class Step(NamedTuple):
    """One state of a play and what happened in it; `actions` and `drawn` are empty where they do not apply."""

    state: Any
    turn: Turn
    actions: Mapping[Seat, Any]
    drawn: tuple[int, ...]
    after: Any


def steps(
    game: Game[Any, Any], seed: str, rng: Random, *, options: Mapping[str, Json] | None = None, seats: int = 2
) -> Iterator[Step]:
    """Every state of a random play in order, the last one with the turn `Over` and itself as `after`."""
    state = game.setup(options or {}, seats)
    while not isinstance(turn := game.turn(state), Over):
        actions: dict[Seat, Any] = {}
        drawn: tuple[int, ...] = ()
        if isinstance(turn, Decision):
            actions = {seat: game.sample(state, seat, rng) for seat in turn.seats}
            after = game.apply(state, actions)
        else:
            assert isinstance(turn, Chance)
            drawn = draw(seed, turn)
            after = game.resolve(state, drawn)
        yield Step(state, turn, actions, drawn, after)
        state = after
    yield Step(state, turn, {}, (), state)
