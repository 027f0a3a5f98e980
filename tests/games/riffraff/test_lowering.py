"""Letting a piece down: the search alone on an imagined column, then what the engine says of the pose it ends in."""

import contextlib
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.golden import Golden
from support.riffraff_tables import UPRIGHT, after, laden, piece, random_load, random_noise, settled, tried

from arena.errors import HarnessFault, IllegalAction
from arena.games.riffraff import engine
from arena.games.riffraff.actions import Load
from arena.games.riffraff.geometry import extents, level_of, rotation_matrix
from arena.games.riffraff.model import HALVINGS, LOOK_S, LOOKS_MAX, LOWERING_END_M
from arena.games.riffraff.physics import poses
from arena.games.riffraff.scene import AREAS, CATCH_PLANE_M, KINDS, PARTS, Area, Kind
from arena.games.riffraff.table import DIGITS, STILL, Noise, Pose, Result, ShipAtRest
from arena.games.riffraff.turns import kind_of

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
    """The piece is free, and less than 0.02 mm above what it would touch."""
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


def _release(descent: engine.Descent, area: int, load: Load) -> Pose | str:
    """The pose of the release without noise, or the sentence of the refusal."""
    try:
        return descent.release(AREAS[area], load, STILL, 0)
    except IllegalAction as refusal:
        return refusal.message


def _depth(table: ShipAtRest, load: Load, pose: Sequence[float]) -> float:
    """How far the piece of a load reaches into anything in this pose, as the engine's negative distance; else 0."""
    world = engine.World(table, [*((each.kind, each.pose) for each in table.cargo), (kind_of(load), pose)])
    contact = world.contacts()
    is_own = (world.model.geom_bodyid[contact.geom] == world.model.nbody - 1).any(axis=1)
    return float(contact.dist[is_own].min(initial=0.0))


def _down(area: Area, table: ShipAtRest) -> list[float]:
    """0.03 mm down onto that area, as a change of a pose."""
    return [-0.00003 * row[2] for row in rotation_matrix(level_of(area, table).rotation)] + [0] * 4


def _random_loads(seed: str) -> list[tuple[int, Load]]:
    rng = Random(seed)
    return [(area, random_load(rng, area, kind)) for area in AREAS for kind in KINDS]


def test_nothing_reaches_into_anything_when_it_is_let_go() -> None:
    """The engine finds no contact of the new piece at its release, and one as soon as it is 0.03 mm lower."""
    table = laden(10)
    loads = _random_loads("release/10")
    down = {area: _down(AREAS[area], table) for area in AREAS}

    poses = [(area, load, _release(engine.Descent(table, kind_of(load)), area, load)) for area, load in loads]

    released = [(area, load, pose) for area, load, pose in poses if not isinstance(pose, str)]
    assert len(released) > len(loads) / 2
    assert min(_depth(table, load, pose) for _, load, pose in released) == 0
    lower = [(load, [a + b for a, b in zip(pose, down[area], strict=True)]) for area, load, pose in released]
    assert max(_depth(table, load, pose) for load, pose in lower) < 0


def test_one_descent_serves_all_loads_of_a_kind() -> None:
    """What was asked of it before leaves no trace, not in the last bit; refusals are the same, too."""
    table = laden(10)
    crates = [(area, load) for area, load in _random_loads("again") if load.kind == "crate"]
    used = engine.Descent(table, "crate")

    again = [_release(used, area, load) for area, load in [*crates, *crates]]

    assert again == 2 * [_release(engine.Descent(table, "crate"), area, load) for area, load in crates]
    assert any(isinstance(each, str) for each in again)


