"""How the cards of a row stand for a side, by the dice that lie on them.

Rule: everything is seen by the side named first, and numbers 1..6 are at index number-1.
"""

from functools import lru_cache
from typing import Final

from arena.games.shanghaien.awards import Counts, neighbour_pips
from arena.games.shanghaien.state import ROW_SIZE
from arena.games.shanghaien.value.constants import CHANCES

_EMPTY, _TIE_WON, _TIE_EVEN, _TIE_LOST = range(4)
_LEADS: Final = {1: 4, 2: 5, 3: 6, -1: 7, -2: 8, -3: 9}
_AS_THE_OTHER: Final = (0, 3, 2, 1, 7, 8, 9, 4, 5, 6)
"""How the opponent sees each standing."""
WAITING: Final = tuple(
    [tuple([(chances[other][1], chances[other][0]) for other in _AS_THE_OTHER]) for chances in CHANCES]
)
"""`CHANCES` for the side that does not move: who has just placed a die."""
WINNER: Final = (0, 1, 0, -1, 1, 1, 1, -1, -1, -1)
"""Who wins a card that stands so: 1 the first side, -1 the other one, 0 nobody."""


def standing(mine: Counts, theirs: Counts, index: int) -> int:
    """How the card stands for the first side: no dice, a tie that is won, even or lost, a lead of 1, 2, 3 or more."""
    lead = mine[index] - theirs[index]
    if lead:
        return _LEADS[max(-3, min(3, lead))]
    if not mine[index]:
        return _EMPTY
    pips = neighbour_pips(mine, index) - neighbour_pips(theirs, index)
    return _TIE_WON if pips > 0 else _TIE_LOST if pips < 0 else _TIE_EVEN


@lru_cache(maxsize=32768)
def standings(mine: Counts, theirs: Counts) -> tuple[int, ...]:
    """How each card stands."""
    return tuple([standing(mine, theirs, index) for index in range(ROW_SIZE)])


@lru_cache(maxsize=32768)
def winners(mine: Counts, theirs: Counts) -> tuple[int, ...]:
    """Who wins each card: 1 the first side, -1 the other one, 0 nobody."""
    return tuple([WINNER[stand] for stand in standings(mine, theirs)])


@lru_cache(maxsize=32768)
def after_each(mine: Counts) -> tuple[Counts, ...]:
    """The own dice with one more on each of the numbers."""
    return tuple([with_dice(mine, (face,)) for face in range(1, ROW_SIZE + 1)])


def with_dice(mine: Counts, dice: tuple[int, ...]) -> Counts:
    """The own dice with more of them."""
    return tuple([count + dice.count(face) for face, count in enumerate(mine, start=1)])
