"""Ship and cargo as the text that the physics engine reads (MJCF), all parameters of the simulation, its fingerprint.

Rule: pure strings and numbers, no engine here. Source of the numbers: docs/riffraff.md; each was measured together
with the others, so none is changed alone: with any of them changes every fingerprint, and stored matches are not
comparable any more.
"""

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Final

import msgspec

from arena.games.riffraff import scene
from arena.games.riffraff.actions import Load
from arena.games.riffraff.geometry import volume
from arena.games.riffraff.scene import BALL, HULL, KINDS, MASS_KG, MAST, PARTS, ROD, ROLLING, YARD_SPARS, Kind, Shape
from arena.games.riffraff.table import DIGITS, Noise

STEP_S: Final = 0.004
"""Steps of 2 ms take twice the time, and lose other pieces in 3 placements of 100."""
STEPS_PER_LOOK: Final = 5
"""Steps between two looks at what fell and what moved."""
LOOK_S: Final = STEP_S * STEPS_PER_LOOK
LOOKS_PER_WINDOW: Final = 8
"""Rest is judged by what moved within a window, here 0.16 s, not by velocities, which jitter in every stack. A window
begins anew at the first look that is too far from its start."""
LOOKS_MAX: Final = 300
"""6 simulated seconds: what still moves then jitters in a pile, and would for ever."""

REST_TILT_RAD: Final = 0.0005
REST_SHIFT_M: Final = 0.00015
REST_TURN: Final = 0.003
"""Motion of a hinge, a position and a component of a quaternion within the window of a ship at rest, at most.

Of 160 placements on ships with up to 12 pieces the same pieces fell as with three times the window, in about 0.8 of the
CPU time."""

LOWERING_STEP_M: Final = 0.001
LOWERING_END_M: Final = 0.00002
START_GAP_M: Final = 0.001
"""A piece is let down from this far below the next level, in steps, and the first contact found to `LOWERING_END_M`."""
DEEPEST_M: Final = 0.030
DEEPEST_HOOK_M: Final = 0.020
"""Depth below the surface of an area at which its lowest point, or the origin of a hook, may find support."""
HALVINGS: Final = 6
"""A shift is halved so often to find room; then there is none."""

TILT_LIMIT_DEG: Final = 35
_HULL_DENSITY: Final = 500
_SPAR_DENSITY: Final = 650
GRAVITY: Final = 9.81


class Rig(msgspec.Struct, frozen=True):
    """The liveliness of the ship: its ball in kg, damping in N m s and dry friction in N m of the gimbal, of the yards.

    A yard tips on its bar as far as `yard_stop_deg`, once the moment of its load is greater than its dry friction.
    """

    ball_kg: float = 0.40
    damping: float = 0.035
    friction_n_m: float = 0.0015
    yard_stop_deg: float = 13.0
    yard_damping: float = 0.0005
    yard_friction_n_m: float = 0.004


RIG: Final = Rig()
SWING: Final = {"mass_g": 682.8, "stiffness_g_mm": 36555, "roll_period_s": 1.11, "pitch_period_s": 1.13}
"""The empty ship as a pendulum with its yards held by their friction, as the engine finds it.

A mass of so many g, so many mm off the middle, heels it by a radian."""
_OPTION: Final = (
    f'timestep="{STEP_S}" integrator="implicitfast" solver="Newton" cone="elliptic" impratio="10" '
    'iterations="50" ls_iterations="50" tolerance="1e-10"'
)
_MEMORY: Final = '<size memory="48M"/>'
"""Memory for contacts and solver. The engine's guess, 20 MB, is too little where many pieces get stuck together; only
what is used is ever touched, under 1 MB for a laden ship."""
_FLAGS: Final = '<flag island="disable" autoreset="disable"/>'
_DENSE_MAX: Final = 2
"""Pieces up to which full matrices are quicker than sparse ones, by a tenth. The engine itself would change over at ten
pieces, where they take three times as long. Results differ in last bits."""
_HARD: Final = 'solreffriction="0.01 1" solimpfriction="0.9999 0.9999 0.001"'
"""The stiffness of dry friction. The engine's own is soft: a yard out of balance would creep for ever."""
_STOP: Final = 'solreflimit="0.01 1" solimplimit="0.99 0.999 0.001"'
_CONTACT: Final = 'friction="0.32 0.002 0.0004" solref="0.01 1" solimp="0.95 0.99 0.0005"'
_THROUGH: Final = 'contype="0" conaffinity="0"'


