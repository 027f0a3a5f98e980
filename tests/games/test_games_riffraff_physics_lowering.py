"""Letting a piece down: the search alone on an imagined column, then what the engine says of the pose it ends in."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from riffraff_tables import laden, random_load

from arena.errors import IllegalAction
from arena.games.riffraff import engine
from arena.games.riffraff.actions import Load
from arena.games.riffraff.engine import WorldState
from arena.games.riffraff.geometry import rotation_matrix, ship_rotation
from arena.games.riffraff.model import LOWERING_END_M
from arena.games.riffraff.scene import AREAS, KINDS
from arena.games.riffraff.table import STILL, Pose, ShipAtRest

_SLABS = st.lists(st.tuples(st.floats(-0.05, 0.05), st.floats(0.0, 0.02)), max_size=4)
"""Obstacles in the column: middle and thickness, in m."""


class _Column:
    """Obstacles one above the other; counts how often it was asked."""

    def __init__(self, slabs: list[tuple[float, float]]) -> None:
        self._slabs = slabs
        self.asked = 0

    @property
    def top_m(self) -> float:
        return max((middle + thickness / 2 for middle, thickness in self._slabs), default=-1.0)

    def touches(self, height_m: float) -> bool:
        self.asked += 1
        return any(abs(height_m - middle) < thickness / 2 for middle, thickness in self._slabs)


def test_a_piece_is_let_down_to_just_above_the_first_contact() -> None:
    """It ends free, and less than 0.02 mm above what it would touch."""
    column = _Column([(0.0, 0.02), (-0.03, 0.02)])

    height_m = engine.first_contact(column.touches, top_m=0.05, clear_m=1.0, floor_m=-0.05)

    assert height_m is not None
    assert not column.touches(height_m)
    assert column.touches(height_m - LOWERING_END_M)
    assert height_m == pytest.approx(0.01, abs=LOWERING_END_M)


def test_nothing_is_found_below_the_floor() -> None:
    """An obstacle that begins below the floor carries nothing."""
    column = _Column([(-0.02, 0.01)])

    assert engine.first_contact(column.touches, top_m=0.05, clear_m=1.0, floor_m=-0.01) is None
    assert engine.first_contact(column.touches, top_m=0.05, clear_m=1.0, floor_m=-0.02) is not None


@given(_SLABS, st.floats(0.051, 0.09))
def test_what_is_known_to_be_clear_is_passed_over_without_changing_the_result(
    slabs: list[tuple[float, float]], top_m: float
) -> None:
    """Knowing the top of the highest obstacle saves questions, and the height found is the same to the last bit."""
    slow, quick = _Column(slabs), _Column(slabs)
    top_m += 0.02

    slowly = engine.first_contact(slow.touches, top_m=top_m, clear_m=1.0, floor_m=-0.06)
    quickly = engine.first_contact(quick.touches, top_m=top_m, clear_m=max(quick.top_m, -0.06), floor_m=-0.06)

    assert quickly == slowly
    assert quick.asked <= slow.asked


@given(_SLABS, st.floats(0.0, 0.02))
@example([(0.0, 0.01)], 0.0)
@example([(0.0, 0.01), (0.0052, 0.0001)], 0.0002)
def test_a_piece_is_never_let_go_inside_of_anything(slabs: list[tuple[float, float]], drop_m: float) -> None:
    """However far it is to be dropped, the height of release is free, at or above the contact and not above the top."""
    column = _Column(slabs)
    contact_m = engine.first_contact(column.touches, top_m=0.07, clear_m=1.0, floor_m=-0.06)
    if contact_m is None:
        return

    height_m = engine.let_go_at(column.touches, contact_m=contact_m, drop_m=drop_m, top_m=0.07)

    assert not column.touches(height_m)
    assert contact_m <= height_m <= min(0.07, contact_m + drop_m)


class _Stepwise(engine.Descent):
    """A piece that is let down step by step from the very top."""

    def _highest_below(self, low: WorldState, high: WorldState, floor_m: float) -> float:  # noqa: ARG002 - nothing is clear
        return 1.0


def _release(descent: type[engine.Descent], table: ShipAtRest, area: int, load: Load) -> Pose | str:
    """The pose of the release without noise, or the sentence of the refusal."""
    try:
        return descent(table, AREAS[area], load).release(STILL, 0)
    except IllegalAction as refusal:
        return refusal.message


def _depth(table: ShipAtRest, load: Load, pose: Sequence[float]) -> float:
    """How far the piece of a load reaches into anything in this pose, as the engine's negative distance; else 0."""
    kind = next(known for known in KINDS if known == load.kind)
    world = engine.World(table, [*((each.kind, each.pose) for each in table.cargo), (kind, pose)])
    contact = world.contacts()
    is_own = (world.model.geom_bodyid[contact.geom] == world.model.nbody - 1).any(axis=1)
    return float(contact.dist[is_own].min(initial=0.0))


def _random_loads(seed: str) -> list[tuple[int, Load]]:
    rng = Random(seed)
    return [(area, random_load(rng, area, kind)) for area in AREAS for kind in KINDS]


@pytest.mark.parametrize("pieces", [0, 10])
def test_nothing_reaches_into_anything_when_it_is_let_go(pieces: int) -> None:
    """The engine finds no contact of the new piece at its release, and one as soon as it is 0.03 mm lower."""
    table = laden(pieces)
    loads = _random_loads(f"release/{pieces}")
    down = [-0.00003 * row[2] for row in rotation_matrix(ship_rotation(table))] + [0] * 4

    poses = [(load, _release(engine.Descent, table, area, load)) for area, load in loads]

    released = [(load, pose) for load, pose in poses if not isinstance(pose, str)]
    assert len(released) > len(loads) / 2
    assert min(_depth(table, load, pose) for load, pose in released) == 0
    lower = [(load, [place + shift for place, shift in zip(pose, down, strict=True)]) for load, pose in released]
    assert max(_depth(table, load, pose) for load, pose in lower) < 0


def test_passing_over_what_is_clear_changes_no_pose() -> None:
    """With ten pieces aboard, every way down ends in the same bits as if each of its steps had been taken."""
    table = laden(10)
    loads = _random_loads("steps")

    quick, slow = (
        [_release(descent, table, area, load) for area, load in loads] for descent in (engine.Descent, _Stepwise)
    )

    assert quick == slow
