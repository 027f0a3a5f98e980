"""Workers of a cluster on this machine."""

import platform
from pathlib import Path

from arena.errors import SpecError
from arena.operations.events import Event, OnEvent, ignore
from arena.operations.playing import ClusterChoice, local_workers, naming_option
from arena.operations.request import Request
from arena.process.limits import Limits


class RunWorker(Request, frozen=True, kw_only=True):
    """Workers for a cluster, called `name`-0 and so on: `workers` of them, by default one on each core.

    `cache` is a folder for bots, by default a temporary one.
    """

    cluster: ClusterChoice
    workers: int | None = None
    name: str = platform.node()
    cache: Path | None = None


class WorkersStarting(Event, frozen=True):
    """The workers are about to start; `first` and `last` are the first and the last name."""

    first: str
    last: str
    address: str


def run_worker(request: RunWorker, on: OnEvent = ignore) -> None:
    """Play matches for the scheduler until SIGTERM or Ctrl-C. MachineFault if the scheduler does not answer.

    SpecError if the folder for bots, which only the user may read, cannot be made.
    """
    cluster = request.cluster.for_workers()
    if request.cache:
        with naming_option("--cache"):
            _make_private_folder(request.cache)
    from arena.cluster.serve import WorkerPlaces, keep_workers  # noqa: PLC0415 - dask is slow to import

    count = local_workers(request.workers, [Limits()] * 2, on)
    on(WorkersStarting(f"{request.name}-0", f"{request.name}-{count - 1}", cluster.address))
    keep_workers(cluster, WorkerPlaces(count, request.name, str(request.cache or "")))


def _make_private_folder(folder: Path) -> None:
    """Make a folder that only the user may read, if there is none. SpecError if that fails."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"{folder}: {error.strerror}") from None