def mjcf(kinds: Sequence[Kind]) -> str:
    """Return the ship and one free piece of each of `kinds` as MJCF.

    Bodies: the world, the ship, its yards from the lowest, then the pieces in this order. The state is roll, pitch,
    the tips of the yards (rad), then x y z w x y z of each piece.
    """
    meshes = "".join(_meshes_xml(kind) for kind in KINDS if kind in kinds)
    pieces = "".join(f"<body><freejoint/>{''.join(_parts_xml(kind))}</body>" for kind in kinds)
    classes = "".join(
        f'<default class="{name}"><geom {_CONTACT} condim="{dimensions}"/></default>'
        for name, dimensions in (("still", 3), ("rolling", 6))
    )
    matrices = "dense" if len(kinds) <= _DENSE_MAX else "sparse"
    gimbal = _hinge_xml("1 0 0", TILT_LIMIT_DEG, RIG.damping, RIG.friction_n_m)
    gimbal += _hinge_xml("0 1 0", TILT_LIMIT_DEG, RIG.damping, RIG.friction_n_m)
    return (
        f'<mujoco><compiler angle="degree"/><option {_OPTION} jacobian="{matrices}">{_FLAGS}</option>{_MEMORY}'
        f"<default>{classes}</default><asset>{meshes}</asset>"
        f"<worldbody><body>{gimbal}{''.join(_ship_xml())}{''.join(_yards_xml())}</body>{pieces}</worldbody></mujoco>"
    )


def model_digest() -> str:
    """Return 16 hex digits of SHA-256 over everything that this code and the scene put into a result."""
    settings = [STEPS_PER_LOOK, LOOKS_PER_WINDOW, LOOKS_MAX, REST_TILT_RAD, REST_SHIFT_M, REST_TURN]
    lowering = [LOWERING_STEP_M, LOWERING_END_M, START_GAP_M, DEEPEST_M, DEEPEST_HOOK_M, HALVINGS, DIGITS, _DENSE_MAX]
    places = [scene.AREAS, scene.FACES, scene.CATCH_PLANE_M, scene.HAND_RADIUS_M]
    return sha256(msgspec.json.encode([mjcf(KINDS), settings, lowering, places])).hexdigest()[:16]


def _hinge_xml(axis: str, limit_deg: float, damping: float, friction_n_m: float, height_m: float = 0.0) -> str:
    """Return a joint of the ship about an axis, with its limit, damping and dry friction."""
    # Two hinges and not a ball joint: the gimbal rolls and pitches, but it does not turn about the mast.
    return (
        f'<joint axis="{axis}" pos="{_numbers_text(0, 0, height_m)}" damping="{damping}" frictionloss="{friction_n_m}" '
        f'limited="true" range="-{limit_deg} {limit_deg}" {_HARD} {_STOP}/>'
    )


def _yards_xml() -> Iterator[str]:
    """Yield each yard as a body that tips on its bar."""
    for yard, spar in zip(scene.YARDS, YARD_SPARS, strict=True):
        hinge = _hinge_xml("1 0 0", RIG.yard_stop_deg, RIG.yard_damping, RIG.yard_friction_n_m, yard.bar_m)
        yield f'<body>{hinge}<geom class="still" {_form_attributes(spar)} density="{_SPAR_DENSITY}"/></body>'


