"""The simulated ship: a placement in, what it came to out. The only module that imports the physics engine.

Rule: a result is a function of table, area, load and noise, bit for bit, in any process and order: every placement has
a model and data of its own, bodies in the order of their ids, no velocities and no memory of earlier solutions.
Nothing is written anywhere. It holds for one fingerprint; another version of the engine plays as well, but differently.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cache, lru_cache
from hashlib import sha256
from itertools import chain
from typing import Any, Final, Literal, NamedTuple, cast

import msgspec
import numpy as np

from arena.errors import HarnessFault, IllegalAction, SpecError
from arena.games.api import Seat
from arena.games.riffraff.actions import Load, Reason
from arena.games.riffraff.canary import SCENARIO, arithmetic, surroundings
from arena.games.riffraff.geometry import extents, laid, matrix, room_above, rotated, ship_rotation, times
from arena.games.riffraff.lowering import Refusal, first_contact, let_go_at
from arena.games.riffraff.material import AREAS, Area, Face, Kind
from arena.games.riffraff.model import (
    DEEPEST_HOOK_M,
    DEEPEST_M,
    HALVINGS,
    LOOKS_MAX,
    START_GAP_M,
    STEPS_PER_LOOK,
    mjcf,
)
from arena.games.riffraff.settling import HINGES, POSE, State, Watch, canonical, distance
from arena.games.riffraff.table import NOWHERE, STILL, Noise, Piece, PieceId, Pose, Settled, Table, remaining

__all__ = [
    "Released",
    "World",
    "afloat",
    "distance",
    "fingerprint",
    "place",
    "released",
    "require",
    "require_apart",
    "settle",
]

_MODELS_KEPT: Final = 16
_INTENTIONS_KEPT: Final = 64
_SHIP: Final = 1
_FIRST_PIECE: Final = 2
"""Numbers of bodies in the engine; 0 is the world."""
_NOBODY: Final = Seat(0)
"""Who loads does not matter here."""
_TILT_DIGITS: Final = 3
_OVERLAP_M: Final = 0.001
"""What lies on a ship is pressed into what it lies on by less than 0.05 mm."""
_CLEARANCE_M: Final = 0.00001
"""More than the engine's tolerance in telling whether two bodies touch."""


@cache
def _engine() -> Any:
    """The engine; SpecError where it is not installed."""
    try:
        import mujoco  # noqa: PLC0415 - an extra
    except ImportError as error:
        if _is_interrupted(error):
            raise KeyboardInterrupt from error
        why = "is not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be loaded ({error})"
        raise SpecError(
            f"the ship of riffraff is simulated by MuJoCo, which {why}: pip install 'arena[riffraff]'"
        ) from error
    # Its own way to warn is a file MUJOCO_LOG.TXT in the working directory. Nothing is lost: see World.look.
    mujoco.set_mju_user_warning(lambda _: None)
    return mujoco


