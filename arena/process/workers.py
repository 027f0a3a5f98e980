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
    """A call that had not begun when its worker was lost: it counts as not tried."""


class Workers:
    """So many worker processes on this machine. `preload` names the module of the functions that they call."""

    def __init__(self, count: int, *, preload: str) -> None:
        self._workers: list[_Worker | None] = [None] * count
        self._preload = preload
        self._logs: logging.Handler | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Close; as interrupted after an error."""
        self.close(is_interrupted=error is not None)

    @property
    def pids(self) -> list[int]:
        """The processes that were started, also just after their death."""
        return [worker.pid for worker in self._workers if worker is not None]

    def submit(self, function: Callable[..., R], argument: Any, take: _Take = None) -> "Future[R]":
        """Call the function in the worker with the fewest calls before this one; a worker that has died is replaced.

        What it sends by its second argument, which it has if `take` is given, `take` gets in another thread; all of it,
        before the future is done. The future fails with BrokenExecutor if the worker dies, with Undelivered if it does
        before it begins the call; it is never cancelled. MachineFault if no worker can be started.
        """
        return self._free_worker().submit(function, argument, take)

    def _free_worker(self) -> "_Worker":
        """The worker with the fewest calls, alive as far as it can be seen."""
        loads = [0 if worker is None else worker.load() for worker in self._workers]
        number = loads.index(min(loads))
        worker = self._workers[number]
        if worker is not None and worker.is_lost():
            log.warning("worker [%d] died; a new one takes its place", worker.pid)
            worker = self._workers[number] = None
            self.kill_orphans()
        if worker is None:
            self._logs = self._logs or _LogCollector()
            worker = self._workers[number] = _started(f"worker-{number}", self._preload, self._logs)
        return worker

    def close(self, *, is_interrupted: bool) -> None:
        """End all workers when they are done; at once, with all calls in flight thrown away, if interrupted."""
        if is_interrupted:
            self._end_now()
        for worker in self._workers:
            if worker is not None:
                worker.end()
        if self._logs is not None:
            self._logs.close()
            self._logs = None

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
        workers = [worker for worker in self._workers if worker is not None]
        _signal((worker.pid for worker in workers), signal.SIGTERM)
        deadline_s = time.monotonic() + _END_WITHIN_S
        for worker in workers:
            worker.process.join(max(0.0, deadline_s - time.monotonic()))
        _signal((worker.pid for worker in workers if worker.process.is_alive()), signal.SIGKILL)
        self._workers = [None] * len(self._workers)
        self.kill_orphans()


class Window(Generic[T, R]):
    """Items that are out at workers, `most` at once, and come back in any order."""

    def __init__(self, submit: Callable[[T], "Future[R]"], most: Callable[[], int]) -> None:
        self._submit, self._most, self._out = submit, most, 0
        self._arrived: SimpleQueue[tuple[T, Future[R]]] = SimpleQueue()

    def fill(self, items: Iterator[T]) -> bool:
        """Hand out items; whether any is out."""
        while self._out < self._most() and (item := next(items, None)) is not None:
            future = self._submit(item)
            self._out += 1
            future.add_done_callback(partial(self._arrive, item))
        return self._out > 0

    def ended(self, patience_s: float = LOOK_EVERY_S) -> Iterator[tuple[T, "Future[R]"]]:
        """Wait until an item is done, and yield all that are; none after `patience_s`."""
        with contextlib.suppress(Empty):
            ended = self._arrived.get(timeout=patience_s)
            while True:
                self._out -= 1
                yield ended
                ended = self._arrived.get_nowait()

    def _arrive(self, item: T, future: "Future[R]") -> None:
        """Note that an item is done; in any thread."""
        self._arrived.put((item, future))


class _Worker:
    """One worker process, its pipe, and the thread that waits for it."""

    def __init__(self, name: str, process: Any, pipe: "Connection[Any, Any]", logs: logging.Handler) -> None:
        self.process, self.pid = process, int(process.pid)
        self._logs = logs
        self._pipe, self._is_lost = pipe, False
        self._thread = ThreadPoolExecutor(1, name)
        self._calls: list[Future[Any]] = []

    def load(self) -> int:
        """Calls that are not done."""
        self._calls = [call for call in self._calls if not call.done()]
        return len(self._calls)

    def is_lost(self) -> bool:
        """Whether the process has died, which its end of the pipe tells at once; that of the fork server is no death.

        Nothing is read, and the thread is not asked: it may wait for whoever asks here.
        """
        poll = select.poll()
        poll.register(self._pipe.fileno(), 0)  # the end of the other side is reported without being asked for
        return self._is_lost or bool(poll.poll(0))

    def submit(self, function: Callable[..., Any], argument: Any, take: _Take) -> "Future[Any]":
        """Call the function in the process; `take` gets what it sends meanwhile, if given."""
        call = self._thread.submit(self._call, function, argument, take)
        self._calls.append(call)
        return call

    def end(self) -> None:
        """End the process after its last call, with its last log records."""
        self._thread.submit(self._read_idle)
        self._thread.shutdown()
        self._pipe.close()
        self.process.join()

    def _read_idle(self) -> None:
        """Take log records that came after the last answer, or the end of the pipe."""
        try:
            while not self._is_lost and self._pipe.poll():
                self._logs.handle(self._pipe.recv())
        except (EOFError, OSError):
            self._is_lost = True

    def _call(self, function: Callable[..., Any], argument: Any, take: _Take) -> Any:
        self._read_idle()
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


def _started(name: str, preload: str, logs: logging.Handler) -> _Worker:
    try:
        return _start(name, preload, logs)
    except BrokenExecutor:  # multiprocessing has another fork server by now
        return _start(name, preload, logs)


def _start(name: str, preload: str, logs: logging.Handler) -> _Worker:
    held: list[int] = []
    context = multiprocessing.get_context(_START_METHOD)
    try:
        _prepare_to_start(preload)
        pipe, far_end = context.Pipe()
        with far_end:
            given = (far_end, logging.getLogger().getEffectiveLevel())
            process = context.Process(target=_serve, args=given, daemon=True)
            # a stop waits for the end of this: a worker whose start was cut short would end with a traceback
            with _handled_by(lambda number, _: held.append(number), signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
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
        for number in held[:1]:
            signal.raise_signal(number)


class _Answer(NamedTuple):
    """A message of a worker: a part of a stream, or the end of a call with its result or error."""

    value: Any = None
    error: Exception | None = None
    is_part: bool = False


class _LogCollector(MultiProcessingHandler):  # type: ignore[misc]  # the package has no types
    """A queue of the records of all workers, and a thread that hands them to the handlers of this process.

    No other process has the queue, so none can die with its lock; of the method fork it has no name to be left behind.
    """

    def __init__(self) -> None:
        multiprocessing.set_start_method("fork", force=True)  # workers ask for theirs by name
        super().__init__("logs-of-workers", sub_handler=_OwnHandlers())

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Drop a record that comes after the end."""


