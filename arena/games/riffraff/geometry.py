"""Rotations, extents and the area on which a piece lies: geometry without any physics.

Rule: pure functions of `scene` and numbers, plain Python; lengths in m, quaternions as (w, x, y, z).
"""

import math
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from arena.games.riffraff.scene import FACES, FIRST_YARD_AREA, PARTS, YARD_THICKNESS_M, YARDS, Area, Face, Kind, Shape
from arena.games.riffraff.table import Piece, Pose, ShipAtRest

Quaternion = tuple[float, float, float, float]
Vector = tuple[float, float, float]

_ACROSS_DEG: Final = 90
_OPEN_AIR_M: Final = 0.075
"""Room above the highest yard: enough for every piece on every face, with some under it."""
_AXES: Final[dict[str, Vector]] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def rotation_about(axis: str, degrees: float) -> Quaternion:
    """Return the rotation by `degrees` about the axis x, y or z."""
    half = math.radians(degrees) / 2
    x, y, z = _AXES[axis]
    return (math.cos(half), x * math.sin(half), y * math.sin(half), z * math.sin(half))


def multiply(one: Quaternion, other: Quaternion) -> Quaternion:
    """Multiply two rotations: first `other`, then `one`."""
    a, b, c, d = one
    e, f, g, h = other
    return (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )


def inverse(rotation: Quaternion) -> Quaternion:
    """Return the inverse rotation."""
    w, x, y, z = rotation
    return (w, -x, -y, -z)


def rotation_matrix(rotation: Quaternion) -> tuple[Vector, Vector, Vector]:
    """Return the rotation matrix, row by row."""
    w, x, y, z = rotation
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def dot(one: Vector, other: Vector) -> float:
    """Return the scalar product. Written out: `sum` of floats has other last bits from Python 3.12 on."""
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def rotate(rotation: Quaternion, point: Vector) -> Vector:
    """Rotate a vector."""
    (turned,) = rotate_all(rotation, point)
    return turned


def rotate_all(rotation: Quaternion, *points: Vector) -> Iterator[Vector]:
    """Rotate several vectors."""
    one, two, three = rotation_matrix(rotation)
    for point in points:
        yield (dot(one, point), dot(two, point), dot(three, point))


def split(pose: Pose) -> tuple[Vector, Quaternion]:
    """Split a pose into place and rotation."""
    x, y, z, w, i, j, k = pose
    return (x, y, z), (w, i, j, k)


def vector(numbers: Iterable[float]) -> Vector:
    """Make a vector of three numbers."""
    x, y, z = numbers
    return (x, y, z)


def ship_rotation(table: ShipAtRest) -> Quaternion:
    """Return the rotation from the ship frame to the table frame: roll about x, then pitch about the turned y."""
    return multiply(rotation_about("x", math.degrees(table.roll)), rotation_about("y", math.degrees(table.pitch)))


class Level(NamedTuple):
    """The frame in which the loads of an area are given, seen from the table: the ship's own on deck.

    The frame of a yard is tipped with it about its bar; on a level yard both are the same.
    """

    rotation: Quaternion
    shift: Vector

    def to_table(self, point: Vector) -> Vector:
        """Convert the point of this frame to the table frame."""
        return add(rotate(self.rotation, point), self.shift)


def level_of(area: Area, table: ShipAtRest) -> Level:
    """Return the frame of an area of this ship."""
    ship = ship_rotation(table)
    if area.yard is None:
        return Level(ship, (0.0, 0.0, 0.0))
    turn, shift = yard_frame(area.yard, table)
    return Level(multiply(ship, turn), rotate(ship, shift))


def yard_frame(yard: int, table: ShipAtRest) -> tuple[Quaternion, Vector]:
    """Return the rotation, and the shift after it, that tip a yard from an even keel to its place in the ship frame."""
    angle, bar_m = table.yards[yard], YARDS[yard].bar_m
    return rotation_about("x", math.degrees(angle)), (0.0, bar_m * math.sin(angle), bar_m * (1 - math.cos(angle)))


def add(one: Vector, other: Vector) -> Vector:
    """Add two vectors."""
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])


def rotation_of(kind: Kind, face: Face, yaw_deg: float) -> Quaternion:
    """Return the rotation of a piece in the frame of its area: turned on its face, then by yaw about z."""
    side = FACES[kind][face]
    return multiply(rotation_about("z", yaw_deg), rotation_about(side.axis, side.degrees))


