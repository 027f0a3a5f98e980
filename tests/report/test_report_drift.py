"""Means and their errors, drift in the order of the schedule, percentiles of time: known answers and false alarms."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_leagues import (
    result,
)

from arena.report.formats import wrapped
from arena.report.means import Value, mean_of
from arena.report.profile_page import score_parts
from arena.report.times import times_of


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


def test_percentiles_of_time_are_over_matches() -> None:
    """Of 200 matches with means of 1 to 200 ms: half are within 100, and 99 % within 198; the slowest is named."""
    times = [{"time_us": (2000 * (block + 1), 0), "slowest_us": (5000 + 1000 * block, 0)} for block in range(200)]
    results = [result(block, ("ann", "bob"), (1, 0), moves=(2, 1), **own) for block, own in enumerate(times)]

    found = times_of((f"m{one.key.block}", one, 0) for one in results)

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
