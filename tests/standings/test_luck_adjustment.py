"""Scores without luck: against a slow way, never wider than the plain score, and with the coverage promised."""

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from statistics import fmean

import numpy as np
import pytest
from support.made_matches import result
from support.standings_luck import (
    SYNTHETIC,
    Block,
    Coverage,
    Made,
    Pair,
    coverage,
    decided_by_luck,
    exaggerated,
    league_of,
    plain,
    population,
    real_blocks,
    shown,
    where,
)

from arena.standings.luck_adjustment import LuckAdjustment, common_luck_version, luck_versions
from arena.standings.luck_adjustment import _products_of as products
from arena.standings.match_table import NO_PAIRINGS, match_table
from arena.standings.sums import LuckSums, sums_of
from arena.statistics.control_variate import slopes
from arena.statistics.interval import Interval, interval

AB: Pair = ("ann", "bob")
EVEN_AND_LOPSIDED: tuple[Pair, ...] = (("tiny", "coarse"), ("sensible", "coarse"), ("sensible", "greedy"))


def drawn(random: random.Random, count: int, noise: float = 0.15) -> list[Block]:
    """Blocks of two equals whose luck decides, but for some noise."""
    lucks = [random.gauss(0.0, 0.5) for _ in range(count)]
    return [(max(0, min(4, round(2.0 + 3.0 * luck + random.gauss(0.0, 10 * noise)))), luck) for luck in lucks]


def one_pairing(blocks: Sequence[Block], place: int = 0) -> Interval | None:
    """The interval without luck of a league of two."""
    found = shown({AB: blocks})[AB[place]].without
    return found.interval if found else None


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_it_is_the_score_less_luck_with_the_factor_of_the_other_half(noise: float) -> None:
    """Block by block with floats, as against whole sums: the same mean and the same error."""
    rng = random.Random(11)
    league = {
        AB: drawn(rng, 61, noise),
        ("ann", "cid"): drawn(rng, 40, noise),
        ("bob", "cid"): [(min(4, y + 1), luck) for y, luck in drawn(rng, 50, noise)],
    }

    found = shown(league)

    factors = [slopes(products(half)) for half in league_of(league).luck]
    for name in ("ann", "bob", "cid"):
        own = [(number, pair) for number, pair in enumerate(league) if name in pair]
        without = [
            [
                (4 - y if pair.index(name) else y)
                - (-1) ** pair.index(name) * 2 * factors[1 - place % 2][number] * luck
                for place, (y, luck) in enumerate(league[pair])
            ]
            for number, pair in own
        ]
        blocks = sum(map(len, without))
        squares = math.fsum(
            len(each) / (len(each) - 1) * math.fsum((z - fmean(each)) ** 2 for z in each) for each in without
        )
        mean = found[name].without
        assert mean is not None
        assert mean.value == pytest.approx(math.fsum(map(math.fsum, without)) / (4 * blocks), abs=1e-6)
        assert mean.standard_error == pytest.approx(math.sqrt(squares) / (4 * blocks), rel=1e-5)


def test_a_block_that_lacks_a_match_counts_by_the_matches_it_has() -> None:
    """Squares and products are about the means of so many matches; by the slow way."""
    blocks = [(2, 3, 400_000), (1, 2, 300_000), (2, 0, -900_000), (1, 0, -100_000), (2, 2, 150_000)]
    m, y, luck = (Fraction(sum(column)) for column in zip(*blocks, strict=True))
    off = [(own - y / m * count, x - luck / m * count) for count, own, x in blocks]

    found = products(
        LuckSums(
            *map(np.array, ([len(blocks)], [int(m)], [sum(count**2 for count, *_ in blocks)])),
            *(
                np.array([[sum(count**i * own**j * x**k for count, own, x in blocks)]])
                for i, j, k in [(0, 1, 0), (0, 2, 0), (1, 1, 0), (0, 0, 1), (0, 0, 2), (1, 0, 1), (0, 1, 1)]
            ),
        )
    )

    assert (found.blocks.tolist(), found.matches.tolist()) == ([5], [8])
    assert found.score == pytest.approx(float(y / m / 2))
    assert found.score2 == pytest.approx(float(sum(one * one for one, _ in off)) / 4)
    assert found.both == pytest.approx(float(sum(one * other for one, other in off)) / 2e6)
    assert found.luck2 == pytest.approx(float(sum(other * other for _, other in off)) / 1e12)


