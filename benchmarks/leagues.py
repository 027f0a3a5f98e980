"""Leagues, played by workers and stored, beside fastchess in the same run: wall time of a request, matches a second.

Rule: what counts is stored. Workers are warm. On both sides the time counts in which all workers are busy: from their
first matches, so that the start of bots is left out, to the moment when one of them has no more to do. Both sides play
in turns, with instant bots, and each figure is a median over the rounds of one run.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from benchbots import instant
from fastchess import engine, us_a_move
from matches import CLOCK, SHANGHAIEN
from measure import error_of_median, interleaved
from tables import Figure, Goal, Row, Table

from arena.league.driver import Backend, LocalBackend, PlayedBlocks, play_jobs
from arena.league.schedule import Job, jobs
from arena.league.tournament import Player, Tournament
from arena.league.worker import OnFinished
from arena.match.results import MatchResult
from arena.process.manifest import BotSpec
from arena.standings.ratings import RatingSettings
from arena.store import database
from arena.store.matches import MatchStore

_DEFAULT_LIFE: Final = 20
"""Blocks of a job, by default."""
_MOST_WORKERS: Final = 2
_GOALS: Final = {("C", 1): Goal("<=", 0.8), ("C", 2): Goal("<=", 1.0), ("Python", 2): Goal("<=", 1.1)}
_SCALING: Final = Goal(">=", 0.95)
_LOOP: Final = "for _ in range(20_000_000): pass"
_US: Final = 1e6


class Sample(NamedTuple):
    """A sample: microseconds a request or move, or seconds of busy loops; of a league also matches stored a second."""

    time: float
    matches_per_s: float = 0.0


Samples = dict[str, list[Sample]]


class Case(NamedTuple):
    """A case: two bots of a language on so many workers; `has_luck`: luck as by default, in jobs of 20 blocks."""

    language: str
    workers: int
    has_luck: bool = False

    def __str__(self) -> str:
        return f"{self.language}, {self.workers}{', luck' if self.has_luck else ''}"


class TimedJob(NamedTuple):
    """A job with the times, in seconds, of its reports of finished matches, and the future of its blocks."""

    job: Job
    reports: list[tuple[float, int]]
    future: "Future[PlayedBlocks]"

    def between(self, begin_s: float, end_s: float) -> list[MatchResult]:
        """Return the results of the matches reported within that time."""
        first, last = (
            max((count for at_s, count in self.reports if at_s <= end), default=0) for end in (begin_s, end_s)
        )
        blocks = {block.block: {match.key.rotation: match for match in block.results} for block in self.future.result()}
        fixtures = self.job.fixtures
        return [blocks[fixture.block][way] for way in fixtures[0].draw.order for fixture in fixtures][first:last]


class WatchedBackend:
    """A backend with some slots of another one, which stays open: workers start once for all measurements.

    `jobs` are in the order in which they began.
    """

    def __init__(self, backend: Backend, slots: int) -> None:
        self._backend, self.slots = backend, slots
        self.jobs: list[TimedJob] = []

    def submit(self, job: Job, on_finished: OnFinished) -> "Future[PlayedBlocks]":
        """See Backend.submit."""
        reports: list[tuple[float, int]] = []

        def note(finished: int) -> None:
            reports.append((time.perf_counter(), finished))
            on_finished(finished)

        future = self._backend.submit(job, note)
        all_matches = len(job.fixtures) * len(job.pairing.players)
        future.add_done_callback(lambda _: reports.append((time.perf_counter(), all_matches)))
        self.jobs.append(TimedJob(job, reports, future))
        return future

    def close(self, *, is_interrupted: bool) -> None:
        """Do nothing: the maker of the backend closes it."""


class BusyTime(NamedTuple):
    """The time in which all workers were busy, and the matches and requests finished in it."""

    seconds: float
    matches: int
    requests: int


def busy_time(jobs: Sequence[Sequence[float]], workers: int) -> tuple[float, float]:
    """Return the begin, when each worker has reported matches, and the end, when the first worker has no more jobs.

    `jobs`: for each job the times of its reports of matches, the last at its end.
    """
    return max(job[0] for job in jobs[:workers]), sorted(job[-1] for job in jobs)[-workers]


def _busy(jobs: Sequence[TimedJob], workers: int) -> BusyTime:
    begin_s, end_s = busy_time([[at_s for at_s, _ in job.reports] for job in jobs], workers)
    results = [result for job in jobs for result in job.between(begin_s, end_s)]
    for match in results:
        assert match.at_fault is None, f"a benchmark's bot forfeits: {match.termination}"
    return BusyTime(end_s - begin_s, len(results), sum(sum(match.moves) for match in results))


class League:
    """Leagues of two equal bots in which all workers are busy for about `seconds`, except for a short first one."""

    def __init__(self, scratch: Path, backend: Backend, case: Case, bot: BotSpec, seconds: float) -> None:
        self._results, self._case, self._seconds = scratch / "league-results", case, seconds
        self._backend = backend
        self._players = (Player(name="a", bot=bot), Player(name="b", bot=bot))
        self._lives = 3
        self.requests = 0.0

    def play(self) -> Sample:
        """Play a league; return wall time of a request and worker, and matches stored a second."""
        busy = self._store_blocks(self._lives * _DEFAULT_LIFE)
        self.requests = busy.requests / busy.matches
        self._lives = max(3, round(self._lives / busy.seconds * self._seconds))
        return Sample(busy.seconds * self._case.workers / busy.requests * _US, busy.matches / busy.seconds)

    def _store_blocks(self, blocks: int) -> BusyTime:
        """Play and store `blocks` blocks a worker."""
        tournament = self._tournament(blocks)
        watched = WatchedBackend(self._backend, self._case.workers)
        with contextlib.closing(database.open_for_writing(self._results)) as connection:
            store = MatchStore(connection, self._results)
            store.save_league(tournament)
            play_jobs([jobs(tournament, {})], watched, commit=store.save)
        return _busy(watched.jobs, self._case.workers)

    def _tournament(self, blocks: int) -> Tournament:
        has_luck = self._case.has_luck
        return Tournament(
            name="bench",
            game=SHANGHAIEN.game,
            options=SHANGHAIEN.options,
            players=self._players,
            seed=str(time.monotonic_ns()),
            cycles=self._case.workers * blocks,
            chunk_blocks=_DEFAULT_LIFE if has_luck else blocks,
            clock=CLOCK,
            rating=RatingSettings(),
            luck=has_luck,
        )


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Measure requests beside fastchess's moves, and matches a second by workers and with luck."""
    bots, notes = instant(scratch)
    rounds, seconds, games = (3, 1.3, 160) if is_quick else (5, 4.5, 240)
    cases = [Case(language, workers) for language in bots for workers in range(1, _MOST_WORKERS + 1)]
    with start_workers(_MOST_WORKERS) as backend:
        leagues = {
            case: League(scratch, backend, case, bots[case.language], seconds)
            for case in [*cases, *(Case(language, _MOST_WORKERS, has_luck=True) for language in bots)]
        }
        measures: dict[str, Callable[[], Sample]] = {f"loops, {count}": partial(busy_loops, count) for count in (1, 2)}
        for case, league in leagues.items():
            measures[str(case)] = league.play
            if not case.has_luck and (program := os.environ.get("FASTCHESS")):
                measures[f"fastchess, {case}"] = peer(Path(program), case, scratch, games)
        samples = interleaved(measures, rounds)
        pinned = sum(len(os.sched_getaffinity(pid)) == 1 for pid in backend.workers.pids)
    notes += (f"workers with a core of their own, which no other arena command had: {pinned} of {_MOST_WORKERS}",)
    return [_request_table(cases, leagues, samples, notes), _league_table(list(bots), samples)]


