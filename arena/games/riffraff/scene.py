"""The scene: sizes, masses and places of ship, cargo, areas and faces. Plain data in SI units.

Source: docs/riffraff.md. No rule text gives dimensions; all numbers were chosen and measured for a game in which
careful play works and careless play sheds cargo. Rule: rules, physics and pictures read the same tables, and nothing
is computed here but tables from tables.

Frames: x to the bow, y to port, z up, origin in the centre of the gimbal. The *ship frame* moves with the ship, the
*table frame* is the ship frame at rest.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final, Literal, get_args

import msgspec

Kind = Literal["chest", "bottle", "barrel", "crate", "plank", "lifeboat", "rat", "sailor"]
Face = Literal["flat", "upright", "lying", "side", "edge", "end", "hang"]
"""The side on which a piece is laid down; `hang` puts the sailor's hook over a yard."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


class Shape(msgspec.Struct, frozen=True):
    """A convex part of a piece, in the frame of the piece; lengths in m.

    `half`: half lengths along x, y, z of a box; radius and half length along z of a cylinder or capsule; radius of a
    sphere. `is_across`: turned by 90 degrees about y, so that its z lies along the piece's x.
    """

    form: Literal["box", "cylinder", "capsule", "sphere"]
    half_m: tuple[float, ...]
    at_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    is_across: bool = False


class FaceRotation(msgspec.Struct, frozen=True):
    """The rotation that brings a piece to lie on a face: `degrees` about the axis x or y of the ship frame."""

    axis: Literal["x", "y"]
    degrees: int


class Area(msgspec.Struct, frozen=True):
    """The places for the centre of a piece: u along x, v along y of the ship frame, in m, both ends included.

    `surface_m` is the height that carries it. `side_u`, `side_v`: the sign of u and v over which no piece of this area
    may stick out into another area; 0 where nothing limits it. Areas from 5 on lie on yards.
    """

    number: int
    surface_m: float
    u_m: tuple[float, float]
    v_m: tuple[float, float]
    side_u: int
    side_v: int

    @property
    def is_yard(self) -> bool:
        """True on a yard: cargo can hang there, and two pieces can be loaded in one turn."""
        return self.number >= FIRST_YARD_AREA

    @property
    def yard(self) -> int | None:
        """The number of its yard, the lowest is 0; None on deck."""
        return (self.number - FIRST_YARD_AREA) // 2 if self.is_yard else None


class Yard(msgspec.Struct, frozen=True):
    """A yard: the height of its upper face on an even keel and half its length across the ship, in m.

    It lies on a round bar along the ship, under the middle of its lower face, and tips about it like a seesaw.
    """

    top_m: float
    half_length_m: float

    @property
    def bar_m(self) -> float:
        """The height of the bar, which is that of the lower face on an even keel."""
        return self.top_m - YARD_THICKNESS_M


PARTS: Final[Mapping[Kind, tuple[Shape, ...]]] = {
    "chest": (
        Shape("box", (0.018, 0.011, 0.008), (0.0, 0.0, -0.004)),
        Shape("cylinder", (0.011, 0.018), (0.0, 0.0, 0.004), is_across=True),
    ),
    "bottle": (
        Shape("cylinder", (0.010, 0.015), (0.0, 0.0, -0.009)),
        Shape("cylinder", (0.005, 0.009), (0.0, 0.0, 0.015)),
    ),
    "barrel": (Shape("cylinder", (0.011, 0.016)), Shape("cylinder", (0.013, 0.007))),
    "crate": (Shape("box", (0.014, 0.014, 0.014)),),
    "plank": (Shape("box", (0.045, 0.010, 0.003)),),
    "lifeboat": (
        Shape("box", (0.018, 0.011, 0.0065)),
        Shape("cylinder", (0.011, 0.0065), (0.018, 0.0, 0.0)),
        Shape("cylinder", (0.011, 0.0065), (-0.018, 0.0, 0.0)),
    ),
    "rat": (
        Shape("box", (0.014, 0.0075, 0.0075), (0.006, 0.0, 0.0)),
        Shape("capsule", (0.0025, 0.011), (-0.017, 0.0, -0.005), is_across=True),
    ),
    "sailor": (
        Shape("box", (0.004, 0.008, 0.022), (-0.0215, 0.0, -0.019)),
        Shape("sphere", (0.007,), (-0.0215, 0.0, 0.006)),
        Shape("box", (0.0215, 0.006, 0.003), (0.002, 0.0, 0.0)),
        Shape("box", (0.003, 0.006, 0.008), (0.0205, 0.0, -0.011)),
    ),
}
"""The parts of each kind of cargo. The gap of the sailor's hook fits the width of a yard."""

