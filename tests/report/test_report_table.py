"""The table of a league from its store: the same bytes by every road, and whatever happened in between."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.league.results import MatchSummary, PlayedBlock, PlayedMatch
from arena.league.schedule import chunks
from arena.league.schedules.settings import Knockout, RoundRobin, Swiss
from arena.league.state import state_of
from arena.league.tournament import Player, Tournament
from arena.match.record import PackedRecord
from arena.match.terms import ClockSettings
from arena.process.manifest import BotSpec, Manifest
from arena.report.table import publish, standings_after, standings_of, table
from arena.standings.ratings import RatingSettings
from arena.standings.table import Standings, standings_json
from arena.store import database
from arena.store.matches import MatchStore

RECORD = PackedRecord(codec="none", digest="", body=b"")
SCHEDULES: dict[str, dict[str, Any]] = {
    "cycles": {"cycles": 4},
    "tables of three": {"cycles": 2, "seats": 3},
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
    players = tuple(
        Player(
            name=name,
            bot=BotSpec(manifest=Manifest(name=name, command=("true",)), source="", folder="", digest=name * 8),
        )
        for name in ("eve", "ann", "bob", "cid", "dot")
    )
    fields: dict[str, Any] = {
        "name": "test",
        "game": "nim",
        "options": {},
        "players": players,
        "seed": "1",
        "cycles": 4,
        "chunk_blocks": 2,
        "clock": ClockSettings(),
        "rating": RatingSettings(),
    }
    return Tournament(**{**fields, **changes})


def played(planned: Any, seats: int, rng: Random) -> PlayedBlock:
    """A block that was never played."""
    matches = []
    for rotation in range(seats):
        scores = tuple(rng.randrange(4) for _ in range(seats))
        ranks = tuple(sum(other > own for other in scores) for own in scores)
        many, times = (5,) * seats, tuple(rng.uniform(0, 9) for _ in range(seats))
        summary = MatchSummary(ranks, scores, "normal", -1, many, times, times)
        matches.append(PlayedMatch(rotation=rotation, summary=summary, record=RECORD))
    return PlayedBlock(fixture=planned, matches=tuple(matches))


def play(store: MatchStore, tournament: Tournament, rng: Random) -> Standings:
    """Play all rounds, each in any order of its blocks, looking and publishing now and then; the last standings."""
    store.save_league(tournament)
    while not (state := state_of(tournament, store.ranks)).is_complete:
        current = state.rounds[-1]
        known = {pairing.key: pairing for pairing in current.pairings}
        planned = [
            (each, len(known[chunk.pairing.key].players))
            for chunk in chunks(tournament, {}, of=current)
            for each in chunk.fixtures
        ]
        for each, seats in rng.sample(planned, len(planned)):
            store.save([played(each, seats, Random(f"{each.pairing} {each.block}"))])
            if rng.random() < 0.1:
                rng.choice((publish, table))(store, state_of(tournament, store.ranks))
    return publish(store, state)[0]


@pytest.mark.parametrize("kind", SCHEDULES)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_standings_do_not_depend_on_what_happened_in_between(
    tmp_path_factory: pytest.TempPathFactory, kind: str, seed: int
) -> None:
    """Blocks in any order, tables and checkpoints in between: the bytes of a league that was played in order."""
    tournament = league(**SCHEDULES[kind])
    rng = Random(seed)
    with (
        closing(database.open_for_writing(tmp_path_factory.mktemp("one"))) as one,
        closing(database.open_for_writing(tmp_path_factory.mktemp("other"))) as other,
    ):
        stores = [MatchStore(one, Path("one")), MatchStore(other, Path("other"))]
        first, second = (play(store, tournament, rng) for store in stores)

        state = state_of(tournament, stores[0].ranks)
        by_results = standings_of(tournament, stores[0].results(state.spans))
        again, _ = standings_after(
            tournament,
            stores[0].recounted(state.spans),
            state.scheduled,
        )

        assert first.is_complete
        assert {standings_json(each) for each in (first, second, by_results, again)} == {standings_json(first)}
        assert stores[0].published("test") == standings_json(first)


def test_a_longer_league_goes_on_from_where_it_was(tmp_path: Path) -> None:
    """As another table without any checkpoint has it, to the last bit; the beliefs that were kept are used."""
    short, long = league(cycles=3), league(cycles=5)
    with closing(database.open_for_writing(tmp_path)) as connection:
        store = MatchStore(connection, tmp_path)
        play(store, short, Random(1))
        kept = store.checkpoints("test")
        play_rest(store, long)

        state = state_of(long, store.ranks)
        found = table(store, state)[0]
        without = standings_of(long, store.results(state.spans))
        wrong = [msgspec.structs.replace(each, beliefs=dict.fromkeys(each.beliefs, (0.0, 1.0))) for each in kept]
        misled, _ = standings_after(long, store.tallied(state.spans), state.scheduled, wrong)

    assert [each.block for each in kept] == [3]
    assert standings_json(found) == standings_json(without) != standings_json(misled)


IMPORTS = "import sys, arena.cli.leaderboard, arena.cli.league; print('numpy' in sys.modules)"


@pytest.mark.process
def test_commands_do_not_wait_for_numpy() -> None:
    """It is loaded when skills are calculated, and not by whoever asks for help."""
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "False\n"


def play_rest(store: MatchStore, tournament: Tournament) -> None:
    for chunk in chunks(tournament, state_of(tournament, store.ranks).finished):
        store.save([played(each, len(chunk.pairing.players), Random(each.block)) for each in chunk.fixtures])


def test_a_shorter_league_has_fewer_matches(tmp_path: Path) -> None:
    """What lies beyond its cycles is not of it, and checkpoints of the longer one do not mislead it."""
    with closing(database.open_for_writing(tmp_path)) as connection:
        store = MatchStore(connection, tmp_path)
        play(store, league(cycles=5), Random(1))

        state = state_of(league(cycles=2), store.ranks)
        found = table(store, state)[0]

        assert (found.matches, found.is_complete) == (40, True)
        assert standings_json(found) == standings_json(standings_of(league(cycles=2), store.results(state.spans)))
