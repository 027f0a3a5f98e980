"""Looks that spend an error: published bounds, the exact distribution of the walk, and that the promise holds."""

import math
import time
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.golden import Golden
from support.statistics_equals import EQUALS, SETTINGS, UNLIKE, Blocks, Setting, called_different

from arena.statistics.newton import Floats
from arena.statistics.spending import GroupSequentialTest, InterimData, Walk, allowed_error, sum_of_signs


def normal(variance: float, cell: float) -> Floats:
    """Return a normal step in cells of that width, without tails of less than 1e-10."""
    sd = math.sqrt(variance)
    edges = (np.arange(math.ceil(6.5 * sd / cell) + 1) + 0.5) * cell / sd
    tails = np.array([0.5 * math.erfc(edge / math.sqrt(2)) for edge in edges])
    half = tails[:-1] - tails[1:]
    return np.concatenate((half[::-1], [1 - 2 * tails[0]], half))


def bounds(parts: Sequence[float], alpha: float) -> Iterator[float]:
    """Yield the bounds at looks at these parts of the most blocks, in standard deviations; exact to 1/1400."""
    walk, cell = Walk(), math.sqrt(parts[0]) / 700
    for before, part in zip((0.0, *parts), parts, strict=False):
        yield (walk.bound(normal(part - before, cell), allowed_error(part, alpha)) - 1) * cell / math.sqrt(part)


@pytest.mark.parametrize(
    ("parts", "alpha", "published"),
    [
        ((0.2, 0.4, 0.6, 0.8, 1.0), 0.05, (4.877, 3.357, 2.680, 2.290, 2.031)),
        ((0.5, 1.0), 0.05, (2.963, 1.969)),
        ((0.3, 0.6, 1.0), 0.05, (3.929, 2.670, 1.981)),
        ((0.25, 0.5, 0.75, 1.0), 0.1, (3.750, 2.540, 2.016, 1.720)),
    ],
)
def test_published_bounds(parts: Sequence[float], alpha: float, published: Sequence[float]) -> None:
    """The bounds are those that gsDesign, rpact and SeqBounds print for this spending function."""
    assert list(bounds(parts, alpha)) == pytest.approx(published, abs=1e-3)


def test_all_is_spent_at_the_end_and_next_to_nothing_before() -> None:
    """The spending function has the values that SeqBounds prints (one-sided 5 %)."""
    assert allowed_error(1.0, 0.05) == pytest.approx(0.05, rel=1e-12)
    assert [allowed_error(part, 0.1) / 2 for part in (0.25, 0.5, 0.75)] == pytest.approx(
        [8.85754e-5, 0.0055746, 0.0236251], rel=1e-5
    )
    assert allowed_error(0.001, 0.05) == pytest.approx(1e-6)


@pytest.mark.parametrize("part", [0.0, -0.5, 1.01, math.nan])
def test_no_look_lies_outside_the_course(part: float, golden: Golden) -> None:
    """A part outside 0 to 1 raises ValueError, since more than alpha would be spent."""
    with golden.raises(ValueError):
        allowed_error(part, 0.05)


@given(sizes=st.lists(st.integers(0, 3), min_size=1, max_size=3))
def test_the_distribution_of_a_lead_is_that_of_all_signs(sizes: list[int]) -> None:
    """The distribution agrees with a count of all combinations of signs."""
    steps = [size for size, count in enumerate(sizes, start=1) for _ in range(count)]
    expected = np.zeros(2 * sum(steps) + 1)
    for signs in product((-1, 1), repeat=len(steps)):
        expected[sum(steps) + sum(sign * step for sign, step in zip(signs, steps, strict=True))] += 0.5 ** len(steps)

    assert sum_of_signs(sizes) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("count", [1, 2, 99, 400, 100_000])
def test_the_tails_of_many_signs_are_exact(count: int) -> None:
    """Binomial tails agree with whole numbers where these are small enough; the sum is 1 for any number of signs."""
    found = sum_of_signs((count,))
    middle = len(found) // 2

    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    if count <= 400:
        ways = [math.comb(count, heads) / 2**count for heads in range(count + 1)]
        for heads, chance in enumerate(ways):
            if abs(2 * heads - count) <= middle:
                assert found[middle + 2 * heads - count] == pytest.approx(chance, rel=1e-9)


