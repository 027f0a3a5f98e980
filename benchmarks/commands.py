"""Section 5: how long a person waits for the program to start, and for the answers of a bot in a stored match.

The stopwatch for whole commands is here, too.
"""

import os
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from measure import interleaved, ratio
from tables import Figure, Goal, Table

_GOAL: Final = Goal("<", 0.15)
_STORED_GOAL: Final = Goal("<", 1.0)
_LEAGUE: Final = """\
name: lost
game: shanghaien
players: [{bot: random, name: one}, {bot: random, name: two}]
cycles: 1
"""
_PROGRAM: Final = Path(sys.executable).parent / "arena"
ARENA: Final = (str(_PROGRAM),) if _PROGRAM.exists() else (sys.executable, "-m", "arena")
"""The command line of the program: its console script, if it is installed beside this Python."""
_ENVIRONMENT: Final = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""An installed program is compiled once, not at each start."""


def wall_s(*command: str) -> float:
    """Return the wall seconds of a whole command; AssertionError with its stderr if it fails."""
    start_s = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=_ENVIRONMENT)
    elapsed_s = time.perf_counter() - start_s
    assert done.returncode == 0, f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()[-500:]}"
    return elapsed_s


def cpu_s(*command: str) -> float:
    """Return the CPU seconds, user and system, of a whole command, without its output; AssertionError if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False, env=_ENVIRONMENT
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()[-500:]}"
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Measure the start of the program, and the commands for a lost match."""
    return [_starts(is_quick=is_quick), _lost_match(scratch, is_quick=is_quick)]


def _starts(*, is_quick: bool) -> Table:
    """Measure the median wall time of `arena --help` beside those of Python and click alone."""
    commands = {
        "python -c pass": (sys.executable, "-c", "pass"),
        'python -c "import click"': (sys.executable, "-c", "import click"),
        "arena --help": (*ARENA, "--help"),
    }
    rounds = 7 if is_quick else 20
    samples = interleaved({name: partial(wall_s, *command) for name, command in commands.items()}, rounds)
    rows = tuple(
        (
            name,
            Figure(median(times), 3, _GOAL if name == "arena --help" else None),
            f"{min(times):.3f}-{max(times):.3f}",
            Figure(ratio(times, samples["python -c pass"]), 2),
        )
        for name, times in samples.items()
    )
    headers = ("start of a command", "median s", "min-max s", "/ python\n-c pass")
    notes = (f"{rounds} starts of each in turns; load {os.getloadavg()[0]:.1f}",)
    return Table(title="Start-up", headers=headers, rows=rows, notes=notes)


def _lost_match(scratch: Path, *, is_quick: bool) -> Table:
    """Measure the median CPU time of `arena show --lines` and `arena ask` for a match of instant bots."""
    file, results = scratch / "lost.yaml", ("--results", str(scratch / "lost"))
    file.write_text(_LEAGUE, encoding="utf-8")
    wall_s(*ARENA, "league", "run", str(file), *results)
    listed = subprocess.run((*ARENA, "league", "matches", "lost", *results), capture_output=True, text=True, check=True)
    match = listed.stdout.split()[0]
    commands = {
        "arena show MATCH --lines one": (*ARENA, "show", match, "--lines", "one", *results),
        "arena ask random MATCH --as one": (*ARENA, "ask", "random", match, "--as", "one", *results),
    }
    rounds = 5 if is_quick else 15
    samples = interleaved({name: partial(cpu_s, *command) for name, command in commands.items()}, rounds)
    rows = tuple((name, Figure(median(times), 2, _STORED_GOAL)) for name, times in samples.items())
    notes = (f"{rounds} runs of each in turns; CPU time of all processes, which an idle machine shows as wall time",)
    return Table(title="A lost match", headers=("command", "median s CPU"), rows=rows, notes=notes)
