"""How the benchmarks measure on a busy machine: interleaved rounds, medians, ratios of neighbours, and who else ran.

Rule: what is compared is measured in turns within the same run, and a ratio is the median of ratios taken within one
round, so that a load that comes and goes hits both sides. All times are in seconds.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Final, TypeVar

Sample = TypeVar("Sample")
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


def interleaved(
    measures: Mapping[str, Callable[[], Sample]], rounds: int, *, warm_ups: int = 1
) -> dict[str, list[Sample]]:
    """Samples of each measure by name, after `warm_ups` rounds that are thrown away. Each round starts with another."""
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
    """The median of the ratios of samples of the same round."""
    return median(a / b for a, b in zip(above, below, strict=True))


def clocks(pids: Iterable[int]) -> tuple[float, float, float]:
    """Wall clock, own CPU clock and the sum of the CPU clocks of `pids`, to be subtracted from a later reading."""
    others_s = sum(map(_cpu_clock_s, pids))
    return time.perf_counter(), time.process_time(), others_s


def _cpu_clock_s(pid: int) -> float:
    """CPU time of another process from the kernel's clock for it, in nanoseconds; 0 once it is gone."""
    with contextlib.suppress(OSError):
        return time.clock_gettime((~pid << 3) | 2)  # the Linux ABI behind clock_getcpuclockid(3)
    return 0.0


def descendants(pid: int) -> set[int]:
    """Children of `pid`, their children, and so on."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text(encoding="ascii").split()):
                found |= {child} | descendants(child)
    return found


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """This process, and those it starts meanwhile, share one core; a wake-up across cores costs several times more."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


class Machine:
    """How many cores were busy with something else since this value was made."""

    def __init__(self) -> None:
        self._wall_s = time.monotonic()
        self._busy_s = _busy_s()
        self._own_s = _family_s()

    def elapsed_s(self) -> float:
        """Wall time since then."""
        return time.monotonic() - self._wall_s

    def others(self) -> float:
        """Cores busy with other people's work, on average; about 0.1 too much while many processes start and end."""
        busy_s = _busy_s() - self._busy_s
        own_s = _family_s() - self._own_s
        return max(0.0, busy_s - own_s) / self.elapsed_s()


def _busy_s() -> float:
    """CPU time that the whole machine has spent, in seconds: what /proc/stat says but idle and waiting for disks."""
    with Path("/proc/stat").open(encoding="ascii") as file:
        columns = [int(text) for text in file.readline().split()[1:9]]
    return (sum(columns) - columns[3] - columns[4]) / _TICKS_PER_S


def _family_s() -> float:
    """CPU time of this process and all its descendants, living or reaped."""
    times = os.times()
    total = times.user + times.system + times.children_user + times.children_system
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError, IndexError):
            columns = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            total += sum(map(int, columns[11:15])) / _TICKS_PER_S  # utime, stime, and those of its reaped children
    return total
