"""Drift: known answers of the tests by tenths and for a trend, and false alarms."""

import math
import random
from collections.abc import Sequence
from itertools import chain, product

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.statistics.drift import Drift, drift_of


def tenths(wins: Sequence[int], size: int = 10) -> list[float]:
    """Return blocks of one pairing with that number of wins in each tenth, the won ones first."""
    return [float(place < count) for count in wins for place in range(size)]


def found(scores: Sequence[float], pairings: Sequence[int] = ()) -> Drift:
    drift = drift_of(scores, pairings or [0] * len(scores))
    assert drift is not None
    return drift


def pearson(wins: Sequence[int], size: int = 10) -> float:
    """Pearson's X^2 of the homogeneity of a table of ten rows, won and lost."""
    share = sum(wins) / (len(wins) * size)
    return sum((count - share * size) ** 2 for count in wins) / (size * share * (1 - share))


@pytest.mark.parametrize("wins", [(9, 5, 5, 5, 5, 5, 5, 5, 5, 1), (0, 10) * 5, (3, 9, 4, 6, 5, 5, 7, 2, 8, 5)])
def test_tenths_of_one_pairing_are_pearsons_test_on_nine_degrees(wins: Sequence[int]) -> None:
    """X^2 is Pearson's times (N - 1) / N, as in the test of Mantel and Haenszel; its tail agrees to thirty digits."""
    drift = found(tenths(wins))

    with mpmath.workdps(30):
        expected = mpmath.gammainc(mpmath.mpf(9) / 2, pearson(wins) * 0.99 / 2, regularized=True)
    assert drift.degrees == 9
    assert drift.p_tenths == pytest.approx(float(expected), rel=1e-9)


def test_a_trend_is_the_correlation_of_mantel_and_haenszel() -> None:
    """In one pairing z^2 is (N - 1) r^2, and the slope is that of least squares."""
    scores = tenths((2, 3, 4, 4, 5, 5, 6, 6, 7, 8))
    times = [place / 99 for place in range(100)]
    mean, mean_time = sum(scores) / 100, sum(times) / 100
    both = sum((score - mean) * (time - mean_time) for score, time in zip(scores, times, strict=True))
    squares = sum((score - mean) ** 2 for score in scores), sum((time - mean_time) ** 2 for time in times)

    drift = found(scores)

    z = math.sqrt(99 * both**2 / (squares[0] * squares[1]))
    assert drift.change.value == pytest.approx(both / squares[1])
    assert drift.p_trend == pytest.approx(math.erfc(z / math.sqrt(2)))
    assert drift.change.error == pytest.approx(1.959963984540054 * drift.change.value / z)


def test_whom_a_player_meets_when_is_no_drift() -> None:
    """A score that falls from 1 to 1/2 because the opponents become stronger is no drift."""
    rng = random.Random(5)
    scores = [*[1.0] * 60, *[rng.choice([0.0, 1.0]) for _ in range(60)]]

    drift = found(scores, [0] * 60 + [1] * 60)

    assert drift.p_trend > 0.05
    assert drift.degrees == 4, "only the second pairing varies, in five tenths"


def test_pairings_within_a_tenth_tell_nothing_of_tenths() -> None:
    """If each opponent is met in one tenth only, there is no test by tenths."""
    drift = found([0.0, 1.0, 0.5, 1.0, 0.0] * 10, [number for number in range(10) for _ in range(5)])

    assert (drift.p_tenths, drift.degrees) == (None, 0)


def test_two_blocks_of_each_pairing_have_five_degrees() -> None:
    """With two blocks of each pairing, the deviations of one half of the tenths are the negatives of the other's."""
    rng = random.Random(6)
    assert found([rng.random() for _ in range(200)], [*range(100)] * 2).degrees == 5


@pytest.mark.parametrize(("blocks", "unusual"), [(49, 20), (50, 9), (500, 9), (50, 0)])
def test_too_little_is_not_tested(blocks: int, unusual: int) -> None:
    """There is no test of too few blocks, or of too few that differ from the usual result."""
    assert drift_of([float(place < unusual) for place in range(blocks)], [0] * blocks) is None


