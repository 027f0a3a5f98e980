"""Ship and cargo as flat shapes: the projection of each solid part to the front, to the side and from above.

Rule: pure functions of `scene`, `geometry` and a pose; parallel projection, lengths in m; no colours and no pixels.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final

import msgspec

from arena.games.riffraff.geometry import Quaternion, Vector, dot, inverse, part_rotation, rotate_all, split, vector
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
"""A face whose cosine to the line of sight is smaller is left out."""
_LIGHT: Final = (-0.43, 0.75, 0.50)
"""The direction to the light: to the right, upwards and towards the eye; together of length 1."""
_LIT: Final = 0.55
_DARK: Final = 1.75
"""Angles from the light, in rad round a cylinder, at which the light stripe ends and the shadow begins."""
_GLEAM: Final = 0.9
"""Brightness of the light stripe, as if it met the light at an angle of that cosine."""
_CORNERS: Final = tuple(product((-1, 1), repeat=3))
"""The corners of a cube with half edges of length 1."""


class View(msgspec.Struct, frozen=True):
    """A direction of sight: `right` and `up` span the picture, `towards` points to the eye.

    The light comes from above the viewer's left shoulder.
    """

    name: str
    right: Vector
    up: Vector
    towards: Vector

    def flat(self, point: Vector) -> Point:
        """Return the place of a point in the picture, upwards positive."""
        return (dot(self.right, point), dot(self.up, point))

    def depth(self, point: Vector) -> float:
        """Return the nearness of a point to the eye; the nearer, the greater."""
        return dot(self.towards, point)

    @property
    def light(self) -> Vector:
        """The unit vector towards the light."""
        return vector(dot(_LIGHT, axes) for axes in zip(self.right, self.up, self.towards, strict=True))

    def within(self, rotation: Quaternion) -> "View":
        """Return this view in the frame of a body that is turned by `rotation`."""
        return View(self.name, *rotate_all(inverse(rotation), self.right, self.up, self.towards))


FRONT: Final = View("front", (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
"""The view from before the bow: port is on the right."""
SIDE: Final = View("side", (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))
"""The view from starboard: the bow is on the right."""
ABOVE: Final = View("above", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
"""The view from the top of the mast: the bow is on the right, port on top."""


class Facet(msgspec.Struct, frozen=True):
    """A face that the eye sees, and the cosine of the angle at which it meets the light."""

    points: Outline
    light: float


class Solid(msgspec.Struct, frozen=True):
    """A part of a piece or of the ship in a view: its silhouette, the faces upon it, and the depth of its centre."""

    outline: Outline
    facets: tuple[Facet, ...]
    depth: float


def piece_solids(kind: Kind, pose: Pose, view: View) -> tuple[Solid, ...]:
    """Project the parts of a piece, in the order of `PARTS`."""
    origin, rotation = split(pose)
    return tuple(solid(part, origin, rotation, view) for part in PARTS[kind])


def solid(part: Shape, origin: Vector, rotation: Quaternion, view: View) -> Solid:
    """Project a part of a body whose frame is at `origin` and turned by `rotation`.

    The part's own frame is used, where its faces and its axis are simple; only the last step is a shift.
    """
    body = view.within(rotation)
    (h, v), (part_h, part_v) = view.flat(origin), body.flat(part.at_m)
    at = (h + part_h, v + part_v)
    inner = view.within(part_rotation(part, rotation)) if part.is_across else body
    facets = tuple(Facet(_shift(map(inner.flat, points), at), light) for points, light in _visible_faces(part, inner))
    outline = hull(_shift(_silhouette(part, inner), at))
    return Solid(outline, facets, view.depth(origin) + body.depth(part.at_m))


def _shift(points: Iterable[Point], at: Point) -> Outline:
    """Shift points of a picture by `at`."""
    x, y = at
    return tuple([(x + h, y + v) for h, v in points])


def hull(points: Iterable[Point]) -> Outline:
    """Return the convex hull, counter-clockwise from its leftmost point."""
    ordered = sorted(set(points))
    return tuple(_half_hull(ordered)[:-1] + _half_hull(ordered[::-1])[:-1]) if len(ordered) > 2 else tuple(ordered)


def contains(outline: Outline, point: Point) -> bool:
    """Return True if a convex outline, counter-clockwise, has the point inside or on its edge."""
    x, y = point
    ax, ay = outline[-1]
    for bx, by in outline:
        if (bx - ax) * (y - ay) < (by - ay) * (x - ax):
            return False
        ax, ay = bx, by
    return True


def chord(outline: Outline, height: float) -> tuple[float, float] | None:
    """Return the ends of a convex outline at a height; None above and below it."""
    crossings = [
        ax + (height - ay) / (by - ay) * (bx - ax)
        for (ax, ay), (bx, by) in zip(outline, (*outline[1:], outline[0]), strict=True)
        if (ay <= height) != (by <= height)
    ]
    return (min(crossings), max(crossings)) if crossings else None


def _half_hull(ordered: list[Point]) -> list[Point]:
    """Return one side of the convex hull of sorted points: the corners at which it turns left."""
    chain: list[Point] = []
    for x, y in ordered:
        while len(chain) > 1:
            (ax, ay), (bx, by) = chain[-2:]
            if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                break
            chain.pop()
        chain.append((x, y))
    return chain


def _silhouette(part: Shape, view: View) -> Iterable[Point]:
    """Return points whose convex hull is the silhouette of the part."""
    radius = part.half_m[0]
    match part.form:
        case "box":
            a, b, c = part.half_m
            return [view.flat((a * x, b * y, c * z)) for x, y, z in _CORNERS]
        case "cylinder":
            return map(view.flat, (*_circle_points(radius, -part.half_m[1]), *_circle_points(radius, part.half_m[1])))
    half = part.half_m[1] if part.form == "capsule" else 0.0
    ends = [view.flat((0.0, 0.0, end)) for end in (-half, half)]
    return [(h + radius * c, v + radius * s) for h, v in ends for c, s in _CIRCLE]


def _circle_points(radius: float, height: float) -> list[Vector]:
    """Return the points of a circle about z at a height."""
    return [(radius * c, radius * s, height) for c, s in _CIRCLE]


LitFace = tuple[list[Vector], float]
"""The corners of a face in the frame of its part, and the cosine of the angle at which it meets the light."""


def _visible_faces(part: Shape, view: View) -> Iterator[LitFace]:
    """Yield the visible faces of a part upon its silhouette, and on round parts light and shadow."""
    match part.form:
        case "box":
            for axis, sign in product(range(3), (-1, 1)):
                if sign * view.towards[axis] > _EDGE_ON:
                    yield _box_face(part, axis, sign), sign * view.light[axis]
        case "cylinder":
            yield from _stripes_of_cylinder(part, view)
            sign = 1 if view.towards[2] > 0 else -1
            if abs(view.towards[2]) > _EDGE_ON:
                yield _circle_points(part.half_m[0], sign * part.half_m[1]), sign * view.light[2]
        case "sphere":
            yield _gleam_corners(part.half_m[0], view), _GLEAM


def _box_face(part: Shape, axis: int, sign: int) -> list[Vector]:
    """Return the corners of one face of a box, all round."""
    ends = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    corners = ({axis: sign, (axis + 1) % 3: first, (axis + 2) % 3: second} for first, second in ends)
    return [vector(corner[along] * half for along, half in enumerate(part.half_m)) for corner in corners]


def _gleam_corners(radius: float, view: View) -> list[Vector]:
    """Return a small disc on a ball, half way to where the light is."""
    axes = tuple(zip(view.light, view.right, view.up, strict=True))
    return [vector(radius * (light / 2 + (right * c + up * s) / 3) for light, right, up in axes) for c, s in _CIRCLE]


def _stripes_of_cylinder(part: Shape, view: View) -> Iterator[LitFace]:
    """Yield the stripe of a cylinder that faces the light, and the one in shadow, as far as the eye sees them."""
    radius, half = part.half_m
    eye, light = (math.atan2(towards[1], towards[0]) for towards in (view.towards, view.light))
    ahead = math.remainder(light - eye, 2 * math.pi)
    side = math.copysign(1.0, ahead)
    shadow = sorted((ahead - side * _DARK, -side * math.pi))
    for low, high, brightness in ((ahead - _LIT, ahead + _LIT, _GLEAM), (*shadow, 0.0)):
        first, last = max(low, -math.pi / 2), min(high, math.pi / 2)
        if first < last:
            turns = [eye + first + (last - first) * step / 3 for step in range(4)]
            rim = [(radius * math.cos(turn), radius * math.sin(turn)) for turn in turns]
            yield [*((x, y, -half) for x, y in rim), *((x, y, half) for x, y in reversed(rim))], brightness
