"""Matches in the database: exactly once, whole blocks, in the order of the schedule."""

import functools
import sqlite3
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.golden import Golden
from support.store_made import blocks_of, counted, dump, fill, reading, tournament, writing
from support.tampering import execute_sql

from arena.errors import DamagedStore, SpecError
from arena.league.schedule import pairings
from arena.league.state import state_of
from arena.league.tournament import Tournament, without_machine_settings
from arena.match.columns import Machine, pack_blocks
from arena.operations.leagues import publish
from arena.standings.table import standings_json
from arena.store.matches import MatchStore


def test_what_is_stored_comes_back(tmp_path: Path) -> None:
    """Every match comes back with its result and its record, under its id."""
    league = tournament()
    blocks = fill(tmp_path, league)

    with reading(tmp_path) as store:
        found = {str(match.key): match for match in store.matches(counted(league))}
        one = store.match(f"{blocks[3].pairing}-{blocks[3].block}-1")

    expected = {str(one.key): one for block in blocks for one in block.results}
    assert found == expected
    assert one == blocks[3].results[1]


def test_the_machine_of_a_block_is_stored_and_changes_nothing_else(tmp_path: Path) -> None:
    """The first machine that stored a block stays; standings are the same bytes as without machines."""
    league = tournament(cycles=4)
    blocks = blocks_of(league)
    node, other = Machine("node7", 20.5), Machine("node8", 9.0)
    with writing(tmp_path / "far") as store:
        store.save_league(league)
        store.save([blocks[0], replace(blocks[1], machine=node), replace(blocks[2], machine=node)])
        store.save([replace(each, machine=other) for each in blocks[:4]])
        store.save(blocks)
        state = state_of(league, store.ranks)
        played_on = store.machines(counted(league))
        table = standings_json(publish(store, state)[0])
    fill(tmp_path / "near", league)

    assert played_on == {node: 2, other: 1}
    with writing(tmp_path / "near") as store:
        assert store.machines(counted(league)) == {}
        assert standings_json(publish(store, state_of(league, store.ranks))[0]) == table


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_order_and_repetition_of_arrival_change_nothing(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Blocks in any order, some twice, in any jobs: the same results in the same order, nothing twice."""
    league = tournament(cycles=2)
    blocks = blocks_of(league)
    rng = Random(seed)
    arriving = rng.sample(blocks + blocks[: rng.randrange(4)], k=len(blocks) + 0)
    arriving += [block for block in blocks if block not in arriving]
    results = tmp_path_factory.mktemp("results")
    with writing(results) as store:
        while arriving:
            size = rng.randint(1, 4)
            store.save(arriving[:size])
            arriving = arriving[size:]
        found = store.in_schedule_order(counted(league))

    assert [(each.key.block, each.players) for each in found] == [
        (cycle, players)
        for cycle in range(2)
        for pair in pairings(league)
        for players in [tuple(p.name for p in pair.players), tuple(p.name for p in reversed(pair.players))]
    ]


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    """A block that comes again with other results is ignored: a stored match never changes."""
    league = tournament("ann", "bob", cycles=1)
    (block,) = fill(tmp_path, league)
    before = dump(tmp_path)
    first, *others = block.results
    other = replace(first, ranks=first.ranks[::-1], scores=(first.scores or ())[::-1], moves=(99, 99))

    with writing(tmp_path) as store:
        store.save(pack_blocks([other, *others]))

    assert dump(tmp_path) == before


class Failing:
    """A connection that fails at its n-th statement, as a crash or a full disk would."""

    def __init__(self, connection: sqlite3.Connection, after: int) -> None:
        self._connection = connection
        self._left = after

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._connection, name)
        return functools.partial(self._count, method) if name in {"execute", "executemany"} else method

    def _count(self, method: Callable[..., Any], statement: str, *values: Any) -> Any:
        self._left -= 1
        if self._left < 0 and statement != "ROLLBACK":
            raise KeyboardInterrupt
        return method(statement, *values)


def stored(store: MatchStore, league: Tournament) -> list[int]:
    """How many matches there are, by ranks and by sums; nothing without any."""
    ranks, sums = store.ranks(counted(league)).values(), store.sums(counted(league))
    return [*(one.matches for one in ranks), *sums.matches.tolist()]


STATEMENTS = 10
"""Of the transaction below."""


@pytest.mark.parametrize("after", range(STATEMENTS + 2))
def test_a_batch_is_stored_whole_or_not_at_all(tmp_path: Path, after: int) -> None:
    """Stopped at any statement of a transaction, none of its blocks is there; later all of them are."""
    league = tournament("ann", "bob", cycles=2)
    blocks = blocks_of(league)
    with writing(tmp_path) as store:
        store.save_league(league)
        connection = store._connection
        store._connection = Failing(connection, after)  # type: ignore[assignment]
        stopped = False
        try:
            store.save(blocks)
        except KeyboardInterrupt:
            stopped = True
        store._connection = connection

        assert stopped == (after < STATEMENTS)
        assert stored(store, league) == ([] if stopped else [4, 4])
        assert store.head().size == (0 if stopped else 4)
        store.save(blocks)
        assert stored(store, league) == [4, 4]
        assert store.head().size == 4
    assert [len(rows) for rows in dump(tmp_path)] == [2, 4]


def test_unknown_names_are_told_with_the_known_ones(tmp_path: Path, golden: Golden) -> None:
    """A league or a match that is not there is a mistake of the command line."""
    fill(tmp_path, tournament())

    with reading(tmp_path) as store:
        with golden.raises(SpecError):
            store.league("tset")
        for wrong in ("x", "a-b-c", "a-1-2-3", "a-1-0", "", "a--1-0", "a-٣-0"):
            with golden.raises(SpecError):
                store.match(wrong)


@pytest.mark.parametrize("statement", ["UPDATE record SET body = 'text'", "UPDATE record SET digest = x'35'"])
def test_a_record_nobody_wrote_is_damage(tmp_path: Path, statement: str, golden: Golden) -> None:
    """Named, not passed on; results are there all the same."""
    league = tournament("ann", "bob", cycles=1)
    fill(tmp_path, league)
    execute_sql(tmp_path, statement)

    with reading(tmp_path) as store:
        assert len(list(store.results(counted(league)))) == 2
        with golden.raises(DamagedStore):
            list(store.matches(counted(league)))


@pytest.mark.parametrize(
    "edit",
    [
        "tournament = replace(tournament, '\"cycles\":4', '\"cycles\":3')",
        "digest = replace(digest, substr(digest, 1, 1), 'x')",
        "name = 'tess'",
        "tournament = 5",
        "tournament = '[]'",
    ],
)
def test_an_edited_tournament_is_never_used(tmp_path: Path, edit: str) -> None:
    """Readers get an error with what to do; storing the tournament anew is allowed."""
    with writing(tmp_path) as store:
        store.save_league(tournament())
        store._connection.execute(f"UPDATE league SET {edit}")
        (name,) = store.leagues()

        with pytest.raises(DamagedStore, match=f"league {name}: the stored tournament is not what was saved.*run FILE"):
            store.league(name)
        store.save_league(tournament(name=name))
        assert store.league(name).cycles == 4


@pytest.mark.parametrize(
    "forge",
    [
        lambda league: league["players"][0].update(name="bob"),
        lambda league: league["players"][0].update(name="\x1b[2J"),
        lambda league: league.update(players=[{**league["players"][0], "name": f"p{n}"} for n in range(1001)]),
        lambda league: league.update(cycles=-4),
        lambda league: league.update(cycles=10**25),
        lambda league: league.update(seats=0),
        lambda league: league.update(seats=9),
        lambda league: league["rating"].update(sigma=-1.0),
        lambda league: league["options"].update(deep=5),
    ],
)
def test_a_tournament_that_no_file_gives_is_refused(tmp_path: Path, forge: Callable[[Any], object]) -> None:
    """It has the digest of its bytes, as somebody who sends a folder computes it."""
    with writing(tmp_path) as store:
        store.save_league(tournament())
        ((text,),) = store._connection.execute("SELECT tournament FROM league").fetchall()
        forge(league := msgspec.json.decode(text))
        made = msgspec.json.encode(league).replace(b'"deep":5', b'"deep":' + b"[" * 5000 + b"]" * 5000)
        store._connection.execute("UPDATE league SET tournament = ?, digest = ?", (made, sha256(made).hexdigest()))

        with pytest.raises(DamagedStore, match="the stored tournament is not what was saved"):
            store.league("test")


def test_orphans_are_what_no_league_has(tmp_path: Path) -> None:
    """Orphans are matches of another seed, and of blocks beyond the cycles."""
    fill(tmp_path, tournament("ann", "bob", cycles=3))
    fill(tmp_path, tournament("ann", "bob", cycles=2, seed="2"))

    with reading(tmp_path) as store:
        leagues = [tournament("ann", "bob", cycles=1), tournament("ann", "bob", cycles=2, seed="2")]
        both = {**counted(leagues[0]), **counted(leagues[1])}
        found = [len(list(store.orphans(blocks))) for blocks in ({}, counted(leagues[0]), both)]

    assert found == [10, 8, 4]


def test_matches_and_records_without_each_other_are_counted(tmp_path: Path) -> None:
    """The counts cover all leagues."""
    fill(tmp_path, tournament("ann", "bob", cycles=3))
    with writing(tmp_path) as store:
        store._connection.execute("DELETE FROM record WHERE block = 1")
        store._connection.execute("DELETE FROM block WHERE number = 2")

        assert (store.orphans_of("block", "record"), store.orphans_of("record", "block")) == (2, 2)


def test_a_league_reads_as_it_was_saved(tmp_path: Path) -> None:
    """Published standings stay with the same tournament on another machine, and go with another one."""
    league = tournament(options={"heaps": [2, 3]}, workers=2)
    players = tuple(replace(each, bot=replace(each.bot, source="/home/x", folder="/home/y")) for each in league.players)
    with writing(tmp_path) as store:
        store.save_league(league)
        store.save_standings("test", b"{}")
        store.save_league(replace(league, players=players, workers=7))
        text = bytes(store._connection.execute("SELECT tournament FROM league").fetchone()[0])

        assert not any(part in text for part in (b"/home", b'"workers":7', b'"folder":"/"'))
        assert (store.leagues(), store.league("test")) == (["test"], without_machine_settings(league))
        assert store.published_standings("test") == b"{}"
        store.save_league(replace(league, cycles=2))
        assert store.published_standings("test") is None
