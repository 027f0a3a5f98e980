"""The tables of a cycle: everybody meets everybody equally often, and nobody waits long."""

from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.league.schedules.tables import MOST_TABLES, base_tables, circle_method, cycle, gauntlet, is_complete

BASE_13_4 = ((0, 1, 5, 11),)
BASE_16_3 = ((0, 4, 6), (0, 6, 7), (0, 8, 11))


def names(count: int) -> list[str]:
    return [f"p{number:03}" for number in range(count)]


def meetings(tables: tuple[tuple[str, ...], ...]) -> "Counter[tuple[str, ...]]":
    """Return how often each pair sits at one table."""
    return Counter(pair for table in tables for pair in combinations(sorted(table), 2))


@given(count=st.integers(2, 61))
def test_circle_method_pairs_all_once(count: int) -> None:
    """A round of n players has n/2 pairs, rounded down, and no player twice."""
    pairs, size = circle_method(count), count // 2
    rounds = [pairs[start : start + size] for start in range(0, len(pairs), size)]

    assert sorted(pairs) == [*combinations(range(count), 2)]
    assert all(len({player for pair in pairs for player in pair}) == 2 * size for pairs in rounds)


@settings(max_examples=25)
@given(seats=st.integers(2, 4), more=st.integers(0, 60))
def test_every_pair_meets_equally_often(seats: int, more: int) -> None:
    """Where all tables are played it is exact; otherwise within one meeting, at least once, and no table twice."""
    players = names(seats + more)

    tables = cycle(players, seats)

    met = meetings(tables)
    everybody = Counter(player for table in tables for player in table)
    assert len(met) == len(players) * (len(players) - 1) // 2
    assert max(met.values()) - min(met.values()) <= (0 if is_complete(len(players), seats) else 1)
    assert len(set(everybody.values())) == 1
    assert len({frozenset(table) for table in tables}) == len(tables)
    assert {len(set(table)) for table in tables} == {seats}


def test_a_design_is_for_ever() -> None:
    """Leagues are stored by their tables: another search must not find other ones. These two are perfect."""
    assert base_tables(13, 4) == BASE_13_4
    assert base_tables(16, 3) == BASE_16_3
    assert set(meetings(cycle(names(13), 4)).values()) == {1}
    assert set(meetings(cycle(names(61), 3)).values()) == {1}


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_newcomer_only_adds_tables(seats: int) -> None:
    """Where all tables are played, those without the newcomer are the old ones."""
    before = {frozenset(table) for table in cycle(names(9), seats)}

    after = {frozenset(table) for table in cycle(names(10), seats)}

    assert before < after
    assert all("p009" in table for table in after - before)


@pytest.mark.parametrize(
    ("players", "seats", "most"), [(8, 3, 2.0), (6, 4, 2.0), (12, 4, 2.0), (15, 3, 2.0), (40, 4, 4.0), (60, 3, 4.0)]
)
def test_nobody_waits_long(players: int, seats: int, most: float) -> None:
    """From one table of a player to the next it takes at most `most` times as long as it takes everybody to play."""
    tables = cycle(names(players), seats)

    for player in names(players):
        turns = [-1, *(turn for turn, table in enumerate(tables) if player in table), len(tables)]
        assert max(after - before for before, after in pairwise(turns)) <= most * players / seats


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_gauntlet_is_one_challenger_against_all_the_others(seats: int) -> None:
    """Each challenger meets each of the others equally often, and never another challenger."""
    challengers, others = ["x", "y"], names(8)

    met = meetings(gauntlet(challengers, others, seats))

    assert ("x", "y") not in met
    assert len({met[tuple(sorted((one, other)))] for one in challengers for other in others}) == 1
    assert bool(met["p000", "p001"]) == (seats > 2)


def test_small_leagues_have_all_their_tables() -> None:
    """These are up to 15 players at tables of three, and up to 12 at tables of four."""
    complete = [[players for players in range(seats, 30) if is_complete(players, seats)][-1] for seats in (3, 4)]

    assert complete == [15, 12]
    assert MOST_TABLES == 500
