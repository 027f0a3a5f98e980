"""Fair clocks under load: two honest bots that use 80 % of each move's budget, while others keep the cores busy.

Rule: no bank, so that one slow move would show as a forfeit; the bots count their own CPU time, as the referee does.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from benchbots import own_bot
from tables import Figure, Goal, Row, Table

from arena.league.driver import LocalBackend, play_jobs
from arena.league.exhibition import exhibition
from arena.league.schedule import jobs
from arena.league.tournament import Player
from arena.match.columns import PlayedBlock
from arena.match.record import unpack
from arena.match.results import MatchResult
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings

CLOCK: Final = ClockSettings(move_ms=20.0, bank_ms=0.0)
_NONE: Final = Goal("<=", 0)
_WORKERS: Final = (1, 2, 4)


def measure(_: Path, *, is_quick: bool) -> list[Table]:
    """Measure forfeits and times by number of workers."""
    matches = 40 if is_quick else 200
    cores = len(os.sched_getaffinity(0))
    rows: list[Row] = []
    for busy in (0, cores):
        with _busy_programs(busy):
            rows += [_row(workers, busy, matches) for workers in _WORKERS]
    headers = (
        "workers",
        "other busy\nprograms",
        "matches",
        "time\nforfeits",
        "move, CPU ms\nmedian of slowest",
        "move, CPU ms\nslowest",
        "the match, wall\nover CPU",
        "s",
    )
    notes = (
        f"each move has {CLOCK.move_ms:g} ms of CPU time and no bank; each bot uses 80 % of it; {cores} cores",
        "wall over CPU: how much longer the matches took by the clock on the wall than the bots were charged",
    )
    return [Table(title="Fair clocks under load", headers=headers, rows=tuple(rows), notes=notes)]


def _row(workers: int, busy: int, matches: int) -> Row:
    begun_s = time.monotonic()
    results, stretch = play_thinkers(workers, matches)
    slowest = [max(result.slowest_us) / 1e3 for result in results]
    late = sum(result.termination == "timeout" for result in results)
    others = sum(result.termination not in {"normal", "timeout"} for result in results)
    return (
        str(workers),
        str(busy),
        f"{len(results)}" + (f" ({others} failed otherwise)" if others else ""),
        Figure(late, 0, _NONE),
        Figure(median(slowest), 2),
        Figure(max(slowest), 2),
        Figure(stretch, 2),
        Figure(time.monotonic() - begun_s, 1),
    )


def play_thinkers(workers: int, matches: int) -> tuple[list[MatchResult], float]:
    """Play the matches; return their results, and the ratio of wall time to CPU time of all moves."""
    bot = own_bot("thinker.py")
    players = (Player(name="thinker-1", bot=bot), Player(name="thinker-2", bot=bot))
    options = {"heaps": [2, 2, 2]}
    tournament = exhibition(
        players, game="nim", options=options, clock=CLOCK, secret=Secret.public("fair"), blocks=matches // 2
    )
    small = msgspec.structs.replace(tournament, chunk_blocks=5)  # so that all workers have something to do
    played: list[PlayedBlock] = []
    play_jobs([jobs(small, {})], LocalBackend(workers), commit=played.extend)
    results = [match for block in played for match in block.results]
    seats = [seat for block in played for match in block.results for seat in unpack(match.record).seats]
    return results, sum(seat.wall_ms for seat in seats) / sum(seat.cpu_ms for seat in seats)


@contextlib.contextmanager
def _busy_programs(count: int) -> Iterator[None]:
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()
