"""The cost of a decision of each player: sums over matches, and an interval from blocks."""

from collections.abc import Sequence
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from support.made_matches import match_result

from arena.match.judgement import JudgedDecision, Judgement
from arena.match.results import MatchKey
from arena.standings.mistakes import MistakeSums, PlayerMistakes
from arena.statistics.interval import Interval

PLAYERS = ("ann", "bob")


def judgement(*costs: Sequence[float | None]) -> Judgement:
    """A judgement of decisions with these costs, by seat; None is one that is not judged."""
    decisions = [
        JudgedDecision(1, seat, "a", reason="" if cost is not None else "late", best_value=cost or 0.0)
        for seat, of_seat in enumerate(costs)
        for cost in of_seat
    ]
    return Judgement("judge", "", "", tuple(decisions), ())


def mistakes_of(*blocks: Sequence[Judgement]) -> dict[str, PlayerMistakes]:
    """The mistakes of both players in these blocks of one pairing."""
    sums = MistakeSums()
    for number, block in enumerate(blocks):
        for rotation, judged in enumerate(block):
            seated = PLAYERS if rotation == 0 else PLAYERS[::-1]
            sums.add(match_result(MatchKey("a" * 12, number, rotation), seated), judged)
    rows: Any = [SimpleNamespace(name=name, rating=Interval(25.0, 24.0, 26.0)) for name in PLAYERS]
    return {player.name: player for player in sums.players(rows)}


def test_decisions_are_added_up_by_player_in_all_seats() -> None:
    """Seats are exchanged in the second match of a block; what is not judged is counted apart."""
    players = mistakes_of([judgement([0.5, 0.0], [0.25, None]), judgement([0.0, 0.0], [1.0])])

    ann, bob = players["ann"], players["bob"]
    assert (ann.matches, ann.blocks, ann.decisions, ann.mistakes, ann.unjudged) == (2, 1, 3, 2, 0)
    assert (bob.matches, bob.blocks, bob.decisions, bob.mistakes, bob.unjudged) == (2, 1, 3, 1, 1)
    assert ann.cost is not None
    assert ann.cost.value == pytest.approx(0.5)
    assert not ann.cost.is_bounded, "one block does not show a spread"
    assert ann.rating == Interval(25.0, 24.0, 26.0)


def test_the_costliest_decisions_are_kept_in_an_order_that_no_worker_changes() -> None:
    """The five largest mistakes of all matches; of equal ones that of the first match."""
    costs = (0.5, 0.25, 0.75, 0.5, 0.0, 0.125, 1.0)
    blocks = [[judgement([cost], []), judgement([], [cost])] for cost in costs]
    costliest = mistakes_of(*blocks)["ann"].costliest

    assert [(one.decision.cost, one.match[-3:]) for one in costliest] == [
        (1.0, "6-0"),
        (1.0, "6-1"),
        (0.75, "2-0"),
        (0.75, "2-1"),
        (0.5, "0-0"),
    ]
    assert mistakes_of(*blocks)["bob"].costliest == ()


def test_the_interval_is_that_of_a_ratio_over_blocks() -> None:
    """By hand: residuals 1 - 0.8 and 1 - 1.2, error sqrt(2 * 0.08) / 10, Student's t with one degree 12.706."""
    players = mistakes_of([judgement([1.0, 0, 0, 0], [])], [judgement([1.0, 0, 0, 0, 0, 0], [])])

    cost = players["ann"].cost
    assert cost is not None
    assert (cost.value, cost.low, cost.high) == pytest.approx((0.2, 0.0, 0.2 + 12.7062 * 0.04), abs=1e-4)
    assert players["bob"].cost is None


def test_the_interval_covers_the_mean_of_long_and_short_blocks() -> None:
    """Costs that depend on each other within a block, and on its length, in 400 leagues: 95 % are covered, -3 %."""
    rng, covered, leagues = Random(7), 0, 400
    # a block has 5 or 15 decisions with the same cost, uniform to 0.2 or 0.1: (5 * 0.1 + 15 * 0.05) / 20
    for _ in range(leagues):
        sizes = [rng.choice((5, 15)) for _ in range(40)]
        blocks = [[judgement([rng.uniform(0.0, 0.2 if size == 5 else 0.1)] * size, [])] for size in sizes]
        cost = mistakes_of(*blocks)["ann"].cost
        assert cost is not None
        covered += cost.low <= 0.0625 <= cost.high
    assert covered >= 0.92 * leagues
