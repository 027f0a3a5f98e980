"""Control groups (version 2) for bots, where the harness was given a part of the tree to manage.

Rule: used where it is delegated, never required, and never taken: root finds every group writable, but systemd manages
those. `systemd-run --user --scope -p Delegate=yes arena ...` delegates one. The harness moves into a group of its own
first, because a group with members cannot have managed children.
"""

import contextlib
import os
import time
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

from arena.process.limits import Limits

_HARNESS: Final = "arena-harness"
_NEEDED: Final = {"memory", "pids"}
_REMOVE_S: Final = 1.0
_numbers = count()


class Group:
    """The control group of one bot."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._memory_mib = limits.memory_mib
        folder.mkdir()
        self._write("memory.max", limits.memory_mib << 20)
        self._write("memory.oom.group", 1)
        self._write("pids.max", limits.tasks + 1)  # bwrap's first process is in it
        with contextlib.suppress(OSError):  # there only where the machine has swap
            self._write("memory.swap.max", 0)

    def enter(self, pid: int) -> None:
        """Put a process there, with all that it will start."""
        self._write("cgroup.procs", pid)

    def excess(self) -> str:
        """Whether the kernel has ended it for its memory, in words; empty if not."""
        with contextlib.suppress(OSError):
            for line in (self._folder / "memory.events").read_text(encoding="ascii").splitlines():
                if line.startswith("oom_kill ") and line.split()[1] != "0":
                    return f"it used all of the {self._memory_mib} MiB of memory it is allowed"
        return ""

    def remove(self) -> None:
        """Give the group back; whatever is still in it is killed."""
        with contextlib.suppress(OSError):
            self._write("cgroup.kill", 1)
        deadline_s = time.monotonic() + _REMOVE_S
        while time.monotonic() < deadline_s:
            try:
                self._folder.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.001)
            else:
                return

    def _write(self, name: str, value: int) -> None:
        (self._folder / name).write_text(str(value), encoding="ascii")


def make_group(limits: Limits) -> Group | None:
    """A control group with these limits, where one can be had."""
    base = delegated()
    if base is None:
        return None
    return Group(base / f"arena-{os.getpid()}-{next(_numbers)}", limits)


@cache
def delegated() -> Path | None:
    """The group whose children are ours to manage, ready for them; None where none was delegated."""
    try:
        own = _own_group()
        if own is None:
            return None
        base = own.parent if own.name == _HARNESS else own
        return base if _is_ours(base) and _is_ready(base, own) else None
    except OSError:
        return None


def _own_group() -> Path | None:
    """The folder of the group this process is in; None in the root group, which is nobody's to manage."""
    lines = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
    name = next((line[3:] for line in lines if line.startswith("0::/")), "/")
    for mount in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = mount.partition(" - ")
        if after.startswith("cgroup2 ") and name != "/":
            return Path(before.split()[4] + name)
    return None


def _is_ours(base: Path) -> bool:
    """Whether somebody handed the group over: to an ordinary user by giving it, to root by systemd's mark."""
    if os.geteuid() != 0:
        return base.stat().st_uid == os.geteuid()
    return os.getxattr(base, "trusted.delegate") == b"1"


def _is_ready(base: Path, own: Path) -> bool:
    """Whether bots can be limited in groups below `base`; the harness itself moves out of the way."""
    if not set((base / "cgroup.controllers").read_text(encoding="ascii").split()) >= _NEEDED:
        return False
    if own == base:
        (base / _HARNESS).mkdir(exist_ok=True)
        for pid in (base / "cgroup.procs").read_text(encoding="ascii").split():
            (base / _HARNESS / "cgroup.procs").write_text(pid, encoding="ascii")
    control = " ".join(f"+{name}" for name in sorted(_NEEDED))
    (base / "cgroup.subtree_control").write_text(control, encoding="ascii")
    return True
