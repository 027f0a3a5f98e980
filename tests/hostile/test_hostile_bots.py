"""Every hostile bot in a league with an honest one: it costs nobody but itself, and others play on as before."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hostile_bots import HOSTILE_BOTS, HostileBot
from support.hostile_grounds import Grounds, grounds_in, shortfalls
from support.hostile_league import PATIENT, course, honest_players, league_of, played
from support.hostile_play import forget_peak, resident_mb
from support.process_boxes import open_files
from support.waiting import eventually

pytestmark = pytest.mark.process

MOST_GROWN_MB = 25.0
"""Of this process: at its peak over each bot, and left by all hostile bots."""
OF_THE_STORE = {"arena.db", "arena.db-wal", "arena.db-shm"}


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grounds]:
    with grounds_in(tmp_path_factory.mktemp("hostile")) as found:
        found.alone(0)  # what is imported and cached at first is nobody's growth
        before_mb, before_files = resident_mb(), open_files()
        yield found
        assert resident_mb() - before_mb < MOST_GROWN_MB
        assert open_files() == before_files


@pytest.fixture(scope="module")
def kind(request: pytest.FixtureRequest, grounds: Grounds, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A kind of hostile bots. After all of that kind the honest ones play among themselves as they did without them."""
    yield request.param
    for think_ms in {each.rivals_think_ms for each in HOSTILE_BOTS if each.kind == request.param}:
        league = league_of(honest_players(grounds.honest, think_ms), PATIENT)
        after = played(league, tmp_path_factory.mktemp("after") / "results")
        assert course(after) == course(grounds.alone(think_ms))


def lane(number: int) -> list[pytest.MarkDecorator]:
    """The first bot of each kind and every tenth of all play in the main suite; a lane of CI plays the others."""
    is_first = not any(each.kind == HOSTILE_BOTS[number].kind for each in HOSTILE_BOTS[:number])
    return [] if is_first or number % 10 == 0 else [pytest.mark.slow]


@pytest.mark.parametrize(
    ("kind", "rogue"),
    [pytest.param(each.kind, each, id=each.id, marks=lane(number)) for number, each in enumerate(HOSTILE_BOTS)],
    indirect=["kind"],
)
def test_a_hostile_bot_costs_nobody_but_itself(kind: str, rogue: HostileBot, grounds: Grounds, tmp_path: Path) -> None:
    """Its own matches end as foreseen, with all their lines on record; nothing stays, nothing was reached."""
    assert kind == rogue.kind
    if shutil.which(rogue.needs) is None:
        pytest.skip(f"no {rogue.needs} on this machine")
    grounds.alone(rogue.rivals_think_ms)
    rival = honest_players(grounds.honest, rogue.rivals_think_ms)[HOSTILE_BOTS.index(rogue) % 2]
    tournament = league_of((rival, grounds.player(rogue, everywhere=True)), rogue.clock)
    before, before_mb = (open_files(), grounds.files()), resident_mb()
    forget_peak()

    records = played(tournament, tmp_path / "results")
    peak_mb = resident_mb("VmHWM")

    assert len(records) == 2
    assert peak_mb - before_mb < MOST_GROWN_MB
    assert [shortfall for record in records for shortfall in shortfalls(rogue, record)] == []
    assert eventually(lambda: not grounds.decoys.left_processes() and not grounds.decoys.running())
    assert (open_files(), grounds.files()) == before
    assert grounds.decoys.touched() == []
    assert {file.name for file in (tmp_path / "results").iterdir()} <= OF_THE_STORE
