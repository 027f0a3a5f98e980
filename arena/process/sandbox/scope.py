"""A part of the tree of control groups, asked of systemd for this process: a scope with `Delegate=yes`.

Rule: the process itself moves; nothing is started anew, so terminal, signals, standard streams and exit code stay as
they are. No process is moved to where it would end sooner: a scope of a user's own systemd ends with that, at logout
unless lingering is enabled. Each refusal has a reason and an advice, for `arena doctor`.
"""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena.process.sandbox import cgroup
from arena.process.shortage import group_folders

_ROOT: Final = Path("/")
_ASK_S: Final = 10.0
"""Longest wait for the answer of systemd; it takes some milliseconds."""
_MOVE_S: Final = 5.0
"""Longest wait for systemd to move this process after its answer."""
_TICK_S: Final = 0.002
BY_HAND: Final = "`systemd-run --user --scope -p Delegate=yes arena ...`"
_MULTIPLEXERS: Final = ("TMUX", "STY")
_CALL: Final = (
    "org.freedesktop.systemd1",
    "/org/freedesktop/systemd1",
    "org.freedesktop.systemd1.Manager",
    "StartTransientUnit",
    "ssa(sv)a(sa(sv))",
)
_PREFERENCE: Final = ("ManagedOOMPreference", "s", "omit")
"""Tells systemd-oomd not to kill the league because a bot's own group is short of memory."""


def enter(root: Path = _ROOT) -> str:
    """Get a delegated group for this process, unless it has one; return why not, with an advice, or an empty text.

    Raises SpecError for an invalid ARENA_CGROUP.
    """
    if cgroup.setting() == "no":
        return f"switched off by {cgroup.SETTING}=no"
    if cgroup.delegated_group() is not None:
        return ""
    reason = obstacle(root) or _ask_systemd()
    if not reason:
        cgroup.delegated_group.cache_clear()
        if cgroup.delegated_group() is None:
            reason = f"systemd made a scope that cannot be used; try {BY_HAND}"
    return reason


def obstacle(root: Path = _ROOT) -> str:
    """Return why systemd cannot be asked for a scope, with an advice; empty if it can."""
    return next(_obstacles(root, os.geteuid()), "")


def _obstacles(root: Path, uid: int) -> Iterator[str]:
    """Yield the reasons why systemd cannot be asked for a scope, each with an advice."""
    folders = group_folders(root=root)
    if not folders or not cgroup.has_limits(mount := folders[-1]):
        yield (
            "this machine has no control groups of version 2 that count memory;"
            " with systemd, boot with `systemd.unified_cgroup_hierarchy=1`"
        )
        return
    if not (root / cgroup.SYSTEMD).is_dir():
        yield "no systemd runs here to hand a group over; start arena in a writable control group of its own"
    if shutil.which("busctl") is None:
        yield f"busctl, a part of systemd, is missing; try {BY_HAND}"
    if uid:
        name, runtime_folder = user_name(uid), root / "run/user" / str(uid)
        if not (runtime_folder / "systemd").is_dir():
            yield f"no systemd of your own runs; log in as {name} (not by su), or `loginctl enable-linger {name}`"
        if not (runtime_folder / "bus").exists():
            yield "your own systemd has no bus; `apt-get install dbus-user-session`, then log in again"
        if not cgroup.has_limits(mount / f"user.slice/user-{uid}.slice/user@{uid}.service"):
            yield "your own systemd may not limit memory; `systemctl edit user@.service`, add [Service] Delegate=yes"
        if not _outlives_logout(root, uid):
            yield (
                "your own systemd ends when you log out, and a command in the background shall not end with it;"
                f" `loginctl enable-linger {name}`"
            )
    group = cgroup.own_group(root)
    units = [part for part in group.parts if part.endswith((".service", ".scope", ".slice"))] if group else []
    if units and units[-1].endswith(".service"):  # not in a session or another scope
        yield f"arena runs as part of {units[-1]}, which it shall not leave; add `Delegate=yes` to its [Service]"


def _outlives_logout(root: Path, uid: int) -> bool:
    """Return True if a move to a scope of its user's systemd could not shorten this process's life.

    That systemd outlives a logout, or the process belongs to it already, or a logout ends the process anyway.
    """
    group = cgroup.own_group(root)
    if group is not None and f"user@{uid}.service" in group.parts:
        return True
    return (root / "var/lib/systemd/linger" / user_name(uid)).exists() or _ends_with_its_terminal()


def _ends_with_its_terminal() -> bool:
    """Return True if a logout would end this process anyway: in the foreground of a terminal, no nohup, no tmux."""
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN or any(map(os.environ.get, _MULTIPLEXERS)):
        return False
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _ask_systemd() -> str:
    """Ask systemd for a scope around this process and wait for the move; return why that failed, or an empty text."""
    before = cgroup.own_group()
    if refusal := _start_unit(*_PREFERENCE) and _start_unit():  # systemd before 248 knows no preference
        return f"systemd refused a scope ({refusal}); try {BY_HAND}"
    deadline_s = time.monotonic() + _MOVE_S
    while cgroup.own_group() == before:
        if time.monotonic() > deadline_s:
            return f"systemd did not move this process into its scope within {_MOVE_S:.0f} s; try {BY_HAND}"
        time.sleep(_TICK_S)
    return ""


def _start_unit(*preference: str) -> str:
    """Ask systemd to start a scope with this process; return its error, empty if there is none."""
    uid, pid = os.geteuid(), str(os.getpid())
    properties = [
        *("Description", "s", f"arena, with a control group for each bot ({Path(sys.argv[0]).name})"),
        *("PIDs", "au", "1", pid),
        *("Delegate", "b", "true"),
        *("CollectMode", "s", "inactive-or-failed"),
        *preference,
    ]
    name, many = f"arena-{pid}-{secrets.token_hex(4)}.scope", str(4 + bool(preference))
    command = [
        "busctl",
        "--user" if uid else "--system",
        "--quiet",
        "call",
        *_CALL,
        name,
        "fail",
        many,
        *properties,
        "0",
    ]
    environment = {**os.environ, "LC_ALL": "C"}
    if uid:
        environment["XDG_RUNTIME_DIR"] = f"/run/user/{uid}"
        environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path=/run/user/{uid}/bus"
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_S,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or f"busctl ended with exit code {done.returncode}"


def user_name(uid: int) -> str:
    """Return the name of a user; their number if they have none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