_MASSES_KG: Final = (0.016, 0.009, 0.013, 0.018, 0.009, 0.012, 0.006, 0.010)
MASS_KG: Final[Mapping[Kind, float]] = dict(zip(KINDS, _MASSES_KG, strict=True))

ROLLING: Final = frozenset[Kind]({"chest", "bottle", "barrel"})
"""Round kinds, which roll and meet rolling friction."""

FACES: Final[Mapping[Kind, Mapping[Face, FaceRotation]]] = {
    "chest": {"flat": FaceRotation("x", 0), "side": FaceRotation("x", 90), "end": FaceRotation("y", 90)},
    "bottle": {"upright": FaceRotation("x", 0), "lying": FaceRotation("y", 90)},
    "barrel": {"upright": FaceRotation("x", 0), "lying": FaceRotation("y", 90)},
    "crate": {"flat": FaceRotation("x", 0)},
    "plank": {"flat": FaceRotation("x", 0), "edge": FaceRotation("x", 90)},
    "lifeboat": {"flat": FaceRotation("x", 0), "edge": FaceRotation("x", 90)},
    "rat": {"flat": FaceRotation("x", 0), "side": FaceRotation("x", 90)},
    "sailor": {"hang": FaceRotation("x", 0), "lying": FaceRotation("x", 90)},
}
"""The faces of each kind. A plank on its end is higher than the room under the next yard, so it has no such face."""

DECK_TOP_M: Final = 0.035
HULL_HALF_M: Final = (0.100, 0.046, 0.011)
MAST_RADIUS_M: Final = 0.005
MAST_TOP_M: Final = 0.285
YARD_HALF_WIDTH_M: Final = 0.015
YARD_THICKNESS_M: Final = 0.006
YARDS: Final = (Yard(0.115, 0.110), Yard(0.185, 0.090), Yard(0.255, 0.070))
BALL_HEIGHT_M: Final = -0.135
"""Centre of the counterweight on its rod."""
BALL_RADIUS_M: Final = 0.025
ROD_RADIUS_M: Final = 0.004

HULL: Final = Shape("box", HULL_HALF_M, (0.0, 0.0, DECK_TOP_M - HULL_HALF_M[2]))
_HALF_MAST_M: Final = (MAST_TOP_M - DECK_TOP_M) / 2
MAST: Final = Shape("cylinder", (MAST_RADIUS_M, _HALF_MAST_M), (0.0, 0.0, DECK_TOP_M + _HALF_MAST_M))
YARD_SPARS: Final = tuple(
    Shape(
        "box",
        (YARD_HALF_WIDTH_M, yard.half_length_m, YARD_THICKNESS_M / 2),
        (0.0, 0.0, yard.top_m - YARD_THICKNESS_M / 2),
    )
    for yard in YARDS
)
ROD: Final = Shape("cylinder", (ROD_RADIUS_M, -BALL_HEIGHT_M / 2), (0.0, 0.0, BALL_HEIGHT_M / 2))
BALL: Final = Shape("sphere", (BALL_RADIUS_M,), (0.0, 0.0, BALL_HEIGHT_M))
"""The parts of the ship, in its frame."""

FIRST_YARD_AREA: Final = 5


def _make_areas() -> Iterator[Area]:
    """Yield the four areas of the deck, then those of the yards, the lowest first."""
    for number, (u, v) in enumerate(product((1, -1), repeat=2), start=1):
        yield Area(number, DECK_TOP_M, _sort_pair(0.004 * u, 0.096 * u), _sort_pair(0.002 * v, 0.044 * v), u, v)
    for number, (yard, side) in enumerate(product(YARDS, (1, -1)), start=FIRST_YARD_AREA):
        ends = _sort_pair(0.006 * side, (yard.half_length_m - 0.004) * side)
        yield Area(number, yard.top_m, (-0.009, 0.009), ends, 0, side)


def _sort_pair(one: float, other: float) -> tuple[float, float]:
    return (min(one, other), max(one, other))


AREAS: Final[Mapping[int, Area]] = {area.number: area for area in _make_areas()}
"""1 bow port, 2 bow starboard, 3 stern port, 4 stern starboard; 5 and 6 the lowest yard, port and starboard, to 10."""

CATCH_PLANE_M: Final = -0.020
"""Height of the plane in which hands lie. A piece whose centre drops below it has fallen."""
HAND_RADIUS_M: Final = 0.045
HAND_HOLDS: Final = 2
"""Pieces that a hand catches in a placement, at most."""
