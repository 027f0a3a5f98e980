"""What is stored of a league -> its blocks, its fit, and the ids of its matches, as the pages of statistics need them.

Rule: nothing here knows how blocks are numbered within a league, only that their numbers follow the schedule.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from arena.league.state import LeagueState
from arena.standings.ratings import RatingSettings
from arena.standings.table import MatchResult
from arena.statistics.blocks import Block, Played, blocks, design_effect
from arena.statistics.model import ProbitSettings
from arena.statistics.pairs import pair_table
from arena.statistics.probit import ProbitFit, fit


def probit_settings(rating: RatingSettings) -> ProbitSettings:
    """The model of the ratings, for the batch fit."""
    return ProbitSettings(
        mu=rating.mu,
        sigma=rating.sigma,
        beta=rating.beta,
        draw_probability=rating.draw_probability,
        seat_sigma=rating.beta,
    )


def blocks_of(results: Iterable[MatchResult]) -> tuple[Block, ...]:
    """The results as blocks, the unit of every error."""
    return blocks(Played(one.block, one.pairing, one.players, one.ranks) for one in results)


def fit_of(players: Iterable[str], league: Sequence[Block], rating: RatingSettings) -> ProbitFit:
    """The skills of all players at once, with errors that follow from blocks."""
    effect = design_effect(league)
    return fit(
        pair_table(players, (result for block in league for result in block.results)),
        probit_settings(rating),
        inflation=1.0 if effect is None else effect.players,
        seat_inflation=1.0 if effect is None else effect.seats,
    )


def skill_of(player: str, fitted: ProbitFit, rating: RatingSettings) -> tuple[float, float]:
    """The skill of `player` with its standard error: about the mean of all, or with the anchor of the ratings at mu."""
    if rating.anchor is None:
        return fitted.mean(player), fitted.deviation(player)
    own, anchor = fitted.players.index(player), fitted.players.index(rating.anchor)
    variance = fitted.covariance
    error = math.sqrt(max(0.0, variance[own][own] + variance[anchor][anchor] - 2.0 * variance[own][anchor]))
    return rating.mu + (fitted.mean(player) - fitted.mean(rating.anchor)), error


def match_ids(state: LeagueState, results: Sequence[MatchResult]) -> tuple[str, ...]:
    """The id of each of `results`, which are all that is stored of the league.

    The n-th block of a pairing among the results is the n-th that the store has of it.
    """
    tables = {frozenset(span.pairing.names): span for span in state.spans}
    met: defaultdict[frozenset[str], set[int]] = defaultdict(set)
    for one in results:
        met[frozenset(one.players)].add(one.block)
    numbers = {
        (table, block): tables[table].ranks.blocks[place]
        for table, found in met.items()
        for place, block in enumerate(sorted(found))
    }
    ids = []
    for one in results:
        table = frozenset(one.players)
        rotation = tables[table].pairing.names.index(one.players[0])
        ids.append(f"{tables[table].pairing.key}-{numbers[table, one.block]}-{rotation}")
    return tuple(ids)
