"""A ship with pieces in the physics engine. The only module that imports the engine.

Rule: each world has a model and data of its own, bodies in the order in which the pieces are given, no velocities and
no memory of earlier solutions. Nothing is written anywhere.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Final

import numpy as np

from arena.errors import HarnessFault, IllegalAction, SpecError
from arena.games.riffraff.actions import Reason
from arena.games.riffraff.model import STEPS_PER_LOOK, mjcf
from arena.games.riffraff.scene import Kind
from arena.games.riffraff.settling import WorldState
from arena.games.riffraff.table import Piece, ShipAtRest

SHIP: Final = 1
FIRST_PIECE: Final = 2
"""Numbers of bodies in the engine; 0 is the world."""
_MODELS_KEPT: Final = 16
_OVERLAP_M: Final = 0.001
"""Cargo on a ship is pressed into its support by less than 0.05 mm."""


@cache
def engine() -> Any:
    """The engine; SpecError where it is not installed."""
    try:
        import mujoco  # noqa: PLC0415 - an extra
    except ImportError as error:
        if _is_interrupted(error):
            raise KeyboardInterrupt from error
        why = "is not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be loaded ({error})"
        raise SpecError(
            f"the ship of riffraff is simulated by MuJoCo, which {why}: pip install 'bot-arena[riffraff]'"
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
    return engine().MjModel.from_xml_string(mjcf(kinds))


class World:
    """A ship with pieces in the engine, with a model and data of its own; at first at time 0 and motionless.

    `state` is a view of the engine's own memory: roll and pitch, then x y z w x y z of each piece.
    """

    def __init__(self, table: ShipAtRest, pieces: Sequence[tuple[Kind, Sequence[float]]]) -> None:
        self.engine = engine()
        self.model = copy(_compiled(tuple(kind for kind, _ in pieces)))
        self.data = self.engine.MjData(self.model)
        self.state: WorldState = self.data.qpos
        self.state[:] = [table.roll, table.pitch, *chain.from_iterable(pose for _, pose in pieces)]
        self._warnings = self.data.warning.number

    def look(self) -> None:
        """Simulate until the next look. HarnessFault if the engine cannot; nothing of this world counts then."""
        self._run(self.engine.mj_step, STEPS_PER_LOOK)
        if self._warnings.any():
            names = ", ".join(self.engine.mjtWarning(int(index)).name for index in np.flatnonzero(self._warnings))
            raise HarnessFault(f"the simulation of the ship broke down after {self.data.time:.3f} s: {names}")

    def contacts(self) -> Any:
        """The contacts of the present state, as the engine lists them: `geom`, `dist` and more, a row each."""
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
        body = FIRST_PIECE + index
        geoms = self.model.geom_bodyid == body
        self.model.geom_contype[geoms] = self.model.geom_conaffinity[geoms] = 0
        self.model.body_contype[body] = self.model.body_conaffinity[body] = 0


def afloat(table: ShipAtRest) -> World:
    """The ship as it lies on the table, to be simulated without placing anything."""
    return World(table, [(piece.kind, piece.pose) for piece in by_id(table.cargo)])


def require_apart(table: ShipAtRest) -> None:
    """IllegalAction if pieces of a table that somebody made up stand in each other, or in the ship.

    They would fly apart, which is no use to anybody and takes the engine seconds.
    """
    world = afloat(table)
    contacts = world.contacts()
    if not len(contacts.dist) or contacts.dist.min() >= -_OVERLAP_M:
        return
    names = ["the table", "the ship", *(piece.id for piece in by_id(table.cargo))]
    one, other = (names[world.model.geom_bodyid[geom]] for geom in contacts.geom[contacts.dist.argmin()])
    raise IllegalAction(
        f"{one} and {other} stand {-1000 * contacts.dist.min():.1f} mm in each other",
        hint="give `ship` and `cargo` as a view or a result has them",
        reason=Reason.OVERLAP,
    )


def by_id(cargo: Iterable[Piece]) -> tuple[Piece, ...]:
    """The pieces in the order of their bodies."""
    return tuple(sorted(cargo, key=lambda piece: piece.id))
