"""Where chunks are played in parallel: any `concurrent.futures` executor behind a few methods.

Rule: a backend runs chunks and returns futures; it stores nothing and decides nothing. `LocalBackend` keeps one
single-worker pool per slot, because a shared pool loses everything in flight when one worker dies; so the blame for a
death is exact, and only the chunk of that worker is played again.
"""

import contextlib
import logging
import multiprocessing
import os
import signal
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any, Final, Protocol

from multiprocessing_logging import MultiProcessingHandler

from arena.league.results import PlayedBlock
from arena.league.schedule import Chunk
from arena.league.worker import initialise, play_chunk
from arena.process import reaper

_START_METHOD: Final = "forkserver"
log: Final = logging.getLogger("arena.pool")


class Backend(Protocol):
    """Something that plays chunks."""

    def slots(self) -> int:
        """How many chunks may be in flight at once."""

    def submit(self, chunk: Chunk) -> "Future[list[PlayedBlock]]":
        """Play the chunk. The future fails with BrokenExecutor if its worker died."""

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

    def submit(self, chunk: Chunk) -> "Future[list[PlayedBlock]]":
        """See Backend.submit."""
        return self._executor.submit(play_chunk, chunk)

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

    def __init__(self, number: int) -> None:
        self._number = number
        self.busy: Future[list[PlayedBlock]] | None = None
        self._open()

    def _open(self) -> None:
        self._handler = MultiProcessingHandler(f"worker-{self._number}", sub_handler=_Sink())
        self._executor = ProcessPoolExecutor(
            1,
            mp_context=multiprocessing.get_context(_START_METHOD),
            initializer=initialise,
            initargs=(self._handler.queue, logging.getLogger().getEffectiveLevel()),
        )

    def submit(self, chunk: Chunk) -> "Future[list[PlayedBlock]]":
        self.busy = self._executor.submit(play_chunk, chunk)
        return self.busy

    def renew(self) -> None:
        """Replace a worker that died."""
        self._abandon_log()
        self._executor.shutdown(wait=False)
        self._open()

    def pids(self) -> list[int]:
        # There is no public way to the worker's pid; the attribute is as old as the class.
        return list(self._executor._processes or ())  # noqa: SLF001

    def close(self) -> None:
        self._executor.shutdown(wait=True)
        self._handler.close()

    def _abandon_log(self) -> None:
        """Let go of a queue whose lock a dead worker may hold, without waiting for it."""
        self._handler.queue.cancel_join_thread()
        self._handler._is_closed = True  # noqa: SLF001

    def kill(self) -> None:
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        self._abandon_log()
        self._executor.shutdown(wait=False, cancel_futures=True)


class LocalBackend:
    """Worker processes on this machine, one chunk in flight each."""

    def __init__(self, workers: int) -> None:
        # The package's queues come from the default context, which must be the one of the pools.
        multiprocessing.set_start_method(_START_METHOD, force=True)
        multiprocessing.set_forkserver_preload(["arena.league.worker"])
        reaper.become_subreaper()
        self._slots = [_Slot(number) for number in range(workers)]

    def slots(self) -> int:
        """See Backend.slots."""
        return len(self._slots)

    def submit(self, chunk: Chunk) -> "Future[list[PlayedBlock]]":
        """See Backend.submit."""
        slot = next(slot for slot in self._slots if slot.busy is None or slot.busy.done())
        if slot.busy is not None and slot.busy.exception() is not None:
            log.warning("worker %s died or failed; a new one takes its place", slot.pids())
            slot.renew()
            self._kill_orphans()
        return slot.submit(chunk)

    def close(self, *, is_interrupted: bool) -> None:
        """See Backend.close."""
        for slot in self._slots:
            if is_interrupted:
                slot.kill()
            else:
                slot.close()
        if is_interrupted:
            self._end_workers()

    def _end_workers(self) -> None:
        """Workers leave on SIGTERM and take their bots along; whoever is left after a moment is killed here."""
        deadline_s = 0.4
        for pid in [pid for slot in self._slots for pid in slot.pids()]:
            with contextlib.suppress(ChildProcessError, OSError):
                fd = os.pidfd_open(pid)
                try:
                    _wait_readable(fd, deadline_s)
                finally:
                    os.close(fd)
        self._kill_orphans(spare_workers=False)

    def _kill_orphans(self, *, spare_workers: bool = True) -> None:
        """Bots of a dead worker become our children: kill those, and spare workers and multiprocessing's own."""
        spare = helpers() | ({pid for slot in self._slots for pid in slot.pids()} if spare_workers else set())
        killed = reaper.kill_descendants(spare=frozenset(spare))
        if killed:
            log.warning("killed %d orphaned processes", killed)


def helpers() -> set[int]:
    """The fork server and the resource tracker of multiprocessing."""
    from multiprocessing import forkserver, resource_tracker  # noqa: PLC0415

    found: list[Any] = [
        getattr(forkserver._forkserver, "_forkserver_pid", None),  # noqa: SLF001
        getattr(resource_tracker._resource_tracker, "_pid", None),  # noqa: SLF001
    ]
    return {pid for pid in found if pid}


def _wait_readable(fd: int, patience_s: float) -> None:
    import select  # noqa: PLC0415

    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.poll(patience_s * 1000)
