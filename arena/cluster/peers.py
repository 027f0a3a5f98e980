"""The workers as the driver knows them: the jobs that each has, how far they are, and how long it may be silent.

Rule: a worker that answers but finishes no match is given up. The time allowed follows from the clock of the match and
from the time that matches took so far; a job whose worker was given up has twice as long at the next attempt.
"""

import asyncio
import uuid
from collections import Counter
from concurrent.futures import Future
from typing import Any, Final

from arena.cluster.messages import AnyJob
from arena.league.schedule import Job
from arena.league.worker import ATTEMPTS, OnFinished
from arena.match.columns import Machine

_MOVES: Final = 100
"""Moves of each seat, each with all its wall time: few matches are longer."""
_TIMES: Final = 20
"""Multiple of the recent time per match: no match is longer."""


class OpenJob:
    """A job with its future, and the number of its matches that are finished."""

    def __init__(self, job: AnyJob, on_finished: OnFinished, future: "Future[Any]") -> None:
        self.job, self.future, self.finished = job, future, 0
        self._on_finished = on_finished

    @property
    def is_suspect(self) -> bool:
        """True at the last attempt, after workers died: the job is dealt alone, so that one more death is its own."""
        return self.job.attempt >= ATTEMPTS

    @property
    def left(self) -> int:
        """Number of matches still to play."""
        return self.job.matches - self.finished

    def progress(self, finished: int) -> None:
        """Set the number of finished matches to what a worker reports, bounded by the job's matches."""
        self.finished = max(0, min(finished, self.job.matches))
        self._on_finished(self.finished)


class WorkerLost(Exception):
    """The loss of a worker. `is_death`: the worker died, perhaps of its jobs; otherwise its jobs are not to blame."""

    def __init__(self, text: str, *, is_death: bool) -> None:
        super().__init__(text)
        self.is_death = is_death


class Peer:
    """A worker with its session and its jobs, by attempt. `heard_s`: the time of its last progress."""

    def __init__(self, address: str, name: str, scheduler: str) -> None:
        self.address, self.name, self.scheduler = address, name, scheduler
        self.session = uuid.uuid4().hex
        self.machine = Machine("", 0.0)
        self.is_ready = False
        self.jobs: dict[str, OpenJob] = {}
        self.missing_bots: tuple[str, ...] = ()
        self.match_s = 0.0
        self.heard_s = 0.0
        self.gone = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    @property
    def left(self) -> int:
        """Number of matches that the worker has still to play."""
        return sum(job.left for job in self.jobs.values())


class MatchTimeLimit:
    """The rule for the seconds within which a worker has to finish a match."""

    def __init__(self, least_s: float) -> None:
        self._least_s, self._slowest_s = least_s, 0.0
        self._losses: Counter[tuple[str, int]] = Counter()

    def note_match(self, match_s: float) -> None:
        """Note a worker's recent average of seconds a match; the slowest ever noted counts."""
        self._slowest_s = max(self._slowest_s, match_s)

    def for_job(self, open_job: OpenJob) -> float:
        """Return the seconds allowed for a match of this job, by its clock and the slowest match so far.

        They double with each loss of the job.
        """
        moves_s, job = 0.0, open_job.job
        if isinstance(job, Job):
            clock = job.settings.clock
            moves_s = _MOVES * len(job.pairing.players) * clock.terms().wall_ms / 1000 + clock.startup_ms / 1000
        return float(max(self._least_s, moves_s, _TIMES * self._slowest_s) * 2 ** self._losses[job.key])

    def double(self, open_job: OpenJob) -> None:
        """Record that a worker was given up over this job, which doubles the time allowed."""
        self._losses[open_job.job.key] += 1
