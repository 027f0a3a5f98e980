"""Standard loads: the fixed list from which the referee loads for a player who gives no load.

Source: docs/riffraff.md, "Standard loads". Rule: the list favours nobody. Poses that slip or roll off come first, each
at the outer end of the area before the middle, whatever cargo lies there. The first that has room
and support is loaded, without hands.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from typing import Final

import msgspec

from arena.errors import IllegalAction
from arena.games.api import Json
from arena.games.riffraff.actions import Load
from arena.games.riffraff.legality import check_pose, faces_on, ranges_mm
from arena.games.riffraff.scene import Area, Face, Kind
from arena.games.riffraff.state import State

BY_RISK: Final[tuple[tuple[Kind, Face, int], ...]] = (
    ("sailor", "hang", 0),
    ("sailor", "lying", 0),
    ("barrel", "lying", 0),
    ("rat", "flat", 90),
    ("bottle", "lying", 90),
    ("rat", "side", 90),
    ("bottle", "upright", 90),
    ("barrel", "upright", 0),
    ("lifeboat", "edge", 0),
    ("crate", "flat", 0),
    ("chest", "side", 0),
    ("chest", "end", 0),
    ("plank", "edge", 0),
    ("plank", "flat", 0),
    ("lifeboat", "flat", 90),
    ("chest", "flat", 90),
)
"""Every face of every kind, and the yaw in degrees tried first; what fell most often from an empty ship comes first."""
_SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the way along v from the outer end of an area to its inner one."""


class StandardLoad(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The load that the referee found for a player; None if it found none."""

    load: Load | None


def find_load(state: State, require: Callable[[Load], None]) -> Load | None:
    """Return the first standard load of the state that `require` accepts; None if it raises IllegalAction for all."""
    for load in list_loads(state):
        with suppress(IllegalAction):
            require(load)
            return load
    return None


def read_result(state: State, result: Json) -> Load | None:
    """Return the load of a recorded result; ValueError if it is none of the list."""
    try:
        load = msgspec.convert(result, type=StandardLoad).load
    except msgspec.ValidationError as error:
        raise ValueError(f"not the result of a search for a standard load: {error!s:.300}") from None
    if load is not None and load not in list_loads(state):
        raise ValueError(f"the result is none of the standard loads: {load}")
    return load


def describe_difference(one: Load | None, other: Load | None) -> str:
    """Describe how two searches differ, for a person; an empty text if they found the same load."""
    return "" if one == other else f"the first {one or 'finds no load'}; the second {other or 'finds no load'}"


def list_loads(state: State) -> Iterator[Load]:
    """Yield the loads that the referee tries, in order: all that geometry allows of the pieces the player holds."""
    assert state.active is not None, "somebody has the turn"
    area, player = state.active_area, state.players[state.active]
    for kind, face, yaw_deg in BY_RISK:
        if player.holds(kind) and face in faces_on(area, kind):
            for (u_mm, v_mm), yaw in product(_places_to_try(area), (yaw_deg, 90 - yaw_deg)):
                load = Load(kind=kind, face=face, u_mm=u_mm, v_mm=v_mm, yaw_deg=float(yaw))
                with suppress(IllegalAction):
                    check_pose(area, load)
                    yield load


def _places_to_try(area: Area) -> list[tuple[float, float]]:
    """List points u, v in mm from the outer end of the area inwards: at each both edges, then their middle."""
    (low_u, high_u), (low_v, high_v) = ranges_mm(area).values()
    outer, inner = (high_v, low_v) if area.side_v > 0 else (low_v, high_v)
    edges = (high_u, low_u) if area.side_u >= 0 else (low_u, high_u)
    steps_v = [round(outer + share * (inner - outer), 1) for share in _SHARES]
    return [(u, v) for v in steps_v for u in (*edges, round((low_u + high_u) / 2, 1))]
