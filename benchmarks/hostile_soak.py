"""Thousands of matches with hostile bots through worker processes: what hangs, stays, grows, or wins wrongly.

Rule: every match is judged as it comes in, by replay and by what is foreseen for its bot; memory and open files of this
process and of the workers are compared between the first and the last quarter.

    python benchmarks/hostile_soak.py                  # 10 000 matches
    python benchmarks/hostile_soak.py --quick          # 300
"""

import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

import click
import msgspec
from tables import Figure, Goal, Table

from arena.league.driver import LocalBackend, play_jobs
from arena.league.schedule import Job, jobs
from arena.match.columns import PlayedBlock
from arena.match.record import unpack
from arena.process import reaper
from arena.process.workers import multiprocessing_pids
from arena.store import database
from arena.store.matches import MatchStore

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # the hostile bots

from support.hostile_bots import HOSTILE_BOTS, HostileBot
from support.hostile_grounds import EVIL, Grounds, grounds_in, shortfalls
from support.hostile_league import honest_players, league_of

_WORKERS: Final = 2
_BLOCKS: Final = 5
"""Blocks of a bot in a row: ten matches with the same processes, unless those end."""
_SILENCE_S: Final = 120.0
"""The longest time without a finished job, before something hangs; the slowest job takes a quarter of it."""
_SHOWN: Final = 10
_QUICK, _FULL = 300, 2000


class Sample(msgspec.Struct, frozen=True):
    """Memory in MB and open files, of this process and of the largest worker."""

    matches: int
    main_mb: float
    main_files: int
    worker_mb: float
    worker_files: int


