"""Time for one move: what has been used, what is left, and when to look again.

Rule: CPU time decides, wall time is the backstop (or decides, where a tournament says so). Both are passed in as
functions, so that a test needs no sleep. All times are in seconds.

CPU time of another process comes from the kernel's per-process clock (all threads, nanoseconds, a system call of
0.2 us). Its clock id is (~pid << 3) | 2, the Linux ABI behind clock_getcpuclockid(3), which Python does not wrap.
"""

import contextlib
import math
import time
from collections.abc import Callable
from typing import Final

from arena.errors import HarnessFault, OutOfTime
from arena.process.suspension import LATE_S

_PER_PROCESS_SCHED: Final = 2
_SHORTEST_WAIT_S: Final = 0.001
_LONGEST_GAP_S: Final = 0.5
"""Longest time between two readings that counts for the bot; the rest is a delay of the referee."""
_FIRST_LOOK_S: Final = 0.01
_LONGEST_LOOK_GAP_S: Final = 0.05
"""Intervals between the checks whether a bot on move sleeps: they grow from the first to the longest."""
_MOST_STRETCH: Final = 10
"""Bound of the excused delay, as a multiple of the backstop: without one a bot could delay a match for ever."""


def read_cpu(pid: int) -> float | None:
    """Return the CPU seconds used by all threads of a process; None if it does not exist."""
    try:
        return time.clock_gettime((~pid << 3) | _PER_PROCESS_SCHED)
    except OSError:
        return None


class CpuClock:
    """A callable clock of the CPU seconds that all threads of a process have used.

    `others`: processes around it that only wait; their seconds are added as of the last `look`. After the end of the
    process calls return the last reading, and `is_running` is False.
    """

    __slots__ = ("_id", "_last_s", "_others", "_others_s", "is_running")

    def __init__(self, pid: int, *others: int) -> None:
        self._id, *self._others = [(~process << 3) | _PER_PROCESS_SCHED for process in (pid, *others)]
        self._last_s = self._others_s = 0.0
        self.is_running = True
        self.look()

    def __call__(self) -> float:
        """Return the CPU seconds of the process and of `others`."""
        try:
            self._last_s = time.clock_gettime(self._id) + self._others_s
        except OSError:
            self.is_running = False
        return self._last_s

    def look(self) -> None:
        """Update the CPU seconds of `others` that are added to every reading."""
        with contextlib.suppress(OSError):
            self._others_s = sum(map(time.clock_gettime, self._others))


