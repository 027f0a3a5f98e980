"""Limits that the kernel keeps for each process and those it starts, set from outside on a running one.

Rule: set before the bot's own program runs. What a process cannot raise again need not be watched.
"""

import contextlib
import resource
from pathlib import Path
from typing import Final

from arena.process.limits import Limits

_OPEN_FILES: Final = 256
_FILE_BYTES: Final = 16 << 20
_OOM_SCORE: Final = "800"
"""Between 0 and 1000: when memory runs out the kernel shall take the bot, never the referee."""


def limit_process(pid: int, limits: Limits) -> None:
    """Memory, open files, no core dump. Never RLIMIT_AS: runtimes reserve far more than they use.

    RLIMIT_DATA counts the stacks of threads, so it is twice the limit that the watch keeps.
    """
    _set_all(pid, _of_process(limits))


def limit_box(pid: int, limits: Limits) -> None:
    """The same in a user namespace of its own, where threads and processes can be counted; and the size of files."""
    _set_all(pid, of_box(limits))


def of_box(limits: Limits) -> dict[str, int]:
    """Limits of each process in a box, by the kernel's names without RLIMIT_."""
    files = {"NPROC": limits.tasks, "FSIZE": max(_FILE_BYTES, limits.scratch_mib << 20)}
    return _of_process(limits) | files


def take_first(pid: int) -> None:
    """When memory runs out."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")


def _of_process(limits: Limits) -> dict[str, int]:
    return {"DATA": 2 * limits.memory_mib << 20, "NOFILE": _OPEN_FILES, "CORE": 0}


def _set_all(pid: int, values: dict[str, int]) -> None:
    for name, value in values.items():
        _set(pid, getattr(resource, f"RLIMIT_{name}"), value)


def _set(pid: int, kind: int, value: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        hard = resource.prlimit(pid, kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, kind, (value, value))
