"""Blocks with luck, made quickly, for simulations of scores without luck; and blocks of real matches.

Run as a program, it prints how often intervals hold: python tests/support/standings_luck.py RUNS SEED

`luck_blocks.json`: 160 blocks of each pair of seven bots of Shanghaien, weak and strong, as points of the stronger one
(0 to 4) and its luck in thousandths of a win, made by

    python benchmarks/luck_adjustment.py --blocks 160 --save FILE

whose sums over the two matches of a block they are.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

import numpy as np

from arena.match.results import LUCK_UNIT
from arena.standings.luck_adjustment import LuckAdjustment
from arena.standings.match_table import Array, PlayerPairings, match_table
from arena.standings.ranks import full_score
from arena.standings.scores import Mean, mean_of, shares_of
from arena.standings.sums import LuckSums, PairingSums, Shares

Block = tuple[int, float]
"""Points of place 0 in the two matches of a block (0 to 4), and its luck in them, in wins."""
Pair = tuple[str, str]
MATCHES = 2


def league_of(league: Mapping[Pair, Sequence[Block]]) -> PairingSums:
    """The sums of these blocks, numbered from 0, as far as scores without luck need them."""
    matches = np.array([MATCHES * len(blocks) for blocks in league.values()])
    zeros = np.zeros((len(league), 2), dtype=np.int64)
    return PairingSums(
        table=replace(match_table(()), keys=tuple(map("-".join, league)), players=tuple(league)),
        luck=tuple(_half([blocks[half::2] for blocks in league.values()]) for half in (0, 1)),
        margins=Shares(zeros[:, 0], zeros[:, 0], zeros[:, 0], zeros, zeros, zeros),
        luck_versions={"1": matches},
        faults={},
        pardoned={},
        isolation={"none": matches},
    )


def _half(league: Sequence[Sequence[Block]]) -> LuckSums:
    """By pairing."""
    by_place = [
        (
            [(y, round(LUCK_UNIT * luck)) for y, luck in blocks],
            [(2 * MATCHES - y, -round(LUCK_UNIT * luck)) for y, luck in blocks],
        )
        for blocks in league
    ]

    def sums(one: int, other: int) -> Array:
        return np.array([[sum(y**one * luck**other for y, luck in own) for own in places] for places in by_place])

    y, luck, blocks = sums(1, 0), sums(0, 1), np.array(list(map(len, league)))
    return LuckSums(
        blocks=blocks,
        matches=MATCHES * blocks,
        matches2=MATCHES**2 * blocks,
        points=y,
        points2=sums(2, 0),
        points_product=MATCHES * y,
        luck=luck,
        luck2=sums(0, 2),
        luck_product=MATCHES * luck,
        both=sums(1, 1),
    )


def where(league: Mapping[Pair, Sequence[Block]], pairs: Sequence[Pair], places: Sequence[int]) -> PlayerPairings:
    """These pairs of a league, each from a place."""
    return np.array([list(league).index(pair) for pair in pairs]), np.array(places)


def plain(blocks: Sequence[Sequence[Block]], places: Sequence[int]) -> Mean:
    """The score over these pairings, as every table has it."""
    found = mean_of(
        shares_of(
            [(MATCHES, 2 * MATCHES - y if place else y) for y, _ in own]
            for own, place in zip(blocks, places, strict=True)
        ),
        unit=full_score(2),
        lowest=0.0,
        highest=1.0,
    )
    assert found is not None
    return found


class Shown(NamedTuple):
    """What a table shows of a player: the plain score, and the one without luck if there is one."""

    plain: Mean
    without: Mean | None

    @property
    def chosen(self) -> Mean:
        """What a reader goes by."""
        return self.without or self.plain


def shown(league: Mapping[Pair, Sequence[Block]]) -> dict[str, Shown]:
    """Of all players of a league."""
    adjustment = LuckAdjustment(league_of(league))
    found = {}
    for name in sorted({name for pair in league for name in pair}):
        own = [pair for pair in league if name in pair]
        places = [pair.index(name) for pair in own]
        score = plain([league[pair] for pair in own], places)
        found[name] = Shown(score, adjustment.score(where(league, own, places), score))
    return found


@cache
def real_blocks() -> dict[Pair, list[Block]]:
    """By pair, the stronger bot first; luck about its mean, which is that of the population blocks are drawn from."""
    stored = json.loads((Path(__file__).parent / "luck_blocks.json").read_text())
    found = {}
    for key, blocks in stored.items():
        strong, weak = key.split()
        mean = fmean(luck for _, luck in blocks)
        found[strong, weak] = [(y, (luck - mean) / 1000) for y, luck in blocks]
    return found


def _points(value: float) -> int:
    return max(0, min(4, round(value)))


def mirrored(rng: Random) -> Block:
    """Equals who nearly always win one match each."""
    return rng.choice((0, 2, 2, 2, 2, 2, 2, 4)), rng.gauss(0.0, 0.1)


def decided_by_luck(rng: Random) -> Block:
    """Equals."""
    luck = rng.gauss(0.0, 0.5)
    return _points(2 + 3 * luck), luck


def lopsided(rng: Random) -> Block:
    """One block of twenty is half lost, by much bad luck."""
    return (2, -0.8) if rng.random() < 0.05 else (4, 0.04)


def all_equal(rng: Random) -> Block:
    """Whatever the luck."""
    return 2, rng.gauss(0.0, 0.3)


def heavy_tails(rng: Random) -> Block:
    """Luck without a variance, but for the bound on it."""
    luck = max(-4.0, min(4.0, rng.gauss(0.0, 0.3) / abs(rng.gauss(0.0, 1.0))))
    return (4 if luck > 0 else 0), luck


def exaggerated(rng: Random) -> Block:
    """The value says twice too much."""
    luck = rng.gauss(0.0, 1.0)
    return _points(2 + luck + rng.gauss(0.0, 1.0)), 2 * luck


def erring(rng: Random) -> Block:
    """The value says the contrary."""
    luck = rng.gauss(0.0, 0.5)
    return _points(2 - 2 * luck), luck


Made = Callable[[Random], Block]
SYNTHETIC: Sequence[Made] = (mirrored, decided_by_luck, lopsided, all_equal, heavy_tails, exaggerated, erring)


@cache
def population(made: Made) -> list[Block]:
    """10000 blocks whose luck has mean 0."""
    rng = Random(made.__name__)
    blocks = [made(rng) for _ in range(10_000)]
    mean = fmean(luck for _, luck in blocks)
    return [(y, luck - mean) for y, luck in blocks]


class Coverage(NamedTuple):
    """Of many simulated intervals: the share that holds the truth, that shown without luck, and the mean widths."""

    runs: int
    covered: float
    shown: float
    width: float
    plain_width: float

    @property
    def error(self) -> float:
        """The standard error of a coverage of 95 %."""
        return math.sqrt(0.95 * 0.05 / self.runs)


def coverage(
    population: Mapping[Pair, Sequence[Block]], player: str, blocks: int, runs: int, random: Random
) -> Coverage:
    """Draw leagues of so many blocks a pairing from these populations, and look at one player."""
    own = {pair: pair.index(player) for pair in population if player in pair}
    scores = {pair: fmean(y for y, _ in blocks) / (2 * MATCHES) for pair, blocks in population.items()}
    truth = fmean(1.0 - scores[pair] if place else scores[pair] for pair, place in own.items())
    found = [
        shown({pair: random.choices(blocks_of, k=blocks) for pair, blocks_of in population.items()})[player]
        for _ in range(runs)
    ]
    ends = [one.chosen.interval for one in found]
    return Coverage(
        runs,
        fmean(each.low - 1e-9 <= truth <= each.high + 1e-9 for each in ends),
        fmean(one.without is not None for one in found),
        fmean(each.error for each in ends),
        fmean(one.plain.interval.error for one in found),
    )


SHOWN: Sequence[Pair] = (
    ("sensible", "tiny"),
    ("sensible", "coarse"),
    ("sensible", "slips"),
    ("slips", "greedy"),
    ("slips", "clumsy"),
    ("sensible", "greedy"),
    ("greedy", "random"),
)


def fields() -> Iterator[tuple[str, Mapping[Pair, Sequence[Block]], str]]:
    """Leagues by name, each with the player whose interval is looked at."""
    for pair in SHOWN:
        yield " v ".join(pair), {pair: real_blocks()[pair]}, pair[0]
    for player in ("greedy", "sensible"):
        yield f"{player}, all 21 pairs", real_blocks(), player
    for made in SYNTHETIC:
        yield made.__name__.replace("_", " "), {("ann", "bob"): population(made)}, "ann"


def main(runs: int, seed: int) -> None:
    """Print a table."""
    print("95 % intervals: % that hold the truth (mean half width in points; of the plain score)")  # noqa: T201
    numbers = (2, 3, 5, 20, 60)
    print(f"{'blocks':<22}", *(f"| {number:<18}" for number in numbers))  # noqa: T201
    for name, league, player in fields():
        found = [coverage(league, player, blocks, runs, Random(seed)) for blocks in numbers]
        cells = [f"{one.covered:6.1%} ({100 * one.width:4.1f}; {100 * one.plain_width:4.1f})" for one in found]
        print(f"{name:<22}", *(f"| {cell:<18}" for cell in cells))  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
