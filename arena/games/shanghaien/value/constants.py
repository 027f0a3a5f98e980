"""The constants of the value of a position. They are frozen: whoever changes one gives the value a new version.

Source: self-play of bots/sensible, 1500 matches as it is and 2000 with one move in 33 at random, all others than those
the luck is measured with. `CHANCES` are frequencies, each card weighed by what it was worth; the rest are regressions
of the final margin, or of who won, on what the value computes, with rounded coefficients. benchmarks/luck_fit.py counts
the frequencies again.
"""

from typing import Final

VERSION: Final = "2"
SHARE: Final = 0.33
"""The part of the cards to come that each side wins."""
TRICK: Final = (1.0, 1.4, 2.2, 2.6, 2.8, 2.8, 2.7, 2.6, 2.6)
"""Points an unused trick is worth by the number of rounds left in which it can be used; in the end 1, by the rules."""
FIRST_JOKER: Final = (0.0, 0.65, 0.5, 0.4, 0.4, 0.3, 0.2, 0.1, 0.0)
SECOND_JOKER: Final = (0.0, 0.0, 0.6, 0.6, 0.4, 0.2, 0.2, 0.2, 0.2)
"""The part of the gain by a joker that its owner can hope for, besides `TRICK`; by the same number of rounds."""
DEVIATION: Final = (9.6, 9.5, 9.2, 8.8, 8.4, 7.9, 7.1, 5.3)
"""What the final margin deviates from the expected one at the start of each round."""
LAST_DEVIATION: Final = (4.3, 4.1, 3.9, 3.7, 3.3, 3.1, 3.0, 3.0, 3.0, 3.0, 3.0)
"""The same in the last round, by the number of dice placed by both sides together."""
MOST_DICE: Final = 10
START: Final = (0.0, 0.2, 0.3, 0.3, 0.4, 0.4, 0.4, 0.7, 1.1)
"""Points that starting the round is worth, by the number of the round (from 1)."""
SLOPE: Final = 0.88
"""How much of an expected margin comes true, before the last round."""
CHANCES: Final = (
    (
        (0.383, 0.332),
        (0.700, 0.200),
        (0.400, 0.300),
        (0.300, 0.600),
        (0.850, 0.100),
        (0.990, 0.000),
        (1.000, 0.000),
        (0.100, 0.850),
        (0.000, 0.990),
        (0.000, 1.000),
    ),
    (
        (0.365, 0.298),
        (0.700, 0.200),
        (0.400, 0.300),
        (0.300, 0.600),
        (0.850, 0.100),
        (0.990, 0.000),
        (1.000, 0.000),
        (0.213, 0.693),
        (0.000, 0.990),
        (0.000, 1.000),
    ),
    (
        (0.323, 0.288),
        (0.700, 0.200),
        (0.482, 0.391),
        (0.300, 0.600),
        (0.756, 0.160),
        (0.990, 0.000),
        (1.000, 0.000),
        (0.190, 0.721),
        (0.000, 0.991),
        (0.000, 1.000),
    ),
    (
        (0.321, 0.218),
        (0.700, 0.200),
        (0.495, 0.333),
        (0.406, 0.482),
        (0.814, 0.121),
        (0.990, 0.000),
        (1.000, 0.000),
        (0.161, 0.750),
        (0.018, 0.972),
        (0.000, 1.000),
    ),
    (
        (0.241, 0.213),
        (0.681, 0.234),
        (0.428, 0.332),
        (0.397, 0.511),
        (0.837, 0.098),
        (0.994, 0.006),
        (1.000, 0.000),
        (0.129, 0.802),
        (0.006, 0.990),
        (0.000, 1.000),
    ),
    (
        (0.251, 0.123),
        (0.765, 0.194),
        (0.486, 0.213),
        (0.352, 0.528),
        (0.912, 0.056),
        (0.997, 0.001),
        (1.000, 0.000),
        (0.114, 0.810),
        (0.005, 0.992),
        (0.000, 1.000),
    ),
    (
        (0.146, 0.130),
        (0.927, 0.053),
        (0.273, 0.243),
        (0.300, 0.620),
        (0.915, 0.050),
        (0.998, 0.002),
        (1.000, 0.000),
        (0.069, 0.891),
        (0.002, 0.997),
        (0.000, 1.000),
    ),
    (
        (0.221, 0.075),
        (0.859, 0.113),
        (0.508, 0.130),
        (0.370, 0.488),
        (0.948, 0.032),
        (1.000, 0.000),
        (1.000, 0.000),
        (0.106, 0.828),
        (0.003, 0.994),
        (0.000, 1.000),
    ),
    (
        (0.093, 0.092),
        (0.936, 0.043),
        (0.170, 0.175),
        (0.198, 0.745),
        (0.936, 0.038),
        (0.998, 0.001),
        (1.000, 0.000),
        (0.042, 0.929),
        (0.000, 1.000),
        (0.000, 1.000),
    ),
    (
        (0.181, 0.001),
        (0.996, 0.002),
        (0.560, 0.004),
        (0.396, 0.440),
        (0.999, 0.000),
        (0.999, 0.000),
        (1.000, 0.000),
        (0.104, 0.840),
        (0.001, 0.998),
        (0.000, 1.000),
    ),
    (
        (0.004, 0.001),
        (0.996, 0.003),
        (0.010, 0.004),
        (0.010, 0.987),
        (0.999, 0.000),
        (1.000, 0.000),
        (1.000, 0.000),
        (0.001, 0.997),
        (0.000, 1.000),
        (0.000, 1.000),
    ),
)
"""What becomes of a card, by the dice placed by both sides together (0 to 10) and by how it stands for the side to
move (`value_faces.standing`): the chance that this side wins it, and that the other one does. The rest: nobody."""
_ENDED_EARLY: Final = (0.0, 0.0, 0.15, 0.0, 0.25, 0.0, 0.3, 0.0, 0.5, 0.0, 0.0)
_ENDED_MIDDLE: Final = (0.0, 0.0, 0.35, 0.0, 0.42, 0.1, 0.45, 0.1, 0.58, 0.1, 0.0)
_ENDED_LATE: Final = (0.0, 0.05, 0.35, 0.2, 0.5, 0.27, 0.66, 0.25, 0.85, 0.1, 0.0)
_ENDED_LAST: Final = (0.0, 0.05, 0.05, 0.23, 0.21, 0.19, 0.36, 0.07, 0.6, 0.0, 0.0)
ENDED: Final = (*(_ENDED_EARLY,) * 5, *(_ENDED_MIDDLE,) * 2, _ENDED_LATE, _ENDED_LAST)
"""By round (from 1) and by dice placed: the weight of the payoff if the round ended now, for whoever has placed."""
_LESSER_EARLY: Final = (0.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.5, 0.5, 0.4, 0.3, 0.0)
_LESSER_MIDDLE: Final = (0.0, 0.0, 0.1, 0.4, 0.13, 0.6, 0.45, 0.6, 0.2, 0.6, 0.0)
_LESSER_LATE: Final = (0.0, 0.0, 0.1, 0.2, 0.12, 0.35, 0.1, 0.3, 0.0, 0.5, 0.0)
_LESSER_LAST: Final = (0.0, 0.1, 0.35, 0.2, 0.78, 0.81, 0.64, 0.93, 0.4, 1.0, 0.0)
LESSER: Final = (*(_LESSER_EARLY,) * 5, *(_LESSER_MIDDLE,) * 2, _LESSER_LATE, _LESSER_LAST)
"""The same for the lesser of that payoff and the one by `CHANCES`; the rest is the weight of the latter."""
LOOKAHEAD: Final = 6
"""From this round on a die just placed is judged by the opponent's next roll; before it the frequencies will do."""