def _is_interrupted(error: BaseException | None) -> bool:
    """Whether somebody pressed Ctrl-C during the import: extension modules make an ImportError of that."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@lru_cache(maxsize=_MODELS_KEPT)
def _compiled(kinds: tuple[Kind, ...]) -> Any:
    """The model of these pieces, never simulated itself: a copy costs a tenth of another compilation."""
    return _engine().MjModel.from_xml_string(mjcf(kinds))


class World:
    """A ship with pieces in the engine, with a model and data of its own; at first at time 0 and motionless.

    `state` is a view of the engine's own memory: roll and pitch, then x y z w x y z of each piece.
    """

    def __init__(self, table: Table, pieces: Sequence[tuple[Kind, Sequence[float]]]) -> None:
        self.engine = _engine()
        self.model = copy(_compiled(tuple(kind for kind, _ in pieces)))
        self.data = self.engine.MjData(self.model)
        self.state: State = self.data.qpos
        self.state[:] = [table.roll, table.pitch, *chain.from_iterable(pose for _, pose in pieces)]
        self._warnings = self.data.warning.number

    def look(self) -> None:
        """Simulate until the next look. HarnessFault if the engine cannot; nothing of this world counts then."""
        self._run(self.engine.mj_step, STEPS_PER_LOOK)
        if self._warnings.any():
            names = ", ".join(self.engine.mjtWarning(int(index)).name for index in np.flatnonzero(self._warnings))
            raise HarnessFault(f"the simulation of the ship broke down after {self.data.time:.3f} s: {names}")

    def contacts(self) -> Any:
        """What touches what in the present state, as the engine lists it: `geom`, `dist` and more, a row each."""
        self._run(self.engine.mj_kinematics)
        self._run(self.engine.mj_collision)
        return self.data.contact

    def _run(self, function: Callable[..., None], *more: int) -> None:
        try:
            function(self.model, self.data, *more)
        except self.engine.FatalError as error:
            raise HarnessFault(f"the physics engine gave up: {str(error).splitlines()[0]}") from error

    def free(self, index: int) -> None:
        """Let a piece fall through everything from now on."""
        body = _FIRST_PIECE + index
        geoms = self.model.geom_bodyid == body
        self.model.geom_contype[geoms] = self.model.geom_conaffinity[geoms] = 0
        self.model.body_contype[body] = self.model.body_conaffinity[body] = 0


def afloat(table: Table) -> World:
    """The ship as it lies on the table, to be simulated without placing anything."""
    return World(table, [(piece.kind, piece.pose) for piece in _sorted(table.cargo)])


def require_apart(table: Table) -> None:
    """IllegalAction where pieces of a table that somebody made up stand in each other, or in the ship.

    They would fly apart, which is no use to anybody and takes the engine seconds.
    """
    world = afloat(table)
    contacts = world.contacts()
    if not len(contacts.dist) or contacts.dist.min() >= -_OVERLAP_M:
        return
    names = ["the table", "the ship", *(piece.id for piece in _sorted(table.cargo))]
    one, other = (names[world.model.geom_bodyid[geom]] for geom in contacts.geom[contacts.dist.argmin()])
    raise IllegalAction(
        f"{one} and {other} stand {-1000 * contacts.dist.min():.1f} mm in each other",
        hint="give `ship` and `cargo` as a view or a result has them",
        reason=Reason.OVERLAP,
    )


class _Descent:
    """A piece above the ship of a table, and what it meets on its way down. Nothing but that is looked at."""

    def __init__(self, table: Table, area: Area, load: Load) -> None:
        cargo, kind = _sorted(table.cargo), cast(Kind, load.kind)
        self._names = ["the ship", *(f"{piece.id} ({piece.kind})" for piece in cargo)]
        self._area, self._load, self._kind = area, load, kind
        self._ship = ship_rotation(table)
        self._to_table = np.array(matrix(self._ship))
        self._world = world = World(table, [*((piece.kind, piece.pose) for piece in cargo), (kind, NOWHERE)])
        self._body = _FIRST_PIECE + len(cargo)
        self._own = world.model.geom_bodyid == self._body
        # Only contacts of the new piece are asked for: its bits meet those of the others, and theirs meet nobody's.
        world.model.geom_contype[~self._own] = world.model.geom_conaffinity[self._own] = 0
        world.model.body_contype[: self._body] = world.model.body_conaffinity[self._body] = 0

    def release(self, noise: Noise, share: float) -> Pose | Refusal:
        """The pose in the table frame in which the piece is let go, shifted by that share of the noise."""
        load = self._load
        u_m, v_m = (load.u_mm + share * noise.u_mm) / 1000, (load.v_mm + share * noise.v_mm) / 1000
        rotation = laid(self._kind, cast(Face, load.face), load.yaw_deg + share * noise.yaw_deg)
        low, high = extents(self._kind, rotation)
        turned = times(self._ship, rotation)
        pose = self._world.state[-POSE:]
        pose[3:] = turned

        def touches(height_m: float) -> bool:
            pose[:3] = rotated(self._ship, (u_m, v_m, height_m))
            return self._touches()

        surface_m = self._area.surface_m
        top_m = room_above(self._area) - START_GAP_M - high[2]
        if touches(top_m):
            return Refusal(Reason.NO_ROOM, self._touched())
        floor_m = surface_m - (DEEPEST_HOOK_M if load.face == "hang" else DEEPEST_M + low[2])
        at = np.array((u_m, v_m, top_m))
        clear_m = self._highest_below(at + low, at + high, floor_m + low[2]) - low[2]
        contact_m = first_contact(touches, top_m=top_m, clear_m=clear_m, floor_m=floor_m)
        if contact_m is None:
            return Refusal(Reason.NO_SUPPORT)
        height_m = let_go_at(touches, contact_m=contact_m, drop_m=load.drop_mm / 1000, top_m=top_m)
        return (*rotated(self._ship, (u_m, v_m, height_m)), *turned)

    def _touches(self) -> bool:
        return bool((self._world.contacts().dist < 0).any())

    def _touched(self) -> tuple[str, ...]:
        """Names of what the piece touches where it was last asked."""
        bodies = set(self._world.model.geom_bodyid[self._world.data.contact.geom].flat) - {self._body}
        return tuple(self._names[body - _SHIP] for body in sorted(bodies))

    def _highest_below(self, low: State, high: State, floor_m: float) -> float:
        """The top of the highest box around anything over or under which the piece's own box hangs; ship frame."""
        model, data = self._world.model, self._world.data
        frames = data.geom_xmat.reshape(-1, 3, 3)
        middle, half = model.geom_aabb[:, :3], model.geom_aabb[:, 3:]
        # Sums written out: a matrix product would be left to a library with threads of its own.
        places = data.geom_xpos + np.einsum("nij,nj->ni", frames, middle)
        centre = np.einsum("ni,ij->nj", places, self._to_table)
        turns = np.abs(np.einsum("ji,njk->nik", self._to_table, frames))
        reach = np.einsum("nij,nj->ni", turns, half) + _CLEARANCE_M
        # Boxes above the start are of no interest; what is beside it is, as the piece comes past.
        is_in_column = ((centre - reach) < high).all(axis=1) & ((centre + reach)[:, :2] > low[:2]).all(axis=1)
        tops = (centre + reach)[is_in_column & ~self._own & (model.geom_conaffinity != 0), 2]
        return float(tops.max(initial=floor_m))


