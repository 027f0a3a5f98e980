"""Raft: a small game with everything that few games have, for tests of records and of what is made of them.

All at once lay a stone of weight 1 to 3 down, hidden from each other; then each in turn loads one of any weight up to
9.9, which nobody can list. A die stirs the water, and nature says how deep the raft lies. Whoever sinks it loses.
"""

# ruff: noqa: ARG002 - the signatures of Game and Simulator

from collections.abc import Mapping
from typing import Any, ClassVar, Final, cast

import msgspec
from msgspec import UNSET

from arena.errors import IllegalAction, MalformedReply, SpecError
from arena.games.api import (
    Chance,
    Decision,
    Dice,
    Json,
    Outcome,
    Over,
    Randomness,
    Seat,
    Simulation,
    Simulator,
    Turn,
    ranks_by_score,
)
from arena.games.luck import derive, draw
from arena.match.record import (
    ActionStep,
    ChanceStep,
    Forfeit,
    MatchRecord,
    SeatRecord,
    SimulationStep,
    Step,
    Termination,
)
from arena.protocol.messages import ClockTerms

NAME: Final = "raft"
SEED: Final = derive("raft")
CLOCK: Final = ClockTerms(decides="cpu", move_ms=100.0, bank_ms=1000.0, wall_ms=3200.0)
MOST: Final = 9.9