def peer(program: Path, case: Case, scratch: Path, games: int) -> Callable[[], Sample]:
    """Return a function that measures a move of fastchess with as many workers."""
    command = engine(case.language, scratch)
    return lambda: Sample(us_a_move(program, command, workers=case.workers, games=games, scratch=scratch))


def _request_table(cases: list[Case], leagues: dict[Case, League], samples: Samples, notes: tuple[str, ...]) -> Table:
    headers = (
        "us of wall time\na request and worker",
        "requests\na match",
        "arena",
        "fastchess\na move",
        "arena /\nfastchess",
    )
    rows = tuple(_request_row(case, leagues[case], samples) for case in cases)
    more: tuple[str, ...] = (
        "bots that answer index 0, sandbox on, luck off, one process life a worker",
        "fastchess: instant engines, games of 100 plies",
        "both: while all workers are busy, after the first matches of each, so the start of bots is left out",
        f"medians of {len(samples['loops, 1'])} in turns, +-: half the width of the 95 % interval",
    )
    if f"fastchess, {cases[0]}" not in samples:
        more += ("without fastchess: `--fastchess PROGRAM` names the built program, and the table compares with it",)
    return Table(title="Leagues: a request, beside fastchess", headers=headers, rows=rows, notes=notes + more)


def _request_row(case: Case, league: League, samples: Samples) -> Row:
    times, peer = _times(samples, str(case)), _times(samples, f"fastchess, {case}")
    label = f"{case.language} bots, {case.workers} worker{'s' if case.workers > 1 else ''}"
    cells = (label, Figure(league.requests), Figure(median(times), error=error_of_median(times)))
    if not peer:
        return (*cells, "not measured", "not measured")
    ratios = [time_us / peer_us for time_us, peer_us in zip(times, peer, strict=True)]
    of_medians = Figure(
        median(times) / median(peer), 2, _GOALS.get((case.language, case.workers)), error_of_median(ratios)
    )
    return (*cells, Figure(median(peer), error=error_of_median(peer)), of_medians)


