"""The simulator of Riff Raff: from the position to the simulated ship and back, and the look-ahead of a bot.

Rule: the physics is imported here only, and only when it is needed, so that all else works without it. In a look-ahead
nothing is taken from the position but what every seat can see, and nothing reaches the physics that could not also lie
on a real table: known kinds, plain ids, numbers within limits.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Final, Protocol, cast

import msgspec

from arena.errors import HarnessFault, IllegalAction, MalformedReply, SpecError
from arena.games.api import ENDLESS, Json, Number, Seat, read_form
from arena.games.riffraff import standard, turns, view
from arena.games.riffraff.actions import AnyAction, Load, Pass, Reason
from arena.games.riffraff.drawing import captions
from arena.games.riffraff.legality import check_pose, read_load, require_within
from arena.games.riffraff.model import LOOK_S, LOOKS_MAX, RIG, STEP_S, STEPS_PER_LOOK, TILT_LIMIT_DEG
from arena.games.riffraff.scene import AREAS, CATCH_PLANE_M, Area, Kind
from arena.games.riffraff.state import Phase, State
from arena.games.riffraff.table import (
    Noise,
    Piece,
    PieceId,
    Result,
    ShipAtRest,
    canonical,
    canonical_pose,
    ship_after,
)
from arena.games.riffraff.turns import add_piece, load_under_way

UNIT: Final = 1000
"""The steps of a body in a unit of the budget for questions; a unit is about 10 ms of CPU time."""


class Physics(Protocol):
    """A simulated ship, or a scripted one in a test."""

    def require(self, table: ShipAtRest, area: Area, load: Load) -> None:
        """Raise IllegalAction if there is no room or no support for a load."""

    def require_apart(self, table: ShipAtRest) -> None:
        """Raise IllegalAction if pieces of the table stand in each other."""

    def place(
        self, table: ShipAtRest, area: Area, load: Load, noise: Noise, piece_id: PieceId, *, looks: int = LOOKS_MAX
    ) -> Result:
        """Return the result of a load that has room and support, under this noise, after `looks` looks at most."""

    def fingerprint(self) -> dict[str, str]:
        """Return all that results depend on besides the arguments."""

    def distance(self, one: Result, other: Result) -> str:
        """Describe how two results differ, for a person; an empty text if they are the same."""


class RiffRaffSimulator:
    """The simulator as `arena.games.api.Simulator` asks for it, of MuJoCo or of a physics that is handed in."""

    def __init__(self, physics: Physics | None = None) -> None:
        self._given = physics

    @property
    def _physics(self) -> Physics:
        """The physics that was handed in, or MuJoCo's, imported when it is first used."""
        if self._given is None:
            from arena.games.riffraff import physics  # noqa: PLC0415 - an extra, and a second of start-up

            self._given = cast(Physics, physics)
        return self._given

    def fingerprint(self) -> dict[str, str]:
        """Return the fingerprint of the physics."""
        return self._physics.fingerprint()

    def require(self, state: State, seat: Seat, action: AnyAction) -> None:  # noqa: ARG002 - the signature of Simulator
        """Raise IllegalAction for a load without room or support, and for a pass if a standard load has both."""
        if isinstance(action, Load):
            self._physics.require(state.table, state.active_area, action)
        if isinstance(action, Pass) and (load := self._standard_load(state)) is not None:
            raise IllegalAction(
                f"nobody may pass who can load a piece: {load.kind} {load.face} at u {load.u_mm:g}, v {load.v_mm:g},"
                f" yaw {load.yaw_deg:g} has room and support on area {state.area}",
                hint="the referee loads that one, without hands, for a player who gives no load",
                reason=Reason.MUST_LOAD,
            )

    def _standard_load(self, state: State) -> Load | None:
        """Return the first standard load that has room and support; None if none has."""
        return standard.find_load(state, lambda load: self._physics.require(state.table, state.active_area, load))

    def simulate(self, state: State) -> Json:
        """Return the result of the load under way as JSON values of `table.Result`; or the referee's load."""
        if state.phase is Phase.STANDARD:
            return msgspec.to_builtins(standard.StandardLoad(self._standard_load(state)))
        _, area, load = load_under_way(state)
        assert state.noise is not None, "the noise has been drawn"
        result = self._physics.place(state.table, area, load, state.noise, state.next_id)
        return msgspec.to_builtins(result)

    def frames(self, state: State, result: Json) -> Json:
        """Simulate again and return the movement to this result, as JSON values of `table.Motion`.

        None for the referee's search, and if the simulation cannot run here or comes out differently.
        """
        if state.phase is Phase.STANDARD:
            return None
        _, area, load = load_under_way(state)
        film = getattr(self._physics, "film", None)  # a scripted ship has no movement
        if film is None:
            return None
        try:
            again, motion = film(state.table, area, load, state.noise, state.next_id)
        except (SpecError, HarnessFault, IllegalAction):
            return None
        return msgspec.to_builtins(motion) if again == _decode_result(result) else None

    def apply_result(self, state: State, result: Json) -> State:
        """Return the state after the result; ValueError if it cannot have come from this state."""
        if state.phase is Phase.STANDARD:
            return turns.apply_standard_load(state, standard.read_result(state, result))
        return turns.apply_placement(state, _decode_result(result))

    def describe_result(self, before: State, result: Json, after: State) -> str:
        """Describe time and tilt until rest, and the fates of the pieces that fell."""
        if before.phase is Phase.STANDARD:
            return captions.standard_load(before, standard.read_result(before, result))
        loaded = after.last[-1]
        words = [captions.settling(loaded)]
        words += [f"{fall.id} {fall.kind} fell, {captions.fate(fall, f'seat {loaded.seat}')}" for fall in loaded.fallen]
        return "; ".join(words)

    def budget(self, state: State) -> int:
        """Return the option `simulations` while a bot is asked for anything, else 0; see `cost`."""
        return state.options.simulations if state.movers else 0

    def what_if(self, state: State, seat: Seat, what: Mapping[str, Json], left: int = ENDLESS) -> dict[str, Json]:
        """Return the result that a load would have, as far as the budget `left` goes.

        IllegalAction for a question that breaks the physics: its reason is DIVERGED, its `cost` all that is left.
        """
        question = parse_question(state, seat, what)
        table, area, load = question.table, question.area, question.load
        try:
            if table != state.table:
                self._physics.require_apart(table)
            self._physics.require(table, area, load)
            looks = affordable_looks(left, 2 + len(table.cargo))
            result = self._physics.place(table, area, load, question.noise, question.new, looks=looks)
        except HarnessFault as fault:
            refusal = IllegalAction(f"the simulation found no end to this: {fault}", reason=Reason.DIVERGED)
            refusal.cost = left
            raise refusal from fault
        return describe_answer(question, result)

    def cost(self, answer: Mapping[str, Json]) -> int:
        """Return steps times bodies (the ship and the pieces) in units of `UNIT`, rounded up."""
        bodies = 1 + len(answer["cargo"]) + len(answer["fallen"])
        t_s: float = answer["t_s"]
        return max(1, math.ceil(round(t_s / STEP_S) * bodies / UNIT))

    def distance(self, state: State, one: Json, other: Json) -> str:
        """Describe how two results differ, for a person; equal ones need no physics."""
        if one == other:
            return ""
        if state.phase is Phase.STANDARD:
            return standard.describe_difference(standard.read_result(state, one), standard.read_result(state, other))
        return self._physics.distance(_decode_result(one), _decode_result(other))


