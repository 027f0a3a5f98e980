"""A ship with pieces in the physics engine, and a piece on its way down to its first contact.

Rule: the only module that imports the engine. Each world has a model and data of its own, bodies in the order in which
the pieces are given, no velocities and no memory of earlier solutions. Nothing is written anywhere. States are roll,
pitch and the three yards, then x y z w x y z of each piece; SI units. Heights are in the frame of the area.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from arena.errors import HarnessFault, IllegalAction, SpecError
from arena.games.riffraff import model
from arena.games.riffraff.actions import Load, Reason
from arena.games.riffraff.geometry import Level, extents, level_of, multiply, room_between, rotation_matrix, rotation_of
from arena.games.riffraff.scene import YARDS, Area, Face, Kind
from arena.games.riffraff.table import UNPLACED, Noise, Pose, ShipAtRest
from arena.plugins import install_command

WorldState = NDArray[np.float64]
GIMBAL: Final = 2
HINGES: Final = GIMBAL + len(YARDS)
POSE: Final = 7
"""The numbers of a state for roll and pitch, for these and the yards, and for each piece."""
SHIP: Final = 1
FIRST_PIECE: Final = SHIP + 1 + len(YARDS)
"""Indices of bodies in the engine; 0 is the world, after the ship come its yards."""
_RIG_NAMES: Final = ("the ship", "the lowest yard", "the middle yard", "the highest yard")
_MODELS_KEPT: Final = 16
_OVERLAP_M: Final = 0.001
"""Cargo on a ship is pressed into its support by less than 0.05 mm."""


@cache
def engine() -> Any:
    """Return the engine's module, whose own warnings are switched off; SpecError where it cannot be imported."""
    try:
        import mujoco  # noqa: PLC0415 - an extra
    except ImportError as error:
        if _is_interrupted(error):
            raise KeyboardInterrupt from error
        why = "is not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be loaded ({error})"
        raise SpecError(
            f"the ship of riffraff is simulated by MuJoCo, which {why}: {install_command('riffraff')}"
        ) from error
    # Its own way to warn is a file MUJOCO_LOG.TXT in the working directory. Nothing is lost: see World.look.
    mujoco.set_mju_user_warning(lambda _: None)
    return mujoco


def _is_interrupted(error: BaseException | None) -> bool:
    """Return True if somebody pressed Ctrl-C during the import: extension modules make an ImportError of that."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@lru_cache(maxsize=_MODELS_KEPT)
def _compile(kinds: tuple[Kind, ...]) -> Any:
    """Compile the model of these pieces, never simulated itself: a copy costs a tenth of another compilation."""
    return engine().MjModel.from_xml_string(model.mjcf(kinds))


class World:
    """A ship with pieces in the engine, with a model and data of its own; at first at time 0 and motionless.

    `state` is a view of the engine's own memory: roll, pitch and yards, then x y z w x y z of each piece.
    """

    def __init__(self, table: ShipAtRest, pieces: Sequence[tuple[Kind, Sequence[float]]]) -> None:
        self.engine = engine()
        self.model = copy(_compile(tuple(kind for kind, _ in pieces)))
        self.data = self.engine.MjData(self.model)
        self.state: WorldState = self.data.qpos
        self.state[:] = [table.roll, table.pitch, *table.yards, *chain.from_iterable(pose for _, pose in pieces)]
        self._warnings = self.data.warning.number

    def look(self) -> None:
        """Simulate until the next look, `STEPS_PER_LOOK` steps on.

        HarnessFault if the engine cannot; nothing of this world counts then.
        """
        self._run(self.engine.mj_step, model.STEPS_PER_LOOK)
        if self._warnings.any():
            names = ", ".join(self.engine.mjtWarning(int(index)).name for index in np.flatnonzero(self._warnings))
            raise HarnessFault(f"the simulation of the ship broke down after {self.data.time:.3f} s: {names}")

    def contacts(self) -> Any:
        """Compute the contacts of the present state, as the engine lists them: `geom`, `dist` (m) and more, a row each.

        They are a view of the engine's memory. HarnessFault if the engine gives up.
        """
        self._run(self.engine.mj_kinematics)
        self._run(self.engine.mj_collision)
        return self.data.contact

    def _run(self, function: Callable[..., None], *more: int) -> None:
        """Call a function of the engine on this world. HarnessFault if the engine gives up."""
        try:
            function(self.model, self.data, *more)
        except self.engine.FatalError as error:
            raise HarnessFault(f"the physics engine gave up: {str(error).splitlines()[0]}") from error

    def free(self, index: int) -> None:
        """Let a piece fall through everything from now on."""
        body = FIRST_PIECE + index
        geoms = self.model.geom_bodyid == body
        self.model.geom_contype[geoms] = self.model.geom_conaffinity[geoms] = 0
        self.model.body_contype[body] = self.model.body_conaffinity[body] = 0


def make_world(table: ShipAtRest) -> World:
    """Make a world of the ship as it lies on the table, to be simulated without placing anything."""
    return World(table, [(piece.kind, piece.pose) for piece in table.cargo])


def require_apart(table: ShipAtRest) -> None:
    """Raise IllegalAction if pieces of a table that somebody made up stand in each other, or in the ship.

    They would fly apart, which is no use to anybody and takes the engine seconds.
    """
    world = make_world(table)
    contacts = world.contacts()
    if not len(contacts.dist) or contacts.dist.min() >= -_OVERLAP_M:
        return
    names = ["the table", *_RIG_NAMES, *(piece.id for piece in table.cargo)]
    one, other = (names[world.model.geom_bodyid[geom]] for geom in contacts.geom[contacts.dist.argmin()])
    raise IllegalAction(
        f"{one} and {other} stand {-1000 * contacts.dist.min():.1f} mm in each other",
        hint="give `ship` and `cargo` as a view or a result has them",
        reason=Reason.OVERLAP,
    )


_NAMES_MAX: Final = 3
_DESCENTS_KEPT: Final = 16
_CLEARANCE_M: Final = 0.00001
"""More than the engine's tolerance in telling whether two bodies touch."""
Touches = Callable[[float], bool]
"""A function of a height: True if the piece, with its origin there, reaches into anything."""


