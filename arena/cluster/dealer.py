"""The driver's end of the cluster: jobs are dealt to workers, little ahead, and come back whole.

Rule: a job is in the backlog or with one worker, and its blocks are taken from that worker only, under the id of the
attempt. It goes back to `play_jobs` only when its worker is lost: the scheduler has dropped the worker, or nothing was
sent to it for longer than its lease. Everything here runs in one event loop; other threads use only `add` and futures.
"""

import asyncio
import contextlib
import itertools
import logging
import math
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import BrokenExecutor
from functools import lru_cache
from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from arena.cluster import session as remote
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
    describe_differences,
    describe_mismatch,
    encode_message,
)
from arena.cluster.peers import MatchTimeLimit, OpenJob, Peer, WorkerLost
from arena.errors import ArenaError, HarnessFault
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.process.workers import Undelivered
from arena.text import printable

_MOST_JOBS: Final = 64
"""Most jobs with one worker at once."""
_SPARE: Final = 8
_WORKERS_LISTED_PER_S: Final = 100
"""Workers that may be listed in a second: the scheduler takes a while to list a thousand."""
_PART_S: Final = 2.0
_FAILURES: Final = 3
"""Failures in a row after which a worker is left out: jobs at their first attempt, or sessions that never begin."""
log: Final = logging.getLogger("arena.cluster")
Returned = TypeVar("Returned")


class DealingTimes(msgspec.Struct, frozen=True):
    """The times of the driver, in seconds.

    A worker gets jobs until it has work for `ahead_s`; it answers after `wait_s` at the latest. A worker that does not
    answer is asked again for `retry_s`, then gets no message for `silent_s`, which is longer than its lease, and is
    lost. A worker that answers but finishes no match is lost after `quiet_s` or longer (`MatchTimeLimit`). The
    scheduler is asked for its workers every `look_s`; without workers or scheduler the driver gives up after
    `patience_s`.
    """

    ahead_s: float = 5.0
    wait_s: float = 2.5
    lease_s: float = 20.0
    answer_s: float = 15.0
    retry_s: float = 10.0
    silent_s: float = 25.0
    quiet_s: float = 600.0
    pause_s: float = 1.0
    look_s: float = 2.0
    busy_s: float = 10.0
    patience_s: float = 600.0


DEFAULT_TIMES: Final = DealingTimes()


class Requirements(msgspec.Struct, frozen=True):
    """The conditions for a worker: isolation of bots and the identity it must have; `league` is a name for messages."""

    league: str
    game: str
    isolation: Isolation
    identity: Identity


class Link(Protocol):
    """The connection to the workers. Any method raises OSError if the message or its answer did not arrive."""

    async def workers(self) -> tuple[str, dict[str, str]]:
        """Return the id of the scheduler, and the name of each worker by its address; raises OSError without one."""

    async def call(self, function: Callable[..., Awaitable[Returned]], address: str, argument: Any) -> Returned:
        """Call a function of `session` in the event loop of a worker; return its result. Raises CallFailed."""

    async def close(self) -> None:
        """Close the connection to the scheduler."""


class CallFailed(Exception):
    """The error of a worker on which a function fails; the message is a sentence."""


