"""Worker processes: a function and its argument go in, results and log records come out.

Rule: every worker has a thread of this process that waits for it, and a pipe of its own for answers and log records. So
a death costs the call in hand only: those queued behind it come back as `Undelivered`. multiprocessing-logging collects
the records here. No worker waits for a lock that a dead process holds, and nothing has a name that could be left behind
but the socket of the fork server, which lies in the scratch folder of this process. Nothing starts before the first
call. A worker ends with its parent, and on its end kills all that it started.
"""

import contextlib
import logging
import logging.handlers
import multiprocessing
import os
import select
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from functools import cache, partial
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import current_process
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

from multiprocessing_logging import MultiProcessingHandler

from arena.errors import MachineFault
from arena.process import reaper
from arena.process.scratch import own_folder

T = TypeVar("T")
R = TypeVar("R")
_Take = Callable[[Any], None] | None

_START_METHOD: Final = "forkserver"
_END_WITHIN_S: Final = 0.4
"""The time that interrupted workers have to end their bots and themselves."""
_LEAVE_WITHIN_S: Final = 0.3
LOOK_EVERY_S: Final = 0.5
"""The longest wait for workers without a look at anything else."""
log: Final = logging.getLogger("arena.pool")


class Undelivered(BrokenExecutor):
    """The error of a call that had not begun when its worker died; it does not count as an attempt."""


