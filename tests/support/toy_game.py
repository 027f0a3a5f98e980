"""The toy game of the tests, with all that few games need: many seats, simultaneous decisions, actions that cannot be
listed, public chance, a simulator with look-ahead, and a fault policy.

In each round all seats lean out of a float at once and in secret, then one trims the sail, a wave comes, and the float
tips. A seat that leans out far on the low side gets wet, scores nothing and holds on in the next round; the others
score the millimetres of their lean.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, Final, TypeVar, cast

import msgspec

from arena import validation
from arena.errors import IllegalAction, MalformedReply, SpecError
from arena.games.api import (
    ENDLESS,
    Chance,
    Decision,
    Dice,
    Json,
    Number,
    Outcome,
    Over,
    Randomness,
    Seat,
    Simulation,
    Turn,
    ranks_by_score,
)
from support.plugin_packages import bundled

NAME: Final = "toy"
FAR_MM: Final = 100
SAFE_MM: Final = 50
ROTTEN_MM: Final = 13
"""A plank that the rules know nothing of: only nature refuses it."""


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`simulations`: how often a bot may look ahead in each request."""

    rounds: int = 2
    simulations: int = 3


class Lean(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Lean out, to the left if `mm` is negative."""

    mm: Number


class Trim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Haul the sail that far in."""

    sail: Number


K = TypeVar("K")
HOLD_ON: Final = Lean(0)
TRIMS: Final = tuple(map(Trim, range(3)))


class State(msgspec.Struct, frozen=True):
    """`round` counts from 1. `leans` are empty until all have leaned, `sail` and `wave` None until they are known."""

    options: Options
    scores: tuple[int, ...]
    wet: tuple[int, ...] = ()
    round: int = 1
    leans: tuple[int, ...] = ()
    sail: int | None = None
    wave: int | None = None

    @property
    def steersman(self) -> Seat:
        return Seat((self.round - 1) % len(self.scores))


class ToyFaultPolicy:
    """See arena.games.api.FaultPolicy."""

    def fallback_action(self, state: State, _seat: Seat) -> Lean | Trim:
        return TRIMS[0] if state.leans else HOLD_ON


class ToySimulator:
    """See arena.games.api.Simulator. `asked` are the questions of bots, in order.

    Another `engine` gives results that differ by `error`; with `missing` there is none, with `refuses` no lean is
    possible.
    """

    def __init__(self, engine: str = "1.0", error: int = 0, missing: str = "", refuses: str = "") -> None:
        self.asked: list[tuple[Seat, Mapping[str, Json]]] = []
        self._engine = engine
        self._error = error
        self._missing = missing
        self._refuses = refuses

    def fingerprint(self) -> dict[str, str]:
        self._require_engine()
        return {"engine": self._engine, "platform": "test"}

    def require(self, _state: State, _seat: Seat, action: Lean | Trim) -> None:
        self._require_engine()
        if isinstance(action, Lean) and self._refuses:
            raise IllegalAction(self._refuses, reason="no_room")
        if isinstance(action, Lean) and action.mm == ROTTEN_MM:
            raise IllegalAction(f"the plank at {ROTTEN_MM} mm is rotten", hint="try another", reason="rotten")

    def simulate(self, state: State) -> Json:
        self._require_engine()
        tilt = sum(state.leans) + (state.sail or 0) * (state.wave or 0) + self._error
        wet = [seat for seat, mm in enumerate(state.leans) if mm * tilt > 0 and abs(mm) > SAFE_MM]
        return {"tilt": tilt, "wet": wet}

    def apply_result(self, state: State, result: Json) -> State:
        if not isinstance(result, dict) or not set(result.get("wet", ["?"])) <= set(range(len(state.scores))):
            raise ValueError("nobody sits where somebody got wet")
        wet = tuple(result["wet"])
        scores = tuple(
            score + (0 if seat in wet else abs(mm))
            for seat, (score, mm) in enumerate(zip(state.scores, state.leans, strict=True))
        )
        return State(options=state.options, scores=scores, wet=wet, round=state.round + 1)

    def describe_result(self, _before: State, result: Json, _after: State) -> str:
        return f"the float tips by {result['tilt']}"

    def budget(self, state: State) -> int:
        return state.options.simulations

    def what_if(self, state: State, seat: Seat, what: Mapping[str, Json], _left: int = ENDLESS) -> dict[str, Json]:
        """Where the float would tip if the seat were alone on it."""
        self.asked.append((seat, what))
        lean = _convert(what, Lean)
        _require_reach(lean)
        self.require(state, seat, lean)
        return {"tilt": lean.mm}

    def distance(self, _state: State, one: Json, other: Json) -> str:
        return "" if one == other else f"tilted by {abs(one['tilt'] - other['tilt'])} more or less"

    def _require_engine(self) -> None:
        if self._missing:
            raise SpecError(self._missing)


class ToyGame:
    """The game as `arena.games.api.Game` asks for it."""

    name: ClassVar[str] = NAME
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2, 3, 4)

    def __init__(self) -> None:
        self.fault_policy: ToyFaultPolicy | None = ToyFaultPolicy()
        self.simulator = ToySimulator()

    def game_info(self, _options: Mapping[str, Json], seats: int) -> dict[str, Json]:
        return {"far_mm": FAR_MM, "seats": seats}

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        if seats not in self.seat_counts:
            raise SpecError(f"a float carries 2 to 4, not {seats}")
        read = validation.read_struct(dict(options), Options, place="options of toy")
        return State(options=read, scores=(0,) * seats)

    def turn(self, state: State) -> Turn:
        if state.round > state.options.rounds:
            return Over()
        if not state.leans:
            return Decision(tuple(map(Seat, range(len(state.scores)))))
        if state.sail is None:
            return Decision((state.steersman,))
        if state.wave is None:
            return Chance(f"wave/{state.round}", Dice(1))
        return Simulation(f"tip/{state.round}")

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        return {
            "you": seat,
            "round": state.round,
            "phase": "trim" if state.leans else "lean",
            "scores": list(state.scores),
            "leans": list(state.leans),
        }

    def legal(self, state: State, seat: Seat) -> tuple[Lean | Trim, ...] | None:
        if state.leans:
            return TRIMS
        return (HOLD_ON,) if seat in state.wet else None

    def parse(self, state: State, seat: Seat, raw: Json) -> Lean | Trim:
        if state.leans:
            trim = _convert(raw, Trim)
            if trim not in TRIMS:
                raise IllegalAction(
                    f"the sail goes from 0 to {len(TRIMS) - 1}, not to {trim.sail}", reason="no_such_sail"
                )
            return trim
        lean = _convert(raw, Lean)
        _require_reach(lean)
        if seat in state.wet and lean != HOLD_ON:
            raise IllegalAction("who is wet holds on", reason="wet")
        return lean

    def apply(self, state: State, actions: Mapping[Seat, Lean | Trim]) -> State:
        if state.leans:
            (trim,) = actions.values()
            return msgspec.structs.replace(state, sail=cast(Trim, trim).sail)
        leans = tuple(cast(Lean, actions[Seat(seat)]).mm for seat in range(len(state.scores)))
        return msgspec.structs.replace(state, leans=leans)

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        return msgspec.structs.replace(state, wave=drawn[0])

    def outcome(self, state: State) -> Outcome:
        return Outcome(scores=state.scores, ranks=ranks_by_score(state.scores))

    def sample(self, state: State, seat: Seat, rng: Randomness) -> Lean | Trim:
        return cast(Lean | Trim, rng.choice(self.legal(state, seat) or [Lean(mm) for mm in range(-FAR_MM, FAR_MM + 1)]))

    def describe(self, state: State, names: Sequence[str] = ()) -> str:  # noqa: ARG002 - it names nobody
        return f"round {state.round}, scores {' '.join(map(str, state.scores))}"

    def picture(self, state: State) -> str:
        """Shows leans and scores, so that neither sail nor wave changes it."""
        return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{state.leans} {state.scores}</text></svg>'


GAME: Final = ToyGame()


@contextmanager
def on_offer() -> Iterator[None]:
    """Within, the toy game is one of arena's, which a record can name."""
    with bundled(NAME, f"{__name__}:GAME"):
        yield


def _convert(raw: Json, kind: type[K]) -> K:
    try:
        return msgspec.convert(raw, type=kind)
    except msgspec.ValidationError as error:
        raise MalformedReply(f"not an action of the toy game: {error}", hint='{"mm": 20} or {"sail": 1}') from None


def _require_reach(lean: Lean) -> None:
    if not -FAR_MM <= lean.mm <= FAR_MM:
        raise IllegalAction(f"nobody leans out {lean.mm} mm", hint=f"{FAR_MM} at most", reason="too_far")
