"""The driver of a league: jobs go out in a sliding window, finished blocks come in and are committed.

Rule: the only loop that waits for workers. It never waits without a deadline, commits each block exactly once, and
leaves storing to the function it was given. A block counts when that function has returned, and not before.
"""

import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from itertools import chain
from typing import Final, Protocol

from msgspec.structs import replace

from arena.errors import HarnessFault, MachineFault
from arena.league.schedule import Fixture, Job
from arena.league.worker import ATTEMPTS, OnFinished, play_job_alone
from arena.match.columns import PlayedBlock
from arena.process.sandbox import self_test
from arena.process.shortage import as_shortage, oom_kills
from arena.process.workers import LOOK_EVERY_S, Undelivered, Window, Workers
from arena.text import counted

COMMIT_EVERY_S: Final = 0.2
"""Blocks that arrive within this time are stored in one transaction: a disk takes some milliseconds for each."""
_MOST_EXAMPLES: Final = 3
_CONTINUE: Final = "; what is stored is safe, and the same command continues"
_BLOCK_NAMES: Final = re.compile(r"^.*?\): |\b[0-9a-f]{12}-\d+-\d+\b")
"""Parts of the message of a lost block that name the block or its match."""
log: Final = logging.getLogger("arena.league")

PlayedBlocks = list[PlayedBlock]


class Backend(Protocol):
    """Something that plays jobs: it stores nothing and decides nothing."""

    @property
    def slots(self) -> int:
        """The number of jobs that it takes by now, 1 at least: those in flight, and those that it can begin."""

    def submit(self, job: Job, on_finished: OnFinished) -> "Future[PlayedBlocks]":
        """Play the job; the result is all its blocks. `on_finished` gets the number of its matches that are finished.

        The future fails with BrokenExecutor if its worker died; raises it if nothing works.
        """

    def close(self, *, is_interrupted: bool) -> None:
        """Release everything; at once, with all that is in flight thrown away, if interrupted."""


class LocalBackend:
    """Worker processes on this machine, one job in flight each; if pinned, each with its bots on one core."""

    def __init__(self, workers: int, *, may_pin: bool = True) -> None:
        self.workers = Workers(workers, preload=play_job_alone.__module__)
        self.slots = workers
        self._play = partial(play_job_alone, may_pin=may_pin)

    def submit(self, job: Job, on_finished: OnFinished) -> "Future[PlayedBlocks]":
        """Play a job in a worker. HarnessFault if bots cannot be isolated here, which is tried once for all workers."""
        self_test.require_isolation(job.isolation)
        return self.workers.submit(self._play, job, on_finished)

    def close(self, *, is_interrupted: bool) -> None:
        """Release the workers."""
        self.workers.close(is_interrupted=is_interrupted)


class BlocksLost(HarnessFault):
    """The loss of blocks that could not be played; all others were, and are committed."""


def play_jobs(
    rounds: Iterable[Iterator[Job]],
    backend: Backend,
    *,
    commit: Callable[[PlayedBlocks], None],
    tick: Callable[[int], None] = lambda _: None,
) -> None:
    """Play all jobs, and close the backend. `commit` gets finished blocks every COMMIT_EVERY_S and after each round.

    The last ones are committed also after Ctrl-C and after a MachineFault, which are raised again.

    `tick` is called at least twice a second with the number of finished matches that are not committed.

    `rounds` is asked for the next round when everything before is committed; not after a block was lost.

    A job whose worker dies is played again as a whole, with the same luck; after a second death each block goes out
    alone, so that a single bad block, which is named after its third death, costs no other results. A block that
    a worker found void three times is left out. BlocksLost if single blocks could not be played, all others have been
    by then, and the same call with what is left, and a new backend, tries them again. HarnessFault at once if the
    backend takes no more.
    """
    run = _Run(backend, commit)
    is_done = False
    try:
        for jobs in rounds:
            while run.launch(jobs):
                run.receive()
                run.launch(jobs)  # before the commit, so that no worker waits for the disk
                run.commit_if_due()
                tick(run.finished)
            run.commit()
            if run.lost:
                break
        is_done = True
    except (KeyboardInterrupt, MachineFault):
        run.take_in(0.0)
        run.commit()
        raise
    finally:
        backend.close(is_interrupted=not is_done)
    if run.lost:
        raise _lost_error(run.lost)


