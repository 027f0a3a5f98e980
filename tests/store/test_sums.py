"""Tables and ranks that are read from a store: equal to those of the single matches, whatever these are."""

from contextlib import closing
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.golden import Golden
from support.made_matches import facts, made, ranks_by_pairing, result
from support.store_made import writing

from arena.match.columns import pack_blocks
from arena.match.results import MOST_SCORE, MatchKey, MatchResult
from arena.standings import match_table as match_tables
from arena.standings.match_table import match_table
from arena.standings.sums import sums_of
from arena.store import database
from arena.store.matches import MatchStore

PAIRINGS = (("p", "ab"), ("q", "bac"), ("r", "acdb"), ("s", "ca"), ("t", "abcdefghij"))


def saved(store: MatchStore, results: list[MatchResult]) -> None:
    for block in pack_blocks(results):
        store.save([block])


def checked(store: MatchStore, results: list[MatchResult], blocks: dict[str, int]) -> None:
    """Ranks, sums and matches are those of `results`, of each pairing the blocks below a number."""
    own = [one for one in results if one.key.block < blocks.get(one.key.pairing, 0)]
    found, expected = store.ranks(blocks), ranks_by_pairing(own)
    known = [key for key in blocks if key in expected]
    for seats in {len(places) for _, places in PAIRINGS}:
        of_seats = {key: end for key, end in blocks.items() if len(dict(PAIRINGS).get(key, "")) == seats}
        sums = store.sums(of_seats)
        assert list(sums.table.keys) == [key for key in known if key in of_seats]
        assert facts(sums) == facts(sums_of(match_table(one for one in own if len(one.players) == seats)))
    assert list(found) == known
    assert {key: (one.players, list(one.blocks), one.ranks) for key, one in found.items()} == {
        key: (one.players, list(one.blocks), one.ranks) for key, one in expected.items()
    }
    order = {key: number for number, key in enumerate(blocks)}
    assert list(store.results(blocks)) == sorted(own, key=lambda one: (order[one.key.pairing], *one.key[1:]))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.3, 0.8, 1.0]),
    luck=st.sampled_from([0.0, 0.7, 1.0]),
    batch=st.sampled_from([3, match_tables.BATCH]),
)
def test_sums_are_those_of_the_matches(
    tmp_path_factory: pytest.TempPathFactory, seed: int, share: float, luck: float, batch: int
) -> None:
    """Holes, forfeits, two to ten seats, fractions, some luck or none; leagues and parts, unpacked in any batches."""
    rng = Random(seed)
    results = [
        made(rng, MatchKey(key, block, rotation), tuple(places), luck=luck)
        for key, places in rng.sample(PAIRINGS, rng.randint(1, 5))
        for block in range(rng.randint(1, 5))
        for rotation in range(len(places))
        if rng.random() < share
    ]
    keys = rng.sample(["none", *(key for key, _ in PAIRINGS)], 5)
    with pytest.MonkeyPatch.context() as patch, writing(tmp_path_factory.mktemp("results")) as store:
        patch.setattr(match_tables, "BATCH", batch)
        saved(store, rng.sample(results, len(results)))

        checked(store, results, dict.fromkeys(keys, 10))
        checked(store, results, {key: rng.randint(0, 4) for key in keys})


@pytest.mark.parametrize("unit", [1, 3])
def test_no_score_is_too_large_for_its_squares(tmp_path: Path, unit: int) -> None:
    """64 bits hold every score, and not the square of one: sums are whole numbers of any length then."""
    most = Fraction(MOST_SCORE // unit * unit, unit)
    results = [
        result(block=block, rotation=rotation, scores=scores, luck=(2**40, -(2**40)), luck_version="1")
        for block in range(3)
        for rotation, scores in enumerate([(most, -most), (Fraction(1, 7), Fraction(0))])
    ]
    with writing(tmp_path) as store:
        saved(store, results)

        checked(store, results, {"p": 3})
        assert store.sums({"p": 3}).margins.total2[0, 0] == 3 * (2 * most + Fraction(1, 7) * -1) ** 2


def test_a_score_beyond_64_bits_is_refused(golden: Golden) -> None:
    """Before it reaches the store."""
    with golden.raises(ValueError):
        result(scores=(Fraction(MOST_SCORE + 1), Fraction(0)))
    with golden.raises(ValueError):
        result(scores=(Fraction(MOST_SCORE, 3), Fraction(1, 5)))


def test_a_reader_sees_one_moment(tmp_path: Path) -> None:
    """Matches stored between two queries of a snapshot are in neither result."""
    results = [result(block=block, rotation=rotation) for block in range(2) for rotation in (0, 1)]
    with writing(tmp_path) as writer:
        saved(writer, results[:2])
        with closing(database.open_for_reading(tmp_path) or writer._connection) as connection:
            reader = MatchStore(connection, tmp_path)
            with reader.snapshot():
                before = reader.ranks({"p": 9})
                saved(writer, results[2:])

                assert facts(reader.sums({"p": 9})) == facts(sums_of(match_table(results[:2])))
            assert before["p"].matches == 2
        with closing(database.open_for_reading(tmp_path) or writer._connection) as connection:
            assert facts(MatchStore(connection, tmp_path).sums({"p": 9})) == facts(sums_of(match_table(results)))