class Dealer:
    """The dealer of jobs to all workers of a link. `say` gets sentences for the user."""

    def __init__(
        self,
        link: Link,
        requirements: Requirements,
        archive_of: Callable[[str], bytes],
        *,
        times: DealingTimes = DEFAULT_TIMES,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.broken = ""
        self.peers: dict[str, Peer] = {}
        self.left_out: dict[str, str] = {}
        self._link, self._requirements, self._times, self._say = link, requirements, times, say
        self._backlog: deque[OpenJob] = deque()
        self._work = asyncio.Event()
        self._numbers, self._open = itertools.count(), 0
        self._idle: set[Peer] = set()
        self._failures: dict[str, int] = {}
        self._match_limit = MatchTimeLimit(times.quiet_s)
        self._endings: set[asyncio.Task[None]] = set()
        self._archive_of = lru_cache(maxsize=8)(archive_of)

    @property
    def slots(self) -> int:
        """Number of jobs to submit at most: those with workers and some in reserve; never 0, workers may still come."""
        return self._open + 2 * len(self.peers) + _SPARE

    def add(self, open_job: OpenJob) -> None:
        """Queue a job; its future fails with Undelivered at once if no further jobs are taken."""
        if self.broken:
            open_job.future.set_exception(Undelivered(self.broken))
            return
        self._backlog.append(open_job)
        self._work.set()

    async def run(self) -> None:
        """Watch for workers and run a task for each, until cancelled, or until none could play for too long.

        In the second case `broken` is the reason, and all queued and later jobs are refused.
        """
        try:
            trouble = await watch_workers(self._link, self._times, self.left_out, self._update_peers)
        except Exception as error:  # a bug, there or here, must not let the driver wait for ever
            log.exception("the scheduler")
            trouble = f"the scheduler: {type(error).__name__}: {error}"
        self._refuse_jobs(trouble)

    async def close(self) -> None:
        """End all sessions, with the jobs in flight, and close the link."""
        self.broken = self.broken or "the cluster is closed"
        peers = list(self.peers.values())
        for peer in peers:
            if peer.task is not None:
                peer.task.cancel()
        partings = (self._link.call(remote.part, peer.address, peer.session) for peer in peers)
        with contextlib.suppress(TimeoutError):  # the lease ends the session of a worker that got no message
            await asyncio.wait_for(asyncio.gather(*partings, return_exceptions=True), _PART_S)
        try:
            await self._link.close()
        except Exception:
            log.exception("the end of the cluster")  # all results are stored, so the caller goes on

    def _update_peers(self, scheduler: str, workers: dict[str, str]) -> None:
        """Start a task for each new worker that is not left out; mark peers that are gone, or of another scheduler."""
        for address, peer in self.peers.items():
            if address not in workers or peer.scheduler != scheduler:
                peer.gone.set()
        for address, name in workers.items():
            if address not in self.peers and name not in self.left_out:
                peer = self.peers[address] = Peer(address, name, scheduler)
                peer.task = asyncio.create_task(self._run_session(peer))

    def _refuse_jobs(self, trouble: str) -> None:
        """Refuse all further jobs, and return those in the backlog as undelivered."""
        self.broken = trouble
        while self._backlog:
            self._backlog.popleft().future.set_exception(Undelivered(trouble))

    async def _run_session(self, peer: Peer) -> None:
        """Run the session with a worker from its opening to the loss of the worker."""
        try:
            await self._open_session(peer)
            peer.is_ready = True
            self._idle.add(peer)
            while True:
                request = self._make_dispatch(peer)
                if not peer.jobs:
                    await _wait_for_event(self._work, self._times.lease_s / 4)  # short enough to renew the lease
                    request = self._make_dispatch(peer)
                self._take_in_report(peer, await self._exchange(peer, request))
        except WorkerLost as lost:
            self._remove_worker(peer, lost)
        except Exception as error:  # a bug, there or here, must not keep jobs for ever
            log.exception("worker %s", peer.name)
            with contextlib.suppress(WorkerLost):
                self._leave_out(peer, f"{type(error).__name__}: {error}")
            self._remove_worker(peer, WorkerLost(f"{type(error).__name__}: {error}", is_death=False))

    async def _open_session(self, peer: Peer) -> None:
        """Open a session as soon as no other driver has the worker; raises WorkerLost if the worker is left out."""
        requirements, times = self._requirements, self._times
        hello = Opening(peer.session, requirements.league, requirements.game, requirements.isolation, times.lease_s)
        message, is_reported = encode_message(hello), False
        while True:
            answer = await self._call_until_answered(peer, remote.meet, message)
            welcome = decode_message(answer, Welcome)
            if not welcome.is_busy:
                break
            if not is_reported:
                self._report_to_user(f"worker {peer.name}: {welcome.refusal}; it is asked again when that is over")
                is_reported = True
            await _wait_for_event(peer.gone, times.busy_s)
        peer.machine = welcome.machine
        if sentence := welcome.refusal or describe_differences(welcome.identity, requirements.identity):
            self._leave_out(peer, sentence)

    def _make_dispatch(self, peer: Peer) -> Dispatch:
        """Deal jobs to a worker; return the next message to it, with these and one of the bots that it lacks."""
        dealt = self._deal_jobs(peer)
        archives = self._archive_to_send(peer)
        is_more = bool(self._backlog)
        soon = math.floor(self._times.ahead_s / 2 / peer.match_s) if peer.match_s else peer.left
        return Dispatch(
            session=peer.session,
            awaited=frozenset(peer.jobs),
            jobs=dealt,
            archives=archives,
            enough=min(peer.left + len(peer.jobs) - 1, soon) if is_more and peer.jobs else 0,
            wait_s=self._times.wait_s,
        )

    def _archive_to_send(self, peer: Peer) -> dict[str, bytes]:
        """Return the archive of one bot that a worker lacks, by hash: it installs one while the next is in transit.

        Others are forgotten until the worker names them again. If the bot cannot be read here, refuses all further
        jobs, which ends the league, and raises WorkerLost.
        """
        due = {digest for open_job in peer.jobs.values() for digest in open_job.job.digests}
        digests, peer.missing_bots = [digest for digest in peer.missing_bots if digest in due], ()
        try:
            return {digest: self._archive_of(digest) for digest in digests[:1]}
        except (ArenaError, OSError) as error:
            self._refuse_jobs(str(error))
            raise WorkerLost(str(error), is_death=False) from error

    def _deal_jobs(self, peer: Peer) -> dict[str, AnyJob]:
        """Take jobs from the backlog for a worker: one if it has none, more if it may take them; return them by id."""
        dealt: dict[str, AnyJob] = {}
        idle = len(self._idle) - (peer in self._idle)
        while self._backlog and self._may_take(peer, idle):
            open_job = next((waiting for waiting in self._backlog if not (waiting.is_suspect and peer.jobs)), None)
            if open_job is None:
                break
            self._backlog.remove(open_job)
            attempt = str(next(self._numbers))
            peer.jobs[attempt] = open_job
            self._open += 1
            dealt[attempt] = open_job.job.with_bots(_without_paths)
        if dealt and len(dealt) == len(peer.jobs):
            peer.heard_s = asyncio.get_running_loop().time()
        if dealt:
            self._idle.discard(peer)
        if not self._backlog:
            self._work.clear()
        return dealt

    def _may_take(self, peer: Peer, idle: int) -> bool:
        """Return True if a worker may get a job: it has none, or little work while the backlog exceeds idle workers."""
        if not peer.jobs:
            return True
        is_little = 0.0 < peer.match_s * peer.left < self._times.ahead_s
        return is_little and len(peer.jobs) < _MOST_JOBS and len(self._backlog) > idle

    async def _exchange(self, peer: Peer, request: Dispatch) -> Report:
        """Exchange messages with a worker; return its report. Raises WorkerLost if it no longer has the session."""
        reply = decode_message(await self._call_until_answered(peer, remote.exchange, encode_message(request)), Report)
        if not reply.is_known:
            raise WorkerLost("its session has ended, as after a lease without a word from here", is_death=False)
        return reply

    async def _call_until_answered(
        self, peer: Peer, function: Callable[..., Awaitable[bytes]], message: bytes
    ) -> bytes:
        """Send a message until a worker answers; return the answer. Raises WorkerLost."""
        loop, times = asyncio.get_running_loop(), self._times
        give_up_s = math.inf
        while not peer.gone.is_set():
            try:
                call = self._link.call(function, peer.address, message)
                return await asyncio.wait_for(call, times.wait_s + times.answer_s)
            except CallFailed as error:
                self._leave_out(peer, str(error))
            except OSError as error:  # or its subclass TimeoutError
                log.info("worker %s does not answer: %s", peer.name, error)
            give_up_s = min(give_up_s, loop.time() + times.retry_s)  # from here on: the driver may have been suspended
            scheduler = await self._list_workers()
            if peer.gone.is_set():
                break
            if loop.time() > give_up_s:
                await _wait_for_event(peer.gone, times.silent_s)
                raise WorkerLost("it does not answer", is_death=bool(scheduler))
            await _wait_for_event(peer.gone, times.pause_s)
        raise WorkerLost("the scheduler has lost it", is_death=await self._list_workers() == peer.scheduler)

    async def _list_workers(self) -> str:
        """Ask the scheduler for its workers; return its id, empty if it does not answer."""
        try:
            scheduler, workers = await self._link.workers()
        except OSError:
            return ""
        self._update_peers(scheduler, workers)
        return scheduler

    def _take_in_report(self, peer: Peer, reply: Report) -> None:
        """Take in a worker's report: log records, missing bots, progress of jobs. May raise WorkerLost."""
        for line in reply.log:
            _log_again(peer, line)
        peer.match_s, peer.missing_bots = reply.match_s or peer.match_s, reply.missing
        self._match_limit.note_match(peer.match_s)
        for attempt, progress in reply.attempts.items():
            if attempt in peer.jobs:
                self._record_progress(peer, attempt, progress)
        if reply.refusal:
            self._leave_out(peer, reply.refusal)
        self._check_silence(peer)

    def _check_silence(self, peer: Peer) -> None:
        """Raise WorkerLost for a worker that answers but finishes no match for far longer than a match takes."""
        open_job = next(iter(peer.jobs.values()), None)
        quiet_s = asyncio.get_running_loop().time() - peer.heard_s
        if open_job is not None and quiet_s > self._match_limit.for_job(open_job):
            self._match_limit.double(open_job)
            sentence = f"it has finished no match for {quiet_s:.0f} s"
            self._report_to_user(f"worker {peer.name}: {sentence}; what it has is played again")
            self._count_failure(peer, sentence)
            raise WorkerLost(sentence, is_death=False)

    def _record_progress(self, peer: Peer, attempt: str, progress: AttemptProgress) -> None:
        """Record the progress of an open attempt; at its end set the job's result or error, and judge the worker.

        A worker that lacks something, whose results do not fit the job, or with three failures in a row is left out,
        which raises WorkerLost. A failure of a first attempt counts, but not bots that did not arrive.
        """
        open_job = peer.jobs[attempt]
        if progress.ending or progress.finished > open_job.finished:
            peer.heard_s = asyncio.get_running_loop().time()
        open_job.progress(progress.finished)
        if not progress.ending:
            return
        if progress.ending == "lacking":
            self._leave_out(peer, progress.error)
        is_played = progress.ending == "played"
        if is_played and (sentence := describe_mismatch(open_job.job, progress)):
            self._leave_out(peer, sentence)
        del peer.jobs[attempt]
        self._open -= 1
        if not peer.jobs:
            self._idle.add(peer)
        if is_played:
            self._failures.pop(peer.name, None)
            blocks = [replace(block, machine=peer.machine) for block in progress.blocks]
            open_job.future.set_result(blocks or [*progress.checked])
            return
        kind = {"died": BrokenExecutor, "undelivered": Undelivered}.get(progress.ending, HarnessFault)
        open_job.future.set_exception(kind(f"{peer.name}: {progress.error}"))
        if open_job.job.attempt == 1 and kind is not Undelivered:
            self._count_failure(peer, progress.error)

    def _count_failure(self, peer: Peer, error: str) -> None:
        """Count a failure of a worker; after three in a row leave it out, which raises WorkerLost."""
        self._failures[peer.name] = self._failures.get(peer.name, 0) + 1
        if self._failures[peer.name] >= _FAILURES:
            self._leave_out(peer, f"it failed {_FAILURES} times in a row, at last: {error}")

    def _leave_out(self, peer: Peer, sentence: str) -> None:
        """Leave a worker out from now on, and report the sentence; always raises WorkerLost."""
        self.left_out[peer.name] = printable(f"worker {peer.name} is left out: {sentence}")
        self._report_to_user(self.left_out[peer.name])
        raise WorkerLost(sentence, is_death=False)

    def _remove_worker(self, peer: Peer, lost: WorkerLost) -> None:
        """Remove a worker, let the futures of its jobs fail, and end its session if it lives.

        Of a dead worker the jobs that had begun fail with BrokenExecutor; all others with Undelivered.
        """
        del self.peers[peer.address]
        log.warning("worker %s is lost: %s", peer.name, lost)
        open_jobs = list(peer.jobs.values())
        peer.jobs.clear()
        self._open -= len(open_jobs)
        self._idle.discard(peer)
        begun = ([job for job in open_jobs if job.finished] or open_jobs[:1]) if lost.is_death else []
        for job in open_jobs:  # a worker plays one at a time
            died, back = BrokenExecutor(f"{peer.name} died"), Undelivered(f"{peer.name}: {lost}")
            job.future.set_exception(died if job in begun else back)
        if not lost.is_death and not peer.gone.is_set():
            parting = asyncio.create_task(self._end_session(peer))
            self._endings.add(parting)  # a task without a reference may be collected
            parting.add_done_callback(self._endings.discard)
        if lost.is_death and (not peer.is_ready or any(open_job.job.attempt == 1 for open_job in open_jobs)):
            with contextlib.suppress(WorkerLost):
                self._count_failure(peer, str(lost))

    async def _end_session(self, peer: Peer) -> None:
        """Ask a worker to end its session; log it if that fails."""
        try:
            await asyncio.wait_for(self._link.call(remote.part, peer.address, peer.session), self._times.answer_s)
        except (OSError, CallFailed) as error:
            log.info("worker %s does not hear that it is left: %s", peer.name, error)

    def _report_to_user(self, sentence: str) -> None:
        """Log a sentence and show it to the user."""
        log.warning("%s", sentence)
        self._say(printable(sentence))


async def _wait_for_event(event: asyncio.Event, most_s: float) -> None:
    """Wait for an event, at most for `most_s`."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), most_s)


async def watch_workers(
    link: Link, times: DealingTimes, left_out: Mapping[str, str], compare: Callable[[str, dict[str, str]], None]
) -> str:
    """Pass scheduler and workers to `compare` at intervals; return why, when no worker could play for too long.

    `left_out`: a sentence for each worker that cannot play, by its name.
    """
    loop = asyncio.get_running_loop()
    bad_s = math.inf  # the time since which no worker can play
    while True:
        trouble, patience_s, workers = "", times.patience_s, dict[str, str]()
        try:
            scheduler, workers = await link.workers()
        except OSError as error:
            trouble = f"the scheduler cannot be reached ({error})"
        else:
            compare(scheduler, workers)
            if not any(name not in left_out for name in workers.values()):
                trouble = "; ".join(left_out.values()) or "it has no worker yet"
                patience_s = times.retry_s if workers else patience_s
        bad_s = min(bad_s, loop.time()) if trouble else math.inf
        if loop.time() - bad_s > patience_s:
            return trouble
        await asyncio.sleep(max(times.look_s, len(workers) / _WORKERS_LISTED_PER_S))


def _without_paths(bot: BotSpec) -> BotSpec:
    """Return a copy of the bot without its paths on this machine."""
    return replace(bot, source="", folder="", given="")


def _log_again(peer: Peer, line: LogLine) -> None:
    """Log a record of a worker in this process."""
    record = logging.LogRecord(line.logger, line.level, "", 0, "%s", (line.text,), None)
    record.created, record.processName = line.created, peer.name
    logging.getLogger(line.logger).handle(record)