@pytest.mark.parametrize("count", [2, 3, 5, 20, 200])
def test_luck_that_means_nothing_is_not_taken_off(count: int) -> None:
    """Scores that do not vary keep the plain bound, too, whatever the luck was."""
    rng = random.Random(2)
    noise = [(rng.choice((0, 2, 2, 4)), rng.gauss(0.0, 0.5)) for _ in range(count)]
    won = [(4, rng.gauss(0.0, 0.5)) for _ in range(count)]

    assert one_pairing(noise) is None
    assert one_pairing(won) is None


@pytest.mark.slow
def test_it_is_never_wider_than_the_plain_score() -> None:
    """The interval is never wider in 300 leagues of every kind; where luck decides, it is given."""
    rng = random.Random(4)
    narrower = 0
    for _ in range(300):
        count = rng.choice((2, 3, 5, 8, 20, 60))
        names = ("ann", "bob", "cid")
        league = {
            (one, other): drawn(rng, count, rng.choice((0.0, 0.1, 0.5)))
            if rng.random() < 0.6
            else [(rng.choice((4, 4, 4, 4, 2)), rng.gauss(0.0, 0.5) ** 3) for _ in range(count)]
            for one, other in (("ann", "bob"), ("ann", "cid"), ("bob", "cid"))
        }
        for name in names:
            one = shown(league)[name]
            if one.without is not None:
                narrower += 1
                assert one.without.interval.error < one.plain.interval.error
                assert 0.0 <= one.without.interval.low <= one.without.value <= one.without.interval.high <= 1.0
    assert narrower > 150


def test_the_order_of_places_does_not_matter() -> None:
    """A player who wins nearly all has the same score at either place, also if luck is hardly worth taking off."""
    rng = random.Random(12)

    def block() -> Block:
        has_lost = rng.random() < 0.05
        return (2 if has_lost else 4), (-0.5 if has_lost else 0.03) + rng.gauss(0.0, 0.2)

    found = set()
    for _ in range(20):
        one, other = ([block() for _ in range(80)] for _ in range(2))
        here = shown({AB: one, ("ann", "cid"): other})["ann"]
        there = shown({AB: one, ("cid", "ann"): [(4 - y, -luck) for y, luck in other]})["ann"]
        assert here == there
        found.add(here.without is None)

    assert found == {True, False}


def test_it_is_no_surer_of_its_error_than_the_plain_score() -> None:
    """A spread that hangs on one block of nine is not known with 89 degrees of freedom, luck taken off or not."""
    blocks = [(2, -0.8 + 0.1 * (number % 4)) if number % 9 == 0 else (4, 0.08) for number in range(90)]

    found = shown({AB: blocks})["ann"]

    assert found.without is not None
    assert found.without.degrees == found.plain.degrees < 60


def test_an_unseen_block_counts_as_far_as_luck_would_leave_it() -> None:
    """Half a block at the end of the range, times the part of the square that is left."""
    rng = random.Random(13)
    found = shown({AB: [decided_by_luck(rng) for _ in range(40)]})["ann"]

    assert found.without is not None
    assert found.without.standard_error is not None
    assert found.plain.standard_error is not None
    left = (found.without.standard_error / found.plain.standard_error) ** 2
    value, error, degrees = found.without.value, found.without.standard_error, found.without.degrees
    by_hand, without, in_full = (
        interval(value, error, degrees=degrees, blocks=40, lowest=0.0, highest=1.0, unseen=unseen).error
        for unseen in (left / 2, 0.0, 0.5)
    )
    assert found.without.interval.error == pytest.approx(by_hand)
    assert without < by_hand < 0.9 * in_full


@pytest.mark.parametrize("half", [0, 1])
def test_a_half_has_no_say_in_what_is_taken_off_it(half: int) -> None:
    """Noise in the place of its luck: what is taken off follows the noise by one factor, that of the other half."""
    rng = random.Random(6)
    blocks = drawn(rng, 60)
    slopes_seen = []
    for _ in range(5):
        noisy = [(y, rng.gauss(0.0, 0.2) if number % 2 == half else luck) for number, (y, luck) in enumerate(blocks)]
        score = plain([noisy], [0])
        found = LuckAdjustment(league_of({AB: noisy})).score(where({AB: noisy}, [AB], [0]), score)
        if found is None:  # no narrower
            continue
        taken = 2 * sum(luck for number, (_, luck) in enumerate(noisy) if number % 2 == half) / (4 * len(noisy))
        slopes_seen.append((score.value - found.value) / taken)

    assert len(slopes_seen) >= 2
    assert slopes_seen == pytest.approx([slopes_seen[0]] * len(slopes_seen), rel=1e-4)


