"""Where a piece could go: free spots, and flat tops of what lies there, found with boxes and judged by the ship's heel.

Everything is seen in the frame of the area, in mm. A piece is taken for the box around it, so what is free here has
room for sure; what is full may have some.
"""

import math
from typing import NamedTuple

SOFTEST_G_MM = 8_000
GAP = 1.0  # kept from what lies there; an unsteady hand needs some, and boxes exaggerate already
GRID = 4.0
HOOK_BAR = 3.0  # from the centre of a sailor's hook down to what it hangs on
# Everything is counted in degrees of heel: lying on another piece, on one of these kinds, not being supported by the
# whole of its box, each mm that sticks out of the ship.
ON_TOP = 1.5
FLAT_TOPS = {"crate": 0.0, "plank": 0.0, "lifeboat": 0.5, "barrel": 1.0, "rat": 1.5}
UNSUPPORTED = 2.0
OUT = 0.12
NOWHERE = math.inf  # the height of what is no bed


class Manner(NamedTuple):
    """How pieces are laid down: faces by kind, what they may lie on (with penalties), how much support they need."""

    faces: dict
    tops: dict
    support: float


TIDY = Manner(
    faces={
        "chest": ("flat",),
        "bottle": ("upright",),
        "barrel": ("upright",),
        "crate": ("flat",),
        "plank": ("flat",),
        "lifeboat": ("flat",),
        "rat": ("flat",),
        "sailor": ("hang", "lying"),
    },
    tops=FLAT_TOPS,
    support=0.6,
)
BOLD = Manner(
    faces={
        "chest": ("flat", "side", "end"),
        "bottle": ("upright", "lying"),
        "barrel": ("upright", "lying"),
        "crate": ("flat",),
        "plank": ("flat", "edge"),
        "lifeboat": ("flat", "edge"),
        "rat": ("flat", "side"),
        "sailor": ("hang", "lying"),
    },
    tops=FLAT_TOPS | {"chest": 4.0, "bottle": 5.0, "sailor": 4.0},
    support=0.3,
)


class Place(NamedTuple):
    """A pose for a kind of cargo. `cost`: the heel it leads to in degrees, and what else speaks against it."""

    cost: float
    kind: str
    face: str
    u: float
    v: float
    yaw: int

    def load(self, hands=()):
        """As an action."""
        pose = {"kind": self.kind, "face": self.face, "u_mm": self.u, "v_mm": self.v, "yaw_deg": self.yaw}
        return pose | {"hands_mm": [list(hand) for hand in hands]}


