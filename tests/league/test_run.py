"""The driver: every block handed on exactly once, whatever happens to workers."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future
from typing import Any

import pytest
from support.golden import Golden
from support.league_made import FakeBackend, all_blocks, numbers, played, played_block
from support.made_matches import tournament

from arena.errors import HarnessFault
from arena.league import driver
from arena.league.driver import BlocksLost, PlayedBlocks, play_jobs
from arena.league.schedule import Fixture, Job, jobs, pairings
from arena.league.tournament import Tournament
from arena.league.worker import ATTEMPTS, OnFinished
from arena.match.columns import PlayedBlock


def run_all(league: Tournament, backend: Any, **changes: Any) -> list[tuple[str, int]]:
    """Return the blocks that were committed, in order."""
    committed: list[tuple[str, int]] = []
    play_jobs([jobs(league, {})], backend, commit=lambda blocks: committed.extend(numbers(blocks)), **changes)
    return committed


def test_asks_for_more_only_when_all_is_committed() -> None:
    """The next round is asked for when nothing is in flight and everything before is handed on."""
    league, backend = tournament(cycles=7), FakeBackend(played)
    (first, *_) = whole = list(jobs(league, {}))
    committed: list[tuple[str, int]] = []
    asked: list[int] = []

    def rounds() -> Iterator[Iterator[Job]]:
        for left in ([first], whole[1:], []):
            asked.append(len(committed))
            yield iter(left)

    play_jobs(rounds(), backend, commit=lambda blocks: committed.extend(numbers(blocks)))

    assert asked == [0, 2, 21]
    assert backend.closed == [False]
    assert Counter(committed) == Counter(all_blocks(league))


def test_a_round_with_a_lost_block_is_the_last(golden: Golden) -> None:
    """Nothing may depend on an incomplete round."""
    rounds = iter([jobs(tournament("ann", "bob", cycles=1), {}), iter(())])

    with golden.raises(HarnessFault):
        play_jobs(rounds, FakeBackend(lambda _: []), commit=lambda _: None)

    assert len(list(rounds)) == 1


def test_never_has_more_in_flight_than_slots() -> None:
    """The window holds as many jobs as there are slots, counting what has not been collected."""
    league = tournament(cycles=20)
    waiting: list[tuple[Future[PlayedBlocks], Job]] = []
    most = 0

    class Slow(FakeBackend):
        def submit(self, job: Job, on_finished: OnFinished) -> "Future[PlayedBlocks]":  # noqa: ARG002 - it shows no progress
            nonlocal most
            future: Future[PlayedBlocks] = Future()
            waiting.append((future, job))
            most = max(most, len(waiting))
            if len(waiting) == self.slots:
                oldest, its = waiting.pop(0)
                oldest.set_result(played(its))
            return future

    def finish_one(_: int) -> None:
        if waiting:
            future, job = waiting.pop()
            future.set_result(played(job))

    committed = run_all(league, Slow(played), tick=finish_one)

    assert set(committed) == all_blocks(league)
    assert most == 3


def test_a_poisonous_block_is_found_alone() -> None:
    """A block that kills its worker every time is named after three deaths; all others are played, each once."""
    league = tournament(cycles=20, chunk_blocks=10)
    poison = pairings(league)[1].key
    deaths = 0

    def play(job: Job) -> list[PlayedBlock]:
        nonlocal deaths
        if job.pairing.key == poison and any(each.block == 13 for each in job.fixtures):
            deaths += 1
            raise BrokenExecutor
        return played(job)

    committed: list[tuple[str, int]] = []
    with pytest.raises(
        HarnessFault,
        match=rf"1 block could not be played, league test, {poison} block 13 \(ann v cid\): its worker died",
    ):
        play_jobs([jobs(league, {})], FakeBackend(play), commit=lambda blocks: committed.extend(numbers(blocks)))

    assert Counter(committed) == Counter(all_blocks(league) - {(poison, 13)})
    assert deaths == ATTEMPTS


def test_a_broken_backend_ends_the_league_with_a_sentence(golden: Golden) -> None:
    """A backend that takes no more jobs is our fault; committed blocks stay."""

    class Broken(FakeBackend):
        def submit(self, job: Job, on_finished: OnFinished) -> "Future[PlayedBlocks]":
            if self.flights:
                raise BrokenExecutor("a child process terminated abruptly")
            return super().submit(job, on_finished)

    backend = Broken(played)

    with golden.raises(HarnessFault):
        run_all(tournament(), backend)

    assert backend.closed == [True]


@pytest.mark.parametrize("place", ["commit", "tick"])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, HarnessFault])
def test_a_stop_closes_the_backend_at_once(place: str, stop: type[BaseException]) -> None:
    """Ctrl-C or a full disk goes through, and the backend throws away what is in flight."""
    backend = FakeBackend(played)

    def halt(*_: object) -> None:
        raise stop

    def nothing(*_: object) -> None:
        pass

    with pytest.raises(stop):
        play_jobs(
            [jobs(tournament(), {})],
            backend,
            commit=halt if place == "commit" else nothing,
            tick=halt if place == "tick" else nothing,
        )

    assert backend.closed == [True]


@pytest.mark.parametrize("place", ["commit", "tick"])
def test_what_has_arrived_is_committed_before_ctrl_c_ends_the_run(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """Other jobs are not waited for; blocks whose commit was interrupted are not committed a second time."""
    monkeypatch.setattr(driver, "COMMIT_EVERY_S", 3600.0)
    backend, committed = FakeBackend(played), list[tuple[str, int]]()
    stops = iter([False, True])

    def stop() -> None:
        if next(stops, False):
            raise KeyboardInterrupt

    def commit(blocks: list[PlayedBlock]) -> None:
        committed.extend(numbers(blocks))
        if place == "commit":
            monkeypatch.setattr(driver, "COMMIT_EVERY_S", 0.0)
            stop()

    with pytest.raises(KeyboardInterrupt):
        play_jobs(
            [jobs(tournament(cycles=7), {})],
            backend,
            commit=commit,
            tick=(lambda _: stop()) if place == "tick" else (lambda _: None),
        )

    arrived = [number for flight in backend.flights for number in numbers(flight.result())]
    assert sorted(committed) == sorted(arrived)
    assert len(arrived) > len(backend.flights) > 3


@pytest.mark.parametrize("error", [BrokenExecutor("gone"), HarnessFault("void"), ValueError("a bug")])
def test_a_job_that_fails_is_played_again_whole(error: Exception) -> None:
    """The second attempt has the same blocks and luck; after a second failure each block goes out alone."""
    league = tournament("ann", "bob", cycles=3, chunk_blocks=3)
    (whole,) = jobs(league, {})
    submitted: list[tuple[tuple[Fixture, ...], int]] = []

    def play(job: Job) -> list[PlayedBlock]:
        submitted.append((job.fixtures, job.attempt))
        if len(job.fixtures) > 1:
            raise error
        return played(job)

    committed = run_all(league, FakeBackend(play))

    assert committed == [(whole.pairing.key, number) for number in range(3)]
    assert submitted == [(whole.fixtures, 1), (whole.fixtures, 2), *(((each,), 3) for each in whole.fixtures)]


def test_finished_matches_are_told_before_they_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reported matches of jobs in flight are counted, and all matches that wait for their commit."""
    monkeypatch.setattr(driver, "COMMIT_EVERY_S", 3600.0)
    monkeypatch.setattr(driver, "LOOK_EVERY_S", 0.01)
    *_, last = league = list(jobs(tournament("ann", "bob", cycles=6, chunk_blocks=2), {}))
    waiting: list[Future[PlayedBlocks]] = []
    told: list[tuple[int, int]] = []
    committed: list[PlayedBlock] = []

    class Reporting(FakeBackend):
        def submit(self, job: Job, on_finished: OnFinished) -> "Future[PlayedBlocks]":
            if job != last:
                return super().submit(job, on_finished)
            on_finished(3)
            waiting.append(Future())
            return waiting[0]

    def tick(finished: int) -> None:
        told.append((finished, 2 * len(committed)))
        if waiting and not waiting[0].done():
            waiting[0].set_result(played(last))

    play_jobs([iter(league)], Reporting(played, slots=1), commit=committed.extend, tick=tick)

    assert told == [(0, 4), (4 + 3, 4), (4 + 4, 4)]
    assert len(committed) == 6


