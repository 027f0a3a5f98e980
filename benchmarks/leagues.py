"""Section 3: matches per second of a league, played by worker processes and stored in the database.

Rule: what counts is stored. Workers are warm (a league starts them once); bots start with each batch, as in a league.
"""

import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from benchbots import instant, shelved
from measure import interleaved
from recording import CLOCK, SHANGHAIEN
from tables import Figure, Goal, Row, Table

from arena.league.driver import Backend, LocalBackend, run_batches
from arena.league.schedule import Batch, PlayedBlock, batches
from arena.league.tournament import Player, Tournament
from arena.process.manifest import BotSpec
from arena.standings.ratings import RatingSettings
from arena.store import database
from arena.store.matches import MatchStore

_SETTINGS: Final = {"1": (1, False), "2": (2, False), "luck": (2, True)}
"""Workers, and whether the luck of each match is computed (`luck:` in a tournament's file)."""
_MOST_WORKERS: Final = 2
_CHUNK_BLOCKS: Final = 20
_GOALS: Final = {("C", 2): Goal(">=", 400), ("Python", 2): Goal(">=", 200)}


class Speed(msgspec.Struct, frozen=True):
    """Matches stored per second, and requests per match."""

    matches_per_s: float
    requests: float


class Share:
    """Some slots of a backend that stays open after a league: workers are started once for all measurements."""

    def __init__(self, backend: Backend, slots: int) -> None:
        self._backend, self.slots = backend, slots

    def submit(self, batch: Batch) -> "Future[list[PlayedBlock]]":
        """See Backend.submit."""
        return self._backend.submit(batch)

    def close(self, *, is_interrupted: bool) -> None:
        """Nothing: whoever made the backend closes it."""


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Matches per second by bots and number of workers."""
    bots, notes = instant(scratch)
    fields = {**bots, "random": shelved("random")}
    rounds, seconds = (1, 1.2) if is_quick else (5, 2.0)
    with _workers(_MOST_WORKERS) as backend:
        both = Share(backend, _MOST_WORKERS)
        _league(scratch, both, fields["Python"], chunks_played=both.slots)  # from now on all workers are warm
        cases = {
            f"{name}/{setting}": _Case(scratch, Share(backend, workers), bot, seconds, with_luck=with_luck)
            for name, bot in fields.items()
            for setting, (workers, with_luck) in _SETTINGS.items()
        }
        samples = interleaved({key: case.play for key, case in cases.items()}, rounds)
    rows = tuple(_row(name, samples) for name in fields)
    headers = (
        "two bots of a kind, shanghaien",
        "requests\na match",
        "1 worker\nmatches/s",
        "2 workers\nmatches/s",
        "2 workers\nrequests/s",
        "min-max\n2 workers",
        "2 workers,\nwith luck",
    )
    more = (
        f"C, Python: instant bots that answer index 0; random: bots/random; batches of {_CHUNK_BLOCKS * 2} matches",
        "stored: through arena.league.driver, LocalBackend and MatchStore into a database in the temporary folder",
    )
    return [Table(title="League: matches stored", headers=headers, rows=rows, notes=notes + more)]


def _row(name: str, samples: dict[str, list[Speed]]) -> Row:
    one, two, luck = ([each.matches_per_s for each in samples[f"{name}/{setting}"]] for setting in _SETTINGS)
    requests = median(each.requests for each in samples[f"{name}/2"])
    return (
        name,
        Figure(requests),
        Figure(median(one), 0),
        Figure(median(two), 0, _GOALS.get((name, 2))),
        Figure(median(two) * requests, 0),
        f"{min(two):.0f}-{max(two):.0f}",
        Figure(median(luck), 0),
    )


class _Case:
    """One kind of bot on so many workers; the first league is short and tells how long the others may be."""

    def __init__(self, scratch: Path, backend: Backend, bot: BotSpec, seconds: float, *, with_luck: bool) -> None:
        self._scratch = scratch
        self._backend = backend
        self._bot = bot
        self._with_luck = with_luck
        self._workers = backend.slots
        self._seconds = seconds
        self._chunks = self._workers

    def play(self) -> Speed:
        speed = _league(self._scratch, self._backend, self._bot, chunks_played=self._chunks, with_luck=self._with_luck)
        wanted = speed.matches_per_s * self._seconds / (_CHUNK_BLOCKS * 2)
        self._chunks = max(1, round(wanted / self._workers)) * self._workers  # so that no worker ends up idle
        return speed


def _league(scratch: Path, backend: Backend, bot: BotSpec, *, chunks_played: int, with_luck: bool = False) -> Speed:
    """Play and store a league of two players that falls into so many batches."""
    tournament = Tournament(
        name="bench",
        game=SHANGHAIEN.game,
        options=SHANGHAIEN.options,
        players=(Player(name="a", bot=bot), Player(name="b", bot=bot)),
        seed=str(time.monotonic_ns()),
        cycles=chunks_played * _CHUNK_BLOCKS,
        chunk_blocks=_CHUNK_BLOCKS,
        clock=CLOCK,
        rating=RatingSettings(),
        luck=with_luck,
    )
    results = scratch / "league-results"
    with contextlib.closing(database.open_for_writing(results)) as connection:
        store = MatchStore(connection, results)
        store.save_league(tournament)
        matches: list[int] = []

        def commit(blocks: list[PlayedBlock]) -> None:
            store.save(blocks)
            for match in (match for block in blocks for match in block.matches):
                assert match.result.at_fault is None, f"a benchmark's bot forfeits: {match.result.termination}"
                matches.append(sum(match.result.moves))

        start_s = time.perf_counter()
        run_batches(batches(tournament, {}), backend, commit=commit)
        elapsed_s = time.perf_counter() - start_s
    return Speed(matches_per_s=len(matches) / elapsed_s, requests=sum(matches) / len(matches))


@contextlib.contextmanager
def _workers(count: int) -> Iterator[LocalBackend]:
    backend = LocalBackend(count)
    is_done = False
    try:
        yield backend
        is_done = True
    finally:
        backend.close(is_interrupted=not is_done)
