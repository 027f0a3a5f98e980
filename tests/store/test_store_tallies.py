"""Tallies and checkpoints in the database: always what the matches come to, and never believed."""

import sqlite3
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from store_made import blocks_of, reading, spans, tournament, writing

from arena.errors import DamagedStore
from arena.league.results import MatchSummary, PlayedBlock, PlayedMatch
from arena.league.schedule import Pairing, fixture, pairings
from arena.league.tournament import Tournament
from arena.match.record import PackedRecord
from arena.match.secret_luck import Secret
from arena.standings.checkpoint import Checkpoint
from arena.standings.outcomes import orders
from arena.standings.tally import Tallied
from arena.store import database, tallies
from arena.store.tallies import SPAN

RECORD = PackedRecord(codec="none", digest="", body=b"")


def made(pair: Pairing, block: int) -> PlayedBlock:
    """A block that was never played, with results that depend on its number."""
    rng = Random(f"{pair.key} {block}")
    seats = len(pair.players)
    matches = []
    for rotation in range(seats):
        scores = tuple(rng.randrange(-5, 6) for _ in range(seats))
        summary = MatchSummary(
            ranks=tuple(sum(other > own for other in scores) for own in scores),
            scores=scores,
            termination="normal",
            at_fault=-1,
            moves=tuple(rng.randrange(3) for _ in range(seats)),
            time_ms=tuple(rng.uniform(0, 9) for _ in range(seats)),
            slowest_ms=tuple(rng.uniform(0, 9) for _ in range(seats)),
        )
        if rng.random() < 0.2:
            guilty = rng.randrange(seats)
            ranks = tuple(int(seat == guilty) for seat in range(seats))
            summary = replace(summary, ranks=ranks, scores=None, termination="crash", at_fault=guilty)
        if rng.random() < 0.2:
            summary = replace(summary, pardoned=tuple({"timeout": 1 + seat} for seat in range(seats)))
        matches.append(PlayedMatch(rotation=rotation, summary=summary, record=RECORD))
    return PlayedBlock(fixture=fixture(Secret.public("1"), pair, block), matches=tuple(matches))


def everything(league: Tournament, blocks: list[int]) -> list[PlayedBlock]:
    return [made(pair, block) for pair in pairings(league) for block in blocks]


EDGES = [0, 1, 2, SPAN - 1, SPAN, SPAN + 1, 2 * SPAN, 5 * SPAN + 7]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), seats=st.integers(2, 4))
def test_tallies_are_never_behind_the_matches(tmp_path_factory: pytest.TempPathFactory, seed: int, seats: int) -> None:
    """Blocks in any order, some twice, in any batches: after each of them the tallies are what is stored."""
    league = tournament("ann", "bob", "cid", "dot", cycles=6 * SPAN, seats=seats)
    rng = Random(seed)
    arriving = everything(league, rng.sample(EDGES, 4))
    arriving = rng.sample(arriving, len(arriving)) + rng.sample(arriving, 3)
    found: list[tuple[Tallied, ...]] = []
    with writing(tmp_path_factory.mktemp("results")) as store:
        while arriving:
            size = rng.randint(1, 9)
            store.save(arriving[:size])
            arriving = arriving[size:]
            found.append(store.tallied(spans(league)))
            assert found[-1] == store.recounted(spans(league))

    assert sum(one.tally.matches for one in found[-1]) == 4 * seats * len(pairings(league))
    assert all(max(one.tally.outcomes) <= len(orders(seats)) for one in found[-1])


@pytest.mark.parametrize("cycles", [1, 2, 3, SPAN - 1, SPAN, SPAN + 1, SPAN + 2, 5 * SPAN + 7, 5 * SPAN + 8])
def test_a_league_has_its_own_cycles_only(tmp_path: Path, cycles: int) -> None:
    """Wherever its last block lies in a row of the table."""
    league = tournament("ann", "bob", cycles=6 * SPAN)
    with writing(tmp_path) as store:
        store.save(everything(league, EDGES))
        fewer = replace(league, cycles=cycles)

        (found,) = store.tallied(spans(fewer))

        assert (found,) == store.recounted(spans(fewer))
        assert found.tally.matches == 2 * sum(block < cycles for block in EDGES)


def test_what_is_there_twice_is_counted_once(tmp_path: Path) -> None:
    """A block that comes again with other results changes no tally."""
    league = tournament("ann", "bob", cycles=2)
    blocks = everything(league, [0, 1])
    with writing(tmp_path) as store:
        store.save(blocks)
        before = store.tallied(spans(league))

        store.save([replace(blocks[0], matches=blocks[1].matches)])

        assert store.tallied(spans(league)) == before == store.recounted(spans(league))


