"""Rotations, extents and the area a piece lies on, against known answers and points sampled from the shapes."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.riffraff_tables import UPRIGHT, piece

from arena.games.riffraff.geometry import (
    Quaternion,
    Vector,
    area_of,
    extents,
    inverse,
    multiply,
    part_rotation,
    room_above,
    rotate,
    rotation_about,
    rotation_of,
    ship_rotation,
)
from arena.games.riffraff.scene import AREAS, KINDS, PARTS, Face, Kind, Shape
from arena.games.riffraff.table import Pose, ShipAtRest

_DEGREES = st.floats(-360, 360)
_ROTATIONS = st.builds(
    lambda x, y, z: multiply(rotation_about("x", x), multiply(rotation_about("y", y), rotation_about("z", z))),
    *[_DEGREES] * 3,
)


def _surface_point(part: Shape, rng: Random) -> Vector:
    """A point of a part's surface, in the frame of the part."""
    size = part.half_m
    if part.form == "box":
        x, y, z = (rng.choice((-half, half)) for half in size)
        return (x, y, z)
    turn, height = rng.uniform(0, math.tau), rng.uniform(-1, 1)
    ring = math.sqrt(1 - height * height)
    if part.form == "cylinder":
        return (size[0] * math.cos(turn), size[0] * math.sin(turn), rng.choice((-1, 1)) * size[1])
    shift = 0.0 if part.form == "sphere" else math.copysign(size[1], height)
    return (size[0] * ring * math.cos(turn), size[0] * ring * math.sin(turn), size[0] * height + shift)


def _points(kind: Kind, rotation: Quaternion, count: int) -> list[Vector]:
    rng = Random(kind)
    points = []
    for part in PARTS[kind]:
        turned, centre = part_rotation(part, rotation), rotate(rotation, part.at_m)
        for _ in range(count):
            x, y, z = rotate(turned, _surface_point(part, rng))
            points.append((centre[0] + x, centre[1] + y, centre[2] + z))
    return points


@given(_ROTATIONS, st.sampled_from(KINDS))
def test_the_extents_hold_all_of_a_piece(rotation: Quaternion, kind: Kind) -> None:
    """No point of the surface lies outside of the box that the extents span, however the piece is turned."""
    low, high = extents(kind, rotation)

    for point in _points(kind, rotation, 20):
        assert all(low[axis] - 1e-9 <= point[axis] <= high[axis] + 1e-9 for axis in range(3))


@pytest.mark.parametrize("kind", KINDS)
def test_the_extents_are_no_wider_than_the_piece(kind: Kind) -> None:
    """Many points come near every side of the box."""
    rotation = multiply(rotation_about("z", 25), rotation_about("x", 35))

    low, high = extents(kind, rotation)

    points = _points(kind, rotation, 4000)
    for axis in range(3):
        assert min(point[axis] for point in points) == pytest.approx(low[axis], abs=0.0003)
        assert max(point[axis] for point in points) == pytest.approx(high[axis], abs=0.0003)


@given(_ROTATIONS)
def test_the_way_back_undoes_a_rotation(rotation: Quaternion) -> None:
    """There and back is where it was; the length does not change on the way."""
    there = rotate(rotation, (0.1, -0.2, 0.3))

    assert rotate(inverse(rotation), there) == pytest.approx((0.1, -0.2, 0.3))
    assert math.hypot(*there) == pytest.approx(math.hypot(0.1, 0.2, 0.3))
    assert multiply(rotation, inverse(rotation)) == pytest.approx(UPRIGHT)


def test_yaw_turns_from_bow_to_port() -> None:
    """A yaw of 90 degrees turns the bow end to port; a roll lifts port, a pitch lowers the bow."""
    assert rotate(rotation_about("z", 90), (1, 0, 0)) == pytest.approx((0, 1, 0))
    assert rotate(ship_rotation(ShipAtRest(roll=0.1)), (0, 1, 0)) == pytest.approx((0, math.cos(0.1), math.sin(0.1)))
    assert rotate(ship_rotation(ShipAtRest(pitch=0.1)), (1, 0, 0)) == pytest.approx((math.cos(0.1), 0, -math.sin(0.1)))


def test_the_ship_rolls_before_it_pitches() -> None:
    """The pitch is about the axis that has been rolled: the mast leans accordingly."""
    mast = rotate(ship_rotation(ShipAtRest(roll=0.3, pitch=0.2)), (0, 0, 1))

    sin_roll, cos_roll = math.sin(0.3), math.cos(0.3)
    assert mast == pytest.approx((math.sin(0.2), -sin_roll * math.cos(0.2), cos_roll * math.cos(0.2)))


@pytest.mark.parametrize(
    ("kind", "face", "height_mm"),
    [
        ("chest", "flat", 27), ("chest", "side", 22), ("chest", "end", 36), ("bottle", "upright", 48),
        ("bottle", "lying", 20), ("barrel", "upright", 32), ("barrel", "lying", 26), ("crate", "flat", 28),
        ("plank", "flat", 6), ("plank", "edge", 20), ("lifeboat", "flat", 13), ("lifeboat", "edge", 22),
        ("rat", "flat", 15), ("rat", "side", 15), ("sailor", "hang", 54), ("sailor", "lying", 16),
    ],
)  # fmt: skip
def test_a_piece_is_as_high_on_each_face_as_its_sizes_say(kind: Kind, face: Face, height_mm: float) -> None:
    """The faces of every kind, with the sizes in which the cargo was described."""
    low, high = extents(kind, rotation_of(kind, face, 77))

    assert 1000 * (high[2] - low[2]) == pytest.approx(height_mm, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "pose", "area"),
    [
        ("sailor", (0.0, 0.05, 0.118, 1.0, 0.0, 0.0, 0.0), 5),
        ("crate", (0.05, 0.02, 0.10, 1.0, 0.0, 0.0, 0.0), 1),
        ("crate", (-0.05, -0.02, 0.28, 1.0, 0.0, 0.0, 0.0), 10),
        ("crate", (-0.05, -0.02, 0.03, 1.0, 0.0, 0.0, 0.0), 4),
    ],
    ids=["hung over the yard", "high on the deck", "far out above the top", "sunk beside the hull"],
)
def test_the_level_below_decides_where_a_piece_lies(kind: Kind, pose: Pose, area: int) -> None:
    """A hung sailor lies on his yard; whatever is below the first yard lies on the deck, in the nearest quadrant."""
    assert area_of(piece(1, kind, pose), ShipAtRest()) == area


def test_the_room_above_ends_at_the_next_yard() -> None:
    """74 mm over the deck, 64 mm over the first two yards, and the open air over the last."""
    rooms = [round(1000 * (room_above(area) - area.surface_m), 3) for area in AREAS.values()]

    assert rooms == [74] * 4 + [64] * 4 + [75] * 2
