"""The driver of a league alone: worker processes that play nothing hand over made-up matches, which are stored.

Rule: all that a league does in its own process is in it: drawing blocks, the window of jobs, transactions, progress.
"""

import contextlib
import os
import struct
import time
from concurrent.futures import Future
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from benchbots import own_bot
from measure import error_of_median
from tables import Figure, Goal, Table

from arena.league.driver import PlayedBlocks
from arena.league.schedule import Job
from arena.league.state import ScheduleRunner
from arena.league.tournament import Player, Tournament
from arena.league.worker import OnFinished
from arena.match.columns import PlayedBlock
from arena.match.record import join_packed
from arena.match.settings import ClockSettings
from arena.operations.run_league import LeagueRun
from arena.process.workers import Workers
from arena.standings.ratings import RatingSettings
from arena.store import database
from arena.store.matches import MatchStore

_GOAL: Final = Goal(">=", 10_000)
_PLAYERS: Final = 8
_RECORD_BYTES: Final = 1500
"""The size of a compressed record at Shanghaien."""
_US: Final = 1e6
_ENDS: Final = msgspec.json.encode([("normal", None, "sandbox", "1", 1, ())] * 2).decode()
_NUMBERS: Final = struct.pack("<32i", *(9, 5, 5, 9), *(7, -7) * 2, *(62,) * 4, *(9000,) * 4, *(400,) * 4, *(0,) * 12)


def played_by_nobody(job: Job, _: OnFinished) -> PlayedBlocks:
    """Return all blocks of a job at once, with records of random bytes."""
    return [_block(job, fixture.block) for fixture in job.fixtures]


def _block(job: Job, number: int) -> PlayedBlock:
    bodies = [os.urandom(_RECORD_BYTES) for _ in job.pairing.players]
    records = tuple(join_packed("zlib", sha256(body[:32]).hexdigest(), body) for body in bodies)
    return PlayedBlock(job.pairing.key, number, job.pairing.names, "0101", _ENDS, _NUMBERS, records)


class IdleBackend:
    """A backend with worker processes as in a league, which play nothing."""

    def __init__(self, workers: int) -> None:
        self._workers = Workers(workers, preload=played_by_nobody.__module__)
        self.slots = workers

    def submit(self, job: Job, on_finished: OnFinished) -> "Future[PlayedBlocks]":
        """See Backend.submit."""
        return self._workers.submit(played_by_nobody, job, on_finished)

    def close(self, *, is_interrupted: bool) -> None:
        """End the workers."""
        self._workers.close(is_interrupted=is_interrupted)


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Measure matches a second through one store, and the CPU time of the league's own process."""
    cycles, rounds = (100, 1) if is_quick else (500, 5)
    runs = [_run(scratch / f"driver-{number}", cycles) for number in range(rounds)]
    per_s, cpu_us = ([run[column] for run in runs] for column in (0, 1))
    row = (
        "two players a match",
        Figure(median(per_s), 0, _GOAL, error_of_median(per_s)),
        Figure(median(cpu_us), 1, error=error_of_median(cpu_us)),
    )
    matches = _PLAYERS * (_PLAYERS - 1) * cycles
    notes = (
        f"{matches:,} matches of {_PLAYERS} players in jobs of 20 blocks, records of {_RECORD_BYTES} bytes, 2 workers",
        "with their start and the end of the run; every transaction is synced",
    )
    headers = ("the driver alone", "matches/s", "CPU us a match,\nown process")
    return [Table(title="Driver: matches through one store", headers=headers, rows=(row,), notes=notes)]


def _run(results: Path, cycles: int) -> tuple[float, float]:
    """Run the league; return matches a second, and microseconds of CPU time a match."""
    bot = own_bot("instant.py")
    tournament = Tournament(
        name="driver",
        game="nim",
        options={},
        players=tuple(Player(name=f"p{number}", bot=bot) for number in range(_PLAYERS)),
        seed="1",
        cycles=cycles,
        chunk_blocks=20,
        clock=ClockSettings(),
        rating=RatingSettings(),
    )
    with contextlib.closing(database.open_for_writing(results)) as connection:
        store = MatchStore(connection, results)
        store.save_league(tournament)
        run = LeagueRun(store, ScheduleRunner(tournament, store.ranks), None, "none")
        start_s, start_cpu_s = time.perf_counter(), time.process_time()
        assert run.play(IdleBackend(2)) is None
        took_s, cpu_s = time.perf_counter() - start_s, time.process_time() - start_cpu_s
        matches = store.head().size
    assert matches == run.progress.total == _PLAYERS * (_PLAYERS - 1) * cycles
    return matches / took_s, cpu_s / matches * _US
