"""Checks of the machine, and the result of a check: a status and a sentence; a bad result has an advice.

System, cores, clocks, descriptors, and the disk under the results.
"""

import contextlib
import math
import os
import platform
import resource
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Literal, NamedTuple

from arena import __version__
from arena.errors import SpecError
from arena.games import bundled_names, load_game
from arena.games.api import simulator_of
from arena.process.clock import CpuClock
from arena.process.cores import free_cores, usable_cores
from arena.process.limits import Limits
from arena.process.room import lack_of_room, matches_that_fit, room_for
from arena.process.shortage import free_memory
from arena.text import counted

_NETWORK: Final = {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "afs", "ceph"}
_SLOW_MS: Final = 100
_SPEED_LOOPS: Final = 3
_SPEED_STEPS: Final = 200_000
_SPARE_LOAD: Final = 0.5
"""Load that does not count: that of an idle machine is seldom 0."""
_OF_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_PRIVATE: Final = ("arena.db", "arena.db-wal", "bots", "logs", "secrets")
_WIDTH: Final = 99
_INDENT: Final = " " * 8


class CheckResult(NamedTuple):
    """The result of one check.

    `ok`: as it should be; `note`: to be known, a league can be run; `WEAK`: less safe than it could be, a league can be
    run; `BAD`: bots cannot be run safely.
    """

    status: Literal["ok", "note", "WEAK", "BAD"]
    text: str

    def lines(self) -> list[str]:
        """Return the result as lines for a terminal of a hundred columns; lines of the text stay lines."""
        wrapper = textwrap.TextWrapper(_WIDTH, f"  {self.status:<4}  ", _INDENT)
        wrapper.break_long_words = wrapper.break_on_hyphens = False
        lines: list[str] = []
        for part in self.text.splitlines():
            lines += wrapper.wrap(part)
            wrapper.initial_indent = _INDENT
        return lines


ok = partial(CheckResult, "ok")
note = partial(CheckResult, "note")
weak = partial(CheckResult, "WEAK")
bad = partial(CheckResult, "BAD")


def checked(title: str, check: Callable[[], Iterable[CheckResult]]) -> list[CheckResult]:
    """Return the results of `check`; if it raises an exception, only a note with that."""
    try:
        return list(check())
    except Exception as error:  # noqa: BLE001 - any trouble of this machine
        return [note(f"{title}: cannot be told here: {type(error).__name__}: {error}")]


def system() -> Iterator[CheckResult]:
    """Report the versions of the programs that leagues depend on."""
    versions = f"arena {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    yield ok(f"{versions}, Linux {platform.release()}")


def games() -> Iterator[CheckResult]:
    """Report arena's own games that can be played, and each that lacks its engine; plug-ins are not loaded."""
    playable: list[str] = []
    missing: list[CheckResult] = []
    for name in bundled_names():
        simulator = simulator_of(load_game(name))
        try:
            playable.append(name if simulator is None else f"{name} ({simulator.fingerprint()['engine']})")
        except SpecError as error:
            missing.append(note(f"{name} cannot be played: {error}"))
    yield ok(f"games: {', '.join(playable)}")
    yield from missing


def cores() -> Iterator[CheckResult]:
    """Report cores, free memory, load, room for matches, and cores claimed by other commands; note a high load."""
    count, load = len(usable_cores()), os.getloadavg()[0]
    yield ok(f"{counted(count, 'core')}, {free_memory() / 2**30:.1f} GiB of memory free, load {load:.1f}")
    yield from _check_room(count)
    if count > 1:
        free = len(free_cores())
        text = "each worker of a league and its bots keep to one core, where that is enough"
        taken = f"{text}; other arena commands have claimed {count - free} of {count}: workers beyond that use any core"
        yield ok(text) if free == count else note(taken)
    if load > count * 0.75:
        yield note("other work keeps the cores busy: a league takes longer; CPU time, which decides, stays fair")


def _check_room(cores: int) -> Iterator[CheckResult]:
    """Report how many workers fit, with two bots each that use all of the default limits."""
    usual = [Limits()] * 2
    fitting, need = matches_that_fit(usual), room_for(usual, workers=1)
    if fitting < 1:
        yield note(f"no worker fits with two bots of the usual limits: {lack_of_room(need)}")
        return
    limits = f"{usual[0].memory_mib} MiB and {usual[0].tasks} tasks"
    text = f"room for {counted(fitting, 'worker')} with two bots of {limits}"
    yield ok(text) if fitting >= cores else note(f"{text}, fewer than cores: leagues start no more")


