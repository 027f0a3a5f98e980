"""The way to the workers by dask: a scheduler that runs elsewhere, or workers on this machine (`local:N`).

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
from arena.cluster.dealer import Unfit
from arena.errors import MachineFault
from arena.league.tournament import ClusterSettings
from arena.process.scratch import own_folder
from arena.text import counted

_MOST_CALLS: Final = 250
"""Calls at once; a dask client has 512 connections at most, and so has its scheduler."""
_CONNECT_S: Final = 10
_CLOSE_S: Final = 5
_START_ATTEMPTS: Final = 3
PRELOAD: Final = [remote.__name__]
"""Modules that prepare a dask worker for matches."""
_HERE: Final[list[tuple[str, Security]]] = []
"""The workers that this process has started, if it has: their scheduler, for every other link to them."""
_LOUD: Final = (
    "distributed.nanny",
    "distributed.worker",
    "distributed.core",
    "distributed.scheduler",
    "distributed.client",
)
log: Final = logging.getLogger("arena.cluster")
Returned = TypeVar("Returned")


def security_of(settings: ClusterSettings) -> Security:
    """The certificates of these settings; without TLS none, where the user trusts the network."""
    if not settings.address.startswith("tls://"):
        return Security()
    files = {"tls_ca_file": settings.tls_ca}
    for role in ("client", "worker"):
        files |= {f"tls_{role}_cert": settings.tls_cert, f"tls_{role}_key": settings.tls_key}
    return Security(require_encryption=True, **files)


def set_up_dask() -> None:
    """Dask's settings for workers of arena, in this process and those it starts; and its log as a part of ours."""
    dask.config.set(
        {
            "temporary-directory": str(own_folder()),
            "distributed.worker.daemon": False,  # a worker starts processes
            "distributed.worker.profile.enabled": False,  # it would look at an idle thread a hundred times a second
            "distributed.admin.tick.interval": "1s",  # it would look at each event loop fifty times a second
            "distributed.comm.timeouts.connect": f"{_CONNECT_S}s",
            "distributed.worker.http.routes": [],  # pages for everybody on the network, without TLS
            "distributed.scheduler.http.routes": [],
        }
    )
    for name in _LOUD:
        logger = logging.getLogger(name)
        logger.handlers[:] = [logging.NullHandler()]
        logger.propagate, logger.level = True, logging.WARNING
    _bear_without_tracker()


@cache
def _bear_without_tracker() -> None:
    """Let multiprocessing's resource tracker die in peace: it only tidies up after us, and a new one only complains.

    A new one has never heard of the semaphores of dask's queues, and prints a traceback for each that is taken back.
    """
    warnings.filterwarnings("ignore", message="resource_tracker: process died unexpectedly")
    tracker: Any = resource_tracker._resource_tracker  # noqa: SLF001 - there is no public way
    send, heard = tracker._send, set[tuple[int, str]]()  # noqa: SLF001

    def send_if_heard(command: str, name: str, kind: str) -> None:
        key = (tracker._pid, name)  # noqa: SLF001
        if command == "REGISTER":
            send(command, name, kind)
            heard.add((tracker._pid, name))  # noqa: SLF001
        elif key in heard and tracker._check_alive():  # noqa: SLF001
            heard.discard(key)
            send(command, name, kind)

    tracker._send = send_if_heard  # noqa: SLF001


async def open_link(settings: ClusterSettings) -> "DaskLink":
    """A link to the cluster of these settings. MachineFault if no scheduler answers there."""
    set_up_dask()
    count = workers_here(settings)
    cluster, address, security = None, settings.address, security_of(settings)
    if count is not None:
        if not _HERE:
            cluster = await _started_here(count)
            _HERE.append((cluster.scheduler_address, cluster.security))
        address, security = _HERE[0]
    link = DaskLink(address, security, cluster)
    try:
        await link.workers()
    except OSError as error:
        await link.close()
        raise MachineFault(f"no scheduler answers at {address}: {error}") from None
    return link


async def _started_here(count: int) -> LocalCluster:
    """So many workers on this machine. MachineFault if one ends while they start, again and again."""
    what = f"{counted(count, 'worker')} of dask did not start here, tried {_START_ATTEMPTS} times"
    for attempt in range(_START_ATTEMPTS):
        cluster = LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=0,
            security=Security.temporary(),
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # its pages, which are none, at no fixed port
            silence_logs=logging.CRITICAL,
            preload=PRELOAD,
            asynchronous=True,
        )
        try:
            return await cluster
        except (OSError, RuntimeError) as error:  # RuntimeError of dask: a worker has not begun
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
        """The id of the scheduler, and the name of each worker by its address."""
        client = await self._connected()
        found = await asyncio.wait_for(client.scheduler.identity(), _CONNECT_S)
        return found["id"], {address: str(each["name"]) for address, each in found["workers"].items()}

    async def close(self) -> None:
        """Let go of the scheduler; workers that were started here end."""
        if self._cluster is not None:
            _HERE.clear()
        for each in (self._client, self._cluster):
            if each is not None:
                with contextlib.suppress(OSError):
                    await asyncio.wait_for(each.close(), _CLOSE_S)

    async def call(self, function: Callable[..., Awaitable[Returned]], address: str, argument: Any) -> Returned:
        """Return the result of a function of arena in the event loop of a worker. Unfit if it fails there."""
        client = await self._connected()
        try:
            async with self._calls:
                found = await client.run(function, argument, workers=[address])
        except (OSError, asyncio.CancelledError):
            raise
        except Exception as error:
            raise Unfit(f"{type(error).__name__}: {error}") from error
        returned: Returned = found[address]
        return returned

    async def _connected(self) -> Any:
        """The client, which dask connects again by itself for a while; then there is a new one."""
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
