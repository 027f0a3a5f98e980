"""How the benchmarks measure on a busy machine: interleaved rounds, medians, ratios of neighbours, the machine itself.

Rule: what is compared is measured in turns within the same run, and a ratio is the median of ratios taken within one
round, so that a load that comes and goes hits both sides. All times are in seconds.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import comb
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple, TypeVar

Sample = TypeVar("Sample")
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
_ADDITIONS: Final = 1_000_000
_ROUND_TRIPS: Final = 1000
_ECHO: Final = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
while os.read(0, 1):
    os.write(1, b"x")
"""


def interleaved(
    measures: Mapping[str, Callable[[], Sample]], rounds: int, *, warm_ups: int = 1
) -> dict[str, list[Sample]]:
    """Return samples of each measure by name, after `warm_ups` dropped rounds; rounds start at different measures."""
    names = list(measures)
    samples: dict[str, list[Sample]] = {name: [] for name in names}
    for number in range(-warm_ups, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            sample = measures[name]()
            if number >= 0:
                samples[name].append(sample)
    return samples


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """Return the median of the ratios of samples of the same round."""
    return median(a / b for a, b in zip(above, below, strict=True))


def error_of_median(samples: Sequence[float]) -> float | None:
    """Return half the width of the 95 % interval of the median (order statistics), or half the range of under six.

    None for a single sample.
    """
    if len(samples) == 1:
        return None
    ordered, count, rank = sorted(samples), len(samples), 0
    below = 0.5**count
    while (below := below + comb(count, rank + 1) * 0.5**count) <= 0.025:
        rank += 1
    return (ordered[-1 - rank] - ordered[rank]) / 2


def descendants(pid: int) -> set[int]:
    """Return the ids of the children of process `pid`, their children, and so on."""
    pids: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text(encoding="ascii").split()):
                pids |= {child} | descendants(child)
    return pids


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, and those it starts meanwhile, on one core: wake-ups across cores cost several times more."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


class MachineSpeed(NamedTuple):
    """The time of an addition in a loop, and of a byte's round trip to a process on the same and on another core."""

    addition_ns: float
    same_core_us: float
    other_core_us: float | None

    def __str__(self) -> str:
        other = "" if self.other_core_us is None else f", {self.other_core_us:.0f} us across cores"
        return (
            f"addition {self.addition_ns:.0f} ns, one byte there and back {self.same_core_us:.0f} us on a core{other}"
        )


def machine_speed() -> MachineSpeed:
    """Measure the speed of this machine: medians of three."""
    core, *more = sorted(os.sched_getaffinity(0), reverse=True)
    return MachineSpeed(
        median(_addition_ns() for _ in range(3)),
        median(_round_trip_us(core, core) for _ in range(3)),
        median(_round_trip_us(core, more[0]) for _ in range(3)) if more else None,
    )


def _addition_ns() -> float:
    start_s, total = time.perf_counter(), 0
    for number in range(_ADDITIONS):
        total += number
    return (time.perf_counter() - start_s) / _ADDITIONS * 1e9


def _round_trip_us(own: int, other: int) -> float:
    """Measure the microseconds of a byte from this process, on core `own`, to one on core `other` and back."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {own})
    command = (sys.executable, "-S", "-c", _ECHO, str(other))
    try:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as echo:
            assert echo.stdin is not None
            assert echo.stdout is not None
            into, out = echo.stdin.fileno(), echo.stdout.fileno()
            os.write(into, b"x")
            os.read(out, 1)  # it has started
            start_s = time.perf_counter()
            for _ in range(_ROUND_TRIPS):
                os.write(into, b"x")
                os.read(out, 1)
            return (time.perf_counter() - start_s) / _ROUND_TRIPS * 1e6
    finally:
        os.sched_setaffinity(0, allowed)


class Machine:
    """A meter of the cores busy with other work since its creation."""

    def __init__(self) -> None:
        self._wall_s = time.monotonic()
        self._busy_s = _busy_s()
        self._own_s = family_s()

    def elapsed_s(self) -> float:
        """Return the wall seconds since the creation."""
        return time.monotonic() - self._wall_s

    def others(self) -> float:
        """Return the mean number of cores busy with other work; 0.1 too high while many processes start and end."""
        busy_s = _busy_s() - self._busy_s
        own_s = family_s() - self._own_s
        return max(0.0, busy_s - own_s) / self.elapsed_s()


def _busy_s() -> float:
    """Return the CPU seconds spent by the whole machine: /proc/stat without idle and disk-wait time."""
    with Path("/proc/stat").open(encoding="ascii") as file:
        columns = [int(text) for text in file.readline().split()[1:9]]
    return (sum(columns) - columns[3] - columns[4]) / _TICKS_PER_S


def family_s() -> float:
    """Return the CPU seconds of this process and all its descendants, living or reaped."""
    times = os.times()
    total = times.user + times.system + times.children_user + times.children_system
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError, IndexError):
            total += process_s(pid)
    return total


def process_s(pid: int) -> float:
    """Return the CPU seconds of a process and its reaped children; OSError or IndexError if it is gone."""
    columns = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, columns[11:15])) / _TICKS_PER_S  # utime, stime, and of its reaped children
