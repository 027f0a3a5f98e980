"""Ship and cargo as flat shapes: what each solid part looks like from the front, from the side and from above.

Rule: pure functions of `material`, `geometry` and a pose; parallel projection, lengths in m. Colours and pixels are
for those who draw.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from arena.games.riffraff.geometry import Quaternion, Vector, inverse, matrix, part_rotation
from arena.games.riffraff.scene import PARTS, Kind, Shape
from arena.games.riffraff.table import Pose

Point = tuple[float, float]
Outline = tuple[Point, ...]

_STEPS: Final = 24
"""Corners of a drawn circle: the silhouette is at most one percent of the radius too small."""
_CIRCLE: Final = tuple(
    (math.cos(2 * math.pi * step / _STEPS), math.sin(2 * math.pi * step / _STEPS)) for step in range(_STEPS)
)
_EDGE_ON: Final = 0.02
"""A face seen flatter than this shows nothing."""
_LIGHT: Final = (-0.43, 0.75, 0.50)
"""To the right, upwards and towards the eye; together of length 1."""
_LIT: Final = 0.55
_DARK: Final = 1.75
"""How far from the light, in rad round a cylinder, the light stripe ends and the shadow begins."""
_GLEAM: Final = 0.9
"""How bright the light stripe is, as if it met the light at an angle of that cosine."""
_FACES: Final = tuple((axis, sign) for axis in range(3) for sign in (-1, 1))


class View(msgspec.Struct, frozen=True):
    """Where one looks from: `right` and `up` span the picture, `towards` points to the eye.

    The light comes from above the viewer's left shoulder.
    """

    name: str
    right: Vector
    up: Vector
    towards: Vector

    def flat(self, point: Vector) -> Point:
        """Where a point is in the picture, upwards positive."""
        return (_dot(self.right, point), _dot(self.up, point))

    def depth(self, point: Vector) -> float:
        """How near a point is to the eye; the nearer, the greater."""
        return _dot(self.towards, point)

    @property
    def light(self) -> Vector:
        """The unit vector towards the light."""
        x, y, z = (
            _LIGHT[0] * right + _LIGHT[1] * up + _LIGHT[2] * towards
            for right, up, towards in zip(self.right, self.up, self.towards, strict=True)
        )
        return (x, y, z)

    def within(self, rotation: Quaternion) -> "View":
        """The same view in the frame of a body that is turned by `rotation`."""
        rows = matrix(inverse(rotation))
        right, up, towards = (
            (_dot(rows[0], axis), _dot(rows[1], axis), _dot(rows[2], axis))
            for axis in (self.right, self.up, self.towards)
        )
        return View(self.name, right, up, towards)


FRONT: Final = View("front", (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
"""From before the bow: port is on the right."""
SIDE: Final = View("side", (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))
"""From starboard: the bow is on the right."""
ABOVE: Final = View("above", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
"""From the top of the mast: the bow is on the right, port on top."""


class Facet(msgspec.Struct, frozen=True):
    """A face that the eye sees, and the cosine of the angle at which it meets the light."""

    points: Outline
    light: float


class Solid(msgspec.Struct, frozen=True):
    """A part of a piece or of the ship in a view: its silhouette, the faces upon it, and how near its centre is."""

    outline: Outline
    facets: tuple[Facet, ...]
    depth: float


def piece_solids(kind: Kind, pose: Pose, view: View) -> tuple[Solid, ...]:
    """The parts of a piece, in the order of `PARTS`."""
    x, y, z, *rotation = pose
    w, i, j, k = rotation
    return tuple(solid(part, (x, y, z), (w, i, j, k), view) for part in PARTS[kind])


def solid(part: Shape, origin: Vector, rotation: Quaternion, view: View) -> Solid:
    """A part of a body whose frame is at `origin` and turned by `rotation`.

    All is reckoned in the frame of the part, where its faces and its axis are simple; only the last step is a shift.
    """
    body = view.within(rotation)
    (h, v), (part_h, part_v) = view.flat(origin), body.flat(part.at_m)
    at = (h + part_h, v + part_v)
    inner = view.within(part_rotation(part, rotation)) if part.is_across else body
    facets = tuple(Facet(_shifted(map(inner.flat, points), at), light) for points, light in _facets(part, inner))
    outline = hull(_shifted(_silhouette(part, inner), at))
    return Solid(outline, facets, view.depth(origin) + body.depth(part.at_m))


def _shifted(points: Iterable[Point], at: Point) -> Outline:
    x, y = at
    return tuple([(x + h, y + v) for h, v in points])


def hull(points: Iterable[Point]) -> Outline:
    """The convex hull, counter-clockwise from its leftmost point."""
    ordered = sorted(set(points))
    return tuple(_chain(ordered)[:-1] + _chain(ordered[::-1])[:-1]) if len(ordered) > 2 else tuple(ordered)


def contains(outline: Outline, point: Point) -> bool:
    """Whether a convex outline, counter-clockwise, has the point inside or on its edge."""
    x, y = point
    ax, ay = outline[-1]
    for bx, by in outline:
        if (bx - ax) * (y - ay) < (by - ay) * (x - ax):
            return False
        ax, ay = bx, by
    return True


def chord(outline: Outline, height: float) -> tuple[float, float] | None:
    """From where to where a convex outline reaches at a height; None above and below it."""
    crossings = [
        ax + (height - ay) / (by - ay) * (bx - ax)
        for (ax, ay), (bx, by) in zip(outline, (*outline[1:], outline[0]), strict=True)
        if (ay <= height) != (by <= height)
    ]
    return (min(crossings), max(crossings)) if crossings else None


def _chain(ordered: list[Point]) -> list[Point]:
    chain: list[Point] = []
    for x, y in ordered:
        while len(chain) > 1:
            (ax, ay), (bx, by) = chain[-2:]
            if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                break
            chain.pop()
        chain.append((x, y))
    return chain


def _silhouette(part: Shape, view: View) -> Iterator[Point]:
    """Points whose convex hull is what the part hides."""
    size = part.half_m
    match part.form:
        case "box":
            yield from (
                view.flat((x, y, z))
                for x in (-size[0], size[0])
                for y in (-size[1], size[1])
                for z in (-size[2], size[2])
            )
        case "cylinder":
            yield from map(view.flat, (*_ring(size[0], -size[1]), *_ring(size[0], size[1])))
        case "capsule" | "sphere":
            half = size[1] if part.form == "capsule" else 0.0
            for end in {-half, half}:
                h, v = view.flat((0.0, 0.0, end))
                yield from ((h + size[0] * c, v + size[0] * s) for c, s in _CIRCLE)


def _ring(radius: float, height: float) -> list[Vector]:
    return [(radius * c, radius * s, height) for c, s in _CIRCLE]


Lit = tuple[list[Vector], float]
"""The corners of a face in the frame of its part, and the cosine of the angle at which it meets the light."""


def _facets(part: Shape, view: View) -> Iterator[Lit]:
    """What the eye sees of a part besides its silhouette: faces, and on round parts light and shadow."""
    match part.form:
        case "box":
            yield from _box_faces(part, view)
        case "cylinder":
            yield from _stripes(part, view)
            yield from _caps(part, view)
        case "sphere":
            yield _gleam(part, view), _GLEAM


def _box_faces(part: Shape, view: View) -> Iterator[Lit]:
    for axis, sign in _FACES:
        if sign * view.towards[axis] > _EDGE_ON:
            yield _corners(part, axis, sign), sign * view.light[axis]


def _caps(part: Shape, view: View) -> Iterator[Lit]:
    sign = 1 if view.towards[2] > 0 else -1
    if abs(view.towards[2]) > _EDGE_ON:
        yield _ring(part.half_m[0], sign * part.half_m[1]), sign * view.light[2]


def _gleam(part: Shape, view: View) -> list[Vector]:
    """A small disc on a ball, half way to where the light is."""
    radius, light = part.half_m[0], view.light
    return [
        (
            radius * (light[0] / 2 + (view.right[0] * c + view.up[0] * s) / 3),
            radius * (light[1] / 2 + (view.right[1] * c + view.up[1] * s) / 3),
            radius * (light[2] / 2 + (view.right[2] * c + view.up[2] * s) / 3),
        )
        for c, s in _CIRCLE
    ]


def _stripes(part: Shape, view: View) -> Iterator[Lit]:
    """The stripe of a cylinder that faces the light, and the one in shadow, as far as the eye sees them."""
    radius, half = part.half_m
    eye, light = (math.atan2(towards[1], towards[0]) for towards in (view.towards, view.light))
    ahead = math.remainder(light - eye, 2 * math.pi)
    side = math.copysign(1.0, ahead)
    for low, high, brightness in (
        (ahead - _LIT, ahead + _LIT, _GLEAM),
        (*sorted((ahead - side * _DARK, -side * math.pi)), 0.0),
    ):
        first, last = max(low, -math.pi / 2), min(high, math.pi / 2)
        if first < last:
            turns = [eye + first + (last - first) * step / 3 for step in range(4)]
            rim = [(radius * math.cos(turn), radius * math.sin(turn)) for turn in turns]
            yield [*((x, y, -half) for x, y in rim), *((x, y, half) for x, y in reversed(rim))], brightness


def _corners(part: Shape, axis: int, sign: int) -> list[Vector]:
    """Of one face of a box, all round."""
    corners = []
    for one, other in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        at = [0.0, 0.0, 0.0]
        for along, end in ((axis, sign), ((axis + 1) % 3, one), ((axis + 2) % 3, other)):
            at[along] = end * part.half_m[along]
        corners.append((at[0], at[1], at[2]))
    return corners


def _dot(one: Vector, other: Vector) -> float:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]
