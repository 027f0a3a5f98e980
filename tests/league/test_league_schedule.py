"""The schedule: who meets whom, what identifies a block, and what is left to play."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.league_made import everything
from support.made_matches import bot, players, tournament

from arena.league.schedule import Pairing, fixture, jobs, match_count, pairings
from arena.league.tournament import Player, Tournament
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings

NAMES = ("ann", "bob", "cid", "dot", "eve")
SECRET = Secret.public("1")


def pairing_of(league: Tournament, first: str, second: str) -> Pairing:
    return next(pair for pair in pairings(league) if {each.name for each in pair.players} == {first, second})


def test_counts_matches() -> None:
    """Two seatings of every block of every pairing."""
    assert match_count(tournament(*NAMES, cycles=7)) == 10 * 7 * 2


@given(order=st.permutations(NAMES), cycles=st.integers(1, 30), size=st.integers(1, 30))
def test_a_fixture_depends_on_its_own_players_only(order: list[str], cycles: int, size: int) -> None:
    """Order in the file, other players, cycles, jobs, workers, rating and the league's name change nothing."""
    small = tournament("bob", "dot")
    large = tournament(*order, cycles=cycles, chunk_blocks=size, workers=3, name="another")

    same = pairing_of(large, "bob", "dot")

    assert same == pairing_of(small, "bob", "dot")
    assert [fixture(SECRET, same, block) for block in range(4)] == [fixture(SECRET, same, block) for block in range(4)]


CHANGED: list[dict[str, Any]] = [
    {"game": "shanghaien"},
    {"options": {"misere": True}},
    {"seed": "2"},
    {"clock": ClockSettings(move_ms=99.0)},
    {"clock": ClockSettings(strict=True)},
    {"players": (Player(name="ann", bot=bot("ann", "f" * 64)), *players("bob"))},
    {"players": (Player(name="ann", bot=bot("ann"), arguments=("-d", "2")), *players("bob"))},
    {"players": (Player(name="amy", bot=bot("ann")), *players("bob"))},
]


@pytest.mark.parametrize("change", CHANGED, ids=[" ".join(each) + str(i) for i, each in enumerate(CHANGED)])
def test_a_fixture_depends_on_all_that_its_matches_depend_on(change: dict[str, Any]) -> None:
    """Another game, option, clock, commitment, bot, argument or name is another block with other luck."""
    before, after = tournament("ann", "bob"), tournament("ann", "bob", **change)

    (old,), (new,) = pairings(before), pairings(after)

    assert old.key != new.key
    assert fixture(SECRET, old, 0).draw.luck != fixture(SECRET, new, 0).draw.luck


def test_arguments_are_not_run_together() -> None:
    """`a b` is not `ab`: arguments stay apart in the identity."""
    keys = {
        pairings(tournament(players=(Player(name="ann", bot=bot("ann"), arguments=words), *players("bob"))))[0].key
        for words in ((), ("ab",), ("a", "b"), ("a b",), ("", "ab"))
    }

    assert len(keys) == 5


def test_all_seeds_differ() -> None:
    """No two blocks of a league share their luck."""
    league = tournament(*NAMES, cycles=50)

    seeds = [fixture(SECRET, pair, block).draw.luck for pair in pairings(league) for block in range(50)]

    assert len(set(seeds)) == 500


def test_match_ids_tell_pairing_block_and_rotation() -> None:
    """The id people use has three parts."""
    league = tournament("ann", "bob")
    (pair,) = pairings(league)

    assert fixture(SECRET, pair, 3).match_id(1) == f"{pair.key}-3-1"


FINISHED = st.lists(st.sets(st.integers(0, 40)), min_size=3, max_size=3)


@settings(max_examples=100)
@given(finished=FINISHED, cycles=st.integers(1, 30), size=st.integers(1, 12))
def test_scheduled_minus_stored_is_what_remains(finished: list[set[int]], cycles: int, size: int) -> None:
    """Whatever set of blocks is finished, the rest is played, each block once, nothing else."""
    league = tournament(cycles=cycles, chunk_blocks=size)
    keys = [pair.key for pair in pairings(league)]
    done = dict(zip(keys, finished, strict=True))

    planned = [(each.pairing, each.block) for job in jobs(league, done) for each in job.fixtures]

    stored = {(key, block) for key, blocks in done.items() for block in blocks}
    assert len(planned) == len(set(planned))
    assert set(planned) == everything(league, keys) - stored


@given(finished=FINISHED, size=st.integers(1, 12))
def test_chunks_are_cut_at_the_same_places_in_every_run(finished: list[set[int]], size: int) -> None:
    """A job stays within one multiple of its size and within one pairing, whatever is finished."""
    league = tournament(cycles=30, chunk_blocks=size)
    keys = [pair.key for pair in pairings(league)]

    for job in jobs(league, dict(zip(keys, finished, strict=True))):
        assert {each.pairing for each in job.fixtures} == {job.pairing.key}
        assert len({each.block // size for each in job.fixtures}) == 1


def test_a_longer_league_keeps_its_beginning() -> None:
    """More cycles only add blocks."""
    short, long = tournament(cycles=4), tournament(cycles=9)
    done = {pair.key: set(range(4)) for pair in pairings(short)}

    left = [each.block for job in jobs(long, done) for each in job.fixtures]

    assert set(left) == {4, 5, 6, 7, 8}


def test_sixty_players_are_scheduled() -> None:
    """1,770 pairings have 1,770 keys."""
    league = tournament(*(f"p{number}" for number in range(60)), cycles=1)

    assert len({pair.key for pair in pairings(league)}) == 1770


def test_equal_values_have_equal_keys() -> None:
    """A copy of a tournament is the same tournament; the order of its options does not matter."""
    one = tournament(options={"heaps": [3], "misere": True})
    other = replace(one, options={"misere": True, "heaps": [3]})

    assert pairings(one) == pairings(other)