def test_each_pairing_has_its_usual_result() -> None:
    """If all blocks of one pairing are won and all of another are lost, no block is unusual."""
    assert drift_of([1.0, 0.0] * 50, [0, 1] * 50) is None
    assert drift_of([], []) is None


FIELDS = {
    "one opponent, few blocks": [0] * 50,
    "one opponent": [0] * 400,
    "nine opponents in cycles": [*range(9)] * 7,
    "a hundred opponents, twice": [*range(100)] * 2,
    "three opponents one after the other": [number for number in range(3) for _ in range(40)],
    "short ends in tenths": [0] * 207 + [1] * 198 + [2] * 201 + [3] * 200 + [4] * 194,
}


def alarms(pairings: Sequence[int], chance: float, leagues: int) -> tuple[int, int, int]:
    """Return how many leagues without drift were tested, and how many have p < 1 % by trend and by tenths."""
    rng = random.Random(f"{len(pairings)} {chance}")
    drifts = [drift_of([float(rng.random() < chance) for _ in pairings], pairings) for _ in range(leagues)]
    known = [drift for drift in drifts if drift is not None]
    low = sum(drift.p_trend < 0.01 for drift in known)
    return len(known), low, sum(drift.p_tenths is not None and drift.p_tenths < 0.01 for drift in known)


@pytest.mark.slow
@pytest.mark.parametrize(("field", "chance"), [*product(FIELDS, [0.5, 0.2]), ("short ends in tenths", 0.013)])
def test_alarms_are_false_in_no_more_than_one_of_a_hundred(field: str, chance: float) -> None:
    """At most 1 % of leagues without drift have p < 1 %, plus three errors of the simulation, also with few blocks."""
    tested, trends, by_tenths = alarms(FIELDS[field], chance, 4000)

    assert tested > 2000
    most = 0.01 * tested + 3 * math.sqrt(0.01 * tested)
    assert trends <= most
    assert by_tenths <= 1.3 * most


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0])), min_size=50, max_size=90))
def test_drift_is_always_a_number(blocks: list[tuple[int, float]]) -> None:
    """Any scores give finite numbers; reversed, the trend changes its sign, and X^2 is the same for equal tenths."""
    pairings, scores = [pairing for pairing, _ in blocks], [score for _, score in blocks]

    drift, opposite = drift_of(scores, pairings), drift_of(scores[::-1], pairings[::-1])

    assert (drift is None) == (opposite is None)
    if drift is not None and opposite is not None:
        assert 0.0 <= drift.p_trend <= 1.0
        assert all(math.isfinite(value) for value in (drift.change.low, drift.change.high))
        assert drift.p_tenths is None or 0.0 <= drift.p_tenths <= 1.0
        assert opposite.change.value == pytest.approx(-drift.change.value)
        if len(blocks) % 10 == 0 and drift.p_tenths is not None:
            assert opposite.p_tenths == pytest.approx(drift.p_tenths)


def test_blocks_of_other_sizes_are_tenths_as_equal_as_can_be() -> None:
    """95 blocks are five tenths of ten and five of nine; X^2 is Pearson's for unequal rows."""
    rng = random.Random(8)
    scores = [float(rng.random() < 0.5) for _ in range(95)]
    parts = [[score for place, score in enumerate(scores) if place * 10 // 95 == tenth] for tenth in range(10)]
    share = sum(scores) / 95
    x2 = sum((sum(part) - share * len(part)) ** 2 / (len(part) * share * (1 - share)) for part in parts)

    drift = found(scores)

    assert sorted(map(len, parts)) == [9] * 5 + [10] * 5
    assert [*chain(*parts)] == scores
    expected = mpmath.gammainc(mpmath.mpf(9) / 2, x2 * 94 / 95 / 2, regularized=True)
    assert drift.p_tenths == pytest.approx(float(expected), rel=1e-9)
