"""The simulated ship: a placement in, its result out.

Rule: a result is a function of table, area, load and noise, bit for bit, in any process and order. It holds for one
fingerprint; another version of the engine plays as well, but differently.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import sha256
from itertools import pairwise
from typing import Final, Literal, NamedTuple, cast

import msgspec
import numpy as np

from arena.errors import IllegalAction
from arena.games.api import Seat
from arena.games.riffraff import model
from arena.games.riffraff.actions import Load
from arena.games.riffraff.engine import GIMBAL, HINGES, POSE, World, WorldState, descent, engine, require_apart
from arena.games.riffraff.geometry import inverse, multiply, rotate, ship_rotation, split
from arena.games.riffraff.scene import AREAS, CATCH_PLANE_M, Area
from arena.games.riffraff.table import (
    STILL,
    Fall,
    Motion,
    Noise,
    Piece,
    PieceId,
    Pose,
    Rest,
    Result,
    ShipAtRest,
    Yards,
    canonical,
    canonical_pose,
    ship_after,
)
from arena.games.riffraff.turns import hand_at, kind_of

__all__ = ["begin_placement", "distance", "film", "fingerprint", "place", "require", "require_apart", "run_to_rest"]

_INTENTIONS_KEPT: Final = 64
_NOBODY: Final = Seat(0)
"""The seat of the player does not matter here."""
_TILT_DIGITS: Final = 3


def require(table: ShipAtRest, area: Area, load: Load) -> None:
    """Raise IllegalAction if the piece finds no room or no support in its intended pose, without any noise.

    The geometry of the load is taken for granted: kind, face and place are allowed on that area.
    """
    _intended_pose(table, area, load)


def place(
    table: ShipAtRest, area: Area, load: Load, noise: Noise, piece: PieceId, *, looks: int = model.LOOKS_MAX
) -> Result:
    """Put the piece on the area with an unsteady hand while a wave hits the ship; return the result.

    A shift that leaves no room is halved, `HALVINGS` times at most, and then left out. Raises as `require` does, and
    HarnessFault if the simulation breaks down; the table is a value, so nothing has changed then. After `looks` the
    poses are taken as they are.
    """
    return run_to_rest(begin_placement(table, area, load, noise, piece), load, looks=looks)


class Placement(NamedTuple):
    """A placement that begins: `pieces` are all aboard and the new one, in the order of the bodies in the world."""

    world: World
    pieces: tuple[Piece, ...]
    new: Piece
    halved: int


def begin_placement(table: ShipAtRest, area: Area, load: Load, noise: Noise, piece: PieceId) -> Placement:
    """Return the ship at the moment at which a placement begins to settle. Raises as `require` does."""
    require(table, area, load)
    pose, halved = _shifted_pose(table, area, load, noise)
    new = Piece(id=piece, kind=kind_of(load), card=area.number, by=_NOBODY, pose=pose)
    pieces = tuple(sorted((*table.cargo, new), key=lambda piece: piece.id))
    world = World(table, [(piece.kind, piece.pose) for piece in pieces])
    world.data.qvel[:GIMBAL] = noise.roll_rad_s, noise.pitch_rad_s
    return Placement(world, pieces, new, halved)


@lru_cache(maxsize=_INTENTIONS_KEPT)
def _intended_pose(table: ShipAtRest, area: Area, load: Load) -> Pose:
    """Return the pose of release without noise. Cached, as every load is checked first and then placed."""
    with descent(table, kind_of(load)) as way_down:
        return way_down.release(area, load, STILL, 0.0)


def _shifted_pose(table: ShipAtRest, area: Area, load: Load, noise: Noise) -> tuple[Pose, int]:
    """Return the pose in which an unsteady hand lets the piece go, and how often the shift was halved."""
    if not (noise.u_mm or noise.v_mm or noise.yaw_deg):
        return _intended_pose(table, area, load), 0
    with descent(table, kind_of(load)) as way_down:
        for halved in range(model.HALVINGS):
            with suppress(IllegalAction):
                return way_down.release(area, load, noise, 0.5**halved), halved
    return _intended_pose(table, area, load), model.HALVINGS


def run_to_rest(
    start: Placement, load: Load, seen: Callable[[WorldState], None] = lambda _: None, *, looks: int = model.LOOKS_MAX
) -> Result:
    """Simulate until rest, or for `looks` looks; the world is left in its last state.

    `seen` gets the state before every look, a view that changes. HarnessFault if the simulation breaks down.
    """
    world, pieces = start.world, start.pieces
    watch = Watch(world.state, [piece.id for piece in pieces], load.hands_mm)
    end: Literal["rest", "timeout"] = "timeout"
    while watch.looks < looks:
        seen(world.state)
        world.look()
        for index in watch.see(world.state):
            world.free(index)
        if watch.is_at_rest(world.state):
            end = "rest"
            break
    roll, pitch, *yards = map(canonical, world.state[:HINGES])
    result = Result(
        id=start.new.id,
        end=end,
        halved=start.halved,
        t_s=watch.t_s,
        tilt_max_deg=round(math.degrees(watch.tilt_max_rad), _TILT_DIGITS),
        fallen=tuple(watch.fallen),
        roll=roll,
        pitch=pitch,
        yards=cast(Yards, tuple(yards)),
        rests=watch.rests(world.state),
        digest="",
    )
    return msgspec.structs.replace(result, digest=ship_after(pieces, result).digest())


LOOKS_PER_FRAME: Final = 2
_FRAME_UNITS: Final = (10_000, 10_000, 1000)
"""The units of a frame: 0.0001 rad, 0.1 mm, a thousandth of a component of a quaternion."""
_UNMOVED: Final = 2
"""A number of a frame stays as it was until it has changed by more units than this: pieces at rest jitter."""


def film(table: ShipAtRest, area: Area, load: Load, noise: Noise, piece: PieceId) -> tuple[Result, Motion]:
    """Return the result of `place`, and the movement that led to it, for a viewer. Raises as `place` does."""
    placement, states = begin_placement(table, area, load, noise, piece), list[WorldState]()
    result = run_to_rest(placement, load, lambda state: states.append(state.copy()))
    channels = _remove_jitter(np.array([_in_ship_frame(state) for state in states[::LOOKS_PER_FRAME]]))
    return result, Motion(
        seconds=result.t_s,
        every_s=model.LOOK_S * LOOKS_PER_FRAME,
        ids=tuple(piece.id for piece in placement.pieces),
        kinds=tuple(piece.kind for piece in placement.pieces),
        channels=tuple(map(_delta_encode, channels.T)),
    )


def _in_ship_frame(state: WorldState) -> WorldState:
    """Return tilts, and poses as the ship sees them, in units of a frame: a piece at rest on it does not change."""
    ship = inverse(ship_rotation(ShipAtRest(roll=float(state[0]), pitch=float(state[1]))))
    tilt_unit, length_unit, turn_unit = _FRAME_UNITS
    numbers = [float(tilt) * tilt_unit for tilt in state[:HINGES]]
    for pose in poses(state):
        place, turn = split(cast(Pose, tuple(map(float, pose))))
        numbers += [length * length_unit for length in rotate(ship, place)]
        numbers += [component * turn_unit for component in multiply(ship, turn)]
    return np.array(list(map(round, numbers)), dtype=np.float64)


def _remove_jitter(frames: WorldState) -> WorldState:
    """Remove from frames, a row each, the jitter of pieces at rest; in place."""
    for before, now in pairwise(frames):
        is_still = np.abs(now - before) <= _UNMOVED
        now[is_still] = before[is_still]
    return frames


def _delta_encode(channel: WorldState) -> tuple[int, ...]:
    """Return the first number and the changes after it, without the zeros at the end."""
    first, *changes = np.diff(channel, prepend=0).astype(int).tolist()
    return (first, *np.trim_zeros(changes, "b"))


def fingerprint() -> dict[str, str]:
    """Return all that results depend on. Equal fingerprints promise the same results, bit for bit.

    The first call simulates some placements. SpecError without the engine.
    """
    return {"engine": f"mujoco {engine().__version__}", **model.surroundings(), "canary": _canary()}


@cache
def _canary() -> str:
    """Return 16 hex digits over the machine's arithmetic and a fixed scenario, both to the last bit."""
    table, seen = ShipAtRest(), sha256(model.arithmetic().encode())
    for number, (area, load, noise) in enumerate(model.SCENARIO, start=1):
        placement = begin_placement(table, AREAS[area], load, noise, PieceId(f"k{number:02d}"))
        result = run_to_rest(placement, load)
        seen.update(msgspec.json.encode(result) + placement.world.state.tobytes())
        table = ship_after(placement.pieces, result)
    return seen.hexdigest()[:16]


