"""The worker's end of the cluster: a session plays the jobs of one driver, in arena's own worker process.

Rule: a session ends by itself when its driver has not been heard for the time of the lease: then other machines may
play its jobs. Nothing blocks the event loop of the dask worker: bots are installed in a thread, blocks come from one.
"""

import asyncio
import contextlib
import logging
import os
import platform
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from arena import __version__
from arena.cluster.checks import CheckJob, check_alone
from arena.cluster.messages import (
    AnyJob,
    AttemptProgress,
    Dispatch,
    Identity,
    LogLine,
    Opening,
    Report,
    Welcome,
    decode_message,
    encode_message,
    progress_of_success,
)
from arena.doctor.machine import speed
from arena.errors import ArenaError, MachineFault
from arena.games import fingerprint_of, load_game
from arena.games.api import simulator_of
from arena.league.driver import Backend, LocalBackend
from arena.league.worker import OnFinished
from arena.process.sandbox import self_test
from arena.process.workers import Undelivered, Workers
from arena.store.cache import BotCache, BotsMissing, default_folder

_LOG_LINES: Final = 2000
"""Log records that wait for the driver; older ones are left out."""
CACHE_VARIABLE: Final = "ARENA_WORKER_CACHE"
"""Environment variable of a worker: the folder in which it keeps bots."""
log: Final = logging.getLogger("arena.cluster")


def dask_setup(worker: Any) -> None:  # noqa: ARG001 - dask's name and argument
    """Prepare this process for matches; dask calls it, because the module is a preload (`arena.cluster.link`)."""
    # A handler, not SIG_IGN, which bots would inherit: Ctrl-C is handled by the process that started this one.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # see `hear_no_ctrl_c`
    logging.getLogger("distributed.worker").addFilter(_is_no_call_record)
    logging.getLogger("arena").addHandler(logging.NullHandler())  # without a session, records go nowhere


def hear_no_ctrl_c() -> None:
    """Block SIGINT in this thread, and in processes that it starts until they unblock it (`dask_setup`)."""
    resource_tracker.ensure_running()  # before, because its start unblocks SIGINT
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _is_no_call_record(record: logging.LogRecord) -> bool:
    """Return False for a record about a single call, of which dask logs each one."""
    return "out-of-band" not in record.msg


async def meet(hello: bytes, dask_worker: Any) -> bytes:
    """Open a session on this dask worker: take a packed `Opening`, return a packed `Welcome`."""
    return encode_message(await _slot_of(dask_worker).meet(decode_message(hello, Opening)))


async def exchange(request: bytes, dask_worker: Any) -> bytes:
    """Exchange messages with a session: take a packed `Dispatch`, return a packed `Report`."""
    return encode_message(await _slot_of(dask_worker).exchange(decode_message(request, Dispatch)))


async def part(session: str, dask_worker: Any) -> None:
    """End the session at once, with its matches."""
    _slot_of(dask_worker).part(session)


def identity_of(game: str) -> Identity:
    """Return the versions on this machine of everything that the matches of a game depend on."""
    simulator = simulator_of(load_game(game))
    return Identity(__version__, fingerprint_of(game), {} if simulator is None else simulator.fingerprint())


_SLOTS: Final[dict[str, "Slot"]] = {}
"""Slots by the id of their dask worker; a process may have several, as in tests."""


def _slot_of(dask_worker: Any) -> "Slot":
    """Return the slot of a dask worker, made if there is none."""
    return _SLOTS.setdefault(dask_worker.id, Slot(Path(os.environ.get(CACHE_VARIABLE) or default_folder())))


class Slot:
    """The place for one session on a dask worker; `open_backend` makes the backend that plays its jobs."""

    def __init__(self, folder: Path, open_backend: Callable[[], Backend] = lambda: LocalBackend(1)) -> None:
        self._folder, self._open_backend = folder, open_backend
        self._session: WorkerSession | None = None

    async def meet(self, hello: Opening) -> Welcome:
        """Open a session, unless another one is open; answer again for the same one."""
        session = self._session
        if session is not None and session.is_open and session.hello.session != hello.session:
            return Welcome(is_busy=True, refusal=f"it plays for {session.hello.league}")
        if session is None or not session.is_open:
            try:
                bots = BotCache(self._folder, hello.isolation)
            except ArenaError as error:
                return Welcome(refusal=str(error))
            session = self._session = WorkerSession(hello, bots, self._open_backend())
        return await session.check_machine()

    async def exchange(self, request: Dispatch) -> Report:
        """Pass an exchange to its session; if that is not open, answer so."""
        session = self._session
        if session is None or not session.is_open or session.hello.session != request.session:
            return Report(is_known=False)
        return await session.exchange(request)

    def part(self, session: str) -> None:
        """End the session with this id, if it exists; nobody waits for the end of its matches."""
        if self._session is not None and self._session.hello.session == session:
            self._session.close()


