"""The clock account of a bot: what a request may take, what it took, and what is left of the banks of a match.

Rule: whole microseconds, so that banks and sums follow from the record alone. The time between two requests is charged
to the second one.
"""

import math
from collections.abc import Callable
from typing import Final

from msgspec import UNSET

from arena.errors import OutOfTime, ProtocolViolation
from arena.match.record import Discarded, Requests
from arena.match.settings import ClockSettings
from arena.process.channel import Channel
from arena.process.clock import MoveClock
from arena.process.reaper import own_delay_s
from arena.protocol.messages import TimeLeft, TimeUsed

TAKEN: Final = 2
"""Requests of a match before which a bot used time while it was stopped: so many are evasion, fewer an accident."""


class ClockAccount:
    """The use of time of one bot in one match after the other.

    `suspended` reports suspensions, which make a match void; `never_suspended` where nobody could play it again.
    Without `has_clock` answers may take any time. `startup_us`: the time of `hello` and `ready`; `cpu_since`: the
    reading of the bot's CPU clock from which on its time is charged, None where it may think at any time;
    `stderr_bytes`: what the bot had written to stderr when the last request ended; `taken_s`: the CPU time that its
    process has used while it was stopped, as far as it is charged.
    """

    def __init__(self, settings: ClockSettings, wall: Callable[[], float], suspended: Callable[[float], float]) -> None:
        self.terms, self.has_clock = settings.terms(), True
        self._full_move_us, self._full_wall_s = round(self.terms.move_ms * 1000), self.terms.wall_ms / 1000
        self._full_bank_us = round(self.terms.bank_ms * 1000)
        self._increment_us = round((self.terms.increment_ms or 0) * 1000)
        self.clock_type: type[MoveClock] = MoveClock
        self.wall, self.suspended = wall, suspended
        self.decides_cpu, self._may_ponder = settings.decides == "cpu", settings.ponder
        self.begin_process()
        self.begin_match()

    def begin_process(self) -> None:
        """Count from the start of a new process."""
        self.cpu_since: float | None = None
        self.taken_s = 0.0

    def begin_match(self) -> None:
        """Fill the banks, and forget the match before."""
        self.bank_us = self._full_bank_us
        self.idle_bank_s = math.inf if self.terms.idle_ms is UNSET else self.terms.idle_ms / 1000
        self.startup_us = self.timeouts_by_load = 0
        self._move_us, self._wall_s = 0, 0.0
        self._taken_times = self.stderr_bytes = 0
        self._is_abandoned = False
        self._spent: list[tuple[int, int, int, int]] = []
        self._clock: MoveClock | None = None

    def copy_banks(self, other: "ClockAccount") -> None:
        """Set the banks to those of another account."""
        self.bank_us, self.idle_bank_s = other.bank_us, other.idle_bank_s

    def start_up(self, used_s: float, cpu_reading: float) -> None:
        """Book the seconds of a `hello` or `ready`; a move's CPU time counts from `cpu_reading` on."""
        self.startup_us += round(used_s * 1e6)
        self.cpu_since = None if self._may_ponder else cpu_reading

    def allow(self, *, is_again: bool) -> TimeLeft:
        """Set the move time of the next request; return it with the bank.

        A repeated request has the rest of the move time and takes the increment back, so that nothing is gained by a
        first answer. A bank that has grown beyond its first amount extends the backstop. OutOfTime if the match was
        broken off.
        """
        if self._is_abandoned:
            raise OutOfTime("the match was broken off")
        if not is_again or self._clock is None:
            grown_us = max(0, self.bank_us - self._full_bank_us)
            self._move_us, self._wall_s = self._full_move_us, self._full_wall_s + 2 * grown_us / 1e6
            return TimeLeft(self.terms.move_ms, self.bank_us / 1000)
        self.bank_us -= self._increment_us
        self._move_us = max(0, self._move_us - round(self._clock.used_s * 1e6))
        self._wall_s = self._clock.left_of_wall_s()
        return TimeLeft(self._move_us / 1000, self.bank_us / 1000)

    def start(self, channel: Channel) -> MoveClock:
        """Start the clock with the time that `allow` has set, or without limits if there is no clock."""
        if self._clock is None:
            self._clock = self._new_clock(channel)
        clock = self._clock
        if self.has_clock:
            clock.start((self._move_us + self.bank_us) / 1e6, self._wall_s, self.idle_bank_s, self.cpu_since)
        else:
            clock.start(math.inf, math.inf, math.inf, self.cpu_since)
        if self._is_abandoned:  # another thread did it, before it could reach this clock
            clock.abandon()
        return clock

    def charge_taken(self, clock: MoveClock, taken_s: float, request_id: int) -> None:
        """Charge CPU time used while stopped, `taken_s` in all; ProtocolViolation at the second time in a match."""
        new_s, self.taken_s = taken_s - self.taken_s, taken_s
        self._taken_times += 1
        clock.charge(new_s)
        if self._taken_times >= TAKEN:
            raise ProtocolViolation(
                f"used {new_s * 1000:.0f} ms of CPU time while it was stopped, before request {request_id},"
                " and in this match not for the first time",
                hint="a bot that is not on move is stopped: whatever lets it run on is an evasion",
            )

    def book(self, clock: MoveClock, stderr_bytes: int) -> None:
        """Book the time of a request that is over: charge what it took beyond the move time, add the increment.

        Idle time is charged to the idle bank. `stderr_bytes` counts the whole match so far.
        """
        cpu_us, wall_us, idle_us = round(clock.cpu_s * 1e6), round(clock.elapsed_s * 1e6), 0
        if clock.asleep_s:
            idle_us = min(round(clock.idle_s * 1e6), max(0, wall_us - cpu_us))
            self.idle_bank_s = max(0.0, self.idle_bank_s - idle_us / 1e6)
        self._spent.append((cpu_us, wall_us, idle_us, stderr_bytes - self.stderr_bytes))
        self.stderr_bytes = stderr_bytes
        self.cpu_since = None if self._may_ponder else clock.cpu_reading
        beyond_us = (cpu_us if self.decides_cpu else wall_us) - self._move_us
        self.bank_us = max(0, self.bank_us - max(0, beyond_us)) + self._increment_us

    def abandon(self) -> None:
        """Let the clock of the open request run out, or of the next one."""
        self._is_abandoned = True
        if self._clock is not None:
            self._clock.abandon()

    def requests(self, discarded: tuple[Discarded, ...]) -> Requests:
        """Return microseconds and bytes on stderr of each request so far, with the lines that were no answers."""
        cpu_us, wall_us, idle_us, stderr = zip(*self._spent, strict=True) if self._spent else ((), (), (), ())
        return Requests(
            cpu_us=cpu_us,
            wall_us=wall_us,
            idle_us=idle_us if any(idle_us) else (),
            stderr=stderr if any(stderr) else (),
            discarded=discarded,
        )

    def used(self) -> TimeUsed:
        """Return the total use of time in the match, for the message to the bot."""
        cpu_us, wall_us, idle_us = (sum(times[kind] for times in self._spent) for kind in range(3))
        return TimeUsed(len(self._spent), cpu_us / 1000, wall_us / 1000, idle_us / 1000 or UNSET)

    def _new_clock(self, channel: Channel) -> MoveClock:
        """Return a clock for the bot of the channel, without limits yet."""
        return self.clock_type(
            cpu=channel.cpu,
            wall=self.wall,
            budget_s=math.inf,
            wall_s=math.inf,
            decides_cpu=self.decides_cpu,
            delayed=channel.delayed_s if self.decides_cpu else lambda: channel.delayed_s() + own_delay_s(),
            suspended=self.suspended,
        )
