"""Pairings -> the skill of every player by the batch estimate, the rating, which no order of matches can change.

Rule: this is the one road to a fit: the table, schedules, `stats` and `matrix` all come here. The model
is that of the ratings. An error is against the mean of all whom matches connect, or against the anchor, as ± 95 %; how
sure it is follows from blocks (`arena.statistics.block_correlation`).
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from arena.standings.ratings import RatingSettings
from arena.statistics.comparisons import ComparisonTable, table_of
from arena.statistics.distributions import SURE_SIGN
from arena.statistics.interval import Interval, interval
from arena.statistics.model import ProbitSettings
from arena.statistics.pairs import PlayedPairing
from arena.statistics.probit import GrowingSkills, ProbitFit, SeatAdvantage, fit

MOST_PLAYERS = 1000
"""The work grows with their cube; a thousand take seconds. Larger fields go without this estimate."""
_MOST_POINTS: Final = 50.0
"""Percentage points above or below 50 that a score can have."""


def model_of(settings: RatingSettings) -> ProbitSettings:
    """The model of the ratings, for the batch fit."""
    return ProbitSettings(
        mu=settings.mu,
        sigma=settings.sigma,
        beta=settings.beta,
        draw_probability=settings.draw_probability,
        seat_sigma=settings.beta,
    )


def fitted(table: ComparisonTable, settings: RatingSettings) -> ProbitFit | None:
    """Estimate the skills of all players at once from all matches; None without a match, or with too many players."""
    if not len(table.places) or len(table.players) > MOST_PLAYERS:
        return None
    return fit(table, model_of(settings))


def skills(found: ProbitFit, settings: RatingSettings) -> dict[str, Interval]:
    """The skill of each player, with the 95 % interval against the mean of all whom matches connect it to.

    With an anchor all are moved so that it stays at mu, and errors are against the anchor, where matches connect to it.
    Against the mean of all players, one without a match would make everybody uncertain.
    """
    anchor = settings.anchor
    shift = 0.0 if anchor is None else settings.mu - found.mean(anchor)
    at = {name: place for place, name in enumerate(found.players)}
    return {
        name: interval(found.means[at[name]] + shift, error)
        for group in found.groups
        for name, error in zip(
            group,
            _errors(
                found.covariance,
                [at[one] for one in group],
                [at[anchor]] if anchor is not None and anchor in group else [at[one] for one in group],
            ),
            strict=True,
        )
    }


class SeatWorth(NamedTuple):
    """95 % intervals of a seat's worth against the mean of the others: in units of mu, in points of score above 50."""

    skill: Interval
    points: Interval


def worth(seat: SeatAdvantage) -> SeatWorth:
    """The intervals of a seat that was fitted."""
    points = interval(seat.points, seat.points_error, lowest=-_MOST_POINTS, highest=_MOST_POINTS)
    return SeatWorth(interval(seat.skill, seat.error), points)


class Points(NamedTuple):
    """The points of a player in all matches: a score of 1 is a win over everybody."""

    matches: int
    score: float


def points_of(table: ComparisonTable) -> dict[str, Points]:
    """Matches and score of each player who has played."""
    others = max(1, table.seats - 1)
    return {
        name: Points(met // others, own / (2 * met))
        for name, (met, own) in zip(table.players, table.points(), strict=True)
        if met
    }


class LeaguePlace(NamedTuple):
    """A player's rank in the `group` of players whom matches connect, both from 1."""

    name: str
    rank: int
    group: int


def ranking(
    groups: Sequence[Sequence[str]], strength: Mapping[str, float], score: Mapping[str, float]
) -> tuple[LeaguePlace, ...]:
    """The one order of a league: by `strength` (the rating) in each group, equal ones by score, then by name.

    The largest group comes first. Values that agree to 9 decimals differ by rounding only; equal strength and score
    share the rank. Players without a score have not played, and no rank.
    """
    found = []
    for number, group in enumerate(groups, start=1):
        value = {name: (-round(strength[name], 9), -round(score[name], 9)) for name in group if name in score}
        order = sorted(value, key=lambda name: (value[name], name))
        rank = 0
        for place, name in enumerate(order):
            if place == 0 or value[name] != value[order[place - 1]]:
                rank = place + 1
            found.append(LeaguePlace(name, rank, number))
    return tuple(found)


class GrowingRanking:
    """The order of `ranking` by all matches of some rounds: of the first one and of those that are added.

    In the first round everybody meets all whom they ever will. ValueError or KeyError as for `table_of`.
    """

    def __init__(self, players: Sequence[str], settings: RatingSettings) -> None:
        self._players, self._settings = players, settings
        self._skills: GrowingSkills | None = None
        self._groups: Sequence[Sequence[str]] = ()
        self._points: defaultdict[str, Points] = defaultdict(lambda: Points(0, 0.0))

    def add(self, pairings: Sequence[PlayedPairing]) -> None:
        """The matches of another round."""
        table = table_of(self._players, pairings)
        if self._skills is None:
            self._skills = GrowingSkills(table, model_of(self._settings))
            self._groups = table.groups
        else:
            self._skills.add(table)
        for name, (matches, score) in points_of(table).items():
            before = self._points[name]
            whole = before.matches + matches
            self._points[name] = Points(whole, (before.score * before.matches + score * matches) / whole)

    def order(self) -> list[str]:
        """The players who have played, best first."""
        strength = self._skills.means() if self._skills else {}
        return [
            one.name for one in ranking(self._groups, strength, {name: own.score for name, own in self._points.items()})
        ]


def _errors(covariance: Sequence[Sequence[float]], places: Sequence[int], against: Sequence[int]) -> list[float]:
    """The standard deviation of each of `places` minus the mean of those it is set against."""
    count = len(against)
    of_mean = math.fsum(covariance[one][other] for one in against for other in against) / count**2
    return [
        _root(covariance[one][one] + of_mean - 2.0 * math.fsum(covariance[one][other] for other in against) / count)
        for one in places
    ]


def contradicted(order: Sequence[str], found: ProbitFit) -> tuple[tuple[str, str], ...]:
    """Pairs of `order`, best first, of which the estimate is sure that the second one is the better."""
    means = [found.mean(name) for name in order]
    return tuple(
        (order[one], order[other])
        for one, mean in enumerate(means)
        for other in range(one + 1, len(means))
        if means[other] > mean and (found.likelihood_better(order[other], order[one]) or 0.0) >= SURE_SIGN
    )


def _root(variance: float) -> float:
    return math.sqrt(max(0.0, variance))