class _OwnHandlers(logging.Handler):
    """Hands records to the handlers of this process, under their own locks and levels."""

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
    multiprocessing.set_forkserver_preload([preload])
    current_process()._config["tempdir"] = _socket_folder()  # type: ignore[attr-defined]  # noqa: SLF001
    reaper.become_subreaper()
    warnings.filterwarnings("ignore", message="resource_tracker: process died unexpectedly")  # it has nothing to do
    # Processes that start here inherit this, a worker until it has handlers of its own: so a signal of the terminal
    # meets none half-started, with a traceback.
    with _handled_by(signal.SIG_IGN, signal.SIGINT, signal.SIGHUP):
        forkserver.ensure_running()


@cache
def _socket_folder() -> str:
    """The scratch folder of this process for the socket of its fork server, by a name that is short wherever it lies.

    The path of a socket has 107 bytes at most.
    """
    return f"/proc/self/fd/{os.open(own_folder(), os.O_RDONLY | os.O_DIRECTORY)}"


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


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class _Parent:
    """A worker's end of the pipe, for answers and for the log records of all threads."""

    def __init__(self, pipe: "Connection[Any, Any]") -> None:
        self._pipe, self._lock = pipe, threading.Lock()

    def send(self, message: _Answer | logging.LogRecord) -> None:
        """Send a message whole. OSError if the parent is gone."""
        with self._lock:
            self._pipe.send(message)

    def put_nowait(self, record: logging.LogRecord) -> None:
        """Send a record, which `logging.handlers.QueueHandler` has prepared."""
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
    """Be quiet on Ctrl-C, gone with the parent, and log into its pipe."""
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