class Descent:
    """A piece of one kind above the ship of a table, and its contacts on the way down.

    Each call of `release` begins anew, so one descent serves any number of loads, in one thread at a time.
    """

    def __init__(self, table: ShipAtRest, kind: Kind) -> None:
        cargo = table.cargo
        self._names = [*_RIG_NAMES, *(f"{piece.id} ({piece.kind})" for piece in cargo)]
        self._kind, self._table = kind, table
        self._world = world = World(table, [*((piece.kind, piece.pose) for piece in cargo), (kind, UNPLACED)])
        self._body = FIRST_PIECE + len(cargo)
        self._is_own_geom = world.model.geom_bodyid == self._body
        # Only contacts of the new piece count: its bits meet those of the others, and theirs meet nobody's.
        world.model.geom_contype[~self._is_own_geom] = world.model.geom_conaffinity[self._is_own_geom] = 0
        world.model.body_contype[: self._body] = world.model.body_conaffinity[self._body] = 0

    def release(self, area: Area, load: Load, noise: Noise, share: float) -> Pose:
        """Return the pose in the table frame in which the piece is let go, shifted by that share of the noise.

        IllegalAction if there is no room or no support.
        """
        u_m, v_m = (load.u_mm + share * noise.u_mm) / 1000, (load.v_mm + share * noise.v_mm) / 1000
        rotation = rotation_of(self._kind, cast(Face, load.face), load.yaw_deg + share * noise.yaw_deg)
        low, high = extents(self._kind, rotation)
        level = level_of(area, self._table)
        turned = multiply(level.rotation, rotation)
        pose = self._world.state[-POSE:]
        pose[3:] = turned

        def touches(height_m: float) -> bool:
            pose[:3] = level.to_table((u_m, v_m, height_m))
            return self._is_touching()

        surface_m = area.surface_m
        room_m = room_between(area, self._table, (v_m + low[1], v_m + high[1]))
        top_m = room_m - model.START_GAP_M - high[2]
        if touches(top_m):
            raise self._refuse_no_room(area, load)
        floor_m = surface_m - (model.DEEPEST_HOOK_M if load.face == "hang" else model.DEEPEST_M + low[2])
        at = np.array((u_m, v_m, top_m))
        clear_m = self._highest_below(level, at + low, at + high, floor_m + low[2]) - low[2]
        contact_m = first_contact(touches, top_m=top_m, clear_m=clear_m, floor_m=floor_m)
        if contact_m is None:
            raise _refuse_no_support(area, load)
        height_m = let_go_at(touches, contact_m=contact_m, drop_m=load.drop_mm / 1000, top_m=top_m)
        return (*level.to_table((u_m, v_m, height_m)), *turned)

    def _is_touching(self) -> bool:
        """Return True if the piece, where it is now, reaches into anything."""
        return bool((self._world.contacts().dist < 0).any())

    def _refuse_no_room(self, area: Area, load: Load) -> IllegalAction:
        """Return the refusal of a load that reaches into something where its way down begins, and name that."""
        bodies = set(self._world.model.geom_bodyid[self._world.data.contact.geom].flat) - {self._body}
        touched = [self._names[body - SHIP] for body in sorted(bodies)]
        more = [f"{len(touched) - _NAMES_MAX} more"] if len(touched) > _NAMES_MAX else []
        obstacles = " and ".join([*touched[:_NAMES_MAX], *more])
        return IllegalAction(
            f"no room for {_name_load(area, load)}: where its way down begins it would reach into {obstacles}",
            hint="a piece is let down from just under the next higher level: choose a place or a face that fits there",
            reason=Reason.NO_ROOM,
        )

    def _highest_below(self, level: Level, low: WorldState, high: WorldState, floor_m: float) -> float:
        """Return the top of the highest box around anything over or under which the piece's own box hangs.

        `low` and `high` are corners of the own box where the way down begins; `floor_m` if there is nothing. In the
        frame of the area.
        """
        to_table = np.array(rotation_matrix(level.rotation))
        world, data = self._world.model, self._world.data
        frames = data.geom_xmat.reshape(-1, 3, 3)
        middle, half = world.geom_aabb[:, :3], world.geom_aabb[:, 3:]
        # Sums written out: a matrix product would be left to a library with threads of its own.
        places = data.geom_xpos + np.einsum("nij,nj->ni", frames, middle)
        centre = np.einsum("ni,ij->nj", places - level.shift, to_table)
        turns = np.abs(np.einsum("ji,njk->nik", to_table, frames))
        reach = np.einsum("nij,nj->ni", turns, half) + _CLEARANCE_M
        # Boxes above the start are of no interest; what is beside it is, as the piece comes past.
        is_in_column = ((centre - reach) < high).all(axis=1) & ((centre + reach)[:, :2] > low[:2]).all(axis=1)
        tops = (centre + reach)[is_in_column & ~self._is_own_geom & (world.geom_conaffinity != 0), 2]
        return float(tops.max(initial=floor_m))


