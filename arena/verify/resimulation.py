"""Re-simulation of a recorded match: it finds results that cannot be, and measures how machines differ.

Rule: results must be equal, to the last bit, only where the fingerprint is that of the record. Elsewhere they are
compared too, and a difference is no problem. Each simulation starts from the recorded state, so none spoils the next.
"""

import math
from typing import Any, Final, Self

import msgspec
from msgspec import UNSET

from arena.errors import ArenaError, IllegalAction, SpecError
from arena.games import load_game
from arena.games.api import Json, Seat, Simulator, simulator_of
from arena.match.record import ActionStep, MatchRecord, SimulationStep, Step
from arena.match.replay import ReplayStep, replay

_SHOWN: Final = 16
"""The characters shown of a fingerprint's value: the beginning identifies a hash."""


class Difference(msgspec.Struct, frozen=True):
    """A step with another result here: the sentence, and the distance of its numbers (inf: other events)."""

    text: str
    apart: float


class ResimulationResult(msgspec.Struct, frozen=True):
    """The simulations of one match made again, or of several matches on the same terms.

    `terms`: the differences between this machine and the record's, empty without any. `made`: the number of
    simulations, `equal`: of those with the recorded result. `farthest`: the greatest difference. `why_not`: the reason
    why none could be made here.
    """

    terms: str
    made: int
    equal: int
    farthest: Difference | None
    why_not: str = ""

    def __add__(self, other: Self) -> "ResimulationResult":
        differences = [part.farthest for part in (self, other) if part.farthest is not None]
        farthest = max(differences, key=lambda difference: difference.apart, default=None)
        return ResimulationResult(self.terms, self.made + other.made, self.equal + other.equal, farthest, self.why_not)


def resimulate(record: MatchRecord) -> tuple[ResimulationResult | None, list[str]]:
    """Make all simulations of a record again; return their results and the problems, in sentences.

    The results are None if the game has no simulator, and only a reason if its engine is missing here. With another
    fingerprint than the recorded one differences are no problems. CheckFailed if the record cannot be replayed.
    """
    simulator = simulator_of(load_game(record.game))
    if simulator is None:
        return None, []
    try:
        here = simulator.fingerprint()
    except SpecError as error:
        return ResimulationResult("", 0, 0, None, str(error)), []
    recorded = {} if record.simulator is UNSET else record.simulator
    terms = _fingerprint_differences(recorded, here)
    made = equal = 0
    differences = []
    for number, moment in enumerate(replay(record), start=1):
        difference = _compare_step(simulator, moment)
        if isinstance(moment.step, SimulationStep):
            made += 1
            equal += difference is None
        if difference is not None:
            differences.append(Difference(f"step {number}, {difference.text}", difference.apart))
    farthest = max(differences, key=lambda difference: difference.apart, default=None)
    wrong = [] if terms else [difference.text for difference in differences]
    if recorded.keys() != here.keys():
        wrong.insert(0, f"the fingerprint tells {_key_list(recorded)}; expected {_key_list(here)}")
    return ResimulationResult(terms, made, equal, farthest), wrong


def _compare_step(simulator: Simulator, moment: ReplayStep) -> Difference | None:
    """Check an action, or simulate again; return what is impossible or different here, None if nothing is.

    A forged state that no engine can take is a difference, too.
    """
    step = moment.step
    try:
        if isinstance(step, ActionStep) and step.is_own:
            simulator.require(moment.before, Seat(step.seat), moment.action)
        elif isinstance(step, SimulationStep):
            return _simulate_again(simulator, moment.before, step)
    except IllegalAction as refusal:
        return Difference(f"{_describe_step(step)}: not possible here: {refusal.message}", math.inf)
    except (ArenaError, ArithmeticError, ValueError) as error:
        return Difference(f"{_describe_step(step)}: cannot be simulated here: {error}", math.inf)
    return None


def _simulate_again(simulator: Simulator, before: Any, step: SimulationStep) -> Difference | None:
    """Simulate a step again from the recorded state; return the difference of the results, None if equal."""
    again = simulator.simulate(before)
    if _canonical_bytes(again) == _canonical_bytes(step.result):
        return None
    distance = simulator.distance(before, step.result, again) or "in its last digits"
    return Difference(
        f"{_describe_step(step)}: comes out otherwise here: {distance}", _greatest_difference(step.result, again)
    )


def _describe_step(step: Step) -> str:
    """Return the seat of an action, or the key of a simulation, as text."""
    return f"seat {step.seat}" if isinstance(step, ActionStep) else step.key


def _fingerprint_differences(recorded: dict[str, str], here: dict[str, str]) -> str:
    """Describe where two fingerprints differ, such as `engine mujoco 4.0.0 (here mujoco 4.0.1)`."""
    return ", ".join(
        f"{name} {recorded.get(name, 'not told')[:_SHOWN]} (here {here.get(name, 'not told')[:_SHOWN]})"
        for name in sorted({*recorded, *here})
        if recorded.get(name) != here.get(name)
    )


def _key_list(fingerprint: dict[str, str]) -> str:
    """Return the names of a fingerprint's values as text."""
    return ", ".join(sorted(fingerprint)) or "nothing"


def _canonical_bytes(result: Json) -> bytes:
    """Encode a result as JSON, in the same bytes for equal results."""
    return msgspec.json.encode(result, order="deterministic")


def _greatest_difference(first: Any, second: Any) -> float:
    """Return the greatest difference between numbers at the same place; inf if anything else differs."""
    first, second = msgspec.to_builtins(first), msgspec.to_builtins(second)
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return max((_greatest_difference(first[key], second[key]) for key in first), default=0.0)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple) and len(first) == len(second):
        return max(map(_greatest_difference, first, second), default=0.0)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in (first, second)):
        return float(abs(first - second))
    return 0.0 if first == second else math.inf
