"""A `Backend` whose jobs are played by the workers of a dask cluster: a thread with the event loop of the dealer."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from typing import Any, Final, Self, TypeVar

from arena.cluster.dealer import DEFAULT_TIMES, Dealer, DealingTimes, Link, Requirements
from arena.cluster.messages import AnyJob
from arena.cluster.peers import OpenJob
from arena.cluster.session import hear_no_ctrl_c, identity_of
from arena.league.tournament import ClusterSettings, Tournament
from arena.league.worker import OnFinished
from arena.process.limits import Isolation

_CLOSE_WITHIN_S: Final = 5.0
Returned = TypeVar("Returned")


class LoopThread:
    """An event loop in a thread of its own, for the time of a `with`; Ctrl-C is blocked there (`hear_no_ctrl_c`)."""

    def __init__(self, new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop) -> None:
        self.loop = new_loop()
        self._thread = threading.Thread(target=self._run_loop, name="cluster", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Cancel all tasks of the event loop and end it."""

        async def end() -> None:
            """Cancel all other tasks and wait for their end."""
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        with contextlib.suppress(TimeoutError):
            self.run(end()).result(_CLOSE_WITHIN_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_CLOSE_WITHIN_S)
        if not self._thread.is_alive():
            self.loop.close()

    def _run_loop(self) -> None:
        """Run the event loop until it is stopped, in a thread without Ctrl-C."""
        hear_no_ctrl_c()
        self.loop.run_forever()

    def run(self, coroutine: Coroutine[Any, Any, Returned]) -> "Future[Returned]":
        """Run a coroutine in the event loop; return its future."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)


class ClusterBackend:
    """A `Backend` for a cluster, which connects at its first job; that raises MachineFault without a scheduler."""

    def __init__(
        self,
        open_link: Callable[[], Coroutine[Any, Any, Link]],
        requirements: Requirements,
        archive_of: Callable[[str], bytes],
        *,
        times: DealingTimes = DEFAULT_TIMES,
        say: Callable[[str], object] = lambda _: None,
        new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
    ) -> None:
        self.dealer: Dealer | None = None
        self._open_link, self._new_loop = open_link, new_loop
        self._deal = partial(Dealer, requirements=requirements, archive_of=archive_of, times=times, say=say)

    @property
    def slots(self) -> int:
        """Number of jobs to submit at most, which changes as workers come and go."""
        return 1 if self.dealer is None else self.dealer.slots

    def submit(self, job: AnyJob, on_finished: OnFinished) -> "Future[Any]":
        """Queue a job, and connect before the first; return the future of its results.

        Raises BrokenExecutor if the cluster is gone, MachineFault if no scheduler answers.
        """
        dealer = self.dealer or self._connect()
        if dealer.broken:
            raise BrokenExecutor(dealer.broken)
        future: Future[Any] = Future()
        self._thread.loop.call_soon_threadsafe(dealer.add, OpenJob(job, on_finished, future))
        return future

    def close(self, *, is_interrupted: bool) -> None:  # noqa: ARG002 - all sessions end at once in both cases
        """End all sessions, with all bots on all machines; jobs in flight are thrown away.

        Waits a few seconds at most.
        """
        if self.dealer is None:
            return
        self._running.cancel()
        closing = self._thread.run(self.dealer.close())
        try:
            closing.result(_CLOSE_WITHIN_S)
        except TimeoutError:  # the lease ends the session of a worker that got no message
            closing.cancel()
        finally:
            self._thread.__exit__()

    def _connect(self) -> Dealer:
        """Connect to the cluster and run a dealer in an event loop of its own; return it. Raises as `open_link`."""
        with contextlib.ExitStack() as stack:
            self._thread = stack.enter_context(LoopThread(self._new_loop))
            self.dealer = self._deal(self._thread.run(self._open_link()).result())
            stack.pop_all()
        self._running = self._thread.run(self.dealer.run())
        return self.dealer


def cluster_backend(
    settings: ClusterSettings,
    tournament: Tournament,
    isolation: Isolation,
    archive_of: Callable[[str], bytes],
    say: Callable[[str], object],
) -> ClusterBackend:
    """Make the backend for a cluster with checked settings; `say` gets sentences about workers."""
    from arena.cluster.link import open_link  # noqa: PLC0415 - dask is slow to import

    requirements = Requirements(tournament.name, tournament.game, isolation, identity_of(tournament.game))
    return ClusterBackend(partial(open_link, settings), requirements, archive_of, say=say)
