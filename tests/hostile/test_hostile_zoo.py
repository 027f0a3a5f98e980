"""Every hostile bot in a league with two honest ones: it costs nobody but itself."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_bait import is_soon
from hostile_grounds import EVIL, Grounds, grounds_in, open_files, shortfalls
from hostile_league import QUICK, course, honest_players, league_of, played, without
from hostile_play import resident_mb
from hostile_zoo import ZOO, Animal

pytestmark = pytest.mark.process

MOST_GROWN_MB = 25.0
"""Of this process, over each bot and over the whole zoo."""
OF_THE_STORE = {"arena.db", "arena.db-wal", "arena.db-shm"}


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grounds]:
    with grounds_in(tmp_path_factory.mktemp("zoo")) as found:
        found.alone(QUICK, 0)  # what is imported and cached at first is nobody's growth
        before_mb, before_files = resident_mb(), open_files()
        yield found
        assert resident_mb() - before_mb < MOST_GROWN_MB
        assert open_files() == before_files


@pytest.mark.parametrize("animal", ZOO, ids=lambda animal: animal.id)
def test_a_hostile_bot_costs_nobody_but_itself(animal: Animal, grounds: Grounds, tmp_path: Path) -> None:
    """Honest matches are played as without it; its own end as foreseen; nothing stays, nothing was reached."""
    if shutil.which(animal.needs) is None:
        pytest.skip(f"no {animal.needs} on this machine")
    alone = grounds.alone(animal.clock, animal.rivals_think_ms)
    honest = honest_players(grounds.honest, animal.rivals_think_ms)
    tournament = league_of((*honest, grounds.player(animal, everywhere=True)), animal.clock)
    before, before_mb = (open_files(), grounds.files()), resident_mb()

    records = played(tournament, tmp_path / "results")

    honest_matches = without(records, EVIL)
    own = [record for record in records if record not in honest_matches]
    assert course(honest_matches) == course(alone)
    assert len(own) == 4
    assert [shortfall for record in own for shortfall in shortfalls(animal, record)] == []
    assert is_soon(lambda: not grounds.bait.left_processes() and not grounds.bait.running())
    assert (open_files(), grounds.files()) == before
    assert grounds.bait.touched() == []
    assert {file.name for file in (tmp_path / "results").iterdir()} <= OF_THE_STORE
    assert resident_mb() - before_mb < MOST_GROWN_MB
