"""Ship and sea as SVG: hull, rigging and counterweight as they lean, the catch plane as water, hands in it.

Rule: the hull's belly, the flag, the waves and the heads of the bars are decoration; everything else is drawn to scale.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Final

from msgspec.structs import replace

from arena.games.riffraff import scene
from arena.games.riffraff.drawing import svg
from arena.games.riffraff.drawing.projection import ABOVE, FRONT, Outline, Point, hull, solid
from arena.games.riffraff.drawing.svg import Frame, Layer
from arena.games.riffraff.geometry import Level, Vector, level_of, rotate
from arena.games.riffraff.scene import (
    AREAS,
    CATCH_PLANE_M,
    DECK_TOP_M,
    FIRST_YARD_AREA,
    HULL,
    HULL_HALF_M,
    MAST_RADIUS_M,
    MAST_TOP_M,
    YARD_SPARS,
    YARD_THICKNESS_M,
    Shape,
)
from arena.games.riffraff.state import Fallen
from arena.games.riffraff.table import ShipAtRest

_BELLY_M: Final = 0.018
_HULL_BOTTOM_M: Final = DECK_TOP_M - 2 * HULL_HALF_M[2]
_EDGE: Final = f'stroke="{svg.mix(svg.TIMBER, svg.INK, 0.65)}" stroke-width="0.9" stroke-linejoin="round"'
_SEAM: Final = svg.mix(svg.WOOD, svg.INK, 0.35)
_FARTHEST_M: Final = -1.0
_ALMOST_M: Final = 0.001
"""Less than the distance of any cargo on a yard from the mast."""
_BEHIND_M: Final = -scene.YARD_HALF_WIDTH_M - 0.0005
"""A yard lies under everything but cargo behind all of it, such as one side of a sailor that hangs over it."""
_TAG_OUT_M: Final = 0.078
"""Further out than a plank across a yard reaches."""
_TAG_PX: Final = 7.5
_BAR_PX: Final = 2.6
_GLASSY: Final = 0.6
"""The opacity of yards seen from above: cargo shows through them."""
_VEIL: Final = 0.72
"""Opacity of the hull before cargo on deck behind its side."""
_RIB: Final = tuple((math.cos(step * math.pi / 12), math.sin(step * math.pi / 12)) for step in range(13))
_WAVE_PX: Final = 24
_MANY: Final = 8
"""If more pieces fell, their signs are smaller."""


class Ship:
    """A drawing of the ship of a table in a frame."""

    def __init__(self, table: ShipAtRest, frame: Frame) -> None:
        self._deck = level_of(AREAS[1], table)
        self._yards = [level_of(AREAS[FIRST_YARD_AREA + 2 * number], table) for number in range(len(YARD_SPARS))]
        self._frame = frame
        self._looks_down = self._shows_top(self._deck)

    def under_water(self) -> str:
        """Draw rod and ball, which the sea is drawn over."""
        return self._draw_part(scene.ROD, svg.BRASS).ink + self._draw_part(scene.BALL, svg.IRON).ink

    def hull(self) -> str:
        """Draw the hull with its planking and the numbers of the areas on deck."""
        body = self._draw_part(HULL, svg.WOOD).ink
        if self._frame.view is ABOVE:
            return body + self._draw_quarters()
        return (self._draw_belly() + body if self._looks_down else body + self._draw_belly()) + self._draw_planking()

    def rigging(self) -> list[Layer]:
        """Draw mast and yards, and but for the view from above flag and bulwark, each with its place among the cargo.

        Of equal places the order is that given. The mast goes through the yards: it is drawn over them, and the part of
        a yard before it is drawn over the mast.
        """
        masts, yards = list(self._draw_mast()), [self._draw_yard(number) for number in range(len(YARD_SPARS))]
        if self._frame.view is ABOVE:
            return [replace(yard, ink=f'<g opacity="{_GLASSY}">{yard.ink}</g>') for yard in yards] + masts
        nearer = [self._draw_before_mast(number) for number in range(len(YARD_SPARS))]
        if self._frame.view is FRONT:
            layers = [replace(layer, depth=_BEHIND_M) for layer in (*yards, *masts, *nearer)]
        else:
            layers = self._order_from_side(yards, masts, nearer)
        return [*layers, self._draw_flag(), *self._draw_bulwark()]

    def _order_from_side(self, yards: list[Layer], masts: list[Layer], nearer: list[Layer]) -> list[Layer]:
        """Return all layers with the depths by which they are sorted.

        Cargo is before a yard that is seen from above, and behind its end if it is seen from below.
        """
        shows_top = [self._shows_top(level) for level in self._yards]
        far = ((yard, _FARTHEST_M if top else -_ALMOST_M) for yard, top in zip(yards, shows_top, strict=True))
        near = ((part, 0.0 if top else -_FARTHEST_M) for part, top in zip(nearer, shows_top, strict=True))
        layers = (*far, *((mast, 0.0) for mast in masts), *near)
        return [replace(layer, depth=depth) for layer, depth in layers]

    def _shows_top(self, level: Level) -> bool:
        """Return True if the eye sees upper faces there."""
        return self._frame.view.depth(rotate(level.rotation, (0.0, 0.0, 1.0))) >= 0

    def _draw_mast(self) -> Iterator[Layer]:
        """Draw the mast from the deck up, parted within the yards."""
        joints = (yard.top_m - YARD_THICKNESS_M / 2 for yard in scene.YARDS)
        for bottom, top in pairwise((DECK_TOP_M, *joints, MAST_TOP_M)):
            half = (top - bottom) / 2
            yield self._draw_part(Shape("cylinder", (MAST_RADIUS_M, half), (0.0, 0.0, bottom + half)), svg.TIMBER)

    def _draw_yard(self, number: int) -> Layer:
        """Draw a yard, tipped as it lies, over the numbers of its areas."""
        body = self._draw_part(YARD_SPARS[number], svg.WOOD, level=self._yards[number])
        return replace(body, ink="".join(self._draw_yard_tags(number)) + body.ink)

    def _draw_before_mast(self, number: int) -> Layer:
        """Draw the part of a yard between mast and eye, without an edge, so that no seam is seen."""
        x, y, z = YARD_SPARS[number].half_m
        middle = YARD_SPARS[number].at_m[2]
        if self._frame.view is FRONT:
            part = Shape("box", ((x - MAST_RADIUS_M) / 2, y, z), ((x + MAST_RADIUS_M) / 2, 0.0, middle))
        else:
            part = Shape("box", (x, (y - MAST_RADIUS_M) / 2, z), (0.0, -(y + MAST_RADIUS_M) / 2, middle))
        body = self._draw_part(part, svg.WOOD, edge="", level=self._yards[number])
        return replace(body, ink=body.ink + self._draw_bar_end(number)) if self._frame.view is FRONT else body

    def _draw_bar_end(self, number: int) -> str:
        """Draw the end of the bar on which a yard tips."""
        at = self._pixels_at((scene.YARD_HALF_WIDTH_M, 0.0, scene.YARDS[number].bar_m))
        return svg.circle(at, _BAR_PX, svg.BRASS, _EDGE)

    def _pixels_at(self, point: Vector, level: Level | None = None) -> Point:
        """Convert a point of the ship, or of a yard's frame, to pixels."""
        return self._frame.at((level or self._deck).to_table(point))

    def _draw_line(self, one: Vector, other: Vector, colour: str, width: float, more: str = "") -> str:
        """Draw a line between two points of the ship."""
        return svg.segment(self._pixels_at(one), self._pixels_at(other), colour, width, more)

    def _draw_part(self, part: Shape, colour: str, edge: str = _EDGE, level: Level | None = None) -> Layer:
        """Draw a part of the ship, or of a yard in its frame."""
        within = level or self._deck
        projected = solid(part, within.shift, within.rotation, self._frame.view)
        hides = tuple(self._frame.pixels(projected.outline)[::-1])
        return Layer(projected.depth, svg.body(projected, colour, edge, self._frame), (hides,))

    def _point_on_side(self, along: float, height: float) -> Vector:
        """Return a point on the face of the hull that is turned to the eye: `along` from -1 to 1."""
        if self._frame.view is FRONT:
            return (HULL_HALF_M[0], along * HULL_HALF_M[1], height)
        return (along * HULL_HALF_M[0], -HULL_HALF_M[1], height)

    def _draw_belly(self) -> str:
        return svg.polygon(self._belly_outline(), svg.shade(svg.TIMBER, 0.2), _EDGE)

    def _belly_outline(self) -> Outline:
        """Return the lower half of an ellipsoid under the corners of the hull, in pixels."""
        x, y, _ = HULL_HALF_M
        points = [(h * x, v * y, _HULL_BOTTOM_M) for h, v in product((-1, 1), repeat=2)]
        for turn in (step * math.pi / 16 for step in range(17)):
            along, rib = math.cos(turn) * x, math.sin(turn)
            points += [(along, rib * across * y, _HULL_BOTTOM_M - rib * down * _BELLY_M) for across, down in _RIB]
        return hull(map(self._pixels_at, points))

    def _draw_planking(self) -> str:
        """Draw two seams, and on each half of the hull the number of the nearer area, then of the one behind it."""
        seams = (
            self._draw_line(self._point_on_side(-1, height), self._point_on_side(1, height), _SEAM, 0.7)
            for height in (DECK_TOP_M - 0.0055, DECK_TOP_M - 0.0165)
        )
        names = ("2·4", "1·3") if self._frame.view is FRONT else ("4·3", "2·1")
        at = (self._pixels_at(self._point_on_side(side, DECK_TOP_M - HULL_HALF_M[2])) for side in (-0.5, 0.5))
        return "".join((*seams, *map(_tag, at, names)))

    def _draw_bulwark(self) -> Iterator[Layer]:
        """Draw the hull again, as a veil over cargo on deck behind it, when one looks up at the ship."""
        if not self._looks_down:
            corners = ((-1, _HULL_BOTTOM_M), (1, _HULL_BOTTOM_M), (1, DECK_TOP_M), (-1, DECK_TOP_M))
            side = [self._pixels_at(self._point_on_side(along, height)) for along, height in corners]
            body = svg.polygon(side, svg.shade(svg.WOOD, 0.5), _EDGE)
            veil = f'<g opacity="{_VEIL}">{self._draw_belly()}{body}</g>{self._draw_planking()}'
            hides = (tuple(side[::-1]), self._belly_outline())
            yield Layer(HULL_HALF_M[0 if self._frame.view is FRONT else 1], veil, hides)

    def _draw_yard_tags(self, number: int) -> Iterator[str]:
        """Draw the numbers of the areas of a yard at its ends, or from the side on a line to it."""
        port, starboard = 5 + 2 * number, 6 + 2 * number
        x, y, _ = YARD_SPARS[number].half_m
        middle = YARD_SPARS[number].at_m[2]
        if self._frame.view is FRONT:
            for side, area in ((1, port), (-1, starboard)):
                yield _tag(self._pixels_at((x, side * (y + 0.009), middle), self._yards[number]), str(area))
        elif self._frame.view is not ABOVE:
            out, root = (-_TAG_OUT_M, 0.0, middle), (0.0, 0.0, middle)
            yield self._draw_line(out, root, svg.mix(svg.WOOD, svg.INK, 0.4), 0.8, 'stroke-dasharray="1 3"')
            yield _tag(self._pixels_at(out), f"{starboard}·{port}")

    def _draw_quarters(self) -> str:
        """Draw the lines between the areas of the deck and their numbers, from above."""
        x, y, z = HULL_HALF_M[0], HULL_HALF_M[1], DECK_TOP_M
        lines = (((-x, 0.0, z), (x, 0.0, z)), ((0.0, -y, z), (0.0, y, z)))
        seams = (self._draw_line(start, end, _SEAM, 0.7) for start, end in lines)
        corners = product((0.9, -0.9), (0.75, -0.75))
        tags = (_tag(self._pixels_at((h * x, v * y, z)), str(area)) for area, (h, v) in enumerate(corners, start=1))
        return "".join((*seams, *tags))

    def _draw_flag(self) -> Layer:
        """Draw a flag on a pole on top of the mast."""
        top = (0.0, 0.0, MAST_TOP_M + 0.022)
        pole = self._draw_line((0.0, 0.0, MAST_TOP_M), top, svg.mix(svg.TIMBER, svg.INK, 0.4), 1.6)
        x, y = self._pixels_at(top)
        wave = f"M{x:.1f} {y:.1f}c8 -5 14 5 26 0l-5 7l5 7c-12 5 -18 -5 -26 0z"
        return Layer(_BEHIND_M, f'{pole}<path d="{wave}" fill="{svg.FLAG}" stroke="{svg.INK}" stroke-width="0.8"/>')


