"""Values of matches -> their mean, and how far it may be off. Rule: the block is the unit of every error.

Opponents are fixed, not drawn at random, so that only what varies within a pairing is chance. As in the standings:

    se^2 = sum_p n_p / (n_p - 1) * sum_{b in p} (y_b - r_p m_b)^2 / M^2

with y_b the sum of block b, m_b its values, r_p the mean in pairing p, n_p the blocks of p, M all values. A pairing
with one block adds the mean square about the overall mean, which is too wide rather than too narrow.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

Z_95: Final = 1.959963984540054
_NO_SPREAD: Final = 1e-12


class Value(NamedTuple):
    """What one match says, and the block and the pairing it belongs to."""

    block: Any
    pairing: Any
    value: float


class Mean(msgspec.Struct, frozen=True):
    """The mean over matches and its standard error. What the matches cannot tell is None."""

    value: float | None
    error: float | None
    blocks: int

    @property
    def has_spread(self) -> bool:
        """Whether blocks differ; if not, an error of 0 says that the spread is small, not how small."""
        return self.error is not None and self.error > _NO_SPREAD

    def score_bound(self) -> float | None:
        """Of a score: half the width of its 95 % interval; where all blocks are equal, a one-sided bound.

        Rule of three: if a share q of blocks came out otherwise, N equal ones would be seen with a chance of (1 - q)^N,
        and that is below 5 % for q > 1 - 0.05^(1/N). Such a block shifts the score by max(score, 1 - score) at most.
        """
        if self.value is None or self.error is None:
            return None
        if self.has_spread:
            return Z_95 * self.error
        share: float = 1.0 - 0.05 ** (1.0 / self.blocks)
        return share * max(self.value, 1.0 - self.value)


def mean_of(values: Iterable[Value]) -> Mean:
    """Average over matches, with the standard error by the formula at the top."""
    found = list(values)
    if not found:
        return Mean(None, None, 0)
    mean = math.fsum(one.value for one in found) / len(found)
    blocks, pairings = by_block(found), by_pairing(found)
    if len(blocks) < 2:
        return Mean(mean, None, len(blocks))
    overall = squares(blocks.values()) / (len(blocks) - 1)
    within = (
        squares([blocks[block] for block in own]) * len(own) / (len(own) - 1) if len(own) > 1 else overall
        for own in pairings.values()
    )
    return Mean(mean, math.sqrt(math.fsum(within)) / len(found), len(blocks))


def by_block(values: Iterable[Value]) -> dict[Any, list[float]]:
    """The values of each block."""
    found: defaultdict[Any, list[float]] = defaultdict(list)
    for one in values:
        found[one.block].append(one.value)
    return found


def by_pairing(values: Iterable[Value]) -> dict[Any, list[Any]]:
    """The blocks of each pairing, each once, in order."""
    found: defaultdict[Any, set[Any]] = defaultdict(set)
    for one in values:
        found[one.pairing].add(one.block)
    return {pairing: sorted(own) for pairing, own in found.items()}


def squares(blocks: Collection[Sequence[float]]) -> float:
    """Sum the squares of what each block has above or below its share of the total of `blocks`."""
    mean = math.fsum(value for block in blocks for value in block) / sum(map(len, blocks))
    return math.fsum((math.fsum(block) - mean * len(block)) ** 2 for block in blocks)
