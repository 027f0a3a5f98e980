"""Control groups (version 2) for bots, where a part of the tree is ours to manage: memory, tasks, CPU time, the end.

Rule: used where it is delegated, never required, and never taken: what others manage is read and not written. A
process without such a part can ask systemd for one (`scope`). The harness moves into a group of its own first, because
a group with members cannot have limited children.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

from arena.errors import SpecError
from arena.process.limits import Limits
from arena.process.shortage import group_folders

SETTING: Final = "ARENA_CGROUP"
"""Environment variable: `auto`, `no` or `required`."""
SYSTEMD: Final = Path("run/systemd/system")
NEEDED: Final = {"memory", "pids"}
_HARNESS: Final = "arena-harness"
_OF_A_BOT: Final = re.compile(r"arena-(\d+)-\d+")
_REMOVE_S: Final = 1.0
_AUDIT_S: Final = 0.002
"""Interval between two readings of a group's clock, each of which costs 20 times one of a process's clock."""
_ROOT: Final = Path("/")
_numbers = count()


class Group:
    """The control group of one bot."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._memory_mib = limits.memory_mib
        self._stat = -1
        folder.mkdir()
        try:
            self._write("memory.max", limits.memory_mib << 20)
            self._write("memory.oom.group", 1)
            self._write("pids.max", limits.tasks + 1)  # bwrap's first process is in it
        except OSError:
            self.remove()
            raise
        with contextlib.suppress(OSError):  # there only where the machine has swap
            self._write("memory.swap.max", 0)

    def enter(self, pid: int) -> None:
        """Move a process into the group; its later children will be in it, too."""
        self._write("cgroup.procs", pid)

    def cpu_s(self) -> float:
        """Return the CPU seconds of all processes that are or were in the group; 0.0 if the group is gone.

        Excludes the time that a running process has used since the last tick of its core.
        """
        try:
            if self._stat < 0:
                self._stat = os.open(self._folder / "cpu.stat", os.O_RDONLY | os.O_CLOEXEC)
            return int(os.pread(self._stat, 200, 0).split(None, 2)[1]) / 1e6
        except (OSError, IndexError, ValueError):
            return 0.0

    def limit_violation(self) -> str:
        """Return a sentence if the bot reached its group's limit of memory; otherwise empty."""
        return f"it used all of the {self._memory_mib} MiB of memory it is allowed" if self._event_count("oom") else ""

    def oom_kills(self) -> int:
        """Return how often the OOM killer ended a process of the bot, for the limit of any group or of the machine."""
        return self._event_count("oom_kill")

    def _event_count(self, name: str) -> int:
        """Return a count of `memory.events` by name; `oom` counts only the group's own limit, not those above it."""
        with contextlib.suppress(OSError):
            for line in (self._folder / "memory.events").read_text(encoding="ascii").splitlines():
                if line.split()[:1] == [name]:
                    return int(line.split()[1])
        return 0

    def remove(self) -> None:
        """Kill all processes of the group and remove it; one that is not empty in time is left, without an error."""
        if self._stat >= 0:
            os.close(self._stat)
            self._stat = -1
        with contextlib.suppress(OSError):
            self._write("cgroup.kill", 1)
        deadline_s = time.monotonic() + _REMOVE_S
        while self._folder.exists() and time.monotonic() < deadline_s:
            try:
                self._folder.rmdir()
            except OSError:  # it is not empty yet
                time.sleep(0.001)

    def _write(self, name: str, value: int) -> None:
        """Write a value to a file of the group."""
        (self._folder / name).write_text(str(value), encoding="ascii")


def audited_clock(
    fast: Callable[[], float], group: Callable[[], float], wall: Callable[[], float] = time.monotonic
) -> Callable[[], float]:
    """Return a clock of CPU seconds that adds to a fast clock, which a bot might escape, what only its group counts.

    Reads the group at most every 2 ms. The largest excess of the group over the fast clock is added from then on.
    """
    beyond_s, audited_s = 0.0, -_AUDIT_S

    def used_s() -> float:
        """Return the seconds of the fast clock and the largest excess of the group so far; audits if that is due."""
        nonlocal beyond_s, audited_s
        now_s = wall()
        if now_s - audited_s >= _AUDIT_S:
            audited_s = now_s
            counted_s = group()  # before the fast clock: CPU time between the two readings must not count as excess
            beyond_s = max(beyond_s, counted_s - fast())
        return fast() + beyond_s

    return used_s


