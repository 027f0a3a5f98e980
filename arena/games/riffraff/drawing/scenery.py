"""The ship and the sea in ink: hull, rigging and counterweight as they heel, the catch plane as water, hands in it.

Rule: the hull's belly, the flag and the waves are decoration; everything else is drawn to scale.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from arena.games.riffraff.drawing.ink import (
    BOLD,
    BRASS,
    FATES,
    FLAG,
    HAND,
    INK,
    IRON,
    MIDDLE,
    SHEET,
    TIMBER,
    WOOD,
    circle,
    ink,
    line,
    lit,
    mixed,
    polygon,
    words,
)
from arena.games.riffraff.drawing.outline import ABOVE, FRONT, Outline, hull, solid
from arena.games.riffraff.drawing.stowage import Frame, Sheet
from arena.games.riffraff.geometry import Quaternion, Vector, rotated, ship_rotation
from arena.games.riffraff.scene import (
    BALL_HEIGHT_M,
    BALL_RADIUS_M,
    CATCH_PLANE_M,
    DECK_TOP_M,
    HAND_RADIUS_M,
    HULL_HALF_M,
    MAST_RADIUS_M,
    MAST_TOP_M,
    ROD_RADIUS_M,
    YARD_HALF_WIDTH_M,
    YARD_THICKNESS_M,
    YARDS,
    Shape,
)
from arena.games.riffraff.state import Fallen
from arena.games.riffraff.table import Table

_BELLY_M: Final = 0.018
_HULL_BOTTOM_M: Final = DECK_TOP_M - 2 * HULL_HALF_M[2]
_EDGE: Final = f'stroke="{mixed(TIMBER, INK, 0.65)}" stroke-width="0.9" stroke-linejoin="round"'
_FARTHEST_M: Final = -1.0
_ALMOST_M: Final = 0.001
"""Less than the distance of any cargo on a yard from the mast."""
_BEHIND_M: Final = -YARD_HALF_WIDTH_M - 0.0005
"""A yard lies under everything but what is behind all of it, such as one side of a sailor that hangs over it."""
_TAG_OUT_M: Final = 0.078
"""Further out than a plank across a yard reaches."""
_TAG_PX: Final = 7.5
_GLASSY: Final = 0.6
"""From above, yards let what lies under them be seen."""
_VEIL: Final = 0.72
"""How much the hull hides of what is on deck behind its side."""
_RIB: Final = tuple((math.cos(step * math.pi / 12), math.sin(step * math.pi / 12)) for step in range(13))
_WAVE_PX: Final = 24
_MANY: Final = 8
"""If more pieces fell, their signs are smaller."""


class Ship:
    """The ship of a table in a frame."""

    def __init__(self, table: Table, frame: Frame) -> None:
        self._turn: Quaternion = ship_rotation(table)
        self._frame = frame

    def under_water(self) -> str:
        """Rod and ball, which the sea is drawn over."""
        half = -BALL_HEIGHT_M / 2
        rod = Shape("cylinder", (ROD_RADIUS_M, half), (0.0, 0.0, -half))
        ball = Shape("sphere", (BALL_RADIUS_M,), (0.0, 0.0, BALL_HEIGHT_M))
        return self._body(rod, BRASS).ink + self._body(ball, IRON).ink

    def hull(self) -> str:
        """Hull with its planking and the numbers of the areas on deck."""
        body = self._body(Shape("box", HULL_HALF_M, (0.0, 0.0, DECK_TOP_M - HULL_HALF_M[2])), WOOD).ink
        if self._frame.view is ABOVE:
            return body + self._quarters()
        if self._looks_down():
            return self._belly() + body + self._planking()
        return body + self._belly() + self._planking()

    def rigging(self) -> Iterator[Sheet]:
        """Mast and yards, each with its place among the cargo; equal places in the order given."""
        masts, yards = list(self._masts()), [self._yard(number) for number in range(len(YARDS))]
        looks_down = self._looks_down()
        if self._frame.view is ABOVE:
            yield from (replace(yard, ink=f'<g opacity="{_GLASSY}">{yard.ink}</g>') for yard in yards)
            yield from masts
        elif self._frame.view is FRONT:
            upwards = _alternating(masts, yards)
            yield from (replace(each, depth=_BEHIND_M) for each in (upwards if looks_down else upwards[::-1]))
            yield from (self._flag(), *self._bulwark())
        else:
            yield from self._seen_endways(masts, yards, looks_down=looks_down)
            yield from (self._flag(), *self._bulwark())

    def _seen_endways(self, masts: list[Sheet], yards: list[Sheet], *, looks_down: bool) -> Iterator[Sheet]:
        """From the side: cargo stands on the yards as one looks down on them, and behind their ends as one looks up.

        The mast stands between the farther and the nearer half.
        """
        yield from (replace(yard, depth=_FARTHEST_M if looks_down else -_ALMOST_M) for yard in yards)
        nearer = [self._nearer_half(number) for number in range(len(YARDS))]
        if looks_down:
            yield from (replace(each, depth=0.0) for each in _alternating(masts, nearer))
        else:
            yield from (replace(mast, depth=0.0) for mast in masts)
            yield from (replace(half, depth=-_FARTHEST_M) for half in nearer)

    def _masts(self) -> Iterator[Sheet]:
        """The mast from the deck up, a piece between any two yards."""
        heights = [DECK_TOP_M, *(yard.top_m for yard in YARDS), MAST_TOP_M]
        for bottom, top in pairwise(heights):
            end = top if top == MAST_TOP_M else top - YARD_THICKNESS_M
            half = (end - bottom) / 2
            yield self._body(Shape("cylinder", (MAST_RADIUS_M, half), (0.0, 0.0, bottom + half)), TIMBER)

    def _yard(self, number: int) -> Sheet:
        yard, middle = YARDS[number], YARDS[number].top_m - YARD_THICKNESS_M / 2
        size = (YARD_HALF_WIDTH_M, yard.half_length_m, YARD_THICKNESS_M / 2)
        body = self._body(Shape("box", size, (0.0, 0.0, middle)), WOOD)
        return replace(body, ink="".join(self._yard_tags(number)) + body.ink)

    def _nearer_half(self, number: int) -> Sheet:
        """Of a yard, without an edge, so that no seam is seen."""
        half, middle = YARDS[number].half_length_m / 2, YARDS[number].top_m - YARD_THICKNESS_M / 2
        size = (YARD_HALF_WIDTH_M, half, YARD_THICKNESS_M / 2)
        return self._body(Shape("box", size, (0.0, -half, middle)), WOOD, edge="")

    def _looks_down(self) -> bool:
        """Whether decks are seen from above."""
        return self._frame.view.depth(rotated(self._turn, (0.0, 0.0, 1.0))) >= 0

    def _at(self, point: Vector) -> tuple[float, float]:
        return self._frame.at(rotated(self._turn, point))

    def _body(self, part: Shape, colour: str, edge: str = _EDGE) -> Sheet:
        seen = solid(part, (0.0, 0.0, 0.0), self._turn, self._frame.view)
        outline = self._frame.pixels(seen.outline)
        faces = (polygon(self._frame.pixels(face.points), lit(colour, round(face.light, 2))) for face in seen.facets)
        body = polygon(outline, lit(colour, 0.45), edge) + "".join(faces)
        return Sheet(seen.depth, body, (tuple(outline[::-1]),))

    def _face(self, along: float, height: float) -> Vector:
        """A point on the face of the hull that is turned to the eye: `along` from -1 to 1."""
        if self._frame.view is FRONT:
            return (HULL_HALF_M[0], along * HULL_HALF_M[1], height)
        return (along * HULL_HALF_M[0], -HULL_HALF_M[1], height)

    def _belly(self) -> str:
        return polygon(self._belly_outline(), lit(TIMBER, 0.2), _EDGE)

    def _belly_outline(self) -> Outline:
        """Of the lower half of an ellipsoid under the corners of the hull, in pixels."""
        x, y, _ = HULL_HALF_M
        points = [(h * x, v * y, _HULL_BOTTOM_M) for h in (-1, 1) for v in (-1, 1)]
        for turn in (step * math.pi / 16 for step in range(17)):
            along, rib = math.cos(turn) * x, math.sin(turn)
            points += [(along, rib * across * y, _HULL_BOTTOM_M - rib * down * _BELLY_M) for across, down in _RIB]
        return hull(map(self._at, points))

    def _planking(self) -> str:
        """Two seams, and on each half of the hull the number of the nearer area, then of the one behind it."""
        seams = (
            line(self._at(self._face(-1, height)), self._at(self._face(1, height)), mixed(WOOD, INK, 0.35), 0.7)
            for height in (DECK_TOP_M - 0.0055, DECK_TOP_M - 0.0165)
        )
        near_far = ((2, 4), (1, 3)) if self._frame.view is FRONT else ((4, 3), (2, 1))
        tags = (
            _tag(self._at(self._face(side, DECK_TOP_M - HULL_HALF_M[2])), f"{near}·{far}")
            for side, (near, far) in zip((-0.5, 0.5), near_far, strict=True)
        )
        return "".join((*seams, *tags))

    def _bulwark(self) -> Iterator[Sheet]:
        """The hull again, as a veil over what is on deck behind it, when one looks up at the ship."""
        if not self._looks_down():
            corners = ((-1, _HULL_BOTTOM_M), (1, _HULL_BOTTOM_M), (1, DECK_TOP_M), (-1, DECK_TOP_M))
            side = [self._at(self._face(along, height)) for along, height in corners]
            veil = f'<g opacity="{_VEIL}">{self._belly()}{polygon(side, lit(WOOD, 0.5), _EDGE)}</g>{self._planking()}'
            hides = (tuple(side[::-1]), self._belly_outline())
            yield Sheet(HULL_HALF_M[0 if self._frame.view is FRONT else 1], veil, hides)

    def _yard_tags(self, number: int) -> Iterator[str]:
        port, starboard = 5 + 2 * number, 6 + 2 * number
        yard = YARDS[number]
        if self._frame.view is FRONT:
            for side, area in ((1, port), (-1, starboard)):
                at = (YARD_HALF_WIDTH_M, side * (yard.half_length_m + 0.009), yard.top_m - YARD_THICKNESS_M / 2)
                yield _tag(self._at(at), str(area))
        elif self._frame.view is not ABOVE:
            middle = yard.top_m - YARD_THICKNESS_M / 2
            out, root = self._at((-_TAG_OUT_M, 0.0, middle)), self._at((0.0, 0.0, middle))
            yield line(out, root, mixed(WOOD, INK, 0.4), 0.8, 'stroke-dasharray="1 3"')
            yield _tag(out, f"{starboard}·{port}")

    def _quarters(self) -> str:
        """The lines between the areas of the deck and their numbers, from above."""
        x, y, z = HULL_HALF_M[0], HULL_HALF_M[1], DECK_TOP_M
        dark = mixed(WOOD, INK, 0.35)
        lines = (((-x, 0.0, z), (x, 0.0, z)), ((0.0, -y, z), (0.0, y, z)))
        tags = ((1, 0.9, 0.75), (2, 0.9, -0.75), (3, -0.9, 0.75), (4, -0.9, -0.75))
        return "".join(
            [
                *(line(self._at(one), self._at(other), dark, 0.7) for one, other in lines),
                *(_tag(self._at((h * x, v * y, z)), str(area)) for area, h, v in tags),
            ]
        )

    def _flag(self) -> Sheet:
        foot, top = (0.0, 0.0, MAST_TOP_M), (0.0, 0.0, MAST_TOP_M + 0.022)
        pole = line(self._at(foot), self._at(top), mixed(TIMBER, INK, 0.4), 1.6)
        x, y = self._at(top)
        wave = f"M{x:.1f} {y:.1f}c8 -5 14 5 26 0l-5 7l5 7c-12 5 -18 -5 -26 0z"
        cloth = f'<path d="{wave}" fill="{FLAG}" stroke="{INK}" stroke-width="0.8"/>'
        return Sheet(_BEHIND_M, pole + cloth)


def _alternating(masts: list[Sheet], yards: list[Sheet]) -> list[Sheet]:
    """From the deck up: mast, yard, mast, yard, mast, yard, mast."""
    return [*(each for pair in zip(masts, yards, strict=False) for each in pair), masts[-1]]


def waves(frame: Frame, left: float, right: float) -> str:
    """The surface of the sea as a line of waves upon the catch plane, from `left` to `right` in pixels."""
    y = frame.at((0.0, 0.0, CATCH_PLANE_M))[1]
    count = math.ceil((right - left) / _WAVE_PX)
    crest = f"M{left:g} {y:.1f}" + f"q{_WAVE_PX / 4:g} -3 {_WAVE_PX / 2:g} 0t{_WAVE_PX / 2:g} 0" * count
    return f'<path d="{crest}" fill="none" stroke="#ffffff" stroke-opacity="0.75" stroke-width="1.6"/>'


def reaches(frame: Frame, places: Sequence[tuple[float, float]]) -> Iterator[str]:
    """The rims of hands, for where the ship is over them."""
    for x, y in places:
        at = frame.at((x / 1000, y / 1000, CATCH_PLANE_M))
        yield circle(at, HAND_RADIUS_M * frame.scale, "none", f'stroke="{HAND}" stroke-dasharray="4 3"')


def hands(frame: Frame, places: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Hands as discs in the catch plane; from the side they are seen edge-on."""
    radius = HAND_RADIUS_M * frame.scale
    for x, y in places:
        at = frame.at((x / 1000, y / 1000, CATCH_PLANE_M))
        look = f'stroke="{mixed(HAND, INK, 0.5)}" stroke-width="1" fill-opacity="0.85"'
        if frame.view is ABOVE:
            yield circle(at, radius, HAND, look)
        else:
            size = f'cx="{at[0]:.1f}" cy="{at[1]:.1f}" rx="{radius:.1f}" ry="5"'
            yield f'<ellipse {size} fill="{HAND}" {look}/>'