class MoveClock:
    """The clock of one move, which runs from its creation; `start` reuses it for another move.

    `budget_s` is the move's allowance and the bank together; `wall_s` the backstop. With `decides_cpu` the budget
    counts CPU time, otherwise wall time. After `stop`, `used_s` is the deciding time and `elapsed_s` the wall time.

    `cpu_since`: an earlier reading of `cpu` to count from, so that CPU time between two moves is charged.

    From `pause` to `resume` wall time does not count; CPU time always counts, because only the bot can use it.

    If CPU time decides, the backstop excludes the time for which the bot was ready to run but `delayed` by other work
    of the machine, and delays of the referee, together up to `_MOST_STRETCH` times the backstop.

    `asleep_s`: the sum of the intervals before each check that found all threads asleep; a check is due at `look_at_s`.
    `idle_s`, the part of it that is certain, must not exceed `idle_bank_s`.

    `suspended`: returns the seconds for which all processes were suspended since a moment; if there are any, the clock
    raises HarnessFault, because the match shows nothing about the bots.
    """

    def __init__(  # noqa: PLR0913 - all by name
        self,
        *,
        cpu: Callable[[], float],
        wall: Callable[[], float],
        budget_s: float,
        wall_s: float,
        decides_cpu: bool,
        delayed: Callable[[], float] = lambda: 0.0,
        cpu_since: float | None = None,
        suspended: Callable[[float], float] = lambda _: 0.0,
        idle_bank_s: float = math.inf,
    ) -> None:
        self.cpu, self.wall, self.decides_cpu = cpu, wall, decides_cpu
        self.delayed, self.suspended = delayed, suspended
        self.start(budget_s, wall_s, idle_bank_s, cpu_since)

    def start(self, budget_s: float, wall_s: float, idle_bank_s: float, cpu_since: float | None) -> None:
        """Start the clock of another move: set its times and read both clocks."""
        self.budget_s, self.wall_s, self.idle_bank_s = budget_s, wall_s, idle_bank_s
        self.asleep_s = self.cpu_s = self.elapsed_s = self._excused_s = self._pause_start = 0.0
        # read only when needed if CPU time decides: a move that is answered at once saves this
        self._delay_start = None if self.decides_cpu else self.delayed()
        self._cpu_start = self.cpu() if cpu_since is None else cpu_since
        self._wall_start = self.wall()
        self._looked_s, self._look_gap_s, self.look_at_s = 0.0, _FIRST_LOOK_S, _FIRST_LOOK_S

    @property
    def used_s(self) -> float:
        """Seconds of CPU time or of wall time, whichever decides, as of the last `look`."""
        return self.cpu_s if self.decides_cpu else self.elapsed_s

    @property
    def cpu_reading(self) -> float:
        """The reading of the CPU clock, as of the last `look`."""
        return self._cpu_start + self.cpu_s

    @property
    def idle_s(self) -> float:
        """Seconds asleep, as of the last `look`: at most wall time less CPU time and less waiting for a core."""
        return max(0.0, min(self.asleep_s, self._elapsed_undelayed_s() - self.cpu_s))

    @property
    def charged_s(self) -> float:
        """The greater of CPU seconds and of the seconds that count for the backstop, as of the last `look`."""
        return max(self.cpu_s, self._elapsed_undelayed_s())

    def charge(self, taken_s: float) -> None:
        """Charge CPU time used during a suspension to wall time, if that decides; CPU time includes it already."""
        if not self.decides_cpu:
            self._wall_start -= taken_s
            self.elapsed_s += taken_s

    def look(self) -> None:
        """Read both clocks; raises HarnessFault if all processes were suspended since the last reading."""
        elapsed_s = self.wall() - self._wall_start
        gap_s = elapsed_s - self.elapsed_s
        self.elapsed_s = elapsed_s
        self.cpu_s = self.cpu() - self._cpu_start
        if gap_s > _LONGEST_GAP_S:
            self.handle_late_reading(gap_s)

    def stop(self) -> None:
        """Read both clocks; raises OutOfTime if the bot's time is used up, HarnessFault as `look`."""
        self.look()
        self._require_time_left()

    def pause(self) -> None:
        """Stop counting wall time while the referee works; raises OutOfTime if the bot's time is used up."""
        self.stop()
        self._pause_start = self._wall_start + self.elapsed_s

    def resume(self) -> None:
        """Count wall time again after `pause`; raises OutOfTime after `abandon`."""
        self._wall_start += self.wall() - self._pause_start
        self.restart_looks()
        self._require_time_left()

    def restart_looks(self) -> None:
        """Count no sleep before the last reading: until then the bot waited for the referee."""
        self._looked_s, self._look_gap_s = self.elapsed_s, _FIRST_LOOK_S
        self.look_at_s = self.elapsed_s + _FIRST_LOOK_S

    def count_look(self, *, is_asleep: bool, share: float) -> None:
        """Count the time since the last check as sleep if `is_asleep`; the next is due after `share` of the gap."""
        if is_asleep:
            self.asleep_s += self.elapsed_s - self._looked_s
        self._looked_s, self._look_gap_s = self.elapsed_s, min(2 * self._look_gap_s, _LONGEST_LOOK_GAP_S)
        self.look_at_s = self.elapsed_s + self._look_gap_s * share

    def abandon(self) -> None:
        """Let the time run out at the next reading, also one in another thread."""
        self.budget_s = self.wall_s = -1.0

    def left_of_wall_s(self) -> float:
        """Return the seconds left of the backstop, as of the last `look`."""
        return max(0.0, self.wall_s - self._elapsed_undelayed_s())

    def wait_s(self) -> float:
        """Read both clocks; return the longest wait until the next reading. Raises OutOfTime if the time is used up."""
        if self._delay_start is None:
            self._delay_start = self.delayed()
        self.stop()
        left_s = min(self.budget_s - self.used_s, self.wall_s - self.elapsed_s)
        return max(left_s, _SHORTEST_WAIT_S)

    def handle_late_reading(self, gap_s: float) -> None:
        """Handle a late reading: raise HarnessFault after a suspension, else exclude the delay from the backstop."""
        last_look_s = self._wall_start + self.elapsed_s - gap_s
        if gap_s > LATE_S and (suspended_s := self.suspended(last_look_s)):
            raise HarnessFault(
                f"the referee was suspended for {suspended_s:.1f} s (a stop signal to all processes, a paused container"
                " or virtual machine) while a bot owed an answer"
            )
        self._excused_s += gap_s - _LONGEST_GAP_S

    def _require_time_left(self) -> None:
        """Raise OutOfTime if budget, backstop or idle bank is used up, as of the last `look`."""
        if (self.cpu_s if self.decides_cpu else self.elapsed_s) > self.budget_s:
            raise self._budget_error()
        if self.elapsed_s > self.wall_s and self._elapsed_undelayed_s() > self.wall_s:
            raise OutOfTime(
                f"no answer within {self.wall_s:.1f} s of wall time ({self.cpu_s * 1000:.0f} ms of CPU time)",
                hint="the bot slept, waited for something else, or never flushed its answer",
            )
        if self.asleep_s > self.idle_bank_s and self.idle_s > self.idle_bank_s:
            raise OutOfTime(
                "the idle bank of this match is empty: while it owed answers, no thread of the bot ran or was ready to"
                " run for too long",
                hint="do not sleep or wait for files, locks or input before you answer; flush stdout after the answer",
            )

    def _budget_error(self) -> OutOfTime:
        """Return the error for a used-up budget; `is_by_load` is set if waits for a core explain the excess."""
        kind = "CPU time" if self.decides_cpu else "wall time"
        late = OutOfTime(
            f"used {self.used_s * 1000:.0f} ms of {kind}, had {self.budget_s * 1000:.0f} ms",
            hint="answer earlier: the allowance of the move and the bank are used up",
        )
        delay_s = 0.0 if self.decides_cpu else self._delay_s()
        if delay_s >= self.used_s - self.budget_s > 0:
            late.is_by_load = True
            late.message += f"; but for {delay_s * 1000:.0f} ms of them it, or the referee, waited for a core"
        return late

    def _delay_s(self) -> float:
        """Return the seconds for which the bot waited for a core since `start`, by CPU time since `wait_s`."""
        return 0.0 if self._delay_start is None else self.delayed() - self._delay_start

    def _elapsed_undelayed_s(self) -> float:
        """Return the wall time that counts for the backstop: without delays by the machine or a late referee."""
        if not self.decides_cpu:
            return self.elapsed_s
        return self.elapsed_s - min(self._excused_s + self._delay_s(), _MOST_STRETCH * self.wall_s)
