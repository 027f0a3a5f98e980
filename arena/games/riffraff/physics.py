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
from arena.games.riffraff.geometry import inverse, rotated, ship_rotation, split, times
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
    Settled,
    ShipAtRest,
    Yards,
    canonical,
    canonical_pose,
    remaining,
)
from arena.games.riffraff.turns import hand_at, kind_of

__all__ = ["distance", "filmed", "fingerprint", "place", "released", "require", "require_apart", "run_to_rest"]

_INTENTIONS_KEPT: Final = 64
_NOBODY: Final = Seat(0)
"""The seat of the player does not matter here."""
_TILT_DIGITS: Final = 3


def require(table: ShipAtRest, area: Area, load: Load) -> None:
    """IllegalAction if the piece finds no room or no support in its intended pose, without any noise.

    The geometry of the load is taken for granted: kind, face and place are allowed on that area.
    """
    _intended(table, area, load)


def place(
    table: ShipAtRest, area: Area, load: Load, noise: Noise, piece: PieceId, *, looks: int = model.LOOKS_MAX
) -> Settled:
    """The result of putting the piece on the area with an unsteady hand while a wave hits the ship.

    A shift that leaves no room is halved, `HALVINGS` times at most, and then left out. Raises as `require` does, and
    HarnessFault if the simulation breaks down; the table is a value, so nothing has changed then. After `looks` the
    poses are taken as they are.
    """
    return run_to_rest(released(table, area, load, noise, piece), load, looks=looks)


class Released(NamedTuple):
    """A piece just let go; `pieces` are all aboard and the new one, in the order of the bodies in the world."""

    world: World
    pieces: tuple[Piece, ...]
    new: Piece
    halved: int


def released(table: ShipAtRest, area: Area, load: Load, noise: Noise, piece: PieceId) -> Released:
    """The ship at the moment at which a placement begins to settle. Raises as `require` does."""
    require(table, area, load)
    pose, halved = _shifted(table, area, load, noise)
    new = Piece(id=piece, kind=kind_of(load), card=area.number, by=_NOBODY, pose=pose)
    pieces = tuple(sorted((*table.cargo, new), key=lambda piece: piece.id))
    world = World(table, [(piece.kind, piece.pose) for piece in pieces])
    world.data.qvel[:GIMBAL] = noise.roll_rad_s, noise.pitch_rad_s
    return Released(world, pieces, new, halved)


@lru_cache(maxsize=_INTENTIONS_KEPT)
def _intended(table: ShipAtRest, area: Area, load: Load) -> Pose:
    """The pose in which the piece is let go without noise. Kept, as every load is checked first and then placed."""
    with descent(table, kind_of(load)) as way_down:
        return way_down.release(area, load, STILL, 0.0)


def _shifted(table: ShipAtRest, area: Area, load: Load, noise: Noise) -> tuple[Pose, int]:
    """The pose in which an unsteady hand lets the piece go, and the number of times the shift was halved."""
    if not (noise.u_mm or noise.v_mm or noise.yaw_deg):
        return _intended(table, area, load), 0
    with descent(table, kind_of(load)) as way_down:
        for halved in range(model.HALVINGS):
            with suppress(IllegalAction):
                return way_down.release(area, load, noise, 0.5**halved), halved
    return _intended(table, area, load), model.HALVINGS


def run_to_rest(
    release: Released, load: Load, seen: Callable[[WorldState], None] = lambda _: None, *, looks: int = model.LOOKS_MAX
) -> Settled:
    """The result; the world is left in its last state. `seen` gets the state at every look, which changes later."""
    world, pieces = release.world, release.pieces
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
    result = Settled(
        id=release.new.id,
        end=end,
        halved=release.halved,
        t_s=watch.t_s,
        tilt_max_deg=round(math.degrees(watch.tilt_max_rad), _TILT_DIGITS),
        fallen=tuple(watch.fallen),
        roll=roll,
        pitch=pitch,
        yards=cast(Yards, tuple(yards)),
        rests=watch.rests(world.state),
        digest="",
    )
    return msgspec.structs.replace(result, digest=remaining(pieces, result).digest())


LOOKS_PER_FRAME: Final = 2
_FRAME_UNITS: Final = (10_000, 10_000, 1000)
"""Of a frame: 0.0001 rad, 0.1 mm, a thousandth of a component of a quaternion."""
_UNMOVED: Final = 2
"""A number of a frame stays as it was until it has changed by more units than this: what lies jitters."""


def filmed(table: ShipAtRest, area: Area, load: Load, noise: Noise, piece: PieceId) -> tuple[Settled, Motion]:
    """The result of `place`, and the movement that led to it."""
    release, states = released(table, area, load, noise, piece), list[WorldState]()
    result = run_to_rest(release, load, lambda state: states.append(state.copy()))
    channels = _held(np.array([_in_ship_frame(state) for state in states[::LOOKS_PER_FRAME]]))
    return result, Motion(
        seconds=result.t_s,
        every_s=model.LOOK_S * LOOKS_PER_FRAME,
        ids=tuple(each.id for each in release.pieces),
        kinds=tuple(each.kind for each in release.pieces),
        channels=tuple(map(_differences, channels.T)),
    )


def _in_ship_frame(state: WorldState) -> WorldState:
    """Tilts, and poses as the ship sees them, in units of a frame: whatever lies still on it does not change."""
    ship = inverse(ship_rotation(ShipAtRest(roll=float(state[0]), pitch=float(state[1]))))
    tilt_unit, length_unit, turn_unit = _FRAME_UNITS
    numbers = [float(tilt) * tilt_unit for tilt in state[:HINGES]]
    for pose in poses(state):
        place, turn = split(cast(Pose, tuple(map(float, pose))))
        numbers += [each * length_unit for each in rotated(ship, place)]
        numbers += [each * turn_unit for each in times(ship, turn)]
    return np.array(list(map(round, numbers)), dtype=np.float64)


