"""The simulated ship against what was measured when its parameters were chosen, and against symmetry."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from support.golden import Golden
from support.riffraff_tables import piece, settled, tried

from arena.errors import IllegalAction
from arena.games.riffraff import engine, physics
from arena.games.riffraff.actions import Load, Reason
from arena.games.riffraff.engine import HINGES, POSE, WorldState
from arena.games.riffraff.model import LOOK_S, LOOKS_PER_WINDOW, SWING
from arena.games.riffraff.physics import Watch
from arena.games.riffraff.scene import AREAS, FACES, KINDS, Face, Kind
from arena.games.riffraff.table import STILL, Noise, PieceId, ShipAtRest

_STRAIGHT: dict[Kind, Face] = {kind: next(iter(FACES[kind])) for kind in KINDS}
"""The face of each kind that looks the same in a mirror along the ship."""


def _swing_after_release(axis: int, degrees: float, looks: int) -> NDArray[np.float64]:
    """Roll (axis 0) or pitch at the start and after every look, of an empty ship let go at that angle."""
    roll, pitch = (math.radians(degrees) if axis == each else 0.0 for each in (0, 1))
    world = engine.make_world(ShipAtRest(roll, pitch))
    angles = []
    for _ in range(looks):
        angles.append(float(world.state[axis]))
        world.look()
    return np.array(angles)


def _stays(area: int, kind: Kind, face: Face, yaw_deg: int) -> bool:
    """Return True if a single piece in the middle of an area stays there."""
    u, v = (500 * sum(side) for side in (AREAS[area].u_m, AREAS[area].v_m))
    result = tried(ShipAtRest(), area, Load(kind, face, u, v, yaw_deg))
    return result is not None and not result.fallen


def _released(area: int, load: Load, noise: Noise = STILL) -> physics.Placement:
    """Return an empty ship with the piece just let go."""
    return physics.begin_placement(ShipAtRest(), AREAS[area], load, noise, PieceId("k01"))


def test_the_ship_weighs_and_rights_itself_as_specified() -> None:
    """Mass and restoring moment that bots are told are those of the engine's ship."""
    world = engine.make_world(ShipAtRest())

    mass_kg = float(world.model.body_subtreemass[1])
    world.engine.mj_fwdPosition(world.model, world.data)
    centre_m = float(world.data.subtree_com[1][2])

    assert round(1000 * mass_kg, 1) == SWING["mass_g"]
    assert round(-1e6 * mass_kg * centre_m) == SWING["stiffness_g_mm"]


@pytest.mark.parametrize(("axis", "period"), [(0, "roll_period_s"), (1, "pitch_period_s")])
def test_the_ship_swings_with_the_period_and_decay_that_were_measured(axis: int, period: str) -> None:
    """Released at 10 degrees it is back after the period that bots are told; half a swing later a third is left."""
    rolls = _swing_after_release(axis, 10, round(1.3 / LOOK_S))

    is_extreme = (np.abs(rolls[1:-1]) > np.abs(rolls[:-2])) & (np.abs(rolls[1:-1]) >= np.abs(rolls[2:]))
    extremes = 1 + np.flatnonzero(is_extreme)
    assert len(extremes) == 2
    assert extremes[1] * LOOK_S == pytest.approx(SWING[period], abs=0.03)
    decays = np.abs(rolls[extremes] / rolls[[0, extremes[0]]])
    assert math.sqrt(decays.prod()) == pytest.approx(0.33, abs=0.02)


@pytest.mark.parametrize(
    ("area", "kind"), [(area, kind) for area in (1, 5, 9) for kind in KINDS if kind != "sailor" or area >= 5]
)
def test_a_mirrored_placement_heels_the_ship_to_the_other_side(area: int, kind: Kind) -> None:
    """Port or starboard makes no difference but the sign of the roll, to a tenth of a degree."""
    u, v = (300 * side[0] + 700 * side[1] for side in (AREAS[area].u_m, AREAS[area].v_m))
    yaw_deg = 0 if kind in {"sailor", "plank"} else 35

    port = settled(ShipAtRest(), area, Load(kind, _STRAIGHT[kind], u, v, yaw_deg))
    starboard = settled(ShipAtRest(), area + 1, Load(kind, _STRAIGHT[kind], u, -v, -yaw_deg))

    assert math.degrees(port.roll) == pytest.approx(-math.degrees(starboard.roll), abs=0.1)
    assert math.degrees(port.pitch) == pytest.approx(math.degrees(starboard.pitch), abs=0.1)
    assert len(port.fallen) == len(starboard.fallen)


