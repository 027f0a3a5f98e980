"""Equals who are looked at again and again, as `until: decided` does: how often one of them is called better.

Run as a program it prints a table: python tests/support/statistics_equals.py PAIRS SEED
"""

import math
import sys
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, NamedTuple

from arena.statistics.spending import GroupSequentialTest, InterimData

Blocks = Mapping[int, int]
"""How often the two matches of a block ended with so many points more for the first player: -2 to 2."""

EQUALS: Final[Mapping[str, Blocks]] = {
    "Shanghaien, random": {-2: 185, -1: 25, 0: 380, 1: 25, 2: 185},
    "Shanghaien, one constant changed": {-2: 31, -1: 6, 0: 418, 1: 6, 2: 31},
    "Nim 3-5-7, random": {-2: 1, 0: 2, 2: 1},
    "every block won": {-2: 1, 2: 1},
    "one block of ten won": {-1: 1, 0: 18, 1: 1},
}
"""Alike: nothing changes when the two are exchanged. The first three were played; each block counts for either."""
UNLIKE: Final[Mapping[str, Blocks]] = {
    "wins small, defeats high": {-2: 1, 1: 2},
    "the same, most blocks even": {-2: 1, 0: 12, 1: 2},
}
"""Equal on average only: they win by one point more often than they lose by two."""


class Setting(NamedTuple):
    """Blocks before the first look, between looks, and in all; how many are even at first; 1 - alpha."""

    first: int
    step: int
    cap: int
    level: int = 0
    likelihood: float = 0.95

    def __str__(self) -> str:
        even = f", first {self.level} even" if self.level else ""
        return f"{self.first}+{self.step} to {self.cap}, {self.likelihood:g}{even}"


SETTINGS: Final = (
    Setting(10, 10, 10),
    Setting(2, 1, 10),
    Setting(1, 1, 40),
    Setting(10, 1, 100),
    Setting(10, 4, 100),
    Setting(10, 10, 100),
    Setting(10, 4, 100, 40),
    Setting(20, 20, 400),
    Setting(20, 1, 400, 20),
    Setting(10, 4, 100, 0, 0.8),
    Setting(10, 4, 100, 0, 0.99),
)


def called_different(blocks: Blocks, setting: Setting, pairs: int, random: Random) -> float:
    """The share of simulated pairs of whom one is called better."""
    leads, weights = [*blocks], [*blocks.values()]
    found = 0
    for _ in range(pairs):
        course = random.choices(leads, weights, k=setting.cap)
        course[: setting.level] = [0] * setting.level
        found += is_called(course, setting)
    return found / pairs


def is_called(course: Sequence[int], setting: Setting) -> bool:
    """Whether a look at the course of leads decides."""
    test = GroupSequentialTest(longest=setting.cap, alpha=1.0 - setting.likelihood)
    start = 0
    for end in range(setting.first, setting.cap + 1, setting.step):
        new = [abs(lead) for lead in course[start:end]]
        if test.analyse(InterimData(end, sum(course[:end]), (new.count(1), new.count(2)))).is_decided:
            return True
        start = end
    return False


def main(pairs: int, seed: int) -> None:
    """Print a table."""
    random = Random(seed)
    print(f"{pairs} pairs of equals each; called different, in %")  # noqa: T201
    for setting in SETTINGS:
        alpha = 1.0 - setting.likelihood
        most = alpha + 2.0 * math.sqrt(alpha * (1.0 - alpha) / pairs)
        print(f"{setting} (at most {alpha:.0%}; with 2 s.e. {most:.1%})")  # noqa: T201
        for name, blocks in [*EQUALS.items(), *UNLIKE.items()]:
            print(f"    {100 * called_different(blocks, setting, pairs, random):5.2f}  {name}")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
