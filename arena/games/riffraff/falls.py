"""The result of a placement: the table after it, and the fate of each piece that fell.

Source: R18 to R21 in docs/riffraff.md. Rule: values in, values out; a result that cannot be one of this state is a
ValueError, because it came from a record or another program and not from the rules.
"""

import math
from collections.abc import Sequence
from typing import Final, cast

from arena.games.api import Seat
from arena.games.riffraff.actions import Load
from arena.games.riffraff.scene import CATCH_PLANE_M, HAND_RADIUS_M, Area, Kind
from arena.games.riffraff.state import Fallen, Fate, State
from arena.games.riffraff.table import DIGITS, UNPLACED, Piece, PieceId, Settled, ShipAtRest, remaining

_LARGEST: Final = 1e6
"""In any unit of a result; a piece that fell far away crosses the plane of the hands within some metres."""
_UNIT_SLACK: Final = 0.001
"""By which a rounded quaternion may be longer or shorter than 1."""


def under_way(state: State) -> tuple[Seat, Area, Load]:
    """The seat that loads, the area and the load of a state that waits for chance or simulation."""
    assert state.pending is not None, "a piece has been let go"
    assert state.active is not None, "by the player whose turn it is"
    return state.active, state.active_area, state.pending


def kind_of(load: Load) -> Kind:
    """Its kind, which was found to be one."""
    return cast(Kind, load.kind)


def table_after(state: State, result: Settled) -> ShipAtRest:
    """The table after the placement; ValueError if the result cannot have come from this state."""
    seat, area, load = under_way(state)
    aboard = with_new(state.table, state.next_id, load, area.number, seat)
    _require_pieces(result, tuple(aboard), state.next_id)
    _require_numbers(result)
    _require_canonical(result)
    _require_hands(result, load)
    table = remaining(aboard.values(), result)
    if table.digest() != result.digest:
        raise ValueError(f"the digest {result.digest} is not that of the table it is said to be of, {table.digest()}")
    return table


def with_new(table: ShipAtRest, new: PieceId, load: Load, area: int, by: Seat) -> dict[PieceId, Piece]:
    """The pieces of a placement, the new one among them; it has no place yet."""
    piece = Piece(id=new, kind=kind_of(load), card=area, by=by, pose=UNPLACED)
    return {each.id: each for each in (*table.cargo, piece)}


def hand_at(x_mm: float, y_mm: float, hands_mm: Sequence[tuple[float, float]]) -> int | None:
    """The first hand that reaches that place in the catch plane (R21)."""
    for number, (hand_x_mm, hand_y_mm) in enumerate(hands_mm):
        if math.hypot(x_mm - hand_x_mm, y_mm - hand_y_mm) <= 1000 * HAND_RADIUS_M:
            return number
    return None


def fates(state: State, result: Settled) -> tuple[Fallen, ...]:
    """The fates of the pieces that fell, in the order of falling.

    A piece in a hand is out of the game. But if nothing was saved except the piece just loaded, that does not count:
    it goes back to the active player, like everything that fell into the sea.
    """
    _, _, load = under_way(state)
    kinds = {piece.id: piece.kind for piece in state.table.cargo} | {result.id: kind_of(load)}
    caught = {fall.id for fall in result.fallen if fall.hand is not None}
    in_hand: Fate = "returned" if caught == {result.id} else "removed"
    return tuple(
        Fallen(fall.id, kinds[fall.id], fall.x_mm, fall.y_mm, fall.hand, "to_supply" if fall.hand is None else in_hand)
        for fall in result.fallen
    )


def _require_pieces(result: Settled, aboard: tuple[PieceId, ...], new: PieceId) -> None:
    """Every piece must lie on the ship or have fallen, exactly one of both."""
    if result.id != new:
        raise ValueError(f"the result is of piece {result.id}, but {new} was placed")
    rests = [rest.id for rest in result.rests]
    if rests != sorted(rests):
        raise ValueError(f"the pieces at rest are not in order: {', '.join(rests)}")
    found = sorted([*rests, *(fall.id for fall in result.fallen)])
    if found != sorted(aboard):
        raise ValueError(f"pieces at rest or fallen: {', '.join(found)}; expected once each: {', '.join(aboard)}")


def _require_numbers(result: Settled) -> None:
    """No number that is none, or that nothing on or under a ship can have."""
    numbers = [result.roll, result.pitch, result.t_s, result.tilt_max_deg]
    numbers += [number for rest in result.rests for number in rest.pose]
    numbers += [number for fall in result.fallen for number in (fall.x_mm, fall.y_mm, fall.t_s)]
    wrong = [number for number in numbers if not abs(number) <= _LARGEST]  # so that NaN is wrong too
    if wrong:
        raise ValueError(f"the number {wrong[0]} in the result cannot be true")
    if min(result.t_s, result.tilt_max_deg, *(fall.t_s for fall in result.fallen)) < 0 or result.halved < 0:
        raise ValueError("a time, a tilt or a count in the result is negative")


def _require_canonical(result: Settled) -> None:
    """Every number of the table after it is rounded, and every piece lies above the plane in which hands are."""
    for rest in result.rests:
        if rest.pose[2] < CATCH_PLANE_M or abs(math.hypot(*rest.pose[3:]) - 1) > _UNIT_SLACK:
            raise ValueError(f"piece {rest.id} is said to rest where nothing can: {rest.pose}")
    numbers = [result.roll, result.pitch, *(number for rest in result.rests for number in rest.pose)]
    unrounded = [number for number in numbers if round(number, DIGITS) != number]
    if unrounded:
        raise ValueError(f"the number {unrounded[0]} of the table after it has more than {DIGITS} decimals")


def _require_hands(result: Settled, load: Load) -> None:
    """A piece is in the hand that was held out where it fell, and in no other."""
    for fall in result.fallen:
        expected = hand_at(fall.x_mm, fall.y_mm, load.hands_mm)
        if fall.hand != expected:
            raise ValueError(f"piece {fall.id} is said to be in hand {fall.hand}; by where it fell it is {expected}")
