"""What one seat may know, as plain JSON values: everything but the order of the draw pile.

Rule: hidden information leaves by this door only. protocol.md describes each field.
"""

from arena.games.api import Json, Seat
from arena.games.shanghaien.cards import NATIONS
from arena.games.shanghaien.state import Player, State


def observe(state: State, seat: Seat) -> dict[str, Json]:
    """The view of `seat`; both seats see the same but for `you`."""
    faces = state.variant.faces
    view: dict[str, Json] = {
        "you": seat,
        "round": state.round,
        "to_move": state.to_move,
        "phase": state.phase.value if state.interlude is None else state.interlude.name,
        "dice": state.dice,
        "to_place": state.to_place,
        "must_place": state.must_place,
        "tavern": [faces[card] for card in state.row],
        "one_at": state.one_at,
        "players": [_side(player, faces) for player in state.players],
        "pile": len(state.pile),
        "gone": [faces[card] for card in state.gone],
    }
    if state.variant.expansions:
        shown = {name: each.view(state) for name, each in state.variant.expansions.items() if each.view is not None}
        view |= {"table": [faces[card] for card in state.table], "expansions": shown}
    return view


def _side(player: Player, faces: tuple[str, ...]) -> dict[str, Json]:
    # Written out: zipping the names to the sums took a third of all the time of a view.
    american, french, german, chinese, dutch, turkish, spanish, italian = player.strength
    return {
        "supply": player.supply,
        "placed": player.placed,
        "sailors": [faces[card] for card in player.sailors],
        "jokers": [NATIONS[nation] for _, nation in player.jokers],
        "strength": {
            "american": american,
            "french": french,
            "german": german,
            "chinese": chinese,
            "dutch": dutch,
            "turkish": turkish,
            "spanish": spanish,
            "italian": italian,
        },
        "tricks": [faces[card] for card in player.tricks],
        "trick_used": player.has_used_trick,
    }
