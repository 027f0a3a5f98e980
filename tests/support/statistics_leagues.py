"""Made-up leagues of players whose true skills are known, and results as pairings with courses."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from arena.statistics.comparisons import table_of
from arena.statistics.model import ProbitSettings
from arena.statistics.pairs import PlayedPairing
from arena.statistics.probit import ProbitFit, fit

BETA = 25.0 / 6.0
MARGIN = 0.2955327
"""At 4 % of draws."""


class Counted(NamedTuple):
    """A pairing by itself: how often each course occurred."""

    players: tuple[str, ...]
    counts: Mapping[str, int]

    @property
    def block_ranks(self) -> list[str]:
        return [*Counter(self.counts).elements()]


def fit_of(
    players: Iterable[str], pairings: Iterable[PlayedPairing], settings: ProbitSettings | None = None
) -> ProbitFit:
    return fit(table_of(players, pairings), settings)


def deviations(found: ProbitFit) -> dict[str, float]:
    """The standard deviation of each skill about the mean of all: the roots of diag(T C T) with T = I - 1/n."""
    if not found.players:
        return {}
    covariance = np.array(found.covariance)
    variance = np.diag(covariance) - 2.0 * covariance.mean(axis=1) + covariance.mean()
    return dict(zip(found.players, np.sqrt(np.maximum(variance, 0.0)).tolist(), strict=True))


def order_of(found: ProbitFit) -> tuple[str, ...]:
    """The players, best first; those who agree to 9 decimals by name."""
    return tuple(sorted(found.players, key=lambda player: (-round(found.mean(player), 9), player)))


Result = tuple[tuple[str, ...], tuple[int, ...]]
"""The players by seat, and their ranks by seat."""


def mirrored(
    skills: Mapping[str, float],
    rng: random.Random,
    *,
    per_pairing: int,
    first_seat: float = 0.0,
    shared_luck: float = 0.0,
    shared_form: float = 0.0,
    seats: int = 2,
) -> tuple[Counted, ...]:
    """Blocks at every table. All matches of a block share a part of the variance: of a seat's luck, a player's form."""
    return tuple(
        Counted(
            table,
            Counter(
                _block([skills[name] for name in table], rng, first_seat, shared_luck, shared_form)
                for _ in range(per_pairing)
            ),
        )
        for table in combinations(sorted(skills), seats)
    )


def _block(
    skills: Sequence[float], rng: random.Random, first_seat: float, shared_luck: float, shared_form: float
) -> str:
    seats = len(skills)
    luck = [rng.gauss(0.0, shared_luck**0.5 * BETA) for _ in skills]
    form = [rng.gauss(0.0, shared_form**0.5 * BETA) for _ in skills]
    noise = (1.0 - shared_luck - shared_form) ** 0.5 * BETA
    course = ""
    for rotation in range(seats):
        places = [(seat + rotation) % seats for seat in range(seats)]
        shown = [skills[p] + form[p] + luck[seat] + rng.gauss(0.0, noise) for seat, p in enumerate(places)]
        shown[0] += first_seat
        course += "".join(map(str, ranks_of(shown)))
    return course


def ranks_of(shown: Sequence[float]) -> list[int]:
    """How many came out better; who is within the margin of the next better one ties with them."""
    order = sorted(range(len(shown)), key=lambda seat: -shown[seat])
    ranks = [0] * len(shown)
    for place, seat in enumerate(order):
        better = order[place - 1]
        is_tie = place and shown[better] - shown[seat] < MARGIN
        ranks[seat] = ranks[better] if is_tie else place
    return ranks


def repeated(one: str, other: str, *, wins: int = 0, draws: int = 0, losses: int = 0) -> list[Result]:
    """So many matches, `one` in the first seat."""
    outcomes: list[tuple[tuple[int, ...], int]] = [((0, 1), wins), ((0, 0), draws), ((1, 0), losses)]
    return [((one, other), ranks) for ranks, times in outcomes for _ in range(times)]


def pairings_of(results: Iterable[Result]) -> tuple[Counted, ...]:
    """Single matches, of which no two share a block."""
    found: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for players, ranks in results:
        seats = len(players)
        found[players]["".join(map(str, ranks)) + "-" * (seats * seats - len(ranks))] += 1
    return tuple(Counted(players, block_ranks) for players, block_ranks in found.items())


def blocks(one: str, other: str, scores: Iterable[tuple[int, int]]) -> Counted:
    """Mirrored blocks; `scores` of `one` in both matches, first in seat 0: 1 won, 0 lost."""
    return Counted((one, other), Counter(f"{1 - first}{first}{second}{1 - second}" for first, second in scores))


def names_in(pairings: Iterable[Counted]) -> set[str]:
    return {name for one in pairings for name in one.players}
