"""A turn, step by step: announce, load, wait for wind and ship, take what fell, go on to the next player or round.

Source: R10 to R24 in docs/riffraff.md. Rule: each function takes a state to a later one; whether the step was allowed
is asked elsewhere. A piece leaves the supply when its placement has settled, so that it is always in exactly one of
supply, ship and box.
"""

from typing import Final

from msgspec.structs import replace

from arena.games.riffraff.actions import Load
from arena.games.riffraff.falls import fates, kind_of, table_after, under_way
from arena.games.riffraff.geometry import area_of
from arena.games.riffraff.material import AREAS
from arena.games.riffraff.noise import noise
from arena.games.riffraff.state import (
    CARDS,
    ROUNDS_PER_HAND,
    Fallen,
    Loaded,
    Phase,
    Player,
    State,
    gained,
    with_player,
)
from arena.games.riffraff.table import STILL, Settled

_TWO: Final = 2


def begin(state: State, turn: int) -> State:
    """The player at that place in the order has the turn; where two pieces are possible, how many is asked first."""
    begun = replace(state, phase=Phase.ANNOUNCE, turn=turn, loaded=0, to_load=0)
    return announced(begun, 1) if why_one(begun) else begun


def why_one(state: State) -> str:
    """Why no more than one piece can be loaded in this turn; empty if there may be two (R12)."""
    assert state.active is not None, "somebody has the turn"
    assert state.area is not None, "and has played a card"
    if not AREAS[state.area].is_yard:
        return f"area {state.area} is a part of the deck"
    if all(area_of(piece, state.table) != state.area for piece in state.table.cargo):
        return f"nothing lies on area {state.area}"
    return "you hold only one piece" if state.players[state.active].pieces < _TWO else ""


def announced(state: State, pieces: int) -> State:
    """So many pieces are to be loaded."""
    return replace(state, phase=Phase.LOAD, to_load=pieces)


def let_go(state: State, load: Load) -> State:
    """A piece is on its way down; only in still weather is it known how."""
    if state.variant.weather == "still":
        return replace(state, phase=Phase.SETTLING, pending=load, noise=STILL)
    return replace(state, phase=Phase.NOISE, pending=load)


def blown(state: State, faces: tuple[int, ...]) -> State:
    """The dice tell how unsteady hand and sea are."""
    return replace(state, phase=Phase.SETTLING, noise=noise(faces, state.variant.weather))


def passed(state: State) -> State:
    """The turn ends without loading, or without loading any more (R17)."""
    return _end(state if state.loaded else replace(state, last=()))


def settled(state: State, result: Settled) -> State:
    """What fell goes where it belongs; the turn goes on if nothing fell and another piece was announced (R13).

    ValueError if the result cannot have come from this state.
    """
    seat, _, load = under_way(state)
    table, fallen = table_after(state, result), fates(state, result)
    player = state.players[seat]
    player = replace(player, supply=gained(player.supply, kind_of(load), -1))
    removed = state.removed
    for fall in fallen:
        player = _with_fallen(player, fall)
        removed = gained(removed, fall.kind) if fall.fate == "removed" else removed
    after = replace(
        state,
        phase=Phase.LOAD,
        table=table,
        players=with_player(state.players, seat, player),
        removed=removed,
        to_load=state.to_load - 1,
        loaded=state.loaded + 1,
        placements=state.placements + 1,
        pending=None,
        noise=None,
        last=(*(state.last if state.loaded else ()), _loaded(state, result, fallen)),
    )
    return after if after.to_load and not fallen else _end(after)


def _with_fallen(player: Player, fall: Fallen) -> Player:
    """The active player after a piece fell: it is in the box, or in the supply."""
    if fall.fate == "removed":
        return replace(player, removed=player.removed + 1)
    return replace(player, supply=gained(player.supply, fall.kind))


def _loaded(state: State, result: Settled, fallen: tuple[Fallen, ...]) -> Loaded:
    """The placement as all players see it afterwards."""
    seat, area, load = under_way(state)
    assert state.noise is not None, "the wind has blown"
    return Loaded(
        seat=seat,
        id=result.id,
        area=area,
        load=load,
        noise=state.noise,
        end=result.end,
        t_s=result.t_s,
        tilt_max_deg=result.tilt_max_deg,
        fallen=fallen,
        digest=result.digest,
    )


def _end(state: State) -> State:
    """Whoever holds no piece now has won (R22); otherwise the next player, or the next round."""
    assert state.active is not None, "somebody's turn ends"
    ended = replace(state, to_load=0)
    if not state.players[state.active].pieces:
        return replace(ended, phase=Phase.OVER)
    if state.turn + 1 < len(state.order):
        return begin(ended, state.turn + 1)
    return _end_round(ended)


def _end_round(state: State) -> State:
    """Everybody has had a turn; two players take their cards back once and play another hand (R23, R24)."""
    if state.round == state.variant.rounds:
        return replace(state, phase=Phase.OVER)
    is_hand_over = state.round % ROUNDS_PER_HAND == 0
    players = tuple(replace(player, card=None, hand=CARDS if is_hand_over else player.hand) for player in state.players)
    return replace(state, phase=Phase.CARD, round=state.round + 1, players=players, order=(), turn=0, loaded=0)