class _Attempt:
    """An attempt at a job, which waits for its bots (`future` is None), is played, or is over: its future shows which.

    `finished`: the number of its finished matches.
    """

    def __init__(self, job: AnyJob) -> None:
        self.job = job
        self.finished = 0
        self.future: Future[Any] | None = None

    @property
    def is_over(self) -> bool:
        """True if the attempt has ended, in any way."""
        return self.future is not None and self.future.done()

    @property
    def left(self) -> int:
        """Number of matches still to play, plus 1 for the end of the job; 0 if it is over."""
        return 0 if self.is_over else self.job.matches - self.finished + 1

    @property
    def news(self) -> AttemptProgress:
        """The progress of the attempt for the driver."""
        if self.future is None or not self.future.done():
            return AttemptProgress(self.finished)
        try:
            return progress_of_success(self.job, tuple(self.future.result()))
        except (Undelivered, CancelledError) as error:
            return AttemptProgress(0, "undelivered", error=_error_sentence(error))
        except BrokenExecutor as error:
            return AttemptProgress(self.finished, "died", error=_error_sentence(error))
        except MachineFault as error:
            return AttemptProgress(0, "lacking", error=_error_sentence(error))
        except Exception as error:  # noqa: BLE001 - the edge: the driver gets it, whatever it is
            return AttemptProgress(self.finished, "failed", error=_error_sentence(error))


