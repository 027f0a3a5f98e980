"""Feed the sharks / exchange: a card of the row is lost for all, or a placed die is traded for two.

Source: "Отправить кормить акул / Обмен" in the Russian rule text. Rulings: the card is turned down when the die of
this turn is placed on it; a card that lies face down already stays so; the right to turn a card down is lost if no die
is placed in the turn; both dice of an exchange make one placement.
"""

from functools import cache
from typing import Final, NamedTuple

from arena.games.api import Json, Number
from arena.games.shanghaien.actions import Action
from arena.games.shanghaien.state import Expansion, State, Trick, Winners
from arena.games.shanghaien.turns import discard

NAME: Final = "sharks"


class Feed(Action, frozen=True, tag="feed"):
    """Turn the card down on which the die of this turn is placed."""

    text = "plays feed the sharks: turns down the card they place on"


class Exchange(Action, frozen=True, tag="exchange"):
    """Take one of your dice on the number `back` into the supply, and place both dice just rolled."""

    back: Number

    def __str__(self) -> str:
        return f"plays exchange: takes a die back from {self.back} and places both"


class Waters(NamedTuple):
    """The sharks' memory. `face_down`: numbers of cards turned down in this round; `feeding`: the turn of the next."""

    face_down: tuple[int, ...] = ()
    feeding: int = -1


_START: Final = Waters()


def _feed(state: State, _: Feed) -> None:
    """Play the card, so that the card of the row on which this turn's die is placed is turned down."""
    discard(state, NAME)
    state.remember(NAME, Waters(_waters(state).face_down, feeding=state.turn))


def _exchange(state: State, action: Exchange) -> None:
    """Take a die back from its number, and let the player place both dice."""
    player = discard(state, NAME)
    placed = list(player.placed)
    placed[action.back - 1] -= 1
    player.placed = tuple(placed)
    state.to_place = state.must_place = 2


def _list_plays(state: State) -> tuple[Action, ...]:
    """List the plays: feed always; exchange if a die of the player was placed in an earlier turn of the round."""
    return _plays_with(state.players[state.to_move].placed)


@cache
def _plays_with(placed: tuple[int, ...]) -> tuple[Action, ...]:
    """List the plays of a player with these dice on the numbers."""
    return (Feed(), *[Exchange(back=number) for number, count in enumerate(placed, start=1) if count])


def _waters(state: State) -> Waters:
    """Return the memory of this expansion."""
    waters: Waters = state.extras[NAME]
    return waters


def _turn_down(state: State, dice: tuple[int, ...]) -> None:
    """Turn the cards down on which these dice were placed, if the sharks are fed in this turn."""
    waters = _waters(state)
    if waters.feeding == state.turn:
        state.remember(NAME, Waters(face_down=tuple(sorted({*waters.face_down, *dice}))))


def _take_from_winners(state: State, winners: Winners) -> Winners:
    """Take cards that were turned down out of the game, whatever dice lie there.

    The dice count for their neighbours.
    """
    down = _waters(state).face_down
    return tuple([None if number in down else seat for number, seat in enumerate(winners, start=1)])


def _view_entry(state: State) -> dict[str, Json]:
    waters = _waters(state)
    return {"face_down": waters.face_down, "feeding": waters.feeding == state.turn}


def _note_lines(state: State) -> tuple[str, ...]:
    """Name the cards that were turned down, in one line; nothing without any."""
    down = _waters(state).face_down
    return (f"fed to the sharks: {', '.join(f'({number})' for number in down)}",) if down else ()


def _why_illegal(state: State, action: Action) -> str | None:
    """Return the sentence why an exchange is illegal; None for other actions."""
    if isinstance(action, Exchange) and not 1 <= action.back <= 6:
        return f"there is no number {action.back}; the numbers are 1 to 6"
    if isinstance(action, Exchange) and not state.players[state.to_move].placed[action.back - 1]:
        return f"no own die lies on number {action.back}, so none can be taken back from there"
    return None


SHARKS: Final = Expansion(
    name=NAME,
    trick=Trick(NAME, {Feed: _feed, Exchange: _exchange}, _list_plays),
    summary="""\
Expansion sharks, a trick: the card that you place on is turned down, and nobody
wins it. Or: you take back a placed die, and place both dice.""",
    all_actions=_plays_with((1,) * 6),
    start=_START,
    on_placed=_turn_down,
    award=_take_from_winners,
    on_round_end=lambda state: state.remember(NAME, _START),
    view=_view_entry,
    notes=_note_lines,
    why=_why_illegal,
)
