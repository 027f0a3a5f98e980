"""What one seat may know, as plain JSON values: everything but the cards that others have played face down.

Rule: hidden information leaves by this door only. Lengths in mm and angles in degrees have as many decimals as the
canonical state needs to be computed back from them. docs/riffraff.md describes each field.
"""

import math
from typing import Final

import msgspec

from arena.games.api import Json, Seat
from arena.games.riffraff.geometry import area_of
from arena.games.riffraff.material import KINDS
from arena.games.riffraff.noise import told
from arena.games.riffraff.state import Loaded, Phase, Player, State
from arena.games.riffraff.table import Noise, Piece, Table

MM_DIGITS: Final = 2
DEG_DIGITS: Final = 4


def observe(state: State, seat: Seat) -> dict[str, Json]:
    """The view of `seat`; all seats see the same but for `you` and, before they are turned up, the cards."""
    is_open = state.phase is not Phase.CARD
    return {
        "phase": state.phase.value,
        "you": seat,
        "round": state.round,
        "rounds": state.variant.rounds,
        "captain": state.captain,
        "seats": [_side(each, is_open=is_open or index == seat) for index, each in enumerate(state.players)],
        "order": list(state.order),
        "turn": state.turn,
        "area": state.area,
        "pieces_left_to_load": state.to_load,
        "ship": ship(state.table),
        "cargo": cargo(state.table),
        "noise": told(state.variant.weather),
        "last": [_placement(each) for each in state.last],
    }


def ship(table: Table) -> dict[str, float]:
    """How the ship lies, in degrees."""
    return {"roll_deg": _degrees(table.roll), "pitch_deg": _degrees(table.pitch)}


def cargo(table: Table) -> list[dict[str, Json]]:
    """The pieces aboard, sorted by id; `on` is the area where each lies now."""
    return [_piece(piece, table) for piece in table.cargo]


def _piece(piece: Piece, table: Table) -> dict[str, Json]:
    return {
        "id": piece.id,
        "kind": piece.kind,
        "on": area_of(piece, table),
        "card": piece.card,
        "by": piece.by,
        "pos_mm": [round(metres * 1000, MM_DIGITS) + 0.0 for metres in piece.pose[:3]],
        "quat": list(piece.pose[3:]),
    }


def _degrees(radians: float) -> float:
    return round(math.degrees(radians), DEG_DIGITS) + 0.0


def _side(player: Player, *, is_open: bool) -> dict[str, Json]:
    """A player's side; a card that is not open counts as still in hand."""
    hidden = () if is_open or player.card is None else (player.card,)
    return {
        "supply": dict(zip(KINDS, player.supply, strict=True)),
        "cards": sorted((*player.hand, *hidden)),
        "card": player.card if is_open else None,
        "removed": player.removed,
        "pieces": player.pieces,
    }


def _placement(loaded: Loaded) -> dict[str, Json]:
    return {
        "event": "loaded",
        "seat": loaded.seat,
        "id": loaded.id,
        "kind": loaded.load.kind,
        "area": loaded.area,
        "load": msgspec.to_builtins(loaded.load),
        "noise": _noise(loaded.noise),
        "end": loaded.end,
        "t_s": loaded.t_s,
        "tilt_max_deg": loaded.tilt_max_deg,
        "fallen": [msgspec.to_builtins(fall) for fall in loaded.fallen],
        "hash": loaded.digest,
    }


def _noise(noise: Noise) -> list[float]:
    """In the order of the protocol: u, v, yaw, roll rate, pitch rate."""
    return [noise.u_mm, noise.v_mm, noise.yaw_deg, noise.roll_rad_s, noise.pitch_rad_s]
