"""Deaths of the processes that play, below a worker that lives on: each counts once, and nobody waits for ever."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from support.fake_cluster import OPENING, FakeCluster, PlayerDied, Silenced, jobs_and_bots, run
from support.golden import Golden
from support.league_made import played_block
from support.made_matches import tournament

from arena.cluster.messages import Dispatch
from arena.cluster.session import Slot
from arena.league.driver import LocalBackend
from arena.league.schedule import Fixture, Job
from arena.match.columns import PlayedBlock
from arena.process.reaper import children, read_proc
from arena.process.workers import multiprocessing_pids

PATIENCE_S = 240.0


@pytest.mark.process
@pytest.mark.parametrize(
    ("victim", "endings"),
    [("fork server", {"played": 4}), ("player", {"died": 1, "undelivered": 2, "played": 1})],
)
def test_a_death_below_a_worker_ends_no_life_but_the_one_in_play(
    tmp_path: Path, victim: str, endings: dict[str, int]
) -> None:
    """Three jobs are there when it comes, and a fourth one after it: all four are over.

    Without its fork server a worker seemed dead; the jobs behind the one in play were cancelled, and never over.
    """
    queued, archives = jobs_and_bots(tmp_path, cycles=32, chunk_blocks=8, options={"heaps": [3, 4]})
    backend = LocalBackend(1)
    attempts = {str(number): job for number, job in enumerate(queued)}

    async def play() -> Counter[str]:
        slot = Slot(tmp_path / "worker", lambda: backend)
        await slot.meet(OPENING)
        awaited = frozenset("0123")
        report = await slot.exchange(Dispatch("s", awaited, {key: attempts[key] for key in "012"}, archives))
        while not any(one.finished for one in report.attempts.values()):
            report = await slot.exchange(Dispatch("s", awaited, wait_s=0.01))
        (player,) = backend.workers.pids
        fork_server = multiprocessing_pids() & children(os.getpid())
        os.kill(player if victim == "player" else named(fork_server, b"forkserver"), signal.SIGKILL)
        while victim == "player" and not any(one.ending for one in report.attempts.values()):
            report = await slot.exchange(Dispatch("s", awaited, wait_s=0.01))
        report = await slot.exchange(Dispatch("s", awaited, {"3": attempts["3"]}, wait_s=PATIENCE_S))
        slot.part("s")
        return Counter(one.ending for one in report.attempts.values())

    assert asyncio.run(asyncio.wait_for(play(), PATIENCE_S)) == endings


def named(pids: set[int], word: bytes) -> int:
    (found,) = [pid for pid in pids if word in read_proc(f"/proc/{pid}/cmdline")]
    return found


def once(error: type[Exception], times: int = 1) -> Callable[[Job, Fixture], PlayedBlock]:
    """Return a function that plays blocks and raises `error` for the first ones."""
    left = [error] * times

    def play(job: Job, fixture: Fixture) -> PlayedBlock:
        if left:
            raise left.pop()
        return played_block(fixture, job.pairing.names)

    return play


def test_one_death_counts_once() -> None:
    """Two deaths in a row of the process that plays, each with a dozen jobs behind it, leave no worker out."""
    league, cluster = tournament(cycles=200, chunk_blocks=1), FakeCluster()

    run(league, cluster, workers=1, w0={"play": once(PlayerDied, 2), "block_s": 0.01})

    assert cluster.found["w0"].most_lives > 3
    assert cluster.said == []
    assert cluster.attempts == {1, 2}


def test_three_deaths_in_a_row_leave_a_worker_out() -> None:
    league, cluster = tournament(cycles=40, chunk_blocks=5), FakeCluster()

    run(league, cluster, workers=2, w0={"play": once(PlayerDied, 100)})

    assert cluster.said == ["worker w0 is left out: it failed 3 times in a row, at last: a worker process died"]


def test_a_worker_that_answers_and_gets_nowhere_is_said_and_its_lives_go_elsewhere(golden: Golden) -> None:
    """Its process was stopped, for example; a new session begins there, and plays."""
    league, cluster = tournament(cycles=40, chunk_blocks=5), FakeCluster()

    run(league, cluster, workers=2, w0={"play": once(Silenced)})

    (said,) = cluster.said
    golden(said)
    assert sorted(cluster.parted) == ["w0", "w0", "w1"]  # two of them at the end
    assert cluster.found["w0"].sessions == 2


def test_a_match_that_takes_longer_than_expected_is_played_in_the_end() -> None:
    """Each time a worker is given up over it, the next one has twice as long."""
    league, cluster = tournament("ann", "bob", cycles=1), FakeCluster()

    run(league, cluster, workers=1, w0={"block_s": 2000.0})

    assert len(cluster.said) == 2, cluster.said
