"""The table of a league from its store: the same bytes by every road, and whatever happened in between."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.made_matches import match_result, tournament

from arena.league.schedule import Job, jobs
from arena.league.schedules.settings import Knockout, RoundRobin, Swiss
from arena.league.standings import standings_of
from arena.league.state import state_of
from arena.league.tournament import Tournament
from arena.match.columns import PlayedBlock, pack_blocks
from arena.match.results import MatchKey, rotate
from arena.operations.leagues import league_table, publish
from arena.standings.table import Standings, standings_json
from arena.store import database
from arena.store.matches import MatchStore

SCHEDULES: dict[str, dict[str, Any]] = {
    "cycles": {"cycles": 3},
    "tables of four": {"cycles": 2, "seats": 4},
    "swiss": {"cycles": 0, "schedule": Swiss(rounds=3)},
    "knockout": {"cycles": 0, "schedule": Knockout(blocks_per_tie=2, cap_blocks=4)},
    "until decided": {
        "cycles": 2,
        "schedule": RoundRobin(until="decided", likelihood=0.9, step_blocks=2, cap_blocks=6),
    },
}


def league(**changes: Any) -> Tournament:
    """A league of nim between five players that exist on paper only."""
    return tournament("eve", "ann", "bob", "cid", "dot", **changes)


def played(planned: Any, job: Job, rng: Random) -> PlayedBlock:
    """A block that was never played."""
    seats = len(job.pairing.names)
    matches = []
    for rotation in range(seats):
        scores = [rng.randrange(4) for _ in range(seats)]
        times = tuple(rng.randrange(9000) for _ in range(seats))
        key = MatchKey(planned.pairing, planned.block, rotation)
        names = rotate(job.pairing.names, rotation)
        matches.append(match_result(key, names, scores, time_us=times, slowest_us=times))
    return next(pack_blocks(matches))


def play(store: MatchStore, league: Tournament, rng: Random) -> Standings:
    """Play all rounds, each in any order of its blocks, looking and publishing now and then; the last standings."""
    store.save_league(league)
    while not (state := state_of(league, store.ranks)).is_complete:
        current = state.rounds[-1]
        planned = [(each, job) for job in jobs(league, {}, round_=current) for each in job.fixtures]
        for each, job in rng.sample(planned, len(planned)):
            store.save([played(each, job, Random(f"{each.pairing} {each.block}"))])
            if rng.random() < 0.1:
                rng.choice((publish, league_table))(store, state_of(league, store.ranks))
    return publish(store, state)[0]


@pytest.mark.parametrize("kind", SCHEDULES)
@settings(max_examples=3)
@given(seed=st.integers(0, 10**6))
def test_the_standings_do_not_depend_on_what_happened_in_between(
    tmp_path_factory: pytest.TempPathFactory, kind: str, seed: int
) -> None:
    """Blocks in any order, tables in between: the bytes of a league that was played in order."""
    tournament = league(**SCHEDULES[kind])
    rng = Random(seed)
    with (
        closing(database.open_for_writing(tmp_path_factory.mktemp("one"))) as one,
        closing(database.open_for_writing(tmp_path_factory.mktemp("other"))) as other,
    ):
        stores = [MatchStore(one, Path("one")), MatchStore(other, Path("other"))]
        first, second = (play(store, tournament, rng) for store in stores)

        state = state_of(tournament, stores[0].ranks)
        by_results = standings_of(tournament, list(stores[0].results(state.blocks)))[0]

        assert first.is_complete
        assert {standings_json(each) for each in (first, second, by_results)} == {standings_json(first)}
        assert stores[0].published_standings("test") == standings_json(first)


IMPORTS = "import sys, arena.cli.bots, arena.cli.league, arena.cli.match, arena.cli.show; print('numpy' in sys.modules)"


@pytest.mark.process
def test_commands_do_not_wait_for_numpy() -> None:
    """Numpy is loaded by pages with calculations, and not by commands that play or show matches."""
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "False\n"
