"""What a person is told about a position in words: the same in the terminal and in the picture.

Rule: phrases only; where they stand and how they look is up to those who draw.
"""

from collections.abc import Iterable
from typing import Final

from arena.games.api import Seat
from arena.games.riffraff.actions import Load
from arena.games.riffraff.state import Fallen, Phase, State
from arena.games.riffraff.table import Noise
from arena.games.riffraff.turns import leaders

_LEVEL_DEG: Final = 0.05
"""Below it an angle shows as 0.0 degrees, so that no side is named."""


def title(state: State) -> str:
    """The round, the captain and what comes next; at the end, who has won."""
    if state.phase is Phase.OVER:
        return f"the game is over after round {state.round}: {_winners(state)}"
    return f"round {state.round} of {state.variant.rounds}, captain seat {state.captain}: {what_next(state)}"


def what_next(state: State) -> str:
    """Who is to move and what is asked for; or what the ship waits for."""
    match state.phase:
        case Phase.CARD:
            return "everybody plays a card"
        case Phase.NEW_CAPTAIN:
            return f"seat {state.captain} names the new captain, {_either(leaders(state))}"
        case Phase.ORDER:
            tied = state.ties[0] if state.ties else ()
            return f"seat {state.captain} puts seats {_listed(tied)} in order"
        case Phase.OVER:
            return _winners(state)
        case _:
            return _turn(state)


def mover(state: State) -> Seat | None:
    """The one seat that is to move, also while the ship still rocks under its load."""
    return state.captain if state.phase in {Phase.NEW_CAPTAIN, Phase.ORDER} else state.active


def winners(state: State) -> tuple[Seat, ...]:
    """Those with the fewest pieces left."""
    fewest = min(player.pieces for player in state.players)
    return tuple(Seat(seat) for seat, player in enumerate(state.players) if player.pieces == fewest)


def at_sea(state: State) -> tuple[Load | None, tuple[Fallen, ...]]:
    """The load that tells where hands are, and what fell under it: of the placement under way, or else of the last."""
    if state.pending is not None or not state.last:
        return state.pending, ()
    return state.last[-1].load, state.last[-1].fallen


def heel(roll_deg: float) -> str:
    """Which side of the ship is down: a positive roll lifts port."""
    return _leaning(roll_deg, "to starboard", "to port")


def trim(pitch_deg: float) -> str:
    """Which end of the ship is down: a positive pitch lowers the bow."""
    return _leaning(pitch_deg, "by the bow", "by the stern")


def disturbance(noise: Noise) -> str:
    """How far the hand was off; the push of the wave shows in how the ship rocks."""
    return f"off by u {noise.u_mm:+.1f} v {noise.v_mm:+.1f} mm, turned {noise.yaw_deg:+.1f}°"


def fate(fallen: Fallen, seat: Seat) -> str:
    """What became of a piece that fell in the turn of `seat`."""
    match fallen.fate:
        case "removed":
            return "caught, out of the game"
        case "returned":
            return f"caught alone, back to seat {seat}"
        case _:
            return f"not caught, to seat {seat}"


def _turn(state: State) -> str:
    seat, where = state.active, f"on area {state.area}"
    match state.phase:
        case Phase.ANNOUNCE:
            return f"seat {seat} announces one or two pieces {where}"
        case Phase.LOAD:
            return f"seat {seat} loads {_how_many(state)} {where}"
        case Phase.NOISE:
            return f"seat {seat} lets go of a {_pending(state)} {where}"
        case _:
            return f"the ship rocks under the {_pending(state)} of seat {seat} {where}"


def _how_many(state: State) -> str:
    if state.loaded:
        return "a second piece"
    return "two pieces" if state.to_load == 2 else "a piece"


def _pending(state: State) -> str:
    return "piece" if state.pending is None else state.pending.kind


def _winners(state: State) -> str:
    won = winners(state)
    return f"seat {won[0]} wins" if len(won) == 1 else f"seats {_listed(won)} share the victory"


def _listed(seats: Iterable[Seat]) -> str:
    return _joined(seats, "and")


def _either(seats: Iterable[Seat]) -> str:
    return f"seat {_joined(seats, 'or')}"


def _joined(seats: Iterable[Seat], word: str) -> str:
    *first, last = [str(seat) for seat in seats] or ["none"]
    return f"{', '.join(first)} {word} {last}" if first else last


def _leaning(degrees: float, positive: str, negative: str) -> str:
    if abs(degrees) < _LEVEL_DEG:
        return "0.0°"
    return f"{abs(degrees):.1f}° {positive if degrees > 0 else negative}"
