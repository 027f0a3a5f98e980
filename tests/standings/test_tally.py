"""Tallies: they add up in any order and portions, and know every match."""

from collections.abc import Sequence
from functools import reduce
from hashlib import sha256
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standings_made import forfeited, leagues, played

from arena.standings.table import MatchResult, tallied
from arena.standings.tally import Spans, Tally, digest_of, nothing, tally_of

Blocks = dict[int, dict[int, MatchResult]]


def tally(*matches: MatchResult, rotations: Sequence[int] = (0, 1), key: str = "k") -> Tally:
    """The tally of one block of two."""
    return tally_of(key, 2, {0: dict(zip(rotations, matches, strict=False))})


@st.composite
def parts(draw: st.DrawFn) -> tuple[int, list[Blocks]]:
    """Blocks of one pairing with two to four seats, each for itself."""
    seats = draw(st.integers(2, 4))
    blocks: dict[int, dict[int, MatchResult]] = {}
    for one in draw(leagues(seats)):
        if one.pairing == 0:
            found = blocks.setdefault(one.block, {})
            version = draw(st.sampled_from(("", "1", "1", "2")))
            luck = tuple(draw(st.integers(-(10**6), 10**6)) / 10**6 for _ in one.ranks) if version else ()
            pardoned = draw(
                st.sampled_from(((), tuple({} if seat else {"timeout": 2} for seat in range(len(one.ranks)))))
            )
            found[len(found)] = msgspec.structs.replace(one, luck=luck, luck_version=version, pardoned=pardoned)
    return seats, [{block: matches} for block, matches in blocks.items()]


@settings(max_examples=60, deadline=None)
@given(parts(), st.randoms(use_true_random=False), st.integers(0, 12))
def test_tallies_add_up_in_any_order_and_portions(made: tuple[int, list[Blocks]], rng: Any, cut: int) -> None:
    """The tally of all blocks is the sum of those of some and of the others, whatever the order; as bytes, too."""
    seats, blocks = made
    whole = tally_of("k", seats, {number: matches for one in blocks for number, matches in one.items()})

    tallies = [tally_of("k", seats, one) for one in rng.sample(blocks, len(blocks))]
    one, other = (reduce(Tally.__add__, part, nothing(seats)) for part in (tallies[:cut], tallies[cut:]))

    assert one + other == other + one == whole
    assert msgspec.json.encode((one + other).sums) == msgspec.json.encode(whole.sums)
    assert whole + nothing(seats) == whole


@settings(max_examples=40, deadline=None)
@given(leagues(3))
def test_adding_is_associative(results: list[MatchResult]) -> None:
    """Also of pairings of different players: tallies know places only."""
    tallies = [tally_of("k", 3, {block: {0: one}}) for block, one in enumerate(results)]

    for (a, b), c in zip(pairwise(tallies), tallies[2:], strict=False):
        assert (a + b) + c == a + (b + c)


def test_a_match_is_counted_once() -> None:
    """Tallies that share a match, or have other numbers of seats, cannot be added."""
    one = tally(played("ab", (2, 1)))

    with pytest.raises(ValueError, match="in both"):
        _ = one + one
    with pytest.raises(ValueError, match="2 and of 3 seats"):
        _ = one + nothing(3)


def test_pardoned_faults_are_by_code_and_place() -> None:
    """In the second match of a block the places sit the other way round; forfeits are counted elsewhere."""
    first = msgspec.structs.replace(played("ab", (5, 2)), pardoned=({"timeout": 2}, {}))
    second = msgspec.structs.replace(played("ba", (5, 2)), pardoned=({"illegal_action": 1}, {"timeout": 3}))

    sums = tally(first, second).sums

    assert sums.pardoned == {"illegal_action": (0, 1), "timeout": (5, 0)}
    assert sums.faults == {}


def test_pardoned_faults_are_facts_of_a_match() -> None:
    """Whom they belong to and of what kind they are changes the digest; the order in which they came does not."""
    plain = played("ab", (5, 2))
    kinds: list[tuple[dict[str, int], ...]] = [
        *((), ({"timeout": 1}, {}), ({}, {"timeout": 1}), ({"timeout": 2}, {}), ({"illegal_action": 1}, {})),
        ({"timeout": 1, "illegal_action": 1}, {}),
    ]
    turned: tuple[dict[str, int], ...] = ({"illegal_action": 1, "timeout": 1}, {})

    digests = [tally(msgspec.structs.replace(plain, pardoned=kind)).sums.digest for kind in (*kinds, turned)]

    assert len(set(digests)) == len(kinds)
    assert digests[-1] == digests[-2]


def test_a_match_without_pardons_has_the_digest_it_always_had() -> None:
    """So that what was published before there were any can still be verified. By hand: SHA-256 of these facts."""
    facts = b'["k",0,0,[0,1],[5,2],"normal",-1,[10,10]]'

    assert tally(played("ab", (5, 2))).sums.digest == sha256(facts).hexdigest()


def test_everything_is_by_place() -> None:
    """In the second match of a block the places sit the other way round: fault, moves and times follow the player."""
    first = msgspec.structs.replace(played("ab", (5, 2)), moves=(3, 4), time_ms=(1.5, 2.0), slowest_ms=(1.0, 1.25))
    second = msgspec.structs.replace(forfeited("ba", "timeout", 0), moves=(1, 0), time_ms=(10.0, 0.5))

    sums = tally(first, second).sums

    assert (sums.moves, sums.spent_us, sums.slowest_us) == ((3, 5), (1500, 12000), (1000, 25000))
    assert (sums.faults, sums.isolation) == ({"timeout": (0, 1)}, {"none": 2})
    assert sums.margins == Spans(1, 1, 1, (3, -3), (9, 9), (3, -3))


