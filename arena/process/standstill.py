"""Standstill of a stopped bot: what it used all the same.

Rule: nobody waits for a stop without a reason. The bot's CPU time is read when it is stopped and when it is woken. If
more than a millisecond lies between the two, the bot is watched for a while: at each answer the stop is repeated until
all threads are seen stopped. Honest threads use nothing after that, however many they are and however busy the machine
is; whatever was used has been taken.
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
"""After the last time that a bot used more, which on a busy machine happens to honest ones, too."""
_PATIENCE_S: Final = 0.1
_LOOK_S: Final = 0.0002


class Standstill:
    """The time between a stop and the next wake-up of one bot."""

    def __init__(self, group: ProcessGroup) -> None:
        self._group = group
        self._watched_stops = 0
        self._is_seen = False
        self._before: dict[int, float] = {}

    def begin(self) -> None:
        """Note the CPU time at the stop."""
        self._is_seen = False
        self._before = self._group.cpu_by_process()

    def confirm(self) -> None:
        """See that the bot has stopped, if it is watched, while nobody's clock runs, for 0.1 s at most."""
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
        """Return the CPU seconds that the bot has taken, just before it is woken."""
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