class WorkerSession:
    """A session with one driver: its jobs are played in the order in which their bots are complete."""

    def __init__(self, hello: Opening, bots: BotCache, backend: Backend) -> None:
        self.hello, self.is_open = hello, True
        self._bots, self._backend = bots, backend
        self._checkers = Workers(1, preload=check_alone.__module__)
        self._attempts: dict[str, _Attempt] = {}
        self._missing_bots: set[str] = set()
        self._bots_in_transit: set[str] = set()
        self._refusal = ""
        self._clock = _MatchClock()
        self._lock = threading.RLock()
        self._admission = ThreadPoolExecutor(1, "admission")
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._lease: asyncio.TimerHandle | None = None
        self._log = _Records()
        self._log.attach()
        self._renew_lease()

    async def check_machine(self) -> Welcome:
        """Renew the lease and check this machine; answer with its identity, or close the session with a refusal.

        The identity may differ from the driver's, which compares it.
        """
        self._renew_lease()
        try:
            welcome = await asyncio.to_thread(_describe_machine, self.hello)
        except (ArenaError, OSError) as error:
            welcome = Welcome(host=platform.node(), refusal=str(error))
        if welcome.refusal:
            self.close()
        return welcome

    async def exchange(self, request: Dispatch) -> Report:
        """Take the driver's message, which renews its lease on the session; report what there is to tell.

        Waits until `enough` or less is left, the driver is needed, the session is closed, or `wait_s` is over.
        """
        self._renew_lease()
        self._take_request(request)
        deadline_s = self._loop.time() + request.wait_s
        while self.is_open and not self._has_news(request.enough):
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), deadline_s - self._loop.time())
            except TimeoutError:
                break
        return self._make_report()

    def close(self) -> None:
        """Close the session; its matches and bots are ended in the background, and nobody waits for that."""
        if self.is_open:
            with self._lock:  # no job begins afterwards
                self.is_open = False
            if self._lease is not None:
                self._lease.cancel()
            self._changed.set()
            self._log.detach()
            self._admission.shutdown(wait=False, cancel_futures=True)
            for pool in (self._backend, self._checkers):
                threading.Thread(target=partial(pool.close, is_interrupted=True), daemon=True).start()

    def _renew_lease(self) -> None:
        """Start the lease again from now."""
        if self._lease is not None:
            self._lease.cancel()
        self._lease = self._loop.call_later(self.hello.lease_s, self._expire)

    def _expire(self) -> None:
        """End the session: its driver was not heard for the time of the lease."""
        log.warning("%s: its driver was not heard for %.0f s; the session ends", self.hello.league, self.hello.lease_s)
        self.close()

    def _take_request(self, request: Dispatch) -> None:
        """Forget attempts that are over and no longer awaited, add unknown ones, and install the bots sent along.

        A thread installs them, and begins the jobs whose bots are complete.
        """
        with self._lock:
            for key, attempt in list(self._attempts.items()):
                if attempt.is_over and key not in request.awaited:
                    del self._attempts[key]
            for key, job in request.jobs.items():
                if key not in self._attempts:
                    self._attempts[key] = _Attempt(job)
            self._missing_bots.difference_update(request.archives)
            if any(attempt.future is None for attempt in self._attempts.values()):
                self._bots_in_transit.update(request.archives)
                self._admission.submit(self._admit, request.archives)

    def _admit(self, archives: dict[str, bytes]) -> None:
        """Install bots, and queue the jobs whose bots are complete; runs in a thread.

        The hashes of bots that are missing then, and any error, are kept for the next report.
        """
        with self._lock:
            waiting = [attempt for attempt in self._attempts.values() if attempt.future is None]
        due = {digest for attempt in waiting for digest in attempt.job.digests}
        try:
            with contextlib.ExitStack() as held:  # the cache must not drop a bot to make room for its opponent
                self._hold_bots(due - archives.keys(), held)
                for digest, archive in archives.items():
                    if self.is_open:
                        self._bots.install(digest, archive)
                        self._hold_bots({digest} & due, held)
                missing = {digest for attempt in waiting for digest in self._begin_job(attempt)}
            with self._lock:
                self._bots_in_transit.difference_update(archives)
                self._missing_bots = missing - self._bots_in_transit
        except Exception as error:  # noqa: BLE001 - the edge: every error goes to the driver
            self._refusal = _error_sentence(error)
        self._wake_exchange()

    def _hold_bots(self, digests: set[str], stack: contextlib.ExitStack) -> None:
        """Hold the bots that are in the cache, until `stack` is closed."""
        for digest in digests:
            with contextlib.suppress(BotsMissing):
                stack.enter_context(self._bots.hold([digest]))

    def _begin_job(self, attempt: _Attempt) -> tuple[str, ...]:
        """Queue a job and hold its bots until it is over; if bots are missing, return their hashes instead."""
        with contextlib.ExitStack() as stack:
            try:
                folders = stack.enter_context(self._bots.hold(attempt.job.digests))
            except BotsMissing as missing:
                return missing.digests
            job = attempt.job.with_bots(lambda bot: replace(bot, folder=folders[bot.digest]))
            with self._lock:
                if not self.is_open:
                    return ()
                if all(attempt.future is None or attempt.is_over for attempt in self._attempts.values()):
                    self._clock.start()
                attempt.future = self._submit_job(job, partial(self._count_finished, attempt))
                held = stack.pop_all()
        attempt.future.add_done_callback(lambda _: held.close())
        attempt.future.add_done_callback(lambda _: self._end_attempt(attempt))
        return ()

    def _submit_job(self, job: AnyJob, on_finished: OnFinished) -> "Future[Any]":
        """Submit a job to the pool for checks or for matches; return its future."""
        if isinstance(job, CheckJob):
            return self._checkers.submit(check_alone, job, on_finished)
        return self._backend.submit(job, on_finished)

    def _count_finished(self, attempt: _Attempt, finished: int) -> None:
        """Set the number of finished matches of an attempt, and wake the exchange; called in any thread."""
        with self._lock:
            self._clock.count(finished - attempt.finished)
            attempt.finished = finished
        self._wake_exchange()

    def _end_attempt(self, attempt: _Attempt) -> None:
        """Count all matches of a played attempt as finished, and wake the exchange; called in any thread."""
        if attempt.news.ending == "played":
            self._count_finished(attempt, attempt.job.matches)
        self._wake_exchange()

    def _wake_exchange(self) -> None:
        """Let a waiting exchange look again whether there is news; called in any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: this worker ends
            self._loop.call_soon_threadsafe(self._changed.set)

    def _has_news(self, enough: int) -> bool:
        """Return True if the driver must not wait: a refusal, missing bots, or at most `enough` matches left."""
        with self._lock:
            left = sum(attempt.left for attempt in self._attempts.values())
            return bool(self._refusal or left <= enough or self._missing_bots)

    def _make_report(self) -> Report:
        """Return the report for the driver; its log records are then forgotten."""
        with self._lock:
            return Report(
                is_known=self.is_open,
                attempts={key: item.news for key, item in self._attempts.items() if item.finished or item.is_over},
                missing=tuple(sorted(self._missing_bots)),
                refusal=self._refusal,
                match_s=self._clock.match_s,
                log=self._log.take(),
            )


class _MatchClock:
    """The meter of recent seconds per match, while jobs are played one after the other."""

    def __init__(self) -> None:
        self.match_s = 0.0
        self._last_s = 0.0

    def start(self) -> None:
        """Start the clock, at the first job after a time without any."""
        self._last_s = time.monotonic()

    def count(self, matches: int) -> None:
        """Count matches that ended since the last call, and update the average."""
        if matches:
            now_s = time.monotonic()
            last_s = (now_s - self._last_s) / matches
            self.match_s = (self.match_s + last_s) / 2 if self.match_s else last_s
            self._last_s = now_s


class _Records(logging.Handler):
    """A log handler that keeps the records of arena, from this process and its workers, until the driver takes them."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[LogLine] = deque(maxlen=_LOG_LINES)

    def attach(self) -> None:
        """Add the handler to the root logger, and log from level INFO on."""
        root = logging.getLogger()
        root.addHandler(self)
        root.setLevel(logging.INFO)

    def detach(self) -> None:
        """Remove the handler from the root logger."""
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record of arena; those of other packages are dropped."""
        if record.name.partition(".")[0] == "arena":
            self._lines.append(LogLine(record.name, record.levelno, record.created, self.format(record)))

    def take(self) -> tuple[LogLine, ...]:
        """Return the kept records and forget them."""
        return tuple(self._lines.popleft() for _ in range(len(self._lines)))


def _error_sentence(error: BaseException) -> str:
    """Return the message of an error; for a bug, with its type."""
    return str(error) if isinstance(error, ArenaError | BrokenExecutor) else repr(error)


def _describe_machine(hello: Opening) -> Welcome:
    """Describe this machine for a driver; raises ArenaError if it cannot play."""
    identity = identity_of(hello.game)
    self_test.require_isolation(hello.isolation)
    return Welcome(identity, platform.node(), speed())