@pytest.mark.parametrize("area", AREAS)
def test_a_single_piece_stays_wherever_it_is_laid_with_care(area: int) -> None:
    """Every kind on every face stays in the middle of every area, along or across the ship."""
    faces = [(kind, face) for kind in KINDS for face in FACES[kind] if face != "hang" or AREAS[area].is_yard]

    lost = [(kind, face) for kind, face in faces if not any(_stays(area, kind, face, yaw) for yaw in (0, 90))]

    assert lost == []


def test_the_kick_of_a_wave_tilts_the_ship() -> None:
    """The same load tilts the ship further when a wave hits it; the other axis is hit alike."""
    load = Load("crate", "flat", 50, 22)

    still = settled(ShipAtRest(), 1, load)
    rolled = settled(ShipAtRest(), 1, load, Noise(roll_rad_s=1))
    pitched = settled(ShipAtRest(), 1, load, Noise(pitch_rad_s=1))

    assert min(rolled.tilt_max_deg, pitched.tilt_max_deg) > still.tilt_max_deg + 2


def test_the_shift_of_an_unsteady_hand_moves_the_piece() -> None:
    """A piece lies where it was meant to, and off by the shift and the turn of the noise."""
    meant = settled(ShipAtRest(), 1, Load("crate", "flat", 50, 22)).rests[0].pose

    shifted = settled(ShipAtRest(), 1, Load("crate", "flat", 50, 22), Noise(u_mm=2, v_mm=-1, yaw_deg=90)).rests[0].pose

    assert [1000 * (b - a) for a, b in zip(meant[:2], shifted[:2], strict=True)] == pytest.approx([2, -1], abs=0.1)
    assert shifted[3:] == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)), abs=0.02)


def test_a_dropped_piece_falls_that_far() -> None:
    """A crate dropped from 20 mm is let go 20 mm above the contact, rocks the ship, and ends in the same place."""
    laid, dropped = (Load("crate", "flat", 50, 22, drop_mm=height) for height in (0, 20))

    soft, hard = (settled(ShipAtRest(), 1, load) for load in (laid, dropped))

    heights = [_released(1, load).new.pose[2] for load in (laid, dropped)]
    assert 1000 * (heights[1] - heights[0]) == pytest.approx(20)
    assert hard.tilt_max_deg > soft.tilt_max_deg
    assert hard.rests[0].pose == pytest.approx(soft.rests[0].pose, abs=0.01)


def test_a_place_under_a_tower_has_no_room(golden: Golden) -> None:
    """Two crates on top of each other leave no room for a third; the reason, the pile and a hint are told."""
    tower = ShipAtRest(cargo=tuple(piece(n, "crate", (0.05, 0.022, 0.021 + 0.028 * n, 1, 0, 0, 0)) for n in (1, 2)))

    with golden.raises(IllegalAction) as refused:
        physics.require(tower, AREAS[1], Load("crate", "flat", 50, 22))

    assert refused.value.reason == Reason.NO_ROOM
    assert refused.value.hint


def test_a_place_beside_the_yard_has_no_support(golden: Golden) -> None:
    """A rat on the edge of the yard is caught by its width; further out there is nothing within 30 mm below."""
    load, overboard = Load("rat", "flat", 9, 60, 90), Load("rat", "flat", 30, 60, 90)

    physics.require(ShipAtRest(), AREAS[5], load)
    with golden.raises(IllegalAction) as refused:
        physics.require(ShipAtRest(), AREAS[5], overboard)

    assert refused.value.reason == Reason.NO_SUPPORT
    assert refused.value.hint


