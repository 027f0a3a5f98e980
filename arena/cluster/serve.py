"""Dask workers on this machine for a scheduler elsewhere, with the settings that leagues need.

Rule: one dask worker plays one match at a time, in processes of its own; one that dies is replaced under its name. When
the scheduler is lost its workers end with all their bots, and new ones look for it.
"""

import asyncio
import contextlib
import logging
import signal
import threading
from typing import Any, Final

import msgspec
from distributed import Nanny

from arena.cluster.link import PRELOAD, security_of, set_up_dask
from arena.cluster.session import hear_no_ctrl_c
from arena.errors import MachineFault
from arena.league.tournament import ClusterSettings

_AGAIN_S: Final = 1.0
_CLOSE_S: Final = 5.0
log: Final = logging.getLogger("arena.cluster")


class WorkerPlaces(msgspec.Struct, frozen=True):
    """The workers to run: `count` of them, called `name`-0, `name`-1, ...

    `patience_s`: seconds to wait for the scheduler, at the start and whenever it is lost.
    """

    count: int
    name: str
    patience_s: float = 300.0


def keep_workers(settings: ClusterSettings, places: WorkerPlaces) -> None:
    """Run workers until SIGTERM or Ctrl-C; raises MachineFault if the scheduler does not answer in time."""
    set_up_dask()
    asyncio.run(_run_workers(settings, places))


async def _run_workers(settings: ClusterSettings, places: WorkerPlaces) -> None:
    """Run workers until SIGTERM or Ctrl-C, or until one of them raises MachineFault."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def wait_for_ctrl_c() -> None:
        signal.sigwait({signal.SIGINT})
        loop.call_soon_threadsafe(stop.set)

    loop.add_signal_handler(signal.SIGTERM, stop.set)
    hear_no_ctrl_c()
    threading.Thread(target=wait_for_ctrl_c, name="ctrl-c", daemon=True).start()
    names = [f"{places.name}-{number}" for number in range(places.count)]
    slots = [asyncio.create_task(_keep_worker(settings, places, name)) for name in names]
    waiting = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait([waiting, *slots], return_when=asyncio.FIRST_COMPLETED)
        for slot in done - {waiting}:
            await slot
    finally:
        for task in (waiting, *slots):
            task.cancel()
        await asyncio.gather(waiting, *slots, return_exceptions=True)


async def _keep_worker(settings: ClusterSettings, places: WorkerPlaces, name: str) -> None:
    """Run a worker, and a new one whenever it ends.

    Raises MachineFault if one does not find the scheduler in time or is refused there.
    """
    loop, security = asyncio.get_running_loop(), security_of(settings)
    give_up_s = loop.time() + places.patience_s
    while True:
        nanny = Nanny(
            settings.address,
            nthreads=1,
            name=name,
            memory_limit=0,
            security=security,
            death_timeout=places.patience_s,
            preload=PRELOAD,
        )
        try:
            await _start_worker(nanny, settings.address, places.patience_s)
            log.info("worker %s is ready", name)
            await nanny.finished()
            log.warning("worker %s has lost its scheduler; a new one looks for it", name)
            give_up_s = loop.time() + places.patience_s
        except RuntimeError as error:  # from dask, for example while the scheduler still has a worker of this name
            origin = _first_cause(error)
            if loop.time() > give_up_s:
                raise MachineFault(_describe_failure(name, settings.address, origin)) from error
            log.warning("worker %s does not begin: %s; it tries again", name, origin)
        finally:
            with contextlib.suppress(TimeoutError):  # on a busy machine; the worker then ends with this process
                await asyncio.wait_for(nanny.close(timeout=_CLOSE_S / 2), _CLOSE_S)
        await asyncio.sleep(_AGAIN_S)


async def _start_worker(nanny: Any, address: str, patience_s: float) -> None:
    """Start a worker by its nanny; raises MachineFault if no scheduler answers."""
    try:
        await asyncio.wait_for(nanny.start(), patience_s)
    except OSError as error:
        why = str(error) or f"nothing was heard for {patience_s:.0f} s"  # some errors have no text
        raise MachineFault(f"no scheduler answers at {address}: {why}") from error


def _describe_failure(name: str, address: str, origin: BaseException) -> str:
    """Return the sentence about a worker that does not start."""
    if isinstance(origin, ConnectionError | TimeoutError):
        return f"no scheduler answers at {address}: {origin}"
    hint = f"; no other one at {address} may have its --name" if "name taken" in str(origin) else ""
    return f"worker {name} does not begin: {origin}{hint}"


def _first_cause(error: BaseException) -> BaseException:
    """Return the first error of a chain of causes."""
    return error if error.__cause__ is None else _first_cause(error.__cause__)