def test_what_arrives_together_is_committed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction for all blocks of an interval; at the end of a round nothing waits for the interval."""
    league, commits = tournament(cycles=7), list[int]()

    for interval_s in (0.0, 3600.0):
        monkeypatch.setattr(driver, "COMMIT_EVERY_S", interval_s)
        play_jobs([jobs(league, {})], FakeBackend(played), commit=lambda blocks: commits.append(len(blocks)))

    assert sum(commits) == 2 * 21
    assert commits[-2:] == [6, 15]
    assert len(commits) > 4


def test_blocks_count_when_the_disk_has_them(golden: Golden) -> None:
    """Blocks do not count while their transaction is written, and not after it has failed."""
    league, on_disk = tournament(cycles=7), list[tuple[str, int]]()
    asked: list[int] = []

    def fail_later(blocks: list[PlayedBlock]) -> None:
        if len(on_disk) > 3:
            raise HarnessFault("no space left")
        on_disk.extend(numbers(blocks))

    with golden.raises(HarnessFault):
        play_jobs([jobs(league, {})], FakeBackend(played), commit=fail_later, tick=lambda _: asked.append(len(on_disk)))

    assert len(on_disk) < 21
    assert asked[-1] == len(on_disk)


def test_a_block_that_stays_void_is_named_and_left_out() -> None:
    """The worker found it void three times: all others are committed, in one go; the next run tries it again."""
    league = tournament(cycles=4, chunk_blocks=4)
    poison = pairings(league)[1].key
    submitted: list[Job] = []
    committed: list[tuple[str, int]] = []

    def play(job: Job) -> list[PlayedBlock]:
        submitted.append(job)
        return [
            PlayedBlock(
                fixture.pairing,
                fixture.block,
                void="void 3 times, the last time because the referee was suspended for 9.0 s",
            )
            if (fixture.pairing, fixture.block) == (poison, 2)
            else played_block(fixture)
            for fixture in job.fixtures
        ]

    named = (
        rf"1 block could not be played, league test, {poison} block 2 \(ann v cid\): void 3 times, .* suspended for 9.0"
    )
    with pytest.raises(BlocksLost, match=named):
        play_jobs([jobs(league, {})], FakeBackend(play), commit=lambda blocks: committed.extend(numbers(blocks)))
    submitted.clear()
    finished: dict[str, set[int]] = {}
    for key, block in committed:
        finished.setdefault(key, set()).add(block)

    assert Counter(committed) == Counter(all_blocks(league) - {(poison, 2)})
    (again,) = jobs(league, finished)
    assert [(fixture.pairing, fixture.block) for fixture in again.fixtures] == [(poison, 2)]
