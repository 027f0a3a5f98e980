"""Factors on luck: known answers, and no block that has a say in its own factor."""

import math
import random
from collections.abc import Sequence
from itertools import product
from statistics import fmean, variance
from typing import NamedTuple

import numpy as np
import pytest

from arena.statistics.control_variate import NARROWER, Products, adjust_in_turn, is_narrower, luck_weight, slopes


class Blocks(NamedTuple):
    """A row of `Products`."""

    blocks: int
    matches: int
    score: float
    score2: float
    both: float
    luck2: float


def fitted(pairings: Sequence[Blocks]) -> list[float]:
    found: list[float] = slopes(Products.of(pairings)).tolist()
    return found


def narrows(pairings: Sequence[Blocks], factors: Sequence[float], score: float) -> bool:
    return is_narrower(Products.of(pairings), np.array(factors), score)


def of(blocks: list[tuple[float, float]], matches: int = 2) -> Blocks:
    """Sum up blocks of (score, luck), both summed over the matches of a block, without any shortcut."""
    score, luck = fmean(y for y, _ in blocks), fmean(x for _, x in blocks)
    return Blocks(
        len(blocks),
        matches * len(blocks),
        score / matches,
        math.fsum((y - score) ** 2 for y, _ in blocks),
        math.fsum((y - score) * (x - luck) for y, x in blocks),
        math.fsum((x - luck) ** 2 for _, x in blocks),
    )


@pytest.mark.parametrize(
    ("score", "weight"),
    # The printed table of the normal distribution: density at the quantile, beside that at 0.
    [(0.5, 1.0), (0.841344746, 0.60653066), (0.977249868, 0.13533528), (0.158655254, 0.60653066)],
)
def test_luck_decides_between_equals(score: float, weight: float) -> None:
    """The weight of luck is 1 at a score of 1/2 and falls with the distance from it."""
    assert luck_weight(score, 10**9) == pytest.approx(weight, abs=1e-7)


def test_few_matches_promise_no_certain_win() -> None:
    """Two wins of two count as three of four; after a hundred blocks without a loss luck has almost no weight."""
    assert luck_weight(1.0, 2) == pytest.approx(math.exp(-(0.6744897501960817**2) / 2))
    assert luck_weight(1.0, 200) < 0.05


def test_before_any_block_the_value_is_taken_as_it_is() -> None:
    """Without blocks, or with luck that does not vary, the factor is the weight of luck."""
    assert fitted([]) == []
    assert fitted([Blocks(0, 0, 0.0, 0.0, 0.0, 0.0)]) == [1.0]
    assert fitted([Blocks(1, 2, 0.5, 0.0, 0.0, 0.0)]) == [1.0]
    assert fitted([Blocks(30, 60, 0.5, 1.0, 0.0, 0.0)]) == [1.0]


def test_two_slopes_by_hand() -> None:
    """The mean square of luck is 0.1, so that the prior weighs 2; the second pairing's luck counts half."""
    score = 0.5 * (1.0 + math.erf(-math.sqrt(2.0 * math.log(2.0)) / math.sqrt(2.0)))
    even = Blocks(11, 22, 0.5, 3.0, 0.8, 1.0)
    lopsided = Blocks(11, 10**9, score, 3.0, 0.1, 1.0)

    common = (0.8 + 0.5 * 0.1 + 2.0) / (1.0 + 0.25 + 2.0)
    expected = [(0.8 + 2.0 * common) / 3.0, (0.1 + 2.0 * common * 0.5) / 3.0]
    assert fitted([even, lopsided]) == pytest.approx(expected, abs=1e-6)


def test_many_blocks_speak_for_themselves() -> None:
    """With many blocks the factor is 0 where luck is noise, and 1 where it decides, also in one league."""
    nothing, everything = (Blocks(10**6, 2 * 10**6, 0.5, 1e5, b * 1e5, 1e5) for b in (0.0, 1.0))

    assert fitted([nothing, everything]) == pytest.approx([0.0, 1.0], abs=1e-4)


def test_no_block_has_a_say_in_its_own_factor() -> None:
    """Over all 3^6 sequences of outcomes each adjusted score has exactly the mean of the score."""
    outcomes = [(1.0, 0.4), (0.5, 0.1), (0.25, -0.5)]  # equally likely; luck has mean 0
    mean = fmean(score for score, _ in outcomes)

    courses = [list(adjust_in_turn(course, matches=2)) for course in product(outcomes, repeat=6)]

    assert [fmean(column) for column in zip(*courses, strict=True)] == pytest.approx([mean] * 6, abs=1e-12)


