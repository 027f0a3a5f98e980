"""`until: decided`: after the cycles only undecided neighbours play on, up to the cap."""

import re
from itertools import chain
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from support.golden import Golden
from support.league_events import Event, Winner, better

from arena.league.schedules.decided import until_decided
from arena.league.schedules.settings import StoppingRule
from arena.league.schedules.tables import cycle, cycles, gauntlet
from arena.standings.ratings import RatingSettings
from arena.standings.skills import GrowingRanking, fit_skills
from arena.statistics.comparisons import table_of

RATING = RatingSettings()
NAMES = ("ann", "bob", "cid", "dot")


def event(rule: StoppingRule, winner: Winner, count: int = 4) -> Event:
    return Event(until_decided(NAMES, cycle(NAMES, 2), count, rule, RATING), winner)


def level(*pairs: set[str]) -> Winner:
    """Let the earlier name win, but for these pairs, who win block by block in turn."""

    def winner(one: str, other: str, block: int) -> str | None:
        if {one, other} in pairs:
            return (one, other)[block % 2]
        return better(one, other, block)

    return winner


def test_plain_cycles_await_nothing() -> None:
    """The schedule yields all blocks at once, and ends."""
    whole = Event(cycles(cycle(NAMES, 2), 7))

    assert [(plan.blocks, plan.is_awaited, len(plan.tables)) for plan in whole.plans] == [(7, False, 6)]


def test_a_clear_order_ends_with_the_cycles() -> None:
    """Each player wins ten of ten blocks against the next: one analysis may spend the whole error."""
    found = event(StoppingRule(likelihood=0.95, step_blocks=5, cap_blocks=14), better, count=10)

    assert len(found.plans) == 1
    assert found.news == tuple(
        f"{one} is better than {other}: decided at block 10 of 10, 20 points ahead (bound: 16)"
        for one, other in (("ann", "bob"), ("bob", "cid"), ("cid", "dot"))
    )


def test_early_looks_ask_for_more() -> None:
    """At a tenth of the cap ten blocks won of ten do not decide; 21 do."""
    found = event(StoppingRule(likelihood=0.95, step_blocks=1, cap_blocks=100), better, count=10)

    assert {found.blocks(one, other) for one, other in (("ann", "bob"), ("bob", "cid"), ("cid", "dot"))} == {21}
    assert found.blocks("ann", "cid") == 10


def test_only_the_undecided_pair_plays_on(golden: Golden) -> None:
    """Two of four players are level: only they play on, step by step, to the cap, and the news say so."""
    found = event(StoppingRule(likelihood=0.95, step_blocks=10, cap_blocks=55), level({"bob", "cid"}), count=20)

    assert [plan.tables for plan in found.plans[1:]] == [(("bob", "cid"),)] * 3
    assert found.blocks("bob", "cid") == 50
    assert found.blocks("ann", "bob") == 20
    assert found.plans[1].news == (
        "ann is better than bob: decided at block 20 of 50, 40 points ahead (bound: 32)",
        "cid is better than dot: decided at block 20 of 50, 40 points ahead (bound: 32)",
    )
    golden(found.news[-1])


def test_a_pair_that_gets_decided_stops() -> None:
    """A pair is level for ten blocks, then one always wins: it ends before the cap, and the winner is named first."""

    def winner(one: str, other: str, block: int) -> str | None:
        if {one, other} == {"bob", "cid"} and block >= 10:
            return "cid"
        return level({"bob", "cid"})(one, other, block)

    found = event(StoppingRule(likelihood=0.95, step_blocks=2, cap_blocks=100), winner, count=10)

    assert 10 < found.blocks("bob", "cid") < 60
    assert [each for each in found.told if each.startswith("cid is better than bob: decided at block")]


def test_only_their_own_blocks_decide_about_two(golden: Golden) -> None:
    """Cid gains more than bob from dot, so that the ranking is nearly sure; between themselves the two are level."""

    def winner(one: str, other: str, block: int) -> str | None:
        if {one, other} == {"bob", "dot"}:
            return (one, other)[block % 5 < 2]
        return level({"bob", "cid"})(one, other, block)

    found = event(StoppingRule(likelihood=0.95, step_blocks=10, cap_blocks=40), winner, count=20)
    skills = fit_skills(table_of(NAMES, found.ranks), RATING)

    assert skills is not None
    assert (skills.likelihood_better("cid", "bob") or 0.0) > 0.9
    assert found.blocks("bob", "cid") == 40
    golden(found.news)


def test_a_gauntlet_plays_on_with_its_challengers_only() -> None:
    """Neighbours who do not meet in it are left as they are."""
    tables = gauntlet(["ann"], ["bob", "cid"], 2)
    rule = StoppingRule(likelihood=0.95, step_blocks=2, cap_blocks=8)

    found = Event(until_decided(["ann", "bob", "cid"], tables, 2, rule, RATING), level({"ann", "bob"}, {"ann", "cid"}))

    assert found.blocks("bob", "cid") == 0
    assert found.blocks("ann", "bob") + found.blocks("ann", "cid") > 4


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), step=st.integers(1, 4), cap=st.integers(3, 12))
def test_no_decided_pair_plays_again_and_no_pair_beyond_the_cap(seed: int, step: int, cap: int) -> None:
    """Whatever the results: each extra pair was an undecided pair of neighbours by rating, and it all ends."""
    rule = StoppingRule(likelihood=0.6, step_blocks=step, cap_blocks=cap)

    found = event(rule, lambda *key: Random(f"{seed}{key}").choice([key[0], key[1], None]), count=3)

    stopped: set[frozenset[str]] = set()
    for number, plan in enumerate(found.plans[1:], start=1):
        scratch = GrowingRanking(NAMES, RATING)
        scratch.add([*chain.from_iterable(found.answers[:number])])
        order = scratch.order()
        stopped |= {frozenset(re.findall("|".join(NAMES), told.partition(":")[0])) for told in plan.news}
        for pair in plan.tables:
            assert abs(order.index(pair[0]) - order.index(pair[1])) == 1
            assert frozenset(pair) not in stopped
    assert max(found.blocks(one, other) for one in NAMES for other in NAMES if one < other) <= cap
    assert len(found.told) == len(set(found.told))


def test_two_equals_and_a_league_of_equals() -> None:
    """Of all pairs of neighbours in simulated leagues of four equals, at most alpha and two standard errors is decided.

    Each league picks its neighbours by the results, and some of its pairs never stop.
    """
    rule, stopped, decided = StoppingRule(likelihood=0.8, step_blocks=5, cap_blocks=30), 0, 0
    for seed in range(40):
        chance = Random(seed)
        found = event(rule, lambda one, other, _: chance.choice((one, other, None)), count=5)  # noqa: B023
        stopped += len(found.told)
        decided += sum("is better than" in each for each in found.told)
    pairs = 40 * len(cycle(NAMES, 2))

    assert stopped > pairs / 3
    assert decided <= 0.2 * pairs + 2 * (0.2 * 0.8 * pairs) ** 0.5
