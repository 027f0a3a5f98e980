"""Blocks of matches -> how often each result came: the counts that tests and estimates of NEW against OLD are made of.

Rule: the block is the unit, not the match. The two matches of a mirrored pair share their luck, so they are not
independent; with the five results of a pair counted apart (LL, LD, DD or WL, WD, WW) the spread comes out right
whatever their correlation. Blocks of a single match have three results (L, D, W): the trinomial.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

PENTANOMIAL: Final = ("LL", "LD", "DD+WL", "WD", "WW")
"""The results of a pair of matches from NEW's side, from the worst to the best."""
TRINOMIAL: Final = ("L", "D", "W")
"""The results of a single match."""

ZERO_FLOOR: Final = 1e-3
"""Replaces a count of zero in likelihoods, as fishtest and fastchess do: no result is impossible."""

SMALLEST: Final = 1e-100
LARGEST: Final = 1e100
"""The range of values whose squares are floats."""

_MATCH_SCORES: Final = (0.0, 0.5, 1.0)


def block_score(match_scores: Sequence[float]) -> float:
    """Return the mean of NEW's scores (0, 1/2 or 1) in the matches of one block. ValueError for anything else."""
    if not match_scores:
        raise ValueError("expected the scores of the matches of a block, found none")
    for score in match_scores:
        if score not in _MATCH_SCORES:
            raise ValueError(f"expected a match score of 0, 0.5 or 1, found {score}")
    return math.fsum(match_scores) / len(match_scores)


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of blocks with each result, 3 numbers or 5, from the worst for NEW to the best."""

    numbers: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse numbers that are no counts."""
        if len(self.numbers) not in (len(TRINOMIAL), len(PENTANOMIAL)):
            raise ValueError(f"expected 3 or 5 counts, found {len(self.numbers)}")
        for number in self.numbers:
            if not isinstance(number, int) or number < 0:
                raise ValueError(f"expected counts of 0 or more, found {number}")

    @classmethod
    def none(cls, matches: int) -> Self:
        """Return the counts of no block, of 1 or 2 `matches` each; ValueError for another number."""
        if matches not in (1, 2):
            raise ValueError(f"expected blocks of 1 or 2 matches to count, found {matches}")
        return cls((0,) * (2 * matches + 1))

    @classmethod
    def of(cls, scores: Iterable[float], *, matches: int = 2) -> Self:
        """Count block scores: multiples of 1/4 from 0 to 1 for pairs of matches, of 1/2 for single ones.

        ValueError for any other score.
        """
        numbers = [0] * len(cls.none(matches).numbers)
        for score in scores:
            numbers[category(score, matches)] += 1
        return cls(tuple(numbers))

    def plus(self, score: float) -> Self:
        """Return the counts with one block more; ValueError for a score that a block cannot have."""
        numbers = list(self.numbers)
        numbers[category(score, self.matches)] += 1
        return type(self)(tuple(numbers))

    @property
    def matches(self) -> int:
        """The number of matches in a block."""
        return len(self.numbers) // 2

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return sum(self.numbers)

    @property
    def values(self) -> tuple[float, ...]:
        """The block score of each result: 0, 1/4, 1/2, 3/4, 1 for pairs."""
        return values(self.matches)

    @property
    def floored(self) -> tuple[float, ...]:
        """The counts, with `ZERO_FLOOR` in place of 0."""
        return tuple(float(number) or ZERO_FLOOR for number in self.numbers)

    @property
    def weighted(self) -> tuple[Sequence[float], Sequence[float]]:
        """The number of blocks with each score, and the scores."""
        return self.numbers, self.values

    @property
    def moments(self) -> tuple[float, float]:
        """Mean and variance of the scores of blocks; ValueError without a block."""
        return moments(*self.weighted)

    @property
    def floored_moments(self) -> tuple[float, float]:
        """Mean and variance of the scores by the floored counts, so that the variance is above 0."""
        return moments(self.floored, self.values)

    @property
    def even(self) -> float | None:
        """The share of blocks in which both scored the same (fastchess: DrawRatio); None without a block."""
        return self.numbers[self.matches] / self.blocks if self.blocks else None

    @property
    def won_by_lost(self) -> float | None:
        """The ratio of blocks NEW won to blocks NEW lost (PairsRatio); infinite without a loss, None without either."""
        lost, won = sum(self.numbers[: self.matches]), sum(self.numbers[self.matches + 1 :])
        return won / lost if lost else math.inf if won else None


@dataclass(frozen=True, slots=True)
class Moments:
    """The number of blocks, their mean, and the sum of squared differences from it (Welford: 0 for equal values)."""

    blocks: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def plus(self, value: float) -> Self:
        """Return the moments with one block more; ValueError for a value whose square overflows or vanishes."""
        if not (value == 0.0 or SMALLEST <= abs(value) <= LARGEST):
            raise ValueError(f"expected a finite value of the block (0, or {SMALLEST:g} to {LARGEST:g}), found {value}")
        blocks = self.blocks + 1
        difference = value - self.mean
        mean = self.mean + difference / blocks
        return type(self)(blocks, mean, self.squares + difference * (value - mean))

    @property
    def ratio(self) -> float:
        """The mean in standard deviations: infinite for equal values that are not 0, and 0 if all values are 0."""
        if self.squares:
            return self.mean / math.sqrt(self.squares / self.blocks)
        return math.copysign(math.inf, self.mean) if self.mean else 0.0


@dataclass(frozen=True, slots=True)
class Sample:
    """Block scores of any value about 0 to 1, in schedule order; a block has `matches` matches."""

    matches: int
    values: tuple[float, ...] = ()

    def plus(self, value: float) -> Self:
        """Return the sample with one block more; ValueError for a value that is no number."""
        if not math.isfinite(value):
            raise ValueError(f"expected a finite score of the block, found {value}")
        return type(self)(self.matches, (*self.values, value))

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return len(self.values)

    @property
    def weighted(self) -> tuple[Sequence[float], Sequence[float]]:
        """A weight of 1 for each score, and the scores."""
        return [1.0] * self.blocks, self.values

    @property
    def moments(self) -> tuple[float, float]:
        """Mean and variance; ValueError without a block."""
        return moments(*self.weighted)

    @property
    def floored_moments(self) -> tuple[float, float]:
        """Mean and variance with `ZERO_FLOOR` blocks of 0 and of 1, so that the variance is above 0."""
        return moments([1.0] * self.blocks + [ZERO_FLOOR] * 2, [*self.values, 0.0, 1.0])


def values(matches: int) -> tuple[float, ...]:
    """Return the scores that a block of `matches` matches can have, in ascending order."""
    return tuple(step / (2 * matches) for step in range(2 * matches + 1))


def category(score: float, matches: int) -> int:
    """Return the index of a block score among the `values`; ValueError if it is none of them."""
    possible = values(matches)
    if score not in possible:
        raise ValueError(f"expected a block score of {', '.join(f'{value:g}' for value in possible)}, found {score}")
    return possible.index(score)


def moments(weights: Sequence[float], points: Sequence[float]) -> tuple[float, float]:
    """Return the weighted mean and the variance about it, over the sum of weights; ValueError without any weight."""
    total = math.fsum(weights)
    if not total:
        raise ValueError("expected at least one block to estimate from, found none")
    mean = math.fsum(weight * point for weight, point in zip(weights, points, strict=True)) / total
    squares = math.fsum(weight * (point - mean) ** 2 for weight, point in zip(weights, points, strict=True))
    return mean, squares / total
