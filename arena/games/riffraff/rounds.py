"""From the cards to the order of play: who is captain, and who moves when.

Source: R7 to R10 in docs/riffraff.md. Rule: each function takes a state to a later one; whether the step was allowed
is asked elsewhere.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from arena.games.api import Seat
from arena.games.riffraff import turns
from arena.games.riffraff.state import Phase, Player, State


def reveal(state: State, cards: Mapping[Seat, int]) -> State:
    """All cards are turned up at once; a played card is gone from the hand."""
    players = tuple(_played(player, cards[Seat(seat)]) for seat, player in enumerate(state.players))
    revealed = replace(state, players=players)
    first = leaders(revealed)
    if len(first) > 1:
        return replace(revealed, phase=Phase.NEW_CAPTAIN)
    return crown(revealed, first[0])


def leaders(state: State) -> tuple[Seat, ...]:
    """The seats that share the highest card; one of them becomes captain."""
    return _groups(state)[0]


def crown(state: State, captain: Seat) -> State:
    """The new captain moves first; the others follow."""
    return _line_up(replace(state, captain=captain, order=(captain,)))


def ordered(state: State, seats: tuple[Seat, ...]) -> State:
    """The captain has put the seats of the first tie in order."""
    return _line_up(replace(state, order=state.order + seats))


def _line_up(state: State) -> State:
    """The order of play, by descending cards, up to the first tie that the captain must decide.

    Those who shared the highest card with the captain are the first group after him, for no card is higher than theirs.
    """
    groups = _groups(state)
    order = state.order
    for index, group in enumerate(groups):
        if len(group) > 1:
            ties = tuple(tied for tied in groups[index:] if len(tied) > 1)
            return replace(state, phase=Phase.ORDER, order=order, ties=ties)
        order += group
    return turns.begin(replace(state, order=order, ties=()), 0)


def _groups(state: State) -> list[tuple[Seat, ...]]:
    """The seats without a place in the order, those with the same card together, the highest card first."""
    seats = {Seat(seat): player.card for seat, player in enumerate(state.players) if seat not in state.order}
    cards = sorted({card for card in seats.values() if card is not None}, reverse=True)
    return [tuple(seat for seat, held in seats.items() if held == card) for card in cards]


def _played(player: Player, card: int) -> Player:
    return replace(player, hand=tuple(held for held in player.hand if held != card), card=card)
