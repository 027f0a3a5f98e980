"""The workers as the driver knows them: the jobs that each has, how far they are, and how long it may be silent.

Rule: a worker that answers and gets nowhere is given up. Its time follows from the clock of the match and from what
matches took so far; a job that came back so has twice as long the next time.
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
"""Of each seat, in all the wall time that a move may take: few matches are longer."""
_TIMES: Final = 20
"""The time of a match of late, so often: no match is longer."""


class OpenJob:
    """A job with its future, and the number of its matches that are finished."""

    def __init__(self, job: AnyJob, on_finished: OnFinished, future: "Future[Any]") -> None:
        self.job, self.future, self.finished = job, future, 0
        self._on_finished = on_finished

    @property
    def is_suspect(self) -> bool:
        """Whether its worker died twice: then it is dealt alone, so that a third death is its own."""
        return self.job.attempt >= ATTEMPTS

    @property
    def left(self) -> int:
        """Matches that are to be played."""
        return self.job.matches - self.finished

    def progress(self, finished: int) -> None:
        """So many matches are finished, by the word of a worker."""
        self.finished = max(0, min(finished, self.job.matches))
        self._on_finished(self.finished)


class Lost(Exception):
    """The worker plays no more for us. `is_death`: it died; otherwise nothing can be said about its jobs."""

    def __init__(self, text: str, *, is_death: bool) -> None:
        super().__init__(text)
        self.is_death = is_death


class Peer:
    """A worker and its session: the jobs that it has, by attempt. `heard_s`: when it last got on."""

    def __init__(self, address: str, name: str, scheduler: str) -> None:
        self.address, self.name, self.scheduler = address, name, scheduler
        self.session = uuid.uuid4().hex
        self.machine = Machine("", 0.0)
        self.is_ready = False
        self.jobs: dict[str, OpenJob] = {}
        self.wanted: tuple[str, ...] = ()
        self.match_s = 0.0
        self.heard_s = 0.0
        self.gone = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    @property
    def left(self) -> int:
        """Matches that it has to play."""
        return sum(each.left for each in self.jobs.values())


class Patience:
    """The seconds within which a worker has to finish a match."""

    def __init__(self, least_s: float) -> None:
        self._least_s, self._slowest_s = least_s, 0.0
        self._silences: Counter[tuple[str, int]] = Counter()

    def learn(self, match_s: float) -> None:
        """Take in what a match took of late."""
        self._slowest_s = max(self._slowest_s, match_s)

    def for_job(self, open_job: OpenJob) -> float:
        """The time for a match of this job."""
        moves_s, job = 0.0, open_job.job
        if isinstance(job, Job):
            clock = job.settings.clock
            moves_s = _MOVES * len(job.pairing.players) * clock.terms().wall_ms / 1000 + clock.startup_ms / 1000
        return float(max(self._least_s, moves_s, _TIMES * self._slowest_s) * 2 ** self._silences[job.key])

    def lose(self, open_job: OpenJob) -> None:
        """Note that nothing was heard for so long."""
        self._silences[open_job.job.key] += 1
