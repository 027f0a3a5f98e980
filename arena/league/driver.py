"""The driver of a league: batches go out in a sliding window, finished blocks come in and are handed on at once.

Rule: the only loop that waits for workers. It never waits without a deadline, hands on each result exactly once, and
leaves storing to the function it was given.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import Final, Protocol

from msgspec.structs import replace

from arena.errors import HarnessFault, MachineFault
from arena.league.schedule import Batch, Fixture, PlayedBlock
from arena.league.worker import ATTEMPTS, play_batch, play_batch_alone
from arena.process.workers import Workers
from arena.text import counted

_LOOK_EVERY_S: Final = 0.5
_NAMED: Final = 3
log: Final = logging.getLogger("arena.league")


class Backend(Protocol):
    """Something that plays batches, `slots` at once at most: it stores nothing and decides nothing."""

    slots: int

    def submit(self, batch: Batch) -> "Future[list[PlayedBlock]]":
        """Play the batch. The future fails with BrokenExecutor if its worker died; raises it if nothing works."""

    def close(self, *, is_interrupted: bool) -> None:
        """Release everything; at once, with all that is in flight thrown away, if interrupted."""


class ExecutorBackend:
    """Any executor whose workers see the same bots folder: threads in tests, MPI or Dask on a cluster."""

    def __init__(self, executor: Executor, slots: int) -> None:
        self._executor, self.slots = executor, slots

    def submit(self, batch: Batch) -> "Future[list[PlayedBlock]]":
        """Play a batch."""
        return self._executor.submit(play_batch, batch)

    def close(self, *, is_interrupted: bool) -> None:
        """Release the workers."""
        self._executor.shutdown(wait=not is_interrupted, cancel_futures=is_interrupted)


class LocalBackend:
    """Worker processes on this machine, one batch in flight each; if pinned, each on one core with its bots."""

    def __init__(self, workers: int, *, is_pinned: bool = False) -> None:
        self.workers = Workers(workers, preload=play_batch.__module__, is_pinned=is_pinned)
        self.slots = workers

    def submit(self, batch: Batch) -> "Future[list[PlayedBlock]]":
        """Play a batch."""
        return self.workers.submit(play_batch_alone, batch)

    def close(self, *, is_interrupted: bool) -> None:
        """Release the workers."""
        self.workers.close(is_interrupted=is_interrupted)


class BlocksLost(HarnessFault):
    """Some blocks could not be played; all others were, and are committed."""


Flight = dict["Future[list[PlayedBlock]]", Batch]


def run_batches(
    batches: Iterator[Batch],
    backend: Backend,
    *,
    commit: Callable[[list[PlayedBlock]], None],
    tick: Callable[[], None] = lambda: None,
    then: Callable[[], Iterator[Batch] | None] = lambda: None,
) -> None:
    """Play all batches. `commit` gets the blocks of each finished batch; `tick` is called about twice a second.

    When everything is committed and nothing is in flight, `then` is asked for more: the batches of the next round, None
    if there is none. So no round begins before all earlier ones are complete; it is not asked after a block was lost.

    A worker hands a long batch back half played; its rest goes out at once. A batch whose worker dies is played again;
    after three deaths it is halved, so that one poisonous block costs nobody else's results. A block that a worker
    found void three times is left out. BlocksLost if single blocks could not be played, all others have been by then,
    and the same call with what is left tries them again. HarnessFault at once if the backend takes no more batches.
    """
    again: list[Batch] = []
    lost: list[str] = []
    flight: Flight = {}
    is_done = False
    try:
        while True:
            if not _launch(batches, again, flight, backend) and not flight:
                more = None if lost else then()
                if more is None:
                    break
                batches = more
                continue
            finished, _ = wait(flight, timeout=_LOOK_EVERY_S, return_when=FIRST_COMPLETED)
            landed = [(future, flight.pop(future)) for future in finished]
            for future, batch in landed:
                error = _failure(future)
                if error is not None:
                    _try_again(batch, error, again, lost)
                else:
                    _go_on(batch, future.result(), again, lost)
            _launch(batches, again, flight, backend)  # before the commit, so that no worker waits for the disk
            for future, _chunk in landed:
                if _failure(future) is None:
                    commit([block for block in future.result() if not block.void])
            tick()
        is_done = True
    finally:
        backend.close(is_interrupted=not is_done)
    if lost:
        more_lost = f" and {len(lost) - _NAMED} more (see the log)" if lost[_NAMED:] else ""
        raise BlocksLost(f"{counted(len(lost), 'block')} could not be played, {'; '.join(lost[:_NAMED])}{more_lost}")


def _launch(batches: Iterator[Batch], again: list[Batch], flight: Flight, backend: Backend) -> bool:
    """Fill the window; whether anything was launched."""
    launched = False
    while len(flight) < backend.slots:
        batch = again.pop(0) if again else next(batches, None)
        if batch is None:
            break
        try:
            flight[backend.submit(batch)] = batch
        except BrokenExecutor as error:
            raise MachineFault(f"{error}; what is stored is safe, and the same command continues") from error
        launched = True
    return launched


def _failure(future: "Future[list[PlayedBlock]]") -> BaseException | None:
    """The error of a finished future; a distributed executor cancels by itself the batches of its lost workers."""
    if future.cancelled():
        return CancelledError("the executor gave it up")
    error = future.exception()
    return HarnessFault("it came back without a block") if error is None and not future.result() else error


def _go_on(batch: Batch, played: list[PlayedBlock], again: list[Batch], lost: list[str]) -> None:
    """Queue what a worker left of a long batch. It did not fail, so this is the same attempt. Name what stays void."""
    for block in played:
        if block.void:
            lost.append(f"{_named(batch, (block.fixture,))}: {block.void}")
            log.error("%s", lost[-1])
    there = {block.fixture for block in played}
    rest = tuple(fixture for fixture in batch.fixtures if fixture not in there)
    if rest:
        again.append(replace(batch, fixtures=rest))


def _try_again(batch: Batch, error: BaseException, again: list[Batch], lost: list[str]) -> None:
    what = _named(batch, batch.fixtures)
    reason = "its worker died" if isinstance(error, BrokenExecutor) else f"{type(error).__name__}: {error}"
    log.error("%s, attempt %d: %s", what, batch.attempt, reason, exc_info=error)
    if batch.attempt < ATTEMPTS:
        again.append(replace(batch, attempt=batch.attempt + 1))
    elif len(batch.fixtures) > 1:
        half = len(batch.fixtures) // 2
        again.append(replace(batch, fixtures=batch.fixtures[:half], attempt=1))
        again.append(replace(batch, fixtures=batch.fixtures[half:], attempt=1))
    else:
        lost.append(f"{what}: {reason}")


def _named(batch: Batch, fixtures: tuple[Fixture, ...]) -> str:
    """`league first, 5f0c1d7e2a94 block 3 (greedy v random)`."""
    first, last = fixtures[0].block, fixtures[-1].block
    blocks = f"block {first}" if first == last else f"blocks {first} to {last}"
    players = " v ".join(player.name for player in batch.pairing.players)
    return f"league {batch.tournament}, {batch.pairing.key} {blocks} ({players})"
