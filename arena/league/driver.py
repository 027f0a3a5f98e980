"""The driver of a league: process lives go out in a sliding window, finished blocks come in and are committed.

Rule: the only loop that waits for workers. It never waits without a deadline, commits each block exactly once, and
leaves storing to the function it was given. A block counts when that function has returned, and not before.
"""

import contextlib
import logging
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final, Protocol

from msgspec.structs import replace

from arena.errors import HarnessFault, MachineFault
from arena.league.schedule import Fixture, Life
from arena.league.worker import ATTEMPTS, OnFinished, play_life_alone, play_life_on_a_core
from arena.match.columns import PlayedBlock
from arena.process.sandbox import self_test
from arena.process.shortage import as_shortage, oom_kills
from arena.process.workers import Undelivered, Workers
from arena.text import counted

COMMIT_EVERY_S: Final = 0.2
"""Blocks that arrive within this time are stored in one transaction: a disk takes some milliseconds for each."""
_LOOK_EVERY_S: Final = 0.5
_NAMED: Final = 3
_CONTINUE: Final = "; what is stored is safe, and the same command continues"
_WHICH: Final = re.compile(r"^.*?\): |\b[0-9a-f]{12}-\d+-\d+\b")
"""The block, and its match, in a sentence about a lost one."""
log: Final = logging.getLogger("arena.league")

Finished = list[PlayedBlock]


class Backend(Protocol):
    """Something that plays process lives: it stores nothing and decides nothing."""

    @property
    def slots(self) -> int:
        """The lives that it takes by now, 1 at least: those in flight, and those that it can begin."""

    def submit(self, life: Life, on_finished: OnFinished) -> "Future[Finished]":
        """Play the life; the result is all its blocks. `on_finished` gets the number of its matches that are finished.

        The future fails with BrokenExecutor if its worker died; raises it if nothing works.
        """

    def close(self, *, is_interrupted: bool) -> None:
        """Release everything; at once, with all that is in flight thrown away, if interrupted."""


class LocalBackend:
    """Worker processes on this machine, one life in flight each; if pinned, each with its bots on one core."""

    def __init__(self, workers: int, *, may_pin: bool = True) -> None:
        self.workers = Workers(workers, preload=play_life_alone.__module__)
        self.slots = workers
        self._play = play_life_on_a_core if may_pin else play_life_alone

    def submit(self, life: Life, on_finished: OnFinished) -> "Future[Finished]":
        """Play a life. HarnessFault if bots cannot be isolated so here, which is tried once for all workers."""
        self_test.require_isolation(life.isolation)
        return self.workers.stream(self._play, life, on_finished)

    def close(self, *, is_interrupted: bool) -> None:
        """Release the workers."""
        self.workers.close(is_interrupted=is_interrupted)


class BlocksLost(HarnessFault):
    """Some blocks could not be played; all others were, and are committed."""


def play_lives(
    lives: Iterator[Life],
    backend: Backend,
    *,
    commit: Callable[[Finished], None],
    tick: Callable[[int], None] = lambda _: None,
    then: Callable[[], Iterator[Life] | None] = lambda: None,
) -> None:
    """Play all lives. `commit` gets whole ones every COMMIT_EVERY_S, and what has arrived before Ctrl-C ends it.

    `tick` is called at least twice a second with the number of finished matches that are not committed.

    When everything is committed and nothing is in flight, `then` is asked for more: the lives of the next round, None
    if there is none. So no round begins before all earlier ones are complete; it is not asked after a block was lost.

    A life whose worker dies is played again as a whole, with the same luck; after a second death each block goes out
    alone, so that one poisonous block, which is named after its third death, costs nobody else's results. A block that
    a worker found void three times is left out. BlocksLost if single blocks could not be played, all others have been
    by then, and the same call with what is left tries them again. HarnessFault at once if the backend takes no more.
    """
    run = _Run(backend, commit)
    is_done = False
    try:
        while True:
            run.launch(lives)
            if run.is_flying:
                run.receive()
                if run.trouble is not None:
                    raise run.trouble
                run.launch(lives)  # before the commit, so that no worker waits for the disk
                run.commit_if_due()
                tick(run.finished)
                continue
            run.commit()
            more = None if run.lost else then()
            if more is None:
                break
            lives = more
        is_done = True
    except (KeyboardInterrupt, MachineFault):
        run.land_all()
        run.commit()
        raise
    finally:
        backend.close(is_interrupted=not is_done)
    if run.lost:
        raise _blocks_lost(run.lost)


