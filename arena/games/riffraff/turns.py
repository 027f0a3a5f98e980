"""A round step by step: cards, captain and order of play, then the turns: announce, load, settle, take what fell.

Source: docs/riffraff.md, from "A round" to "The end". Rule: each function takes a state to a later one; `legality` has
checked it. A piece leaves the supply when its placement has settled, so that it is always in exactly one of supply,
ship and box. A result that cannot be one of this state is a ValueError: it came from a record or another program.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, cast

from msgspec.structs import replace

from arena.games.api import Seat
from arena.games.riffraff.actions import Load
from arena.games.riffraff.geometry import area_of
from arena.games.riffraff.scene import CATCH_PLANE_M, HAND_HOLDS, HAND_RADIUS_M, KINDS, Area, Kind
from arena.games.riffraff.state import CARDS, ROUNDS_PER_HAND, Fallen, Fate, Loaded, Phase, State
from arena.games.riffraff.table import DIGITS, STILL, UNPLACED, Piece, PieceId, Result, ShipAtRest, ship_after, to_noise


def reveal_cards(state: State, cards: Mapping[Seat, int]) -> State:
    """Turn up all cards at once, which leave the hands; then crown the captain.

    If the highest card is tied, the old captain is asked for the new one instead.
    """
    players = tuple(
        replace(player, hand=tuple(held for held in player.hand if held != cards[seat]), card=cards[seat])
        for seat, player in zip(map(Seat, range(len(state.players))), state.players, strict=True)
    )
    revealed = replace(state, players=players)
    tied = leaders(revealed)
    return crown(revealed, tied[0]) if len(tied) == 1 else replace(revealed, phase=Phase.NEW_CAPTAIN)


def leaders(state: State) -> tuple[Seat, ...]:
    """Return the seats that share the highest card; one of them becomes captain."""
    return _groups_by_card(state)[0]


def crown(state: State, captain: Seat) -> State:
    """Make the seat captain, who moves first, and put the others in order: see `extend_order`."""
    return extend_order(replace(state, captain=captain), (captain,))


def extend_order(state: State, seats: tuple[Seat, ...]) -> State:
    """Let these seats move next, then the others by descending cards, up to the first tie for the captain to decide.

    The seats that shared the highest card with the captain are the first group after the captain, for no card is
    higher. Without a tie the first turn begins.
    """
    state = replace(state, order=state.order + seats)
    groups = _groups_by_card(state)
    order = state.order
    for index, group in enumerate(groups):
        if len(group) > 1:
            ties = tuple(tied for tied in groups[index:] if len(tied) > 1)
            return replace(state, phase=Phase.ORDER, order=order, ties=ties)
        order += group
    return _begin_turn(replace(state, order=order, ties=()), 0)


def _groups_by_card(state: State) -> list[tuple[Seat, ...]]:
    """Return the seats without a place in the order, those with the same card together, the highest card first."""
    seats = {Seat(seat): player.card for seat, player in enumerate(state.players) if seat not in state.order}
    cards = sorted({card for card in seats.values() if card is not None}, reverse=True)
    return [tuple(seat for seat, held in seats.items() if held == card) for card in cards]


def _begin_turn(state: State, turn: int) -> State:
    """Give the turn to the player at that place in the order; ask for the number of pieces if two are possible."""
    asking = replace(state, phase=Phase.ANNOUNCE, turn=turn, loaded=0, to_load=0)
    return announce(asking, 1) if why_one(asking) else asking


def why_one(state: State) -> str:
    """Return the reason why only one piece can be loaded in this turn; an empty text if there may be two."""
    assert state.active is not None, "somebody has the turn"
    if not state.active_area.is_yard:
        return f"area {state.area} is a part of the deck"
    if all(area_of(piece, state.table) != state.area for piece in state.table.cargo):
        return f"nothing lies on area {state.area}"
    return "you hold only one piece" if state.players[state.active].pieces < 2 else ""


def announce(state: State, pieces: int) -> State:
    """Let the player load so many pieces."""
    return replace(state, phase=Phase.LOAD, to_load=pieces)


def let_go(state: State, load: Load) -> State:
    """Let go of a piece; without weather there is no noise to be drawn."""
    if state.options.weather == "still":
        return replace(state, phase=Phase.SETTLING, pending=load, noise=STILL)
    return replace(state, phase=Phase.NOISE, pending=load)


def apply_noise(state: State, drawn: tuple[int, ...]) -> State:
    """Convert the dice to the unsteadiness of hand and sea."""
    return replace(state, phase=Phase.SETTLING, noise=to_noise(drawn, state.sigma))


def ask_referee(state: State) -> State:
    """Let the referee look for a load, as the player gives none."""
    return replace(state, phase=Phase.STANDARD)


def apply_standard_load(state: State, load: Load | None) -> State:
    """Let the referee load for the player; without any possible load the turn ends."""
    if load is not None:
        return let_go(state, load)
    return _end_turn(state if state.loaded else replace(state, last=()))


def apply_placement(state: State, result: Result) -> State:
    """Put fallen pieces into box or supply; the turn goes on if nothing fell and another piece was announced.

    ValueError if the result cannot have come from this state.
    """
    seat, area, load = load_under_way(state)
    assert state.noise is not None, "the noise has been drawn"
    table, fallen = table_after(state, result), fates(state, result)
    out = [fall.kind for fall in fallen if fall.fate == "removed"]
    back = [fall.kind for fall in fallen if fall.fate != "removed"]
    players = list(state.players)
    supply = _add_kinds(_add_kinds(players[seat].supply, back), [kind_of(load)], -1)
    players[seat] = replace(players[seat], supply=supply, removed=players[seat].removed + len(out))
    loaded = Loaded(
        seat=seat,
        id=result.id,
        kind=kind_of(load),
        area=area.number,
        load=load,
        noise=state.noise,
        end=result.end,
        t_s=result.t_s,
        tilt_max_deg=result.tilt_max_deg,
        fallen=fallen,
        digest=result.digest,
    )
    after = replace(
        state,
        phase=Phase.LOAD,
        table=table,
        players=tuple(players),
        removed=_add_kinds(state.removed, out),
        to_load=state.to_load - 1,
        loaded=state.loaded + 1,
        placements=state.placements + 1,
        pending=None,
        noise=None,
        last=(*(state.last if state.loaded else ()), loaded),
    )
    return after if after.to_load and not fallen else _end_turn(after)


def _add_kinds(counts: Sequence[int], kinds: Sequence[Kind], by: int = 1) -> tuple[int, ...]:
    """Return numbers of pieces by kind, with `by` more for each of `kinds`."""
    return tuple(count + by * kinds.count(kind) for kind, count in zip(KINDS, counts, strict=True))


def _end_turn(state: State) -> State:
    """End the turn: a player without pieces has won; otherwise the next player has the turn, or a round begins."""
    assert state.active is not None, "somebody's turn ends"
    ended = replace(state, to_load=0)
    if not state.players[state.active].pieces:
        return replace(ended, phase=Phase.OVER)
    if state.turn + 1 < len(state.order):
        return _begin_turn(ended, state.turn + 1)
    return _end_round(ended)


def _end_round(state: State) -> State:
    """Begin the next round, or end the game after the last; two players once take their cards back for another hand."""
    if state.round == state.rounds:
        return replace(state, phase=Phase.OVER)
    is_hand_over = state.round % ROUNDS_PER_HAND == 0
    players = tuple(replace(player, card=None, hand=CARDS if is_hand_over else player.hand) for player in state.players)
    return replace(state, phase=Phase.CARD, round=state.round + 1, players=players, order=(), turn=0, loaded=0)


_LARGEST: Final = 1e6
"""The largest number of a result in any unit; a fallen piece crosses the plane of the hands within some metres."""
_UNIT_SLACK: Final = 0.001
"""The most by which the length of a rounded quaternion may differ from 1."""


def load_under_way(state: State) -> tuple[Seat, Area, Load]:
    """Return seat, area and load of a state that waits for chance or simulation."""
    assert state.pending is not None, "a piece has been let go"
    assert state.active is not None, "by the player whose turn it is"
    return state.active, state.active_area, state.pending


def kind_of(load: Load) -> Kind:
    """Return the kind of a load that has been checked."""
    return cast(Kind, load.kind)


def table_after(state: State, result: Result) -> ShipAtRest:
    """Return the table after the placement; ValueError if the result cannot have come from this state."""
    seat, area, load = load_under_way(state)
    aboard = add_piece(state.table, state.next_id, load, area.number, seat)
    _require_pieces(result, tuple(aboard), state.next_id)
    _require_numbers(result)
    _require_hands(result, load)
    table = ship_after(aboard.values(), result)
    if table.digest() != result.digest:
        raise ValueError(f"the digest {result.digest} is not that of the table it is said to be of, {table.digest()}")
    return table


def add_piece(table: ShipAtRest, new: PieceId, load: Load, area: int, by: Seat) -> dict[PieceId, Piece]:
    """Return the pieces of a placement by id, the new one among them; it has no place yet."""
    piece = Piece(id=new, kind=kind_of(load), card=area, by=by, pose=UNPLACED)
    return {cargo.id: cargo for cargo in (*table.cargo, piece)}


def hand_at(
    x_mm: float, y_mm: float, hands_mm: Sequence[tuple[float, float]], before: Sequence[int | None] = ()
) -> int | None:
    """Return the index of the first hand that reaches that place in the catch plane and has room; None if none does.

    `before` are the hands of the pieces that fell earlier in the placement.
    """
    for number, (hand_x_mm, hand_y_mm) in enumerate(hands_mm):
        is_in_reach = math.hypot(x_mm - hand_x_mm, y_mm - hand_y_mm) <= 1000 * HAND_RADIUS_M
        if is_in_reach and before.count(number) < HAND_HOLDS:
            return number
    return None


def fates(state: State, result: Result) -> tuple[Fallen, ...]:
    """Return the fates of the pieces that fell, in the order of falling.

    A piece in a hand is out of the game. But if nothing was saved except the piece just loaded, that does not count: it
    goes back to the active player, like everything that fell into the sea.
    """
    _, _, load = load_under_way(state)
    kinds = {piece.id: piece.kind for piece in state.table.cargo} | {result.id: kind_of(load)}
    caught = {fall.id for fall in result.fallen if fall.hand is not None}
    in_hand: Fate = "returned" if caught == {result.id} else "removed"
    return tuple(
        Fallen(fall.id, kinds[fall.id], fall.x_mm, fall.y_mm, fall.hand, "to_supply" if fall.hand is None else in_hand)
        for fall in result.fallen
    )


def _require_pieces(result: Result, aboard: tuple[PieceId, ...], new: PieceId) -> None:
    """Raise ValueError unless every piece lies on the ship or has fallen, exactly one of both."""
    if result.id != new:
        raise ValueError(f"the result is of piece {result.id}, but {new} was placed")
    rests = [rest.id for rest in result.rests]
    if rests != sorted(rests):
        raise ValueError(f"the pieces at rest are not in order: {', '.join(rests)}")
    ids = sorted([*rests, *(fall.id for fall in result.fallen)])
    if ids != sorted(aboard):
        raise ValueError(f"pieces at rest or fallen: {', '.join(ids)}; expected once each: {', '.join(aboard)}")


def _require_numbers(result: Result) -> None:
    """Raise ValueError unless numbers are possible, the table's rounded, and all pieces lie above the hands' plane."""
    table = [result.roll, result.pitch, *result.yards, *(number for rest in result.rests for number in rest.pose)]
    others = [result.t_s, result.tilt_max_deg, *(fall.t_s for fall in result.fallen)]
    places = [number for fall in result.fallen for number in (fall.x_mm, fall.y_mm)]
    wrong = [number for number in (*table, *others, *places) if not abs(number) <= _LARGEST]  # so that NaN is wrong too
    if wrong:
        raise ValueError(f"the number {wrong[0]} in the result cannot be true")
    if min(*others, result.halved) < 0:
        raise ValueError("a time, a tilt or a count in the result is negative")
    for rest in result.rests:
        if rest.pose[2] < CATCH_PLANE_M or abs(math.hypot(*rest.pose[3:]) - 1) > _UNIT_SLACK:
            raise ValueError(f"piece {rest.id} is said to rest where nothing can: {rest.pose}")
    unrounded = [number for number in table if round(number, DIGITS) != number]
    if unrounded:
        raise ValueError(f"the number {unrounded[0]} of the table after it has more than {DIGITS} decimals")


def _require_hands(result: Result, load: Load) -> None:
    """Raise ValueError unless each piece is in the hand that was held out where it fell and had room."""
    if any(one.t_s > other.t_s for one, other in pairwise(result.fallen)):
        raise ValueError("the pieces that fell are not in the order of falling")
    hands: list[int | None] = []
    for fall in result.fallen:
        hands.append(expected := hand_at(fall.x_mm, fall.y_mm, load.hands_mm, hands))
        if fall.hand != expected:
            raise ValueError(f"piece {fall.id} is said to be in hand {fall.hand}; by where it fell it is {expected}")
