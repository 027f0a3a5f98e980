"""Where batches are played in parallel: any `concurrent.futures` executor behind a few methods.

Rule: a backend runs batches and returns futures; it stores nothing and decides nothing. `LocalBackend` keeps one
single-worker pool per slot, because a shared pool loses everything in flight when one worker dies; so the blame for a
death is exact, and only the batch of that worker is played again. Nothing is started before the first batch.
"""

import contextlib
import logging
import multiprocessing
import os
import select
import signal
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import forkserver, resource_tracker
from typing import Any, Final, Protocol

from multiprocessing_logging import MultiProcessingHandler

from arena.errors import MachineFault
from arena.league.schedule import Batch, PlayedBlock
from arena.league.worker import initialise, play_batch, play_batch_alone
from arena.process import reaper

_START_METHOD: Final = "forkserver"
_FAREWELL_S: Final = 0.4
"""How long interrupted workers may take to end their bots and themselves."""
_THREADS_S: Final = 3.0
"""The same for the threads that look after them; they take milliseconds, and longer on a busy machine."""
log: Final = logging.getLogger("arena.pool")


class Backend(Protocol):
    """Something that plays batches."""

    def slots(self) -> int:
        """How many batches may be in flight at once."""

    def submit(self, batch: Batch) -> "Future[list[PlayedBlock]]":
        """Play the batch. The future fails with BrokenExecutor if its worker died; raises it if nothing works."""

    def close(self, *, is_interrupted: bool) -> None:
        """Release everything; at once, with all that is in flight thrown away, if interrupted."""


class ExecutorBackend:
    """Any executor whose workers see the same bots folder: threads in tests, MPI or Dask on a cluster."""

    def __init__(self, executor: Executor, slots: int) -> None:
        self._executor = executor
        self._slots = slots

    def slots(self) -> int:
        """See Backend.slots."""
        return self._slots

    def submit(self, batch: Batch) -> "Future[list[PlayedBlock]]":
        """See Backend.submit."""
        return self._executor.submit(play_batch, batch)

    def close(self, *, is_interrupted: bool) -> None:
        """See Backend.close."""
        self._executor.shutdown(wait=not is_interrupted, cancel_futures=is_interrupted)


class _Sink(logging.Handler):
    """Hands a worker's records to the handlers of this process, under their own locks and levels."""

    def emit(self, record: logging.LogRecord) -> None:
        for handler in logging.getLogger().handlers:
            if record.levelno >= handler.level:
                handler.handle(record)


class _Slot:
    """One worker process, its executor, and its own log handler (a shared one is wedged by an ill-timed kill)."""

    def __init__(self, number: int, core: int | None) -> None:
        self._number = number
        self._core = core
        self._executor: ProcessPoolExecutor | None = None
        self._handler: Any = None
        self.busy: Future[list[PlayedBlock]] | None = None

    @property
    def is_free(self) -> bool:
        return self.busy is None or self.busy.done()

    def submit(self, batch: Batch) -> "Future[list[PlayedBlock]]":
        """Play the batch in this slot. BrokenExecutor if the worker had died before."""
        if self._executor is None:
            with _translated():
                self._open()
        assert self._executor is not None, "it was opened just now"
        with _translated():
            self.busy = self._executor.submit(play_batch_alone, batch)
        return self.busy

    def pids(self) -> list[int]:
        """The worker, if it was started, also just after its death."""
        # There is no public way to the worker's pid; the attribute is as old as the class.
        return [] if self._executor is None else list(self._executor._processes or ())  # noqa: SLF001

    def abandon(self) -> Any:
        """Let go of the worker, without waiting for a queue whose lock a dead worker may hold.

        Returns the thread with which the executor still looks after it, None if there is no worker.
        """
        if self._executor is None:
            return None
        thread: Any = self._executor._executor_manager_thread  # noqa: SLF001
        self._handler.queue.cancel_join_thread()
        self._handler._is_closed = True  # noqa: SLF001 - its close() would wait
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = None
        return thread

    def close(self) -> None:
        """End the worker when it is done, with its last log records."""
        if self._executor is not None:
            self._executor.shutdown(wait=True)
            self._handler.close()

    def _open(self) -> None:
        self._handler = MultiProcessingHandler(f"worker-{self._number}", sub_handler=_Sink())
        self._executor = ProcessPoolExecutor(
            1,
            mp_context=multiprocessing.get_context(_START_METHOD),
            initializer=initialise,
            initargs=(self._handler.queue, logging.getLogger().getEffectiveLevel(), self._core),
        )


