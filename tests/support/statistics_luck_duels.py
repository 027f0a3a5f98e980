"""Simulated comparisons with blocks that were played, by scores and by luck-adjusted scores.

Blocks are drawn with replacement from 400 of each pair of Shanghaien bots (`shanghaien_blocks.csv`: half points of the
first, and its mean luck), from either side, with weights under which the mean score is that of the Elo asked for and
the mean luck is 0. Run as a program it prints a table: python tests/support/statistics_luck_duels.py RUNS SEED
"""

import csv
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from arena.statistics.control_variate import adjust_in_turn
from arena.statistics.elo import expected_score
from arena.statistics.sequential import Model, SequentialSettings, State, Verdict, state_after

MATCHES = 2
Block = tuple[float, float]
"""The mean score of a block, and its mean luck."""


class Ends(NamedTuple):
    """How many of the tests accepted H1 and H0, and the mean number of their blocks."""

    passed: float
    failed: float
    blocks: float


@cache
def played() -> dict[str, tuple[Block, ...]]:
    """The blocks of each pair, from either side."""
    found: dict[str, list[Block]] = {}
    with Path(__file__).with_name("shanghaien_blocks.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            score, luck = int(row["points"]) / 4, float(row["luck"])
            found.setdefault(row["pair"], []).extend([(score, luck), (1 - score, -luck)])
    return {pair: tuple(blocks) for pair, blocks in found.items()}


def weights(blocks: Sequence[Block], elo: float) -> list[float]:
    """The weights exp(a score + b luck) under which the score is that of the Elo, and luck has mean 0."""
    points, goal = np.array(blocks), np.array([expected_score(elo), 0.0])
    tilt = np.zeros(2)
    for _ in range(50):
        found = np.exp((points - goal) @ tilt)
        found /= found.sum()
        off = found @ points - goal
        away = points - goal - off
        tilt -= np.linalg.solve((away * found[:, None]).T @ away, off)
    assert np.allclose(found @ points, goal)
    return [float(each) for each in found]


def course(blocks: Sequence[Block], elo: float, random: Random) -> Iterator[Block]:
    """Blocks without end."""
    bars = tuple(accumulate(weights(blocks, elo)))
    while True:
        yield from random.choices(blocks, cum_weights=bars, k=100)


def duel(drawn: Iterator[Block], settings: SequentialSettings) -> State:
    """Play one test to its end."""
    blocks = [next(drawn) for _ in range(settings.last)]
    is_adjusted = settings.model == "luck-adjusted"
    scores = adjust_in_turn(blocks, matches=MATCHES) if is_adjusted else (score for score, _ in blocks)
    return state_after(dict(enumerate(scores)), settings)


def ends(pair: str, model: Model, *, elo: float, elo1: float, runs: int, random: Random) -> Ends:
    """Play many tests of that truth; H0 is 0 Elo."""
    settings = SequentialSettings(elo1=elo1, model=model)
    drawn = course(played()[pair], elo, random)
    states = [duel(drawn, settings) for _ in range(runs)]
    ways = Counter(state.verdict for state in states)
    blocks = math.fsum(state.blocks for state in states) / runs
    return Ends(ways[Verdict.H1] / runs, ways[Verdict.H0] / runs, blocks)


def main(runs: int, seed: int) -> None:
    """Print a table."""
    random = Random(seed)
    print("pair, bounds, truth: accepts H1 and H0 in %, mean blocks, by scores | by luck-adjusted scores")  # noqa: T201
    for pair in played():
        for elo1 in (20.0, 40.0, 100.0):
            for elo in (0.0, elo1 / 2, elo1):
                plain, adjusted = (
                    ends(pair, model, elo=elo, elo1=elo1, runs=runs, random=random)
                    for model in ("logistic", "luck-adjusted")
                )
                cells = [
                    f"{100 * one.passed:5.1f} {100 * one.failed:5.1f} {one.blocks:5.0f}" for one in (plain, adjusted)
                ]
                print(f"{pair:<25} [0, {elo1:3.0f}] {elo:3.0f}:", " | ".join(cells), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
