"""A pair table -> a skill per player with its error, all at once: the batch twin of the one-pass ratings.

Rule: the model is that of the ratings (TrueSkill's: skill m, performance noise beta, a tie within a margin), but all
matches are weighed together, so that their order cannot matter. Maximised is

    sum W log Phi((d - eps) / s) + D log[Phi((eps - d) / s) - Phi((-eps - d) / s)] - sum (m - mu)^2 / (2 sigma^2)

with d = m_i - m_j + (effect of i's seat) - (effect of j's seat) and s = sqrt(2) beta. The seats have a weak prior of
their own and are estimated jointly. The mean of all skills is exactly mu; only differences mean anything.

The work grows with the cube of the players: fine for a thousand, not for ten thousand.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import msgspec

from arena.statistics.model import Chances, ProbitSettings, chances_at, score_slope
from arena.statistics.pairs import PairTable, connected_groups

if TYPE_CHECKING:
    from arena.statistics.newton import Design, Floats

_NORMAL: Final = NormalDist()


class SeatAdvantage(msgspec.Struct, frozen=True, gc=False):
    """What a seat is worth against the mean of the other seats.

    `skill` and its standard `error` are in units of mu. `points` are the percentage points of score above 50 that a
    player gets there against equals; `points_error` is their standard error.
    """

    seat: int
    skill: float
    error: float
    points: float
    points_error: float


@dataclass(frozen=True)
class ProbitFit:
    """The skills of all players, by name order.

    `covariance` is of the means; it contains how little is known of the level of all. `deviations` leave that out: they
    are the standard deviations of each mean against the mean of all. `groups` are players whom no match connects.
    """

    settings: ProbitSettings
    players: tuple[str, ...]
    means: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    deviations: tuple[float, ...]
    seat_effects: tuple[float, ...]
    seats: tuple[SeatAdvantage, ...]
    groups: tuple[tuple[str, ...], ...]

    @property
    def is_connected(self) -> bool:
        """Whether everyone can be compared with everyone."""
        return len(self.groups) < 2

    def mean(self, player: str) -> float:
        """The skill of `player`; KeyError for a stranger."""
        return self.means[self._places[player]]

    def deviation(self, player: str) -> float:
        """The standard deviation of that skill against the mean of all."""
        return self.deviations[self._places[player]]

    def ranking(self) -> tuple[str, ...]:
        """The players, best first. Skills that agree to 9 decimals differ by rounding only: then by name."""
        return tuple(sorted(self.players, key=lambda player: (-round(self.mean(player), 9), player)))

    def likelihood_better(self, one: str, other: str) -> float | None:
        """How likely `one` is the better player; None if no chain of matches connects the two."""
        if self._group[one] != self._group[other]:
            return None
        variance = self._variance_of_difference(one, other)
        if one == other or variance <= 0.0:
            return 0.5
        return _NORMAL.cdf((self.mean(one) - self.mean(other)) / math.sqrt(variance))

    def chances(self, one: str, other: str, *, seats: tuple[int, int] | None = None) -> Chances:
        """Tell `one`'s chances if the skills are exactly the means; without `seats`, in equal ones."""
        return chances_at(self._difference(one, other, seats), self.settings.scale, self.settings.margin)

    def forecast(self, one: str, other: str, *, seats: tuple[int, int] | None = None) -> Chances:
        """Tell `one`'s chances with the doubt about both skills taken in; less sure than `chances`."""
        doubt = self._variance_of_difference(one, other)
        scale = math.sqrt(self.settings.scale**2 + max(0.0, doubt))
        return chances_at(self._difference(one, other, seats), scale, self.settings.margin)

    def _difference(self, one: str, other: str, seats: tuple[int, int] | None) -> float:
        difference = self.mean(one) - self.mean(other)
        if seats is None or not self.seat_effects:
            return difference
        return difference + self.seat_effects[seats[0]] - self.seat_effects[seats[1]]

    def _variance_of_difference(self, one: str, other: str) -> float:
        i, j = self._places[one], self._places[other]
        return self.covariance[i][i] + self.covariance[j][j] - 2.0 * self.covariance[i][j]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {player: place for place, player in enumerate(self.players)}

    @cached_property
    def _group(self) -> dict[str, int]:
        return {player: number for number, group in enumerate(self.groups) for player in group}