def test_a_block_that_was_stored_in_part_is_counted_whole(tmp_path: Path) -> None:
    """As an edited database may have it: the sums of a block are made of all its matches."""
    league = tournament("ann", "bob", cycles=1)
    (block,) = everything(league, [0])
    with writing(tmp_path) as store:
        store.save([replace(block, matches=block.matches[:1])])
        store.save([block])

        assert store.tallied(spans(league)) == store.recounted(spans(league))
        assert store.tallied(spans(league))[0].tally.matches == 2


DAMAGE = [
    "UPDATE tally SET digest = x'00'",
    "UPDATE tally SET sums = '{'",
    "UPDATE tally SET sums = x'7b'",
    "UPDATE tally SET seats = 3",
    "UPDATE tally SET seats = 'two'",
    "UPDATE tally SET outcomes = x'05' || substr(outcomes, 2)",
    "UPDATE tally SET outcomes = CAST(substr(outcomes, 2) AS BLOB)",
    "UPDATE tally SET outcomes = CAST(x'0000' || outcomes AS BLOB), outcomes = x'0101'",
    "UPDATE tally SET outcomes = 5",
    'UPDATE tally SET sums = CAST(replace(CAST(sums AS TEXT), \'"digest":"\', \'"digest":"x\') AS BLOB)',
    "UPDATE tally SET sums = CAST(replace(CAST(sums AS TEXT), '\"moves\":[', '\"moves\":[0,') AS BLOB)",
]


def tampered(results: Path, *statements: str) -> None:
    connection = sqlite3.connect(results / database.FILE_NAME)
    for statement in statements:
        assert connection.execute(statement).rowcount
    connection.commit()
    connection.close()


@pytest.mark.parametrize("statement", DAMAGE)
def test_a_tally_nobody_can_read_is_counted_again(tmp_path: Path, statement: str) -> None:
    """The matches are the truth: readers count them, and the next writer mends the row."""
    league = tournament("ann", "bob", cycles=4)
    with writing(tmp_path) as store:
        store.save(everything(league, [0, 1]))
        sound = store.tallied(spans(league))
    tampered(tmp_path, statement)

    with reading(tmp_path) as store:
        assert store.tallied(spans(league)) == sound
    with writing(tmp_path) as store:
        store.save(everything(league, [2]))
        (mended,) = store.tallied(spans(league))
        assert (mended,) == store.recounted(spans(league))
    assert mended.tally.matches == 6


def test_damage_of_both_is_told(tmp_path: Path) -> None:
    """Neither the tally nor a summary can be read."""
    league = tournament("ann", "bob", cycles=2)
    with writing(tmp_path) as store:
        store.save(everything(league, [0, 1]))
    tampered(tmp_path, DAMAGE[0], "UPDATE match SET summary = '{'")

    with reading(tmp_path) as store, pytest.raises(DamagedStore, match=r"cannot be read: .*run `arena verify`"):
        store.tallied(spans(league))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE match SET summary = replace(CAST(summary AS TEXT), '[0,1]', '[0,0]') WHERE block = 1",
        "DELETE FROM match WHERE block = 2",
        "DELETE FROM match WHERE rotation = 0",
        "DELETE FROM match",
    ],
)
def test_a_match_that_somebody_changed_is_counted_again(tmp_path: Path, statement: str) -> None:
    """The tally does not go on telling of what is no longer there; nor does it after the next block."""
    league = tournament("ann", "bob", cycles=5)
    with writing(tmp_path) as store:
        store.save(everything(league, [0, 1, 2, 3]))
        before = store.tallied(spans(league))
    tampered(tmp_path, statement)

    with writing(tmp_path) as store:
        assert before != store.tallied(spans(league)) == store.recounted(spans(league))
        store.save(everything(league, [4]))
        assert store.tallied(spans(league)) == store.recounted(spans(league))


def test_a_forged_tally_is_seen_by_counting_again(tmp_path: Path) -> None:
    """It is what `verify` compares."""
    league = tournament("ann", "bob", cycles=1)
    with writing(tmp_path) as store:
        store.save(everything(league, [0]))
        (true,) = store.tallied(spans(league))
        tallies._put(store._connection, 1, 0, replace(true.tally, outcomes=b"\1\1"))

        assert store.tallied(spans(league)) != store.recounted(spans(league)) == (true,)


