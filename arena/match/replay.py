"""A match played again from its record alone: for people who want to see it, and for whoever doubts it.

Rule: nothing in a record is believed. Each action must be legal where it stands, each draw must be what the seed gives,
and the outcome must be what the rules say.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from arena.errors import ArenaError, BotFault, CheckFailed
from arena.games import load_game
from arena.games.api import Chance, Decision, Game, Seat
from arena.games.luck import draw
from arena.match.record import FAULTS, Acted, Drawn, MatchRecord, Step, Termination


class Moment(msgspec.Struct, frozen=True):
    """A step of a replay: the state before it, the step, and the action as the game knows it (None for chance)."""

    before: Any
    step: Step
    action: Any
    after: Any


def replay(record: MatchRecord) -> Iterator[Moment]:
    """The moments of a match, each checked before it is given out. CheckFailed tells the first that cannot be."""
    game = load_game(record.game)
    if record.rules != game.rules_version:
        raise CheckFailed(
            f"{record.match}: played by rules {record.rules} of {game.name}, here are {game.rules_version}"
        )
    steps = list(record.steps)
    state = game.setup(record.options, len(record.seats))
    position = 0
    while position < len(steps):
        moments = _advance(record, game, state, steps[position:])
        yield from moments
        position += len(moments)
        state = moments[-1].after
    _check_end(record, game, state)
    _check_answers(record)


def problems(record: MatchRecord) -> list[str]:
    """What is wrong with a record, in sentences; empty if its replay gives the same match."""
    try:
        for _ in replay(record):
            pass
    except ArenaError as error:
        return [str(error)]
    return []


def _advance(record: MatchRecord, game: Game[Any, Any], state: Any, rest: list[Step]) -> list[Moment]:
    """The moments of one turn: a draw, or the action of each seat that decides."""
    turn = game.turn(state)
    if isinstance(turn, Chance):
        step = rest[0]
        drawn = draw(record.seed, turn)
        expected = Drawn(key=turn.key, outcome=drawn)
        if step != expected:
            raise _wrong(record, f"recorded {_shown(step)}, the seed gives {_shown(expected)}")
        return [Moment(before=state, step=expected, action=None, after=game.resolve(state, drawn))]
    if not isinstance(turn, Decision):
        raise _wrong(record, f"recorded {_shown(rest[0])} after the end of the game")
    if len(rest) < len(turn.seats):
        raise _wrong(record, "the record ends in the middle of a decision of several seats")
    steps = rest[: len(turn.seats)]
    actions = {seat: _action(record, game, state, seat, step) for seat, step in zip(turn.seats, steps, strict=True)}
    after = game.apply(state, actions)
    return [
        Moment(before=state, step=step, action=action, after=after)
        for step, action in zip(steps, actions.values(), strict=True)
    ]


def _action(record: MatchRecord, game: Game[Any, Any], state: Any, seat: Seat, step: Step) -> Any:
    if not isinstance(step, Acted) or step.seat != seat:
        raise _wrong(record, f"recorded {_shown(step)} where seat {seat} had to act")
    try:
        action = game.parse(state, seat, step.action)
    except BotFault as fault:
        raise _wrong(record, f"recorded {_shown(step)}, but {fault.message}") from None
    legal = game.legal(state, seat)
    if step.forced != (legal is not None and len(legal) == 1):
        raise _wrong(
            record, f"recorded {_shown(step)} with forced={step.forced}, with {len(legal or ())} legal actions"
        )
    return action


def _check_end(record: MatchRecord, game: Game[Any, Any], state: Any) -> None:
    if record.termination is Termination.NORMAL:
        if isinstance(game.turn(state), Decision | Chance):
            raise _wrong(record, "recorded as finished, but the game goes on")
        outcome = game.outcome(state)
        if (outcome.scores, outcome.ranks) != (record.scores, record.ranks) or record.fault is not None:
            raise _wrong(record, f"recorded scores {record.scores}, ranks {record.ranks}; the rules say {outcome}")
        return
    fault = record.fault
    if fault is None or record.termination not in FAULTS or record.scores is not None:
        raise _wrong(record, f"recorded as {record.termination} without a fault, or with scores")
    turn = game.turn(state)
    if record.steps and not (isinstance(turn, Decision) and fault.seat in turn.seats):
        raise _wrong(record, f"recorded as a forfeit of seat {fault.seat}, which did not have to act")
    expected = tuple(len(record.seats) - 1 if seat == fault.seat else 0 for seat in range(len(record.seats)))
    if record.ranks != expected or fault.seat not in range(len(record.seats)):
        raise _wrong(record, f"recorded ranks {record.ranks} after a forfeit of seat {fault.seat}")


def _check_answers(record: MatchRecord) -> None:
    """Each seat answered as often as it acted unforced; the answer that was a fault is no step."""
    acted = Counter(step.seat for step in record.steps if isinstance(step, Acted) and not step.forced)
    for seat, entry in enumerate(record.seats):
        faults = 0 if record.fault is None or record.fault.seat != seat else 1
        if not acted[seat] <= entry.moves <= acted[seat] + faults:
            raise _wrong(record, f"recorded {entry.moves} answers of seat {seat}, which acted {acted[seat]} times")


def _wrong(record: MatchRecord, what: str) -> CheckFailed:
    return CheckFailed(f"{record.match}: {what}")


def _shown(step: Step) -> str:
    return msgspec.json.encode(step).decode()
