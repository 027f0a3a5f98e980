"""A match played again from its record alone: for people who want to see it, and for whoever doubts it.

Rule: nothing in a record is believed. Each action must be legal where it stands, each draw must be what the seed gives,
and the outcome must be what the rules say. Only what a simulation came to is taken as it was recorded, so that a replay
is quick everywhere and needs no physics; `resimulation` makes it again.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from arena.errors import ArenaError, BotFault, CheckFailed
from arena.games import GAMES, load_game
from arena.games.api import Chance, Decision, Game, Over, Seat, Simulation, fault_policy_of, simulator_of
from arena.games.luck import draw
from arena.match.answers import answer_count_error
from arena.match.record import (
    FAULTS,
    PARDONABLE,
    ActionStep,
    ChanceStep,
    MatchRecord,
    SimulationStep,
    Step,
    Termination,
)

_SHOWN: Final = 400
"""Characters of a step in a message."""


class ReplayStep(msgspec.Struct, frozen=True):
    """A step of a replay: the state before it, the step, the action as the game knows it, and the state after it.

    `action` is None for chance and simulations. The moments of a decision of several seats share both states; only the
    last of them `is_complete`, for nothing happens before all have decided.
    """

    before: Any
    step: Step
    action: Any
    after: Any
    is_complete: bool = True


def replay(record: MatchRecord) -> Iterator[ReplayStep]:
    """The moments of a match, each checked before it is given out. CheckFailed tells the first that cannot be."""
    if other := other_rules(record):
        raise CheckFailed(f"{record.match}: {other}")
    game = load_game(record.game)
    steps = list(record.steps)
    state = game.setup(record.options, len(record.seats))
    position = 0
    while position < len(steps):
        moments = _advance(record, game, state, steps[position:])
        yield from moments
        position += len(moments)
        state = moments[-1].after
    _check_end(record, game, state)


def other_rules(record: MatchRecord) -> str:
    """One sentence if the match was played by rules that this arena does not have, so that no replay is possible."""
    if record.game not in GAMES:
        return f"played by rules {record.rules} of {record.game}, a game that this arena does not have"
    here = load_game(record.game).rules_version
    if record.rules == here:
        return ""
    return f"played by rules {record.rules} of {record.game}; this arena plays rules {here} and cannot replay it"


def problems(record: MatchRecord) -> list[str]:
    """What is wrong with a record, in sentences; empty if its replay gives the same match."""
    try:
        for _ in replay(record):
            pass
    except ArenaError as error:
        return [str(error)]
    return []


def _advance(record: MatchRecord, game: Game[Any, Any], state: Any, rest: list[Step]) -> list[ReplayStep]:
    """The moments of one turn: a draw, a simulation, or the action of each seat that decides."""
    match game.turn(state):
        case Chance() as chance:
            return [_drawn(record, game, state, chance, rest[0])]
        case Simulation(key=key):
            return [_simulated(record, game, state, key, rest[0])]
        case Decision(seats=seats):
            return _decided(record, game, state, seats, rest)
        case Over():
            raise _wrong(record, f"recorded {_shown(rest[0])} after the end of the game")


def _drawn(record: MatchRecord, game: Game[Any, Any], state: Any, chance: Chance, step: Step) -> ReplayStep:
    drawn = draw(record.seed, chance)
    expected = ChanceStep(key=chance.key, outcome=drawn)
    if step != expected:
        raise _wrong(record, f"recorded {_shown(step)}, the seed gives {_shown(expected)}")
    return ReplayStep(before=state, step=expected, action=None, after=game.resolve(state, drawn))


def _simulated(record: MatchRecord, game: Game[Any, Any], state: Any, key: str, step: Step) -> ReplayStep:
    """The recorded result, if it is one that could have come from this state."""
    if not isinstance(step, SimulationStep) or step.key != key:
        raise _wrong(record, f"recorded {_shown(step)} where the simulation {key} was due")
    simulator = simulator_of(game)
    assert simulator is not None, f"{game.name} asks for simulations and has no nature"
    try:
        after = simulator.apply_result(state, step.result)
    except ValueError as error:
        raise _wrong(record, f"recorded {_shown(step)}, which cannot be: {error}") from None
    return ReplayStep(before=state, step=step, action=None, after=after)


def _decided(
    record: MatchRecord, game: Game[Any, Any], state: Any, seats: tuple[Seat, ...], rest: list[Step]
) -> list[ReplayStep]:
    if len(rest) < len(seats):
        raise _wrong(record, "the record ends in the middle of a decision of several seats")
    steps = rest[: len(seats)]
    actions = {seat: _action(record, game, state, seat, step) for seat, step in zip(seats, steps, strict=True)}
    after = game.apply(state, actions)
    return [
        ReplayStep(before=state, step=step, action=action, after=after, is_complete=step is steps[-1])
        for step, action in zip(steps, actions.values(), strict=True)
    ]


def _action(record: MatchRecord, game: Game[Any, Any], state: Any, seat: Seat, step: Step) -> Any:
    if not isinstance(step, ActionStep) or step.seat != seat:
        raise _wrong(record, f"recorded {_shown(step)} where seat {seat} had to act")
    try:
        # a record that was never stored holds actions of the game itself, and `parse` judges JSON
        action = game.parse(state, seat, msgspec.to_builtins(step.action))
    except BotFault as fault:
        raise _wrong(record, f"recorded {_shown(step)}, but {fault.message}") from None
    legal = game.legal(state, seat)
    if step.forced != (legal is not None and len(legal) == 1):
        raise _wrong(
            record, f"recorded {_shown(step)} with forced={step.forced}, with {len(legal or ())} legal actions"
        )
    if step.fallback_for:
        _check_stand_in(record, game, state, step, action)
    return action


def _check_stand_in(record: MatchRecord, game: Game[Any, Any], state: Any, step: ActionStep, action: Any) -> None:
    """Only a lenient game has stand-ins, only for pardonable faults of who was asked, and it names the action."""
    fault_policy = fault_policy_of(game)
    if fault_policy is None or step.fallback_for not in PARDONABLE or step.forced:
        raise _wrong(record, f"recorded {_shown(step)}, for which nothing stands in")
    due = fault_policy.fallback_action(state, Seat(step.seat))
    if action != due:
        raise _wrong(record, f"recorded {_shown(step)}, but {msgspec.json.encode(due).decode()} stands in")


def _check_end(record: MatchRecord, game: Game[Any, Any], state: Any) -> None:
    if (record.simulator is UNSET) != (simulator_of(game) is None):
        raise _wrong(record, f"recorded as simulated by {record.simulator or 'nobody knows what'}")
    if record.termination is Termination.NORMAL:
        _check_outcome(record, game, state)
        awaited: tuple[Seat, ...] = ()
    else:
        awaited = _check_forfeit(record, game, state)
    problem = answer_count_error(record, awaited, is_lenient=fault_policy_of(game) is not None)
    if problem:
        raise _wrong(record, problem)


def _check_outcome(record: MatchRecord, game: Game[Any, Any], state: Any) -> None:
    if not isinstance(game.turn(state), Over):
        raise _wrong(record, "recorded as finished, but the game goes on")
    outcome = game.outcome(state)
    if (outcome.scores, outcome.ranks) != (record.scores, record.ranks) or record.fault is not None:
        raise _wrong(record, f"recorded scores {record.scores}, ranks {record.ranks}; the rules say {outcome}")


def _check_forfeit(record: MatchRecord, game: Game[Any, Any], state: Any) -> tuple[Seat, ...]:
    """The seats that were asked when the match was forfeited, or would have been if all had been ready."""
    fault = record.fault
    if fault is None or record.termination not in FAULTS or record.scores is not None:
        raise _wrong(record, f"recorded as {record.termination} without a fault, or with scores")
    turn = game.turn(state)
    awaited = turn.seats if isinstance(turn, Decision) else ()
    if record.steps and fault.seat not in awaited:
        raise _wrong(record, f"recorded as a forfeit of seat {fault.seat}, which did not have to act")
    expected = tuple(len(record.seats) - 1 if seat == fault.seat else 0 for seat in range(len(record.seats)))
    if record.ranks != expected or fault.seat not in range(len(record.seats)):
        raise _wrong(record, f"recorded ranks {record.ranks} after a forfeit of seat {fault.seat}")
    return awaited


def _wrong(record: MatchRecord, what: str) -> CheckFailed:
    return CheckFailed(f"{record.match}: {what}")


def _shown(step: Step) -> str:
    """The step as JSON, as much of it as a message can hold."""
    text = msgspec.json.encode(step).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
