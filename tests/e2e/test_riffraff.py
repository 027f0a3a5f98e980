"""Leagues with real physics from the outside: the same at any number of workers, after a kill, and when made again."""

import json
import os
import signal
import zlib
from pathlib import Path

import pytest
from support.cli_arena import ROOT
from support.e2e_arena import DEADLINE_S, Place
from support.waiting import a_second, until

pytest.importorskip("mujoco", reason="the extra `riffraff` is not installed")
pytestmark = pytest.mark.process

PATIENT = {"move_ms": 2000, "wall_ms": 60_000}
"""So that nothing is late on a busy machine: a fault would be another course of the match."""


def league_in(folder: Path) -> Place:
    """Two blocks of three matches; each block is a portion of its own for the workers."""
    players = [
        {"bot": str(ROOT / "bots" / "shipmate"), "name": name, "arguments": [name.rstrip("2")]}
        for name in ("tidy", "random", "random2")
    ]
    return Place(folder).write(
        game="riffraff", seats=3, players=players, cycles=2, chunk_blocks=1, seed=3, clock=PATIENT
    )


def simulations(place: Place) -> int:
    """As counted in the stored records, without the help of arena."""
    records = [json.loads(zlib.decompress(body)) for _, _, body in place.matches().values()]
    return sum(step["step"] == "simulation" for record in records for step in record["steps"])


@pytest.mark.slow
def test_workers_and_a_kill_change_no_simulation(tmp_path: Path) -> None:
    """One worker, two, or one that is killed after a block and two that go on: byte-identical matches and standings.

    Nothing appears in the folder where it was played, and `verify` makes every simulation again.
    """
    killed = league_in(tmp_path)
    one, two = killed.beside("one"), killed.beside("two")
    before = {path.name for path in tmp_path.iterdir()}

    one.league("--workers", "1")
    two.league("--workers", "2")
    process = killed.start_league("--workers", "1")
    until(lambda: bool(killed.matches()), within_s=DEADLINE_S, what="the first block")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    until(lambda: not killed.alive(), within_s=a_second(), what="the end of all processes")
    half = killed.matches()
    killed.league("--workers", "2")
    audit, _ = killed.run("verify")

    assert len(half) == 3
    assert {key: killed.matches()[key] for key in half} == half
    assert one.standings() == two.standings() == killed.standings()
    assert "PROBLEM" not in audit
    assert f"test: {simulations(killed)} simulations made again, all as recorded" in audit
    assert simulations(one) == simulations(two) == simulations(killed) > 0
    assert {path.name for path in tmp_path.iterdir()} - before == {"one", "two", "results"}