class LocalBackend:
    """Worker processes on this machine, one batch in flight each; if pinned, each on one core with its bots."""

    def __init__(self, workers: int, *, is_pinned: bool = False) -> None:
        cores = sorted(os.sched_getaffinity(0))
        self._slots = [_Slot(number, cores[number % len(cores)] if is_pinned else None) for number in range(workers)]
        self._is_ready = False

    def slots(self) -> int:
        """See Backend.slots."""
        return len(self._slots)

    def submit(self, batch: Batch) -> "Future[list[PlayedBlock]]":
        """See Backend.submit. A worker that has died is replaced."""
        if not self._is_ready:
            with _translated():
                _prepare_to_start()
            self._is_ready = True
        slot = next(slot for slot in self._slots if slot.is_free)
        try:
            return slot.submit(batch)
        except BrokenExecutor:
            log.warning("worker %s died; a new one takes its place", slot.pids())
            slot.abandon()
            self._kill_orphans()
            return slot.submit(batch)

    def close(self, *, is_interrupted: bool) -> None:
        """See Backend.close."""
        if is_interrupted:
            self._end_workers()
        elif self._is_ready:
            with ThreadPoolExecutor(len(self._slots)) as closers:  # each may take a moment to empty its log queue
                list(closers.map(_Slot.close, self._slots))

    def _end_workers(self) -> None:
        """Workers leave on SIGTERM and take their bots along; whoever is left after a moment is killed here."""
        pids = [pid for slot in self._slots for pid in slot.pids()]
        _signal(pids, signal.SIGTERM)
        threads = [slot.abandon() for slot in self._slots]
        deadline_s = time.monotonic() + _FAREWELL_S
        _signal([pid for pid in pids if not _has_ended(pid, deadline_s)], signal.SIGKILL)
        self._kill_orphans()
        # The exit of Python wakes threads that are left, through a pipe that they may be closing just then (in 3.11 an
        # OSError out of `threading._shutdown`). It waits for them for ever, so nothing is lost by waiting here.
        deadline_s = time.monotonic() + _THREADS_S
        for thread in filter(None, threads):
            thread.join(max(0.0, deadline_s - time.monotonic()))

    def _kill_orphans(self) -> None:
        """Bots of a dead worker become our children: kill those, and spare workers and multiprocessing's own.

        Only our own children are looked at. What starts below a living worker meanwhile is never a candidate: taken for
        an orphan once, a bot would lose a match by a crash of our making.
        """
        spare = helpers() | {pid for slot in self._slots for pid in slot.pids()}
        killed: set[int] = set()
        deadline_s = time.monotonic() + _FAREWELL_S
        while (orphans := reaper.children(os.getpid()) - spare) and time.monotonic() < deadline_s:
            _signal(orphans, signal.SIGKILL)  # their children become ours, and are found by the next look
            killed |= orphans
            for pid in orphans:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
        if killed:
            log.warning("killed %d orphaned processes", len(killed))


def helpers() -> set[int]:
    """The fork server and the resource tracker of multiprocessing."""
    found: list[Any] = [
        getattr(forkserver._forkserver, "_forkserver_pid", None),  # noqa: SLF001
        getattr(resource_tracker._resource_tracker, "_pid", None),  # noqa: SLF001
    ]
    return {pid for pid in found if pid}


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """What the system says while a worker is started, with what it needs of it. BrokenExecutor if its server died."""
    try:
        yield
    except (EOFError, ConnectionError) as error:
        raise BrokenExecutor("the process that starts workers died") from error
    except OSError as error:
        raise MachineFault(
            f"worker processes cannot be started: {error.strerror or error}; they need a folder for temporary files"
            " (TMPDIR) and a writable /dev/shm"
        ) from error


def _prepare_to_start() -> None:
    # The log package's queues come from the default context, which must be the one of the pools.
    multiprocessing.set_start_method(_START_METHOD, force=True)
    multiprocessing.set_forkserver_preload(["arena.league.worker"])
    reaper.become_subreaper()
    _quieten_tracker()
    if threading.current_thread() is not threading.main_thread():
        return
    # What is started here inherits this, a worker until it has handlers of its own: so what a terminal sends to all
    # meets none half-started, with a traceback.
    former = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)}
    try:
        forkserver.ensure_running()
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _quieten_tracker() -> None:
    """Without its tracker, which only tidies up after `kill -9`, multiprocessing works; a new one would only complain.

    A tracker that was killed is not replaced where the old one's semaphores are taken back: the new one has never
    heard of them, and prints a traceback for each.
    """
    warnings.filterwarnings("ignore", message="resource_tracker: process died unexpectedly")
    tracker: Any = resource_tracker._resource_tracker  # noqa: SLF001 - there is no public way
    send = tracker._send  # noqa: SLF001

    def send_if_heard(command: str, name: str, kind: str) -> None:
        if tracker._fd is None or tracker._check_alive():  # noqa: SLF001
            send(command, name, kind)

    tracker._send = send_if_heard  # noqa: SLF001


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _has_ended(pid: int, deadline_s: float) -> bool:
    """Whether the process, not our own child, is gone by the deadline."""
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return True
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(max(0.0, deadline_s - time.monotonic()) * 1000))
    finally:
        os.close(fd)
