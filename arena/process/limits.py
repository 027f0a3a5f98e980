"""The limits of a bot: what a tournament allows, what a manifest requests, and how the kernel keeps them.

Rule: nothing is taken from a bot silently; a bot that requests more than the tournament allows is refused by name. The
kernel's limits are set on a process from outside, before the bot's program runs.
"""

import contextlib
import resource
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from arena.errors import SpecError

Isolation = Literal["sandbox", "none"]
DEFAULT_ISOLATION: Final[Isolation] = "sandbox"

Mebibytes = Annotated[int, Meta(ge=16, le=1 << 20)]
Tasks = Annotated[int, Meta(ge=1, le=4096)]
ScratchMebibytes = Annotated[int, Meta(ge=0, le=1 << 16)]
LineBytes = Annotated[int, Meta(ge=1 << 10, le=1 << 20)]
StderrBytes = Annotated[int, Meta(ge=0, le=1 << 20)]
StartupMs = Annotated[float, Meta(gt=0, le=86_400_000)]
_OPEN_FILES: Final = 256
_FILE_BYTES: Final = 16 << 20
_QUEUED_SIGNALS: Final = 64
"""The kernel counts the queued signals of all bots of a user together; this limit keeps a bot from reading the sum."""
_OOM_SCORE: Final = "800"
"""Added to the OOM score of a bot, whose range is 0 to 1000."""


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`limits` of a tournament, the most that any of its bots may have; or the limits of one bot.

    `memory_mib`: of everything the bot runs, together. `tasks`: threads and processes together. `processes`: whether a
    bot may start any. `scratch_mib`: a writable /tmp for bots that ask for one. `line_bytes`: the longest line from
    the bot, newline included. `stderr_bytes`: how much of its stderr is kept, half from the beginning, half from the
    end.
    """

    memory_mib: Mebibytes = 512
    tasks: Tasks = 64
    processes: bool = True
    scratch_mib: ScratchMebibytes = 64
    line_bytes: LineBytes = 1 << 16
    stderr_bytes: StderrBytes = 16 << 10


class LimitRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`limits` of a bot's manifest. A bot that requests nothing gets what the tournament allows, and no scratch."""

    memory_mib: Mebibytes | None = None
    tasks: Tasks | None = None
    scratch_mib: ScratchMebibytes = 0
    line_bytes: LineBytes | None = None
    stderr_bytes: StderrBytes | None = None
    startup_ms: StartupMs | None = None


def negotiate(request: LimitRequest, allowed: Limits, *, processes: bool, startup_ms: float) -> Limits:
    """Return the limits of a bot that makes this request; with `processes` it may start processes.

    `startup_ms`: the startup time that the tournament allows. Raises SpecError for the first field above `allowed`.
    """
    if processes and not allowed.processes:
        raise SpecError("it starts processes of its own (`processes: true`), which this tournament does not allow")
    requested = {name: value for name, value in msgspec.structs.asdict(request).items() if value is not None}
    for name, value in requested.items():
        most = getattr(allowed, name, startup_ms)
        if value > most:
            raise SpecError(f"it asks for limits: {name}: {value:g}, this tournament allows {most:g}")
    requested.pop("startup_ms", None)
    return msgspec.structs.replace(allowed, processes=processes, **requested)


def rlimits(limits: Limits) -> dict[str, int]:
    """Return the rlimits of each process, by their names without RLIMIT_.

    AS is never set: runtimes reserve far more address space than they use. DATA is twice the limit of memory, because
    it counts the stacks of threads.
    """
    return {"DATA": 2 * limits.memory_mib << 20, "NOFILE": _OPEN_FILES, "CORE": 0}


def sandbox_rlimits(limits: Limits) -> dict[str, int]:
    """Return `rlimits` and those that work only in a sandbox: tasks, queued signals (both by user), size of files."""
    return rlimits(limits) | {
        "NPROC": limits.tasks,
        "SIGPENDING": _QUEUED_SIGNALS,
        "FSIZE": max(_FILE_BYTES, limits.scratch_mib << 20),
    }


def set_rlimits(pid: int, values: dict[str, int]) -> None:
    """Set rlimits, soft and hard, of a running process, by name; no hard limit is increased. Skip one that is gone."""
    for name, value in values.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        with contextlib.suppress(ProcessLookupError):
            hard = resource.prlimit(pid, kind)[1]
            lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(pid, kind, (lower, lower))


def prefer_for_oom_kill(pid: int) -> None:
    """Make the kernel's OOM killer choose this process first, never the referee."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
