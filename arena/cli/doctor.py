"""`arena doctor`: what this machine can do for a league, and what is missing."""

import contextlib
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
from tabulate import tabulate

from arena import __version__
from arena.cli.options import results_option
from arena.errors import HarnessFault
from arena.process.clock import cpu_clock
from arena.process.sandbox import bubblewrap, probe, runtimes

_INTERPRETERS: Final = ("python3", "node", "perl", "cc", "java", "ruby", "lua")
_NETWORK: Final = {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "afs", "ceph"}

Finding = tuple[str, str, str]
"""What was looked at, what was found, and what it means: `ok`, or what to do."""


@click.command()
@results_option
def doctor(results: Path) -> None:
    """Tell what this machine can do: cores, clocks, tools for bots, the disk under the results.

    Example: arena doctor
    """
    checks: list[Callable[[], Finding]] = [
        _versions,
        _cores,
        _load,
        _cpu_clock,
        _parent_death,
        _open_files,
        _memory,
        lambda: _disk(results),
        lambda: _file_system(results),
        _interpreters,
        _isolation,
    ]
    click.echo(tabulate([check() for check in checks], headers=["", "found", "verdict"], disable_numparse=True))


def _versions() -> Finding:
    found = f"arena {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {sys.platform}"
    return "versions", found, "ok" if sys.platform == "linux" else "only Linux is supported: process clocks, /proc"


def _cores() -> Finding:
    count = len(os.sched_getaffinity(0))
    return "cores", str(count), "ok: as many matches at once by default" if count > 1 else "ok: one match at a time"


def _load() -> Finding:
    load = os.getloadavg()[0]
    busy = load > len(os.sched_getaffinity(0)) / 2
    verdict = "other work slows the league; CPU clocks stay fair" if busy else "ok"
    return "load", f"{load:.1f} over the last minute", verdict


def _cpu_clock() -> Finding:
    """The kernel's clock of another process must stand still while that process sleeps."""
    sleeper = subprocess.Popen(["sleep", "5"])  # noqa: S607 - found on the PATH like every bot's program
    try:
        time.sleep(0.05)
        read = cpu_clock(sleeper.pid)
        used_ms = read() * 1000
        moved = read() * 1000 - used_ms
    finally:
        sleeper.kill()
        sleeper.wait()
    verdict = "ok" if 0 < used_ms < 50 and moved < 1 else "the CPU clock cannot be read: use `decides: wall`"
    return "CPU clock", f"{used_ms:.2f} ms for a sleeping process", verdict


def _parent_death() -> Finding:
    path = shutil.which("setpriv")
    verdict = "ok" if path else "install util-linux: bots of a killed worker live on until the next sweep"
    return "setpriv", path or "not found", verdict


def _open_files() -> Finding:
    import resource  # noqa: PLC0415 - Linux only, and only here

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return "open files", f"{soft} (at most {hard})", "ok" if soft >= 256 else "raise it: ulimit -n 1024"


def _memory() -> Finding:
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable"):
                free_mib = int(line.split()[1]) // 1024
                return "free memory", f"{free_mib} MiB", "ok" if free_mib > 512 else "little: use fewer workers"
    return "free memory", "unknown", "cannot read /proc/meminfo"


def _disk(results: Path) -> Finding:
    """One durable write, as each batch of matches costs one."""
    place = _nearest(results)
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            start_s = time.monotonic()
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            took_ms = (time.monotonic() - start_s) * 1000
        free_gib = shutil.disk_usage(place).free / 2**30
    except OSError as error:
        return "disk", f"{place}: {error.strerror}", "results cannot be stored there: choose --results"
    verdict = "ok" if took_ms < 100 and free_gib > 1 else "slow or nearly full: choose --results on another disk"
    return "disk", f"{place}: fsync {took_ms:.1f} ms, {free_gib:.0f} GiB free", verdict


def _file_system(results: Path) -> Finding:
    place = str(_nearest(results).resolve())
    best = ("", "unknown")
    with contextlib.suppress(OSError):
        for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
            _, mount, kind, *_ = line.split()
            if f"{place}/".startswith(f"{mount.rstrip('/')}/") and len(mount) > len(best[0]):
                best = (mount, kind)
    verdict = "SQLite's WAL is not safe there: choose --results on a local disk" if best[1] in _NETWORK else "ok"
    return "file system", f"{best[1]} on {best[0]}", verdict


def _interpreters() -> Finding:
    path = runtimes.search_path()
    there = [name for name in _INTERPRETERS if shutil.which(name, path=path)]
    missing = [name for name in _INTERPRETERS if name not in there]
    verdict = "ok" if not missing else f"bots that need {', '.join(missing)} cannot run here"
    return "for bots", ", ".join(there), verdict


def _isolation() -> Finding:
    try:
        breaches = [f"{what}: {breach}" for what, breach in probe.try_to_break_out().items() if breach]
    except HarnessFault as fault:
        return "sandbox", str(fault), "bots cannot run here but with --isolation none"
    return "sandbox", f"bubblewrap {bubblewrap.version()}", "; ".join(breaches) or "ok"


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next(place for place in [folder, *folder.absolute().parents] if place.is_dir())
