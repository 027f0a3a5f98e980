"""Worker processes: a function and its argument go in, results come out; logs of all arrive in this process.

Rule: every worker has a thread of this process that waits for it, and its own pipe and log queue. So a death costs the
calls of that worker only, and no other one waits for a lock that a dead process holds. Nothing starts before the first
call. A worker ends with its parent, and on its end kills all that it started.
"""

import contextlib
import logging
import logging.handlers
import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from functools import cache
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, NamedTuple, TypeVar

from multiprocessing_logging import MultiProcessingHandler

from arena.errors import MachineFault
from arena.process import reaper

T = TypeVar("T")
R = TypeVar("R")
P = TypeVar("P")
_Take = Callable[[Any], None] | None

_START_METHOD: Final = "forkserver"
_END_WITHIN_S: Final = 0.4
"""The time that interrupted workers have to end their bots and themselves."""
_LEAVE_WITHIN_S: Final = 0.3
log: Final = logging.getLogger("arena.pool")


class Workers:
    """So many worker processes on this machine. `preload` names the module of the functions that they call."""

    def __init__(self, count: int, *, preload: str) -> None:
        self._workers = [_Worker(f"worker-{number}", preload) for number in range(count)]

    @property
    def pids(self) -> list[int]:
        """The processes that were started, also just after their death."""
        return [worker.process.pid or 0 for worker in self._workers if worker.process is not None]

    def submit(self, function: Callable[[T], R], argument: T) -> "Future[R]":
        """Call the function in the worker with the fewest calls before this one; a worker that has died is replaced.

        The future fails with BrokenExecutor if the worker dies. MachineFault if no worker can be started.
        """
        return self._free_worker().submit(function, argument, None)

    def stream(
        self, function: Callable[[T, Callable[[P], None]], R], argument: T, take: Callable[[P], None]
    ) -> "Future[R]":
        """Call the function as `submit` does; what it sends by its second argument `take` gets in another thread.

        When the future is done, `take` has had all of it.
        """
        return self._free_worker().submit(function, argument, take)

    def _free_worker(self) -> "_Worker":
        """The worker with the fewest calls, alive as far as it can be seen."""
        worker = min(self._workers, key=_Worker.load)
        if worker.process is not None and (worker.is_broken or not worker.process.is_alive()):
            log.warning("worker [%d] died; a new one takes its place", worker.process.pid)
            worker.abandon()
            self.kill_orphans()
        return worker

    def close(self, *, is_interrupted: bool) -> None:
        """End all workers when they are done; at once, with all calls in flight thrown away, if interrupted."""
        if is_interrupted:
            self._end_now()
            return
        for worker in self._workers:
            worker.end()

    def kill_orphans(self) -> None:
        """Bots of a dead worker become our children: kill those, and spare workers and multiprocessing's own.

        Only our own children are looked at. A process that starts below a living worker is never a candidate: taken for
        an orphan once, a bot would lose a match by a crash of our making.
        """
        spare = multiprocessing_pids().union(self.pids)
        if killed := reaper.kill_all(lambda: reaper.children(os.getpid()) - spare, _END_WITHIN_S):
            log.warning("killed %d orphaned processes", killed)

    def _end_now(self) -> None:
        """Workers leave on SIGTERM and take their bots along; those left after a moment are killed."""
        processes = [worker.process for worker in self._workers if worker.process is not None]
        pids = self.pids
        _signal(pids, signal.SIGTERM)
        for worker in self._workers:
            worker.abandon()
        deadline_s = time.monotonic() + _END_WITHIN_S
        for process in processes:
            process.join(max(0.0, deadline_s - time.monotonic()))
        _signal((process.pid or 0 for process in processes if process.is_alive()), signal.SIGKILL)
        self.kill_orphans()


