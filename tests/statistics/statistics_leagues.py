"""Made-up leagues: blocks of two mirrored matches between players whose true skills are known."""

import random
from collections.abc import Iterable, Mapping

from arena.statistics.blocks import Block, Played, blocks
from arena.statistics.pairs import PairTable, Result, pair_table

BETA = 25.0 / 6.0
MARGIN = 0.2955327
"""At 4 % of draws."""


def mirrored(
    skills: Mapping[str, float],
    rng: random.Random,
    *,
    per_pairing: int,
    first_seat: float = 0.0,
    shared_luck: float = 0.0,
) -> tuple[Block, ...]:
    """A complete round robin.

    `shared_luck` is the part of the variance that both matches of a block have in common; it favours a seat.
    """
    players = sorted(skills)
    pairs = [(one, other) for place, one in enumerate(players) for other in players[place + 1 :]]
    played = []
    for pairing, (one, other) in enumerate(pairs):
        for number in range(per_pairing):
            luck = rng.gauss(0.0, (2.0 * shared_luck) ** 0.5 * BETA)
            for seats in ((one, other), (other, one)):
                noise = rng.gauss(0.0, (2.0 * (1.0 - shared_luck)) ** 0.5 * BETA)
                lead = skills[seats[0]] - skills[seats[1]] + first_seat + luck + noise
                ranks = (0, 0) if abs(lead) < MARGIN else (0, 1) if lead > 0.0 else (1, 0)
                played.append(Played(pairing * per_pairing + number, pairing, seats, ranks))
    return blocks(played)


def repeated(one: str, other: str, *, wins: int = 0, draws: int = 0, losses: int = 0) -> list[Result]:
    """So many matches, `one` in the first seat."""
    outcomes: list[tuple[tuple[int, ...], int]] = [((0, 1), wins), ((0, 0), draws), ((1, 0), losses)]
    return [((one, other), ranks) for ranks, times in outcomes for _ in range(times)]


def table_of(played: Iterable[Block]) -> PairTable:
    results = [result for block in played for result in block.results]
    return pair_table({player for seats, _ in results for player in seats}, results)


def course(pairing: int, number: int, one: str, other: str, scores: tuple[int, int]) -> Block:
    """A mirrored block; `scores` of `one` in each match, first in seat 0: 1 won, 0 lost."""
    first, second = scores
    return Block(
        pairing, number, tuple(sorted([((one, other), (1 - first, first)), ((other, one), (second, 1 - second))]))
    )