_MM_DIGITS: Final = 2


def poses(state: WorldState) -> WorldState:
    """Return the part of a state that describes the pieces, a row of `POSE` numbers each, as a view of the state."""
    return state[HINGES:].reshape(-1, POSE)


class Watch:
    """An observer of the state at the start and after every look.

    `fallen` in the order of falling; `tilt_max_rad` is the largest roll or pitch either way.
    """

    def __init__(self, start: WorldState, ids: Sequence[PieceId], hands_mm: Sequence[tuple[float, float]]) -> None:
        self.fallen: list[Fall] = []
        self.tilt_max_rad = 0.0
        self.looks = 0
        self._ids = ids
        self._hands_mm = hands_mm
        self._aboard = np.ones(len(ids), dtype=bool)
        self._before = start.copy()
        self._window = start.copy()
        self._since = 0

    @property
    def t_s(self) -> float:
        """Simulated seconds since the start."""
        return round(self.looks * model.LOOK_S, 3)

    def see(self, state: WorldState) -> tuple[int, ...]:
        """Take note of the state one look later; return the indices of pieces that have just fallen."""
        self.looks += 1
        self.tilt_max_rad = max(self.tilt_max_rad, abs(float(state[0])), abs(float(state[1])))
        is_below = self._aboard & (state[HINGES + 2 :: POSE] < CATCH_PLANE_M)
        gone: tuple[int, ...] = ()
        if is_below.any():
            gone = tuple(int(index) for index in np.flatnonzero(is_below))
            self._aboard[list(gone)] = False
            falls = [self._fall_between(index, poses(self._before)[index], poses(state)[index]) for index in gone]
            for fall in sorted(falls, key=lambda fall: (fall.t_s, fall.id)):
                hand = hand_at(fall.x_mm, fall.y_mm, self._hands_mm, [earlier.hand for earlier in self.fallen])
                self.fallen.append(msgspec.structs.replace(fall, hand=hand))
        self._before[:] = state
        return gone

    def is_at_rest(self, state: WorldState) -> bool:
        """Return True if a window ends with this look; it begins anew as soon as anything has moved.

        Called once after each `see`, with the same state.
        """
        if self._has_moved(state):
            self._window[:] = state
            self._since = self.looks
        return self.looks - self._since >= model.LOOKS_PER_WINDOW

    def _has_moved(self, state: WorldState) -> bool:
        """Return True if anything is further from its place at the start of the window than rest allows."""
        moved = np.abs(state - self._window)
        pieces = poses(moved)[self._aboard]
        return not bool(
            (moved[:HINGES] < model.REST_TILT_RAD).all()
            and (pieces[:, :3] < model.REST_SHIFT_M).all()
            and (pieces[:, 3:] < model.REST_TURN).all()
        )

    def rests(self, state: WorldState) -> tuple[Rest, ...]:
        """Return every piece that has not fallen, with its canonical pose."""
        rows = zip(self._ids, poses(state), self._aboard, strict=True)
        return tuple(Rest(id=name, pose=canonical_pose(pose)) for name, pose, is_aboard in rows if is_aboard)

    def _fall_between(self, index: int, before: WorldState, after: WorldState) -> Fall:
        """Return where and when a piece went through the catch plane between two looks, as if it flew straight.

        The hand is found later, by the rounded place, so that a record tells why a piece was caught or not.
        """
        share = float((before[2] - CATCH_PLANE_M) / (before[2] - after[2]))
        x_mm, y_mm = (
            round(1000 * float(before[axis] + share * (after[axis] - before[axis])), _MM_DIGITS) + 0.0
            for axis in range(2)
        )
        return Fall(
            id=self._ids[index],
            x_mm=x_mm,
            y_mm=y_mm,
            t_s=round((self.looks - 1 + share) * model.LOOK_S, 4),
            hand=None,
        )


