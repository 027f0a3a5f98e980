"""Codes of outcomes, and the results they stand for in schedule order."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.standings.outcomes import (
    MOST_SEATS,
    Played,
    by_seat,
    code_of,
    full_score,
    in_schedule_order,
    orders,
    points,
)


@pytest.mark.parametrize(("seats", "count"), [(2, 3), (3, 13), (4, 75)])
def test_there_are_as_many_orders_as_there_should_be(seats: int, count: int) -> None:
    """The Fubini numbers; each code is that of its order, and 0 is none."""
    found = orders(seats)

    assert len(found) == count
    assert [code_of(ranks) for ranks in found] == list(range(1, count + 1))


def test_five_seats_would_not_fit_a_byte() -> None:
    """So they are refused before anything is stored."""
    with pytest.raises(ValueError, match="2 to 4 seats, found 5"):
        code_of((0, 1, 2, 3, 4))


@pytest.mark.parametrize("seats", range(2, MOST_SEATS + 1))
def test_only_the_order_of_ranks_counts(seats: int) -> None:
    """Dense ranks, ranks with gaps, ranks from 7: the same code."""
    for ranks in product(range(seats), repeat=seats):
        spread = tuple(7 + 3 * rank for rank in ranks)

        assert code_of(spread) == code_of(ranks)
        own = orders(seats)[code_of(ranks) - 1]
        assert [a < b for a in own for b in own] == [a < b for a in ranks for b in ranks]


@pytest.mark.parametrize("seats", range(2, MOST_SEATS + 1))
def test_every_match_gives_the_same_points(seats: int) -> None:
    """All pairs share two; the sole first has the full score."""
    for ranks, won in zip(orders(seats), points(seats)[1:], strict=True):
        assert sum(won) == seats * (seats - 1)
        assert (ranks.count(0) == 1) == (full_score(seats) in won)


@st.composite
def leagues(draw: st.DrawFn) -> list[Played]:
    seats = draw(st.integers(2, 4))
    return [
        (tuple(f"{pairing}{place}" for place in range(seats)), bytes(draw(st.lists(codes, max_size=5 * seats))))
        for codes in [st.integers(0, len(orders(seats)))]
        for pairing in range(draw(st.integers(0, 4)))
    ]


@settings(max_examples=80, deadline=None)
@given(leagues(), st.integers(0, 6), st.integers(0, 6))
def test_results_come_in_schedule_order(pairings: list[Played], start: int, length: int) -> None:
    """By block, pairing and rotation, as a plain sort would put them; a part is that part of the whole."""
    keyed = sorted(
        ((number // len(places), order, number % len(places)), places, code)
        for order, (places, codes) in enumerate(pairings)
        for number, code in enumerate(codes)
        if code
    )
    expected = [
        (block, (by_seat(places, rotation), orders(len(places))[code - 1]))
        for (block, _, rotation), places, code in keyed
    ]

    whole = list(in_schedule_order(pairings))
    part = list(in_schedule_order(pairings, from_block=start, to_block=start + length))

    assert whole == [result for _, result in expected]
    assert part == [result for block, result in expected if start <= block < start + length]