class Workers:
    """A pool of `count` worker processes. `preload` names the module of the functions that they call."""

    def __init__(self, count: int, *, preload: str) -> None:
        self._workers: list[_Worker | None] = [None] * count
        self._preload = preload
        self._logs: logging.Handler | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Close the pool; after an exception, as interrupted."""
        self.close(is_interrupted=error is not None)

    @property
    def pids(self) -> list[int]:
        """Process ids of the started workers; some may just have died."""
        return [worker.pid for worker in self._workers if worker is not None]

    def submit(self, function: Callable[..., R], argument: Any, take: _Take = None) -> "Future[R]":
        """Call the function in the worker with the fewest pending calls; a dead worker is replaced.

        With `take` the function has a second argument, by which it sends parts; `take` gets them in another thread, all
        of them before the future is done. The future fails with BrokenExecutor if the worker dies, with Undelivered if
        it dies before the call begins; it is never cancelled. Raises MachineFault if no worker can be started.
        """
        return self._free_worker().submit(function, argument, take)

    def _free_worker(self) -> "_Worker":
        """Return the worker with the fewest pending calls; start one if it is missing or dead."""
        loads = [0 if worker is None else worker.load() for worker in self._workers]
        number = loads.index(min(loads))
        worker = self._workers[number]
        if worker is not None and worker.is_lost():
            log.warning("worker [%d] died; a new one takes its place", worker.pid)
            worker = self._workers[number] = None
            self.kill_orphans()
        if worker is None:
            self._logs = self._logs or _LogCollector()
            worker = self._workers[number] = _start_worker_or_retry(f"worker-{number}", self._preload, self._logs)
        return worker

    def close(self, *, is_interrupted: bool) -> None:
        """End all workers after their last call, and wait for that; if interrupted, kill them at once with their bots.

        Calls in flight then fail with BrokenExecutor.
        """
        if is_interrupted:
            self._end_now()
        for worker in self._workers:
            if worker is not None:
                worker.end()
        if self._logs is not None:
            self._logs.close()
            self._logs = None

    def kill_orphans(self) -> None:
        """Kill the bots of dead workers, which have become our children; spare workers and multiprocessing's processes.

        Only direct children are considered: a bot of a living worker, taken for an orphan, would lose its match by a
        crash that the harness caused.
        """
        spare = multiprocessing_pids().union(self.pids)
        if killed := reaper.kill_all(lambda: reaper.children(os.getpid()) - spare, _END_WITHIN_S):
            log.warning("killed %d orphaned processes", killed)

    def _end_now(self) -> None:
        """Send SIGTERM to the workers, which end with their bots; kill those left after 0.4 s, and orphaned bots."""
        workers = [worker for worker in self._workers if worker is not None]
        _send_signal((worker.pid for worker in workers), signal.SIGTERM)
        deadline_s = time.monotonic() + _END_WITHIN_S
        for worker in workers:
            worker.process.join(max(0.0, deadline_s - time.monotonic()))
        _send_signal((worker.pid for worker in workers if worker.process.is_alive()), signal.SIGKILL)
        self._workers = [None] * len(self._workers)
        self.kill_orphans()


class Window(Generic[T, R]):
    """A bounded set of items in work, at most `most()` at once, which finish in any order."""

    def __init__(self, submit: Callable[[T], "Future[R]"], most: Callable[[], int]) -> None:
        self._submit, self._most, self._out = submit, most, 0
        self._arrived: SimpleQueue[tuple[T, Future[R]]] = SimpleQueue()

    def fill(self, items: Iterator[T]) -> bool:
        """Submit items up to the bound; return True if any is in work."""
        while self._out < self._most() and (item := next(items, None)) is not None:
            future = self._submit(item)
            self._out += 1
            future.add_done_callback(partial(self._arrive, item))
        return self._out > 0

    def collect(self, patience_s: float = LOOK_EVERY_S) -> Iterator[tuple[T, "Future[R]"]]:
        """Wait until an item is done, at most for `patience_s`; yield all that are done, with their futures.

        An item makes room for another one when it is yielded.
        """
        with contextlib.suppress(Empty):
            ended = self._arrived.get(timeout=patience_s)
            while True:
                self._out -= 1
                yield ended
                ended = self._arrived.get_nowait()

    def _arrive(self, item: T, future: "Future[R]") -> None:
        """Queue an item that is done; called in any thread."""
        self._arrived.put((item, future))


class _Worker:
    """A worker process, its pipe, and the thread that waits for it."""

    def __init__(self, name: str, process: Any, pipe: "Connection[Any, Any]", logs: logging.Handler) -> None:
        self.process, self.pid = process, int(process.pid)
        self._logs = logs
        self._pipe, self._is_lost = pipe, False
        self._thread = ThreadPoolExecutor(1, name)
        self._calls: list[Future[Any]] = []

    def load(self) -> int:
        """Return the number of pending calls."""
        self._calls = [call for call in self._calls if not call.done()]
        return len(self._calls)

    def is_lost(self) -> bool:
        """Return True if the process has died, which shows at once at its end of the pipe.

        Reads nothing and does not wait for the thread, which may wait for the caller.
        """
        poll = select.poll()
        poll.register(self._pipe.fileno(), 0)  # POLLHUP is reported without being requested
        return self._is_lost or bool(poll.poll(0))

    def submit(self, function: Callable[..., Any], argument: Any, take: _Take) -> "Future[Any]":
        """Call the function in the process; `take`, if given, gets the parts that it sends."""
        call = self._thread.submit(self._run_call, function, argument, take)
        self._calls.append(call)
        return call

    def end(self) -> None:
        """End the process after its last call, and log its last records."""
        self._thread.submit(self._log_late_records)
        self._thread.shutdown()
        self._pipe.close()
        self.process.join()

    def _log_late_records(self) -> None:
        """Log the records that arrived after the last answer; mark the worker as lost at the end of the pipe."""
        try:
            while not self._is_lost and self._pipe.poll():
                self._logs.handle(self._pipe.recv())
        except (EOFError, OSError):
            self._is_lost = True

    def _run_call(self, function: Callable[..., Any], argument: Any, take: _Take) -> Any:
        """Send a call to the process and return its result; log records and pass on parts until it comes.

        Raises the function's error, BrokenExecutor if the process dies, Undelivered if it died before the call.
        """
        self._log_late_records()
        if self._is_lost:
            raise Undelivered("a worker process died before this began")
        try:
            self._pipe.send((function, argument, take is not None))
            while isinstance(message := self._pipe.recv(), logging.LogRecord) or message.is_part:
                if isinstance(message, logging.LogRecord):
                    self._logs.handle(message)
                else:
                    assert take is not None, "only a stream has parts"
                    take(message.value)
        except (EOFError, OSError) as broken:
            self._is_lost = True
            raise BrokenExecutor("a worker process died") from broken
        if message.error is not None:
            raise message.error
        return message.value


def _start_worker_or_retry(name: str, preload: str, logs: logging.Handler) -> _Worker:
    """Start a worker; once more if the fork server of multiprocessing turns out to be dead."""
    try:
        return _start_worker(name, preload, logs)
    except BrokenExecutor:  # multiprocessing has another fork server by now
        return _start_worker(name, preload, logs)


def _start_worker(name: str, preload: str, logs: logging.Handler) -> _Worker:
    """Start a worker process with its pipe. Raises BrokenExecutor if the fork server is dead, else MachineFault."""
    delayed_signals: list[int] = []
    context = multiprocessing.get_context(_START_METHOD)
    try:
        _prepare_fork_server(preload)
        pipe, far_end = context.Pipe()
        with far_end:
            arguments = (far_end, logging.getLogger().getEffectiveLevel())
            process = context.Process(target=_serve, args=arguments, daemon=True)
            # signals wait for the end of the start: a worker interrupted there would print a traceback
            with _replaced_handler(
                lambda number, _: delayed_signals.append(number), signal.SIGINT, signal.SIGTERM, signal.SIGHUP
            ):
                process.start()
            return _Worker(name, process, pipe, logs)
    except (EOFError, ConnectionError) as error:
        raise BrokenExecutor("the process that starts workers died") from error
    except OSError as error:
        raise MachineFault(
            f"worker processes cannot be started: {error.strerror or error}; they need a folder for temporary files"
            " (TMPDIR)"
        ) from error
    finally:
        for number in delayed_signals[:1]:
            signal.raise_signal(number)


class _Answer(NamedTuple):
    """A message of a worker: a part of a stream, or the end of a call with its result or error."""

    value: Any = None
    error: Exception | None = None
    is_part: bool = False


class _LogCollector(MultiProcessingHandler):  # type: ignore[misc]  # the package has no types
    """A queue of the log records of all workers, and a thread that passes them to the handlers of this process.

    No other process has the queue, so none can die with its lock; with the method fork it has no name that is left
    behind.
    """

    def __init__(self) -> None:
        multiprocessing.set_start_method("fork", force=True)  # workers ask for theirs by name
        try:
            super().__init__("logs-of-workers", sub_handler=_OwnHandlers())
        except OSError as error:  # of the semaphores of its queue
            raise MachineFault(f"worker processes need room in /dev/shm: {error.strerror}") from error

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Drop a record that arrives after the end."""


