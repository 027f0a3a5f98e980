"""`until: decided`: after the cycles only undecided neighbours play on, up to the cap."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from league_events import Event, Winner, better, pairing_ranks

from arena.league.schedules.cycles import cycles, until_decided
from arena.league.schedules.evidence import Evidence
from arena.league.schedules.settings import Decided
from arena.league.schedules.tables import cycle, gauntlet
from arena.match.results import finishes
from arena.standings.ratings import RatingSettings
from arena.statistics.blocks import Played, blocks, design_effect
from arena.statistics.pairs import pair_table
from arena.statistics.probit import fit

RATING = RatingSettings()
NAMES = ("ann", "bob", "cid", "dot")


def event(rule: Decided, winner: Winner, count: int = 4) -> Event:
    return Event(until_decided(NAMES, cycle(NAMES, 2), count, rule, RATING), winner)


def level(*pairs: set[str]) -> Winner:
    """The earlier name wins, but for these pairs, who win block by block in turn."""

    def winner(one: str, other: str, block: int) -> str | None:
        if {one, other} in pairs:
            return (one, other)[block % 2]
        return better(one, other, block)

    return winner


def test_plain_cycles_await_nothing() -> None:
    """All blocks at once, and the end."""
    whole = Event(cycles(cycle(NAMES, 2), 7))

    assert [(plan.blocks, plan.is_awaited, len(plan.tables)) for plan in whole.plans] == [(7, False, 6)]


def test_a_clear_order_ends_with_the_cycles() -> None:
    """Who always wins is decided after ten blocks; nobody plays more."""
    found = event(Decided(likelihood=0.9, step_blocks=5, cap_blocks=100), better, count=10)

    assert len(found.plans) == 1
    assert found.news == ("decided: of neighbours who meet, each is better with a likelihood of 90 %",)


def test_only_the_undecided_pair_plays_on() -> None:
    """Of four players two are level: they alone play, step by step, to the cap, and it is said."""
    found = event(Decided(likelihood=0.95, step_blocks=10, cap_blocks=35), level({"bob", "cid"}), count=10)

    assert [plan.tables for plan in found.plans[1:]] == [(("bob", "cid"),)] * 2
    assert found.blocks("bob", "cid") == 30
    assert found.blocks("ann", "bob") == 10
    assert found.news == ("undecided at the cap of 35 blocks: bob and cid",)


def test_a_pair_that_gets_decided_stops() -> None:
    """Level for ten blocks, then one always wins: it ends before the cap."""

    def winner(one: str, other: str, block: int) -> str | None:
        return level({"bob", "cid"})(one, other, block) if block < 10 else better(one, other, block)

    found = event(Decided(likelihood=0.95, step_blocks=2, cap_blocks=1000), winner, count=10)

    assert 10 < found.blocks("bob", "cid") < 100
    assert found.news[0].startswith("decided")


def test_a_gauntlet_plays_on_with_its_challengers_only() -> None:
    """Neighbours who do not meet in it are left as they are."""
    tables = gauntlet(["ann"], ["bob", "cid"], 2)
    rule = Decided(likelihood=0.95, step_blocks=2, cap_blocks=8)

    found = Event(until_decided(["ann", "bob", "cid"], tables, 2, rule, RATING), level({"ann", "bob"}, {"ann", "cid"}))

    assert found.blocks("bob", "cid") == 0
    assert found.blocks("ann", "bob") + found.blocks("ann", "cid") > 4


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), step=st.integers(1, 4), cap=st.integers(3, 12))
def test_no_decided_pair_plays_again_and_no_pair_beyond_the_cap(seed: int, step: int, cap: int) -> None:
    """Whatever the results: each extra pair was an undecided pair of neighbours, and it all ends."""
    rule = Decided(likelihood=0.95, step_blocks=step, cap_blocks=cap)

    found = event(rule, lambda *key: Random(f"{seed}{key}").choice([key[0], key[1], None]), count=3)

    for number, plan in enumerate(found.plans[1:], start=1):
        evidence = Evidence(NAMES, RATING)
        for answer in found.answers[:number]:
            evidence.add(answer)
        fitted = evidence.fit()
        order = fitted.ranking()
        for pair in plan.tables:
            worse, one = sorted(map(order.index, pair), reverse=True)
            likelihood = fitted.likelihood_better(order[one], order[worse])
            assert worse == one + 1
            assert likelihood is not None
            assert likelihood < 0.95
    assert max(found.blocks(one, other) for one in NAMES for other in NAMES if one < other) <= cap


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), draws=st.booleans())
def test_growing_evidence_is_the_fit_from_scratch(seed: int, draws: bool) -> None:
    """Round by round, the same skills, likelihoods and seats as `arena.statistics` finds in all results at once."""
    names, rule = NAMES[:3], Decided(likelihood=0.99, step_blocks=2, cap_blocks=9)
    results = [None] if draws else []
    found = Event(
        until_decided(names, cycle(names, 2), 3, rule, RATING),
        lambda *key: Random(f"{seed}{key}").choice([key[0], key[1], *results]),
    )
    evidence = Evidence(names, RATING)
    for answer in found.answers:
        evidence.add(answer)

    grown = evidence.fit()

    pairs = sorted({one.players for one in found.ranks})
    played = [
        Played(block * len(pairs) + pairs.index(one.players), pairs.index(one.players), *finish)
        for one in found.ranks
        for block, course in zip(one.blocks, one.courses, strict=True)
        for finish in finishes(one.players, course)
    ]
    effect = design_effect(blocks(played))
    scratch = fit(
        pair_table(names, ((one.players, one.ranks) for one in played)),
        inflation=effect.players if effect else 1.0,
        seat_inflation=effect.seats if effect else 1.0,
    )
    assert grown.means == pytest.approx(scratch.means, abs=1e-9)
    assert np.allclose(grown.covariance, scratch.covariance, atol=1e-9)
    assert [each.error for each in grown.seats] == pytest.approx([each.error for each in scratch.seats], abs=1e-9)


def test_a_question_asked_before_is_answered_from_memory() -> None:
    """The same results in another object: no other fit; more results: another answer."""
    one, other = Evidence(NAMES[:2], RATING), Evidence(NAMES[:2], RATING)
    one.add([pairing_ranks(NAMES[:2], ["ann"])])
    first = one.undecided(0.999)
    other.add([pairing_ranks(NAMES[:2], ["ann"])])
    other.fit = lambda: pytest.fail("it was asked before")  # type: ignore[method-assign]

    assert other.undecided(0.999) == first == (("ann", "bob"),)
    one.add([pairing_ranks(NAMES[:2], ["ann"] * 199, first=1)])
    assert one.undecided(0.999) == ()


def called_better(looks: int, leagues: int = 150) -> float:
    """The share of simulated leagues of two equals in which one is called better, within so many looks."""
    rule = Decided(likelihood=0.95, step_blocks=20, cap_blocks=20 * looks)
    pair = ("ann", "bob")
    decided = 0
    for seed in range(leagues):
        chance = Random(seed)
        found = Event(until_decided(pair, cycle(pair, 2), 20, rule, RATING), lambda *_: chance.choice(pair))  # noqa: B023
        decided += found.news[0].startswith("decided")
    return decided / leagues


def test_looking_often_finds_differences_by_luck() -> None:
    """95 % is no error rate: one look calls one of two equals better in a tenth of leagues, ten looks in a third."""
    once, often = called_better(looks=1), called_better(looks=10)

    assert 0.05 < once < 0.2
    assert 0.2 < often < 0.5