def fit(
    table: PairTable,
    settings: ProbitSettings | None = None,
    *,
    inflation: float = 1.0,
    seat_inflation: float = 1.0,
) -> ProbitFit:
    """Find the most likely skills and their errors.

    `inflation` is the design effect: the variance of blocks over that of as many independent matches; `seat_inflation`
    is that of the seats' scores. Mirrored matches share their luck, which makes the one less than 1 and the other more;
    `design_effect` estimates both. They scale what the results add to the errors, not the prior: the covariance becomes
    H^-1 (I' + prior) H^-1 with I the information of the results, H = I + prior, and I' = I times the square roots of
    the inflations of its row and column. It is H^-1 where these are 1. The means stay what they are.
    """
    from arena.statistics import newton  # noqa: PLC0415 - imports numpy, which only a calculation needs

    chosen = settings or ProbitSettings()
    if not (0.0 < inflation < math.inf and 0.0 < seat_inflation < math.inf):
        raise ValueError(f"expected finite inflations above 0, found {inflation} and {seat_inflation}")
    if not table.players:
        return ProbitFit(chosen, (), (), (), (), (), (), ())
    count = len(table.players)
    laid_out = design(table, chosen)
    optimum = newton.maximise(laid_out, _counts(table))
    seats = len(laid_out.centre) - count
    covariance = _covariance(optimum.information[0], laid_out.precision, [inflation] * count + [seat_inflation] * seats)
    effects = _centred(optimum.parameters[0, count:].tolist(), 0.0)
    return ProbitFit(
        settings=chosen,
        players=table.players,
        means=_centred(optimum.parameters[0, :count].tolist(), chosen.mu),
        covariance=tuple(map(tuple, covariance[:count, :count].tolist())),
        deviations=_centred_deviations(covariance[:count, :count]),
        seat_effects=effects,
        seats=_seat_advantages(effects, covariance[count:, count:], chosen),
        groups=connected_groups(table),
    )


def design(table: PairTable, settings: ProbitSettings) -> "Design":
    """Lay out `table` for the maximiser: a parameter per player and, unless they are fixed, per seat."""
    import numpy as np  # noqa: PLC0415 - see `fit`

    from arena.statistics import newton  # noqa: PLC0415 - see `fit`

    count = len(table.players)
    seats = table.seats if settings.seat_sigma > 0.0 else 0
    columns = [
        (row.first, row.second, *((count + row.first_seat, count + row.second_seat) if seats else ()))
        for row in table.rows
    ]
    width = 4 if seats else 2
    # the difference of two seats, each with half the variance, has that of `seat_sigma`
    seat_precision = 2.0 / settings.seat_sigma**2 if seats else 0.0
    return newton.Design(
        columns=np.array(columns, dtype=np.int64).reshape(-1, width),
        signs=np.array([1.0, -1.0, 1.0, -1.0][:width]),
        centre=np.array([settings.mu] * count + [0.0] * seats),
        precision=np.array([settings.sigma**-2] * count + [seat_precision] * seats),
        scale=settings.scale,
        margin=settings.margin,
        weight=table.weight,
    )


def _counts(table: PairTable) -> "Floats":
    import numpy as np  # noqa: PLC0415 - see `fit`

    rows = [(row.wins, row.draws, row.losses) for row in table.rows]
    return np.array(rows, dtype=np.float64).reshape(1, -1, 3)


def _covariance(information: "Floats", precision: "Floats", inflations: Sequence[float]) -> "Floats":
    import numpy as np  # noqa: PLC0415 - see `fit`

    from arena.statistics.newton import solve  # noqa: PLC0415 - see `fit`

    prior = np.diag(precision)
    inverse: Floats = solve((information + prior)[None], np.eye(len(prior))[None])[0]
    if any(inflation != 1.0 for inflation in inflations):
        stretch = np.sqrt(np.array(inflations))
        told = information * np.outer(stretch, stretch) + prior
        # einsum keeps away from BLAS: see `solve`
        inverse = np.einsum("ij,jk->ik", np.einsum("ij,jk->ik", inverse, told), inverse)
    return (inverse + inverse.T) / 2.0


def _centred(values: Sequence[float], centre: float) -> tuple[float, ...]:
    """Take out what rounding left in the mean, which the prior puts at `centre`."""
    if not values:
        return ()
    shift = centre - math.fsum(values) / len(values)
    return tuple(value + shift for value in values)


def _centred_deviations(covariance: "Floats") -> tuple[float, ...]:
    """The roots of diag(T C T) with T = I - 1/n: errors about the mean of all."""
    import numpy as np  # noqa: PLC0415 - see `fit`

    variance = np.diag(covariance) - 2.0 * covariance.mean(axis=1) + covariance.mean()
    return tuple(np.sqrt(np.maximum(variance, 0.0)).tolist())


def _seat_advantages(
    effects: Sequence[float], covariance: "Floats", settings: ProbitSettings
) -> tuple[SeatAdvantage, ...]:
    """Compare each seat with the mean of the others; the error of the points follows the slope of the score."""
    count = len(effects)
    found = []
    for seat in range(count):
        against = [1.0 if other == seat else -1.0 / (count - 1) for other in range(count)]
        variance = sum(against[i] * against[j] * float(covariance[i, j]) for i in range(count) for j in range(count))
        gaps = [effects[seat] - other for place, other in enumerate(effects) if place != seat]
        scores = [chances_at(gap, settings.scale, settings.margin).score for gap in gaps]
        slope = math.fsum(score_slope(gap, settings) for gap in gaps) / len(gaps)
        error = math.sqrt(max(0.0, variance))
        skill = math.fsum(weight * effect for weight, effect in zip(against, effects, strict=True))
        points = 100.0 * (math.fsum(scores) / len(scores) - 0.5)
        found.append(SeatAdvantage(seat, skill, error, points, 100.0 * slope * error))
    return tuple(found)
