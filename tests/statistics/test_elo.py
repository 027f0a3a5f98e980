"""Counts of blocks, and what is estimated from them: the known answers of fastchess, and samples without spread."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from support.golden import Golden
from support.statistics_duels import moments_of

from arena.statistics import elo as of_elo
from arena.statistics.distributions import Z_95, t_quantile
from arena.statistics.elo import Estimate, block_deviations, elo_of, estimate_margin, expected_score, normalised_elo
from arena.statistics.interval import Interval
from arena.statistics.likelihood import normalised_llr
from arena.statistics.pentanomial import PENTANOMIAL, Counts, Moments, Sample, block_score, category

patiently = hypothesis_settings(max_examples=60)
amounts = st.one_of(st.integers(0, 2), st.integers(0, 10**6))
counted = st.sampled_from([3, 5]).flatmap(
    lambda results: (
        st.lists(amounts, min_size=results, max_size=results).filter(any).map(lambda numbers: Counts(tuple(numbers)))
    )
)


def estimate(counts: Counts) -> Estimate:
    """Estimate with the interval that fastchess gives the score: normal, by the variance of the sample."""
    mean, variance = counts.moments
    half = Z_95 * math.sqrt(variance / counts.blocks)
    return of_elo.estimate(counts, Interval(mean, max(mean - half, 0.0), min(mean + half, 1.0)))


@pytest.mark.parametrize(
    ("matches", "name"),
    [
        ((0.0, 0.0), "LL"),
        ((0.0, 0.5), "LD"),
        ((0.5, 0.5), "DD+WL"),
        ((0.0, 1.0), "DD+WL"),
        ((1.0, 0.5), "WD"),
        ((1.0, 1.0), "WW"),
    ],
)
def test_the_five_results_of_a_pair(matches: tuple[float, float], name: str) -> None:
    """The order of the two matches does not matter, and two draws are worth a win and a loss."""
    found = category(block_score(matches), 2)

    assert PENTANOMIAL[found] == name


def test_scores_are_counted() -> None:
    """Counts come from the worst result to the best, and adding one by one gives the same."""
    scores = [0.5, 1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
    one_by_one = Counts.none(2)
    for score in scores:
        one_by_one = one_by_one.plus(score)

    assert Counts.of(scores) == one_by_one == Counts((1, 1, 2, 1, 3))
    assert Counts.of([0.0, 1.0, 1.0], matches=1) == Counts((1, 0, 2))
    assert (one_by_one.blocks, one_by_one.matches) == (8, 2)


@pytest.mark.parametrize("score", [0.3, -0.25, 1.25, math.nan, math.inf])
def test_no_such_block_score(score: float) -> None:
    """A score that no pair can have, also nan, raises ValueError."""
    with pytest.raises(ValueError, match=rf"expected a block score of 0, 0\.25, .*, found {score}"):
        Counts.of([score])


@pytest.mark.parametrize("matches", [(), (0.3, 1.0), (math.nan, 0.0), (1.0, 2.0)])
def test_no_such_match_score(matches: tuple[float, ...], golden: Golden) -> None:
    """A block needs matches, and each has a score of 0, 1/2 or 1."""
    with golden.raises(ValueError):
        block_score(matches)


@pytest.mark.parametrize("numbers", [(), (1, 2), (1, 2, 3, 4), (1, -1, 0), (1, 2, 0.5), (1, 2, math.nan)])
def test_no_such_counts(numbers: tuple[int, ...], golden: Golden) -> None:
    """Counts are 3 or 5 whole numbers, none below 0: only single matches and pairs are counted by result."""
    with pytest.raises(ValueError, match="counts"):
        Counts(numbers)
    with golden.raises(ValueError):
        Counts.none(3)


def test_scales() -> None:
    """A score of 3/4 is 190.85 Elo; both conversions are inverted; 347.4356 normalised Elo are one sd of a match."""
    assert elo_of(0.75) == pytest.approx(190.848502, abs=1e-6)
    assert expected_score(400.0) == pytest.approx(10.0 / 11.0)
    assert expected_score(elo_of(0.6)) == pytest.approx(0.6)
    assert block_deviations(347.435585522601, 1) == pytest.approx(1.0, abs=1e-14)
    assert block_deviations(347.435585522601, 2) == pytest.approx(math.sqrt(2.0))
    assert normalised_elo(block_deviations(12.0, 4), 4) == pytest.approx(12.0)
    assert (expected_score(1e6), expected_score(-1e6)) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("numbers", "elo", "normalised", "superiority", "draws", "pairs", "llr"),
    [
        ((1, 11, 47, 25, 16), (77.71, 33.03), 117.50, 1.0, 47.0, 3.42, 1.71),
        ((1, 15, 25, 33, 26), (123.02, 40.58), 159.46, 1.0, 25.0, 3.69, 2.19),
        ((1, 24, 42, 25, 8), (26.11, 31.23), 40.51, 0.9504, 42.0, 1.32, 0.60),
        ((2, 23, 32, 35, 8), (41.89, 33.28), 61.39, 0.9938, 32.0, 1.72, 0.92),
        ((1, 42, 106, 46, 5), (10.43, 17.99), 19.76, 0.8723, 53.0, 1.19, 0.49),
        ((0, 0, 3, 40, 7), (209.91, 30.05), 603.02, 1.0, 6.0, math.inf, 1.45),
    ],
)
def test_a_page_of_fastchess(
    numbers: tuple[int, ...],
    elo: tuple[float, float],
    normalised: float,
    superiority: float,
    draws: float,
    pairs: float,
    llr: float,
) -> None:
    """Six results of fastchess on a public page, bounds [0, 10]: Elo, nElo, LOS, DrawRatio, PairsRatio and LLR."""
    counts = Counts(numbers)
    found = estimate(counts)

    assert (found.elo.value, found.elo.error) == pytest.approx(elo, abs=5.1e-3)
    assert found.normalised is not None
    assert found.normalised.value == pytest.approx(normalised, abs=5.1e-3)
    assert found.superiority == pytest.approx(superiority, abs=5.1e-5)
    assert counts.even == pytest.approx(draws / 100)
    assert counts.won_by_lost == pytest.approx(pairs, abs=5.1e-3)
    assert normalised_llr(counts, 0.0, 10.0) == pytest.approx(llr, abs=5.1e-3)


@pytest.mark.parametrize(("lost", "won"), [(50, 50), (10, 90), (1, 99), (3, 4)])
def test_the_error_of_wins_and_losses_by_hand(lost: int, won: int) -> None:
    """For t = (p - 1/2) / sqrt(p q) of single matches the delta method gives the variance 1 / (4 p q)^2 / N."""
    p, q, blocks = won / (won + lost), lost / (won + lost), won + lost
    ratio = (p - 0.5) / math.sqrt(p * q)

    found = of_elo._standardised_mean((lost, 0, won), (0.0, 0.5, 1.0))

    half = t_quantile(blocks - 1) / (4 * p * q) / math.sqrt(blocks - 1) / math.hypot(1.0, ratio)
    assert found.value == pytest.approx(ratio)
    assert math.asinh(found.high) == pytest.approx(math.asinh(ratio) + half)
    assert math.asinh(found.low) == pytest.approx(math.asinh(ratio) - half)


@pytest.mark.parametrize(
    ("blocks", "chances"),
    [
        (16, (0.1, 0.2, 0.4, 0.2, 0.1)),
        (50, (0.01, 0.02, 0.07, 0.3, 0.6)),
        (100, (0.01, 0.02, 0.07, 0.3, 0.6)),
        (100, (0.0, 0.0, 0.0, 0.03, 0.97)),
        (100, (0.0, 0.02, 0.95, 0.03, 0.0)),
        (400, (0.0, 0.0, 0.06, 0.8, 0.14)),
    ],
)
def test_intervals_of_normalised_elo_hold(blocks: int, chances: tuple[float, ...]) -> None:
    """95 % of simulated intervals contain the truth, also where blocks hardly vary (z / sqrt(N): 5 to 60 %)."""
    scores = np.arange(5) / 4
    mean = float(scores @ chances)
    truth = normalised_elo((mean - 0.5) / math.sqrt(float((scores - mean) ** 2 @ chances)), 2)
    samples = np.random.default_rng(7).multinomial(blocks, chances, size=1500)

    found = [estimate(Counts(tuple(map(int, numbers)))).normalised for numbers in samples]

    known = [one.low <= truth <= one.high for one in found if one is not None]
    assert sum(known) / len(known) >= 0.945
    assert len(known) > 0.9 * len(samples)


def test_ratios_without_blocks() -> None:
    """DrawRatio is None without a block, and PairsRatio where all blocks are even."""
    assert Counts.none(2).even is None
    assert Counts((0, 0, 5, 0, 0)).won_by_lost is None


def test_one_by_one_or_counted_is_the_same() -> None:
    """A list of scores gives the same estimate as its counts."""
    scores = [0.0, 0.25, 0.5, 0.5, 0.75, 1.0, 1.0]
    sample, score = Sample(2, tuple(scores)), Interval(4 / 7, 0.2, 0.9)

    assert of_elo.estimate(sample, score) == of_elo.estimate(Counts.of(scores), score)


def test_nothing_but_wins_stays_finite() -> None:
    """4250 wins in 4250 matches give finite Elo, and None for normalised Elo, which has no spread to divide by."""
    found = estimate(Counts((0, 0, 4250)))

    assert 1200.0 < found.elo.low <= found.elo.value < math.inf
    assert (found.normalised, found.superiority) == (None, 1.0)


@patiently
@given(counted)
def test_estimates_are_numbers_in_order(counts: Counts) -> None:
    """No counts up to a million lead to nan, infinity or an interval that does not hold its value."""
    found = estimate(counts)

    assert (found.normalised is None) == (max(counts.numbers) == counts.blocks)
    for interval in filter(None, (found.score, found.elo, found.normalised)):
        assert all(math.isfinite(one) for one in (interval.value, interval.low, interval.high))
        assert interval.low <= interval.value <= interval.high
    assert 0.0 <= found.score.low <= found.score.high <= 1.0
    assert 0.0 <= found.superiority <= 1.0


@patiently
@given(counted)
def test_estimates_mirror(counts: Counts) -> None:
    """With NEW and OLD exchanged all signs change."""
    found, mirrored = estimate(counts), estimate(Counts(counts.numbers[::-1]))

    assert mirrored.score.value == pytest.approx(1.0 - found.score.value)
    assert mirrored.superiority == pytest.approx(1.0 - found.superiority, abs=1e-9)
    assert mirrored.elo.low == pytest.approx(-found.elo.high, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("matches", [1, 2])
def test_no_blocks_no_estimate(matches: int, golden: Golden) -> None:
    """Without a block an estimate raises ValueError."""
    with golden.raises(ValueError):
        estimate(Counts.none(matches))


def test_margins_by_hand() -> None:
    """Margins 3, 1, -1, 1: mean 1, sd sqrt 2, so LOS is Phi(sqrt 2); the interval is 3.182 sqrt(2/3)."""
    found = estimate_margin(moments_of([3.0, 1.0, -1.0, 1.0]), matches=1)

    assert found.margin.value == 1.0
    assert found.margin.error == pytest.approx(3.182446 * math.sqrt(2 / 3), abs=1e-6)
    assert found.normalised is not None
    assert found.normalised.value == pytest.approx(math.sqrt(0.5) * 347.4355855)
    assert found.superiority == pytest.approx(0.921350, abs=1e-6)


def test_margins_without_spread_tell_only_their_mean(golden: Golden) -> None:
    """Equal margins have a mean and no other estimate; without a block there is none."""
    found = estimate_margin(moments_of([0.1] * 7), matches=2)

    assert (found.margin.value, found.normalised, found.superiority) == (0.1, None, None)
    assert not found.margin.is_bounded
    with golden.raises(ValueError):
        estimate_margin(Moments(), matches=2)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e101, 1e-120])
def test_no_usable_margin(value: float) -> None:
    """A margin whose square is no float raises ValueError."""
    with pytest.raises(ValueError, match=re.escape(f"found {value}")):
        moments_of([1.0, value])
