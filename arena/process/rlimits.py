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
    memory = 2 * limits.memory_mib << 20
    for kind, value in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _set(pid, kind, value)


def limit_box(pid: int, limits: Limits) -> None:
    """The same in a user namespace of its own, where threads and processes can be counted; and the size of files."""
    limit_process(pid, limits)
    _set(pid, resource.RLIMIT_NPROC, limits.tasks)
    _set(pid, resource.RLIMIT_FSIZE, max(_FILE_BYTES, limits.scratch_mib << 20))


def take_first(pid: int) -> None:
    """When memory runs out."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")


def _set(pid: int, kind: int, value: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        hard = resource.prlimit(pid, kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, kind, (value, value))
