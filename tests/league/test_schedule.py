"""The schedule: who meets whom, what identifies a block, and what is left to play."""

from hypothesis import given, settings
from hypothesis import strategies as st
from support.league_made import everything
from support.made_matches import tournament

from arena.league.schedule import Pairing, jobs, pairings
from arena.league.tournament import Tournament

NAMES = ("ann", "bob", "cid", "dot", "eve")


def pairing_of(league: Tournament, first: str, second: str) -> Pairing:
    return next(pair for pair in pairings(league) if {each.name for each in pair.players} == {first, second})


@given(order=st.permutations(NAMES), cycles=st.integers(1, 30), size=st.integers(1, 30))
def test_a_fixture_depends_on_its_own_players_only(order: list[str], cycles: int, size: int) -> None:
    """Order in the file, other players, cycles, jobs, workers, rating and the league's name change nothing."""
    small = tournament("bob", "dot")
    large = tournament(*order, cycles=cycles, chunk_blocks=size, workers=3, name="another")

    assert pairing_of(large, "bob", "dot") == pairing_of(small, "bob", "dot")


FINISHED = st.lists(st.sets(st.integers(0, 40)), min_size=3, max_size=3)


@settings(max_examples=100)
@given(finished=FINISHED, cycles=st.integers(1, 30), size=st.integers(1, 12))
def test_scheduled_minus_stored_is_what_remains(finished: list[set[int]], cycles: int, size: int) -> None:
    """Whatever blocks are finished, the other ones are played, each once, and nothing else."""
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
