"""Matches of `arena verify` checked on the workers of a cluster, which get them as they get the jobs of a league.

Rule: a worker checks only if its arena, rules and simulator equal those of this machine, so that its findings are the
same. Matches of other games, and matches of no league, are checked on this machine.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from itertools import chain
from typing import Any, Final

from msgspec.structs import replace

from arena.cluster.backend import ClusterBackend, LoopThread
from arena.cluster.checks import CheckJob, check_job
from arena.cluster.dealer import DEFAULT_TIMES, DealingTimes, Requirements
from arena.cluster.link import open_link
from arena.cluster.session import identity_of
from arena.errors import ArenaError, HarnessFault, MachineFault
from arena.games import load_game
from arena.games.api import simulator_of
from arena.league.tournament import ClusterSettings
from arena.league.worker import ATTEMPTS
from arena.process.workers import Undelivered
from arena.text import counted
from arena.verify.match import Batch, CheckedMatch, Checker, CheckTask, check_batches, check_here

_BATCH: Final = 16
"""Matches in a job of a game without a simulator; with one, a match takes seconds and is a job by itself."""


@contextlib.contextmanager
def cluster_checker(
    settings: ClusterSettings, say: Callable[[str], object], times: DealingTimes = DEFAULT_TIMES
) -> Iterator[Checker]:
    """Yield a checker of matches on all workers whose game equals the one here; `say` gets sentences about workers.

    Raises MachineFault without a scheduler or such a worker; HarnessFault if a match kills its worker repeatedly.
    """
    with LoopThread() as loop:
        link = loop.run(open_link(settings)).result()  # open for all leagues, so that workers on this machine stay

        def open_backend(requirements: Requirements) -> ClusterBackend:
            return ClusterBackend(partial(open_link, settings), requirements, lambda _: b"", times=times, say=say)

        try:
            yield partial(_check_on_cluster, open_backend)
        finally:
            loop.run(link.close()).result()


def _check_on_cluster(
    open_backend: Callable[[Requirements], ClusterBackend], tasks: Iterable[CheckTask]
) -> Iterator[CheckedMatch]:
    """Check matches, in order: those of one league on workers; here those of no league, or if the engine is missing.

    The first match decides for all.
    """
    following = iter(tasks)
    first = next(following, None)
    if first is None:
        return
    whole, requirements = chain((first,), following), _requirements(first)
    if requirements is None:
        yield from check_here(whole)
        return
    size = 1 if simulator_of(load_game(requirements.game)) is not None else _BATCH
    backend = open_backend(requirements)
    try:
        yield from check_batches(partial(_send_batch, backend), whole, lambda: backend.slots, lambda: size)
    finally:
        backend.close(is_interrupted=True)


def _requirements(task: CheckTask) -> Requirements | None:
    """Return the requirements for workers that check the league of a match; None if it is checked on this machine."""
    if task.expected is None:
        return None
    try:
        return Requirements("arena verify", task.expected.game, "none", identity_of(task.expected.game))
    except ArenaError:  # the game lacks its simulator here
        return None


def _send_batch(backend: ClusterBackend, batch: Batch) -> Callable[[], list[CheckedMatch]]:
    """Send a batch; return the function that waits for its findings."""
    job = check_job(batch)
    return partial(_wait_for_findings, backend, job, _submit_or_fail(backend, job))


def _wait_for_findings(backend: ClusterBackend, job: CheckJob, future: "Future[Any]") -> list[CheckedMatch]:
    """Wait for the findings of a job, which is sent again if its worker is lost; raises HarnessFault at the end."""
    while isinstance(error := future.exception(), BrokenExecutor):
        attempt = job.attempt + (not isinstance(error, Undelivered))
        if attempt > ATTEMPTS:
            raise HarnessFault(f"{counted(ATTEMPTS, 'worker')} died of the same matches; try again")
        job = replace(job, attempt=attempt)
        future = _submit_or_fail(backend, job)
    return [*future.result()]


def _submit_or_fail(backend: ClusterBackend, job: CheckJob) -> "Future[Any]":
    """Submit a job; raises MachineFault if the cluster is gone."""
    try:
        return backend.submit(job, lambda _: None)
    except BrokenExecutor as error:
        raise MachineFault(f"{error}; nothing was changed, and the same command begins anew") from error