def test_a_played_league_is_tallied(tmp_path: Path) -> None:
    """Faults and isolation by real records."""
    league = tournament("ann", "cheat", cycles=3)
    with writing(tmp_path) as store:
        store.save(blocks_of(league))

        (found,) = store.tallied(spans(league))

    assert found.players == ("ann", "cheat")
    assert found.tally.sums.faults == {"illegal_action": (0, 6)}
    assert found.tally.sums.isolation == {"none": 6}


def test_a_tally_stored_before_there_was_luck_still_holds(tmp_path: Path) -> None:
    """Its matches have none, so that it is what they come to."""
    league = tournament("ann", "bob", cycles=3)
    with writing(tmp_path) as store:
        store.save(blocks_of(league))
        seats, outcomes, sums = store._connection.execute("SELECT seats, outcomes, sums FROM tally").fetchone()
        former = msgspec.json.decode(sums)
        del former["luck"], former["luck_versions"]
        body = msgspec.json.encode(former)
        row = (body, tallies._digest(seats, outcomes, body))
        store._connection.execute("UPDATE tally SET sums = ?, digest = ?", row)

        assert store.tallied(spans(league)) == store.recounted(spans(league))


CHECKPOINT = Checkpoint(block=3, key="k", beliefs={"ann": (25.1, 1 / 3), "bob": (0.1 + 0.2, 1e-300)})


def test_checkpoints_come_back_to_the_last_bit(tmp_path: Path) -> None:
    """Each league has its own, and only those of the last time."""
    later = replace(CHECKPOINT, block=9)
    with writing(tmp_path) as store:
        store.save_league(tournament())
        store.save_standings("test", b"{}", [later])
        store.save_standings("other", b"{}", [CHECKPOINT])
        store.save_standings("test", b"{}", [CHECKPOINT, later])
        kept = store.checkpoints("test")
        store.save_standings("test", b"{}")

        assert kept == (CHECKPOINT, later)
        assert store.checkpoints("test") == ()
        assert store.checkpoints("other") == (CHECKPOINT,)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE checkpoint SET body = CAST(replace(CAST(body AS TEXT), '25.1', '26.1') AS BLOB)",
        "UPDATE checkpoint SET body = x'7b'",
        "UPDATE checkpoint SET body = 'x'",
        "UPDATE checkpoint SET digest = x'00'",
    ],
)
def test_a_changed_checkpoint_is_none(tmp_path: Path, statement: str) -> None:
    """A flipped bit in what is believed would be seen by nobody."""
    with writing(tmp_path) as store:
        store.save_standings("test", b"{}", [CHECKPOINT])
    tampered(tmp_path, statement)

    with reading(tmp_path) as store:
        assert store.checkpoints("test") == ()


def test_a_tally_of_former_times_is_as_good_as_new(tmp_path: Path) -> None:
    """Its sums know nothing of pardoned faults, and there were none: it is believed, and blocks are added to it."""
    league = tournament("ann", "bob", cycles=4)
    blocks = blocks_of(league)
    with writing(tmp_path) as store:
        store.save(blocks[:2])
        connection = store._connection
        (seats, outcomes, sums) = connection.execute("SELECT seats, outcomes, sums FROM tally").fetchone()
        then = msgspec.json.decode(sums)
        del then["pardoned"]
        old = msgspec.json.encode(then)
        connection.execute("UPDATE tally SET sums = ?, digest = ?", (old, tallies._digest(seats, outcomes, old)))
        assert store.tallied(spans(league)) == store.recounted(spans(league))

        store.save(blocks[2:])

        assert store.tallied(spans(league)) == store.recounted(spans(league))
        assert store.tallied(spans(league))[0].tally.matches == 8


def test_other_numbers_of_seats_are_other_pools(tmp_path: Path) -> None:
    """A league that comes to seat four instead of two, by the same name, of the same game and players, begins anew."""
    pairs = tournament("ann", "bob", "cid", "dot", cycles=2)
    tables = replace(pairs, seats=4)
    with writing(tmp_path) as store:
        for league in (pairs, tables):
            store.save_league(league)
            assert not any(one.tally.matches for one in store.tallied(spans(league)))
            assert store.published("test") is None

            store.save(everything(league, [0, 1]))
            store.save_standings("test", b"{}")

        assert sum(one.tally.matches for one in store.tallied(spans(pairs))) == 6 * 2 * 2
        assert sum(one.tally.matches for one in store.tallied(spans(tables))) == 2 * 4
        assert not {each.key for each in pairings(pairs)} & {each.key for each in pairings(tables)}
