"""Room for matches on this machine: how many fit, and the machine for one match alone.

Rule: whoever plays holds a shared lock while its bots live. A match that is repeated alone holds the lock by itself:
it waits until the bots of all other matches of this user have ended, while a second lock keeps new ones out. Locks lie
in a folder of the user; where none can be made, nobody waits.
"""

import contextlib
import fcntl
import logging
import os
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from arena.errors import MachineFault
from arena.process.cores import claims_folder, usable_cores
from arena.process.limits import Limits
from arena.process.shortage import address_space, free_memory, free_tasks

_SCRATCH_FOLDERS: Final = 2
_BESIDE_A_BOT_MIB: Final = 16
"""Memory of a bot's sandbox, and kernel memory that no count includes."""
_BESIDE_A_BOT_TASKS: Final = 2
_WORKER_MIB: Final = 64
_WORKER_TASKS: Final = 4
_LEAST_TASKS: Final = 16
_LEAST_MIB: Final = 240
_ENTRY: Final = "entry"
_TABLES: Final = "tables"
log: Final = logging.getLogger("arena.room")


class Room(NamedTuple):
    """An amount of memory in MiB, and of tasks: processes and threads."""

    memory_mib: int
    tasks: int


def room_for(limits: Sequence[Limits], *, workers: int = 0) -> Room:
    """Return the most that the bots of a match with these limits and `workers` worker processes can use together."""
    memory = sum(bot.memory_mib + _SCRATCH_FOLDERS * bot.scratch_mib + _BESIDE_A_BOT_MIB for bot in limits)
    tasks = sum(bot.tasks + _BESIDE_A_BOT_TASKS for bot in limits)
    return Room(memory + workers * _WORKER_MIB, tasks + workers * _WORKER_TASKS)


def matches_that_fit(limits: Sequence[Limits]) -> int:
    """Return how many matches with bots of these limits, each with its worker, fit into the memory and tasks now free.

    Cores are not counted. It may be 0.
    """
    need, tasks = room_for(limits, workers=1), free_tasks()
    by_memory = (free_memory() >> 20) // need.memory_mib
    return by_memory if tasks is None else min(by_memory, tasks // need.tasks)


def lack_of_room(need: Room) -> str:
    """Return why the free memory, or the free processes and threads, are too few for `need`, with advice; or empty."""
    memory_mib, tasks = free_memory() >> 20, free_tasks()
    if need.memory_mib > memory_mib:
        return (
            f"a match and its bots may use {need.memory_mib} MiB of memory, and {memory_mib} MiB are free: end other"
            " programs, or lower `limits: memory_mib` of the tournament"
        )
    if tasks is not None and need.tasks > tasks:
        return (
            f"a match and its bots may use {need.tasks} processes and threads, and {tasks} are free: raise `ulimit -u`"
            " or pids.max of the control group, or lower `limits: tasks` of the tournament"
        )
    return ""


def require_least() -> None:
    """Raise MachineFault if too few tasks or too little address space are left: libraries would end the process."""
    least, tasks = _LEAST_TASKS + len(usable_cores()), free_tasks()
    if tasks is not None and tasks < least:
        raise MachineFault(
            f"{tasks} more processes and threads are allowed, arena needs {least}: raise `ulimit -u` or pids.max of"
            " the control group"
        )
    if (mib := address_space() >> 20) < _LEAST_MIB:
        raise MachineFault(f"`ulimit -v` allows {mib} MiB of memory, arena needs {_LEAST_MIB}: `ulimit -v unlimited`")


@contextlib.contextmanager
def share_machine() -> Iterator[None]:
    """Hold the machine for one match among others inside the `with`; waits while a match has it alone."""
    with contextlib.ExitStack() as held:
        with _hold_lock(_ENTRY):
            held.enter_context(_hold_lock(_TABLES, is_shared=True))
        yield


@contextlib.contextmanager
def claim_machine(limits: Sequence[Limits]) -> Iterator[None]:
    """Hold the machine for one match alone inside the `with`; waits for the other matches of this user.

    Raises MachineFault if the limits of its bots do not fit even then.
    """
    log.warning("waiting until nothing else is played on this machine")
    with _hold_lock(_ENTRY), _hold_lock(_TABLES):
        if lack := lack_of_room(room_for(limits)):
            raise MachineFault(f"with nothing else playing, {lack}")
        yield


@contextlib.contextmanager
def _hold_lock(name: str, *, is_shared: bool = False) -> Iterator[None]:
    """Hold a lock of this user by name inside the `with`; the kernel releases it when the process ends.

    Waits for it; without a folder for locks holds none.
    """
    folder = claims_folder()
    if folder is None:
        yield
        return
    number = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)
