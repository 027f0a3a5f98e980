"""The simulations of a recorded match made again: to find one that cannot have been, or to tell how machines differ.

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
"""Characters of a value of a fingerprint: a hash is told by its beginning."""


class Difference(msgspec.Struct, frozen=True):
    """A step that comes out otherwise here: the sentence, and how far its numbers are apart (inf: other events)."""

    text: str
    apart: float


class Resimulated(msgspec.Struct, frozen=True):
    """The results of the simulations of one match, or of several that were made on the same terms.

    `terms` tells in which respects this machine is another than that of the record; empty if in none. `made` counts
    simulations, `equal` those that came out as recorded. `farthest` is the greatest difference. `why_not` tells why
    none could be made here.
    """

    terms: str
    made: int
    equal: int
    farthest: Difference | None
    why_not: str = ""

    def __add__(self, other: Self) -> "Resimulated":
        found = [one.farthest for one in (self, other) if one.farthest is not None]
        farthest = max(found, key=lambda one: one.apart, default=None)
        return Resimulated(self.terms, self.made + other.made, self.equal + other.equal, farthest, self.why_not)


def resimulate(record: MatchRecord) -> tuple[Resimulated | None, list[str]]:
    """Make all simulations of a record again; with them the problems, in sentences. None without a simulator.

    CheckFailed if the record cannot be replayed.
    """
    simulator = simulator_of(load_game(record.game))
    if simulator is None:
        return None, []
    try:
        here = simulator.fingerprint()
    except SpecError as error:
        return Resimulated("", 0, 0, None, str(error)), []
    recorded = {} if record.simulator is UNSET else record.simulator
    terms = _terms(recorded, here)
    made = equal = 0
    differences = []
    for number, moment in enumerate(replay(record), start=1):
        difference = _difference(simulator, moment)
        if isinstance(moment.step, SimulationStep):
            made += 1
            equal += difference is None
        if difference is not None:
            differences.append(Difference(f"step {number}, {difference.text}", difference.apart))
    farthest = max(differences, key=lambda one: one.apart, default=None)
    wrong = [] if terms else [each.text for each in differences]
    if recorded.keys() != here.keys():
        wrong.insert(0, f"the fingerprint tells {_keys(recorded)}; expected {_keys(here)}")
    return Resimulated(terms, made, equal, farthest), wrong


def _difference(simulator: Simulator, moment: ReplayStep) -> Difference | None:
    """The difference of a step that comes out otherwise here. A forged state may be one that no engine was made for."""
    step = moment.step
    try:
        if isinstance(step, ActionStep) and step.is_own:
            simulator.require(moment.before, Seat(step.seat), moment.action)
        elif isinstance(step, SimulationStep):
            return _compared(simulator, moment.before, step)
    except IllegalAction as refusal:
        return Difference(f"{_named(step)}: not possible here: {refusal.message}", math.inf)
    except (ArenaError, ArithmeticError, ValueError) as error:
        return Difference(f"{_named(step)}: cannot be simulated here: {error}", math.inf)
    return None


def _compared(simulator: Simulator, before: Any, step: SimulationStep) -> Difference | None:
    again = simulator.simulate(before)
    if _bytes(again) == _bytes(step.result):
        return None
    told = simulator.distance(before, step.result, again) or "in its last digits"
    return Difference(f"{_named(step)}: comes out otherwise here: {told}", _apart(step.result, again))


def _named(step: Step) -> str:
    return f"seat {step.seat}" if isinstance(step, ActionStep) else step.key


def _terms(recorded: dict[str, str], here: dict[str, str]) -> str:
    """`engine mujoco 4.0.0 (here mujoco 4.0.1)`: whatever of the two fingerprints is not the same."""
    return ", ".join(
        f"{name} {recorded.get(name, 'not told')[:_SHOWN]} (here {here.get(name, 'not told')[:_SHOWN]})"
        for name in sorted({*recorded, *here})
        if recorded.get(name) != here.get(name)
    )


def _keys(fingerprint: dict[str, str]) -> str:
    return ", ".join(sorted(fingerprint)) or "nothing"


def _bytes(result: Json) -> bytes:
    return msgspec.json.encode(result, order="deterministic")


def _apart(one: Any, other: Any) -> float:
    """The greatest difference between numbers at the same place; inf where anything else is not the same."""
    one, other = msgspec.to_builtins(one), msgspec.to_builtins(other)
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return max((_apart(one[key], other[key]) for key in one), default=0.0)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        return max(map(_apart, one, other), default=0.0)
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in (one, other)):
        return float(abs(one - other))
    return 0.0 if one == other else math.inf