_CRATE = Load("crate", "flat", 50, 22)
_FIVE_S = round(5 / LOOK_S)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if any(part.form == "box" for part in PARTS[kind])])
def test_a_piece_with_corners_does_not_jitter(kind: Kind) -> None:
    """Boxes are meshes of eight corners: once it lies, a single piece moves less than 0.05 mm in 5 s.

    That is what the ship itself gives way in its dry friction; engine boxes crept 16 mm.
    """
    load = Load(kind, "lying" if kind == "sailor" else "flat", 50, 24)
    result = settled(ShipAtRest(), 1, load)
    world = engine.make_world(after(ShipAtRest(), 1, load, result))
    for _ in range(_FIVE_S // 5):
        world.look()
    before = poses(world.state).copy()

    for _ in range(_FIVE_S):
        world.look()

    assert 1000 * float(np.abs(poses(world.state) - before)[:, :3].max()) < 0.05


@pytest.mark.parametrize("area", [5, 6, 7, 8, 9, 10])
def test_a_hung_sailor_comes_to_rest(area: int) -> None:
    """His hook fits the yard: he hangs still within 2 s, in the height in which he was hung up."""
    load = Load("sailor", "hang", 0, 500 * sum(AREAS[area].v_m))
    result = settled(ShipAtRest(), area, load, Noise(roll_rad_s=0.05))

    assert (result.end, result.fallen) == ("rest", ())
    assert result.t_s < 2
    level = level_of(AREAS[area], after(ShipAtRest(), area, load, result))
    # the lower face of the hook's bar is 3 mm below its origin
    hung = level.to_table((0.0, load.v_mm / 1000, AREAS[area].surface_m + 0.003))
    assert result.rests[0].pose[:3] == pytest.approx(hung, abs=0.005)


@pytest.mark.parametrize("kind", KINDS)
def test_the_model_reaches_as_far_as_the_geometry(kind: Kind) -> None:
    """Meshes and primitives of the engine have the same extents as the geometry by which placements are refused."""
    world = engine.World(ShipAtRest(), [(kind, (0, 0, 1, 1, 0, 0, 0))])
    world.contacts()
    own = world.model.geom_bodyid == world.model.nbody - 1

    frames = world.data.geom_xmat[own].reshape(-1, 3, 3)
    middle, half = world.model.geom_aabb[own, :3], world.model.geom_aabb[own, 3:]
    centre = world.data.geom_xpos[own] + np.einsum("nij,nj->ni", frames, middle) - (0, 0, 1)
    reach = np.einsum("nij,nj->ni", np.abs(frames), half)

    low, high = extents(kind, UPRIGHT)
    assert (centre - reach).min(axis=0) == pytest.approx(low, abs=1e-6)
    assert (centre + reach).max(axis=0) == pytest.approx(high, abs=1e-6)


@pytest.mark.parametrize(
    ("noise", "warning"),
    [(Noise(roll_rad_s=float("nan")), "BADQVEL"), (Noise(pitch_rad_s=1e30), "BADQVEL")],
    ids=["NaN", "huge"],
)
def test_a_divergence_is_our_fault_and_leaves_nothing_behind(tmp_path: Path, noise: Noise, warning: str) -> None:
    """HarnessFault names what broke down; the table is as it was, no file is written, and the next placement works."""
    table = laden(5)
    digest = table.digest()

    with contextlib.chdir(tmp_path), pytest.raises(HarnessFault, match=warning):
        settled(table, 1, _CRATE, noise)

    assert table.digest() == digest
    assert list(tmp_path.iterdir()) == []
    assert settled(table, 1, _CRATE).end == "rest"


def test_the_engine_does_not_start_afresh_by_itself() -> None:
    """The engine's silent reset after a divergence is off, so that every divergence is seen."""
    world = engine.make_world(ShipAtRest())

    assert world.model.opt.disableflags & world.engine.mjtDisableBit.mjDSBL_AUTORESET


def test_a_fresh_process_leaves_no_file_behind(tmp_path: Path, golden: Golden) -> None:
    """The very first use of the engine may be a divergence, too: no file in the working directory."""
    script = (
        "from arena.games.riffraff import engine\n"
        "from arena.games.riffraff.table import ShipAtRest\n"
        "world = engine.make_world(ShipAtRest(roll=float('nan')))\n"
        "try: world.look()\n"
        "except engine.HarnessFault as fault: print(fault)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )

    golden(done.stdout)
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_without_the_engine_the_extra_is_named(golden: Golden) -> None:
    """The module can be imported; its first use is a SpecError with the command that helps."""
    script = (
        "import sys\n"
        "sys.modules['mujoco'] = None\n"
        "from arena.errors import SpecError\n"
        "from arena.games.riffraff import physics\n"
        "try: physics.fingerprint()\n"
        "except SpecError as error: print(error)\n"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)

    golden(done.stdout)


def test_a_ship_that_never_rests_is_taken_as_it_is() -> None:
    """After 6 simulated seconds the poses count as they are; here a piece is still on its way down from 1 km above."""
    high = ShipAtRest(cargo=(piece(1, "rat", (0, 0, 1000, 1, 0, 0, 0)),))

    result = settled(high, 1, _CRATE)

    assert (result.end, result.t_s) == ("timeout", 6.0)
    assert [rest.id for rest in result.rests] == ["k01", "k02"]
    assert 1000 - result.rests[0].pose[2] == pytest.approx(9.81 / 2 * 6**2, rel=0.01)


_PLACES = [(area, kind) for area in AREAS for kind in KINDS]


def _require(table: ShipAtRest, load: Load, result: Result) -> None:
    """What holds for every result: each piece is somewhere, once; nothing rests in the water; numbers are canonical."""
    names = sorted([*(rest.id for rest in result.rests), *(fall.id for fall in result.fallen)])
    assert names == sorted([*(each.id for each in table.cargo), result.id])
    assert [rest.id for rest in result.rests] == sorted(rest.id for rest in result.rests)
    numbers = [result.roll, result.pitch, *(number for rest in result.rests for number in rest.pose)]
    assert all(number == round(number, DIGITS) and str(number) != "-0.0" for number in numbers)
    assert all(math.hypot(*rest.pose[3:]) == pytest.approx(1, abs=0.0001) for rest in result.rests)
    assert all(rest.pose[2] >= CATCH_PLANE_M for rest in result.rests)
    assert 0 < result.t_s <= LOOKS_MAX * LOOK_S
    assert (result.end == "timeout") == (result.t_s == LOOKS_MAX * LOOK_S)
    assert 0 <= result.halved <= HALVINGS
    assert max(abs(result.roll), abs(result.pitch)) <= math.radians(result.tilt_max_deg) + 0.00002
    assert [fall.t_s for fall in result.fallen] == sorted(fall.t_s for fall in result.fallen)
    assert all(fall.hand is None or fall.hand < len(load.hands_mm) for fall in result.fallen)


def _tried(table: ShipAtRest, area: int, rng: Random, kind: Kind) -> tuple[ShipAtRest, bool]:
    """The table after a random placement, and whether it was refused."""
    load, noise = random_load(rng, area, kind), random_noise(rng)
    result = tried(table, area, load, noise)
    if result is None:
        return table, True
    _require(table, load, result)
    changed = after(table, area, load, result)
    assert changed.digest() == result.digest
    return changed, False


@pytest.mark.parametrize(
    ("rounds", "most", "seed"),
    [
        (1, 12, "few"),
        pytest.param(100, 9, "many", marks=pytest.mark.slow),
        pytest.param(25, 24, "more", marks=pytest.mark.slow),
    ],
)
def test_random_placements_of_every_kind_on_every_area(tmp_path: Path, rounds: int, most: int, seed: str) -> None:
    """In a breeze, on ships that fill up to `most` pieces: no divergence, no file, results that are valid."""
    rng, table, refused = Random(seed), ShipAtRest(), 0
    with contextlib.chdir(tmp_path):
        for area, kind in [place for _ in range(rounds) for place in rng.sample(_PLACES, len(_PLACES))]:
            table, is_refused = _tried(table, area, rng, kind)
            refused += is_refused
            if len(table.cargo) >= most:
                table = ShipAtRest()

    assert list(tmp_path.iterdir()) == []
    assert 0 < refused / (rounds * len(_PLACES)) < 0.6