def extents(kind: Kind, rotation: Quaternion) -> tuple[Vector, Vector]:
    """Return the lowest and the highest x, y and z of a rotated piece, seen from the origin of its frame."""
    lows, highs = [], []
    for part in PARTS[kind]:
        halves = _half_widths(part, rotation_matrix(part_rotation(part, rotation)))
        ends = [(at - half, at + half) for at, half in zip(rotate(rotation, part.at_m), halves, strict=True)]
        lows.append([low for low, _ in ends])
        highs.append([high for _, high in ends])
    return vector(map(min, zip(*lows, strict=True))), vector(map(max, zip(*highs, strict=True)))


def part_rotation(part: Shape, rotation: Quaternion) -> Quaternion:
    """Return the rotation of a part of a piece that is turned by `rotation`."""
    return multiply(rotation, rotation_about("y", _ACROSS_DEG)) if part.is_across else rotation


def _half_widths(part: Shape, rows: tuple[Vector, Vector, Vector]) -> Iterator[float]:
    """Yield half the width of a part along each axis."""
    size = part.half_m
    for row in rows:
        along = abs(row[2])
        if part.form == "box":
            yield dot(vector(map(abs, row)), vector(size))
        elif part.form == "sphere":
            yield size[0]
        elif part.form == "capsule":
            yield size[1] * along + size[0]
        else:
            yield size[1] * along + size[0] * math.sqrt(max(0.0, 1 - along * along))


def volume(part: Shape) -> float:
    """Return the volume of a part in cubic metres."""
    size = part.half_m
    if part.form == "box":
        return 8 * size[0] * size[1] * size[2]
    if part.form == "sphere":
        return 4 / 3 * math.pi * size[0] ** 3
    if part.form == "capsule":
        return math.pi * size[0] ** 2 * (2 * size[1] + 4 / 3 * size[0])
    return 2 * math.pi * size[0] ** 2 * size[1]


def centre_of_mass(kind: Kind) -> Vector:
    """Return the centre of mass in the frame of the piece; all parts have the same density."""
    whole = sum(volume(part) for part in PARTS[kind])
    return vector(sum(volume(part) * part.at_m[axis] for part in PARTS[kind]) / whole for axis in range(3))


def area_of(piece: Piece, table: ShipAtRest) -> int:
    """Return the area a piece lies on: the nearest level below its centre of mass, there the side or the quadrant.

    A yard is taken as it is tipped, and as if it had no ends. A sailor is judged by the bar of its hook instead: hung
    over a yard it lies on that yard, though most of it hangs below.
    """
    (x, y, z), rotation = split(piece.pose)
    inner = (0.0, 0.0, 0.0) if piece.kind == "sailor" else centre_of_mass(piece.kind)
    a, b, c = rotate(rotation, inner)
    u, v, height = rotate(inverse(ship_rotation(table)), (x + a, y + b, z + c))
    levels = [number for number in range(len(YARDS)) if _height_of_yard(number, v, table) <= height]
    if levels:
        return FIRST_YARD_AREA + 2 * levels[-1] + (0 if v >= 0 else 1)
    return 1 + (0 if u >= 0 else 2) + (0 if v >= 0 else 1)


def _height_of_yard(yard: int, y_m: float, table: ShipAtRest) -> float:
    """Return the height of a yard's upper face at that place across the ship, in the ship frame."""
    angle = table.yards[yard]
    return YARDS[yard].bar_m + y_m * math.tan(angle) + YARD_THICKNESS_M / math.cos(angle)


def room_above(area: Area) -> float:
    """Return the height in the ship frame, in m, of the next obstacle above an area, not its distance from the area.

    That is the underside of a level yard, or the end of the open air above the highest.
    """
    return min([yard.bar_m for yard in YARDS if yard.bar_m > area.surface_m] + [area.surface_m + _OPEN_AIR_M])


def room_between(area: Area, table: ShipAtRest, v_m: tuple[float, float]) -> float:
    """Return the height of `room_above` as the yards lie, but no more, between these two places across the area.

    In the frame of the area. The lower face of a yard is taken as if it had no ends.
    """
    above = next((number for number, yard in enumerate(YARDS) if yard.bar_m > area.surface_m), None)
    if above is None:
        return room_above(area)
    tip = 0.0 if area.yard is None else table.yards[area.yard]
    between = YARDS[above].bar_m - (0.0 if area.yard is None else YARDS[area.yard].bar_m)
    base, slope = between * math.cos(tip), math.tan(table.yards[above] - tip)
    heights = (base + (v - between * math.sin(tip)) * slope for v in v_m)
    return min(between, *heights) + (YARDS[above].bar_m - between)
