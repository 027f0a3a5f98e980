"""Cargo as SVG: each piece as its lit parts, from the farthest to the nearest, and its id where it can be read.

Rule: a `Frame` is the place of a view on the paper; nothing here knows the players.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from arena.games.riffraff.drawing import svg
from arena.games.riffraff.drawing.projection import Outline, Point, Solid, View, contains, piece_solids
from arena.games.riffraff.geometry import Vector, rotated, split
from arena.games.riffraff.scene import Kind
from arena.games.riffraff.table import Piece, PieceId, Pose

_ROUND_LIGHT: Final = 0.45
"""The light on a round part between the light stripe and the shadow."""
_LETTER_PX: Final = 5.0
_LABEL_PX: Final = 8.5
_TRIES: Final = tuple((h, v) for v in (0.5, 0.35, 0.65, 0.2, 0.8) for h in (0.5, 0.3, 0.7, 0.15, 0.85))
"""Places of an id in the bounding box of its piece, best first."""
_MARK_SEEN: Final = 0.25
"""Marks on a face seen flatter than this are left out."""
_MARKS: Final[dict[Kind, tuple[tuple[Vector, Vector, float, str], ...]]] = {
    "rat": (
        ((0.0155, 0.0075, 0.004), (0.0, 1.0, 0.0), 0.0013, svg.INK),
        ((0.0155, -0.0075, 0.004), (0.0, -1.0, 0.0), 0.0013, svg.INK),
        ((0.020, 0.004, 0.005), (1.0, 0.0, 0.0), 0.0012, svg.INK),
        ((0.020, -0.004, 0.005), (1.0, 0.0, 0.0), 0.0012, svg.INK),
        ((0.020, 0.0, -0.0055), (1.0, 0.0, 0.0), 0.0016, "#d79a9a"),
    ),
    "chest": (
        ((0.0, 0.011, 0.001), (0.0, 1.0, 0.0), 0.0026, svg.BRASS),
        ((0.0, -0.011, 0.001), (0.0, -1.0, 0.0), 0.0026, svg.BRASS),
    ),
    "sailor": (
        ((-0.0275, 0.0025, 0.008), (-0.85, 0.4, 0.25), 0.0010, svg.INK),
        ((-0.0275, -0.0025, 0.008), (-0.85, -0.4, 0.25), 0.0010, svg.INK),
    ),
}
"""Dots on a piece: place in its frame, normal of the surface there, radius in m, and colour."""


class Frame(msgspec.Struct, frozen=True):
    """A view on the paper: the origin of the table frame in pixels, and pixels for a metre."""

    view: View
    origin: Point
    scale: float

    def at(self, point: Vector) -> Point:
        """From the table frame to pixels on the paper."""
        return self.pixels((self.view.flat(point),))[0]

    def pixels(self, outline: Outline) -> list[Point]:
        """An outline, in m, on the paper."""
        x, y = self.origin
        return [(x + self.scale * h, y - self.scale * v) for h, v in outline]


class Sheet(msgspec.Struct, frozen=True):
    """Something drawn: its nearness to the eye, its SVG, and the outlines that it hides, in pixels."""

    depth: float
    ink: str
    hides: tuple[Outline, ...] = ()


class Drawn(msgspec.Struct, frozen=True):
    """A piece in a view."""

    piece: Piece
    solids: tuple[Solid, ...]
    depth: float


def drawn(cargo: Iterable[Piece], view: View) -> list[Drawn]:
    """All pieces, the nearest first."""
    seen = [Drawn(piece, piece_solids(piece.kind, piece.pose, view), view.depth(piece.pose[:3])) for piece in cargo]
    return sorted(seen, key=lambda each: -each.depth)


def sheets(pieces: Iterable[Drawn], frame: Frame, newest: PieceId | None) -> Iterator[Sheet]:
    """Each piece as one group, the newest in a glow; of a sailor each part, on both sides of a yard."""
    for each in pieces:
        kind, pose = each.piece.kind, each.piece.pose
        parts = [(solid.depth, _part(kind, n, solid, frame)) for n, solid in enumerate(each.solids)]
        head = f'<g class="piece" data-id="{each.piece.id}"'
        glow = "".join(_glow(solid, frame) for solid in each.solids) if each.piece.id == newest else ""
        if kind == "sailor":
            farthest = min(depth for depth, _ in parts)
            for number, (depth, part) in enumerate(parts):
                face = _marks(kind, pose, frame) if number == 1 else ""
                yield Sheet(depth, f"{head}>{glow if depth == farthest else ''}{part}{face}</g>")
        else:
            inner = "".join(text for _, text in sorted(parts, key=lambda part: part[0]))
            yield Sheet(each.depth, f"{head}>{glow}{inner}{_marks(kind, pose, frame)}</g>")


def symbol(kind: Kind, pose: Pose, frame: Frame) -> str:
    """A piece without a name, as a sign of its kind."""
    ordered = sorted(enumerate(piece_solids(kind, pose, frame.view)), key=lambda pair: pair[1].depth)
    return "".join(_part(kind, number, solid, frame) for number, solid in ordered) + _marks(kind, pose, frame)


def _marks(kind: Kind, pose: Pose, frame: Frame) -> str:
    """Eyes and the like, as far as the viewer sees them."""
    (x, y, z), rotation = split(pose)
    dots = []
    for at, normal, radius, colour in _MARKS.get(kind, ()):
        if frame.view.depth(rotated(rotation, normal)) > _MARK_SEEN:
            a, b, c = rotated(rotation, at)
            dots.append(svg.circle(frame.at((x + a, y + b, z + c)), round(radius * frame.scale, 1), colour))
    return "".join(dots)


def _glow(solid: Solid, frame: Frame) -> str:
    edge = f'stroke="{svg.GLOW}" stroke-width="6" stroke-linejoin="round"'
    return svg.polygon(frame.pixels(solid.outline), svg.GLOW, edge)


def body(solid: Solid, colour: str, edge: str, frame: Frame) -> str:
    """The silhouette of a part, and upon it the faces that the light meets."""
    silhouette = svg.polygon(frame.pixels(solid.outline), svg.lit(colour, _ROUND_LIGHT), edge)
    faces = (svg.polygon(frame.pixels(each.points), svg.lit(colour, round(each.light, 2))) for each in solid.facets)
    return silhouette + "".join(faces)


def _part(kind: Kind, number: int, solid: Solid, frame: Frame) -> str:
    colour = svg.DETAILS.get((kind, number), svg.PAINT[kind])
    edge = f'stroke="{svg.mixed(svg.PAINT[kind], "#000000", 0.55)}" stroke-width="0.8" stroke-linejoin="round"'
    faces = solid.facets if kind == "crate" else ()
    return body(solid, colour, edge, frame) + "".join(
        _battens(frame.pixels(face.points), colour, face.light) for face in faces
    )


def _battens(corners: list[Point], colour: str, light: float) -> str:
    """The frame and the brace on a face of a crate."""
    middle = (sum(x for x, _ in corners) / 4, sum(y for _, y in corners) / 4)
    inner = [(x + (middle[0] - x) * 0.24, y + (middle[1] - y) * 0.24) for x, y in corners]
    dark, pale = (svg.lit(svg.mixed(colour, svg.INK, share), round(light, 2)) for share in (0.35, 0.12))
    return svg.polygon(inner, pale, f'stroke="{dark}" stroke-width="0.7"') + svg.segment(inner[0], inner[2], dark, 0.7)


def labels(pieces: Sequence[Drawn], rigging: Iterable[Sheet], frame: Frame) -> Iterator[str]:
    """Ids on their pieces: of the nearest first; those that would not be readable are left out."""
    taken: list[tuple[Point, float]] = []
    hidden: list[Patch] = []
    before = sorted(rigging, key=lambda sheet: sheet.depth)
    for each in pieces:
        while before and before[-1].depth >= each.depth:
            hidden += map(Patch, before.pop().hides)
        own = [Patch(tuple(frame.pixels(solid.outline)[::-1])) for solid in each.solids]
        half = _LETTER_PX * len(each.piece.id) / 2
        place = _place(own, hidden, taken, half)
        hidden += own
        if place is not None:
            taken.append((place, half))
            colour = "#ffffff" if svg.is_dark(svg.PAINT[each.piece.kind]) else svg.INK
            at = (place[0], place[1] + _LABEL_PX * 0.36)
            yield svg.words(at, each.piece.id, _LABEL_PX, f"{svg.MIDDLE} {svg.BOLD} {svg.ink(colour)}")


class Patch:
    """A convex outline on the paper that knows its bounding box, so that most questions are answered at once."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        xs, ys = [x for x, _ in outline], [y for _, y in outline]
        self.left, self.right, self.top, self.bottom = min(xs), max(xs), min(ys), max(ys)

    def covers(self, point: Point) -> bool:
        """Whether the point lies inside or on the edge."""
        x, y = point
        return self.left <= x <= self.right and self.top <= y <= self.bottom and contains(self._outline, point)


def _place(own: list[Patch], hidden: list[Patch], taken: list[tuple[Point, float]], half: float) -> Point | None:
    """The middle of a label of half that width that lies on its own piece, under no other and on no other label."""
    left, right = min(each.left for each in own), max(each.right for each in own)
    top, bottom = min(each.top for each in own), max(each.bottom for each in own)
    for h, v in _TRIES:
        x, y = left + h * (right - left), top + v * (bottom - top)
        spots = [(x - half, y), (x, y), (x + half, y), (x - half, y - 3), (x + half, y + 3)]
        if (
            all(any(each.covers(spot) for each in own) for spot in spots)
            and not any(each.covers(spot) for each in hidden for spot in spots)
            and all(abs(x - a) > half + other or abs(y - b) > _LABEL_PX for (a, b), other in taken)
        ):
            return (x, y)
    return None
