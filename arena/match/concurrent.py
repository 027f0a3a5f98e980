"""Several players asked concurrently, each in a thread of its own.

Rule: only the waiting is done concurrently. Each thread speaks to one player and gives back one value; no thread sees
the changes of another. An error in the caller stops the threads too: nobody waits for a bot whose match is over.
"""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, as_completed
from typing import Final, TypeVar

from arena.errors import ArenaError
from arena.match.participant import Participant

T = TypeVar("T")

_STOP_S: Final = 0.5
"""The wait for the threads after a stop by a person; they look at their clocks 20 times a second."""
_END_S: Final = 60.0
"""The wait for them after a fault of ours: a simulation cannot be broken off, and what a thread holds is used again."""


def ask_concurrently(calls: Sequence[tuple[Participant, Callable[[], T]]]) -> list[T]:
    """The value of each call, in their order; a call asks one player. Returns when all have answered.

    A human is asked in the calling thread, which has the terminal and hears Ctrl-C; so is one who is alone.
    """
    futures: list[Future[T]] = [Future() for _ in calls]
    here: list[tuple[Callable[[], T], Future[T]]] = []
    there: dict[Future[T], tuple[Participant, threading.Thread]] = {}
    for (player, call), future in zip(calls, futures, strict=True):
        if player.is_human or len(calls) == 1:
            here.append((call, future))
        else:
            there[future] = player, threading.Thread(target=_run, args=(call, future), daemon=True)
    try:
        for _, thread in there.values():
            thread.start()
        for call, future in here:
            _run(call, future)
            future.result()
        for future in as_completed(there):
            future.result()
    except BaseException as error:
        _break_off(there.values(), _END_S if isinstance(error, ArenaError) else _STOP_S)
        raise
    return [future.result() for future in futures]


def _run(call: Callable[[], T], future: Future[T]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - the edge of a thread; `result` raises it in the caller's
        future.set_exception(error)


def _break_off(asked: Collection[tuple[Participant, threading.Thread]], patience_s: float) -> None:
    for player, _ in asked:
        player.abandon()
    deadline_s = time.monotonic() + patience_s
    for _, thread in asked:
        if thread.ident is not None:
            thread.join(max(0.0, deadline_s - time.monotonic()))
