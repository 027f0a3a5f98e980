"""Matches that viewers of a server open: replayed on request, one at a time, within a share of a core.

Rule: opened matches, however many, slow down neither other pages nor a league on the same machine.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

SHARE: Final = 0.2
"""The share of a core that replays take in the long run."""
BURST_S: Final = 20.0
"""CPU seconds for replays in a row, after a time without any."""
MOST_WAITING: Final = 8
"""Requests that may wait for a replay; others get Busy."""
MOST_KEPT: Final = 100
"""Matches whose files stay in the cache."""

Files = Mapping[str, bytes]
"""The page of a match and its data, by path within the site; empty if the match is not to be shown."""


class Busy(Exception):
    """Error: too many matches are asked for at once; the next try may succeed in `wait_s` seconds."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"in {wait_s:.0f} s")
        self.wait_s = wait_s


class ReplayCache:
    """A cache of the files of replayed matches by path. `spent_s`: CPU seconds of all replays."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, cpu_clock: Callable[[], float] = time.thread_time
    ) -> None:
        self._clock, self._cpu_clock = clock, cpu_clock
        self._turn, self._waiting = threading.Lock(), threading.BoundedSemaphore(MOST_WAITING)
        self._files: dict[str, bytes] = {}
        self._credit_s, self._counted_s = BURST_S, clock()
        self.spent_s = 0.0

    def file(self, path: str, make: Callable[[], Files]) -> bytes | None:
        """Return the file at `path` of the match whose files `make` makes; None if it has no such file. Raises Busy."""
        if (content := self._files.get(path)) is not None:
            return content
        if not self._waiting.acquire(blocking=False):
            raise Busy(1.0)
        try:
            with self._turn:
                return self._files.get(path) or self._make_in_budget(path, make)
        finally:
            self._waiting.release()

    def _make_in_budget(self, path: str, make: Callable[[], Files]) -> bytes | None:
        """Make the files of a match, keep them, and return the one at `path`; None if that is not among them.

        Raises Busy if replays have used up their share of CPU time. The oldest files beyond the limit are dropped.
        """
        now_s = self._clock()
        self._credit_s = min(BURST_S, self._credit_s + SHARE * (now_s - self._counted_s))
        self._counted_s = now_s
        if self._credit_s <= 0:
            raise Busy(1.0 - self._credit_s / SHARE)
        before_s = self._cpu_clock()
        try:
            files = make()
        finally:
            used_s = self._cpu_clock() - before_s
            self._credit_s -= used_s
            self.spent_s += used_s
        for old in [*self._files][: max(0, len(self._files) + len(files) - 2 * MOST_KEPT)]:
            del self._files[old]
        self._files.update(files)
        return files.get(path)
