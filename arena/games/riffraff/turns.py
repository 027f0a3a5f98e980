"""A round step by step: cards, captain and order of play, then the turns: announce, load, settle, take what fell.

Source: R7 to R24 in docs/riffraff.md. Rule: each function takes a state to a later one; `legality` has checked it. A
piece leaves the supply when its placement has settled, so that it is always in exactly one of supply, ship and box.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from arena.games.api import Seat
from arena.games.riffraff.actions import Load
from arena.games.riffraff.falls import fates, kind_of, table_after, under_way
from arena.games.riffraff.geometry import area_of
from arena.games.riffraff.noise import STILL, noise
from arena.games.riffraff.scene import KINDS, Kind
from arena.games.riffraff.state import CARDS, ROUNDS_PER_HAND, Loaded, Phase, State
from arena.games.riffraff.table import Settled


def reveal_cards(state: State, cards: Mapping[Seat, int]) -> State:
    """All cards are turned up at once; a played card is gone from the hand."""
    players = tuple(
        replace(player, hand=tuple(held for held in player.hand if held != cards[seat]), card=cards[seat])
        for seat, player in zip(map(Seat, range(len(state.players))), state.players, strict=True)
    )
    revealed = replace(state, players=players)
    tied = leaders(revealed)
    return crown(revealed, tied[0]) if len(tied) == 1 else replace(revealed, phase=Phase.NEW_CAPTAIN)


def leaders(state: State) -> tuple[Seat, ...]:
    """The seats that share the highest card; one of them becomes captain."""
    return _groups(state)[0]


def crown(state: State, captain: Seat) -> State:
    """The new captain moves first; the others follow."""
    return ordered(replace(state, captain=captain), (captain,))


def ordered(state: State, seats: tuple[Seat, ...]) -> State:
    """These seats move next, then the others by descending cards, up to the first tie that the captain must decide.

    Those who shared the highest card with the captain are the first group after him, for no card is higher than theirs.
    """
    state = replace(state, order=state.order + seats)
    groups = _groups(state)
    order = state.order
    for index, group in enumerate(groups):
        if len(group) > 1:
            ties = tuple(tied for tied in groups[index:] if len(tied) > 1)
            return replace(state, phase=Phase.ORDER, order=order, ties=ties)
        order += group
    return _begin(replace(state, order=order, ties=()), 0)


def _groups(state: State) -> list[tuple[Seat, ...]]:
    """The seats without a place in the order, those with the same card together, the highest card first."""
    seats = {Seat(seat): player.card for seat, player in enumerate(state.players) if seat not in state.order}
    cards = sorted({card for card in seats.values() if card is not None}, reverse=True)
    return [tuple(seat for seat, held in seats.items() if held == card) for card in cards]


def _begin(state: State, turn: int) -> State:
    """The player at that place in the order has the turn; if two pieces are possible, the number is asked first."""
    begun = replace(state, phase=Phase.ANNOUNCE, turn=turn, loaded=0, to_load=0)
    return announced(begun, 1) if why_one(begun) else begun


def why_one(state: State) -> str:
    """The reason why no more than one piece can be loaded in this turn; empty if there may be two (R12)."""
    assert state.active is not None, "somebody has the turn"
    if not state.active_area.is_yard:
        return f"area {state.area} is a part of the deck"
    if all(area_of(piece, state.table) != state.area for piece in state.table.cargo):
        return f"nothing lies on area {state.area}"
    return "you hold only one piece" if state.players[state.active].pieces < 2 else ""


def announced(state: State, pieces: int) -> State:
    """So many pieces are to be loaded."""
    return replace(state, phase=Phase.LOAD, to_load=pieces)


def let_go(state: State, load: Load) -> State:
    """A piece is on its way down; without weather there is no noise to be drawn."""
    if state.variant.weather == "still":
        return replace(state, phase=Phase.SETTLING, pending=load, noise=STILL)
    return replace(state, phase=Phase.NOISE, pending=load)


def blown(state: State, faces: tuple[int, ...]) -> State:
    """The dice decide how unsteady hand and sea are."""
    return replace(state, phase=Phase.SETTLING, noise=noise(faces, state.variant.weather))


def passed(state: State) -> State:
    """The turn ends without loading, or without loading any more (R17)."""
    return _end(state if state.loaded else replace(state, last=()))


def settled(state: State, result: Settled) -> State:
    """Fallen pieces are in box or supply; the turn goes on if nothing fell and another piece was announced (R13).

    ValueError if the result cannot have come from this state.
    """
    seat, area, load = under_way(state)
    assert state.noise is not None, "the wind has blown"
    table, fallen = table_after(state, result), fates(state, result)
    out = [fall.kind for fall in fallen if fall.fate == "removed"]
    back = [fall.kind for fall in fallen if fall.fate != "removed"]
    players = list(state.players)
    supply = _plus(_plus(players[seat].supply, back), [kind_of(load)], -1)
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
        removed=_plus(state.removed, out),
        to_load=state.to_load - 1,
        loaded=state.loaded + 1,
        placements=state.placements + 1,
        pending=None,
        noise=None,
        last=(*(state.last if state.loaded else ()), loaded),
    )
    return after if after.to_load and not fallen else _end(after)


def _plus(counts: Sequence[int], kinds: Sequence[Kind], by: int = 1) -> tuple[int, ...]:
    """Numbers of pieces by kind, with `by` more for each of `kinds`."""
    return tuple(count + by * kinds.count(kind) for kind, count in zip(KINDS, counts, strict=True))


def _end(state: State) -> State:
    """A player without pieces has won (R22); otherwise the next player has the turn, or the next round begins."""
    assert state.active is not None, "somebody's turn ends"
    ended = replace(state, to_load=0)
    if not state.players[state.active].pieces:
        return replace(ended, phase=Phase.OVER)
    if state.turn + 1 < len(state.order):
        return _begin(ended, state.turn + 1)
    return _end_round(ended)


def _end_round(state: State) -> State:
    """After everybody's turn, two players take their cards back once and play another hand (R23, R24)."""
    if state.round == state.variant.rounds:
        return replace(state, phase=Phase.OVER)
    is_hand_over = state.round % ROUNDS_PER_HAND == 0
    players = tuple(replace(player, card=None, hand=CARDS if is_hand_over else player.hand) for player in state.players)
    return replace(state, phase=Phase.CARD, round=state.round + 1, players=players, order=(), turn=0, loaded=0)