@contextmanager
def descent(table: ShipAtRest, kind: Kind) -> Iterator[Descent]:
    """Yield the descent of a piece of that kind for use by the caller alone: several bots ask at once about a table.

    It is kept for the next caller, unless an error other than IllegalAction ends the use.
    """
    idle = _idle_descents(table, kind)
    try:
        way_down = idle.pop()
    except IndexError:
        way_down = Descent(table, kind)
    try:
        yield way_down
    except IllegalAction:
        idle.append(way_down)
        raise
    idle.append(way_down)


@lru_cache(maxsize=_DESCENTS_KEPT)
def _idle_descents(_table: ShipAtRest, _kind: Kind) -> list[Descent]:
    """Return the descents that nobody uses now; callers share the list."""
    return []


def _refuse_no_support(area: Area, load: Load) -> IllegalAction:
    """Return the refusal of a load that meets nothing on its way down."""
    deepest_m = model.DEEPEST_HOOK_M if load.face == "hang" else model.DEEPEST_M
    return IllegalAction(
        f"no support for {_name_load(area, load)}: nothing is met down to {1000 * deepest_m:g} mm below the surface",
        hint="choose a place where more of it is above the surface or above other cargo",
        reason=Reason.NO_SUPPORT,
    )


def _name_load(area: Area, load: Load) -> str:
    """Return kind, face, place and area of a load in words."""
    place = f"u {load.u_mm:g} v {load.v_mm:g} yaw {load.yaw_deg:g} on area {area.number}"
    return f"a {load.kind} {load.face} at {place}"


def first_contact(touches: Touches, *, top_m: float, clear_m: float, floor_m: float) -> float | None:
    """Return the height just above the first contact on the way down from `top_m`; None if below `floor_m`.

    The way is tried in steps of a millimetre, thinner than any part of a piece. Between `top_m` and `clear_m` nothing
    can be met, so the steps there are not tried, and the result is the same.
    """

    def height(step: int) -> float:
        """Return the height after that many steps down."""
        return top_m - step * model.LOWERING_STEP_M

    step = max(0, int((top_m - clear_m) / model.LOWERING_STEP_M) - 1)  # one less, for what rounding does to a height
    while height(step) > floor_m:
        if touches(height(step + 1)):
            return _narrow_contact(touches, free_m=height(step), touching_m=height(step + 1))
        step += 1
    return None


def _narrow_contact(touches: Touches, *, free_m: float, touching_m: float) -> float:
    """Halve the way between a free height and a touching one, until they are close; return the free one."""
    while free_m - touching_m > model.LOWERING_END_M:
        between_m = (free_m + touching_m) / 2
        if touches(between_m):
            touching_m = between_m
        else:
            free_m = between_m
    return free_m


def let_go_at(touches: Touches, *, contact_m: float, drop_m: float, top_m: float) -> float:
    """Return the height of release `drop_m` above the contact, but not above the start and not inside of anything.

    Obstacles that the steps of the way down passed over can be in the way up: then the drop is halved, at last to 0.
    """
    while drop_m > model.LOWERING_END_M:
        height_m = min(contact_m + drop_m, top_m)
        if not touches(height_m):
            return height_m
        drop_m /= 2
    return contact_m
