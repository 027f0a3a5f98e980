"""Random plays of a game, step by step: luck from a seed, decisions from `Game.sample`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Any, Final, NamedTuple

from arena.errors import CheckFailed, IllegalAction
from arena.games import api
from arena.games.luck import draw
from arena.text import join_lines

AnyGame = api.Game[Any, Any]
LONGEST_PLAY: Final = 20_000
"""The most steps of a random play; a longer one counts as endless."""


class GameStep(NamedTuple):
    """A state of a play and what happened in it; actions, draw and result are empty where they do not apply."""

    state: Any
    turn: api.Turn
    actions: Mapping[api.Seat, Any]
    drawn: tuple[int, ...]
    after: Any
    result: api.Json = None


class HiddenDraw(NamedTuple):
    """A draw that is not public: the numbers of its play and of its step, from 1, and the `later_steps` of the play."""

    play: int
    at: int
    turn: api.Chance
    step: GameStep
    later_steps: Sequence[GameStep]


class PlayedTable(NamedTuple):
    """Random plays of a game for one number of seats; `simulator` replaces the game's own."""

    game: AnyGame
    seats: int
    options: Mapping[str, api.Json]
    simulator: api.Simulator | None
    plays: tuple[tuple[GameStep, ...], ...]

    def steps(self) -> Iterator[tuple[str, GameStep]]:
        """Yield all steps of all plays, each with its place for a message."""
        for number, play in enumerate(self.plays, start=1):
            for at, step in enumerate(play, start=1):
                yield f"play {number}, step {at}", step

    def hidden_draws(self) -> Iterator["HiddenDraw"]:
        """Yield the draws that are not public."""
        for number, play in enumerate(self.plays, start=1):
            for at, step in enumerate(play, start=1):
                if isinstance(step.turn, api.Chance) and not step.turn.is_public:
                    yield HiddenDraw(number, at, step.turn, step, play[at:])

    def decisions(self) -> Iterator[tuple[str, GameStep, api.Seat, Any]]:
        """Yield each action with its place for a message, its step and its seat."""
        for place, step in self.steps():
            for seat, action in step.actions.items():
                yield f"{place}, seat {seat}", step, seat, action

    def all_seats(self) -> Iterable[api.Seat]:
        """Return the seats."""
        return map(api.Seat, range(self.seats))


def random_play(
    game: AnyGame,
    seed: str,
    rng: Random,
    *,
    options: Mapping[str, api.Json] | None = None,
    seats: int = 2,
    simulator: api.Simulator | None = None,
) -> Iterator[GameStep]:
    """Yield every state of a random play in order; the last has the turn `Over` and itself as `after`.

    Luck follows from `seed`, decisions from `rng`. A game without an end is played for ever. Raises CheckFailed.
    """
    state, simulator = game.setup(options or {}, seats), simulator or api.simulator_of(game)
    while not isinstance(turn := game.turn(state), api.Over):
        step = _play_turn(game, seed, rng, state, turn, simulator)
        yield step
        state = step.after
    yield GameStep(state, turn, {}, (), state)


def _play_turn(
    game: AnyGame, seed: str, rng: api.Randomness, state: Any, turn: api.Turn, simulator: api.Simulator | None
) -> GameStep:
    """Decide, draw or simulate once, and return the step. CheckFailed for a turn that is none of these."""
    match turn:
        case api.Decision(seats):
            actions = {seat: sample_action(game, state, seat, rng, simulator) for seat in seats}
            return GameStep(state, turn, actions, (), game.apply(state, actions))
        case api.Chance():
            drawn = draw(seed, turn)
            return GameStep(state, turn, {}, drawn, game.resolve(state, drawn))
        case api.Simulation() if simulator is not None:
            result = simulator.simulate(state)
            return GameStep(state, turn, {}, (), simulator.apply_result(state, result), result)
    raise CheckFailed(f"turn: found {turn!r:.80}, expected a Decision, Chance, Over, or a Simulation with a simulator")


def sample_action(
    game: AnyGame, state: Any, seat: api.Seat, rng: api.Randomness, simulator: api.Simulator | None
) -> Any:
    """Sample an action; return the fallback action instead if the simulated world has no room for it.

    IllegalAction if the game has no fallback actions.
    """
    action, fault_policy = game.sample(state, seat, rng), api.fault_policy_of(game)
    try:
        if simulator is not None:
            simulator.require(state, seat, action)
    except IllegalAction:
        if fault_policy is None:
            raise
        return fault_policy.fallback_action(state, seat)
    return action


def played_table(
    game: AnyGame,
    seats: int,
    *,
    options: Mapping[str, api.Json] | None = None,
    plays: int = 3,
    simulator: api.Simulator | None = None,
) -> PlayedTable:
    """Play some random plays, each to its end; every call makes the same ones.

    CheckFailed for a play without an end; errors of the game pass.
    """
    finished = []
    for number in range(plays):
        play = random_play(game, f"{number:032x}", Random(number), options=options, seats=seats, simulator=simulator)  # noqa: S311 - play
        steps = tuple(islice(play, LONGEST_PLAY))
        if not isinstance(steps[-1].turn, api.Over):
            last = f"{join_lines(game.describe(steps[-1].state)):.400}"
            raise CheckFailed(f"play {number + 1} has not ended after {LONGEST_PLAY} steps; the last state: {last}")
        finished.append(steps)
    return PlayedTable(game, seats, options or {}, simulator or api.simulator_of(game), tuple(finished))