class _Worker:
    """One worker process, the thread that waits for it, and its own log handler."""

    def __init__(self, name: str, preload: str) -> None:
        self.process: BaseProcess | None = None
        self.is_broken = False
        self._name = name
        self._preload = preload
        self._thread = ThreadPoolExecutor(1, name)
        self._calls: list[Future[Any]] = []
        self._pipe: Connection[Any, Any]
        self._handler: Any

    def load(self) -> int:
        """Calls that are not done."""
        self._calls = [call for call in self._calls if not call.done()]
        return len(self._calls)

    def submit(self, function: Callable[..., Any], argument: Any, take: Callable[[Any], None] | None) -> "Future[Any]":
        """Call the function in the process, which is started if there is none; `take` gets what it yields, if given."""
        if self.process is None:
            try:
                self._start()
            except BrokenExecutor:  # multiprocessing has another fork server by now
                self._start()
        call = self._thread.submit(self._call, self._pipe, function, argument, take)
        self._calls.append(call)
        return call

    def abandon(self) -> None:
        """Let go of the process, without waiting for a queue whose lock a dead one may hold."""
        if self.process is not None:
            self._drop_log()
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._thread = ThreadPoolExecutor(1, self._name)
            self.process = None

    def end(self) -> None:
        """End the process after its last call, with its last log records."""
        self._thread.shutdown()
        if self.process is not None:
            self._pipe.close()
            self.process.join()
            self._handler.close()

    def _start(self) -> None:
        held: list[int] = []
        context = multiprocessing.get_context(_START_METHOD)
        try:
            _prepare_to_start(self._preload)
            self._pipe, far_end = context.Pipe()
            self._handler = MultiProcessingHandler(self._name, sub_handler=_ToOwnHandlers())
            with far_end:
                given = (far_end, self._handler.queue, logging.getLogger().getEffectiveLevel())
                process = context.Process(target=_serve, args=given, daemon=True)
                try:
                    # a stop waits for the end of this: a worker whose start was cut short meets its queue gone
                    with _handled_by(
                        lambda number, _: held.append(number), signal.SIGINT, signal.SIGTERM, signal.SIGHUP
                    ):
                        process.start()
                    self.process, self.is_broken = process, False
                except BaseException:
                    self._drop_log()
                    raise
        except (EOFError, ConnectionError) as error:
            raise BrokenExecutor("the process that starts workers died") from error
        except OSError as error:
            raise MachineFault(
                f"worker processes cannot be started: {error.strerror or error}; they need a folder for temporary files"
                " (TMPDIR) and a writable /dev/shm"
            ) from error
        finally:
            for number in held[:1]:
                signal.raise_signal(number)

    def _drop_log(self) -> None:
        self._handler.queue.cancel_join_thread()
        threading.Thread(target=self._handler.close, daemon=True).start()  # it waits for a queue that may be stuck

    def _call(
        self,
        pipe: "Connection[Any, Any]",
        function: Callable[..., Any],
        argument: Any,
        take: _Take,
    ) -> Any:
        try:
            pipe.send((function, argument, take is not None))
            while (answer := pipe.recv()).is_part:
                assert take is not None, "only a stream has parts"
                take(answer.value)
        except (EOFError, OSError) as broken:
            self.is_broken = True
            raise BrokenExecutor("a worker process died") from broken
        if answer.error is not None:
            raise answer.error
        return answer.value


class _Answer(NamedTuple):
    """A message of a worker: a part of a stream, or the end of a call with its result or error."""

    value: Any = None
    error: Exception | None = None
    is_part: bool = False


class _ToOwnHandlers(logging.Handler):
    """Hands a worker's records to the handlers of this process, under their own locks and levels."""

    def emit(self, record: logging.LogRecord) -> None:
        for handler in logging.getLogger().handlers:
            if record.levelno >= handler.level:
                handler.handle(record)


def multiprocessing_pids() -> set[int]:
    """The fork server and the resource tracker of multiprocessing."""
    found: list[Any] = [
        getattr(forkserver._forkserver, "_forkserver_pid", None),  # noqa: SLF001 - there is no public way
        getattr(resource_tracker._resource_tracker, "_pid", None),  # noqa: SLF001
    ]
    return {pid for pid in found if pid}


def _prepare_to_start(preload: str) -> None:
    # The log package's queues come from the default context, which must be the one of the workers.
    multiprocessing.set_start_method(_START_METHOD, force=True)
    multiprocessing.set_forkserver_preload([preload])
    reaper.become_subreaper()
    _quieten_tracker()
    # Processes that start here inherit this, a worker until it has handlers of its own: so a signal of the terminal
    # meets none half-started, with a traceback.
    with _handled_by(signal.SIG_IGN, signal.SIGINT, signal.SIGHUP):
        forkserver.ensure_running()


@contextlib.contextmanager
def _handled_by(handler: Any, *numbers: signal.Signals) -> Iterator[None]:
    """Another handler for these signals, in the main thread, which alone can have one."""
    is_main = threading.current_thread() is threading.main_thread()
    former = {number: signal.signal(number, handler) for number in numbers if is_main}
    try:
        yield
    finally:
        for number, each in former.items():
            signal.signal(number, each)


@cache
def _quieten_tracker() -> None:
    """Without its tracker, which only tidies up after `kill -9`, multiprocessing works; a new one would only complain.

    A tracker that was killed is not replaced while the old one's semaphores are taken back: the new one has never
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


def _serve(pipe: "Connection[Any, Any]", queue: Any, level: int) -> None:
    """Answer calls until the pipe is closed."""
    _become_worker(queue, level)

    def send_part(value: Any) -> None:
        pipe.send(_Answer(value, is_part=True))

    while True:
        try:
            function, argument, is_stream = pipe.recv()
        except EOFError:
            return
        try:
            answer = _Answer(function(argument, send_part) if is_stream else function(argument))
        except Exception as error:  # noqa: BLE001 - the edge: the caller gets it, whatever it is
            error.add_note(traceback.format_exc())
            answer = _Answer(error=error)
        pipe.send(answer)


def _become_worker(queue: Any, level: int) -> None:
    """Be quiet on Ctrl-C, gone with the parent, and log into its queue."""
    # A handler, not SIG_IGN: what is ignored stays ignored in the bots started from here.
    for number in (signal.SIGINT, signal.SIGHUP):  # of a terminal: the main process decides what it means
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: _leave())
    reaper.become_subreaper()
    root = logging.getLogger()
    root.handlers[:] = [logging.handlers.QueueHandler(queue)]
    root.setLevel(level)
    threading.Thread(target=_leave_with_parent, name="parent-watch", daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    wait([parent.sentinel])
    # The main thread does it, so that it starts no other bot meanwhile; this one only if that hangs.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    time.sleep(_LEAVE_WITHIN_S)
    _leave()


def _leave() -> None:
    """End at once and leave nothing behind; the call in hand was not answered, so it will be made again."""
    reaper.kill_descendants()
    os._exit(1)
