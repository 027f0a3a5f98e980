"""The sequential test over many simulated duels: how often it errs, and how long it takes."""

import math
from random import Random

import pytest
from support.statistics_duels import behaviour, expected_blocks
from support.statistics_luck_duels import ends, played

from arena.statistics.sequential import SequentialSettings


@pytest.mark.parametrize(
    ("settings", "runs"),
    [
        pytest.param(SequentialSettings(elo1=50.0), 120, marks=pytest.mark.slow),
        (SequentialSettings(elo1=50.0, model="student"), 200),
        (SequentialSettings(elo1=60.0, matches=1, batch=16), 80),
    ],
)
def test_errors_are_as_rare_as_promised(settings: SequentialSettings, runs: int) -> None:
    """At H0 about 1 test in 20 passes, at H1 1 in 20 fails, after about the expected blocks; limits are 3 sd.

    At H1 some 2 in 100 reach the cap, so that fewer than 19 in 20 pass.
    """
    rare = 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / runs)

    at_h0 = behaviour(settings, elo=settings.elo0, runs=runs, seed=7)
    at_h1 = behaviour(settings, elo=settings.elo1, runs=runs, seed=8)

    assert at_h0.passed <= rare
    assert at_h1.failed <= rare
    assert at_h1.passed >= 0.98 - rare
    for found, elo in ((at_h0, settings.elo0), (at_h1, settings.elo1)):
        expected = expected_blocks(settings, elo=elo)
        assert 0.85 * expected < found.mean_blocks < 1.4 * expected


@pytest.mark.slow
@pytest.mark.parametrize("pair", played())
def test_luck_taken_off_saves_blocks_and_keeps_the_errors(pair: str) -> None:
    """With played blocks, at H0 and at H1, luck adjustment saves blocks and keeps the errors; limits are 3 sd."""
    runs, random = 150, Random(pair)
    rare = 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / runs)
    plain = ends(pair, "logistic", elo=0.0, elo1=40.0, runs=runs, random=random)
    at_h0 = ends(pair, "luck-adjusted", elo=0.0, elo1=40.0, runs=runs, random=random)
    at_h1 = ends(pair, "luck-adjusted", elo=40.0, elo1=40.0, runs=runs, random=random)

    assert at_h0.passed <= rare
    assert at_h1.failed <= rare
    assert at_h0.blocks < 0.9 * plain.blocks
