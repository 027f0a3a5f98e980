"""Random play of any game, step by step, for the tests: luck from a seed, decisions from `Game.sample`.

a simulator is scripted: no physics is needed, and a play takes no time.
"""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from riffraff_play import TOPPLING

from arena.errors import IllegalAction
from arena.games.api import (
    Chance,
    Decision,
    Game,
    Json,
    Over,
    Randomness,
    Seat,
    Simulation,
    Simulator,
    Turn,
    fault_policy_of,
    simulator_of,
)
from arena.games.luck import draw

SCRIPTED: Mapping[str, Simulator] = {"riffraff": TOPPLING}
"""The simulator of each game here."""


class Step(NamedTuple):
    """One state of a play and what happened in it; actions, draw and result are empty where they do not apply."""

    state: Any
    turn: Turn
    actions: Mapping[Seat, Any]
    drawn: tuple[int, ...]
    after: Any
    result: Json = None


def steps(
    game: Game[Any, Any], seed: str, rng: Random, *, options: Mapping[str, Json] | None = None, seats: int = 2
) -> Iterator[Step]:
    """Every state of a random play in order, the last one with the turn `Over` and itself as `after`."""
    state = game.setup(options or {}, seats)
    while not isinstance(turn := game.turn(state), Over):
        step = _step(game, seed, rng, state, turn)
        yield step
        state = step.after
    yield Step(state, turn, {}, (), state)


def _step(game: Game[Any, Any], seed: str, rng: Random, state: Any, turn: Turn) -> Step:
    match turn:
        case Decision(seats):
            actions = {seat: allowed(game, state, seat, rng) for seat in seats}
            return Step(state, turn, actions, (), game.apply(state, actions))
        case Chance():
            drawn = draw(seed, turn)
            return Step(state, turn, {}, drawn, game.resolve(state, drawn))
        case Simulation():
            simulator = scripted_simulator(game)
            assert simulator is not None
            result = simulator.simulate(state)
            return Step(state, turn, {}, (), simulator.apply_result(state, result), result)
    raise AssertionError(f"no such turn: {turn}")


def scripted_simulator(game: Game[Any, Any]) -> Simulator | None:
    """The simulator that plays in the tests, for a game that has one."""
    return None if simulator_of(game) is None else SCRIPTED[game.name]


def allowed(game: Game[Any, Any], state: Any, seat: Seat, rng: Randomness) -> Any:
    """A sampled action, or the fallback where the world has no room for it."""
    action = game.sample(state, seat, rng)
    simulator, fault_policy = scripted_simulator(game), fault_policy_of(game)
    try:
        if simulator is not None:
            simulator.require(state, seat, action)
    except IllegalAction:
        assert fault_policy is not None, "a game whose simulator refuses something goes on after it"
        return fault_policy.fallback_action(state, seat)
    return action
