"""Phrases about a position: the same in the terminal and in the picture.

Rule: phrases only; the drawings decide about place and look.
"""

import math
from collections.abc import Sequence
from typing import Final

from arena.games.api import HEADING, Seat
from arena.games.riffraff.actions import Load
from arena.games.riffraff.scene import AREAS, FIRST_YARD_AREA, Area
from arena.games.riffraff.state import Fallen, Loaded, Phase, State
from arena.games.riffraff.turns import leaders
from arena.text import join_words

_LEVEL_DEG: Final = 0.05
"""Below it an angle shows as 0.0 degrees, so that no side is named."""

YARD_NAMES: Final = ("lowest", "middle", "highest")


def title(state: State) -> str:
    """Describe the round, the captain and what comes next; at the end, who has won."""
    if state.phase is Phase.OVER:
        return f"the game is over after round {state.round}: {what_next(state)}"
    return f"round {state.round} of {state.rounds}, captain seat {state.captain}: {what_next(state)}"


def what_next(state: State) -> str:
    """Describe the seat to move and the action that is asked for; at the end the winners."""
    seat, where = state.active, f"on area {state.area}"
    piece = "piece" if state.pending is None else state.pending.kind
    match state.phase:
        case Phase.CARD:
            text = "everybody plays a card"
        case Phase.NEW_CAPTAIN:
            text = f"seat {state.captain} to name the new captain, of seats {join_words(leaders(state))}"
        case Phase.ORDER:
            text = f"seat {state.captain} to put seats {join_words(state.ties[0] if state.ties else ['none'])} in order"
        case Phase.ANNOUNCE:
            text = f"seat {seat} to announce one or two pieces {where}"
        case Phase.LOAD:
            pieces = "a second piece" if state.loaded else "two pieces" if state.to_load == 2 else "a piece"
            text = f"seat {seat} to load {pieces} {where}"
        case Phase.STANDARD:
            text = f"the referee to load a piece for seat {seat} {where}"
        case Phase.NOISE:
            text = f"seat {seat} lets go of a {piece} {where}"
        case Phase.SETTLING:
            text = f"the ship rocks under the {piece} of seat {seat} {where}"
        case Phase.OVER:
            won = winners(state)
            text = f"victory for seat {won[0]}" if len(won) == 1 else f"seats {join_words(won)} share the victory"
    return text


def news(before: State, after: State, names: Sequence[str]) -> tuple[str, ...]:
    """Report an unsteady hand, a placement with its falls, a new captain with the order of play, the end of a round."""
    lines = []
    if before.phase is Phase.NOISE and (noise := after.noise):  # the push of the wave shows in how the ship rocks
        lines.append(f"the hand slips by {math.hypot(noise.u_mm, noise.v_mm):.1f} mm and {abs(noise.yaw_deg):.1f}°")
    if after.placements != before.placements:
        lines.append(placement(after.last[-1], names[after.last[-1].seat]))
    if before.phase in {Phase.CARD, Phase.NEW_CAPTAIN, Phase.ORDER} and len(after.order) == len(names):
        order = ", ".join(f"{names[seat]} ({after.players[seat].card})" for seat in after.order)
        lines.append(f"captain: {names[after.captain]}; order of play, by cards: {order}")
    if after.round != before.round or (after.phase is Phase.OVER and before.phase is not Phase.OVER):
        pieces = (f"{name} {player.pieces}" for name, player in zip(names, after.players, strict=True))
        lines.append(f"round {before.round} is over; pieces left: {', '.join(pieces)}")
    if after.round != before.round:
        lines.append(f"{HEADING}round {after.round} of {after.rounds} ---")
    elif after.phase is Phase.OVER:
        won = [names[seat] for seat in winners(after)]
        lines.append(f"{join_words(won)} {'wins' if len(won) == 1 else 'share the victory'}")
    return tuple(lines)


def placement(loaded: Loaded, name: str) -> str:
    """Report where a player put a piece, and the fates of the pieces that fell, those of one fate together."""
    kinds = dict[str, list[str]]()
    for fallen in sorted(loaded.fallen, key=lambda piece: piece.id != loaded.id):
        kinds.setdefault(fate(fallen, name), []).append("it" if fallen.id == loaded.id else fallen.kind)
    falls = [f"{join_words(fallen)} fell, {end}" for end, fallen in kinds.items()]
    return "; ".join([f"{name} put a {loaded.kind} on {place(AREAS[loaded.area])}", *falls])


def place(area: Area) -> str:
    """Name the yard of an area, or its end of the deck."""
    if area.is_yard:
        return f"the {YARD_NAMES[(area.number - FIRST_YARD_AREA) // 2]} yard"
    return f"the deck by the {'bow' if area.side_u > 0 else 'stern'}"


def mover(state: State) -> Seat | None:
    """Return the one seat that is to move, also while the ship still rocks under its load."""
    return state.captain if state.phase in {Phase.NEW_CAPTAIN, Phase.ORDER} else state.active


def winners(state: State) -> tuple[Seat, ...]:
    """Return the seats with the fewest pieces left."""
    fewest = min(player.pieces for player in state.players)
    return tuple(Seat(seat) for seat, player in enumerate(state.players) if player.pieces == fewest)


def newest_load(state: State) -> tuple[Load | None, tuple[Fallen, ...]]:
    """Return the load under way, or else the last, and the pieces that fell under it."""
    if state.pending is not None or not state.last:
        return state.pending, ()
    return state.last[-1].load, state.last[-1].fallen


def heel(roll_deg: float) -> str:
    """Describe the side of the ship, or the end of a yard, that is down: a positive angle lifts port."""
    return _lean(roll_deg, "to starboard", "to port")


def trim(pitch_deg: float) -> str:
    """Describe the end of the ship that is down: a positive pitch lowers the bow."""
    return _lean(pitch_deg, "by the bow", "by the stern")


def tips(yards: Sequence[float]) -> str:
    """Describe the end of each yard that is down, the lowest yard first; `yards` in rad, positive where port is up."""
    return ", ".join(heel(math.degrees(yard)) for yard in yards)


def settling(loaded: Loaded) -> str:
    """Describe how long the ship took to come to rest, and how far it tilted."""
    end = "at rest" if loaded.end == "rest" else "not at rest"
    return f"{end} after {loaded.t_s:.1f} s, tilted up to {loaded.tilt_max_deg:.1f}°"


def standard_load(state: State, load: Load | None) -> str:
    """Describe the referee's load for a player who gave none, or that there is none."""
    if load is None:
        return f"nothing that seat {state.active} holds has room on area {state.area}, so the turn ends"
    return f"nobody may pass while a piece can be loaded: for seat {state.active} the referee {load}"


def fate(fallen: Fallen, name: str) -> str:
    """Describe the fate of a piece that fell in the turn of the player `name`."""
    fates = {"removed": f"caught by {name}, out of the game", "returned": f"caught alone, back to {name}"}
    return fates.get(fallen.fate, f"not caught, to {name}")


def _lean(degrees: float, positive: str, negative: str) -> str:
    """Describe an angle and the side that it lowers, or no side for a level ship."""
    if abs(degrees) < _LEVEL_DEG:
        return "0.0°"
    return f"{abs(degrees):.1f}° {positive if degrees > 0 else negative}"
