"""Figures of the benchmarks: errors of medians, and how a difference is printed."""

import pytest
from leagues import busy_time
from measure import error_of_median
from tables import Figure, Goal

KNOWN = {1: None, 3: 1.0, 5: 2.0, 6: 2.5, 9: 3.0, 100: 10.5}
"""Of samples 0, 1, 2...: the whole range of up to 8 samples, ranks 2 and 8 of 9, ranks 40 and 61 of 100."""


@pytest.mark.parametrize(("count", "error"), KNOWN.items())
def test_the_error_of_a_median_is_that_of_order_statistics(count: int, error: float | None) -> None:
    """Half the width of the 95 % interval; a single sample has none."""
    assert error_of_median(range(count)[::-1]) == error


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        (Figure(1.25, 1, error=1.25), "< 1.2"),
        (Figure(-3.0, 0, error=4.0), "< 4"),
        (Figure(-3.0, 0, error=2.0), "-3 +- 2"),
        (Figure(3.0, 0, Goal("<=", 2), 0.5), "3 +- 0 (<= 2) MISS"),
        (Figure(3.0, 1), "3.0"),
    ],
)
def test_a_figure_within_its_error_is_printed_as_such(figure: Figure, shown: str) -> None:
    """No digit is shown that the measurement does not have."""
    assert str(figure) == shown


@pytest.mark.parametrize(
    ("lives", "workers", "time"),
    [
        ([[1.0, 2.0, 5.0]], 1, (1.0, 5.0)),
        ([[1.0, 4.0], [2.0, 3.0, 6.0]], 2, (2.0, 4.0)),  # one life a worker: until the first of them is idle
        ([[1.0, 3.0], [2.0, 5.0], [4.0, 7.0], [6.0, 9.0]], 2, (2.0, 7.0)),  # the third life has no other after it
        ([[1.0, 3.0], [2.0, 9.0], [4.0, 7.0]], 2, (2.0, 7.0)),
    ],
)
def test_a_league_is_timed_while_all_workers_are_busy(
    lives: list[list[float]], workers: int, time: tuple[float, float]
) -> None:
    """Neither the start of bots counts, nor the time in which a worker has nothing left to do."""
    assert busy_time(lives, workers) == time
