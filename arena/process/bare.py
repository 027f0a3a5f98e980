"""A bot without a sandbox (`--isolation none`): a clean environment, a session of its own, some limits, and trust.

Rule: only for bots one trusts, and only when it is said on the command line. It dies with the thread that started it
(`setpriv --pdeathsig`, util-linux), so start bots only from a long-lived thread.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from functools import cache

from arena.process.clock import cpu_clock
from arena.process.limits import Limits
from arena.process.reaper import descendants
from arena.process.rlimits import limit_process, take_first
from arena.process.usage import MemoryWatch, SleepWatch, delayed_s


class BareBody:
    """The processes of a bot that nothing holds together but its process group."""

    def __init__(self, pid: int, limits: Limits) -> None:
        self.group = pid
        self.cpu = cpu_clock(pid)
        self.excess = MemoryWatch(limits.memory_mib, self._pids).excess
        self.is_asleep = SleepWatch(self._pids).is_asleep

    def delayed_s(self) -> float:
        """See Body.delayed_s."""
        return delayed_s(self.group)

    def _pids(self) -> set[int]:
        return {self.group} | descendants(self.group)

    def holds(self, _pipe: int) -> bool:
        """See Body.holds: nobody else has its pipes, so their end tells."""
        return True

    def hint_on(self, _stderr: str) -> str:
        """See Body.hint_on: nothing surrounds it."""
        return ""

    def signal(self, number: int) -> None:
        """See Body.signal: what has left the process group is not reached."""
        os.killpg(self.group, number)

    def kill(self) -> None:
        """See Body.kill."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.group, signal.SIGKILL)

    def release(self) -> None:
        """See Body.release: nothing was held."""


def start_bare(
    command: list[str], folder: str, environment: dict[str, str], limits: Limits
) -> tuple["subprocess.Popen[bytes]", BareBody]:
    """Start `command` in `folder`. OSError if the kernel will not have it."""
    popen = subprocess.Popen(
        [*_die_with_parent(), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
        bufsize=0,
        start_new_session=True,
    )
    take_first(popen.pid)
    limit_process(popen.pid, limits)
    return popen, BareBody(popen.pid, limits)


@cache
def _die_with_parent() -> tuple[str, ...]:
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()
