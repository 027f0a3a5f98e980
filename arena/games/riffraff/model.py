"""The ship and its cargo as the text that the physics engine reads (MJCF), and all parameters of the simulation.

Rule: pure strings and numbers, no engine here. Source of the numbers: docs/riffraff.md; each was measured together
with the others, so none is changed alone.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

import msgspec

from arena.games.riffraff import material
from arena.games.riffraff.geometry import volume
from arena.games.riffraff.material import (
    BALL_HEIGHT_M,
    BALL_RADIUS_M,
    DECK_TOP_M,
    HULL_HALF_M,
    KINDS,
    MASS_KG,
    MAST_RADIUS_M,
    MAST_TOP_M,
    PARTS,
    ROD_RADIUS_M,
    ROLLING,
    YARD_HALF_WIDTH_M,
    YARD_THICKNESS_M,
    YARDS,
    Kind,
    Shape,
)
from arena.games.riffraff.table import DIGITS

STEP_S: Final = 0.002
STEPS_PER_LOOK: Final = 5
"""Steps between two looks at what fell and what moved."""
LOOK_S: Final = STEP_S * STEPS_PER_LOOK
LOOKS_PER_WINDOW: Final = 30
"""Rest is judged by what moved within a window, here 0.3 s: not by velocities, which jitter in every stack, and not
near a multiple of the ship's half swing of 0.53 s."""
LOOKS_MAX: Final = 1200
"""12 simulated seconds; about one placement in 2,400 takes longer."""

REST_TILT_RAD: Final = 0.0008
REST_SHIFT_M: Final = 0.0002
REST_TURN: Final = 0.004
"""What a hinge, a position and a component of a quaternion may move within the window of a ship at rest."""

LOWERING_STEP_M: Final = 0.001
LOWERING_END_M: Final = 0.00002
START_GAP_M: Final = 0.001
"""A piece is let down from this far below the next level, in steps, and the first contact found to `LOWERING_END_M`."""
DEEPEST_M: Final = 0.030
DEEPEST_HOOK_M: Final = 0.020
"""How far below the surface of an area its lowest point, or the origin of a hook, may find support."""
HALVINGS: Final = 6
"""How often a shift is halved to find room; then there is none."""

TILT_LIMIT_DEG: Final = 35
_BALL_KG: Final = 0.45
_HULL_DENSITY: Final = 500
_SPAR_DENSITY: Final = 650
_DAMPING: Final = 0.035
_DRY_FRICTION: Final = 0.0015
_OPTION: Final = (
    f'timestep="{STEP_S}" integrator="implicitfast" solver="Newton" cone="elliptic" impratio="10" '
    'iterations="50" ls_iterations="50" tolerance="1e-10"'
)
_MEMORY: Final = '<size memory="48M"/>'
"""For contacts and solver. The engine's own guess, 20 MB, is too little where many pieces get stuck in each other; only
what is used is ever touched, under 1 MB for a laden ship."""
_FLAGS: Final = '<flag island="disable" autoreset="disable"/>'
_DENSE_MAX: Final = 2
"""Pieces up to which full matrices are quicker than sparse ones, by a tenth. The engine itself would change over at ten
pieces, where they take three times as long. Results differ in last bits."""
_CONTACT: Final = 'friction="0.32 0.002 0.0004" solref="0.006 1" solimp="0.95 0.99 0.0005"'
_THROUGH: Final = 'contype="0" conaffinity="0"'


def mjcf(kinds: Sequence[Kind]) -> str:
    """The ship and one free piece of each of `kinds`. Bodies: the world, the ship, then the pieces in this order.

    The state is roll, pitch (rad), then x y z w x y z of each piece.
    """
    meshes = "".join(_meshes(kind) for kind in KINDS if kind in kinds)
    pieces = "".join(f"<body><freejoint/>{''.join(_parts(kind))}</body>" for kind in kinds)
    classes = "".join(
        f'<default class="{name}"><geom {_CONTACT} condim="{dimensions}"/></default>'
        for name, dimensions in (("still", 4), ("rolling", 6))
    )
    matrices = "dense" if len(kinds) <= _DENSE_MAX else "sparse"
    hinges = _hinge("roll", "1 0 0") + _hinge("pitch", "0 1 0")
    return (
        f'<mujoco><compiler angle="degree"/><option {_OPTION} jacobian="{matrices}">{_FLAGS}</option>{_MEMORY}'
        f"<default>{classes}</default><asset>{meshes}</asset>"
        f'<worldbody><body name="ship">{hinges}{"".join(_ship())}</body>{pieces}</worldbody></mujoco>'
    )