def _held(frames: WorldState) -> WorldState:
    """Frames without the jitter of what lies still; a row a frame."""
    for before, now in pairwise(frames):
        is_still = np.abs(now - before) <= _UNMOVED
        now[is_still] = before[is_still]
    return frames


def _differences(channel: WorldState) -> tuple[int, ...]:
    """The first number and the changes after it, without the zeros at the end."""
    first, *changes = np.diff(channel, prepend=0).astype(int).tolist()
    return (first, *np.trim_zeros(changes, "b"))


def fingerprint() -> dict[str, str]:
    """The causes of results besides the arguments. Equal fingerprints promise the same results, bit for bit."""
    return {"engine": f"mujoco {engine().__version__}", **model.surroundings(), "canary": _canary()}


@cache
def _canary() -> str:
    """16 hex digits over the machine's model.arithmetic and a fixed scenario, both to the last bit."""
    table, seen = ShipAtRest(), sha256(model.arithmetic().encode())
    for number, (area, load, noise) in enumerate(model.SCENARIO, start=1):
        release = released(table, AREAS[area], load, noise, PieceId(f"k{number:02d}"))
        result = run_to_rest(release, load)
        seen.update(msgspec.json.encode(result) + release.world.state.tobytes())
        table = remaining(release.pieces, result)
    return seen.hexdigest()[:16]


_MM_DIGITS: Final = 2


def poses(state: WorldState) -> WorldState:
    """The part of a state that tells of the pieces, one row of `POSE` numbers each."""
    return state[HINGES:].reshape(-1, POSE)


class Watch:
    """Observer of the state at the start and after every look.

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
        """Take note of the state one look later; the indices of pieces that have just fallen."""
        self.looks += 1
        self.tilt_max_rad = max(self.tilt_max_rad, abs(float(state[0])), abs(float(state[1])))
        is_below = self._aboard & (state[HINGES + 2 :: POSE] < CATCH_PLANE_M)
        gone: tuple[int, ...] = ()
        if is_below.any():
            gone = tuple(int(index) for index in np.flatnonzero(is_below))
            self._aboard[list(gone)] = False
            falls = [self._fall(index, poses(self._before)[index], poses(state)[index]) for index in gone]
            for fall in sorted(falls, key=lambda fall: (fall.t_s, fall.id)):
                hand = hand_at(fall.x_mm, fall.y_mm, self._hands_mm, [each.hand for each in self.fallen])
                self.fallen.append(msgspec.structs.replace(fall, hand=hand))
        self._before[:] = state
        return gone

    def is_at_rest(self, state: WorldState) -> bool:
        """Whether a window ends with this look; it begins anew as soon as anything has moved."""
        if self._has_moved(state):
            self._window[:] = state
            self._since = self.looks
        return self.looks - self._since >= model.LOOKS_PER_WINDOW

    def _has_moved(self, state: WorldState) -> bool:
        """Whether anything is further from its place at the start of the window than rest allows."""
        moved = np.abs(state - self._window)
        pieces = poses(moved)[self._aboard]
        return not bool(
            (moved[:HINGES] < model.REST_TILT_RAD).all()
            and (pieces[:, :3] < model.REST_SHIFT_M).all()
            and (pieces[:, 3:] < model.REST_TURN).all()
        )

    def rests(self, state: WorldState) -> tuple[Rest, ...]:
        """Every piece that has not fallen, with its canonical pose."""
        rows = zip(self._ids, poses(state), self._aboard, strict=True)
        return tuple(Rest(id=name, pose=canonical_pose(pose)) for name, pose, is_aboard in rows if is_aboard)

    def _fall(self, index: int, before: WorldState, after: WorldState) -> Fall:
        """Place and time at which a piece went through the catch plane between two looks, as if it flew straight.

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


def distance(one: Settled, other: Settled) -> str:
    """The difference of two results of the same placement, for a person; empty if they are the same.

    Only pieces that rest in both are compared.
    """
    if one == other:
        return ""
    phrases = [*_fallen_apart(one, other), *_poses_apart(one, other)]
    names = [name for name in Settled.__struct_fields__ if getattr(one, name) != getattr(other, name)]
    return "; ".join(phrases) or f"same poses, other {', '.join(names)}"


def _fallen_apart(one: Settled, other: Settled) -> Iterator[str]:
    first, second = ({fall.id for fall in result.fallen} for result in (one, other))
    for which, ids in (("first", first - second), ("second", second - first)):
        if ids:
            yield f"fell only in the {which}: {', '.join(sorted(ids))}"


def _poses_apart(one: Settled, other: Settled) -> Iterator[str]:
    there = {rest.id: rest.pose for rest in other.rests}
    both = [(rest.pose, there[rest.id], rest.id) for rest in one.rests if rest.id in there]
    shift_mm, moved = max(((1000 * math.dist(a[:3], b[:3]), name) for a, b, name in both), default=(0.0, ""))
    turn_deg, turned = max(((_angle_deg(a, b), name) for a, b, name in both), default=(0.0, ""))
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


def _angle_deg(one: Pose, other: Pose) -> float:
    """The angle between two rotations; their quaternions are rounded, so of nearly unit length."""
    (_, before), (_, after) = split(one), split(other)
    w, *axis = times(inverse(before), after)
    return 0.0 if before == after else math.degrees(2 * math.atan2(math.hypot(*axis), abs(w)))
