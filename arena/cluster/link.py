"""The connection to the workers by dask: a scheduler that runs elsewhere, or workers on this machine (`local:N`).

Rule: dask runs any code that it is sent, so whoever reaches a scheduler owns its workers. Nothing is sent to one that
does not speak TLS, on this machine too, unless the user has typed --trust-network.
"""

import asyncio
import contextlib
import logging
import warnings
from collections.abc import Awaitable, Callable
from functools import cache
from multiprocessing import resource_tracker
from typing import Any, Final, TypeVar

import dask
from distributed import Client, LocalCluster, Security

from arena.cluster import session as remote
from arena.cluster.address import workers_here
from arena.cluster.dealer import CallFailed
from arena.errors import MachineFault
from arena.league.tournament import ClusterSettings
from arena.process.scratch import own_folder
from arena.text import counted

_MOST_CALLS: Final = 250
"""Most calls at once; a dask client has at most 512 connections, and so has its scheduler."""
_CONNECT_S: Final = 10
_CLOSE_S: Final = 5
_START_ATTEMPTS: Final = 3
PRELOAD: Final = [remote.__name__]
"""Modules that a dask worker imports at its start to prepare for matches."""
_WORKERS_HERE: Final[list[tuple[str, Security]]] = []
"""Address and certificates of the scheduler that this process has started, if any, for further links to it."""
_NOISY_LOGGERS: Final = (
    "distributed.nanny",
    "distributed.worker",
    "distributed.core",
    "distributed.scheduler",
    "distributed.client",
)
log: Final = logging.getLogger("arena.cluster")
Returned = TypeVar("Returned")


def security_of(settings: ClusterSettings) -> Security:
    """Return dask's settings of TLS with the certificates of these settings; without TLS, none."""
    if not settings.address.startswith("tls://"):
        return Security()
    files = {"tls_ca_file": settings.tls_ca}
    for role in ("client", "worker"):
        files |= {f"tls_{role}_cert": settings.tls_cert, f"tls_{role}_key": settings.tls_key}
    return Security(require_encryption=True, **files)


def set_up_dask() -> None:
    """Set dask's configuration for this process and those it starts, and pass dask's warnings to the root logger."""
    dask.config.set(
        {
            "temporary-directory": str(own_folder()),
            "distributed.worker.daemon": False,  # a worker starts processes
            "distributed.worker.profile.enabled": False,  # it would sample an idle thread a hundred times a second
            "distributed.admin.tick.interval": "1s",  # it would check each event loop fifty times a second
            "distributed.comm.timeouts.connect": f"{_CONNECT_S}s",
            "distributed.worker.http.routes": [],  # pages for everybody on the network, without TLS
            "distributed.scheduler.http.routes": [],
        }
    )
    for name in _NOISY_LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [logging.NullHandler()]
        logger.propagate, logger.level = True, logging.WARNING
    _tolerate_tracker_death()


@cache
def _tolerate_tracker_death() -> None:
    """Send unregistrations only to the resource tracker of multiprocessing that got the registration.

    If the tracker dies, its successor does not know the semaphores of dask's queues and would print a traceback for
    each that is unregistered.
    """
    warnings.filterwarnings("ignore", message="resource_tracker: process died unexpectedly")
    tracker: Any = resource_tracker._resource_tracker  # noqa: SLF001 - there is no public way
    send, registered = tracker._send, set[tuple[int, str]]()  # noqa: SLF001

    def send_if_registered(command: str, name: str, kind: str) -> None:
        """Send a message to the tracker, an unregistration only if it has the registration."""
        key = (tracker._pid, name)  # noqa: SLF001
        if command == "REGISTER":
            send(command, name, kind)
            registered.add((tracker._pid, name))  # noqa: SLF001
        elif key in registered and tracker._check_alive():  # noqa: SLF001
            registered.discard(key)
            send(command, name, kind)

    tracker._send = send_if_registered  # noqa: SLF001