class _Run:
    """The state of a run: jobs in flight, jobs to be played again, blocks to be committed, and lost blocks.

    No job goes out while blocks are committed, so at most the blocks of the jobs in flight wait meanwhile.
    """

    def __init__(self, backend: Backend, commit: Callable[[PlayedBlocks], None]) -> None:
        self.lost: list[str] = []
        self._backend, self._commit = backend, commit
        self._oom_kills = oom_kills()
        self._window = Window(self._submit, lambda: backend.slots)
        self._finished: dict[tuple[str, int], int] = {}
        self._repeats: list[Job] = []
        self._pending: PlayedBlocks = []
        self._due_s = time.monotonic()

    @property
    def finished(self) -> int:
        """The number of finished matches that are not committed, as far as they were reported."""
        return sum([len(block.players) for block in self._pending]) + sum(list(self._finished.values()))

    def launch(self, jobs: Iterator[Job]) -> bool:
        """Fill the window with the jobs to repeat, then with `jobs`; return True if any job is in flight."""
        return self._window.fill(chain(iter(lambda: self._repeats.pop(0) if self._repeats else None, None), jobs))

    def receive(self) -> None:
        """Wait for a result, but no longer than to the next commit or tick; take in what has arrived.

        MachineFault, when all of that is taken in, if a job failed by a fault of this machine.
        """
        trouble = self.take_in(max(0.0, self._due_s - time.monotonic()) if self._pending else LOOK_EVERY_S)
        if trouble is not None:
            raise trouble

    def take_in(self, patience_s: float) -> MachineFault | None:
        """Wait up to `patience_s` for a job to end, and take in all that have ended.

        Return the last fault of this machine by which one failed, None without any.
        """
        trouble = None
        for job, future in self._window.collect(patience_s):
            del self._finished[job.key]
            error = future.exception()
            if fault := self._fault_of_machine(job, error):
                trouble = MachineFault(f"{_describe_blocks(job, job.fixtures)}: {fault}{_CONTINUE}")
            elif error is not None:
                self._queue_again(job, error)
            elif {block.block for block in future.result()} != {fixture.block for fixture in job.fixtures}:
                self._queue_again(job, HarnessFault("it came back without all of its blocks"))
            else:
                self._keep_blocks(job, future.result())
        return trouble

    def commit_if_due(self) -> None:
        """Commit what has arrived, if the last time is long enough ago."""
        if self._pending and time.monotonic() >= self._due_s:
            self.commit()

    def commit(self) -> None:
        """Commit what has arrived."""
        if self._pending:
            blocks, self._pending = self._pending, []
            self._commit(blocks)
            self._due_s = time.monotonic() + COMMIT_EVERY_S

    def _submit(self, job: Job) -> "Future[PlayedBlocks]":
        """Hand a job to the backend. MachineFault if nothing works there."""
        self._finished[job.key] = 0
        try:
            return self._backend.submit(job, partial(self._finished.__setitem__, job.key))
        except BrokenExecutor as error:
            raise MachineFault(f"{error}{_CONTINUE}") from error

    def _fault_of_machine(self, job: Job, error: BaseException | None) -> str:
        """Return the fault of this machine by which the job failed, in words; empty if it was none."""
        if error is None:
            return ""
        if isinstance(error, MachineFault):
            return str(error)
        if isinstance(error, BrokenExecutor) and job.attempt == ATTEMPTS and oom_kills() > self._oom_kills:
            return f"its worker died {ATTEMPTS} times, and the machine ran out of memory: use fewer --workers"
        return str(as_shortage(error) or "")

    def _keep_blocks(self, job: Job, blocks: PlayedBlocks) -> None:
        """Keep sound blocks for the next commit; void ones are not kept, but described in `lost` and in the log."""
        fixtures = {fixture.block: fixture for fixture in job.fixtures}
        for block in blocks:
            if block.void:
                self.lost.append(f"{_describe_blocks(job, (fixtures[block.block],))}: {block.void}")
                log.error("%s", self.lost[-1])
            else:
                self._pending.append(block)

    def _queue_again(self, job: Job, error: BaseException) -> None:
        """Queue a failed job again, after its second failure block by block; note a block as lost after the third."""
        what = _describe_blocks(job, job.fixtures)
        reason = "its worker died" if isinstance(error, BrokenExecutor) else f"{type(error).__name__}: {error}"
        if isinstance(error, Undelivered):
            log.warning("%s: %s; it is dealt again", what, error)
            self._repeats.append(job)
            return
        log.error("%s, attempt %d: %s", what, job.attempt, reason, exc_info=error)
        if job.attempt < ATTEMPTS - 1:
            self._repeats.append(replace(job, attempt=job.attempt + 1))
        elif job.attempt < ATTEMPTS:
            self._repeats += [replace(job, fixtures=(fixture,), attempt=ATTEMPTS) for fixture in job.fixtures]
        else:
            self.lost.append(f"{what}: {reason}")


def _lost_error(lost: list[str]) -> BlocksLost:
    """Return the error, with each reason once and the first block that was lost by it."""
    by_reason: dict[str, str] = {}
    for sentence in lost:
        by_reason.setdefault(_BLOCK_NAMES.sub("", sentence), sentence)
    examples = [*by_reason.values()][:_MOST_EXAMPLES]
    more = f" and {len(lost) - len(examples)} more (see the log)" if len(lost) > len(examples) else ""
    return BlocksLost(f"{counted(len(lost), 'block')} could not be played, {'; '.join(examples)}{more}")


def _describe_blocks(job: Job, fixtures: tuple[Fixture, ...]) -> str:
    """Describe blocks of a job: `league first, 5f0c1d7e2a94 block 3 (greedy v random)`."""
    first, last = fixtures[0].block, fixtures[-1].block
    blocks = f"block {first}" if first == last else f"blocks {first} to {last}"
    players = " v ".join(player.name for player in job.pairing.players)
    return f"league {job.tournament}, {job.pairing.key} {blocks} ({players})"
