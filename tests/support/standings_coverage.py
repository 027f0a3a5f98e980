"""Distributions of blocks of two matches, and how often the interval of a score holds the truth."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from arena.standings.scores import mean_of, shares_of

Floats = NDArray[np.float64]
POINTS = np.arange(5)
"""Of a block of two matches: two for a win, one for a draw."""


def independent(win: float, draw: float) -> list[float]:
    """Two matches that have nothing to do with each other."""
    loss = 1.0 - win - draw
    return [loss**2, 2 * loss * draw, draw**2 + 2 * win * loss, 2 * win * draw, win**2]


BLOCKS: dict[str, list[float]] = {
    "independent, even": independent(0.48, 0.04),
    "independent, 6 of 10": independent(0.6, 0.04),
    "lopsided, 9 of 10": independent(0.9, 0.02),
    "lopsided, 97 of 100": independent(0.97, 0.0),
    "lopsided, 99 of 100": independent(0.99, 0.0),
    "mirrored": [0.05, 0.05, 0.8, 0.05, 0.05],
    "mirrored, nearly equal": [0.01, 0.02, 0.94, 0.02, 0.01],
    "mirrored, rarely better": [0.0, 0.0, 0.97, 0.0, 0.03],
    "mirrored, often better": [0.0, 0.0, 0.75, 0.0, 0.25],
    "repeated": [0.5, 0.0, 0.0, 0.0, 0.5],
    "repeated, lopsided": [0.1, 0.0, 0.0, 0.0, 0.9],
    "two ends and one between": [0.39, 0.0, 0.0, 0.22, 0.39],
}


def all_counts(blocks: int) -> Iterator[tuple[int, ...]]:
    """Every way in which so many blocks can come out."""
    for bars in combinations(range(blocks + 4), 4):
        ends = (-1, *bars, blocks + 4)
        yield tuple(right - left - 1 for left, right in pairwise(ends))


def interval_of(strata: Sequence[Sequence[int]]) -> tuple[float, float]:
    """The ends of the score's interval; a stratum counts the blocks of a pairing by their points."""
    shares = shares_of({(2, y): int(times) for y, times in enumerate(counts) if times} for counts in strata)
    found = mean_of(shares, unit=2, lowest=0.0, highest=1.0)
    assert found is not None
    return found.interval.low - 1e-12, found.interval.high + 1e-12


class Exact:
    """Coverage without simulation: all results of so many blocks of one pairing, each as likely as it is."""

    def __init__(self, blocks: int) -> None:
        self._counts = np.array(list(all_counts(blocks)))
        ends = np.array([interval_of([counts]) for counts in self._counts])
        self._low, self._high = ends[:, 0], ends[:, 1]
        logs = np.array([math.lgamma(number + 1) for number in range(blocks + 1)])
        self._ways = logs[blocks] - logs[self._counts].sum(axis=1)

    def coverage(self, distribution: Sequence[float] | Floats) -> float:
        chances = np.maximum(np.array(distribution), 1e-300)
        chances /= chances.sum()
        mean = float(chances @ POINTS) / 4.0
        likely = np.exp(self._ways + self._counts @ np.log(chances))
        return float(likely[(self._low <= mean) & (mean <= self._high)].sum())


def simulated(strata: Sequence[tuple[int, str]], *, times: int, seed: int) -> float:
    """Coverage with several pairings: (blocks, kind) of each; equal results are looked at once."""
    rng = np.random.default_rng(seed)
    total = sum(blocks for blocks, _ in strata)
    mean = sum(blocks * float(np.array(BLOCKS[kind]) @ POINTS) for blocks, kind in strata) / total / 4.0
    draws = np.stack([rng.multinomial(blocks, BLOCKS[kind], size=times) for blocks, kind in strata], axis=1)
    found, counts = np.unique(draws, axis=0, return_counts=True)
    hits = 0
    for each, count in zip(found, counts, strict=True):
        low, high = interval_of([list(stratum) for stratum in each])
        hits += int(count) * (low <= mean <= high)
    return hits / times
