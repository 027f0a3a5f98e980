"""The constants of the value, as constants.json has them.

The constants are frozen: other ones make a new version of the value. Source: self-play of bots/sensible, 1500 matches
as it is and 2000 with one move in 33 at random, all others than those the luck is measured with. `chances` are
frequencies, each card weighed by its worth; the rest are regressions of the final margin, or of the winner, on the
terms of the value, with rounded coefficients. benchmarks/luck_fit.py counts the frequencies again.
"""

from functools import cache
from math import sqrt
from pkgutil import get_data
from typing import Final

import msgspec

from arena.games.shanghaien.state import ROUNDS


class Constants(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of constants.json; margins in points."""

    version: str
    share: float
    """The share of the cards to come that each side wins."""
    trick: tuple[float, ...]
    """Points an unused trick is worth, by the number of rounds left to use it in; in the end 1, by the rules."""
    first_joker: tuple[float, ...]
    second_joker: tuple[float, ...]
    """The part of the gain by a joker that its owner can hope for, besides `trick`; by the same number of rounds."""
    deviation: tuple[float, ...]
    """Standard deviation of the final margin from the expected one at the start of each round."""
    last_deviation: tuple[float, ...]
    """`deviation` in the last round, by the number of dice placed by both sides together."""
    most_dice: int
    start: tuple[float, ...]
    """Points that starting the round is worth, by the number of the round (from 1)."""
    slope: float
    """The part of an expected margin that comes true, before the last round."""
    lookahead: int
    """The first round in which a die just placed is judged by the opponent's next roll; before, the frequencies do."""
    chances: tuple[tuple[tuple[float, float], ...], ...]
    """The fate of a card, by the dice placed by both sides together (0 to 10) and by how it stands for the side to
    move (`placed.PlacedDice.standings`): the chance that this side wins it, and that the other does; else nobody."""
    ended: tuple[tuple[float, ...], ...]
    """By round (from 1) and by dice placed: the weight of the payoff if the round ended now, for the side that has
    just placed."""
    lesser: tuple[tuple[float, ...], ...]
    """The weight of the lesser of that payoff and the one by `chances`; the remaining weight is of the latter."""


CONSTANTS: Final = msgspec.json.decode(get_data(__package__, "constants.json") or b"", type=Constants)


@cache
def scale(round_: int, dice: int) -> float:
    """Return the standard deviations that a point of margin makes, after so many dice in the round.

    The variance goes evenly from the start of a round to that of the next.
    """
    if round_ == ROUNDS:
        return 1 / CONSTANTS.last_deviation[dice]
    here, there = CONSTANTS.deviation[round_ - 1] ** 2, CONSTANTS.deviation[round_] ** 2
    return CONSTANTS.slope / sqrt(here + (there - here) * dice / CONSTANTS.most_dice)
