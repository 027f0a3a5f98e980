"""The driver: every block handed on exactly once, whatever happens to workers."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from typing import Any

import pytest
from league_made import FakeBackend, all_blocks, numbers, played, played_block, real_tournament
from support.made_matches import tournament

from arena.errors import HarnessFault
from arena.league.driver import BlocksLost, run_batches
from arena.league.schedule import Batch, PlayedBlock, batches, pairings
from arena.league.tournament import Tournament
from arena.league.worker import ATTEMPTS, play_batch


def run_all(league: Tournament, backend: Any, **changes: Any) -> list[tuple[str, int]]:
    """The blocks that were committed, in order."""
    committed: list[tuple[str, int]] = []
    run_batches(batches(league, {}), backend, commit=lambda blocks: committed.extend(numbers(blocks)), **changes)
    return committed


def test_asks_for_more_only_when_all_is_committed() -> None:
    """The next round is asked for when nothing is in flight and everything before is handed on; None is the end."""
    league, backend = tournament(cycles=7), FakeBackend(played)
    (first, *_) = whole = list(batches(league, {}))
    committed: list[tuple[str, int]] = []
    asked: list[int] = []

    def then() -> Iterator[Batch] | None:
        asked.append(len(committed))
        return [iter(whole[1:]), iter(()), None][len(asked) - 1]

    run_batches(iter([first]), backend, commit=lambda blocks: committed.extend(numbers(blocks)), then=then)

    assert asked == [2, 21, 21]
    assert backend.closed == [False]
    assert Counter(committed) == Counter(all_blocks(league))


def test_a_round_with_a_lost_block_is_the_last() -> None:
    """Nothing may depend on an incomplete round."""
    with pytest.raises(HarnessFault, match="1 block could not be played"):
        run_batches(
            batches(tournament("ann", "bob", cycles=1), {}),
            FakeBackend(lambda _: []),
            commit=lambda _: None,
            then=lambda: pytest.fail("the round is not complete"),
        )


def test_an_empty_schedule_submits_nothing() -> None:
    """A league with nothing left to play needs no worker."""
    backend = FakeBackend(played)

    run_batches(iter(()), backend, commit=lambda _: pytest.fail("nothing was played"))

    assert backend.flights == []
    assert backend.closed == [False]


def test_never_has_more_in_flight_than_slots() -> None:
    """The window holds as many batches as there are slots, counting what has not been collected."""
    league = tournament(cycles=20)
    waiting: list[tuple[Future[list[PlayedBlock]], Batch]] = []
    most = 0

    class Slow(FakeBackend):
        def submit(self, batch: Batch) -> "Future[list[PlayedBlock]]":
            nonlocal most
            future: Future[list[PlayedBlock]] = Future()
            waiting.append((future, batch))
            most = max(most, len(waiting))
            if len(waiting) == self.slots:
                oldest, its = waiting.pop(0)
                oldest.set_result(played(its))
            return future

    def finish_one() -> None:
        if waiting:
            future, batch = waiting.pop()
            future.set_result(played(batch))

    committed = run_all(league, Slow(played), tick=finish_one)

    assert set(committed) == all_blocks(league)
    assert most == 3


@pytest.mark.parametrize("error", [BrokenExecutor("gone"), HarnessFault("void"), ValueError("a bug")])
def test_a_chunk_that_fails_is_played_again(error: Exception) -> None:
    """The first attempts of every batch fail; all blocks arrive all the same, each once."""
    league = tournament()

    def play(batch: Batch) -> list[PlayedBlock]:
        if batch.attempt < ATTEMPTS:
            raise error
        return played(batch)

    committed = run_all(league, FakeBackend(play))

    assert Counter(committed) == Counter(all_blocks(league))


def test_a_poisonous_block_is_found_by_halving() -> None:
    """One block kills its worker every time: it is named, and all others are played, each once."""
    league = tournament(cycles=20, chunk_blocks=10)
    poison = pairings(league)[1].key
    deaths = 0

    def play(batch: Batch) -> list[PlayedBlock]:
        nonlocal deaths
        if batch.pairing.key == poison and any(each.block == 13 for each in batch.fixtures):
            deaths += 1
            raise BrokenExecutor
        return played(batch)

    committed: list[tuple[str, int]] = []
    with pytest.raises(
        HarnessFault,
        match=rf"1 block could not be played, league test, {poison} block 13 \(ann v cid\): its worker died",
    ):
        run_batches(batches(league, {}), FakeBackend(play), commit=lambda blocks: committed.extend(numbers(blocks)))

    assert Counter(committed) == Counter(all_blocks(league) - {(poison, 13)})
    assert deaths <= 5 * ATTEMPTS


def test_a_future_given_up_by_its_executor_is_played_again() -> None:
    """A distributed executor cancels what its lost workers had."""
    league = tournament("ann", "bob")
    given_up: list[Batch] = []

    class Fickle(FakeBackend):
        def submit(self, batch: Batch) -> "Future[list[PlayedBlock]]":
            if given_up:
                return super().submit(batch)
            given_up.append(batch)
            future: Future[list[PlayedBlock]] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    assert set(run_all(league, Fickle(played))) == all_blocks(league)


def test_a_broken_backend_ends_the_league_with_a_sentence() -> None:
    """An executor that takes nothing any more is our fault; what was committed stays."""

    class Broken(FakeBackend):
        def submit(self, batch: Batch) -> "Future[list[PlayedBlock]]":
            if self.flights:
                raise BrokenExecutor("a child process terminated abruptly")
            return super().submit(batch)

    backend = Broken(played)

    with pytest.raises(HarnessFault, match="terminated abruptly; what is stored is safe"):
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
        run_batches(
            batches(tournament(), {}),
            backend,
            commit=halt if place == "commit" else nothing,
            tick=halt if place == "tick" else nothing,
        )

    assert backend.closed == [True]


def test_a_chunk_handed_back_half_played_goes_on_at_once() -> None:
    """A worker gives back what it has after a while: the rest is next, as the same attempt; each block arrives once."""
    league = tournament(cycles=12, chunk_blocks=4)
    submitted: list[tuple[str, int, int]] = []

    def play(batch: Batch) -> list[PlayedBlock]:
        submitted.append((batch.pairing.key, len(batch.fixtures), batch.attempt))
        return played(batch)[:3]

    committed = run_all(league, FakeBackend(play, slots=1))

    assert Counter(committed) == Counter(all_blocks(league))
    assert [count for _, count, _ in submitted] == [4, 1] * 9
    assert [key for key, *_ in submitted[::2]] == [key for key, *_ in submitted[1::2]]
    assert {attempt for *_, attempt in submitted} == {1}


def test_a_chunk_that_comes_back_empty_has_failed() -> None:
    """Otherwise it would be played for ever."""
    league = tournament("ann", "bob", cycles=1)

    with pytest.raises(HarnessFault, match=r"1 block could not be played, .*: it came back without a block"):
        run_all(league, FakeBackend(lambda _: []))


@pytest.mark.process
def test_a_worker_begins_no_block_after_its_time(tmp_path: Path) -> None:
    """At least one is played, and what is played is given back."""
    league = real_tournament(tmp_path, cycles=3, options={"heaps": [1]}, chunk_blocks=3)
    (batch,) = batches(league, {})

    found = [len(play_batch(batch, budget_s)) for budget_s in (0.0, 60.0)]

    assert found == [1, 3]


def test_a_block_that_stays_void_is_named_and_left_out() -> None:
    """The worker found it void three times: all others are committed, in one go; the next run tries it again."""
    league = tournament(cycles=4, chunk_blocks=4)
    poison = pairings(league)[1].key
    submitted: list[Batch] = []
    committed: list[tuple[str, int]] = []

    def play(batch: Batch) -> list[PlayedBlock]:
        submitted.append(batch)
        return [
            PlayedBlock(fixture, (), void="void 3 times, the last time because the referee was suspended for 9.0 s")
            if (fixture.pairing, fixture.block) == (poison, 2)
            else played_block(fixture)
            for fixture in batch.fixtures
        ]

    named = (
        rf"1 block could not be played, league test, {poison} block 2 \(ann v cid\): void 3 times, .* suspended for 9.0"
    )
    with pytest.raises(BlocksLost, match=named):
        run_batches(batches(league, {}), FakeBackend(play), commit=lambda blocks: committed.extend(numbers(blocks)))
    submitted.clear()
    finished: dict[str, set[int]] = {}
    for key, block in committed:
        finished.setdefault(key, set()).add(block)

    assert Counter(committed) == Counter(all_blocks(league) - {(poison, 2)})
    (again,) = batches(league, finished)
    assert [(fixture.pairing, fixture.block) for fixture in again.fixtures] == [(poison, 2)]
