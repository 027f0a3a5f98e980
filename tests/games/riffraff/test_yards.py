"""The yards: loose on round bars, they tip like seesaws, hold by dry friction, and stop."""

import math

import pytest
from msgspec.structs import replace
from support.riffraff_tables import UPRIGHT, laden, piece, put, settled

from arena.errors import IllegalAction
from arena.games.riffraff import engine, physics
from arena.games.riffraff.actions import Load, Reason
from arena.games.riffraff.geometry import area_of, dot, level_of, multiply, room_above, room_between, rotate
from arena.games.riffraff.model import GRAVITY, LOOK_S, RIG
from arena.games.riffraff.physics import poses
from arena.games.riffraff.scene import AREAS, KINDS, MASS_KG, YARD_THICKNESS_M, Area, Kind
from arena.games.riffraff.table import STILL, Noise, PieceId, ShipAtRest, Yards

STOP = math.radians(RIG.yard_stop_deg)
SOFT = math.radians(0.3)
"""By which the stop gives way to the cargo at rest on a yard."""
YARD_AREAS = [area for area in AREAS.values() if area.is_yard]
TIPPED: Yards = (STOP, -STOP, STOP / 2)


def _crate(v_mm: float) -> Load:
    return Load("crate", "flat", 0, v_mm)


@pytest.mark.parametrize("area", [area.number for area in YARD_AREAS])
def test_a_yard_tips_under_a_moment_beyond_its_friction_and_holds_below(area: int) -> None:
    """A rat that is lighter on the lever than the friction is strong, and one a third too far out; other yards hold."""
    holds_mm = 1000 * RIG.yard_friction_n_m / (GRAVITY * MASS_KG["rat"])
    side, yard = AREAS[area].side_v, (area - 5) // 2
    near, far = (settled(ShipAtRest(), area, Load("rat", "flat", 0, side * holds_mm * part)) for part in (0.6, 0.95))

    level = [abs(angle) for angle in near.yards]
    others = [angle for number, angle in enumerate(far.yards) if number != yard]

    assert max(level) < math.radians(0.1)
    assert all(abs(angle) < math.radians(0.1) for angle in others)


@pytest.mark.parametrize("area", [area.number for area in YARD_AREAS])
def test_a_yard_tips_to_its_stop_under_a_crate(area: int) -> None:
    """Towards the side of the crate: port up is positive."""
    side, yard = AREAS[area].side_v, (area - 5) // 2

    result = settled(ShipAtRest(), area, _crate(side * 60))

    assert result.fallen == ()
    assert -side * result.yards[yard] == pytest.approx(STOP, abs=SOFT)


def test_a_second_crate_brings_a_yard_back() -> None:
    """Twice as far out on the other side, it tips it over."""
    one = put(ShipAtRest(), 5, _crate(45))

    both = put(one, 6, _crate(-90))

    assert one.yards[0] == pytest.approx(-STOP, abs=SOFT)
    assert both.yards[0] == pytest.approx(STOP, abs=SOFT)


@pytest.mark.parametrize("pieces", [0, pytest.param(14, marks=pytest.mark.slow)])
def test_a_ship_at_rest_does_not_creep(pieces: int) -> None:
    """Left alone for 5 s, gimbal and yards turn by less than 0.03 degrees, laden or not; cargo moves less than 0.3 mm.

    But for a leaning bottle.
    """
    world = engine.make_world(laden(pieces))
    before = world.state.copy()

    for _ in range(round(5 / LOOK_S)):
        world.look()

    turned = abs(world.state[: engine.HINGES] - before[: engine.HINGES])
    assert math.degrees(float(turned.max())) < 0.03
    moved = sorted(map(math.dist, poses(world.state)[:, :3], poses(before)[:, :3]))
    assert max(moved[:-1], default=0) < 0.0003
    assert max(moved, default=0) < 0.0015


def test_a_yard_out_of_balance_does_not_creep() -> None:
    """Held by friction alone under nine tenths of the moment that it bears, for 5 s and to a hundredth of a degree."""
    v_mm = 900 * RIG.yard_friction_n_m / (GRAVITY * MASS_KG["rat"])
    table = put(ShipAtRest(), 5, Load("rat", "flat", 0, v_mm))
    world = engine.make_world(table)
    before = float(world.state[2])

    for _ in range(round(5 / LOOK_S)):
        world.look()

    assert math.degrees(abs(float(world.state[2]) - before)) < 0.01


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "sailor"])
@pytest.mark.parametrize("area", [5, 8, 10])
def test_nothing_passes_through_a_tipping_yard(area: int, kind: Kind) -> None:
    """Dropped on its end from 20 mm while a wave hits: at no look does anything reach to the middle of the yard.

    A step before, it may have been as far above as it falls in 4 ms, which is 2.5 mm.
    """
    end = 0.9 * max(AREAS[area].v_m, key=abs)
    load = Load(kind, "upright" if kind in {"bottle", "barrel"} else "flat", 0, 1000 * end, 90, 20)
    table = put(ShipAtRest(), area, Load("crate", "flat", 0, 30 * AREAS[area].side_v))
    release = physics.begin_placement(table, AREAS[area], load, Noise(roll_rad_s=-0.2), PieceId("k09"))
    depths: list[float] = []

    physics.run_to_rest(release, load, lambda _: depths.append(float(release.world.data.contact.dist.min(initial=0))))

    assert min(depths) > -YARD_THICKNESS_M / 2


