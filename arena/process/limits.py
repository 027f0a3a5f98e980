"""What a bot may use, in three steps: what a tournament allows, what a bot's manifest asks for, what both agree on.

Rule: nothing is taken from a bot silently. A bot that asks for more than the tournament allows is refused by name.
"""

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


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`limits` of a tournament: the most that any of its bots may have; or what one bot has in it.

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


class Wishes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`limits` of a bot's manifest: what it asks for. Without a word it gets what the tournament allows, no scratch."""

    memory_mib: Mebibytes | None = None
    tasks: Tasks | None = None
    scratch_mib: ScratchMebibytes = 0
    line_bytes: LineBytes | None = None
    stderr_bytes: StderrBytes | None = None
    startup_ms: StartupMs | None = None


def agree(wishes: Wishes, allowed: Limits, *, processes: bool, startup_ms: float) -> Limits:
    """What a bot has that asks for `wishes`, and for processes of its own if `processes`.

    `startup_ms` is what the tournament allows for the start.

    SpecError for the first of its wishes that is not allowed.
    """
    if processes and not allowed.processes:
        raise SpecError("it starts processes of its own (`processes: true`), which this tournament does not allow")
    for name in ("memory_mib", "tasks", "scratch_mib", "line_bytes", "stderr_bytes", "startup_ms"):
        wish, most = getattr(wishes, name), getattr(allowed, name, startup_ms)
        if wish is not None and wish > most:
            raise SpecError(f"it asks for limits: {name}: {wish:g}, this tournament allows {most:g}")
    return Limits(
        memory_mib=wishes.memory_mib or allowed.memory_mib,
        tasks=wishes.tasks or allowed.tasks,
        processes=processes,
        scratch_mib=wishes.scratch_mib,
        line_bytes=wishes.line_bytes or allowed.line_bytes,
        stderr_bytes=allowed.stderr_bytes if wishes.stderr_bytes is None else wishes.stderr_bytes,
    )