def distance(one: Result, other: Result) -> str:
    """Describe how two results of one placement differ, for a person; an empty text if they are the same.

    Only pieces that rest in both are compared.
    """
    if one == other:
        return ""
    phrases = [*_fallen_apart(one, other), *_poses_apart(one, other)]
    names = [name for name in Result.__struct_fields__ if getattr(one, name) != getattr(other, name)]
    return "; ".join(phrases) or f"same poses, other {', '.join(names)}"


def _fallen_apart(one: Result, other: Result) -> Iterator[str]:
    """Yield the pieces that fell in one result only."""
    first, second = ({fall.id for fall in result.fallen} for result in (one, other))
    for which, ids in (("first", first - second), ("second", second - first)):
        if ids:
            yield f"fell only in the {which}: {', '.join(sorted(ids))}"


def _poses_apart(one: Result, other: Result) -> Iterator[str]:
    """Yield the largest differences of two results in place, turn, tilt of the ship and tip of a yard."""
    there = {rest.id: rest.pose for rest in other.rests}
    both = [(rest.pose, there[rest.id], rest.id) for rest in one.rests if rest.id in there]
    shift_mm, moved = max(((1000 * math.dist(a[:3], b[:3]), name) for a, b, name in both), default=(0.0, ""))
    turn_deg, turned = max(((_angle_between_deg(a, b), name) for a, b, name in both), default=(0.0, ""))
    tilt_deg = math.degrees(max(abs(one.roll - other.roll), abs(one.pitch - other.pitch)))
    if shift_mm:
        yield f"{moved} is {shift_mm:.3g} mm away"
    if turn_deg:
        yield f"{turned} is turned by {turn_deg:.3g} degrees"
    if tilt_deg:
        yield f"the ship tilts {tilt_deg:.3g} degrees differently"
    tips_deg = max(math.degrees(abs(a - b)) for a, b in zip(one.yards, other.yards, strict=True))
    if tips_deg:
        yield f"a yard tips {tips_deg:.3g} degrees differently"


def _angle_between_deg(one: Pose, other: Pose) -> float:
    """Return the angle between two rotations; their quaternions are rounded, so of nearly unit length."""
    (_, before), (_, after) = split(one), split(other)
    w, *axis = multiply(inverse(before), after)
    return 0.0 if before == after else math.degrees(2 * math.atan2(math.hypot(*axis), abs(w)))