def make_group(limits: Limits) -> Group | None:
    """Make a control group with these limits; None if no part of the tree was delegated."""
    base = delegated_group()
    return None if base is None else Group(base / f"arena-{os.getpid()}-{next(_numbers)}", limits)


def setting() -> str:
    """Return the value of ARENA_CGROUP: `auto`, `no` or `required`; raises SpecError for any other."""
    value = os.environ.get(SETTING) or "auto"
    if value not in ("auto", "no", "required"):
        raise SpecError(f"environment variable {SETTING}: expected auto, no or required, found {value}")
    return value


@cache
def delegated_group() -> Path | None:
    """Return the group in which groups for bots can be made; None if none was delegated or ARENA_CGROUP is `no`."""
    return find() if setting() != "no" else None


def find(root: Path = _ROOT) -> Path | None:
    """Find the delegated group and prepare it, past the cache of `delegated_group`; None without one.

    `root`: the root of the file system, another one in tests.
    """
    try:
        group = own_group(root)
        if group is None:
            return None
        base = group.parent if group.name == _HARNESS else group
        if not has_limits(base) or not _is_delegated_to_us(base, group, root):
            return None
        _prepare_for_children(base, group)
    except OSError:
        return None
    return base


def own_group(root: Path = _ROOT) -> Path | None:
    """Return the folder of this process's control group; None if the machine has no tree of version 2."""
    return next(iter(group_folders(root=root)), None)


def has_limits(folder: Path) -> bool:
    """Return True if groups below `folder` can have limits of memory and tasks."""
    with contextlib.suppress(OSError):
        return _read_words(folder / "cgroup.controllers") >= NEEDED
    return False


def _is_delegated_to_us(base: Path, own: Path, root: Path) -> bool:
    """Return True if `base` was delegated to this user, so that nobody else manages it.

    Without systemd root may use a group that is set up for children, or that contains this process alone.
    """
    uid = os.geteuid()
    if uid == 0 and not (root / SYSTEMD).is_dir():
        is_set_up = own.name == _HARNESS or _read_words(base / "cgroup.subtree_control") >= NEEDED
        return is_set_up or _read_words(base / "cgroup.procs") == {str(os.getpid())}
    is_marked = False
    with contextlib.suppress(OSError):  # systemd marks a delegated group with this attribute
        is_marked = os.getxattr(base, "user.delegate" if uid else "trusted.delegate") == b"1"
    if uid == 0:
        return is_marked
    is_boundary = base.parent.stat().st_uid != uid
    return base.stat().st_uid == uid and (is_boundary or is_marked or _unit_delegates(base.name, root))


def _unit_delegates(unit: str, root: Path) -> bool:
    """Return True if a unit of the user's own systemd has `Delegate=yes`; an older systemd sets no attribute."""
    units = root / "run/user" / str(os.geteuid()) / "systemd/transient"
    texts = [file.read_text("utf-8") for file in (units / unit, *units.glob(f"{unit}.d/*.conf")) if file.is_file()]
    return any(re.search(r"^Delegate=(yes|.*memory)", text, re.MULTILINE) for text in texts)


def _prepare_for_children(base: Path, own: Path) -> None:
    """Let children of `base` have limits; for that move the harness into a child. Remove leftover groups of bots."""
    if own == base and not _read_words(base / "cgroup.subtree_control") >= NEEDED:
        (base / _HARNESS).mkdir(exist_ok=True)
        for pid in (base / "cgroup.procs").read_text(encoding="ascii").split():
            with contextlib.suppress(ProcessLookupError):
                (base / _HARNESS / "cgroup.procs").write_text(pid, encoding="ascii")
        control = " ".join(f"+{name}" for name in sorted(NEEDED))
        (base / "cgroup.subtree_control").write_text(control, encoding="ascii")
    for folder in base.iterdir():  # groups of bots whose referee was killed
        match = _OF_A_BOT.fullmatch(folder.name)
        if match and not Path("/proc", match[1]).exists():
            with contextlib.suppress(OSError):
                folder.rmdir()  # which fails while anybody is in it


def _read_words(file: Path) -> set[str]:
    """Return the words in a file of a control group."""
    return set(file.read_text(encoding="ascii").split())
