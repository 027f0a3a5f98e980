"""The model of a comparison: skills and seats -> the chances of a win, a draw and a loss.

Rule: TrueSkill's model. A performance is the skill with normal noise of `beta`; two performances within a margin of
each other are a draw, otherwise the better one wins.
"""

import math

import msgspec

from arena.statistics.distributions import NORMAL, normal_cdf


class ProbitSettings(msgspec.Struct, frozen=True):
    """The constants of the model; the first four are those of the ratings.

    `seat_sigma` is the standard deviation of the advantage of the first of two seats over the second: by default one
    beta, which is 76 % against 24 % at equal skill. With 0 the seats are taken as equal.
    """

    mu: float = 25.0
    sigma: float = 25.0 / 3.0
    beta: float = 25.0 / 6.0
    draw_probability: float = 0.04
    seat_sigma: float = 25.0 / 6.0

    def __post_init__(self) -> None:
        """Raise ValueError for constants with which no player can be rated."""
        for name in ("mu", "sigma", "beta", "draw_probability", "seat_sigma"):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name}: expected a finite number, found {getattr(self, name)}")
        if self.sigma <= 0.0 or self.beta <= 0.0 or self.seat_sigma < 0.0:
            raise ValueError(f"expected sigma and beta above 0 and seat_sigma 0 or more, found {self}")
        if not 0.0 < self.draw_probability < 1.0:
            raise ValueError(f"draw_probability: expected a number between 0 and 1, found {self.draw_probability}")

    @property
    def scale(self) -> float:
        """The standard deviation of the difference of two performances."""
        return math.sqrt(2.0) * self.beta

    @property
    def margin(self) -> float:
        """The greatest difference of two performances that is a draw."""
        return NORMAL.inv_cdf((self.draw_probability + 1.0) / 2.0) * self.scale


class BlockEffect(msgspec.Struct, frozen=True, gc=False):
    """The luck that the blocks of a league share.

    `correlation` is that of the noise, from which the errors are computed: above 0 for luck of a seat, below 0 for luck
    of a player. For people: `players` and `seats` are the design effects of the league, the variance of blocks over
    that of as many independent matches, of the players' scores and of the seats'; between equals about one is as much
    below 1 as the other is above. `degrees` are the degrees of freedom of all three.
    """

    players: float
    seats: float
    degrees: int
    correlation: float


class Chances(msgspec.Struct, frozen=True, gc=False):
    """The chances of a win, a draw and a loss; their sum is 1."""

    win: float
    draw: float
    loss: float

    @property
    def score(self) -> float:
        """The expected score: a draw is half a win."""
        return self.win + self.draw / 2.0


def score_slope(difference: float, settings: ProbitSettings) -> float:
    """Return the slope of the expected score over the difference in skill."""
    up, down = (difference - settings.margin) / settings.scale, (-difference - settings.margin) / settings.scale
    return (NORMAL.pdf(up) + NORMAL.pdf(down)) / (2.0 * settings.scale)


def chances_at(difference: float, scale: float, margin: float) -> Chances:
    """Return the chances of a player who is better by `difference`; `scale` is the noise of the difference."""
    win, loss = normal_cdf((difference - margin) / scale), normal_cdf((-difference - margin) / scale)
    # as a difference of lower tails, which keeps its digits where a draw is next to impossible
    away = abs(difference)
    return Chances(win, normal_cdf((margin - away) / scale) - normal_cdf((-margin - away) / scale), loss)
