"""The Swiss system: equal scores meet, nobody twice, an odd field has byes; and a pairing is found if there is one."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.league_events import Event, Winner, better

from arena.league.schedules import half_points
from arena.league.schedules.swiss import BYE, Matching, pair_up, swiss

NAMES = [f"p{number:02}" for number in range(40)]


def by_chance(seed: int) -> Winner:
    """Make each block a win of one side or a draw."""
    return lambda one, other, block: Random(f"{seed}{one}{other}{block}").choice([one, other, None])


def test_winners_meet_winners() -> None:
    """In a known event of eight players the upper half meets the lower; then winners meet, and the earlier one wins."""
    event = Event(swiss(NAMES[:8], 3), better)

    assert event.plans[0].tables == (("p00", "p04"), ("p01", "p05"), ("p02", "p06"), ("p03", "p07"))
    assert event.plans[1].tables == (("p00", "p02"), ("p01", "p03"), ("p04", "p06"), ("p05", "p07"))
    assert event.plans[2].tables == (("p00", "p01"), ("p02", "p04"), ("p03", "p05"), ("p06", "p07"))
    assert event.news == ("points after 3 rounds: p00 6, p01 4, p02 4, p03 4, p04 2, p05 2, p06 2, p07 0",)


@settings(max_examples=60)
@given(count=st.integers(2, 40), share=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_nobody_meets_twice(count: int, share: float, seed: int) -> None:
    """While there are at most half as many rounds as players, each round has new pairs and every player once."""
    rounds = max(1, int(share * count / 2))

    event = Event(swiss(NAMES[:count], rounds), by_chance(seed))

    met = Counter(frozenset(table) for plan in event.plans for table in plan.tables)
    assert len(event.plans) == rounds
    assert set(met.values()) == {1}
    for plan in event.plans:
        playing = [player for table in plan.tables for player in table]
        assert len(playing) == len(set(playing)) == count - count % 2


@pytest.mark.parametrize("count", [24, 26, 32])
def test_nobody_meets_twice_where_trying_and_taking_back_is_hopeless(count: int) -> None:
    """With half as many rounds as players, all matches drawn or all as expected, there is a way, and it is found."""
    for winner in (better, lambda *_: None):
        event = Event(swiss(NAMES[:count], count // 2), winner)

        met = Counter(frozenset(table) for plan in event.plans for table in plan.tables)
        assert set(met.values()) == {1}


@settings(max_examples=40)
@given(count=st.integers(1, 10).map(lambda half: 2 * half + 1), seed=st.integers(0, 10**6))
def test_byes_go_round(count: int, seed: int) -> None:
    """With an odd number every player has one bye before any has two; it counts as a block won."""
    event = Event(swiss(NAMES[:count], count), by_chance(seed))

    idle = [set(NAMES[:count]) - {player for table in plan.tables for player in table} for plan in event.plans]
    assert Counter(player for each in idle for player in each) == Counter(NAMES[:count])
    assert half_points(Event(swiss(["a", "b"], 1)).ranks)["a"] == BYE


@settings(max_examples=40)
@given(count=st.integers(1, 6).map(lambda half: 2 * half), seed=st.integers(0, 10**6))
def test_as_many_rounds_as_there_are_opponents(count: int, seed: int) -> None:
    """Every round is full even where a pair must meet again, and no pair meets three times."""
    event = Event(swiss(NAMES[:count], count - 1), by_chance(seed))

    met = Counter(frozenset(table) for plan in event.plans for table in plan.tables)
    assert all(len(plan.tables) == count // 2 for plan in event.plans)
    assert max(met.values()) <= 2


def test_a_choice_that_leaves_others_without_opponents_is_taken_back() -> None:
    """a would meet b first, but then c and d, who have met, are left over."""
    points = Counter({"a": 4, "b": 4, "c": 2, "d": 0})

    pairs = pair_up(["a", "b", "c", "d"], points, Counter([frozenset("cd")]))

    assert pairs == (("a", "c"), ("b", "d"))


def test_meets_again_if_there_is_no_other_way() -> None:
    """Four players who have all met: each pair once more, no pair twice more."""
    meetings = Counter(map(frozenset, combinations("abcd", 2)))

    assert pair_up(list("abcd"), Counter(), meetings) == (("a", "c"), ("b", "d"))


NODES = 8
EDGES = [(one, other) for one in range(NODES) for other in range(one)]


def neighbours(edges: set[tuple[int, int]]) -> list[list[int]]:
    return [[other for other in range(NODES) if {(node, other), (other, node)} & edges] for node in range(NODES)]


def exists(edges: set[tuple[int, int]], left: frozenset[int]) -> bool:
    """Return True if all of `left` can be paired, by trying everything."""
    if not left:
        return True
    first = min(left)
    return any(exists(edges, left - {first, other}) for other in left if {(first, other), (other, first)} & edges)


@given(edges=st.sets(st.sampled_from(EDGES)))
def test_finds_a_pairing_if_there_is_one(edges: set[tuple[int, int]]) -> None:
    """Trying everything gives the same; and partners are neighbours of each other."""
    matching = Matching(neighbours(edges))

    assert matching.is_perfect == exists(edges, frozenset(range(NODES)))
    for node, other in enumerate(matching.partner):
        assert other < 0 or (matching.partner[other] == node and other in neighbours(edges)[node])


@given(edges=st.sets(st.sampled_from(EDGES), min_size=12), wishes=st.lists(st.sampled_from(EDGES), min_size=10))
def test_settles_a_pair_if_that_leaves_a_pairing(edges: set[tuple[int, int]], wishes: list[tuple[int, int]]) -> None:
    """It does so for pair after pair, as trying everything with the players who are left says."""
    matching = Matching(neighbours(edges))
    left = frozenset(range(NODES))
    if not matching.is_perfect:
        return

    for one, other in wishes:
        if {one, other} <= left and (one, other) in edges:
            settled = matching.fix_pair(one, other)
            assert settled == exists(edges, left - {one, other})
            left -= {one, other} if settled else set()
            assert matching.is_perfect


def test_an_odd_cycle_is_no_obstacle() -> None:
    """Three players may all meet; two have one outsider each, and the third has a chain behind it."""
    edges = {(1, 0), (2, 0), (2, 1), (3, 0), (4, 1), (5, 2), (6, 5), (7, 6)}

    assert Matching(neighbours(edges)).is_perfect == exists(edges, frozenset(range(NODES)))
