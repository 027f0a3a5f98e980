"""The backends with real processes: the same results everywhere, logs from all workers, deaths that cost nothing."""

import logging
import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.league_made import all_blocks, numbers, players_of, real_tournament
from support.made_matches import tournament
from support.waiting import our_processes, until

from arena.errors import HarnessFault
from arena.league.driver import Backend, LocalBackend, play_jobs
from arena.league.schedule import jobs
from arena.league.tournament import Tournament
from arena.match.columns import PlayedBlock
from arena.match.record import ActionStep, unpack
from arena.process.sandbox import self_test
from arena.process.workers import Workers

pytestmark = pytest.mark.process
DEADLINE_S = 20.0


def test_starts_nothing_before_the_first_batch() -> None:
    """A backend that is opened and closed has started no process and no thread."""
    before = our_processes()

    backend = LocalBackend(4)

    assert our_processes() <= before
    backend.close(is_interrupted=False)
    LocalBackend(4).close(is_interrupted=True)
    assert our_processes() <= before


def test_a_worker_shares_its_session_with_nobody() -> None:
    """Linux shares cores out by session: programs of the user's session must not make a referee wait."""
    with Workers(2, preload="os") as workers:
        sessions = [workers.submit(os.getsid, 0) for _ in range(2)]

        assert [session.result(DEADLINE_S) for session in sessions] == workers.pids


def test_nothing_starts_where_bots_cannot_be_isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The backend tries it for all its workers, which rely on that."""

    def leaks(isolation: str) -> None:
        raise HarnessFault(f"the {isolation} does not hold")

    monkeypatch.setattr(self_test, "require_isolation", leaks)
    backend = LocalBackend(2)

    with pytest.raises(HarnessFault, match="the sandbox does not hold"):
        play_jobs([jobs(real_tournament(tmp_path), {})], backend, commit=lambda _: None)

    assert backend.workers.pids == []


def test_a_killed_worker_costs_no_result(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A worker is killed while it plays: the job is played again, every block is there once, no bot lives on."""
    league = real_tournament(tmp_path, cycles=40, chunk_blocks=10)  # at the first tick most of it is still to come
    backend = LocalBackend(2)
    killed: list[int] = []

    def kill_once(_: int) -> None:
        if not killed:
            killed.append(backend.workers.pids[0])
            os.kill(killed[0], signal.SIGKILL)

    blocks: list[PlayedBlock] = []
    caplog.set_level(logging.INFO)
    play_jobs([jobs(league, {})], backend, commit=blocks.extend, tick=kill_once)

    assert killed
    assert Counter(numbers(blocks)) == Counter(all_blocks(league))
    assert {match.termination for block in blocks for match in block.results} == {"normal"}
    assert "its worker died" in caplog.text
    assert f"worker [{killed[0]}] died; a new one takes its place" in caplog.text
    until(lambda: not our_processes())


def test_a_worker_that_died_while_idle_is_replaced(tmp_path: Path) -> None:
    """Its next job goes to a new one, without an error."""
    league = real_tournament(tmp_path, cycles=2, chunk_blocks=1, options={"heaps": [1]})
    first, second = jobs(league, {})
    backend = LocalBackend(1)

    backend.submit(first, lambda _: None).result(DEADLINE_S)
    (pid,) = backend.workers.pids
    os.kill(pid, signal.SIGKILL)
    (worker,) = backend.workers._workers
    assert worker is not None
    until(worker.is_lost)
    blocks = backend.submit(second, lambda _: None).result(DEADLINE_S)

    assert numbers(blocks) == [(second.pairing.key, 1)]
    backend.close(is_interrupted=False)


@pytest.mark.slow
def test_a_sweep_for_orphans_spares_the_bots_of_living_workers(tmp_path: Path) -> None:
    """While bots start all the time, orphans are looked for all the time: nobody is ended by us."""
    league = real_tournament(tmp_path, cycles=30, chunk_blocks=1, options={"heaps": [1]})
    backend, blocks = LocalBackend(2), list[PlayedBlock]()
    stop = threading.Event()

    def sweep() -> None:
        while not stop.wait(0.001):
            backend.workers.kill_orphans()

    backend.submit(next(jobs(league, {})), lambda _: None).result(DEADLINE_S)
    thread = threading.Thread(target=sweep)
    thread.start()
    try:
        play_jobs([jobs(league, {})], backend, commit=blocks.extend)
    finally:
        stop.set()
        thread.join()

    assert {match.termination for block in blocks for match in block.results} == {"normal"}


def test_an_interrupted_backend_waits_for_no_life(tmp_path: Path) -> None:
    """With jobs of many minutes in flight, close leaves no worker and no bot."""
    league = real_tournament(tmp_path, cycles=20_000, chunk_blocks=10_000)
    backend = LocalBackend(2)
    for job in jobs(league, {}):
        backend.submit(job, lambda _: None)
    until(lambda: len(our_processes()) >= 4)

    start_s = time.monotonic()
    backend.close(is_interrupted=True)

    assert time.monotonic() - start_s < DEADLINE_S
    until(lambda: not our_processes())


def log_many(worker: int) -> int:
    for number in range(500):
        logging.getLogger("hot").info("%d/%d %s", worker, number, "Grüße, 你好")
    try:
        raise ValueError("tü")  # noqa: TRY301 - it is the traceback that is wanted
    except ValueError:
        logging.getLogger("hot").exception("worker %d fails", worker)
    return os.getpid()


def test_the_records_of_all_workers_arrive_once(caplog: pytest.LogCaptureFixture) -> None:
    """Four workers log at once: nothing is torn or lost, each worker's order and its tracebacks stay."""
    caplog.set_level(logging.INFO)
    workers = Workers(4, preload=__name__)
    futures = [workers.submit(log_many, number) for number in range(4)]
    assert len({future.result(DEADLINE_S) for future in futures}) == 4
    workers.close(is_interrupted=False)

    lines = [record.getMessage() for record in caplog.records if (record.name, record.levelname) == ("hot", "INFO")]
    for worker in range(4):
        own = [line for line in lines if line.startswith(f"{worker}/")]
        assert own == [f"{worker}/{number} Grüße, 你好" for number in range(500)]
    assert caplog.text.count("ValueError: tü") == 4


WHERE = bot_script(note='" ".join(map(str, os.sched_getaffinity(0)))')


def cores_of(league: Tournament, *backends: Backend) -> list[set[str]]:
    """Return the cores of all bots, noted by themselves, while all these backends play the league at the same time."""
    played: list[list[PlayedBlock]] = [[] for _ in backends]
    threads = [
        threading.Thread(target=play_jobs, args=([jobs(league, {}, "none")], backend), kwargs={"commit": blocks.extend})
        for backend, blocks in zip(backends, played, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = [[unpack(match.record) for block in blocks for match in block.results] for blocks in played]
    return [
        {step.note for record in each for step in record.steps if isinstance(step, ActionStep) and step.note}
        for each in records
    ]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this machine has one core")
def test_two_leagues_at_once_never_share_a_core(tmp_path: Path) -> None:
    """A worker and its bots stay on one that nobody has; without one, or unpinned, they run on all."""
    league = tournament(players=players_of(tmp_path, WHERE), cycles=3, options={"heaps": [3, 3]}, chunk_blocks=3)
    everywhere = " ".join(map(str, os.sched_getaffinity(0)))

    one, other, free = cores_of(league, LocalBackend(1), LocalBackend(1), LocalBackend(1, may_pin=False))

    assert len(one) == len(other) == 1
    assert free == {everywhere}
    assert one != other or one == {everywhere}, "other programs of this machine may have claimed all cores"