def test_in_turn_the_factor_is_that_of_the_blocks_before() -> None:
    """The adjusted scores agree with factors that are computed from all blocks before, for each block."""
    rng = random.Random(6)
    blocks = [(rng.choice((0.0, 0.25, 0.5, 1.0)), rng.gauss(0.0, 0.3)) for _ in range(40)]

    found = list(adjust_in_turn(blocks, matches=2))

    for place in range(1, 40):
        before = of([(2 * y, 2 * x) for y, x in blocks[:place]])
        score, luck = blocks[place]
        assert found[place] == pytest.approx(score - fitted([before])[0] * luck)


def test_in_turn_luck_that_decides_is_taken_out() -> None:
    """Luck that decides is removed; luck that is noise costs less than a block in twenty."""
    rng = random.Random(7)
    decided = [(0.5 + 0.7 * luck, luck) for luck in (rng.gauss(0.0, 0.2) for _ in range(400))]
    noise = [(rng.gauss(0.5, 0.2), rng.gauss(0.0, 0.2)) for _ in range(400)]

    assert variance(adjust_in_turn(decided, matches=2)) < 0.02 * variance(y for y, _ in decided)
    assert variance(adjust_in_turn(noise, matches=2)) < 1.05 * variance(y for y, _ in noise)


def halved(blocks: int, gain: float) -> Blocks:
    """Return blocks of equals with a square of 1 each, which the factor 1 reduces by the share `gain`."""
    return Blocks(blocks, 2 * blocks, 0.5, float(blocks - 1), gain * (blocks - 1), gain * (blocks - 1))


def test_a_gain_by_hand() -> None:
    """With 17 blocks: gain 16 g, noise 4 * 16 g * (1 - g) * 17 / 16, each times 17 / 16; t of 16 degrees is 2.1199."""
    # (17 g)^2 = t^2 * 4 * (17 / 16) * 17 g (1 - g): g = a / (16 + a) with a = 4 t^2
    a = 4 * 2.119905299**2
    edge = a / (16 + a)

    assert not narrows([halved(17, edge - 1e-6)], [1.0], 0.5)
    assert narrows([halved(17, edge + 1e-6)], [1.0], 0.5)


def test_a_small_gain_is_none() -> None:
    """The interval must become narrower by a twentieth, however certain the gain is; variances go with its square."""
    blocks = 100_001

    assert NARROWER == 0.95
    assert not narrows([halved(blocks, 0.094)], [1.0], 0.5)
    assert narrows([halved(blocks, 0.102)], [1.0], 0.5)


@pytest.mark.parametrize("factor", [-1.0, 0.0, 2.0, 3.0])
def test_a_factor_that_takes_nothing_off_is_not_used(factor: float) -> None:
    """A factor of 0, one of the wrong sign, and one that is too large make no interval narrower."""
    assert narrows([halved(1000, 0.8)], [1.0], 0.5)
    assert not narrows([halved(1000, 0.8)], [factor], 0.5)


def test_single_blocks_tell_nothing_of_a_gain() -> None:
    """Without two blocks of a pairing there is no gain; a single block of another pairing changes nothing."""
    single = Blocks(1, 2, 0.5, 0.0, 0.0, 0.0)

    assert not narrows([], [], 0.5)
    assert not narrows([single] * 50, [1.0] * 50, 0.5)
    assert narrows([halved(200, 0.8), single], [1.0, 1.0], 0.5)


def test_pairings_gain_together() -> None:
    """Five blocks prove nothing in one pairing but in twenty; a pairing that loses counts against the gain."""
    few, loss = halved(5, 0.7), Blocks(5, 10, 0.5, 4.0, -4.0, 4.0)

    assert not narrows([few], [1.0], 0.5)
    assert narrows([few] * 20, [1.0] * 20, 0.5)
    assert narrows([halved(2, 0.7)] * 100, [1.0] * 100, 0.5)
    assert narrows([few] * 20 + [loss], [1.0] * 20 + [0.0], 0.5)
    assert not narrows([few] * 20 + [loss] * 5, [1.0] * 25, 0.5)


def test_near_the_end_of_what_is_possible_the_unseen_counts() -> None:
    """At 99 % a gain in the square hardly narrows the interval of a few blocks, at 50 % it does."""
    even = Blocks(20, 40, 0.5, 1.0, 0.5, 0.5)

    assert narrows([even], [1.0], 0.5)
    assert not narrows([even._replace(score2=0.01, both=0.005, luck2=0.005)], [1.0], 0.99)