def _ship_xml() -> Iterator[str]:
    """Yield the parts of the ship but for its yards; nothing touches the rod and the ball."""
    for part in (HULL, MAST):
        density = _HULL_DENSITY if part is HULL else _SPAR_DENSITY
        yield f'<geom class="still" {_form_attributes(part)} density="{density}"/>'
    yield f'<geom {_form_attributes(ROD)} density="{_SPAR_DENSITY}" {_THROUGH}/>'
    yield f'<geom {_form_attributes(BALL)} mass="{RIG.ball_kg}" {_THROUGH}/>'


def _parts_xml(kind: Kind) -> Iterator[str]:
    """Yield the parts of a piece, which share its mass by their volume."""
    whole = sum(map(volume, PARTS[kind]))
    for number, part in enumerate(PARTS[kind]):
        # Only what is round needs rolling friction: contacts in six dimensions take three times as long as in three.
        name = "rolling" if kind in ROLLING and part.form == "cylinder" else "still"
        mass = _numbers_text(MASS_KG[kind] * volume(part) / whole)
        turn = ' euler="0 90 0"' if part.is_across else ""
        mesh = f'type="mesh" mesh="{kind}{number}" pos="{_numbers_text(*part.at_m)}"'
        yield f'<geom class="{name}" {mesh if part.form == "box" else _form_attributes(part)} mass="{mass}"{turn}/>'


def _form_attributes(part: Shape) -> str:
    """Return form, size and place of a part as attributes."""
    return f'type="{part.form}" size="{_numbers_text(*part.half_m)}" pos="{_numbers_text(*part.at_m)}"'


def _meshes_xml(kind: Kind) -> str:
    """Return the boxes of a kind as meshes of eight corners.

    The engine's own boxes flicker between one and four contacts: such pieces jitter for ever, and creep 16 mm in 5 s.
    """
    return "".join(
        f'<mesh name="{kind}{number}" vertex="{_corners_text(part)}"/>'
        for number, part in enumerate(PARTS[kind])
        if part.form == "box"
    )


def _corners_text(box: Shape) -> str:
    """Return the eight corners of a box."""
    x, y, z = box.half_m
    return "  ".join(_numbers_text(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1))


def _numbers_text(*values: float) -> str:
    """Return numbers as text with nine digits."""
    return " ".join(f"{value:.9g}" for value in values)


SCENARIO: Final[tuple[tuple[int, Load, Noise], ...]] = (
    (1, Load("barrel", "lying", 40, 20, 30), Noise(0.7, -1.1, 2.5, 0.03, -0.04)),
    (6, Load("sailor", "hang", 0, -60), Noise(-0.4, 0.9, 3.1, -0.05, 0.02)),
    (5, Load("crate", "flat", 2, 90, 45), Noise(1.3, -0.2, -4.0, 0.06, 0.01)),
    (7, Load("chest", "flat", 0, 50, 90), Noise(-0.8, -0.5, 1.7, -0.02, 0.05)),
    (10, Load("plank", "flat", 0, -30, 80, 10), Noise(0.2, 1.9, -2.2, 0.04, -0.03)),
    (8, Load("bottle", "lying", 8, -80, 10, 20, ((0, -90), (60, -90))), Noise(2.1, -1.4, 6.3, 0.09, 0.08)),
)
"""Area, load and noise of one placement after the other: it rolls, hangs, lies across, and the last piece falls."""


@cache
def surroundings() -> Mapping[str, str]:
    """Return platform and C library, whose sines the engine uses, and the digest of model and material."""
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "libc": " ".join(platform.libc_ver()).strip() or "unknown",
        "model": f"sha256:{model_digest()}",
    }


def arithmetic() -> str:
    """Return 16 hex digits over sines and powers, whose last bits differ between processors with one C library.

    The engine takes them from there. A short scenario can come out the same all the same, a long match not.
    """
    values = [number / 7 for number in range(1, 2000)]
    sines = [(math.sin(value), math.cos(value), math.exp(-value), value**0.3, math.atan2(1, value)) for value in values]
    return sha256(msgspec.json.encode(sines)).hexdigest()[:16]
