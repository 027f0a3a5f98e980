"""A match played again from its record alone: to be shown, and to be checked.

Rule: nothing in a record is believed. Each action must be legal in its state, each draw must be that of the seed, and
the outcome must be that of the rules. Only the result of a simulation is taken as it was recorded, so that a replay is
quick everywhere and needs no physics; `arena.verify.resimulation` makes it again.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import UNSET

from arena.errors import ArenaError, BotFault, CheckFailed, SpecError
from arena.games import is_plugin, load_game, plugin_package
from arena.games.api import Chance, Decision, Game, Over, Seat, Simulation, Turn, fault_policy_of, simulator_of
from arena.games.luck import draw
from arena.match.record import (
    FAULTS,
    LAST_TIMEOUT,
    PARDONABLE,
    REFUSALS_KEPT,
    ActionStep,
    ChanceStep,
    MatchRecord,
    SeatRecord,
    SimulationStep,
    Step,
    Termination,
    sums_by_request,
)

_SHOWN: Final = 400
"""Characters of a step in a message."""
_REFUSALS: Final = 2
"""Refused answers to one request, after which the fallback action is played."""


class ReplayStep(msgspec.Struct, frozen=True):
    """A step of a replay: the state before it, the step, the action as the game knows it, and the state after it.

    `action` is None for chance and simulations. The steps of a decision of several seats share both states; only the
    last of them `is_complete`, for nothing happens before all have decided.
    """

    before: Any
    step: Step
    action: Any
    after: Any
    is_complete: bool = True


def replay(record: MatchRecord, game: Game[Any, Any] | None = None) -> Iterator[ReplayStep]:
    """Yield the steps of a match, each checked first. CheckFailed names the first that cannot be.

    `game` stands in for the one that the record names.
    """
    if game is None and (other := other_rules(record)):
        raise CheckFailed(f"{record.match}: {other}")
    yield from _Replay(record, game or load_game(record.game)).steps()


def state_before(record: MatchRecord, step: int) -> Any:
    """Return the state before a step, counted from 1; one more than there are gives the state at the end.

    CheckFailed if a step before it contradicts the rules; later ones are not checked.
    """
    state = load_game(record.game).setup(record.options, len(record.seats))
    for moment in islice(replay(record), step - 1):
        state = moment.after if moment.is_complete else moment.before
    return state


def other_rules(record: MatchRecord) -> str:
    """Return one sentence if the match was played by rules that this arena cannot replay; empty if it can."""
    try:
        here = load_game(record.game).rules_version
    except SpecError as error:
        reason = f": {error}" if is_plugin(record.game) else ""
        return f"played by rules {record.rules} of {record.game}, a game that this arena does not have{reason}"
    if record.rules == here:
        return ""
    return f"played by rules {record.rules} of {record.game}; this arena plays rules {here} and cannot replay it"


def other_package(record: MatchRecord) -> str:
    """Return a sentence if the game came from another package than here, its rules of the same version; else empty."""
    here = plugin_package(record.game) or UNSET
    if record.package == here:
        return ""
    return f"played by the package {record.package or 'of arena'}; here it is {here or 'of arena'}"


def problems(record: MatchRecord, game: Game[Any, Any] | None = None) -> list[str]:
    """Replay a record; return its first problem as a sentence, none if the replay gives the same match."""
    try:
        for _ in replay(record, game):
            pass
    except ArenaError as error:
        return [str(error)]
    return []


class _Replay:
    """A replay of one record by its game."""

    def __init__(self, record: MatchRecord, game: Game[Any, Any]) -> None:
        self._record = record
        self._game = game
        self._simulator = simulator_of(self._game)
        self._fault_policy = fault_policy_of(self._game)

    def steps(self) -> Iterator[ReplayStep]:
        """Yield each step once it is checked, then check the end. Raises CheckFailed."""
        state, steps = self._game.setup(self._record.options, len(self._record.seats)), self._record.steps
        position = 0
        while position < len(steps):
            turn = self._game.turn(state)
            if isinstance(turn, Decision):
                played = self._replay_decision(state, turn.seats, steps[position : position + len(turn.seats)])
            else:
                played = [self._replay_chance(state, turn, steps[position])]
            yield from played
            position += len(played)
            state = played[-1].after
        self._check_end(state)

    def _replay_chance(self, state: Any, turn: Turn, step: Step) -> ReplayStep:
        """Replay a draw, or a simulation with the recorded result. CheckFailed if it cannot come from this state."""
        match turn:
            case Chance():
                drawn = draw(self._record.seed, turn)
                expected = ChanceStep(key=turn.key, outcome=drawn)
                if step != expected:
                    raise self._failure(f"recorded {_encode_step(step)}, the seed gives {_encode_step(expected)}")
                return ReplayStep(before=state, step=expected, action=None, after=self._game.resolve(state, drawn))
            case Simulation(key=key) if self._simulator is not None:
                if not isinstance(step, SimulationStep) or step.key != key:
                    raise self._failure(f"recorded {_encode_step(step)} where the simulation {key} was due")
                try:
                    after = self._simulator.apply_result(state, step.result)
                except ValueError as error:
                    raise self._failure(f"recorded {_encode_step(step)}, which cannot be: {error}") from None
                return ReplayStep(before=state, step=step, action=None, after=after)
        raise self._failure(f"recorded {_encode_step(step)} after the end of the game")

    def _replay_decision(self, state: Any, seats: tuple[Seat, ...], steps: tuple[Step, ...]) -> list[ReplayStep]:
        """Replay a decision; return a step for each seat, with the same position before and after all.

        CheckFailed if a step is missing or is not legal.
        """
        if len(steps) < len(seats):
            raise self._failure("the record ends in the middle of a decision of several seats")
        actions = {seat: self._parse_action(state, seat, step) for seat, step in zip(seats, steps, strict=True)}
        after = self._game.apply(state, actions)
        return [
            ReplayStep(before=state, step=step, action=action, after=after, is_complete=step is steps[-1])
            for step, action in zip(steps, actions.values(), strict=True)
        ]

    def _parse_action(self, state: Any, seat: Seat, step: Step) -> Any:
        """Return the recorded action as the game knows it. CheckFailed if the seat could not play it."""
        if not isinstance(step, ActionStep) or step.seat != seat:
            raise self._failure(f"recorded {_encode_step(step)} where seat {seat} had to act")
        try:
            # a record that was never stored holds actions of the game itself, and `parse` judges JSON
            action = self._game.parse(state, seat, msgspec.to_builtins(step.action))
        except BotFault as fault:
            raise self._failure(f"recorded {_encode_step(step)}, but {fault.message}") from None
        legal = self._game.legal(state, seat)
        if step.forced != (legal is not None and len(legal) == 1):
            raise self._failure(
                f"recorded {_encode_step(step)} with forced={step.forced}, with {len(legal or ())} legal actions"
            )
        if step.fallback_for:
            self._check_fallback(state, step, action)
        return action

    def _check_fallback(self, state: Any, step: ActionStep, action: Any) -> None:
        """Check that the fault policy gives this action, for a pardonable fault of a seat that was asked."""
        policy = self._fault_policy
        if policy is None or step.fallback_for not in PARDONABLE or step.forced:
            raise self._failure(f"recorded {_encode_step(step)}, for which nothing stands in")
        fallback = policy.fallback_action(state, Seat(step.seat))
        if action != fallback:
            raise self._failure(
                f"recorded {_encode_step(step)}, but {msgspec.json.encode(fallback).decode()} stands in"
            )

    def _check_end(self, state: Any) -> None:
        """Check the end of the record against the state after its last step. Raises CheckFailed."""
        record, awaited = self._record, tuple[Seat, ...]()
        if (record.simulator is UNSET) != (self._simulator is None):
            raise self._failure(f"recorded as simulated by {record.simulator or 'nobody knows what'}")
        if record.termination is Termination.NORMAL:
            self._check_outcome(state)
        else:
            awaited = self._check_forfeit(state)
        problem = answer_count_error(record, awaited, has_policy=self._fault_policy is not None)
        if problem:
            raise self._failure(problem)

    def _check_outcome(self, state: Any) -> None:
        """Check that the game is over, with the recorded scores and ranks. Raises CheckFailed."""
        record = self._record
        if not isinstance(self._game.turn(state), Over):
            raise self._failure("recorded as finished, but the game goes on")
        outcome = self._game.outcome(state)
        if (outcome.scores, outcome.ranks) != (record.scores, record.ranks) or record.fault is not None:
            raise self._failure(f"recorded scores {record.scores}, ranks {record.ranks}; the rules say {outcome}")

    def _check_forfeit(self, state: Any) -> tuple[Seat, ...]:
        """Check a forfeit; return the seats that were asked then, or would have been if all had started.

        Raises CheckFailed.
        """
        record = self._record
        fault = record.fault
        if fault is None or record.termination not in FAULTS or record.scores is not None:
            raise self._failure(f"recorded as {record.termination} without a fault, or with scores")
        turn = self._game.turn(state)
        awaited = turn.seats if isinstance(turn, Decision) else ()
        if record.steps and fault.seat not in awaited:
            raise self._failure(f"recorded as a forfeit of seat {fault.seat}, which did not have to act")
        expected = tuple(len(record.seats) - 1 if seat == fault.seat else 0 for seat in range(len(record.seats)))
        if record.ranks != expected or fault.seat not in range(len(record.seats)):
            raise self._failure(f"recorded ranks {record.ranks} after a forfeit of seat {fault.seat}")
        return awaited

    def _failure(self, problem: str) -> CheckFailed:
        """Return the error for a problem of this record."""
        return CheckFailed(f"{self._record.match}: {problem}")


def _encode_step(step: Step) -> str:
    """Return a step as JSON for an error message, its end cut off if it is long."""
    text = msgspec.json.encode(step).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def answer_count_error(record: MatchRecord, awaited: Collection[int], *, has_policy: bool) -> str:
    """Return the first count of answers, faults, refusals or requests that contradicts the steps; empty if all fit.

    `awaited` are the seats that had to act at a forfeit. Each answer is a step of its seat's own, a fault that was
    pardoned, or the one that ended the match. In a decision of several seats all answer before anything happens, so an
    answer may be lost with a match that another seat forfeits.
    """
    for seat, entry in enumerate(record.seats):
        faults = {} if entry.faults is UNSET else entry.faults
        if problem := _seat_error(record, seat, faults, is_awaited=seat in awaited, has_policy=has_policy):
            return problem
        refusals = () if entry.refusals is UNSET else entry.refusals
        if len(refusals) > REFUSALS_KEPT or Counter(refusal.code for refusal in refusals) - Counter(faults):
            return f"recorded {len(refusals)} refusals of seat {seat} with faults {faults}"
        if problem := _request_error(entry):
            return f"recorded {problem} of seat {seat}"
    return ""


def _request_error(entry: SeatRecord) -> str:
    """Return how the sums of a seat contradict its requests; empty if they fit, and for a human."""
    times = entry.requests
    if times is UNSET:
        return ""
    columns = (times.cpu_us, times.wall_us, times.idle_us or (0,) * entry.moves, times.stderr or (0,) * entry.moves)
    if any(len(values) != entry.moves or min(values, default=0) < 0 for values in columns):
        return f"{[len(values) for values in columns]} times and bytes by request for {entry.moves} answers"
    sums = sums_by_request(times, entry.decides)
    recorded = {name: getattr(entry, name) for name in sums}
    return "" if recorded == sums else f"{recorded}, and by request {sums}"


def _seat_error(record: MatchRecord, seat: int, faults: dict[str, int], *, is_awaited: bool, has_policy: bool) -> str:
    """Return how answers of a seat contradict its steps, or its faults the actions that stood in; else nothing."""
    if faults and (not has_policy or not set(faults) <= set(PARDONABLE) or min(faults.values()) < 1):
        return f"recorded faults {faults} of seat {seat}, which nobody pardons"
    steps = [step for step in record.steps if isinstance(step, ActionStep) and step.seat == seat and not step.forced]
    stood_in = Counter(step.fallback_for for step in steps if step.fallback_for)
    chosen = len(steps) - stood_in.total()
    is_open = is_awaited or (record.fault is not None and record.fault.seat == seat)
    pardoned = sum(faults.values())
    if not 0 <= record.seats[seat].moves - chosen - pardoned <= is_open:
        counted = f"{chosen} times" + (f", with {pardoned} faults" if has_policy else "")
        return f"recorded {record.seats[seat].moves} answers of seat {seat}, which acted {counted}"
    late = faults.get(Termination.TIMEOUT, 0)
    if late >= LAST_TIMEOUT:
        return f"recorded {late} pardoned timeouts of seat {seat}; number {LAST_TIMEOUT} forfeits the match"
    refused, given_up = pardoned - late, stood_in.total() - stood_in[Termination.TIMEOUT]
    least, most = _REFUSALS * given_up, (_REFUSALS - 1) * given_up + len(steps) + _REFUSALS * is_open
    is_late_counted = 0 <= late - stood_in[Termination.TIMEOUT] <= is_open
    if not is_late_counted or not least <= refused <= most or stood_in - Counter(faults):
        return f"recorded faults {faults} of seat {seat}, for which {dict(stood_in)} stood in"
    return ""