@settings(max_examples=30)
@given(
    sizes=st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=10),
    looks=st.sets(st.integers(1, 10)),
    alpha=st.sampled_from([0.01, 0.05, 0.2, 0.5]),
)
def test_all_courses_together_keep_the_promise(sizes: list[int], looks: set[int], alpha: float) -> None:
    """By full enumeration, each look spends at most the allowed error, and the next smaller bound would spend more."""
    ends = sorted({min(each, len(sizes)) for each in (*looks, len(sizes))})
    called: dict[int, int] = dict.fromkeys(ends, 0)
    for signs in product((-1, 1), repeat=len(sizes)):
        course = [sign * size for sign, size in zip(signs, sizes, strict=True)]
        test, start = GroupSequentialTest(longest=len(sizes), alpha=alpha), 0
        for end in ends:
            new = [abs(lead) for lead in course[start:end]]
            if test.analyse(InterimData(end, sum(course[:end]), (new.count(1), new.count(2)))).is_decided:
                called[end] += 1
                break
            start = end
    share = 0.0
    for end in ends:
        share += called[end] / 2 ** len(sizes)
        assert share <= allowed_error(end / len(sizes), alpha) + 1e-12


def test_blocks_that_are_all_equal_decide_nothing() -> None:
    """Without any difference the bound is out of reach, and the first difference decides nothing."""
    test = GroupSequentialTest(longest=20, alpha=0.05)

    assert not test.analyse(InterimData(10, 0, (0, 0))).is_decided
    assert not test.analyse(InterimData(12, 4, (0, 2))).is_decided
    assert not test.analyse(InterimData(20, 6, (0, 1))).is_decided


def test_six_blocks_won_of_six_decide_at_the_end_only() -> None:
    """Six wins of six decide at the end (2 / 2^6 = 3.1 %), five of five do not (6.2 %)."""
    for won, is_decided in ((6, True), (5, False)):
        test = GroupSequentialTest(longest=10, alpha=0.05)
        assert test.analyse(InterimData(10, 2 * won, (0, won))).is_decided is is_decided


def test_who_wins_every_block_is_found_after_21() -> None:
    """A player who wins every block is better after 21, however many blocks are allowed."""
    for longest in (400, 10_000):
        test = GroupSequentialTest(longest=longest, alpha=0.05)
        made = [test.analyse(InterimData(blocks, 2 * blocks, (0, 1))).is_decided for blocks in range(1, 22)]
        assert made == [False] * 20 + [True]


def test_hundreds_of_pairs_take_no_time() -> None:
    """A hundred pairs of 40 looks take little CPU time: bounds are computed, not sampled."""
    start_s = time.process_time()
    for _ in range(100):
        test = GroupSequentialTest(longest=400, alpha=0.05)
        for blocks in range(10, 401, 10):
            test.analyse(InterimData(blocks, 0, (4, 3)))
    assert time.process_time() - start_s < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("name", [*EQUALS, *UNLIKE])
def test_equals_are_seldom_called_different(name: str, setting: Setting) -> None:
    """At most alpha of pairs of equals are called different, plus two standard errors, over all settings.

    Players who are equal only on average, with wins and losses of other sizes, may be called different twice as often.
    Of so many settings some exceed two standard errors by chance: those are simulated again, with eight times the
    pairs.
    """
    blocks = EQUALS.get(name) or UNLIKE[name]
    promised = (1.0 - setting.likelihood) * (1.0 if name in EQUALS else 2.0)

    def is_kept(pairs: int) -> bool:
        share = called_different(blocks, setting, pairs, Random(f"{name}{setting}{pairs}"))
        return share <= promised + 2.0 * math.sqrt(promised * (1.0 - promised) / pairs)

    assert is_kept(1000) or is_kept(8000)
    assert mean_of(blocks) == 0


def mean_of(blocks: Blocks) -> int:
    """Return the sum of the leads, which is 0 for players who are equal on average."""
    return sum(lead * times for lead, times in blocks.items())


def test_a_difference_is_found() -> None:
    """A player who wins three of four decided blocks is called better in most pairs of a hundred blocks."""
    blocks = {-2: 1, 0: 2, 2: 3}

    assert called_different(blocks, Setting(10, 10, 100), 50, Random(1)) > 0.9
