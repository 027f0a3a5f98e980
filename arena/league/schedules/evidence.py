"""Results of matches of two, growing round by round -> which neighbours in the ranking are undecided.

Rule: the same numbers as a fit from scratch (`arena.statistics`), only that what a round does not change is not
counted again, and that a question which was asked before is answered from memory: every look at a stored league asks
them all.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from hashlib import sha256
from itertools import pairwise

import msgspec

from arena.match.results import PairingRanks, finishes
from arena.standings.ratings import RatingSettings
from arena.statistics.blocks import Played, Spread, blocks, ratio, spread, strata
from arena.statistics.model import ProbitSettings
from arena.statistics.pairs import Result, pair_table
from arena.statistics.probit import ProbitFit, fit

_encode = msgspec.json.Encoder().encode


class Evidence:
    """All results so far. Two are equal if their players, settings and results are, in the same order."""

    def __init__(self, players: Sequence[str], rating: RatingSettings) -> None:
        self._players, self._rating = tuple(players), rating
        self._pairings: dict[tuple[str, ...], int] = {}
        self._played: defaultdict[int, list[Played]] = defaultdict(list)
        self._results: Counter[Result] = Counter()
        self._spreads: dict[int, tuple[Spread, Spread]] = {}
        self._digest = sha256(_encode((self._players, rating)))

    def add(self, played: Sequence[PairingRanks]) -> None:
        """The ranks of another round."""
        for one in played:
            pairing = self._pairings.setdefault(one.players, len(self._pairings))
            for block, course in zip(one.blocks, one.courses, strict=True):
                for players, ranks in finishes(one.players, course):
                    self._played[pairing].append(Played(block, pairing, players, ranks))
                    self._results[players, ranks] += 1
            self._digest.update(_encode((one.players, tuple(one.blocks), one.ranks)))
            self._spreads[pairing] = _spreads(self._played[pairing])

    def undecided(self, likelihood: float) -> tuple[tuple[str, str], ...]:
        """Neighbours in the ranking, better first, of whom it is not sure enough that they stand in this order."""
        return _undecided(_Question(self._digest.hexdigest(), likelihood, self))

    def fit(self) -> ProbitFit:
        """The skills of all players, with the errors of blocks."""
        rating = self._rating
        of_players, of_seats = (ratio([each[side] for each in self._spreads.values()]) for side in (0, 1))
        return fit(
            pair_table(self._players, self._results.elements()),
            ProbitSettings(
                mu=rating.mu,
                sigma=rating.sigma,
                beta=rating.beta,
                draw_probability=rating.draw_probability,
                seat_sigma=rating.beta,
            ),
            inflation=of_players or 1.0,
            seat_inflation=of_seats or 1.0,
        )


class _Question:
    """What is asked of which evidence; the evidence itself grows, its digest at the time does not."""

    def __init__(self, digest: str, likelihood: float, evidence: Evidence) -> None:
        self._key = (digest, likelihood)
        self.likelihood = likelihood
        self.evidence: Evidence | None = evidence

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Question) and self._key == other._key


@lru_cache(maxsize=1024)
def _undecided(question: _Question) -> tuple[tuple[str, str], ...]:
    assert question.evidence is not None, "it is let go of only when it is answered"
    table = question.evidence.fit()
    question.evidence = None
    found = []
    for better, worse in pairwise(table.ranking()):
        sure = table.likelihood_better(better, worse)
        # to 9 decimals, so that no rounding in the last digit decides about a round
        if sure is None or round(sure, 9) < question.likelihood:
            found.append((better, worse))
    return tuple(found)


def _spreads(played: Iterable[Played]) -> tuple[Spread, Spread]:
    """How the scores of one of the two players vary over blocks, and those of one seat; the other's vary alike."""
    (stratum,) = strata(blocks(played))
    first = min(player for course in stratum for seats, _ in course for player in seats)
    return spread(stratum, partial(_of_player, first)), spread(stratum, _of_first_seat)


def _of_player(player: str, result: Result) -> Iterator[tuple[Hashable, int]]:
    seats, ranks = result
    own = seats.index(player)
    yield None, 1 + (ranks[own] < ranks[1 - own]) - (ranks[own] > ranks[1 - own])


def _of_first_seat(result: Result) -> Iterator[tuple[Hashable, int]]:
    return _of_player(result[0][0], result)
