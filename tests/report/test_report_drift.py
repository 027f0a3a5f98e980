"""Means and their errors, drift in the order of the schedule, percentiles of time: known answers and false alarms."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_leagues import (
    result,
)

from arena.report.drift import drift_of
from arena.report.formats import wrapped
from arena.report.means import Value, mean_of
from arena.report.profile_page import drift_sentence, score_parts
from arena.report.times import times_of


def steady(blocks: int, seed: int, *, change: float = 0.0) -> list[Value]:
    """Scores of blocks of two pairings in turn; the chance of a win moves by `change` from first to last."""
    rng = random.Random(seed)
    chances = [0.5 + change * (block / blocks - 0.5) + 0.2 * (block % 2 - 0.5) for block in range(blocks)]
    return [Value(block, block % 2, float(rng.random() < chances[block])) for block in range(blocks) for _ in range(2)]


def test_the_error_of_a_mean_is_that_of_blocks_within_pairings() -> None:
    """By hand: sums of blocks 2, 0 against one opponent and 2, 2 against another; of 8 matches 6 points."""
    blocks = [(0, 0, 2.0), (1, 0, 0.0), (2, 1, 2.0), (3, 1, 2.0)]
    values = [Value(block, pairing, total / 2) for block, pairing, total in blocks for _ in range(2)]

    mean = mean_of(values)

    assert (mean.value, mean.blocks) == (0.75, 4)
    assert mean.error == pytest.approx(math.sqrt(2 / 1 * (1**2 + 1**2)) / 8)


def test_equal_blocks_have_a_bound_in_the_place_of_an_error() -> None:
    """The rule of three: ten blocks won are a score above 1 - (1 - 0.05^(1/10)) with 95 %."""
    all_won = mean_of(Value(block, 0, 1.0) for block in range(10))
    all_lost = mean_of(Value(block, 0, 0.0) for block in range(10))

    assert score_parts(all_won) == ("100.0 ", "-", "25.9")
    assert score_parts(all_lost) == ("0.0 ", "+", "25.9")
    assert score_parts(mean_of([Value(0, 0, 1.0)])) == ("100.0 ", "±", "-")
    assert score_parts(mean_of([])) == ("-", "-", "-")


def test_drift_is_found_and_measured() -> None:
    """A chance that grows by 60 points is seen, and its size is within errors."""
    found = drift_of(steady(400, 1, change=0.6))

    assert found is not None
    assert found.p_trend < 1e-4
    assert abs(found.change - 0.6) < 3 * found.change_error


def test_drift_is_not_seen_where_there_is_none() -> None:
    """Both chances are uniform: about one in twenty leagues is below 5 %, whoever is met when."""
    found = [drift_of(steady(200, seed)) for seed in range(200)]

    trends = [one.p_trend for one in found if one is not None]
    tenths = [one.p_tenths for one in found if one is not None]
    assert len(trends) == 200
    assert 2 <= sum(p < 0.05 for p in trends) <= 22
    assert 2 <= sum(p < 0.05 for p in tenths) <= 22


def test_a_spell_without_a_trend_is_seen_by_tenths() -> None:
    """Lost all in the middle."""
    values = [value._replace(value=0.0) if 80 <= value.block < 120 else value for value in steady(200, 3)]

    found = drift_of(values)

    assert found is not None
    assert found.p_trend > 0.01
    assert found.p_tenths < 1e-4
    assert "no trend, but tenths differ by more than chance (p < 0.001)" in drift_sentence(found)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0])), min_size=50, max_size=90))
def test_drift_is_always_a_number(blocks: list[tuple[int, float]]) -> None:
    """However blocks and scores fall; seen backwards it is the opposite."""
    values = [Value(number, pairing, score) for number, (pairing, score) in enumerate(blocks)]
    backwards = [value._replace(block=-value.block) for value in values]

    found, opposite = drift_of(values), drift_of(backwards)

    assert (found is None) == (opposite is None)
    if found is not None and opposite is not None:
        assert 0.0 <= found.p_trend <= 1.0
        assert 0.0 <= found.p_tenths <= 1.0
        assert opposite.change == pytest.approx(-found.change)


def test_percentiles_of_time_are_over_matches() -> None:
    """Of 200 matches with means of 1 to 200 ms: half are within 100, and 99 % within 198; the slowest is named."""
    results = [
        result(
            block, ("ann", "bob"), (1, 0), moves=(2, 1), time_ms=(2.0 * (block + 1), 0.0), slowest_ms=(5.0 + block, 0)
        )
        for block in range(200)
    ]

    found = times_of((f"m{one.block}", one, 0) for one in results)

    assert (found.matches, found.decisions, found.mean_ms) == (200, 400, 100.5)
    assert (found.means_ms.p50, found.means_ms.p99) == (100.0, 198.0)
    assert (found.slowest_decisions_ms.p50, found.slowest_decisions_ms.p99) == (104.0, 202.0)
    assert (found.slowest_ms, found.slowest_match) == (204.0, "m199")


@given(st.text(st.sampled_from("ab -"), max_size=60), st.integers(1, 30))
def test_wrapped_sentences_keep_their_words(text: str, width: int) -> None:
    """Lines are within the width unless a word is longer."""
    lines = wrapped(text, width).splitlines()

    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= width or len(line.split()) <= 1 for line in lines)
