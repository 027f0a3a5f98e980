"""Sums of pairings: what `sums_of` adds up, by hand and against the values of single matches."""

import random
from fractions import Fraction
from typing import Any

import pytest
from support.made_matches import facts, made, ranks_by_pairing, result

from arena.match.record import Termination
from arena.match.results import MatchKey, MatchResult, PairingRanks
from arena.standings.match_table import match_table
from arena.standings.ranks import in_schedule_order, matches_of
from arena.standings.rows import Entrant
from arena.standings.scores import scores
from arena.standings.sums import sums_digest, sums_of
from arena.standings.table import timing


def test_two_blocks_by_hand() -> None:
    """The first seat wins 3 : 1 in a whole block, then one match is a forfeit and one is missing."""
    played = [
        result(block=0, rotation=0, luck=(50, -50), luck_version="1"),
        result(block=0, rotation=1, luck=(10, -20), luck_version="1"),
        result(block=3, rotation=1, termination=Termination.CRASH, at_fault=1, moves=(0, 5)),
    ]
    sums = sums_of(match_table(played))
    found = facts(sums)

    assert (sums.table.players, sums.matches.tolist(), sums.table.seats) == ((("ann", "bob"),), [3], 2)
    assert found["ranks"] == {"p": (("ann", "bob"), [0, 3], "0101--01")}
    assert found["margins"] == [[1], [2], [4], [[0, 0]], [[0, 0]], [[0, 0]]]
    by_place = ((2, 2), (4, 4), (4, 4), (30, -40), (900, 1600), (60, -80), (60, -80))
    assert found["luck"] == [
        [[1], [2], [4], *([list(each)] for each in by_place)],
        [[0], [0], [0], *[[[0, 0]]] * 7],
    ]
    assert found["luck_versions"] == {"1": [2]}
    assert found["faults"] == {"crash": [[1, 0]]}
    assert found["isolation"] == {"sandbox": [3]}


@pytest.mark.parametrize("seats", range(2, 11))
def test_any_number_of_seats(seats: int) -> None:
    """Points are the same whether they are counted from courses or match by match; any order gives equal sums."""
    rng = random.Random(seats)
    places = tuple("abcdefghij"[:seats])
    keys = [MatchKey("p", block, rotation) for block in range(5) for rotation in range(seats)]
    played = [made(rng, key, places, luck=1.0) for key in keys if rng.random() < 0.8]
    found = sums_of(match_table(played))

    assert facts(sums_of(match_table(reversed(played)))) == facts(found)
    points = [0] * seats
    for one in played:
        for seat, own in enumerate(one.points):
            points[(seat + one.key.rotation) % seats] += own
    assert sum(half.points[0] for half in found.luck).tolist() == points
    assert scores(found.table).shares.total[0].tolist() == points
    assert found.matches.tolist() == [len(played)]
    (use,) = timing([Entrant(name="a", bot="", version="", hash="")], found)
    by_hand = [
        sum(getattr(one, name)[one.players.index("a")] for one in played)
        for name in ("startup_us", "idle_us", "timeouts_by_load")
    ]
    assert [round(1e6 * use.startup_s), round(1e6 * use.idle_s), use.timeouts_by_load] == by_hand


def test_ranks_in_the_order_of_the_schedule() -> None:
    """The order is by block, pairing and rotation, with holes in blocks and rotations."""
    played = [result("q", 2, 1), result("p", 2, 0), result("q", 0, 0), result("p", 2, 1, ranks=(0, 0))]
    ranks = ranks_by_pairing(played)

    assert ranks == {
        "q": PairingRanks(("ann", "bob"), [0, 2], "01----01"),
        "p": PairingRanks(("ann", "bob"), [2], "0100"),
    }
    assert list(in_schedule_order([ranks["p"], ranks["q"]])) == [
        (("ann", "bob"), (0, 1)),
        (("ann", "bob"), (0, 1)),
        (("bob", "ann"), (0, 0)),
        (("bob", "ann"), (0, 1)),
    ]
    assert matches_of("01--", 2) == ((0, 1), None)


def test_the_digest_tells_of_all_but_times() -> None:
    """The order of pairings and times do not matter; the order of ranks, margins, luck and faults do."""
    played = [made(random.Random(1), MatchKey(key, block, 0), ("ann", "bob")) for key in "pq" for block in range(3)]

    def digest(results: list[MatchResult]) -> str:
        return sums_digest(sums_of(match_table(results)))

    def changed(**changes: Any) -> list[MatchResult]:
        return [result("p", block, 0, **(changes if block == 1 else {})) for block in range(3)]

    assert digest(played) == digest(played[::-1])
    assert digest(changed(time_us=(1, 2), moves=(9, 9), idle_us=(5, 5))) == digest(changed())
    others = [
        changed(ranks=(1, 0)),
        changed(scores=(Fraction(1, 2), Fraction(0))),
        changed(luck=(1, -1), luck_version="1"),
        changed(luck=(1, -1), luck_version="2"),
        changed(ranks=(0, 1), termination=Termination.CRASH, at_fault=0),
        changed(isolation="none"),
        changed(pardoned=({"timeout": 1}, {})),
        [*changed()[:1], result("p", 5, 0), *changed()[2:]],
    ]
    assert len({digest(each) for each in (changed(), *others)}) == len(others) + 1


@pytest.mark.parametrize(
    "other",
    [result(), result(rotation=2), result(rotation=1, places=("ann", "cat"))],
    ids=["twice", "turn", "stranger"],
)
def test_what_is_no_league(other: MatchResult) -> None:
    """A match twice, a rotation that there is not, somebody who is not of the pairing."""
    with pytest.raises(ValueError, match=r"twice|rotation"):
        sums_of(match_table([result(), other]))