class Ship:
    """The ship as it lies now: boxes of its cargo, and how it would heel with another piece."""

    def __init__(self, material, view):
        self.material = material
        self.roll = math.radians(view["ship"]["roll_deg"])
        self.pitch = math.radians(view["ship"]["pitch_deg"])
        self.lean, self.cargo = view["ship"], view["cargo"]
        raised = sum(self.mass(kind) * (low[2] + high[2]) / 2 for low, high, kind in self.boxes(1))
        self.stiffness = max(SOFTEST_G_MM, material.told["ship"]["stiffness_g_mm"] - raised)
        self.mast = material.told["ship"]["mast"]["radius_mm"] + GAP

    def boxes(self, area):
        """The boxes of the cargo in the frame of that area, each with the kind."""
        return [(*self.material.box(piece, self.lean, area), piece["kind"]) for piece in self.cargo]

    def mass(self, kind):
        """In g."""
        return self.material.kinds[kind]["mass_g"]

    def heel(self, kind, u, v, height):
        """Degrees of heel, roll and pitch together, with that piece there."""
        mass = self.mass(kind)
        stiffness = max(SOFTEST_G_MM, self.stiffness - mass * height)
        roll = self.roll * self.stiffness / stiffness - mass * v / stiffness
        pitch = self.pitch * self.stiffness / stiffness + mass * u / stiffness
        return math.degrees(math.hypot(roll, pitch))

    def places(self, area, kind, manner=TIDY):
        """Every place of the grid where a piece of that kind has room on that area, laid in that manner."""
        around = self._around(area)
        for face in manner.faces[kind]:
            if face in self.material.faces(kind, area):
                for yaw in (0, 180) if face == "hang" else (0, 90):
                    yield from self._places(area, kind, face, yaw, around, manner)

    def _around(self, area):
        """The boxes that anything on that area could touch, the mast among them, which nothing can lie on."""
        here = self.material.areas[area]
        surface, room = here["surface_mm"], here["surface_mm"] + here["room_mm"]
        aside = (room - self.material.bar(area)) * math.sin(math.radians(self.material.tip(self.lean, area)))
        low, high = min(aside, 0) - self.mast, max(aside, 0) + self.mast  # in its frame a tipped yard's mast leans
        mast = (-self.mast, low, surface), (self.mast, high, room), "mast"
        return [mast, *(box for box in self.boxes(area) if box[1][2] > surface + 0.5 and box[0][2] < room)]

    def _places(self, area, kind, face, yaw, around, manner):
        here, is_tipped = self.material.areas[area], any(self.lean["yards_deg"])
        most = here["surface_mm"] + here["room_mm"]
        low, high = self.material.reach(kind, face, yaw)
        is_hung = face == "hang"
        above = high[2] + (HOOK_BAR if is_hung else -low[2]) + 2 * GAP
        for u in grid(*inside(here["u_mm"], here["side_u"], low[0], high[0])):
            for v in grid(*inside(here["v_mm"], here["side_v"], low[1], high[1])):
                corners = u + low[0], v + low[1], u + high[0], v + high[1]
                over = [box for box in around if is_close(box, *corners)]
                height, penalty = here["surface_mm"], 0.0
                if over:
                    height, penalty = (NOWHERE, 0.0) if is_hung else self._bed(over, *corners, manner)
                if height + above > most or (
                    is_tipped and height + above > self.material.room(area, self.lean, corners[1], corners[3])
                ):
                    continue
                out = self._overhang(here, *corners)
                cost = self.heel(kind, u, v, height) + penalty + OUT * out
                yield Place(round(cost, 4), kind, face, u, v, yaw)

    def _bed(self, over, low_u, low_v, high_u, high_v, manner):
        """What a piece over that rectangle and these boxes lies on: its height and a penalty."""
        top = max(box[1][2] for box in over)
        bearing = [box for box in over if box[1][2] > top - 1]
        if any(box[2] not in manner.tops for box in bearing):
            return NOWHERE, 0.0
        share = sum(overlap(box, low_u, low_v, high_u, high_v) for box in bearing)
        share /= (high_u - low_u) * (high_v - low_v)
        if share < manner.support:
            return NOWHERE, 0.0
        return top, ON_TOP + max(manner.tops[box[2]] for box in bearing) + UNSUPPORTED * (1 - share)

    def _overhang(self, here, low_u, low_v, high_u, high_v):
        """How many mm stick out over the end of a yard, or over the rail."""
        ship = self.material.told["ship"]
        half_u, half_v, _ = ship["hull_half_mm"]
        if here["yard"]:
            half_u = math.inf  # a yard is narrow, and a piece lies across it anyway
            half_v = next(yard["half_length_mm"] for yard in ship["yards"] if yard["top_mm"] == here["surface_mm"])
        return max(0.0, high_u - half_u, -half_u - low_u) + max(0.0, high_v - half_v, -half_v - low_v)


def inside(limits, side, low, high):
    """The limits of a centre, drawn in so that a piece reaching from `low` to `high` stays on its side of the line."""
    if side > 0:
        return max(limits[0], -low), limits[1]
    return (limits[0], min(limits[1], -high)) if side < 0 else limits


def is_close(box, low_u, low_v, high_u, high_v):
    """Whether a box and a rectangle come closer than GAP, seen from above."""
    (x0, y0, _), (x1, y1, _), _ = box
    return x0 < high_u + GAP and x1 > low_u - GAP and y0 < high_v + GAP and y1 > low_v - GAP


def overlap(box, low_u, low_v, high_u, high_v):
    """The mm2 that a box and a rectangle share, seen from above."""
    (x0, y0, _), (x1, y1, _), _ = box
    return max(0.0, min(x1, high_u) - max(x0, low_u)) * max(0.0, min(y1, high_v) - max(y0, low_v))


def grid(low, high):
    """Numbers from low to high, starting near 0; only 0 if it lies between them: the middle of a yard is its best."""
    if low < 0 < high:
        return [0.0]
    low, high = math.ceil(low * 10 - 1e-6) / 10, math.floor(high * 10 + 1e-6) / 10
    steps = range(math.floor((high - low) / GRID) + 1)  # none where low is above high
    return [round(low + GRID * step if low >= 0 else high - GRID * step, 1) for step in steps]
