"""What a bot is told once, in the first message: ship, areas and cargo, and what is looked at in a load.

Rule: computed from the tables that rules and physics read, in mm, g and degrees, so that a bot needs no constant of its
own. docs/riffraff.md describes each field.
"""

from arena.games.api import Json
from arena.games.riffraff import material as made
from arena.games.riffraff.actions import DROP_MAX_MM, HANDS_MAX
from arena.games.riffraff.geometry import centre_of_mass, room_above
from arena.games.riffraff.material import AREAS, FACES, KINDS, MASS_KG, PARTS, Area, Kind, Shape
from arena.games.riffraff.model import DEEPEST_HOOK_M, DEEPEST_M, LOWERING_STEP_M, START_GAP_M, TILT_LIMIT_DEG
from arena.games.riffraff.noise import told
from arena.games.riffraff.refusal import HANDS_WITHIN_MM, ranges_mm
from arena.games.riffraff.state import Variant


def game_info(variant: Variant) -> dict[str, Json]:
    """Plain JSON values; lists of numbers are x, y, z or low, high unless docs/riffraff.md says otherwise."""
    return {
        "seats": variant.seats,
        "rounds": variant.rounds,
        "sets": variant.sets,
        "simulations": variant.simulations,
        "noise": told(variant.weather),
        "ship": _ship(),
        "areas": {str(number): _area(area) for number, area in AREAS.items()},
        "kinds": {kind: _kind(kind) for kind in KINDS},
        "load": _load(),
    }


def _ship() -> dict[str, Json]:
    return {
        "hull_half_mm": _mm(made.HULL_HALF_M),
        "deck_top_mm": _mm1(made.DECK_TOP_M),
        "mast": {"radius_mm": _mm1(made.MAST_RADIUS_M), "top_mm": _mm1(made.MAST_TOP_M)},
        "yards": [{"top_mm": _mm1(yard.top_m), "half_length_mm": _mm1(yard.half_length_m)} for yard in made.YARDS],
        "yard_half_width_mm": _mm1(made.YARD_HALF_WIDTH_M),
        "yard_thickness_mm": _mm1(made.YARD_THICKNESS_M),
        "tilt_limit_deg": TILT_LIMIT_DEG,
    }


def _area(area: Area) -> dict[str, Json]:
    """`side_u`, `side_v`: the sign that u or v of the whole piece must have; 0 where it may have either."""
    ranges = ranges_mm(area)
    return {
        "surface_mm": _mm1(area.surface_m),
        "room_mm": _mm1(room_above(area) - area.surface_m),
        "u_mm": list(ranges["u"]),
        "v_mm": list(ranges["v"]),
        "side_u": area.side_u,
        "side_v": area.side_v,
        "yard": area.is_yard,
    }


def _kind(kind: Kind) -> dict[str, Json]:
    return {
        "mass_g": round(1000 * MASS_KG[kind], 1),
        "centre_of_mass_mm": [round(1000 * metres, 3) + 0.0 for metres in centre_of_mass(kind)],
        "faces": {face: {"axis": turned.axis, "degrees": turned.degrees} for face, turned in FACES[kind].items()},
        "parts": [_part(part) for part in PARTS[kind]],
    }


def _part(part: Shape) -> dict[str, Json]:
    return {"form": part.form, "half_mm": _mm(part.half_m), "at_mm": _mm(part.at_m), "across": part.is_across}


def _load() -> dict[str, Json]:
    """Steps and limits of the numbers in a load, and of the way down that is tried before it is let go."""
    return {
        "grid": {"u_mm": 0.1, "v_mm": 0.1, "yaw_deg": 1, "drop_mm": 1, "hands_mm": 0.1},
        "drop_max_mm": DROP_MAX_MM,
        "hands": {
            "most": HANDS_MAX,
            "radius_mm": _mm1(made.HAND_RADIUS_M),
            "plane_mm": _mm1(made.CATCH_PLANE_M),
            "within_mm": HANDS_WITHIN_MM,
        },
        "way_down": {
            "start_gap_mm": _mm1(START_GAP_M),
            "step_mm": _mm1(LOWERING_STEP_M),
            "deepest_mm": _mm1(DEEPEST_M),
            "deepest_hook_mm": _mm1(DEEPEST_HOOK_M),
        },
    }


def _mm(metres: tuple[float, ...]) -> list[float]:
    return [_mm1(each) for each in metres]


def _mm1(metres: float) -> float:
    """Every measure of the material has at most a tenth of a millimetre."""
    return round(1000 * metres, 1) + 0.0
