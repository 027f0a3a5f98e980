"""Perfect matchings: found wherever there is one."""

from hypothesis import given
from hypothesis import strategies as st

from arena.league.schedules.swiss import Matching

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