async def open_link(settings: ClusterSettings) -> "DaskLink":
    """Open a link to the cluster of these settings; raises MachineFault if no scheduler answers.

    Starts the workers of `local:N`, unless this process has already; the link that started them ends them.
    """
    set_up_dask()
    count = workers_here(settings)
    cluster, address, security = None, settings.address, security_of(settings)
    if count is not None:
        if not _WORKERS_HERE:
            cluster = await _start_workers_here(count)
            _WORKERS_HERE.append((cluster.scheduler_address, cluster.security))
        address, security = _WORKERS_HERE[0]
    link = DaskLink(address, security, cluster)
    try:
        await link.workers()
    except OSError as error:
        await link.close()
        raise MachineFault(f"no scheduler answers at {address}: {error}") from None
    return link


async def _start_workers_here(count: int) -> LocalCluster:
    """Start `count` workers on this machine; raises MachineFault if all attempts fail."""
    what = f"{counted(count, 'worker')} of dask did not start here, tried {_START_ATTEMPTS} times"
    for attempt in range(_START_ATTEMPTS):
        cluster = LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=0,
            security=Security.temporary(),
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any free port; it serves no pages
            silence_logs=logging.CRITICAL,
            preload=PRELOAD,
            asynchronous=True,
        )
        try:
            return await cluster
        except (OSError, RuntimeError) as error:  # dask raises RuntimeError if a worker does not start
            log.warning("%s do not start, attempt %d: %s", counted(count, "worker"), attempt + 1, error)
            what += "" if attempt + 1 < _START_ATTEMPTS else f"; at last: {error.__cause__ or error}"
            with contextlib.suppress(OSError, RuntimeError):
                await asyncio.wait_for(cluster.close(), _CLOSE_S)
    raise MachineFault(what)


class DaskLink:
    """A `Link` through a dask scheduler."""

    def __init__(self, address: str, security: Security, cluster: LocalCluster | None = None) -> None:
        self._address, self._security, self._cluster = address, security, cluster
        self._client: Any = None
        self._connecting = asyncio.Lock()
        self._calls = asyncio.Semaphore(_MOST_CALLS)

    async def workers(self) -> tuple[str, dict[str, str]]:
        """See Link.workers."""
        client = await self._connect()
        identity = await asyncio.wait_for(client.scheduler.identity(), _CONNECT_S)
        return identity["id"], {address: str(worker["name"]) for address, worker in identity["workers"].items()}

    async def close(self) -> None:
        """Close the connection to the scheduler, and end workers that were started for this link."""
        if self._cluster is not None:
            _WORKERS_HERE.clear()
        for part in (self._client, self._cluster):
            if part is not None:
                with contextlib.suppress(OSError):
                    await asyncio.wait_for(part.close(), _CLOSE_S)

    async def call(self, function: Callable[..., Awaitable[Returned]], address: str, argument: Any) -> Returned:
        """See Link.call."""
        client = await self._connect()
        try:
            async with self._calls:
                results = await client.run(function, argument, workers=[address])
        except (OSError, asyncio.CancelledError):
            raise
        except Exception as error:
            raise CallFailed(f"{type(error).__name__}: {error}") from error
        if address not in results:  # dask passes over a worker that has just gone
            raise ConnectionError("the worker is gone")
        returned: Returned = results[address]
        return returned

    async def _connect(self) -> Any:
        """Return a connected client; a new one if dask has given up reconnecting. Raises ConnectionError meanwhile."""
        async with self._connecting:
            if self._client is None or self._client.status in ("closing", "closed"):
                self._client = await Client(
                    self._address,
                    security=self._security,
                    timeout=_CONNECT_S,
                    asynchronous=True,
                    set_as_default=False,
                    name="arena",
                )
        if self._client.status != "running":
            raise ConnectionError("the connection to the scheduler is interrupted")
        return self._client
