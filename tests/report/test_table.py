"""The table of a league from its store: the same bytes by every road, and whatever happened in between."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.league_ledger import NAMES, SCHEDULES, by_luck, league_of
from support.made_matches import tournament

from arena.league.schedule import jobs
from arena.league.standings import standings_of
from arena.league.state import state_of
from arena.league.tournament import Tournament
from arena.operations.leagues import league_table, publish
from arena.standings.table import Standings, standings_json
from arena.store import database
from arena.store.matches import MatchStore


def play(store: MatchStore, league: Tournament, rng: Random) -> Standings:
    """Play all rounds, each in any order of its blocks, looking and publishing now and then; the last standings."""
    store.save_league(league)
    while not (state := state_of(league, store.ranks)).is_complete:
        current = state.rounds[-1]
        blocks = [block for job in jobs(league, {}, round_=current) for block in by_luck(job)]
        for block in rng.sample(blocks, len(blocks)):
            store.save([block])
            if rng.random() < 0.1:
                rng.choice((publish, league_table))(store, state_of(league, store.ranks))
    return publish(store, state)[0]


@pytest.mark.parametrize(
    "league", [*map(league_of, SCHEDULES), tournament(*NAMES[:5], seats=4, cycles=2)], ids=[*SCHEDULES, "four seats"]
)
@settings(max_examples=2)
@given(seed=st.integers(0, 10**6))
def test_the_standings_do_not_depend_on_what_happened_in_between(
    tmp_path_factory: pytest.TempPathFactory, league: Tournament, seed: int
) -> None:
    """Blocks in any order, tables in between: the bytes of a league that was played in order."""
    rng = Random(seed)
    with (
        closing(database.open_for_writing(tmp_path_factory.mktemp("one"))) as one,
        closing(database.open_for_writing(tmp_path_factory.mktemp("other"))) as other,
    ):
        stores = [MatchStore(one, Path("one")), MatchStore(other, Path("other"))]
        first, second = (play(store, league, rng) for store in stores)

        state = state_of(league, stores[0].ranks)
        by_results = standings_of(league, list(stores[0].results(state.blocks)))[0]

        assert first.is_complete
        assert {standings_json(each) for each in (first, second, by_results)} == {standings_json(first)}
        assert stores[0].published_standings("test") == standings_json(first)


IMPORTS = "import sys, arena.cli.bots, arena.cli.league, arena.cli.match, arena.cli.show; print('numpy' in sys.modules)"


@pytest.mark.process
def test_commands_do_not_wait_for_numpy() -> None:
    """Numpy is loaded by pages with calculations, and not by commands that play or show matches."""
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "False\n"
