"""Hostile bots in a league with honest ones, each in a control group. Run by .ci/guest in a virtual machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace
from support.hostile_bots import BY_ID, HostileBot
from support.hostile_grounds import EVIL, Grounds, grounds_in, shortfalls
from support.hostile_league import course, honest_players, league_of, played, without
from support.waiting import eventually

from arena.match.settings import ClockSettings
from arena.process.sandbox import cgroup, scope

pytestmark = pytest.mark.guest
SLOW_MACHINE: Final = ClockSettings(move_ms=5_000, bank_ms=0, wall_ms=20_000, startup_ms=60_000)
ROGUES: Final = [BY_ID[name] for name in ("memory-eight-processes", "tasks-fork-bomb", "tasks-daemon")]


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grounds]:
    assert scope.enter() == ""
    with grounds_in(tmp_path_factory.mktemp("hostile")) as found:
        yield found


@pytest.mark.parametrize("rogue", ROGUES, ids=lambda each: each.id)
def test_a_hostile_bot_costs_nobody_but_itself(rogue: HostileBot, grounds: Grounds, tmp_path: Path) -> None:
    """As on every machine; and the kernel has ended those that wanted too much, and no group is left."""
    patient = replace(rogue, clock=SLOW_MACHINE)
    honest = honest_players(grounds.honest)
    tournament = league_of((*honest, grounds.player(patient, everywhere=True)), SLOW_MACHINE)
    base = cgroup.delegated_group()
    assert base is not None

    records = played(tournament, tmp_path / "results")

    honest_matches = without(records, EVIL)
    own = [record for record in records if record not in honest_matches]
    assert course(honest_matches) == course(grounds.alone(0, SLOW_MACHINE))
    assert [shortfall for record in own for shortfall in shortfalls(patient, record)] == []
    for record in own:
        if record.fault is not None and "MiB of memory" in rogue.word:
            assert "it used all of the" in record.fault.message
    assert eventually(lambda: not grounds.decoys.left_processes() and not grounds.decoys.running())
    assert grounds.decoys.touched() == []
    assert list(base.glob("arena-*-*")) == []
