"""Simulated duels of NEW against OLD, of a known strength, for the tests of the sequential test.

Run as a program, it prints what the test does over many runs: python tests/support/statistics_duels.py RUNS SEED
"""

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from random import Random

from arena.statistics.elo import block_deviations, expected_score
from arena.statistics.pentanomial import Moments, moments, values
from arena.statistics.sequential import SequentialSettings, State, Verdict, state_after, steps_to_exit

EVEN_PAIRS = (0.05, 0.2, 0.5, 0.2, 0.05)
EVEN_MATCHES = (0.35, 0.3, 0.35)

Draw = Callable[[], float]


class Endless(Mapping[int, float]):
    """The scores of all blocks of a schedule, each drawn when it is first asked for."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._drawn: list[float] = []

    def __getitem__(self, number: int) -> float:
        while len(self._drawn) <= number:
            self._drawn.append(self._draw())
        return self._drawn[number]

    def __contains__(self, number: object) -> bool:
        return True

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self._drawn)))

    def __len__(self) -> int:
        return len(self._drawn)


@dataclass(frozen=True)
class Behaviour:
    """What a test did in many runs of the same truth."""

    runs: int
    passed: float
    failed: float
    mean_blocks: float


def moments_of(values: Iterable[float]) -> Moments:
    """The moments of the values of blocks, in schedule order."""
    return reduce(Moments.plus, values, Moments())


def tilted(shares: Sequence[float], *, elo: float, model: str) -> list[float]:
    """Shift an even distribution of block results until it has the strength asked for."""
    matches = len(shares) // 2
    points = values(matches)
    low, high = -20.0, 20.0
    for _ in range(100):
        tilt = (low + high) / 2.0
        found = [share * math.exp(tilt * (point - 0.5)) for share, point in zip(shares, points, strict=True)]
        mean, variance = moments(found, points)
        reached = mean - expected_score(elo) if model == "logistic" else (mean - 0.5) / math.sqrt(variance)
        goal = 0.0 if model == "logistic" else block_deviations(elo, matches)
        low, high = (tilt, high) if reached < goal else (low, tilt)
    return found


def counted_blocks(shares: Sequence[float], *, elo: float, model: str, random: Random) -> Draw:
    """Draw scores of blocks with the strength asked for."""
    bars = tuple(accumulate(tilted(shares, elo=elo, model=model)))
    points = values(len(shares) // 2)
    return lambda: random.choices(points, cum_weights=bars)[0]


def margins(*, elo: float, matches: int, random: Random) -> Draw:
    """Draw margins of blocks, normal with a standard deviation of 7."""
    mean = 7.0 * block_deviations(elo, matches)
    return lambda: random.gauss(mean, 7.0)


def duel(settings: SequentialSettings, *, elo: float, random: Random) -> State:
    """Play one test to its end."""
    if settings.model == "student":
        return state_after(Endless(margins(elo=elo, matches=settings.matches, random=random)), settings)
    shares = EVEN_PAIRS if settings.matches == 2 else EVEN_MATCHES
    return state_after(Endless(counted_blocks(shares, elo=elo, model=settings.model, random=random)), settings)


def behaviour(settings: SequentialSettings, *, elo: float, runs: int, seed: int) -> Behaviour:
    """Play many tests of the same truth."""
    random = Random(seed)
    ends = [duel(settings, elo=elo, random=random) for _ in range(runs)]
    ways = Counter(end.verdict for end in ends)
    mean_blocks = math.fsum(end.blocks for end in ends) / runs
    return Behaviour(runs, ways[Verdict.H1] / runs, ways[Verdict.H0] / runs, mean_blocks)


def expected_blocks(settings: SequentialSettings, *, elo: float) -> float:
    """The expected number of blocks of the walk where that is the truth."""
    lower, upper = settings.bounds
    square = settings.distance**2
    way = (elo - settings.elo0) / (settings.elo1 - settings.elo0)
    return steps_to_exit(-lower, upper, (way - 0.5) * square, square)


def main(runs: int, seed: int) -> None:
    """Print a table of behaviours: at H0, at the midpoint and at H1."""
    print("model matches elo0 elo1 batch | truth | accepts H1, accepts H0, mean blocks (expected)")  # noqa: T201
    for model, matches, elo0, elo1, batch in (
        ("normalised", 2, 0.0, 20.0, 8),
        ("normalised", 2, 0.0, 20.0, 16),
        ("normalised", 2, -10.0, 40.0, 8),
        ("normalised", 1, 0.0, 50.0, 8),
        ("logistic", 2, 0.0, 20.0, 8),
        ("student", 2, 0.0, 20.0, 8),
        ("student", 2, 0.0, 50.0, 8),
        ("student", 4, 0.0, 100.0, 8),
    ):
        settings = SequentialSettings(elo0=elo0, elo1=elo1, model=model, matches=matches, batch=batch)  # type: ignore[arg-type]
        for truth in (elo0, (elo0 + elo1) / 2.0, elo1):
            blocks = expected_blocks(settings, elo=truth)
            found = behaviour(settings, elo=truth, runs=runs, seed=seed)
            figures = f"{found.passed:.4f} {found.failed:.4f} {found.mean_blocks:.0f} ({blocks:.0f})"
            print(model, matches, elo0, elo1, batch, "|", truth, "|", figures, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
