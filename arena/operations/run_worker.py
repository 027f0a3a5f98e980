"""Workers of a cluster on this machine."""

import platform

from arena.operations.events import Event, OnEvent, ignore
from arena.operations.playing import ClusterChoice, local_workers
from arena.operations.request import Request
from arena.process.limits import Limits


class RunWorker(Request, frozen=True, kw_only=True):
    """Workers for a cluster, called `name`-0 and so on: `workers` of them, by default one on each core."""

    cluster: ClusterChoice
    workers: int | None = None
    name: str = platform.node()


class WorkersStarting(Event, frozen=True):
    """The workers are about to start; `first` and `last` are the first and the last name."""

    first: str
    last: str
    address: str


def run_worker(request: RunWorker, on: OnEvent = ignore) -> None:
    """Play matches for the scheduler until SIGTERM or Ctrl-C. MachineFault if the scheduler does not answer."""
    cluster = request.cluster.for_workers()
    from arena.cluster.serve import WorkerPlaces, keep_workers  # noqa: PLC0415 - dask is slow to import

    count = local_workers(request.workers, [Limits()] * 2, on)
    on(WorkersStarting(f"{request.name}-0", f"{request.name}-{count - 1}", cluster.address))
    keep_workers(cluster, WorkerPlaces(count, request.name))
