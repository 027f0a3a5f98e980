"""Pairings round by round: one module for each kind of schedule, on players' names alone.

Rule: pure. A schedule knows no keys, seeds, files or workers, and of matches only their results; so the same results
give the same next round, whoever was faster and however often the league was stopped.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Sequence

import msgspec

from arena.match.results import PairingRanks, points, rotate
from arena.standings.ranks import matches_of

TableNames = tuple[str, ...]
"""The names of players who meet."""


class Plan(msgspec.Struct, frozen=True):
    """A round: `blocks` blocks for each of `tables`, in this order.

    `title` is what a person calls it, `news` are sentences about what the rounds before it decided. `is_awaited` tells
    whether anything depends on its results.
    """

    tables: tuple[TableNames, ...]
    blocks: int
    title: str = ""
    news: tuple[str, ...] = ()
    is_awaited: bool = True


ScheduleGenerator = Generator[Plan, Sequence[PairingRanks], tuple[str, ...]]
"""The rounds of a schedule: each is answered with the ranks of its blocks, in the order of the plan's tables."""


def half_points(played: Iterable[PairingRanks]) -> "Counter[str]":
    """Add up the half points of each player, in matches of two: 2 for a win, 1 for a draw."""
    totals: Counter[str] = Counter()
    for pairing in played:
        for block_ranks, times in Counter(pairing.block_ranks).items():
            for rotation, ranks in enumerate(matches_of(block_ranks, len(pairing.players))):
                worth = () if ranks is None else points(ranks)
                for player, half in zip(rotate(pairing.players, rotation), worth, strict=False):
                    totals[player] += times * half
    return totals


def points_text(half: int) -> str:
    """Write half points as a number of points: `3`, `3.5`."""
    return f"{half // 2}.5" if half % 2 else str(half // 2)