@pytest.mark.parametrize("area", [5, 6, 9, 10])
def test_the_stop_holds(area: int) -> None:
    """Three crates on the end of a yard, the last dropped in a heavy wave: never two degrees beyond, then back."""
    far = 1000 * max(AREAS[area].v_m, key=abs)
    table = put(put(ShipAtRest(), area, _crate(far)), area, _crate(far - math.copysign(30, far)))
    load = replace(_crate(far), drop_mm=20.0)
    release = physics.begin_placement(table, AREAS[area], load, Noise(roll_rad_s=0.5), PieceId("k09"))
    seen: list[float] = []

    result = physics.run_to_rest(release, load, lambda state: seen.append(float(abs(state[2:5]).max())))

    assert max(seen) < STOP + math.radians(2)
    assert max(map(abs, result.yards)) < STOP + SOFT


@pytest.mark.parametrize("area", YARD_AREAS, ids=str)
def test_a_load_is_aligned_with_its_yard_as_it_lies(area: Area) -> None:
    """A crate is let go flat over the tipped yard of a heeling ship, its lower face hardly above the upper one's."""
    table = ShipAtRest(roll=0.1, pitch=-0.05, yards=TIPPED)
    v_m = sum(area.v_m) / 2

    release = physics.begin_placement(table, area, _crate(1000 * v_m), STILL, PieceId("k01"))

    level = level_of(area, table)
    assert release.new.pose[3:] == pytest.approx(multiply(level.rotation, UPRIGHT))
    assert release.new.pose[:3] == pytest.approx(level.to_table((0.0, v_m, area.surface_m + 0.014)), abs=0.0001)


@pytest.mark.parametrize("area", AREAS.values(), ids=str)
def test_a_piece_that_lies_on_an_area_is_found_there(area: Area) -> None:
    """Near the mast, in the middle and at the end, whatever way the yards tip and the ship leans."""
    u_m = sum(area.u_m) / 2
    for yards in ((0.0, 0.0, 0.0), TIPPED, (-STOP, STOP, -STOP), (STOP, STOP, STOP)):
        table = ShipAtRest(roll=0.1, pitch=-0.05, yards=yards)
        level = level_of(area, table)
        for v_m in (*area.v_m, sum(area.v_m) / 2):
            place = level.to_table((u_m, v_m, area.surface_m + 0.014))
            assert area_of(piece(1, "crate", (*place, *level.rotation)), table) == area.number


@pytest.mark.parametrize("area", AREAS.values(), ids=str)
def test_the_room_ends_under_the_next_yard_as_it_is_tipped(area: Area) -> None:
    """Under its lower face at either end of the piece, and never higher than if all were level."""
    above = [each for each in YARD_AREAS if each.surface_m > area.surface_m + 0.01]
    for yards in (TIPPED, (-STOP, STOP, -STOP)):
        table = ShipAtRest(yards=yards)
        room = room_between(area, table, area.v_m)
        assert room <= room_above(area)
        for yard_area in above[:1]:
            yard = level_of(yard_area, table)
            normal = rotate(yard.rotation, (0.0, 0.0, 1.0))
            underside = yard.to_table((0.0, 0.0, yard_area.surface_m - 0.006))
            for v_m in area.v_m:
                corner = level_of(area, table).to_table((0.0, v_m, room))
                assert dot(normal, corner) <= dot(normal, underside) + 1e-9


def test_a_yard_tipped_down_leaves_no_room_for_what_is_high() -> None:
    """A chest on its end fits under the next yard on an even keel, and not where that is tipped towards it."""
    low = ShipAtRest(yards=(math.radians(8), math.radians(-8), 0.0))
    load = Load("bottle", "upright", 0, 85)

    physics.require(ShipAtRest(), AREAS[5], load)
    with pytest.raises(IllegalAction) as refused:
        physics.require(low, AREAS[5], load)

    assert refused.value.reason == Reason.NO_ROOM


def test_a_table_with_tipped_yards_is_another_table() -> None:
    """The digest tells them apart."""
    assert ShipAtRest(yards=TIPPED).digest() != ShipAtRest().digest()