def require(table: Table, area: Area, load: Load) -> None:
    """IllegalAction where the piece finds no room or no support in its intended pose, without any noise.

    The geometry of the load is taken for granted: kind, face and place are allowed on that area.
    """
    found = _intended(table, area, load)
    if isinstance(found, Refusal):
        raise found.fault(load, area)


def place(table: Table, area: Area, load: Load, noise: Noise, piece: PieceId) -> Settled:
    """What comes of it when the piece is put on the area with an unsteady hand while a wave hits the ship.

    Where the shift leaves no room it is halved, `HALVINGS` times at most, and then left out. Raises as `insist` does,
    and HarnessFault if the simulation breaks down; the table is a value, so nothing has changed then.
    """
    return settle(released(table, area, load, noise, piece), load)


class Released(NamedTuple):
    """A piece just let go; `pieces` are all aboard and the new one, in the order of the bodies in the world."""

    world: World
    pieces: tuple[Piece, ...]
    new: Piece
    halved: int


def released(table: Table, area: Area, load: Load, noise: Noise, piece: PieceId) -> Released:
    """The ship at the moment at which a placement begins to settle. Raises as `insist` does."""
    require(table, area, load)
    pose, halved = _shifted(table, area, load, noise)
    new = Piece(id=piece, kind=cast(Kind, load.kind), card=area.number, by=_NOBODY, pose=pose)
    pieces = _sorted((*table.cargo, new))
    world = World(table, [(piece.kind, piece.pose) for piece in pieces])
    world.data.qvel[:HINGES] = noise.roll_rad_s, noise.pitch_rad_s
    return Released(world, pieces, new, halved)


@lru_cache(maxsize=_INTENTIONS_KEPT)
def _intended(table: Table, area: Area, load: Load) -> Pose | Refusal:
    """Where the piece is let go without noise. Kept, as every load is insisted on first and then placed."""
    return _Descent(table, area, load).release(STILL, 0.0)


def _shifted(table: Table, area: Area, load: Load, noise: Noise) -> tuple[Pose, int]:
    """Where an unsteady hand lets the piece go, and how often the shift was halved."""
    is_shifted = bool(noise.u_mm or noise.v_mm or noise.yaw_deg)
    if is_shifted:
        descent = _Descent(table, area, load)
        for halved in range(HALVINGS):
            pose = descent.release(noise, 0.5**halved)
            if not isinstance(pose, Refusal):
                return pose, halved
    pose = _intended(table, area, load)
    assert not isinstance(pose, Refusal), "insisted on before"
    return pose, HALVINGS if is_shifted else 0


def settle(release: Released, load: Load) -> Settled:
    """What comes of it; the world is left in its last state."""
    world, pieces = release.world, release.pieces
    watch = Watch(world.state, [piece.id for piece in pieces], load.hands_mm)
    end: Literal["rest", "timeout"] = "timeout"
    while watch.looks < LOOKS_MAX:
        world.look()
        for index in watch.see(world.state):
            world.free(index)
        if watch.is_at_rest(world.state):
            end = "rest"
            break
    roll, pitch = map(canonical, world.state[:HINGES])
    rests = watch.rests(world.state)
    return Settled(
        id=release.new.id,
        end=end,
        halved=release.halved,
        t_s=watch.t_s,
        tilt_max_deg=round(math.degrees(watch.tilt_max_rad), _TILT_DIGITS),
        fallen=tuple(watch.fallen),
        roll=roll,
        pitch=pitch,
        rests=rests,
        digest=remaining(pieces, roll=roll, pitch=pitch, rests=rests).digest(),
    )


def _sorted(cargo: Iterable[Piece]) -> tuple[Piece, ...]:
    return tuple(sorted(cargo, key=lambda piece: piece.id))


def fingerprint() -> dict[str, str]:
    """On what results depend besides the arguments. Two that are equal promise the same results, bit for bit."""
    return dict(_fingerprint())


@cache
def _fingerprint() -> dict[str, str]:
    return {"engine": f"mujoco {_engine().__version__}", **surroundings(), "canary": _canary()}


def _canary() -> str:
    """16 hex digits over the machine's arithmetic and a fixed scenario, both to the last bit."""
    table, seen = Table(), sha256(arithmetic().encode())
    for number, (area, load, noise) in enumerate(SCENARIO, start=1):
        release = released(table, AREAS[area], load, noise, PieceId(f"k{number:02d}"))
        result = settle(release, load)
        seen.update(msgspec.json.encode(result) + release.world.state.tobytes())
        table = remaining(release.pieces, roll=result.roll, pitch=result.pitch, rests=result.rests)
    return seen.hexdigest()[:16]
