"""What went wrong in earlier models of the ship, and must not come back."""

import contextlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from riffraff_tables import laden, piece, settled

from arena.errors import HarnessFault
from arena.games.riffraff import engine
from arena.games.riffraff.actions import Load
from arena.games.riffraff.geometry import UPRIGHT, extents
from arena.games.riffraff.physics import poses
from arena.games.riffraff.scene import AREAS, KINDS, PARTS, YARDS, Kind
from arena.games.riffraff.table import Noise, ShipAtRest

_CRATE = Load("crate", "flat", 50, 22)
_FIVE_S = 500


def test_fourteen_pieces_do_not_creep() -> None:
    """A laden ship left alone for 5 s moves its cargo by less than 0.3 mm."""
    world = engine.afloat(laden(14))
    before = world.state.copy()

    for _ in range(_FIVE_S):
        world.look()

    assert len(poses(before)) == 14
    shift = np.linalg.norm(poses(world.state)[:, :3] - poses(before)[:, :3], axis=1)
    assert 1000 * float(shift.max()) < 0.3


@pytest.mark.parametrize("kind", [kind for kind in KINDS if any(part.form == "box" for part in PARTS[kind])])
def test_a_piece_with_corners_does_not_jitter(kind: Kind) -> None:
    """Boxes are meshes of eight corners: once it lies, a single piece moves less than 0.05 mm in 5 s.

    That is what the ship itself gives way in its dry friction; engine boxes crept 16 mm.
    """
    result = settled(ShipAtRest(), 1, Load(kind, "lying" if kind == "sailor" else "flat", 50, 24))
    world = engine.afloat(ShipAtRest(result.roll, result.pitch, (piece(1, kind, result.rests[0].pose),)))
    for _ in range(_FIVE_S // 5):
        world.look()
    before = poses(world.state).copy()

    for _ in range(_FIVE_S):
        world.look()

    assert 1000 * float(np.abs(poses(world.state) - before)[:, :3].max()) < 0.05


@pytest.mark.parametrize("area", [5, 6, 7, 8, 9, 10])
def test_a_hung_sailor_comes_to_rest(area: int) -> None:
    """His hook fits the yard: he hangs still within 2 s, in the height in which he was hung up."""
    result = settled(ShipAtRest(), area, Load("sailor", "hang", 0, 500 * sum(AREAS[area].v_m)), Noise(roll_rad_s=0.05))

    assert (result.end, result.fallen) == ("rest", ())
    assert result.t_s < 2
    # the lower face of the hook's bar is 3 mm below its origin, and the ship heels a little
    assert result.rests[0].pose[2] == pytest.approx(YARDS[(area - 5) // 2].top_m + 0.003, abs=0.005)


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


def test_a_pose_that_is_none_is_our_fault(tmp_path: Path) -> None:
    """NaN in a table breaks the simulation down and nothing else."""
    broken = ShipAtRest(cargo=(piece(1, "rat", (float("nan"), 0, 0.1, 1, 0, 0, 0)),))

    with contextlib.chdir(tmp_path), pytest.raises(HarnessFault, match="BADQPOS"):
        settled(broken, 1, _CRATE)

    assert list(tmp_path.iterdir()) == []


def test_a_fresh_process_leaves_no_file_behind(tmp_path: Path) -> None:
    """The very first use of the engine may be a divergence, too: no file in the working directory."""
    script = (
        "from arena.games.riffraff import engine\n"
        "from arena.games.riffraff.table import ShipAtRest\n"
        "world = engine.afloat(ShipAtRest(roll=float('nan')))\n"
        "try: world.look()\n"
        "except engine.HarnessFault as fault: print(fault)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )

    assert "broke down after" in done.stdout
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_without_the_engine_the_extra_is_named() -> None:
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

    assert "pip install 'bot-arena[riffraff]'" in done.stdout


def test_a_ship_that_never_rests_is_taken_as_it_is() -> None:
    """After 12 simulated seconds the poses count as they are; here a piece is still on its way down from 1 km above."""
    high = ShipAtRest(cargo=(piece(1, "rat", (0, 0, 1000, 1, 0, 0, 0)),))

    result = settled(high, 1, _CRATE)

    assert (result.end, result.t_s) == ("timeout", 12.0)
    assert [rest.id for rest in result.rests] == ["k01", "k02"]
    assert 1000 - result.rests[0].pose[2] == pytest.approx(9.81 / 2 * 12**2, rel=0.01)