def splashes(frame: Frame, fallen: Sequence[Fallen], badge: str) -> Iterator[str]:
    """Where pieces crossed the catch plane: a sign of the kind in a ring that tells its fate.

    `badge` is a pattern for the name of the sign of a kind.
    """
    scale = 0.42 if len(fallen) <= _MANY else 0.3
    for each in fallen:
        x, y = frame.at((each.x_mm / 1000, each.y_mm / 1000, CATCH_PLANE_M))
        ring = f'stroke="{FATES[each.fate]}" stroke-width="{5.7 * scale:.1f}" class="fallen" data-id="{each.id}"'
        yield circle((x, y), round(21.5 * scale, 1), SHEET, ring)
        yield f'<use href="#{badge.format(each.kind)}" transform="translate({x:.1f} {y:.1f}) scale({scale})"/>'


def _tag(at: tuple[float, float], text: str) -> str:
    """The number of an area on a small plate."""
    half = _TAG_PX if len(text) == 1 else _TAG_PX + 3.2 * (len(text) - 1)
    size = f'x="{at[0] - half:.1f}" y="{at[1] - _TAG_PX:.1f}" width="{2 * half:g}" height="{2 * _TAG_PX:g}"'
    plate = f'<rect {size} rx="{_TAG_PX:g}" fill="{SHEET}" stroke="{mixed(WOOD, INK, 0.5)}" stroke-width="0.8"/>'
    return plate + words((at[0], at[1] + 3.4), text, 9.5, f"{MIDDLE} {BOLD} {ink(INK)}")