@pytest.mark.parametrize(
    ("u_mm", "halved", "landed_mm"), [(10, 0, 10), (40, 1, 20), (100, 2, 25), (5000, 6, 0)], ids=str
)
def test_a_shift_without_room_is_halved_until_there_is_some(u_mm: float, halved: int, landed_mm: float) -> None:
    """A shift off the yard is halved as often as needed, and left out after six halvings."""
    noise = Noise(u_mm=u_mm)

    release = _released(5, Load("chest", "flat", 0, 60), noise)

    assert release.halved == halved
    assert 1000 * release.new.pose[0] == pytest.approx(landed_mm)
    assert settled(ShipAtRest(), 5, Load("chest", "flat", 0, 60), noise).halved == halved


_IDS = tuple(PieceId(f"k{number:02d}") for number in range(1, 5))
_CRATE = Load("crate", "flat", 50, 22)


def _state(*places: tuple[float, float, float], roll: float = 0.0) -> WorldState:
    """A state with pieces there, none of them turned."""
    state = np.zeros(HINGES + POSE * len(places))
    state[0] = roll
    for index, place in enumerate(places):
        state[HINGES + POSE * index :][:4] = (*place, 1.0)
    return state


def _watch(start: WorldState, hands_mm: tuple[tuple[float, float], ...] = ()) -> Watch:
    return Watch(start, _IDS[: (len(start) - HINGES) // POSE], hands_mm)


def _beside(x_m: float, y_m: float) -> ShipAtRest:
    """An empty ship, and a rat in the air beside it, which is about to fall."""
    return ShipAtRest(cargo=(piece(1, "rat", (x_m, y_m, 0.05, 1, 0, 0, 0)),))


def test_a_piece_falls_where_its_way_crosses_the_catch_plane() -> None:
    """The crossing lies between two looks, in proportion: place and time."""
    watch = _watch(_state((0.10, 0.20, -0.010), (0, 0, 0.1)))

    gone = watch.see(_state((0.14, 0.16, -0.050), (0, 0, 0.1)))

    assert gone == (0,)
    (fall,) = watch.fallen
    assert (fall.id, fall.x_mm, fall.y_mm, fall.hand) == ("k01", 110, 190, None)
    assert fall.t_s == pytest.approx(0.25 * LOOK_S)


def test_a_piece_falls_once() -> None:
    """What has fallen is not looked at any more, and does not rest."""
    watch = _watch(_state((0, 0, -0.010), (0, 0, 0.1)))
    watch.see(_state((0, 0, -0.030), (0, 0, 0.1)))

    gone = watch.see(_state((0, 0, -0.060), (0, 0, 0.1)))

    assert gone == ()
    assert len(watch.fallen) == 1
    assert [rest.id for rest in watch.rests(_state((0, 0, -0.060), (0, 0, 0.1)))] == ["k02"]


def test_pieces_fall_in_the_order_in_which_they_cross() -> None:
    """Between the same two looks the lower one was first; at the same time, the first id."""
    first = _watch(_state((0, 0, -0.010), (0, 0, -0.019)))
    alike = _watch(_state((0, 0, -0.010), (0, 0, -0.010)))

    first.see(_state((0, 0, -0.030), (0, 0, -0.040)))
    alike.see(_state((0, 0, -0.030), (0, 0, -0.030)))

    assert [fall.id for fall in first.fallen] == ["k02", "k01"]
    assert [fall.id for fall in alike.fallen] == ["k01", "k02"]


def test_a_hand_that_is_full_catches_no_more() -> None:
    """Pieces that fell first are caught, whether the next ones fall between the same two looks or later."""
    watch = _watch(_state((0, 0.1, -0.012), (0, 0.1, -0.011), (0, 0.1, -0.010), (0, 0.1, 0.1)), hands_mm=((0, 100),))

    watch.see(_state((0, 0.1, -0.030), (0, 0.1, -0.030), (0, 0.1, -0.030), (0, 0.1, 0.1)))
    watch.see(_state((0, 0.1, -0.060), (0, 0.1, -0.060), (0, 0.1, -0.060), (0, 0.1, -0.030)))

    assert [(fall.id, fall.hand) for fall in watch.fallen] == [("k01", 0), ("k02", 0), ("k03", None), ("k04", None)]


def test_rest_is_judged_at_the_end_of_a_window() -> None:
    """Nothing moves for 0.16 s: that is rest, and not a look earlier."""
    still = _state((0, 0, 0.1), roll=0.1)
    watch = _watch(still)

    judged = []
    for _ in range(LOOKS_PER_WINDOW):
        watch.see(still)
        judged.append(watch.is_at_rest(still))

    assert judged == [False] * (LOOKS_PER_WINDOW - 1) + [True]
    assert watch.t_s == 0.16


def test_a_window_begins_anew_where_something_moved() -> None:
    """Rest is found as soon as nothing has moved for so long, not at the end of the next window."""
    still, moved = _state((0, 0, 0.1)), _state((0, 0, 0.2))
    watch = _watch(still)

    judged = []
    for state in [still, still, *[moved] * (LOOKS_PER_WINDOW + 1)]:
        watch.see(state)
        judged.append(watch.is_at_rest(state))

    assert judged == [False] * (LOOKS_PER_WINDOW + 2) + [True]


@pytest.mark.parametrize(
    ("moved", "is_rest"),
    [
        (_state((0, 0, 0.10014)), True),
        (_state((0, 0, 0.10016)), False),
        (_state((0, 0, 0.1), roll=0.00049), True),
        (_state((0, 0, 0.1), roll=-0.00051), False),
        (_state((0, 0, 0.1)) + np.array([0] * (HINGES + 4) + [0.0029, 0, 0]), True),
        (_state((0, 0, 0.1)) + np.array([0] * (HINGES + 4) + [0, -0.0031, 0]), False),
    ],
    ids=["shift", "shift too far", "tilt", "tilt too far", "turn", "turn too far"],
)
def test_a_little_movement_within_the_window_is_still_rest(moved: WorldState, *, is_rest: bool) -> None:
    """0.15 mm, 0.0005 rad of a hinge, 0.003 of a quaternion's component; more is not rest, and a new window begins."""
    watch = _watch(_state((0, 0, 0.1)))

    judged = []
    for _ in range(LOOKS_PER_WINDOW + 1):
        watch.see(moved)
        judged.append(watch.is_at_rest(moved))

    assert judged[-2:] == [is_rest, True]


def test_the_largest_tilt_is_kept() -> None:
    """The result has the largest tilt of all looks and both hinges, either way."""
    watch = _watch(_state((0, 0, 0.1)))

    for roll in (0.05, -0.2, 0.1):
        watch.see(_state((0, 0, 0.1), roll=roll))

    assert watch.tilt_max_rad == 0.2


@pytest.mark.parametrize(("off_mm", "hand"), [(44.9, 0), (45.1, None)])
def test_a_piece_that_drops_beside_the_hull_is_caught_by_a_hand_below(off_mm: float, hand: int | None) -> None:
    """It goes down plumb, so where the hand may be is known to a tenth of a millimetre."""
    load = Load("crate", "flat", 50, 22, hands_mm=((-90, -50), (30, 150 + off_mm)))

    result = settled(_beside(0.03, 0.15), 1, load)

    (fall,) = result.fallen
    assert (fall.id, fall.x_mm, fall.y_mm) == ("k01", 30, 150)
    assert fall.hand == (None if hand is None else 1)
    assert fall.t_s == pytest.approx((2 * 0.07 / 9.81) ** 0.5, abs=0.003)
    assert [rest.id for rest in result.rests] == ["k02"]


def test_what_has_fallen_touches_nothing() -> None:
    """A piece under the plane is no obstacle: what the ship does is the same without it, but for its last moments."""
    alone = settled(ShipAtRest(), 1, _CRATE)

    beside = settled(_beside(0.03, 0.15), 1, _CRATE)

    assert (beside.roll, beside.pitch) == (alone.roll, alone.pitch)
    assert beside.rests[0].pose == alone.rests[0].pose