def model_digest() -> str:
    """16 hex digits of SHA-256 over everything that this code and the material put into a result."""
    settings = [STEPS_PER_LOOK, LOOKS_PER_WINDOW, LOOKS_MAX, REST_TILT_RAD, REST_SHIFT_M, REST_TURN]
    lowering = [LOWERING_STEP_M, LOWERING_END_M, START_GAP_M, DEEPEST_M, DEEPEST_HOOK_M, HALVINGS, DIGITS, _DENSE_MAX]
    places = [material.AREAS, material.FACES, material.CATCH_PLANE_M, material.HAND_RADIUS_M]
    return sha256(msgspec.json.encode([mjcf(KINDS), settings, lowering, places])).hexdigest()[:16]


def _hinge(name: str, axis: str) -> str:
    # Two hinges and not a ball joint: the gimbal rolls and pitches, but it does not turn about the mast.
    return (
        f'<joint name="{name}" axis="{axis}" damping="{_DAMPING}" frictionloss="{_DRY_FRICTION}" '
        f'limited="true" range="-{TILT_LIMIT_DEG} {TILT_LIMIT_DEG}"/>'
    )


def _ship() -> Iterator[str]:
    hull_at = _numbers(0, 0, DECK_TOP_M - HULL_HALF_M[2])
    yield f'<geom class="still" type="box" size="{_numbers(*HULL_HALF_M)}" pos="{hull_at}" density="{_HULL_DENSITY}"/>'
    half_mast_m = (MAST_TOP_M - DECK_TOP_M) / 2
    mast = f'size="{_numbers(MAST_RADIUS_M, half_mast_m)}" pos="{_numbers(0, 0, DECK_TOP_M + half_mast_m)}"'
    yield f'<geom class="still" type="cylinder" {mast} density="{_SPAR_DENSITY}"/>'
    for yard in YARDS:
        size = _numbers(YARD_HALF_WIDTH_M, yard.half_length_m, YARD_THICKNESS_M / 2)
        at = _numbers(0, 0, yard.top_m - YARD_THICKNESS_M / 2)
        yield f'<geom class="still" type="box" size="{size}" pos="{at}" density="{_SPAR_DENSITY}"/>'
    rod = f'size="{_numbers(ROD_RADIUS_M, -BALL_HEIGHT_M / 2)}" pos="{_numbers(0, 0, BALL_HEIGHT_M / 2)}"'
    yield f'<geom type="cylinder" {rod} density="{_SPAR_DENSITY}" {_THROUGH}/>'
    ball = f'size="{_numbers(BALL_RADIUS_M)}" pos="{_numbers(0, 0, BALL_HEIGHT_M)}"'
    yield f'<geom type="sphere" {ball} mass="{_BALL_KG}" {_THROUGH}/>'


def _parts(kind: Kind) -> Iterator[str]:
    whole = sum(map(volume, PARTS[kind]))
    for number, part in enumerate(PARTS[kind]):
        mass = _numbers(MASS_KG[kind] * volume(part) / whole)
        name = "rolling" if kind in ROLLING else "still"
        turn = ' euler="0 90 0"' if part.is_across else ""
        yield f'<geom class="{name}" {_form(kind, number, part)} pos="{_numbers(*part.at_m)}" mass="{mass}"{turn}/>'


def _form(kind: Kind, number: int, part: Shape) -> str:
    if part.form == "box":
        return f'type="mesh" mesh="{kind}{number}"'
    return f'type="{part.form}" size="{_numbers(*part.half_m)}"'


def _meshes(kind: Kind) -> str:
    """The boxes of a kind as meshes of eight corners.

    The engine's own boxes flicker between one and four contacts: such pieces jitter for ever, and creep 16 mm in 5 s.
    """
    return "".join(
        f'<mesh name="{kind}{number}" vertex="{_corners(part)}"/>'
        for number, part in enumerate(PARTS[kind])
        if part.form == "box"
    )


def _corners(box: Shape) -> str:
    x, y, z = box.half_m
    return "  ".join(_numbers(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1))


def _numbers(*values: float) -> str:
    return " ".join(f"{value:.9g}" for value in values)
