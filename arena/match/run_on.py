"""Quick bots run on: while all bots of a table answer quickly, none of them is stopped at its answer.

Rule: one object decides for all bots of a table. A bot that runs on is stopped as soon as another one is waited for. A
bot that uses the time of others pays for it, and is stopped at its next answers.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from arena.process.channel import QUICK_S

QUIET_S: Final = 0.001
STOPPED: Final = 16
"""A bot that is charged more than QUIET_S of CPU time for a request is stopped at this many answers, that one first.

It may have used that time after its last answer. A Python bot clears up now and then, so none is stopped for ever.
"""


class Pace:
    """The pace of a bot: if its last answer was quick, and at how many of its next answers it is stopped."""

    is_quick = True
    stops = 0


class RunOn:
    """The bots of a table that may run on after their answers: by seat their paces, and calls that stop them."""

    def __init__(self, paces: Sequence[Pace], stops: Sequence[Callable[[], object]]) -> None:
        self._paces, self._stops = paces, stops
        self._before_waits = [partial(self.stop_others, seat) for seat in range(len(paces))]

    def stop_others(self, seat: int) -> None:
        """Suspend all other bots."""
        for other, stop in enumerate(self._stops):
            if other != seat:
                stop()

    def before_wait(self, seat: int) -> Callable[[], None] | None:
        """Return a call that stops the others once the answer of `seat` is not quick; None if they are stopped."""
        return self._before_waits[seat] if self._paces[seat].is_quick else None

    def may_run_on(self, seat: int, cpu_s: float) -> bool:
        """Count the CPU time of an answer; return True if its bot may run on: it is quiet, and all others are quick."""
        pace = self._paces[seat]
        if cpu_s > QUIET_S:
            pace.stops = STOPPED
        elif pace.stops:
            pace.stops -= 1
        if pace.stops:
            return False
        for other in self._paces:  # noqa: SIM110 - a loop, as a generator takes three times the time
            if not other.is_quick and other is not pace:
                return False
        return True

    def end_turn(self, seat: int, elapsed_s: float) -> None:
        """Store if an answer, or a fault, was quick; stop the other bots if not."""
        pace = self._paces[seat]
        pace.is_quick = elapsed_s < QUICK_S
        if not pace.is_quick:
            self.stop_others(seat)