class _OwnHandlers(logging.Handler):
    """A handler that passes records to the handlers of this process, under their own locks and levels."""

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a record to each handler of this process whose level it reaches."""
        for handler in logging.getLogger().handlers:
            if record.levelno >= handler.level:
                handler.handle(record)


def multiprocessing_pids() -> set[int]:
    """Return the process ids of multiprocessing's fork server and resource tracker, as far as they run."""
    pids: list[Any] = [
        getattr(forkserver._forkserver, "_forkserver_pid", None),  # noqa: SLF001 - there is no public way
        getattr(resource_tracker._resource_tracker, "_pid", None),  # noqa: SLF001
    ]
    return {pid for pid in pids if pid}


def _prepare_fork_server(preload: str) -> None:
    """Start multiprocessing's fork server, unless it runs, with `preload` imported and no signal of the terminal."""
    multiprocessing.set_forkserver_preload([preload])
    current_process()._config["tempdir"] = _socket_folder()  # type: ignore[attr-defined]  # noqa: SLF001
    reaper.become_subreaper()
    warnings.filterwarnings("ignore", message="resource_tracker: process died unexpectedly")  # it has nothing to do
    # Processes that start here inherit this, workers until they set their own handlers: so a signal of the terminal
    # ends none during its start, with a traceback.
    with _replaced_handler(signal.SIG_IGN, signal.SIGINT, signal.SIGHUP):
        forkserver.ensure_running()


@cache
def _socket_folder() -> str:
    """Return a short path of this process's scratch folder, for the socket of its fork server.

    The path of a socket has at most 107 bytes.
    """
    return f"/proc/self/fd/{os.open(own_folder(), os.O_RDONLY | os.O_DIRECTORY)}"


@contextlib.contextmanager
def _replaced_handler(handler: Any, *numbers: signal.Signals) -> Iterator[None]:
    """Set another handler for these signals inside the `with`; no effect outside the main thread."""
    is_main = threading.current_thread() is threading.main_thread()
    former = {number: signal.signal(number, handler) for number in numbers if is_main}
    try:
        yield
    finally:
        for number, previous in former.items():
            signal.signal(number, previous)


def _send_signal(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to processes; skip those that have ended."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class _Parent:
    """A worker's end of the pipe to its parent, for answers and for log records; all threads may use it."""

    def __init__(self, pipe: "Connection[Any, Any]") -> None:
        self._pipe, self._lock = pipe, threading.Lock()

    def send(self, message: _Answer | logging.LogRecord) -> None:
        """Send a message; raises OSError if the parent is gone."""
        with self._lock:
            self._pipe.send(message)

    def put_nowait(self, record: logging.LogRecord) -> None:
        """Send a log record that `logging.handlers.QueueHandler` has prepared."""
        with contextlib.suppress(OSError):
            self.send(record)


def _serve(pipe: "Connection[Any, Any]", level: int) -> None:
    """Answer calls until the pipe is closed."""
    parent = _Parent(pipe)
    _become_worker(parent, level)

    def send_part(value: Any) -> None:
        parent.send(_Answer(value, is_part=True))

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
        parent.send(answer)


def _become_worker(parent: _Parent, level: int) -> None:
    """Set up a worker process: a session of its own, ignore Ctrl-C, end with the parent, log into the pipe."""
    os.setsid()  # Linux shares cores out by session: other programs of the user's must not make the referee wait
    # A handler, not SIG_IGN: what is ignored stays ignored in the bots started from here.
    for number in (signal.SIGINT, signal.SIGHUP):  # of a terminal: the main process decides what it means
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: _leave())
    reaper.become_subreaper()
    root = logging.getLogger()
    root.handlers[:] = [logging.handlers.QueueHandler(parent)]  # type: ignore[arg-type]  # it has all that is used
    root.setLevel(level)
    threading.Thread(target=_leave_with_parent, name="parent-watch", daemon=True).start()


def _leave_with_parent() -> None:
    """Wait for the end of the parent process, then end this one and its bots."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    wait([parent.sentinel])
    # The main thread ends the process, so that it starts no bot meanwhile; this thread only if that hangs.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    time.sleep(_LEAVE_WITHIN_S)
    _leave()


def _leave() -> None:
    """Kill all bots and end the process at once; the caller may repeat the unanswered call."""
    reaper.kill_descendants()
    os._exit(1)
