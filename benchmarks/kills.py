"""`python benchmarks/kills.py NAME ...`: what `kill -9` costs a league in matches and in time.

Each tournament is run anew with two workers and killed at a random moment. Lost is what the line of progress had as
finished and the results have not; the seconds are those in which the same workers play so many matches.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import click
from measure import error_of_median
from tables import Figure, Row, Table

from arena.bundled import find_tournament
from arena.errors import SpecError
from arena.operations.leagues import load_league
from arena.store.folder import open_store

_WORKERS: Final = 2


class KilledRun(NamedTuple):
    """A run that was killed: matches finished, matches stored, and seconds from the first match on."""

    finished: int
    stored: int
    seconds: float

    @property
    def lost(self) -> int:
        """The number of matches to play again."""
        return max(0, self.finished - self.stored)

    @property
    def lost_s(self) -> float:
        """The seconds that the lost matches took."""
        return self.lost * self.seconds / max(1, self.finished)


@click.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--kills", default=12, help="Of each tournament.")
@click.option("--within", type=(float, float), default=(3.0, 15.0), help="Seconds after the first match.")
def main(names: tuple[str, ...], kills: int, within: tuple[float, float]) -> None:
    """Kill leagues and print what that cost."""
    drawn = random.Random(1)
    print(
        f"{kills} kills of each, {within[0]:g} to {within[1]:g} s after the first match, {_WORKERS} workers", flush=True
    )
    rows = tuple(_row(name, [_kill(name, drawn.uniform(*within)) for _ in range(kills)]) for name in names)
    headers = ("tournament", "matches lost", "at most", "seconds lost", "at most")
    print(Table(title="kill -9", headers=headers, rows=rows, notes=("medians, +- 95 % interval of the median",)).text())


def _row(name: str, killed: list[KilledRun]) -> Row:
    lost, lost_s = [float(run.lost) for run in killed], [run.lost_s for run in killed]
    return (
        name,
        Figure(median(lost), 0, error=error_of_median(lost)),
        Figure(max(lost), 0),
        Figure(median(lost_s), 1, error=error_of_median(lost_s)),
        Figure(max(lost_s), 1),
    )


_RUN: Final = """
import os, pathlib, sys
from arena.operations.run_league import RunLeague, run_league

def on(event):
    if hasattr(event, "counts"):
        os.write(int(sys.argv[1]), b"%d\\n" % event.done)

run_league(RunLeague(tournament=sys.argv[2], workers=int(sys.argv[3]), results=pathlib.Path(sys.argv[4])), on)
"""
"""A program that runs a league and writes its counts to a pipe."""


def _kill(name: str, after_s: float) -> KilledRun:
    """Run the tournament until `after_s` seconds after its first match, then kill it."""
    with tempfile.TemporaryDirectory(prefix="arena-kills-") as folder:
        results, (reading, writing) = Path(folder) / "results", os.pipe()
        words = [str(writing), str(find_tournament(name)), str(_WORKERS), str(results)]
        run = subprocess.Popen(
            [sys.executable, "-c", _RUN, *words],
            pass_fds=(writing,),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(writing)
        finished, first_s, now_s = 0, 0.0, 0.0
        with os.fdopen(reading, encoding="utf-8") as lines:
            for line in lines:
                finished, now_s = int(line), time.monotonic()
                first_s = first_s or (now_s if finished else 0.0)
                if first_s and now_s - first_s >= after_s:
                    break
        run.send_signal(signal.SIGKILL)
        run.wait()
        in_results = 0
        with contextlib.suppress(SpecError), open_store(results) as store:
            in_results = load_league(store, None).stored
        return KilledRun(finished, in_results, now_s - first_s)


if __name__ == "__main__":
    main()
