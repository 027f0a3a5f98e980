"""SVG elements as text, and cargo made of them: each piece as its lit parts, and its id where it can be read.

Rule: a `Frame` is the place of a view on the paper; nothing here knows the players. Texts on the picture are escaped
here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final
from xml.sax.saxutils import escape

import msgspec

from arena.games.riffraff.drawing.projection import Outline, Point, Solid, View, contains, piece_solids
from arena.games.riffraff.geometry import Vector, rotate, split
from arena.games.riffraff.scene import KINDS, Kind
from arena.games.riffraff.table import Piece, PieceId, Pose

INK: Final = "#2b2118"
FADED: Final = "#8a7a66"
PAPER: Final = "#f7f0e1"
SHEET: Final = "#fffaf0"
LINE: Final = "#d9c8a9"
WOOD: Final = "#d9ad74"
TIMBER: Final = "#a9713f"
BRASS: Final = "#c9962e"
IRON: Final = "#5c6470"
FLAG: Final = "#b5382f"
HAND: Final = "#f3cda6"
ACCENT: Final = "#e4572e"
GLOW: Final = "#ffd54a"
FATES: Final[Mapping[str, str]] = {"removed": "#3fa35b", "returned": "#e0a526", "to_supply": "#d8392b"}

_PAINTS: Final = ("#9c4a2f", "#2f9e77", "#e28a2b", "#e3c04a", "#56606e", "#d6403a", "#9a9ea8", "#3a69bd")
PAINT: Final[Mapping[Kind, str]] = dict(zip(KINDS, _PAINTS, strict=True))
DETAILS: Final[Mapping[tuple[Kind, int], str]] = {
    ("chest", 1): "#b8613d",
    ("bottle", 1): "#7cc9a8",
    ("rat", 1): "#d79a9a",
    ("sailor", 1): "#f3cda6",
}
"""Parts with a colour of their own, by their place among the parts of the kind."""

SERIF: Final = "Georgia, 'Palatino Linotype', 'DejaVu Serif', serif"
SANS: Final = "'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"
_SHADOW: Final = "#1d1a33"
_LIGHT: Final = "#ffffff"


def polygon(points: Iterable[Point], fill: str, more: str = "") -> str:
    """Draw a closed shape; `points` in pixels."""
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polygon points="{places}" fill="{fill}"{_with_space(more)}/>'


def segment(one: Point, other: Point, stroke: str, width: float, more: str = "") -> str:
    """Draw a straight line."""
    ends = f'x1="{one[0]:.1f}" y1="{one[1]:.1f}" x2="{other[0]:.1f}" y2="{other[1]:.1f}"'
    return f'<line {ends} stroke="{stroke}" stroke-width="{width:g}"{_with_space(more)}/>'


def circle(at: Point, radius: float, fill: str, more: str = "") -> str:
    """Draw a disc."""
    return f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius:g}" fill="{fill}"{_with_space(more)}/>'


def box(left: float, top: float, width: float, height: float, more: str = "") -> str:
    """Draw a rectangle."""
    return f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}"{_with_space(more)}/>'


def words(at: Point, text: object, size: float, more: str = "") -> str:
    """Draw a line of text that starts at the point, or sits about it with `MIDDLE`."""
    return f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" font-size="{size:g}"{_with_space(more)}>{escape(str(text))}</text>'


BADGE: Final = "riffraff-{}"
"""The name of the sign of a kind within the document."""
MIDDLE: Final = 'text-anchor="middle"'
END: Final = 'text-anchor="end"'
BOLD: Final = 'font-weight="bold"'


def ink(colour: str) -> str:
    """Return the attribute that fills with a colour."""
    return f'fill="{colour}"'


@lru_cache(maxsize=2048)
def shade(colour: str, light: float) -> str:
    """Shade a colour where the light meets it with that cosine; 0.5 leaves it as it is. `light` has two decimals."""
    if light >= 0.5:
        return mix(colour, _LIGHT, (light - 0.5) * 0.8)
    return mix(colour, _SHADOW, min((0.5 - light) * 0.45, 0.6))


def mix(colour: str, other: str, share: float) -> str:
    """Mix a colour with a share of another one."""
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(first + (second - first) * share) for first, second in pairs).hex()


def is_dark(colour: str) -> bool:
    """Return True if light letters are easier to read on the colour than dark ones."""
    red, green, blue = bytes.fromhex(colour[1:])
    return 0.30 * red + 0.59 * green + 0.11 * blue < 140


def _with_space(more: str) -> str:
    return f" {more}" if more else ""


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
        ((0.0155, 0.0075, 0.004), (0.0, 1.0, 0.0), 0.0013, INK),
        ((0.0155, -0.0075, 0.004), (0.0, -1.0, 0.0), 0.0013, INK),
        ((0.020, 0.004, 0.005), (1.0, 0.0, 0.0), 0.0012, INK),
        ((0.020, -0.004, 0.005), (1.0, 0.0, 0.0), 0.0012, INK),
        ((0.020, 0.0, -0.0055), (1.0, 0.0, 0.0), 0.0016, "#d79a9a"),
    ),
    "chest": (
        ((0.0, 0.011, 0.001), (0.0, 1.0, 0.0), 0.0026, BRASS),
        ((0.0, -0.011, 0.001), (0.0, -1.0, 0.0), 0.0026, BRASS),
    ),
    "sailor": (
        ((-0.0275, 0.0025, 0.008), (-0.85, 0.4, 0.25), 0.0010, INK),
        ((-0.0275, -0.0025, 0.008), (-0.85, -0.4, 0.25), 0.0010, INK),
    ),
}
"""Dots on a piece: place in its frame, normal of the surface there, radius in m, and colour."""


class Frame(msgspec.Struct, frozen=True):
    """A view on the paper: the origin of the table frame in pixels, and pixels for a metre."""

    view: View
    origin: Point
    scale: float

    def at(self, point: Vector) -> Point:
        """Convert a point of the table frame to pixels on the paper."""
        return self.pixels((self.view.flat(point),))[0]

    def pixels(self, outline: Outline) -> list[Point]:
        """Convert an outline, in m, to pixels on the paper."""
        x, y = self.origin
        return [(x + self.scale * h, y - self.scale * v) for h, v in outline]


class Layer(msgspec.Struct, frozen=True):
    """A drawn thing: its nearness to the eye, its SVG, and the outlines that it hides, in pixels."""

    depth: float
    ink: str
    hides: tuple[Outline, ...] = ()


class ProjectedPiece(msgspec.Struct, frozen=True):
    """A piece as a view shows it."""

    piece: Piece
    solids: tuple[Solid, ...]
    depth: float


def project_pieces(cargo: Iterable[Piece], view: View) -> list[ProjectedPiece]:
    """Project all pieces, the nearest first."""
    pieces = [ProjectedPiece(p, piece_solids(p.kind, p.pose, view), view.depth(p.pose[:3])) for p in cargo]
    return sorted(pieces, key=lambda piece: -piece.depth)


def piece_layers(pieces: Iterable[ProjectedPiece], frame: Frame, newest: PieceId | None) -> Iterator[Layer]:
    """Draw each piece as one group, the newest in a glow; of a sailor each part, on both sides of a yard."""
    for seen in pieces:
        kind, pose = seen.piece.kind, seen.piece.pose
        parts = [(solid.depth, _draw_part(kind, n, solid, frame)) for n, solid in enumerate(seen.solids)]
        head = f'<g class="piece" data-id="{seen.piece.id}"'
        glow = "".join(_draw_glow(solid, frame) for solid in seen.solids) if seen.piece.id == newest else ""
        if kind == "sailor":
            farthest = min(depth for depth, _ in parts)
            for number, (depth, part) in enumerate(parts):
                face = _draw_marks(kind, pose, frame) if number == 1 else ""
                yield Layer(depth, f"{head}>{glow if depth == farthest else ''}{part}{face}</g>")
        else:
            inner = "".join(text for _, text in sorted(parts, key=lambda part: part[0]))
            yield Layer(seen.depth, f"{head}>{glow}{inner}{_draw_marks(kind, pose, frame)}</g>")


def symbol(kind: Kind, pose: Pose, frame: Frame) -> str:
    """Draw a piece without a name, as a sign of its kind."""
    ordered = sorted(enumerate(piece_solids(kind, pose, frame.view)), key=lambda pair: pair[1].depth)
    return "".join(_draw_part(kind, number, solid, frame) for number, solid in ordered) + _draw_marks(kind, pose, frame)


def _draw_marks(kind: Kind, pose: Pose, frame: Frame) -> str:
    """Draw eyes and the like, as far as the viewer sees them."""
    (x, y, z), rotation = split(pose)
    dots = []
    for at, normal, radius, colour in _MARKS.get(kind, ()):
        if frame.view.depth(rotate(rotation, normal)) > _MARK_SEEN:
            a, b, c = rotate(rotation, at)
            dots.append(circle(frame.at((x + a, y + b, z + c)), round(radius * frame.scale, 1), colour))
    return "".join(dots)


def _draw_glow(solid: Solid, frame: Frame) -> str:
    """Draw a coloured rim around a part."""
    edge = f'stroke="{GLOW}" stroke-width="6" stroke-linejoin="round"'
    return polygon(frame.pixels(solid.outline), GLOW, edge)


def body(solid: Solid, colour: str, edge: str, frame: Frame) -> str:
    """Draw the silhouette of a part, and upon it the faces that the light meets."""
    silhouette = polygon(frame.pixels(solid.outline), shade(colour, _ROUND_LIGHT), edge)
    faces = (polygon(frame.pixels(facet.points), shade(colour, round(facet.light, 2))) for facet in solid.facets)
    return silhouette + "".join(faces)


def _draw_part(kind: Kind, number: int, solid: Solid, frame: Frame) -> str:
    """Draw a part of a piece in its colour, with battens if it is a crate."""
    colour = DETAILS.get((kind, number), PAINT[kind])
    edge = f'stroke="{mix(PAINT[kind], "#000000", 0.55)}" stroke-width="0.8" stroke-linejoin="round"'
    faces = solid.facets if kind == "crate" else ()
    return body(solid, colour, edge, frame) + "".join(
        _draw_battens(frame.pixels(face.points), colour, face.light) for face in faces
    )


def _draw_battens(corners: list[Point], colour: str, light: float) -> str:
    """Draw the frame and the brace on a face of a crate."""
    middle = (sum(x for x, _ in corners) / 4, sum(y for _, y in corners) / 4)
    inner = [(x + (middle[0] - x) * 0.24, y + (middle[1] - y) * 0.24) for x, y in corners]
    dark, pale = (shade(mix(colour, INK, share), round(light, 2)) for share in (0.35, 0.12))
    return polygon(inner, pale, f'stroke="{dark}" stroke-width="0.7"') + segment(inner[0], inner[2], dark, 0.7)


def labels(pieces: Sequence[ProjectedPiece], rigging: Iterable[Layer], frame: Frame) -> Iterator[str]:
    """Draw ids on their pieces, which come nearest first; ids that would not be readable are left out.

    `rigging` are the layers that may hide them.
    """
    taken: list[tuple[Point, float]] = []
    hidden: list[Patch] = []
    before = sorted(rigging, key=lambda sheet: sheet.depth)
    for seen in pieces:
        while before and before[-1].depth >= seen.depth:
            hidden += map(Patch, before.pop().hides)
        patches = [Patch(tuple(frame.pixels(solid.outline)[::-1])) for solid in seen.solids]
        half = _LETTER_PX * len(seen.piece.id) / 2
        place = _place(patches, hidden, taken, half)
        hidden += patches
        if place is not None:
            taken.append((place, half))
            colour = "#ffffff" if is_dark(PAINT[seen.piece.kind]) else INK
            at = (place[0], place[1] + _LABEL_PX * 0.36)
            yield words(at, seen.piece.id, _LABEL_PX, f"{MIDDLE} {BOLD} {ink(colour)}")


class Patch:
    """A convex outline on the paper with its bounding box, which answers most questions at once."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        xs, ys = [x for x, _ in outline], [y for _, y in outline]
        self.left, self.right, self.top, self.bottom = min(xs), max(xs), min(ys), max(ys)

    def covers(self, point: Point) -> bool:
        """Return True if the point lies inside or on the edge."""
        x, y = point
        return self.left <= x <= self.right and self.top <= y <= self.bottom and contains(self._outline, point)


def _place(patches: list[Patch], hidden: list[Patch], taken: list[tuple[Point, float]], half: float) -> Point | None:
    """Return the middle of a label of that half width on its own piece, under no other and on no other label.

    None if no place tried is free.
    """
    left, right = min(patch.left for patch in patches), max(patch.right for patch in patches)
    top, bottom = min(patch.top for patch in patches), max(patch.bottom for patch in patches)
    for h, v in _TRIES:
        x, y = left + h * (right - left), top + v * (bottom - top)
        spots = [(x - half, y), (x, y), (x + half, y), (x - half, y - 3), (x + half, y + 3)]
        if (
            all(any(patch.covers(spot) for patch in patches) for spot in spots)
            and not any(patch.covers(spot) for patch in hidden for spot in spots)
            and all(abs(x - a) > half + other_half or abs(y - b) > _LABEL_PX for (a, b), other_half in taken)
        ):
            return (x, y)
    return None
