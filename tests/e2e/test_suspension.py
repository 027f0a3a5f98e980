"""A whole tree of processes that is stopped and goes on, as by `docker pause`: nobody forfeits for it."""

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest
from support.e2e_arena import DEADLINE_S, Place
from support.waiting import state_of, until

pytestmark = pytest.mark.process
STOPPED_S = 4.0
"""More than the backstop of a move, 3.2 s, and more than the watch takes for an accident."""


def dozes(pid: int) -> bool:
    """Whether it is in the sleep that this bot takes for a move; it waits for a pipe at all other times."""
    try:
        return state_of(pid)[0] == "S" and Path(f"/proc/{pid}/wchan").read_text() in {"hrtimer_nanosleep", "0", ""}
    except OSError:
        return False


def send(number: signal.Signals, pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # ended meanwhile
            os.kill(pid, number)


def stop_all(place: Place) -> list[int]:
    """Stop every process of the place, until none starts another; those that ran until then."""
    stopped: list[int] = []
    while fresh := [pid for pid in place.alive() if pid not in stopped and state_of(pid)[0] in {"R", "S", "D"}]:
        send(signal.SIGSTOP, fresh)
        stopped += fresh
    return stopped


def stop_on_move(place: Place) -> list[int]:
    """The same at a moment when a bot owes an answer; the referee has stopped the others itself."""
    deadline_s = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline_s:
        until(lambda: any(map(dozes, place.bots_alive())), within_s=DEADLINE_S, what="a move")
        dozing = set(filter(dozes, place.bots_alive()))
        stopped = stop_all(place)
        if dozing & set(stopped):
            return stopped
        send(signal.SIGCONT, stopped)
    pytest.fail("no moment was found at which a bot owed an answer")


@pytest.mark.parametrize(
    "clock",
    [{"move_ms": 100}, pytest.param({"decides": "wall", "move_ms": 1500}, marks=pytest.mark.slow)],
    ids=["by CPU time", "by wall time"],
)
def test_a_stop_of_all_processes_costs_nobody_a_match(tmp_path: Path, clock: dict[str, object]) -> None:
    """Four seconds in the middle of a league, whichever time decides: no forfeit, and the table is the same."""
    place = Place(tmp_path).write("random", "dozes", cycles=3, chunk_blocks=1, options={"heaps": [1, 2]}, clock=clock)
    undisturbed = place.beside("undisturbed")
    undisturbed.league("--workers", "2")
    process = place.start_league("--workers", "2")
    until(lambda: bool(place.matches()), within_s=DEADLINE_S, what="the first matches")

    stopped = stop_on_move(place)
    time.sleep(STOPPED_S)  # the length of the stop is the point
    send(signal.SIGCONT, stopped)
    out, err = process.communicate(timeout=DEADLINE_S)

    assert process.returncode == 0, out
    assert all(line.startswith("WARNING: wall time decides") for line in err.splitlines()), err
    assert [sum(row["faults"].values()) for row in place.rows()] == [0, 0]
    assert place.standings() == undisturbed.standings()
    log = (place.results / "logs" / "test.log").read_text()
    assert "is void, attempt 1" in log
    assert "was suspended for" in log