class Soak:
    """A soak run: the bot of each job, and the results."""

    def __init__(self, grounds: Grounds, store: MatchStore, matches: int, seed: int) -> None:
        self.wrong: list[str] = []
        self.endings: Counter[str] = Counter()
        self.samples: list[Sample] = []
        self.matches = 0
        self.longest_silence_s = 0.0
        self._wanted = matches
        self._grounds = grounds
        self._store = store
        self._luck = random.Random(seed)
        self._hostile_bots: dict[str, HostileBot] = {}
        self._heard_s = time.monotonic()

    def jobs(self) -> Iterator[Job]:
        """Yield ten matches of each of a series of random bots; an honest bot sometimes moves first."""
        bots = [rogue for rogue in HOSTILE_BOTS if _is_quick(rogue)]
        honest = honest_players(self._grounds.honest)
        for number in range(-(-self._wanted // (2 * _BLOCKS))):
            rogue = self._luck.choice(bots)
            evil = self._grounds.player(rogue, everywhere=True)
            league = league_of((self._luck.choice(honest), evil), rogue.clock, blocks=_BLOCKS)
            for job in jobs(msgspec.structs.replace(league, seed=f"soak-{number}"), {}):
                self._hostile_bots[job.pairing.key] = rogue
                yield job

    def take(self, blocks: list[PlayedBlock]) -> None:
        """Store and judge the blocks of a worker, and sample the processes."""
        self._heard()
        self._store.save(blocks)
        for block in blocks:
            rogue = self._hostile_bots[block.pairing]
            for match in block.results:
                self.matches += 1
                self.endings[match.termination] += 1
                mistakes = shortfalls(rogue, unpack(match.record), EVIL)
                self.wrong += [f"{rogue.id}: {text}" for text in mistakes]
        self.samples.append(_sample(self.matches))

    def tick(self) -> None:
        """Raise TimeoutError if no job has come back for too long."""
        silence_s = time.monotonic() - self._heard_s
        if silence_s > _SILENCE_S:
            raise TimeoutError(f"no job came back for {silence_s:.0f} s after {self.matches} matches")

    def _heard(self) -> None:
        now_s = time.monotonic()
        self.longest_silence_s = max(self.longest_silence_s, now_s - self._heard_s)
        self._heard_s = now_s


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Run the soak as a section of run.py."""
    return soak(scratch, matches=_QUICK if is_quick else _FULL, seed=1)


def soak(scratch: Path, *, matches: int, seed: int) -> list[Table]:
    """Play `matches` matches; return two tables."""
    place = scratch / "soak"
    place.mkdir()
    backend = LocalBackend(_WORKERS)
    with grounds_in(place) as grounds:
        connection = database.open_for_writing(place / "results")
        soaked = Soak(grounds, MatchStore(connection, place / "results"), matches, seed)
        start_s = time.monotonic()
        play_jobs([soaked.jobs()], backend, commit=soaked.take, tick=lambda _: soaked.tick())
        elapsed_s = time.monotonic() - start_s
        connection.close()
        leftovers = grounds.decoys.running() | set(grounds.decoys.left_processes())
        touched = grounds.decoys.touched()
    for text in [*soaked.wrong[:_SHOWN], *touched]:
        print(f"  {text[:500]}")
    return [_outcome(soaked, elapsed_s, len(leftovers), len(touched)), _growth(soaked.samples)]


def _is_quick(rogue: HostileBot) -> bool:
    """Return False for bots that make one wait: for the wall clock, a grace period or other tools."""
    waits = any(word in rogue.word for word in ("wall time", "hello", "ready", "no answer"))
    is_lazy = rogue.ends == "timeout" and (waits or not rogue.word or rogue.kind in {"lines", "tasks"})
    return not (is_lazy or rogue.rivals_think_ms or rogue.command or rogue.behaviour == "never-quit")


def _sample(matches: int) -> Sample:
    own = os.getpid()
    # workers are children of the fork server; their own children are bots
    workers = [pid for helper in multiprocessing_pids() for pid in reaper.children(helper)] or [own]
    return Sample(
        matches=matches,
        main_mb=_resident_mb(own),
        main_files=_files(own),
        worker_mb=max(map(_resident_mb, workers)),
        worker_files=max(map(_files, workers)),
    )


def _resident_mb(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0.0


def _files(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return 0


def _outcome(soaked: Soak, elapsed_s: float, left: int, touched: int) -> Table:
    none = Goal("<=", 0)
    endings = ", ".join(f"{count} {name}" for name, count in soaked.endings.most_common())
    row = (
        f"{soaked.matches}",
        Figure(soaked.matches / elapsed_s, 1),
        Figure(soaked.longest_silence_s, 1, Goal("<", _SILENCE_S)),
        Figure(left, 0, none),
        Figure(len(soaked.wrong), 0, none),
        Figure(touched, 0, none),
    )
    headers = (
        "matches",
        "matches/s",
        "longest wait\nfor a job s",
        "processes\nleft",
        "wrong\nresults",
        "decoys\ntouched",
    )
    notes = (
        f"hostile against honest bots at nim, {_WORKERS} workers; ended as: {endings}",
        "wrong: replay, winner, termination or its sentence is not what it must be, or a bot broke out",
    )
    return Table(title="Soak: matches with hostile bots", headers=headers, rows=(row,), notes=notes)


def _growth(samples: list[Sample]) -> Table:
    quarter = max(1, len(samples) // 4)
    first, last = samples[:quarter], samples[-quarter:]
    goals = {"main_mb": 20.0, "main_files": 0, "worker_mb": 20.0, "worker_files": 8}
    names = {"main_mb": "this process, MB", "main_files": "this process, open files"}
    names |= {"worker_mb": "larger worker, MB", "worker_files": "larger worker, open files"}
    rows = []
    for field, most in goals.items():
        before, after = (median(getattr(sample, field) for sample in part) for part in (first, last))
        rows.append((names[field], Figure(before), Figure(after), Figure(after - before, 1, Goal("<=", most))))
    return Table(
        title="Soak: growth",
        headers=("median of a quarter", "first", "last", "growth"),
        rows=tuple(rows),
        notes=("looked at when a job comes in; the open files of a worker are also those of the bots it has then",),
    )


@click.command()
@click.option("--matches", type=click.IntRange(min=1), default=10_000, show_default=True, help="How many.")
@click.option("--quick", is_flag=True, help=f"{_QUICK} matches.")
@click.option("--seed", default=1, show_default=True, help="Of the choice of bots.")
def main(*, matches: int, quick: bool, seed: int) -> None:
    """Play, and print what came of it; exit code 1 if a figure misses its goal."""
    with tempfile.TemporaryDirectory(prefix="arena-soak-") as folder:
        tables = soak(Path(folder), matches=_QUICK if quick else matches, seed=seed)
    for table in tables:
        print(table.text(), end="\n\n", flush=True)
    sys.exit(1 if any(table.misses() for table in tables) else 0)


if __name__ == "__main__":  # worker processes import this file, too
    main()
