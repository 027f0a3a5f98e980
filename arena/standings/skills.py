"""Pairings -> the rating: the skill of every player fitted to all matches at once, whatever their order.

Rule: this is the only way to a fit: the table, schedules, `stats` and `matrix` all call it. The model is that of the
ratings. An error is against the mean of all players whom matches connect, or against the anchor, as ± 95 %; its size
follows from blocks (`arena.statistics.block_correlation`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from arena.standings.ratings import RatingSettings
from arena.statistics.comparisons import ComparisonTable, table_of
from arena.statistics.distributions import SURE_SIGN
from arena.statistics.interval import Interval, interval
from arena.statistics.model import ProbitSettings, chances_at
from arena.statistics.newton import Floats, maximise
from arena.statistics.pairs import PlayedPairing
from arena.statistics.probit import ProbitFit, fit

MOST_PLAYERS = 1000
"""The largest field that is fitted: the time grows with its cube, and a thousand players take seconds."""


def model_of(settings: RatingSettings) -> ProbitSettings:
    """Return the model of the ratings for the batch fit."""
    return ProbitSettings(
        mu=settings.mu,
        sigma=settings.sigma,
        beta=settings.beta,
        draw_probability=settings.draw_probability,
        seat_sigma=settings.beta,
    )


def score_of_beta(settings: RatingSettings) -> float:
    """Compute the expected score of a player who is better by one beta."""
    model = model_of(settings)
    return chances_at(settings.beta, model.scale, model.margin).score


def fit_skills(table: ComparisonTable, settings: RatingSettings) -> ProbitFit | None:
    """Estimate the skills of all players at once from all matches; None without a match, or with too many players."""
    if not len(table.places) or len(table.players) > MOST_PLAYERS:
        return None
    return fit(table, model_of(settings))


def skills(fit: ProbitFit, settings: RatingSettings) -> dict[str, Interval]:
    """Return the skill of each player; the 95 % interval is against the mean of all whom matches connect.

    With an anchor all skills are shifted so that it stays at mu, and in its group errors are against the anchor;
    KeyError for an anchor that was not fitted. Against the mean of all players, one player without a match would make
    every skill uncertain.
    """
    anchor = settings.anchor
    shift = 0.0 if anchor is None else settings.mu - fit.mean(anchor)
    at = {name: place for place, name in enumerate(fit.players)}
    return {
        name: interval(fit.means[at[name]] + shift, error)
        for group in fit.groups
        for name, error in zip(
            group,
            _standard_errors(
                fit.covariance,
                [at[player] for player in group],
                [at[anchor]] if anchor is not None and anchor in group else [at[player] for player in group],
            ),
            strict=True,
        )
    }


class Points(NamedTuple):
    """The matches and score of a player; a score of 1 is a win over everybody in every match."""

    matches: int
    score: float


def points_of(table: ComparisonTable, counts: Floats) -> dict[str, Points]:
    """Compute the matches and score of each player who has played, from these counts of the comparisons."""
    others = max(1, table.seats - 1)
    return {
        name: Points(comparisons // others, points / (2 * comparisons))
        for name, (comparisons, points) in zip(table.players, table.points(counts), strict=True)
        if comparisons
    }


class LeaguePlace(NamedTuple):
    """A player's rank in the `group` of players whom matches connect, both from 1."""

    name: str
    rank: int
    group: int


def ranking(
    groups: Sequence[Sequence[str]], strength: Mapping[str, float], score: Mapping[str, float]
) -> tuple[LeaguePlace, ...]:
    """Sort the players of each group by `strength` (the rating), then score, then name, and give them ranks.

    Groups are numbered as given, the largest first. Values that agree to 9 decimals differ by rounding only; equal
    strength and score share the rank. Players without a score have not played, and are left out.
    """
    ranked = []
    for number, group in enumerate(groups, start=1):
        value = {name: (-round(strength[name], 9), -round(score[name], 9)) for name in group if name in score}
        order = sorted(value, key=lambda name: (value[name], name))
        rank = 0
        for place, name in enumerate(order):
            if place == 0 or value[name] != value[order[place - 1]]:
                rank = place + 1
            ranked.append(LeaguePlace(name, rank, number))
    return tuple(ranked)


class GrowingRanking:
    """The order of `ranking` after each of several rounds; each fit starts from the skills of the round before.

    The first round contains every pairing; later rounds add to its counts, and a few steps lead from the last maximum
    to the next.
    """

    def __init__(self, players: Sequence[str], settings: RatingSettings) -> None:
        self._names, self._model = sorted(set(players)), model_of(settings)
        self._table: ComparisonTable | None = None

    def add(self, pairings: Sequence[PlayedPairing]) -> None:
        """Add the matches of another round; KeyError for a pairing that the first round lacks.

        ValueError or KeyError as for `table_of`.
        """
        table = table_of(self._names, pairings)
        if self._table is None:
            self._table, self._counts, self._design = table, table.counts(), table.design(self._model)
            self._places = {tuple(places): number for number, places in enumerate(table.places.tolist())}
            self._skills = self._design.centre
        else:
            for places, counts in zip(table.places.tolist(), table.counts(), strict=True):
                self._counts[self._places[tuple(places)]] += counts

    def order(self) -> list[str]:
        """Return the players who have played, best first, after a new fit (`skills`); a round must have been added."""
        assert self._table is not None, "a round was added"
        score = {name: points.score for name, points in points_of(self._table, self._counts).items()}
        return [place.name for place in ranking(self._table.groups, self.skills(), score)]

    def skills(self) -> dict[str, float]:
        """Fit the skill of each player, from that of the last fit, and keep it; only differences mean anything."""
        self._skills = maximise(self._design, self._counts.reshape(-1, 3), self._skills).parameters
        return dict(zip(self._names, self._skills.tolist(), strict=False))


def _standard_errors(
    covariance: Sequence[Sequence[float]], places: Sequence[int], against: Sequence[int]
) -> list[float]:
    """Compute the standard deviation of each of `places` minus the mean of the players at `against`."""
    count = len(against)
    of_mean = math.fsum(covariance[one][other] for one in against for other in against) / count**2
    return [
        _root(covariance[one][one] + of_mean - 2.0 * math.fsum(covariance[one][other] for other in against) / count)
        for one in places
    ]


def contradicted_pairs(order: Sequence[str], fit: ProbitFit) -> tuple[tuple[str, str], ...]:
    """Return the pairs of `order`, best first, of which the second is better by the estimate at 95 %.

    KeyError for a name that was not fitted.
    """
    means = [fit.mean(name) for name in order]
    return tuple(
        (order[one], order[other])
        for one, mean in enumerate(means)
        for other in range(one + 1, len(means))
        if means[other] > mean and (fit.likelihood_better(order[other], order[one]) or 0.0) >= SURE_SIGN
    )


def _root(variance: float) -> float:
    """Return the square root of a variance, which rounding may have made negative: then 0."""
    return math.sqrt(max(0.0, variance))