def _decode_result(result: Json) -> Result:
    """Return the result that JSON values describe; ValueError if they describe none."""
    try:
        return msgspec.convert(result, type=Result)
    except msgspec.ValidationError as error:
        raise ValueError(f"not the result of a placement: {error!s:.300}") from None


def affordable_looks(left: int, bodies: int) -> int:
    """Return the number of looks that costs at most `left` units, from 1 to LOOKS_MAX; `bodies` are ship and pieces."""
    return min(LOOKS_MAX, max(1, left * UNIT // (bodies * STEPS_PER_LOOK)))


PIECES_MAX: Final = 32
_WITHIN_MM: Final = 500.0
_NOISE_MAX: Final = Noise(50.0, 50.0, 180.0, 2.0, 2.0)
"""Far more than a storm brings."""
_TILT_MAX_DEG: Final = TILT_LIMIT_DEG + 5.0
_TIP_MAX_DEG: Final = RIG.yard_stop_deg + 5.0
"""The stops of gimbal and yards are a little soft."""
_UNIT_SLACK: Final = 0.001
_EXAMPLE: Final = (
    '{"area": 7, "load": {"kind": "crate", "face": "flat", "u_mm": 0, "v_mm": 55}, "noise": [1, 0, 0, 0, 0]}'
)


class ShipTilt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tilt of the ship, as in the view."""

    roll_deg: float
    pitch_deg: float
    yards_deg: tuple[float, float, float]


class RawPiece(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A piece aboard, as in the view; `on`, `card` and `by` may be there, and change nothing."""

    id: Annotated[str, msgspec.Meta(pattern=r"^k[0-9]{2}\Z", description="an id from k00 to k99")]
    kind: Kind
    pos_mm: tuple[float, float, float]
    quat: tuple[float, float, float, float]
    on: Number = 0
    card: Number = 0
    by: Number = 0


class RawQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question as a bot sends it. `ship` or `cargo` left out are those of the position; no `noise` means none."""

    load: dict[str, Any]
    area: Number | None = None
    noise: tuple[float, float, float, float, float] | None = None
    ship: ShipTilt | None = None
    cargo: Annotated[tuple[RawPiece, ...], msgspec.Meta(max_length=PIECES_MAX)] | None = None


class Question(msgspec.Struct, frozen=True):
    """The question as the physics takes it; `new` is the id of the piece."""

    table: ShipAtRest
    area: Area
    load: Load
    noise: Noise
    new: PieceId
    seat: Seat


def parse_question(state: State, seat: Seat, raw: Mapping[str, Json]) -> Question:
    """Read the question that `raw` asks; MalformedReply or IllegalAction as for an action."""
    form = read_form(raw, RawQuestion, place="nothing that can be simulated", hint=f"for example {_EXAMPLE}")
    area = _read_area(state, seat, form.area)
    load = read_load(form.load)
    check_pose(area, load)
    table = state.table
    if form.ship is not None:
        table = _tilt_table(table, form.ship)
    if form.cargo is not None:
        table = msgspec.structs.replace(table, cargo=_read_cargo(form.cargo))
    return Question(table=table, area=area, load=load, noise=_noise(form), new=_free_id(state, table), seat=seat)


def describe_answer(question: Question, result: Result) -> dict[str, Json]:
    """Return the answer to a question: the result in the words and units of the view."""
    aboard = add_piece(question.table, question.new, question.load, question.area.number, question.seat)
    table = ship_after(aboard.values(), result)
    is_cut = result.end == "timeout" and result.t_s < LOOKS_MAX * LOOK_S
    return {
        "end": "budget" if is_cut else result.end,
        "t_s": result.t_s,
        "tilt_max_deg": result.tilt_max_deg,
        "fallen": [
            {"id": fall.id, "kind": aboard[fall.id].kind, "x_mm": fall.x_mm, "y_mm": fall.y_mm, "hand": fall.hand}
            for fall in result.fallen
        ],
        "ship": view.ship(table),
        "cargo": view.cargo(table),
    }


def _tilt_table(table: ShipAtRest, ship: ShipTilt) -> ShipAtRest:
    """Return the table with the ship as the question has it."""
    lowest, middle, highest = (_read_angle("yards_deg", yard, _TIP_MAX_DEG) for yard in ship.yards_deg)
    return msgspec.structs.replace(
        table,
        roll=_read_angle("roll_deg", ship.roll_deg),
        pitch=_read_angle("pitch_deg", ship.pitch_deg),
        yards=(lowest, middle, highest),
    )


def _read_area(state: State, seat: Seat, number: int | None) -> Area:
    """Return the area of a question: by default that of the seat whose turn it is.

    MalformedReply without any, IllegalAction if there is none of that number.
    """
    if number is None and state.active == seat:
        number = state.area
    if number is None:
        raise MalformedReply(
            "`area` is missing, and it is not your turn, so no card tells which area is meant",
            hint=f"for example {_EXAMPLE}",
        )
    if number not in AREAS:
        raise IllegalAction(f"there is no area {number}; the areas are 1 to {max(AREAS)}", reason=Reason.NOT_A_CHOICE)
    return AREAS[number]


def _noise(form: RawQuestion) -> Noise:
    """Return the noise of a question, by default none; IllegalAction if it is too large."""
    noise = Noise(*form.noise or ())
    for name in Noise.__struct_fields__:
        most = getattr(_NOISE_MAX, name)
        require_within(f"{name} in `noise`", getattr(noise, name), -most, most)
    return noise


def _read_angle(name: str, degrees: float, most: float = _TILT_MAX_DEG) -> float:
    """Return an angle of a question's ship in canonical radians; IllegalAction if it is beyond `most` degrees."""
    require_within(f"`{name}` of the ship", degrees, -most, most)
    return canonical(math.radians(degrees))


def _read_cargo(raw_pieces: tuple[RawPiece, ...]) -> tuple[Piece, ...]:
    """Return the pieces of a question, sorted by id; IllegalAction if two have the same."""
    ids = [piece.id for piece in raw_pieces]
    double_id = next((piece_id for piece_id in ids if ids.count(piece_id) > 1), None)
    if double_id is not None:
        raise IllegalAction(f"two pieces of `cargo` have the id {double_id}", reason=Reason.NOT_A_CHOICE)
    return tuple(_read_piece(piece) for piece in sorted(raw_pieces, key=lambda piece: piece.id))


def _read_piece(raw_piece: RawPiece) -> Piece:
    """Return a piece of a question in its canonical pose; IllegalAction if it cannot be there."""
    for axis, place in zip("xyz", raw_piece.pos_mm, strict=True):
        low = 1000 * CATCH_PLANE_M if axis == "z" else -_WITHIN_MM
        require_within(f"{axis} in `pos_mm` of piece {raw_piece.id}", place, low, _WITHIN_MM)
    length = math.hypot(*raw_piece.quat)
    require_within(f"the length of `quat` of piece {raw_piece.id}", length, 1 - _UNIT_SLACK, 1 + _UNIT_SLACK)
    pose = canonical_pose([*(place / 1000 for place in raw_piece.pos_mm), *raw_piece.quat])
    return Piece(id=PieceId(raw_piece.id), kind=raw_piece.kind, card=raw_piece.card, by=Seat(raw_piece.by), pose=pose)


def _free_id(state: State, table: ShipAtRest) -> PieceId:
    """Return the id that the next piece gets, or the first one after it that no piece of the question has."""
    taken = {piece.id for piece in table.cargo}
    number = state.placements + 1
    while f"k{number:02d}" in taken:
        number += 1
    return PieceId(f"k{number:02d}")
