"""Patience until something comes true, and processes of the machine that it may be about."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

from arena.process.reaper import descendants, read_proc
from arena.process.workers import multiprocessing_pids

PATIENCE_S: Final = 20.0


def eventually(claim: Callable[[], object], patience_s: float = PATIENCE_S) -> bool:
    """Whether it comes true within the patience."""
    deadline_s = time.monotonic() + patience_s
    while not claim():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.002)
    return True


def until(condition: Callable[[], object], *, within_s: float = PATIENCE_S, what: str = "it") -> float:
    """Wait for the condition; how long it took."""
    start_s = time.monotonic()
    while not condition():
        assert time.monotonic() - start_s < within_s, f"{what} did not happen within {within_s} s"
        time.sleep(0.02)
    return time.monotonic() - start_s


def a_second() -> float:
    """One second, or its like on a machine that has more to do than cores to do it on."""
    return max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)))


@contextlib.contextmanager
def load(of_a_core: int) -> Iterator[None]:
    """So many programs for each core that always want it."""
    count = of_a_core * len(os.sched_getaffinity(0))
    spinners = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def state_of(pid: int) -> tuple[str, int, int]:
    """The kernel's letter, process group and session of a process; X, 0, 0 if it is gone."""
    fields = read_proc(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return (fields[0].decode(), int(fields[2]), int(fields[3])) if fields else ("X", 0, 0)


def is_alive(pid: int) -> bool:
    """Whether a process is there, and not just waiting to be reaped."""
    return state_of(pid)[0] not in {"Z", "X"}


def our_processes() -> set[int]:
    """Our living descendants, without those of multiprocessing itself."""
    return {pid for pid in descendants(os.getpid()) - multiprocessing_pids() if is_alive(pid)}
