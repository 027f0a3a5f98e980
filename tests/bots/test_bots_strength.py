"""The bots of the house are a ladder: random, greedy, sensible."""

import pytest
from bots_driver import Bot, Prepare, play_bots, started

pytestmark = pytest.mark.process


@pytest.mark.slow
@pytest.mark.parametrize(
    ("better", "worse", "blocks", "expected"), [("sensible", "greedy", 100, 0.9), ("greedy", "random", 40, 0.9)]
)
def test_the_better_bot_wins(prepare: Prepare, better: str, worse: str, blocks: int, expected: float) -> None:
    """Over mirrored blocks the better bot scores far beyond luck: 97 % were measured for each pair."""
    with started(prepare(better)) as strong, started(prepare(worse)) as weak:
        scores = [_score(strong, weak, f"block {number}") for number in range(blocks)]

    assert sum(scores) / blocks >= expected


def _score(strong: Bot, weak: Bot, seed: str) -> float:
    """The strong bot's part of the two points of a block, 0 to 1."""
    mine, theirs = play_bots((strong, weak), seed).scores
    theirs_again, mine_again = play_bots((weak, strong), seed).scores
    return sum((a > b) + (a == b) / 2 for a, b in ((mine, theirs), (mine_again, theirs_again))) / 2
