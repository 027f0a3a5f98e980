"""Checks of matches spread over processes, because a match with simulations takes seconds.

Rule: the findings come in the order of the tasks, whoever is ready first. Left by an interruption, all processes are
ended at once: they hold nothing that anybody needs.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing import forkserver
from multiprocessing.connection import wait
from typing import Final

from arena.errors import DamagedStore, HarnessFault
from arena.verify.match import Checked, Checker, Task, check

_AHEAD: Final = 4
"""Tasks in flight for each process: enough that none waits, few enough that a large league needs no memory."""


@contextlib.contextmanager
def spread(workers: int) -> Iterator[Checker]:
    """A checker with so many processes, which are started with its first task."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([check.__module__])
    with _interruptions_ignored():
        forkserver.ensure_running()
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_initialise)
    try:
        yield lambda tasks: _in_order(pool, tasks, workers * _AHEAD)
    except BrokenExecutor as error:
        raise HarnessFault(f"a process that checked matches died: {error}; try --workers 1") from error
    except BaseException:
        for process in list((pool._processes or {}).values()):  # noqa: SLF001 - there is no public way to them
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, tasks: Iterable[Task], most: int) -> Iterator[Checked]:
    """Check `most` tasks at once. Where the store cannot give another, what it gave before is still told."""
    waiting: deque[Future[Checked]] = deque()
    damage: DamagedStore | None = None
    left = iter(tasks)
    while True:
        try:
            task = next(left, None)
        except DamagedStore as error:
            damage, task = error, None
        if task is None:
            break
        waiting.append(pool.submit(check, task))
        if len(waiting) == most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
    if damage is not None:
        raise damage


@contextlib.contextmanager
def _interruptions_ignored() -> Iterator[None]:
    """What is started in here ignores Ctrl-C, which the terminal sends to all: ending them is the parent's part."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def _initialise() -> None:
    """Make this process a worker: deaf to Ctrl-C, and gone with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, name="parent-watch", daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
