"""Several participants asked at once, each in a thread of its own.

Rule: only the waiting is done side by side. Each thread speaks to one participant and gives back one value; no
thread sees what another one changes. Whatever stops the caller stops the threads too: nobody waits for a bot whose
match is over.
"""

import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Final, Generic, TypeVar

from arena.errors import ArenaError
from arena.match.participant import Participant

T = TypeVar("T")

_STOP_S: Final = 0.5
"""How long a stop by a person waits for the threads; they look at their clocks 20 times a second."""
_END_S: Final = 60.0
"""How long a fault of ours waits for them: a simulation cannot be broken off, and what a thread holds is used again."""


class Inquiry(Generic[T]):
    """`call` asks one participant and gives what came of it."""

    def __init__(self, participant: Participant, call: Callable[[], T]) -> None:
        self.participant = participant
        self._call = call
        self._results: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Ask, and keep what comes of it, whatever it is."""
        try:
            self._results.append(self._call())
        except BaseException as error:  # noqa: BLE001 - the edge of a thread; `outcome` raises it in the caller's
            self._error = error

    def outcome(self) -> T:
        """What came of it, once it was run."""
        if self._error is not None:
            raise self._error
        return self._results[0]


def ask_concurrently(askings: Sequence[Inquiry[T]]) -> list[T]:
    """What came of each, in their order; returns when all have answered.

    A person is asked in the calling thread, which has the terminal and hears Ctrl-C; so is one who is alone.
    """
    here = [each for each in askings if each.participant.is_person or len(askings) == 1]
    there = [each for each in askings if each not in here]
    finished: SimpleQueue[Inquiry[T]] = SimpleQueue()
    threads = [threading.Thread(target=_run, args=(each, finished), daemon=True) for each in there]
    try:
        for thread in threads:
            thread.start()
        for each in here:
            each.run()
            each.outcome()
        for _ in there:
            finished.get().outcome()
    except BaseException as error:
        _break_off(there, threads, _END_S if isinstance(error, ArenaError) else _STOP_S)
        raise
    return [each.outcome() for each in askings]


def _run(asking: Inquiry[T], finished: "SimpleQueue[Inquiry[T]]") -> None:
    asking.run()
    finished.put(asking)


def _break_off(askings: Sequence[Inquiry[T]], threads: Sequence[threading.Thread], patience_s: float) -> None:
    for each in askings:
        each.participant.abandon()
    deadline_s = time.monotonic() + patience_s
    for thread in threads:
        if thread.ident is not None:
            thread.join(max(0.0, deadline_s - time.monotonic()))