def speed() -> float:
    """Measure the speed of this machine: million steps of a Python loop per CPU second, the best of three."""
    least_s = math.inf
    for _ in range(_SPEED_LOOPS):
        start_s, total = time.thread_time(), 0
        for number in range(_SPEED_STEPS):
            total = (total * 31 + number) & 0xFFFF_FFFF
        least_s = min(least_s, time.thread_time() - start_s)
    return _SPEED_STEPS / least_s / 1e6


def doubt_of_wall_time(decided: Sequence[str], matches: int) -> str:
    """Return a warning if wall time decides for some players, and `matches` at once and the load exceed the cores.

    `decided`: the names of these players. Empty if there is nothing to warn of.
    """
    count, load = len(usable_cores()), os.getloadavg()[0]
    if not decided or matches + load <= count + _SPARE_LOAD:
        return ""
    return (
        f"WARNING: wall time decides for {', '.join(decided)}, and this machine has too much to do for that:"
        f" {counted(matches, 'match', 'matches')} at once and other work (load {load:.1f}) on"
        f" {counted(count, 'core')}. Time for which a bot waits for a core counts as its own. Use fewer `--workers`,"
        " end the other work, or let CPU time decide."
    )


def clocks() -> Iterator[CheckResult]:
    """Start `sleep` for a moment, and check that its CPU clock can be read: it is small, not 0, and stands still."""
    sleeper = subprocess.Popen(["sleep", "5"])  # noqa: S607 - found on the PATH like every bot's program
    try:
        time.sleep(0.05)
        read = CpuClock(sleeper.pid)
        used_ms = read() * 1000
        moved_ms = read() * 1000 - used_ms
    finally:
        sleeper.kill()
        sleeper.wait()
    if 0 < used_ms < 50 and moved_ms < 1:
        yield ok("the CPU time of bots can be read")
    else:
        yield note("the CPU time of bots cannot be read: let wall time decide, `clock: {decides: wall}` in tournaments")


def descriptors() -> Iterator[CheckResult]:
    """Note a low limit of open files; a match needs some twenty."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 256:
        yield note(f"only {soft} files may be open at once: `ulimit -n 1024`")


def tools() -> Iterator[CheckResult]:
    """Note a missing program that would help without the sandbox."""
    if not shutil.which("setpriv"):
        yield note("no setpriv (util-linux): with `--isolation none`, bots of a killed arena live on for a while")


def disk(results: Path) -> Iterator[CheckResult]:
    """Check the disk of the results with one durable write, as each batch of matches needs one.

    The write is to a temporary file, in the nearest folder that exists if `results` does not.
    """
    place = next(place for place in [results, *results.absolute().parents] if place.is_dir())
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            start_s = time.monotonic()
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            took_ms = (time.monotonic() - start_s) * 1000
        free_gib = shutil.disk_usage(place).free / 2**30
    except OSError as error:
        yield note(f"nothing can be stored in {place} ({error.strerror}): choose another folder with --results")
        return
    kind = _file_system(place.resolve())
    where = f"{place}, {kind}" if kind else str(place)
    summary = f"{free_gib:.0f} GiB free for results ({where}), {took_ms:.0f} ms for a durable write"
    if kind in _NETWORK:
        yield note(f"{summary}: databases are not safe on a network's disk; choose a local one with --results")
    elif took_ms > _SLOW_MS or free_gib < 1:
        yield note(f"{summary}: slow or nearly full; choose another disk with --results")
    else:
        yield ok(summary)


def privacy(results: Path) -> Iterator[CheckResult]:
    """Yield a warning if other users may read bots, secrets or private actions in the results; else nothing.

    They may not if the folder itself is closed to them, or does not exist.
    """
    with contextlib.suppress(FileNotFoundError):
        paths = [path for path in map(results.joinpath, _PRIVATE) if path.exists() and path.stat().st_mode & _OF_OTHERS]
        if paths and results.stat().st_mode & _OF_OTHERS:
            names = ", ".join(path.name for path in paths)
            yield weak(f"other users of this machine may read {names} in {results}: `chmod -R go= {results}`")


def _file_system(place: Path) -> str:
    """Return the file system of the last and longest mount that contains `place`; empty if unknown."""
    mounts: list[list[str]] = []
    with contextlib.suppress(OSError):
        mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    kinds = [(len(mount), number, kind) for number, (mount, kind) in enumerate(mounts) if place.is_relative_to(mount)]
    return max(kinds, default=(0, 0, ""))[2]
