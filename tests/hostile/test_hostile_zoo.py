"""Every hostile bot in a league with an honest one: it costs nobody but itself, and others play on as before."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_bait import is_soon
from hostile_grounds import Grounds, grounds_in, open_files, shortfalls
from hostile_league import QUICK, course, honest_players, league_of, played
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


@pytest.fixture(scope="module")
def kind(request: pytest.FixtureRequest, grounds: Grounds, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A kind of animals. After all of that kind the honest ones play among themselves as they did without them."""
    yield request.param
    for number, setting in enumerate(
        {(each.clock, each.rivals_think_ms) for each in ZOO if each.kind == request.param}
    ):
        clock, think_ms = setting
        honest = honest_players(grounds.honest, think_ms)
        after = played(league_of(honest, clock), tmp_path_factory.mktemp("after") / f"{number}")
        assert course(after) == course(grounds.alone(clock, think_ms))


@pytest.mark.parametrize(
    ("kind", "animal"), [(each.kind, each) for each in ZOO], indirect=["kind"], ids=[each.id for each in ZOO]
)
def test_a_hostile_bot_costs_nobody_but_itself(kind: str, animal: Animal, grounds: Grounds, tmp_path: Path) -> None:
    """Its own matches end as foreseen, with all their lines on record; nothing stays, nothing was reached."""
    assert kind == animal.kind
    if shutil.which(animal.needs) is None:
        pytest.skip(f"no {animal.needs} on this machine")
    grounds.alone(animal.clock, animal.rivals_think_ms)
    rival = honest_players(grounds.honest, animal.rivals_think_ms)[ZOO.index(animal) % 2]
    tournament = league_of((rival, grounds.player(animal, everywhere=True)), animal.clock)
    before, before_mb = (open_files(), grounds.files()), resident_mb()

    records = played(tournament, tmp_path / "results")

    assert len(records) == 2
    assert [shortfall for record in records for shortfall in shortfalls(animal, record)] == []
    assert is_soon(lambda: not grounds.bait.left_processes() and not grounds.bait.running())
    assert (open_files(), grounds.files()) == before
    assert grounds.bait.touched() == []
    assert {file.name for file in (tmp_path / "results").iterdir()} <= OF_THE_STORE
    assert resident_mb() - before_mb < MOST_GROWN_MB