def waves(y: float, left: float, right: float) -> str:
    """Draw the surface of the sea as a line of waves at height `y`, from `left` to `right` in pixels."""
    count = math.ceil((right - left) / _WAVE_PX)
    crest = f"M{left:g} {y:.1f}" + f"q{_WAVE_PX / 4:g} -3 {_WAVE_PX / 2:g} 0t{_WAVE_PX / 2:g} 0" * count
    return f'<path d="{crest}" fill="none" stroke="#ffffff" stroke-opacity="0.75" stroke-width="1.6"/>'


def in_catch_plane(frame: Frame, x_mm: float, y_mm: float) -> Point:
    """Convert a place in the catch plane to pixels."""
    return frame.at((x_mm / 1000, y_mm / 1000, CATCH_PLANE_M))


def reaches(frame: Frame, places: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Draw the rims of hands, for where the ship is over them."""
    look = f'stroke="{svg.HAND}" stroke-dasharray="4 3"'
    for place in places:
        yield svg.circle(in_catch_plane(frame, *place), scene.HAND_RADIUS_M * frame.scale, "none", look)


def hands(frame: Frame, places: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Draw hands as discs in the catch plane; from the side they are seen edge-on."""
    radius = scene.HAND_RADIUS_M * frame.scale
    look = f'stroke="{svg.mix(svg.HAND, svg.INK, 0.5)}" stroke-width="1" fill-opacity="0.85"'
    for place in places:
        x, y = in_catch_plane(frame, *place)
        if frame.view is ABOVE:
            yield svg.circle((x, y), radius, svg.HAND, look)
        else:
            yield f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{radius:.1f}" ry="5" fill="{svg.HAND}" {look}/>'


def splashes(frame: Frame, fallen: Sequence[Fallen]) -> Iterator[str]:
    """Draw where pieces crossed the catch plane: a sign of the kind in a ring of the colour of its fate."""
    scale = 0.42 if len(fallen) <= _MANY else 0.3
    for piece in fallen:
        x, y = in_catch_plane(frame, piece.x_mm, piece.y_mm)
        ring = f'stroke="{svg.FATES[piece.fate]}" stroke-width="{5.7 * scale:.1f}" class="fallen" data-id="{piece.id}"'
        yield svg.circle((x, y), round(21.5 * scale, 1), svg.SHEET, ring)
        yield f'<use href="#{svg.BADGE.format(piece.kind)}" transform="translate({x:.1f} {y:.1f}) scale({scale})"/>'


def _tag(at: Point, text: str) -> str:
    """Draw the number of an area on a small plate."""
    half = _TAG_PX if len(text) == 1 else _TAG_PX + 3.2 * (len(text) - 1)
    size = f'x="{at[0] - half:.1f}" y="{at[1] - _TAG_PX:.1f}" width="{2 * half:g}" height="{2 * _TAG_PX:g}"'
    look = f'rx="{_TAG_PX:g}" fill="{svg.SHEET}" stroke="{svg.mix(svg.WOOD, svg.INK, 0.5)}" stroke-width="0.8"'
    label = svg.words((at[0], at[1] + 3.4), text, 9.5, f"{svg.MIDDLE} {svg.BOLD} {svg.ink(svg.INK)}")
    return f"<rect {size} {look}/>{label}"