def _times(samples: Samples, name: str) -> list[float]:
    return [sample.time for sample in samples.get(name, ())]


def _league_table(languages: list[str], samples: Samples) -> Table:
    pairs = zip(_times(samples, "loops, 1"), _times(samples, "loops, 2"), strict=True)
    loops = [2 * single / double for single, double in pairs]
    headers = (
        "matches stored a second",
        "1 worker",
        "2 workers",
        "2 workers,\nwith luck",
        "2 workers / 1,\nof two loops / 1",
    )
    rows = tuple(_league_row(language, samples, loops) for language in languages)
    notes = (
        "stored: through arena.league.driver, LocalBackend and MatchStore into a database in the temporary folder",
        f"with luck: as a league is by default, in process lives of {_DEFAULT_LIFE} blocks, whose starts of bots count",
        f"two busy loops in processes of their own did {median(loops):.2f} times the work of one",
    )
    return Table(title="Leagues: matches stored", headers=headers, rows=rows, notes=notes)


def _league_row(language: str, samples: Samples, loops: list[float]) -> Row:
    single, double, luck = (
        [sample.matches_per_s for sample in samples[str(case)]]
        for case in (Case(language, 1), Case(language, 2), Case(language, 2, has_luck=True))
    )
    scaling = [b / a / loop for a, b, loop in zip(single, double, loops, strict=True)]
    speeds = [Figure(median(rates), 0, error=error_of_median(rates)) for rates in (single, double, luck)]
    return (f"two {language} bots", *speeds, Figure(median(scaling), 2, _SCALING, error_of_median(scaling)))


def busy_loops(count: int) -> Sample:
    """Measure the seconds that `count` busy loops take at the same time."""
    start_s = time.perf_counter()
    loops = [subprocess.Popen([sys.executable, "-S", "-c", _LOOP]) for _ in range(count)]
    for loop in loops:
        loop.wait()
    return Sample(time.perf_counter() - start_s)


@contextlib.contextmanager
def start_workers(count: int) -> Iterator[LocalBackend]:
    """Yield a backend with so many workers, and close it."""
    backend = LocalBackend(count)
    is_done = False
    try:
        yield backend
        is_done = True
    finally:
        backend.close(is_interrupted=not is_done)