class Stone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Load a stone."""

    weight: float

    def __str__(self) -> str:
        return f"loads {self.weight:g}"


class State(msgspec.Struct, frozen=True):
    """Depth in mm, the first stones by seat once all lie, loads by seat so far, and what waits for die and nature."""

    seats: int
    depth: float = 0.0
    first: tuple[float, ...] = ()
    loads: tuple[float, ...] = ()
    pending: float | None = None
    stirred: int = 0
    sunk_by: int | None = None


class FaultPolicy:
    """Something stands in: the lightest stone."""

    def fallback_action(self, state: State, seat: Seat) -> Stone:
        return Stone(weight=1.0)


class Water:
    """Nature. Another `engine` gives depths that differ by `error`; one that is not installed gives none."""

    def __init__(self, engine: str = "1.0", error: float = 0.0, missing: str = "", refuses: str = "") -> None:
        self._engine = engine
        self._error = error
        self._missing = missing
        self._refuses = refuses

    def fingerprint(self) -> dict[str, str]:
        self._insist_on_engine()
        return {"engine": self._engine, "platform": "test"}

    def require(self, state: State, seat: Seat, action: Stone) -> None:
        self._insist_on_engine()
        if self._refuses and state.first:
            raise IllegalAction(self._refuses, reason="no_room")

    def simulate(self, state: State) -> Json:
        self._insist_on_engine()
        depth = round(state.depth + (state.pending or 0.0) + state.stirred / 100 + self._error, 5)
        return {"depth": depth, "sinks": depth > 30.0}

    def apply_result(self, state: State, result: Json) -> State:
        if not isinstance(result, dict) or set(result) != {"depth", "sinks"} or result["depth"] < state.depth:
            raise ValueError("a raft does not rise under a stone")
        loads = (*state.loads, state.pending or 0.0)
        sunk_by = len(state.loads) if result["sinks"] else None
        changed = {"depth": result["depth"], "loads": loads, "pending": None, "stirred": 0, "sunk_by": sunk_by}
        return msgspec.structs.replace(state, **changed)

    def tell(self, before: State, result: Json, after: State) -> str:
        return f"the raft lies {result['depth']:.2f} mm deep{' and sinks' if result['sinks'] else ''}"

    def budget(self, state: State) -> int:
        return 0

    def what_if(self, state: State, seat: Seat, what: Mapping[str, Json]) -> dict[str, Json]:
        raise IllegalAction("nobody can imagine that")

    def distance(self, state: State, one: Json, other: Json) -> str:
        return "" if one == other else f"{abs(one['depth'] - other['depth']):.3f} mm apart"

    def _insist_on_engine(self) -> None:
        if self._missing:
            raise SpecError(self._missing)


class Raft:
    """The game as `arena.games.api.Game` asks for it."""

    name: ClassVar[str] = NAME
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2, 3, 4)

    def __init__(self) -> None:
        self.fault_policy = FaultPolicy()
        self.simulator: Simulator = Water()

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        if seats not in self.seat_counts or options:
            raise SpecError(f"raft is for 2 to 4 players without options, not {seats}")
        return State(seats=seats)

    def turn(self, state: State) -> Turn:
        if not state.first:
            return Decision(seats=tuple(Seat(seat) for seat in range(state.seats)))
        if state.pending is not None:
            number = len(state.loads)
            return Simulation(f"settle/{number}") if state.stirred else Chance(f"water/{number}", Dice(1))
        is_over = state.sunk_by is not None or len(state.loads) == state.seats
        return Over() if is_over else Decision(seats=(Seat(len(state.loads)),))

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        return {"you": seat, "depth": state.depth, "first": list(state.first)}

    def legal(self, state: State, seat: Seat) -> tuple[Stone, ...] | None:
        return None if state.first else tuple(Stone(weight=float(weight)) for weight in (1, 2, 3))

    def parse(self, state: State, seat: Seat, raw: Json) -> Stone:
        try:
            stone = msgspec.convert(raw, type=Stone)
        except msgspec.ValidationError as error:
            raise MalformedReply(f"not a stone: {error!s:.300}") from None
        if not 0 < stone.weight <= MOST:
            raise IllegalAction(f"no stone weighs {stone.weight:g}", reason="no_such_stone")
        return stone

    def apply(self, state: State, actions: Mapping[Seat, Stone]) -> State:
        if state.first:
            return msgspec.structs.replace(state, pending=next(iter(actions.values())).weight)
        first = tuple(actions[Seat(seat)].weight for seat in range(state.seats))
        return msgspec.structs.replace(state, first=first, depth=sum(first))

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        return msgspec.structs.replace(state, stirred=drawn[0])

    def outcome(self, state: State) -> Outcome:
        scores = tuple(0 if seat == state.sunk_by else 1 for seat in range(state.seats))
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def sample(self, state: State, seat: Seat, rng: Randomness) -> Stone:
        return cast(Stone, rng.choice([Stone(weight=float(weight)) for weight in (1, 2, 3)]))

    def describe(self, state: State) -> str:
        return f"depth {state.depth:.2f} mm under {len(state.loads)} loads"

    def picture(self, state: State) -> str:
        return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{state.depth:.2f} </text></svg>'


GAME: Any = Raft()


def voyage(
    *weights: float,
    seats: int = 3,
    faults: Mapping[int, dict[str, int]] | None = None,
    stand_ins: Mapping[int, str] | None = None,
    match: str = "m-0-0",
) -> MatchRecord:
    """A match in which the seats load these weights in turn (default: 2 each), with first stones of 1.

    `stand_ins` are codes by seat: a stone of 1 stood in for its load. `faults` are what each seat was pardoned.
    """
    state, steps = GAME.setup({}, seats), list[Step]()
    stood = stand_ins or {}
    while not isinstance(turn := GAME.turn(state), Over):
        if isinstance(turn, Decision):
            number = len(state.loads)
            load = 1.0 if not state.first or number in stood else weights[number] if number < len(weights) else 2.0
            code = stood.get(number, "") if state.first else ""
            stone = Stone(weight=load)
            steps += [ActionStep(seat=seat, action={"weight": load}, fallback_for=code) for seat in turn.seats]
            state = GAME.apply(state, dict.fromkeys(turn.seats, stone))
        elif isinstance(turn, Chance):
            drawn = draw(SEED, turn)
            steps.append(ChanceStep(key=turn.key, outcome=drawn))
            state = GAME.resolve(state, drawn)
        else:
            result = Water().simulate(state)
            steps.append(SimulationStep(key=turn.key, result=result))
            state = GAME.simulator.apply_result(state, result)
    outcome = GAME.outcome(state)
    return recorded(tuple(steps), seats, faults or {}, scores=outcome.scores, ranks=outcome.ranks, match=match)


def recorded(steps: tuple[Step, ...], seats: int, faults: Mapping[int, dict[str, int]], **changes: Any) -> MatchRecord:
    """A record of these steps; each seat answered as often as they and its faults say."""
    fields: dict[str, Any] = {
        "match": "m-0-0",
        "arena": "0",
        "game": NAME,
        "rules": "1",
        "options": {},
        "seed": SEED,
        "clock": CLOCK,
        "isolation": "none",
        "seats": tuple(_seat(seat, steps, faults.get(seat, {})) for seat in range(seats)),
        "steps": steps,
        "termination": Termination.NORMAL,
        "fault": None,
        "simulator": Water().fingerprint(),
    }
    return MatchRecord(**{**fields, **changes})


def forfeited(record: MatchRecord, steps: int, seat: int, moves: Mapping[int, int]) -> MatchRecord:
    """The same match, forfeited by that seat after so many steps; `moves` are its answers by seat."""
    ranks = tuple(len(record.seats) - 1 if place == seat else 0 for place in range(len(record.seats)))
    seats = tuple(
        msgspec.structs.replace(entry, moves=moves.get(place, entry.moves), faults=UNSET)
        for place, entry in enumerate(record.seats)
    )
    fault = Forfeit(seat=seat, message="gone", hint="", got="", stderr="", transcript=())
    changed = {"steps": record.steps[:steps], "seats": seats, "ranks": ranks, "scores": None, "fault": fault}
    return msgspec.structs.replace(record, termination=Termination.CRASH, **changed)


def _seat(seat: int, steps: tuple[Step, ...], faults: dict[str, int]) -> SeatRecord:
    own = sum(isinstance(step, ActionStep) and step.seat == seat and not step.fallback_for for step in steps)
    return SeatRecord(
        player=("ann", "bob", "cid", "dot")[seat],
        bot=f"{seat}" * 64,
        moves=own + sum(faults.values()),
        cpu_ms=1.0,
        wall_ms=1.0,
        slowest_ms=1.0,
        ignored={},
        faults=faults or UNSET,
    )
