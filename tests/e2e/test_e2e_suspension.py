"""A whole tree of processes that is stopped and goes on, as by `docker pause`: nobody forfeits for it."""

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest
from e2e_arena import DEADLINE_S, Place, until

pytestmark = pytest.mark.process
STOPPED_S = 4.0
"""More than the backstop of a move, 3.2 s, and more than the watch takes for an accident."""


def state(pid: int) -> str:
    """The kernel's letter for it; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def stop_all(place: Place) -> list[int]:
    """Stop every process of the place, until none starts another; those that ran until then."""
    stopped: list[int] = []
    while fresh := [pid for pid in place.alive() if pid not in stopped and state(pid) in {"R", "S", "D"}]:
        for pid in fresh:
            os.kill(pid, signal.SIGSTOP)
        stopped += fresh
    return stopped


def on_move(place: Place) -> list[int]:
    """Bots that owe an answer: the others are stopped."""
    return [pid for pid in place.bots_alive() if state(pid) == "S"]


@pytest.mark.parametrize(
    "clock",
    [{"move_ms": 100}, pytest.param({"decides": "wall", "move_ms": 1500}, marks=pytest.mark.slow)],
    ids=["by CPU time", "by wall time"],
)
def test_a_stop_of_all_processes_costs_nobody_a_match(tmp_path: Path, clock: dict[str, object]) -> None:
    """Four seconds in the middle of a league, whichever time decides: no forfeit, and the table is the same."""
    place = Place(tmp_path).write("random", "dozes", cycles=2, chunk_blocks=1, options={"heaps": [1, 2]}, clock=clock)
    undisturbed = place.beside("undisturbed")
    undisturbed.league("--workers", "2")
    process = place.start_league("--workers", "2")
    until(lambda: len(place.matches()) >= 2 and bool(on_move(place)), within_s=DEADLINE_S, what="the first matches")

    stopped = stop_all(place)
    time.sleep(STOPPED_S)  # the length of the stop is the point
    for pid in stopped:
        with contextlib.suppress(ProcessLookupError):  # ended by one that went on before it
            os.kill(pid, signal.SIGCONT)
    out, err = process.communicate(timeout=DEADLINE_S)

    assert (process.returncode, err) == (0, ""), out
    assert [sum(row["faults"].values()) for row in place.rows()] == [0, 0]
    assert place.standings() == undisturbed.standings()
    log = (place.results / "logs" / "test.log").read_text()
    assert "is void, attempt 1" in log
    assert "was suspended for" in log