class _Flight:
    """A life in flight, and the number of its matches that are finished."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self.finished = 0

    def progress(self, finished: int) -> None:
        """More matches are finished; called in any thread."""
        self.finished = finished


class _Run:
    """Lives in flight and those that go out again; blocks that are not committed yet, and those that are lost.

    No life goes out while blocks are committed, so at most those of the lives in flight wait meanwhile.
    """

    def __init__(self, backend: Backend, commit: Callable[[Finished], None]) -> None:
        self.lost: list[str] = []
        self.trouble: MachineFault | None = None
        self._backend, self._commit = backend, commit
        self._oom_kills = oom_kills()
        self._flights: set[_Flight] = set()
        self._again: list[Life] = []
        self._arrived: SimpleQueue[tuple[_Flight, Future[Finished]]] = SimpleQueue()
        self._pending: Finished = []
        self._due_s = time.monotonic()

    @property
    def is_flying(self) -> bool:
        """Whether anything is in flight."""
        return bool(self._flights)

    @property
    def finished(self) -> int:
        """The number of finished matches that are not committed: those of lives in flight as they were reported."""
        pending = sum([len(block.storable) for block in self._pending])
        return pending + sum([flight.finished for flight in self._flights])

    def launch(self, lives: Iterator[Life]) -> None:
        """Fill the window."""
        while len(self._flights) < self._backend.slots:
            life = self._again.pop(0) if self._again else next(lives, None)
            if life is None:
                return
            flight = _Flight(life)
            try:
                future = self._backend.submit(life, flight.progress)
            except BrokenExecutor as error:
                raise MachineFault(f"{error}{_CONTINUE}") from error
            self._flights.add(flight)
            future.add_done_callback(partial(self._arrive, flight))

    def receive(self) -> None:
        """Wait until something arrives, a commit is due or it is time to look up, and take in all that is there."""
        patience_s = max(0.0, self._due_s - time.monotonic()) if self._pending else _LOOK_EVERY_S
        with contextlib.suppress(Empty):
            self._land(*self._arrived.get(timeout=patience_s))
            self.land_all()

    def land_all(self) -> None:
        """Take in all that is there."""
        with contextlib.suppress(Empty):
            while True:
                self._land(*self._arrived.get_nowait())

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

    def _arrive(self, flight: _Flight, future: "Future[Finished]") -> None:
        """The end of a life; in any thread."""
        self._arrived.put((flight, future))

    def _land(self, flight: _Flight, future: "Future[Finished]") -> None:
        self._flights.remove(flight)
        error = future.exception()
        if fault := self._fault_of_machine(flight.life, error):
            self.trouble = MachineFault(f"{_named(flight.life, flight.life.fixtures)}: {fault}{_CONTINUE}")
        elif error is not None:
            self._try_again(flight.life, error)
        elif {block.block for block in future.result()} != {fixture.block for fixture in flight.life.fixtures}:
            self._try_again(flight.life, HarnessFault("it came back without all of its blocks"))
        else:
            self._take(flight.life, future.result())

    def _fault_of_machine(self, life: Life, error: BaseException | None) -> str:
        """Return the lack of this machine that failed the life, in words; empty if there was none."""
        if error is None:
            return ""
        if isinstance(error, MachineFault):
            return str(error)
        if isinstance(error, BrokenExecutor) and life.attempt == ATTEMPTS and oom_kills() > self._oom_kills:
            return f"its worker died {ATTEMPTS} times, and the machine ran out of memory: use fewer --workers"
        return str(as_shortage(error) or "")

    def _take(self, life: Life, blocks: Finished) -> None:
        fixtures = {fixture.block: fixture for fixture in life.fixtures}
        for block in blocks:
            if block.void:
                self.lost.append(f"{_named(life, (fixtures[block.block],))}: {block.void}")
                log.error("%s", self.lost[-1])
            else:
                self._pending.append(block)

    def _try_again(self, life: Life, error: BaseException) -> None:
        what = _named(life, life.fixtures)
        reason = "its worker died" if isinstance(error, BrokenExecutor) else f"{type(error).__name__}: {error}"
        if isinstance(error, Undelivered):
            log.warning("%s: %s; it is dealt again", what, error)
            self._again.append(life)
            return
        log.error("%s, attempt %d: %s", what, life.attempt, reason, exc_info=error)
        if life.attempt < ATTEMPTS - 1:
            self._again.append(replace(life, attempt=life.attempt + 1))
        elif life.attempt < ATTEMPTS:
            self._again += [replace(life, fixtures=(each,), attempt=ATTEMPTS) for each in life.fixtures]
        else:
            self.lost.append(f"{what}: {reason}")


def _blocks_lost(lost: list[str]) -> BlocksLost:
    """Each reason once, with the first block that was lost by it."""
    by_reason: dict[str, str] = {}
    for each in lost:
        by_reason.setdefault(_WHICH.sub("", each), each)
    named = [*by_reason.values()][:_NAMED]
    more = f" and {len(lost) - len(named)} more (see the log)" if len(lost) > len(named) else ""
    return BlocksLost(f"{counted(len(lost), 'block')} could not be played, {'; '.join(named)}{more}")


def _named(life: Life, fixtures: tuple[Fixture, ...]) -> str:
    """`league first, 5f0c1d7e2a94 block 3 (greedy v random)`."""
    first, last = fixtures[0].block, fixtures[-1].block
    blocks = f"block {first}" if first == last else f"blocks {first} to {last}"
    players = " v ".join(player.name for player in life.pairing.players)
    return f"league {life.tournament}, {life.pairing.key} {blocks} ({players})"