def test_luck_is_summed_by_block_in_millionths() -> None:
    """Even and odd blocks apart; matches without luck are counted nowhere, and without any there are no sums."""
    change = msgspec.structs.replace
    won = change(played("ab", (2, 1)), luck=(0.25, -0.25), luck_version="1")
    lost = change(played("ba", (2, 1)), luck=(0.1, -0.1), luck_version="1")

    found = tally_of("k", 2, {1: {0: won, 1: lost}, 3: {0: won}, 5: {0: played("ab", (1, 2))}}).sums

    even, odd = found.luck
    assert found.luck_versions == {"1": 3}
    assert (even.blocks, even.matches, even.points) == (0, 0, (0, 0))
    assert (odd.blocks, odd.matches, odd.matches2) == (2, 3, 5)
    assert (odd.points, odd.points2, odd.points_product) == ((4, 2), (8, 4), (6, 4))
    assert (odd.luck, odd.luck_product) == ((400_000, -400_000), (550_000, -550_000))
    assert odd.luck2 == (85_000_000_000, 85_000_000_000)
    assert odd.both == (800_000, -300_000)
    assert tally(played("ab", (1, 2))).sums.luck == ()


def test_margins_are_summed_by_block() -> None:
    """Margins of 3 and 1 are a block of 4, whose square is 16; m = 2."""
    sums = tally(played("ab", (5, 2)), played("ba", (3, 4))).sums

    assert sums.margins == Spans(1, 2, 4, (4, -4), (16, 16), (8, -8))


@pytest.mark.parametrize(
    "change",
    [{"ranks": (0, 0)}, {"scores": (3, 0)}, {"moves": (10, 11)}, {"termination": "crash", "at_fault": 1}],
)
def test_the_digest_notices_every_fact(change: dict[str, Any]) -> None:
    """All but times and names, which the key stands for; and where the match belongs."""
    result = played("ab", (2, 0))
    digest = digest_of([tally(result)])

    assert digest_of([tally(msgspec.structs.replace(result, **change))]) != digest
    assert digest_of([tally(result, key="l")]) != digest
    assert digest_of([tally(result, rotations=(1,))]) != digest
    assert digest_of([tally_of("k", 2, {1: {0: result}})]) != digest
    assert digest_of([tally(msgspec.structs.replace(result, time_ms=(7.0, 7.0)))]) == digest


def test_two_matches_of_one_digest_do_not_cancel() -> None:
    """Digests are added and not combined bit by bit, where equal ones would vanish."""
    one = tally(played("ab", (1, 0)))

    assert len({digest_of([one] * times) for times in range(4)}) == 4
    assert digest_of([]) == "0" * 64


@pytest.mark.parametrize(("rotation", "players"), [(2, "ab"), (-1, "ab"), (0, "abc")])
def test_a_match_of_other_seats_is_refused(rotation: int, players: str) -> None:
    """Only damage can have put it into this pairing."""
    with pytest.raises(ValueError, match="no match among those of 2 from block 0 on"):
        tally_of("k", 2, {0: {rotation: played(players, range(len(players)))}})
    with pytest.raises(ValueError, match="block 3, rotation 0, 2 players: no match"):
        tally_of("k", 2, {3: {0: played("ab", (1, 0))}}, first_block=4)


def test_a_tally_far_behind_the_first_block_is_small() -> None:
    """A portion begins with its own first block; the digest knows the number all the same."""
    result = played("ab", (1, 0))

    found = tally_of("k", 2, {10**9: {0: result}}, first_block=10**9)

    assert found.outcomes == tally(result).outcomes
    assert found.sums.digest != tally(result).sums.digest


def test_results_of_a_league_are_tallied_as_the_store_does() -> None:
    """With the pairings the blocks get the numbers they have within their pairing."""
    pairings = [("k0", ("ann", "bob")), ("k1", ("cid", "ann", "dot"))]
    results = [
        *(played("ab", (1, 0), block=0), played("ba", (1, 0), block=2)),
        *(played("cad", (2, 1, 0), block=1, pairing=1), played("adc", (2, 1, 0), block=3, pairing=1)),
    ]

    two, three = tallied(results, pairings)

    assert two.tally == tally_of("k0", 2, {0: {0: results[0]}, 1: {1: results[1]}})
    assert three.players == ("cid", "ann", "dot")
    assert three.tally == tally_of("k1", 3, {0: {0: results[2]}, 1: {1: results[3]}})


def test_waiting_is_added_up_by_place_and_left_out_where_there_is_none() -> None:
    """Start-up, idle time and timeouts by load; in any portions, and beside tallies from before they were counted."""
    facts = [
        msgspec.structs.replace(one, startup_ms=(1.0, 2.0), idle_ms=(0.5, 0.0), timeouts_by_load=(0, 1))
        for one in (played("ab", (1, 0)), played("ab", (1, 0)))
    ]
    first, second = (tally_of("key", 2, {block: {0: one}}) for block, one in enumerate(facts))
    silent = tally_of("key", 2, {2: {0: played("ab", (1, 0))}})

    sums = (first + second + silent).sums

    assert (sums.startup_us, sums.idle_us, sums.timeouts_by_load) == ((2000, 4000), (1000, 0), (0, 2))
    assert (silent.sums.startup_us, silent.sums.idle_us, silent.sums.timeouts_by_load) == ((), (), ())