@pytest.mark.slow
def test_its_mean_is_that_of_the_score() -> None:
    """Skewed luck with heavy tails, 2000 leagues of two: off by no more than the errors tell."""
    rng = random.Random(7)
    jackpot = [(0, -0.1)] * 17 + [(2, -0.1)] * 14 + [(4, -0.1)] * 6 + [(4, 1.2), (4, 1.3), (2, 1.2)]
    mean_luck = fmean(luck for _, luck in jackpot)
    population = [(y, luck - mean_luck) for y, luck in jackpot]
    truth = fmean(y for y, _ in population) / 4

    values = [shown({AB: rng.choices(population, k=30)})["ann"].chosen.value for _ in range(2000)]

    spread = math.sqrt(fmean((value - truth) ** 2 for value in values) / len(values))
    assert abs(fmean(values) - truth) < 3 * spread


def test_luck_must_be_known_of_all_matches_asked_for() -> None:
    """All matches asked for need luck of one version, at tables of two; other pairs keep their adjusted scores."""
    rng = random.Random(10)
    known, bare, other, mixed = (AB, ("ann", "cid")), ("bob", "cid"), ("cid", "dot"), ("bob", "dot")
    league = {pair: drawn(rng, 40) for pair in (*known, bare, other, mixed)}
    versions = {"1": np.array([80, 80, 79, 0, 40]), "2": np.array([0, 0, 0, 80, 40])}
    sums = league_of(league)._replace(luck_versions=versions)
    adjustment = LuckAdjustment(sums)
    score = plain([drawn(random.Random(10), 40)], [0])

    def found(*pairs: tuple[str, str]) -> bool:
        return adjustment.score(where(league, pairs, [0] * len(pairs)), score) is not None

    assert found(AB)
    assert found(other)
    assert not any(found(one) for one in (bare, mixed))
    assert not found(AB, bare)
    assert not found(AB, other)
    assert [*luck_versions(sums)] == ["1", "1", "", "2", ""]
    three = sums_of(
        match_table(
            [result(rotation=turn, places=("ann", "bob", "dot"), luck=(1, 2, 3), luck_version="1") for turn in range(3)]
        )
    )
    assert common_luck_version(three) == ""
    assert LuckAdjustment(three).score((np.zeros(1, dtype=int), np.zeros(1, dtype=int)), score) is None
    assert LuckAdjustment(sums).score(NO_PAIRINGS, score) is None


def require(found: Coverage, what: str, *, varies: bool) -> None:
    """93 % at least; and 97 % at most of 20 blocks and more that vary, up to what so many runs can tell."""
    told = f"{what}: {found}"
    assert found.covered >= 0.93 - 2 * found.error, told
    assert found.width <= found.plain_width + 1e-12, told
    if varies:
        assert found.covered <= 0.97 + 2 * found.error, told


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [2, 3, 5, 20, 60])
@pytest.mark.parametrize("made", SYNTHETIC)
def test_coverage_of_made_blocks(made: Made, blocks: int) -> None:
    """Coverage includes the choice of the interval; too wide intervals fail as well."""
    found = coverage({AB: population(made)}, "ann", blocks, 3000, random.Random(blocks))

    require(found, f"{made.__name__}, {blocks} blocks", varies=blocks >= 20 and made in {decided_by_luck, exaggerated})


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [2, 3, 5, 20, 60])
@pytest.mark.parametrize("pair", real_blocks(), ids=" ".join)
def test_coverage_of_real_blocks(pair: Pair, blocks: int) -> None:
    """Shanghaien, weak and strong bots: each pair a league of its own."""
    own = real_blocks()[pair]
    spread = math.sqrt(fmean((y - fmean(y for y, _ in own)) ** 2 for y, _ in own))

    found = coverage({pair: own}, pair[0], blocks, 1000, random.Random(blocks))

    require(found, f"{pair}, {blocks} blocks", varies=blocks >= 20 and spread > 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [2, 3, 5, 20])
@pytest.mark.parametrize("player", ["random", "greedy", "slips", "sensible"])
def test_coverage_in_a_real_league(player: str, blocks: int) -> None:
    """The test covers all 21 pairs of seven bots together."""
    found = coverage(real_blocks(), player, blocks, 400, random.Random(blocks))

    require(found, f"{player}, {blocks} blocks", varies=blocks == 20)


@pytest.mark.parametrize("pair", EVEN_AND_LOPSIDED, ids=" ".join)
def test_coverage_of_some_real_blocks(pair: Pair) -> None:
    """A few runs of the slow ones; between equals the interval is narrower at 40 blocks."""
    found = coverage({pair: real_blocks()[pair]}, pair[0], 40, 150, random.Random(1))

    require(found, f"{pair}", varies=False)
    if "coarse" in pair:
        assert found.shown > 0.75
        assert found.width < 0.85 * found.plain_width
