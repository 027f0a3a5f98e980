"""CPU time that a suspended bot uses all the same.

Rule: the referee waits for a stop only if there is a reason. The bot's CPU time is read when it is stopped and when it
is resumed. If the two differ by more than a millisecond, the bot is watched for a while: after each answer the stop
signal is repeated until all threads are seen stopped. Honest threads use nothing after that, however many there are and
however busy the machine is; all CPU time used after that is charged.
"""

import contextlib
import signal
import time
from typing import Final

from arena.process.process import ProcessGroup

NEGLIGIBLE_S: Final = 0.001
"""CPU time after a stop. A thread seen stopped may still be leaving its core, which takes microseconds."""
_UNSTOPPABLE_S: Final = 0.5
"""CPU time after a stop that was repeated in vain: no system call of an honest bot lasts so long."""
_WATCHED_STOPS: Final = 64
"""Stops for which a bot stays watched after it used more; on a busy machine that happens to honest bots, too."""
_PATIENCE_S: Final = 0.1
_LOOK_S: Final = 0.0002


class Standstill:
    """The meter of CPU time between a stop of one bot and its next wake-up."""

    def __init__(self, group: ProcessGroup) -> None:
        self._group = group
        self._watched_stops = 0
        self._is_seen = False
        self._before: dict[int, float] = {}

    def begin(self) -> None:
        """Record the CPU time at the stop."""
        self._is_seen = False
        self._before = self._group.cpu_by_process()

    def confirm(self) -> None:
        """Repeat the stop of a watched bot until all its threads are stopped, at most for 0.1 s; no clock runs."""
        if not self._watched_stops or self._is_seen:
            return
        deadline_s = time.monotonic() + _PATIENCE_S
        while not self._group.is_stopped():
            if time.monotonic() > deadline_s:
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                self._group.signal(signal.SIGSTOP)
            time.sleep(_LOOK_S)
        self._before, self._is_seen = self._group.cpu_by_process(), True

    def end(self) -> float:
        """Return the CPU seconds to charge for the time since the stop: all that were used, or 0.

        To be called just before the bot is resumed. Only a watched stop is charged, above a threshold; after use in any
        stop the next ones are watched.
        """
        used_s = 0.0
        for pid, cpu_s in self._group.cpu_by_process().items():
            used_s += cpu_s - self._before.get(pid, 0.0)
        if self._watched_stops:
            self._watched_stops -= 1
            if used_s > (NEGLIGIBLE_S if self._is_seen else _UNSTOPPABLE_S):
                self._watched_stops = _WATCHED_STOPS
                return used_s
        if used_s > NEGLIGIBLE_S:
            self._watched_stops = _WATCHED_STOPS
        return 0.0
