"""The view of one seat and the facts that bots get once, as plain JSON values. docs/riffraff.md describes each field.

Rule: hidden information leaves by `observe` only: everything but the cards that others have played face down. Lengths
in mm and angles in degrees have as many decimals as the canonical state needs to be computed back from them. Facts are
computed from the tables that rules and physics read, in mm, g and degrees, so that a bot needs no constant of its own.
"""

import math
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from arena.games.api import Json, Seat
from arena.games.riffraff import model, scene
from arena.games.riffraff.geometry import area_of, centre_of_mass, room_above
from arena.games.riffraff.legality import DROP_MAX_MM, HANDS_MAX, HANDS_WITHIN_MM, ranges_mm
from arena.games.riffraff.scene import AREAS, FACES, KINDS, MASS_KG, PARTS, Area, Kind
from arena.games.riffraff.state import Loaded, Phase, Player, State
from arena.games.riffraff.table import Piece, ShipAtRest, sigma_in

MM_DIGITS: Final = 2
DEG_DIGITS: Final = 4


def observe(state: State, seat: Seat) -> dict[str, Json]:
    """Return the view of `seat`; all seats see the same but for `you` and, before they are turned up, the cards."""
    is_open = state.phase is not Phase.CARD
    return {
        "phase": state.phase.value,
        "you": seat,
        "round": state.round,
        "rounds": state.rounds,
        "captain": state.captain,
        "seats": [_side_json(player, is_open=is_open or index == seat) for index, player in enumerate(state.players)],
        "order": list(state.order),
        "turn": state.turn,
        "area": state.area,
        "pieces_left_to_load": state.to_load,
        "ship": ship(state.table),
        "cargo": cargo(state.table),
        "noise": msgspec.to_builtins(state.sigma),
        "last": [_placement_json(loaded) for loaded in state.last],
    }


def ship(table: ShipAtRest) -> dict[str, Json]:
    """Return roll, pitch and the yards, the lowest first, in degrees."""
    yards = [_round_degrees(yard) for yard in table.yards]
    return {"roll_deg": _round_degrees(table.roll), "pitch_deg": _round_degrees(table.pitch), "yards_deg": yards}


def cargo(table: ShipAtRest) -> list[dict[str, Json]]:
    """Return the pieces aboard, sorted by id; `on` is the area where each lies now."""
    return [_piece_json(piece, table) for piece in table.cargo]


def _piece_json(piece: Piece, table: ShipAtRest) -> dict[str, Json]:
    """Return a piece aboard as JSON values, with the area on which it lies now."""
    return {
        "id": piece.id,
        "kind": piece.kind,
        "on": area_of(piece, table),
        "card": piece.card,
        "by": piece.by,
        "pos_mm": _mm(piece.pose[:3], MM_DIGITS),
        "quat": list(piece.pose[3:]),
    }


def _round_degrees(radians: float) -> float:
    """Convert radians to degrees, rounded; never -0.0."""
    return round(math.degrees(radians), DEG_DIGITS) + 0.0


def _side_json(player: Player, *, is_open: bool) -> dict[str, Json]:
    """Return a player's side; a card that is not open counts as still in hand."""
    hidden = () if is_open or player.card is None else (player.card,)
    return {
        "supply": dict(zip(KINDS, player.supply, strict=True)),
        "cards": sorted((*player.hand, *hidden)),
        "card": player.card if is_open else None,
        "removed": player.removed,
        "pieces": player.pieces,
    }


def _placement_json(loaded: Loaded) -> dict[str, Json]:
    """Return a finished placement as JSON values."""
    fields: dict[str, Json] = msgspec.to_builtins(loaded)
    return {**fields, "fallen": list(fields["fallen"])}


def game_info(state: State) -> dict[str, Json]:
    """Return the facts of the first message; lists of numbers are x, y, z or low, high, or as docs/riffraff.md says."""
    return {
        "seats": len(state.players),
        "rounds": state.rounds,
        "sets": state.sets,
        "simulations": state.options.simulations,
        "noise": msgspec.to_builtins(state.sigma),
        "last_noise": msgspec.to_builtins(sigma_in(state.options.weather, state.rounds, state.rounds)),
        "ship": {
            "hull_half_mm": _mm(scene.HULL_HALF_M),
            **_lengths_mm({"deck_top": scene.DECK_TOP_M}),
            "mast": _lengths_mm({"radius": scene.MAST_RADIUS_M, "top": scene.MAST_TOP_M}),
            "yards": [_lengths_mm({"top": yard.top_m, "half_length": yard.half_length_m}) for yard in scene.YARDS],
            **_lengths_mm({"yard_half_width": scene.YARD_HALF_WIDTH_M, "yard_thickness": scene.YARD_THICKNESS_M}),
            "tilt_limit_deg": model.TILT_LIMIT_DEG,
            "yard_stop_deg": model.RIG.yard_stop_deg,
            "yard_friction_g_mm": round(1e6 * model.RIG.yard_friction_n_m / model.GRAVITY),
            **model.SWING,
        },
        "areas": {str(number): _area_facts(area) for number, area in AREAS.items()},
        "kinds": {kind: _kind_facts(kind) for kind in KINDS},
        "load": _load_facts(),
    }


def _area_facts(area: Area) -> dict[str, Json]:
    """Return the facts of an area. `side_u`, `side_v`: the sign that u or v of the whole piece must have, or 0."""
    return {
        **_lengths_mm({"surface": area.surface_m, "room": room_above(area) - area.surface_m}),
        **{f"{name}_mm": list(limits) for name, limits in ranges_mm(area).items()},
        "side_u": area.side_u,
        "side_v": area.side_v,
        "yard": area.is_yard,
    }


def _kind_facts(kind: Kind) -> dict[str, Json]:
    """Return the facts of a kind of cargo: mass, centre of mass, faces and parts."""
    return {
        "mass_g": round(1000 * MASS_KG[kind], 1),
        "centre_of_mass_mm": _mm(centre_of_mass(kind), 3),
        "faces": msgspec.to_builtins(FACES[kind]),
        "parts": [
            {"form": part.form, "half_mm": _mm(part.half_m), "at_mm": _mm(part.at_m), "across": part.is_across}
            for part in PARTS[kind]
        ],
    }


def _load_facts() -> dict[str, Json]:
    """Return the steps and limits of the numbers in a load, and of the way down that is tried before it is let go."""
    hands = _lengths_mm({"radius": scene.HAND_RADIUS_M, "plane": scene.CATCH_PLANE_M})
    return {
        "grid": {"u_mm": 0.1, "v_mm": 0.1, "yaw_deg": 1, "drop_mm": 1, "hands_mm": 0.1},
        "drop_max_mm": DROP_MAX_MM,
        "hands": {"most": HANDS_MAX, "holds": scene.HAND_HOLDS, **hands, "within_mm": HANDS_WITHIN_MM},
        "way_down": _lengths_mm(
            {
                "start_gap": model.START_GAP_M,
                "step": model.LOWERING_STEP_M,
                "deepest": model.DEEPEST_M,
                "deepest_hook": model.DEEPEST_HOOK_M,
            }
        ),
    }


def _lengths_mm(metres: dict[str, float]) -> dict[str, Any]:
    """Return each length in mm, under its name with the unit."""
    return dict(zip((f"{name}_mm" for name in metres), _mm(metres.values()), strict=True))


def _mm(metres: Iterable[float], digits: int = 1) -> list[float]:
    """Round to `digits` of a mm; measures of the tables have a tenth at most. Adding 0 turns -0.0 into 0.0."""
    return [round(1000 * length, digits) + 0.0 for length in metres]
