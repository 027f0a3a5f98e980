"""The log-likelihood ratios: the answers of the programs in the field, and what must hold for any counts."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from support.statistics_duels import moments_of

from arena.statistics.likelihood import logistic_llr, normalised_llr, sample_llr, student_llr
from arena.statistics.pentanomial import LARGEST, Counts, Moments

patiently = hypothesis_settings(max_examples=60)
Ratio = Callable[[Counts, float, float], float]

CLOSE = (39, 2226, 31451, 2412, 40)
# Counts from the worst to the best, bounds, what was published, and the exact value; from the unit tests of fastchess,
# the self-test of fishtest, and a public page of fishtest. Published values have the digits of their source.
NORMALISED = [
    ((36027, 68692, 36433), 0.0, 2.0, 0.92, 0.923293),
    ((0, 0, 4250), 0.0, 10.0, 120.56, 120.548268),
    ((365, 16618, 36229, 16974, 390), 0.0, 2.0, 2.25, 2.250368),
    ((0, 0, 0, 0, 5550), 0.0, 5.0, 111.82, 111.797555),
    (CLOSE, 0.764, 3.439, 2.162940870, 2.162940870),
    ((13, 37, 50, 25, 3), 0.0, 4.0, -0.54912, -0.549125),
]
LOGISTIC = [
    ((21184, 40708, 21404), 0.5, 2.5, -1.57, -1.571889),
    ((57030, 106593, 57433), 0.0, 2.0, -2.59, -2.593024),
    ((871, 26175, 55983, 26678, 821), 0.0, 2.0, -4.98, -4.978673),
    (CLOSE, 0.2, 0.9, 2.162542580, 2.162542580),
]
KNOWN = [(normalised_llr, *case) for case in NORMALISED] + [(logistic_llr, *case) for case in LOGISTIC]
RATIOS = pytest.mark.parametrize("ratio", [normalised_llr, logistic_llr])

amounts = st.one_of(st.integers(0, 3), st.integers(0, 1000), st.integers(0, 10**6))
counted = st.sampled_from([3, 5]).flatmap(
    lambda results: st.lists(amounts, min_size=results, max_size=results).map(lambda numbers: Counts(tuple(numbers)))
)
# of versions that people compare: every result has been seen, and no bound is far out
usual = st.lists(st.integers(2, 300), min_size=5, max_size=5)
narrow = st.tuples(st.floats(-20.0, 20.0), st.floats(1.0, 20.0)).map(lambda pair: (pair[0], pair[0] + pair[1]))
wide = st.tuples(st.floats(-200.0, 199.0), st.floats(-199.0, 200.0)).filter(lambda pair: pair[0] + 0.01 <= pair[1])


@pytest.mark.parametrize(("ratio", "numbers", "elo0", "elo1", "published", "exact"), KNOWN)
def test_the_answers_of_the_field(
    ratio: Ratio, numbers: tuple[int, ...], elo0: float, elo1: float, published: float, exact: float
) -> None:
    """Published ratios are met to the last digit (fastchess: to 2 in 10,000), and the exact one to 6 decimals."""
    found = ratio(Counts(numbers), elo0, elo1)

    assert found == pytest.approx(exact, abs=6e-7)
    assert found == pytest.approx(published, abs=5e-3, rel=2.5e-4)


@pytest.mark.parametrize(("numbers", "by_search"), [((0, 0, 304, 1, 0), -8.454), ((0, 1, 304, 1, 0), -10.191)])
def test_hardly_different_versions_are_solved_to_the_end(numbers: tuple[int, ...], by_search: float) -> None:
    """With nearly all blocks even, the higher of two peaks is found.

    Known from a search over 4,000 spreads, at each of which the likeliest distribution is unique. Ten rounds from the
    uniform distribution, as elsewhere, end at -10.38 and -11.78.
    """
    found = normalised_llr(Counts(numbers), 0.0, 50.0)

    assert found == pytest.approx(by_search, abs=0.01)


@RATIOS
@patiently
@given(counts=counted, bounds=wide)
def test_always_a_number(ratio: Ratio, counts: Counts, bounds: tuple[float, float]) -> None:
    """No counts up to a million, and no bounds that settings allow, lead to nan or infinity."""
    assert math.isfinite(ratio(counts, *bounds))


@RATIOS
@patiently
@given(numbers=usual, bounds=narrow)
def test_antisymmetric(ratio: Ratio, numbers: list[int], bounds: tuple[float, float]) -> None:
    """With NEW and OLD exchanged and the bounds mirrored, the ratio has the other sign."""
    counts = Counts(tuple(numbers))

    mirrored = ratio(Counts(counts.numbers[::-1]), -bounds[1], -bounds[0])

    assert mirrored == pytest.approx(-ratio(counts, *bounds), abs=1e-6, rel=1e-6)


@patiently
@given(numbers=usual, bounds=wide, places=st.sets(st.integers(0, 4), min_size=2, max_size=2).map(sorted))
def test_a_better_block_never_lowers_the_logistic_ratio(
    numbers: list[int], bounds: tuple[float, float], places: list[int]
) -> None:
    """Any block exchanged for a better one raises the ratio: logistic Elo knows the mean only."""
    better = list(numbers)
    better[places[0]] -= 1
    better[places[1]] += 1

    before, after = (logistic_llr(Counts(tuple(each)), *bounds) for each in (numbers, better))

    assert after > before


@patiently
@given(numbers=usual, bounds=narrow, place=st.integers(0, 1))
def test_a_lost_block_won_never_lowers_the_normalised_ratio(
    numbers: list[int], bounds: tuple[float, float], place: int
) -> None:
    """A block turned into its mirror image in NEW's favour leaves the distance from even alone, and raises the ratio.

    Any better block would not do: WD turned into WW adds to the spread, too, by which normalised Elo divides.
    """
    better = list(numbers)
    better[place] -= 1
    better[4 - place] += 1

    before, after = (normalised_llr(Counts(tuple(each)), *bounds) for each in (numbers, better))

    assert after > before


def test_the_t_form_by_hand() -> None:
    """Four values of mean 1 and variance 2 have t = 0.7071; against 0 and 0.5 the ratio is 2 ln(1.5 / 1.042893)."""
    half = 0.5 * 800.0 / math.log(10.0)

    found = student_llr(moments_of([3.0, 1.0, -1.0, 1.0]), 0.0, half, matches=1)

    assert found == pytest.approx(2.0 * math.log(1.5 / (1.0 + (math.sqrt(0.5) - 0.5) ** 2)), rel=1e-12)


@pytest.mark.parametrize(("value", "expected"), [(3.0, 1), (-3.0, -1), (0.0, -1)])
def test_the_t_form_without_spread(value: float, expected: int) -> None:
    """Equal values speak for the hypothesis on their side, and zeros for H0."""
    found = student_llr(moments_of([value] * 100), 0.0, 20.0, matches=2)

    assert math.isfinite(found)
    assert math.copysign(1.0, found) == expected


@patiently
@given(st.lists(st.floats(-LARGEST, LARGEST).filter(lambda x: x == 0.0 or abs(x) > 1e-90), max_size=50), wide)
def test_the_t_form_is_always_a_number_and_antisymmetric(values: list[float], bounds: tuple[float, float]) -> None:
    """No values lead to nan or infinity, and NEW and OLD exchanged give the other sign."""
    blocks = moments_of(values)

    found = student_llr(blocks, *bounds, matches=2)
    mirrored = student_llr(Moments(blocks.blocks, -blocks.mean, blocks.squares), -bounds[1], -bounds[0], matches=2)

    assert math.isfinite(found)
    assert mirrored == pytest.approx(-found, rel=1e-9, abs=1e-9)


@patiently
@given(bounds=narrow, means=st.lists(st.floats(-50.0, 50.0), min_size=2, max_size=20))
def test_the_t_form_never_falls(bounds: tuple[float, float], means: list[float]) -> None:
    """At one spread, a higher mean never lowers the ratio, however far it is from even."""
    ratios = [student_llr(Moments(40, mean, 40.0), *bounds, matches=2) for mean in sorted(means)]

    assert ratios == sorted(ratios)


@patiently
@given(usual, narrow)
def test_scores_one_by_one_are_as_their_counts(numbers: list[int], bounds: tuple[float, float]) -> None:
    """Where each result has occurred, a list of scores has nearly the same ratio as its counts."""
    counts = Counts(tuple(numbers))
    scores = [score for score, number in zip(counts.values, numbers, strict=True) for _ in range(number)]

    assert sample_llr(scores, *bounds) == pytest.approx(logistic_llr(counts, *bounds), abs=2e-3, rel=2e-3)


@patiently
@given(st.lists(st.floats(-1.0, 2.0), max_size=40), wide)
def test_any_scores_have_a_ratio_and_the_other_side_the_opposite(
    scores: list[float], bounds: tuple[float, float]
) -> None:
    """Scores may lie beyond 0 and 1; seen by OLD, with mirrored bounds, the ratio is the negative."""
    found = sample_llr(scores, *bounds)

    assert math.isfinite(found)
    mirrored = sample_llr([1.0 - score for score in scores], -bounds[1], -bounds[0])
    assert mirrored == pytest.approx(-found, rel=1e-4, abs=1e-4)
