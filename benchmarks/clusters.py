"""The cluster: dask's workers beside local ones, a scheduler with a hundred workers, the driver with a thousand.

Rule: the workers of the last two are stubs, which play a match in 0.2 s by waiting. A share is the part of the time in
which they played; in the rest they waited for the scheduler or the driver. CPU time is that of the driver's process,
without the stubs in it: other programs lengthen it little, while shares need an idle machine.
"""

import asyncio
import contextlib
import random
import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchbots import own_bot
from measure import error_of_median, family_s, interleaved, process_s, ratio
from tables import Figure, Goal, Row, Table

from arena.cluster import session as remote
from arena.cluster.backend import ClusterBackend, cluster_backend
from arena.cluster.dealer import Requirements
from arena.cluster.messages import AttemptProgress, Dispatch, Opening, Report, Welcome, decode_message, encode_message
from arena.league.driver import Backend, LocalBackend, PlayedBlocks, play_jobs
from arena.league.schedule import Fixture, Job, Pairing
from arena.league.tournament import ClusterSettings, Player, Tournament
from arena.league.worker import OnFinished
from arena.match.columns import PlayedBlock
from arena.match.record import join_packed
from arena.match.secret_luck import Secret, draw_block
from arena.match.settings import ClockSettings, MatchSettings
from arena.process.manifest import BotSpec
from arena.standings.ratings import RatingSettings
from arena.store.bots import BotStore

_MATCH_S: Final = 0.2
_BLOCK_S: Final = 2 * _MATCH_S
_LIFE_BLOCKS: Final = (10, 30)
"""Blocks of the shortest and the longest job; lengths differ, so that workers do not finish in waves."""
_REPORTED_BLOCKS: Final = 6
"""Blocks that a worker reports at once, every 2.4 s."""
_ENDS: Final = '[["normal",null,"sandbox","",1,[]],["normal",null,"sandbox","",1,[]]]'
_NUMBERS: Final = struct.pack("<32i", *(1,) * 4, *(0,) * 4, *(60,) * 4, *(9000,) * 4, *(400,) * 4, *(0,) * 12)
_RECORDS: Final = (join_packed("zlib", "0" * 64, bytes(1100)),) * 2
_WHILE_OTHERS_START_S: Final = 600.0
_OWN: Final = Goal(">=", 0.90)
_SHARE: Final = Goal(">=", 0.95)
_CORE: Final = Goal("<", 0.50)
_US: Final = 1e6


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Measure rates of both kinds of workers, shares of stubs, and the CPU time of the driver."""
    local = _beside_local(scratch, 1, 10.0) if is_quick else _beside_local(scratch, 5, 30.0)
    return [local, _stubs(12.0 if is_quick else 40.0)]


class TimedRun:
    """A run of an endless backend: the number of matches that arrived within `seconds`, after `warm_s`.

    `cpu_s`: CPU seconds of this process meanwhile; `other_s`: growth of the CPU seconds that `other` returns.
    """

    def __init__(
        self,
        backend: Backend,
        jobs: Iterator[Job],
        *,
        warm_s: float,
        seconds: float,
        other: Callable[[], float] = family_s,
    ) -> None:
        self.matches, self.rate = 0, 0.0
        self.cpu_s, self.other_s, self.begun_s = 0.0, 0.0, 0.0
        self._other = other
        self._warm_s, self._seconds, self._first_s = warm_s, seconds, 0.0
        with contextlib.suppress(KeyboardInterrupt):
            play_jobs([jobs], backend, commit=self._commit, tick=self._tick)

    def _commit(self, blocks: PlayedBlocks) -> None:
        self._first_s = self._first_s or time.monotonic()
        if self.begun_s and not self.rate:
            self.matches += sum(len(block.records) for block in blocks)

    def _tick(self, _: int) -> None:
        now_s = time.monotonic()
        if not self._first_s or now_s < self._first_s + self._warm_s:
            return
        if not self.begun_s:
            self.begun_s, self.cpu_s, self.other_s = now_s, time.process_time(), self._other()
        elif now_s > self.begun_s + self._seconds:
            self.cpu_s, self.other_s = time.process_time() - self.cpu_s, self._other() - self.other_s
            self.rate = self.matches / (now_s - self.begun_s)
            raise KeyboardInterrupt


def _beside_local(scratch: Path, rounds: int, seconds: float) -> Table:
    """Compare two dask workers with TLS and two local ones, with bots that answer at once."""
    bots = BotStore(scratch, scratch)
    tournament = _tournament("shanghaien", bots.install(own_bot("instant.py")))

    def run(backend: Backend) -> TimedRun:
        return TimedRun(backend, endless(tournament), warm_s=5.0, seconds=seconds)

    def on_dask() -> TimedRun:
        here = ClusterSettings("local:2")
        return run(cluster_backend(here, tournament, "sandbox", bots.pack, lambda _: None))

    samples = interleaved({"local": lambda: run(LocalBackend(2)), "dask": on_dask}, rounds, warm_ups=0)
    rates = {name: [sample.rate for sample in runs] for name, runs in samples.items()}
    cpu = {name: [sample.other_s / sample.matches for sample in runs] for name, runs in samples.items()}
    rows: list[Row] = [
        (f"2 {name} workers", Figure(median(rates[name]), 1, error=error_of_median(rates[name])), _us(cpu[name]))
        for name in samples
    ]
    rows.append(("dask / local", Figure(ratio(rates["dask"], rates["local"]), 2, _OWN), _ratio(cpu)))
    notes = (f"Shanghaien, bots that answer at once; {rounds} rounds of {seconds:.0f} s in turns; `local:2`, with TLS",)
    headers = ("workers on this machine", "matches/s", "CPU us a match,\nall processes")
    return Table(title="Cluster: dask's workers beside local ones", headers=headers, rows=tuple(rows), notes=notes)


def _us(samples: list[float]) -> Figure:
    return Figure(_US * median(samples), 0, error=None if len(samples) == 1 else _US * (error_of_median(samples) or 0))


def _ratio(samples: dict[str, list[float]]) -> Figure:
    return Figure(ratio(samples["dask"], samples["local"]), 2)


def _stubs(seconds: float) -> Table:
    """Measure a hundred stubs behind a scheduler, and a thousand in this process."""
    near = _NearLink(1000)
    alone = _played(near.open, seconds)
    rows: list[Row] = [(*_row("1000, no network", alone, 1000, near.spent_s), "")]
    with _cluster_of_stubs(100) as (address, scheduler_s):
        from arena.cluster.link import open_link  # noqa: PLC0415 - not for the driver alone

        behind = _played(partial(open_link, ClusterSettings(address)), seconds, scheduler_s)
    scheduler = Figure(_US * behind.other_s / behind.matches, 0)
    rows.insert(0, (*_row("100 behind a scheduler", behind, 100, 0.0), scheduler))
    notes = (
        f"a match takes {_MATCH_S} s; {seconds:.0f} s after they were warm; nothing is stored",
        "the driver draws the blocks, deals, takes in and hands over; share: of what the stubs can play",
    )
    headers = (
        "stub workers",
        "matches/s",
        "share",
        "CPU us a match,\nthe driver",
        "cores at the\nfull rate",
        "CPU us a match,\nthe scheduler",
    )
    return Table(title="Cluster: many workers, one driver", headers=headers, rows=tuple(rows), notes=notes)


def _row(name: str, found: TimedRun, count: int, stubs_s: float) -> Row:
    most, cpu_s = count / _MATCH_S, (found.cpu_s - stubs_s) / found.matches
    share, cores = Figure(found.rate / most, 3, _SHARE), Figure(cpu_s * most, 2, _CORE)
    return (name, Figure(found.rate, 0), share, Figure(cpu_s * _US, 0), cores)


def _played(open_link: Any, seconds: float, other: Callable[[], float] = family_s) -> TimedRun:
    terms = Requirements("bench", "nim", "none", remote.identity_of("nim"))
    backend = ClusterBackend(open_link, terms, lambda _: b"")
    tournament = _tournament("nim", own_bot("instant.py"))
    return TimedRun(backend, endless(tournament), warm_s=2 * _LIFE_BLOCKS[1] * _BLOCK_S, seconds=seconds, other=other)


def _tournament(game: str, bot: BotSpec) -> Tournament:
    return Tournament(
        name="bench",
        game=game,
        options={},
        players=tuple(Player(name=name, bot=bot) for name in ("ann", "bob")),
        seed="1",
        cycles=1,
        chunk_blocks=20,
        clock=ClockSettings(),
        rating=RatingSettings(),
    )


def endless(tournament: Tournament) -> Iterator[Job]:
    """Yield jobs of the first two players, without end."""
    pairing, secret, block = Pairing("0" * 12, tournament.players[:2]), Secret.random(), 0
    settings, chance = MatchSettings(tournament.game, {}, tournament.clock), random.Random(1)
    while True:
        numbers = range(block, block + chance.randint(*_LIFE_BLOCKS))
        fixtures = tuple(
            Fixture(pairing.key, number, draw_block(secret, f"{pairing.key}-{number}", 2)) for number in numbers
        )
        yield Job(tournament.name, settings, pairing, fixtures)
        block = numbers.stop


def played_by_nobody(pairing: str, names: tuple[str, ...], number: int) -> PlayedBlock:
    """Return a made-up block as large as a played one."""
    return PlayedBlock(pairing, number, names, "0101", _ENDS, _NUMBERS, _RECORDS)


class _NearWorker:
    """A worker in the driver's process that plays by the clock: one job after the other, a block every _BLOCK_S."""

    def __init__(self) -> None:
        self.end_s = 0.0
        self.jobs: dict[str, tuple[float, str, tuple[str, ...], list[int]]] = {}

    def take(self, dispatch: Dispatch, now_s: float) -> None:
        """Drop jobs that are no longer awaited, and begin new ones."""
        self.jobs = {attempt: job for attempt, job in self.jobs.items() if attempt in dispatch.awaited}
        for attempt, job in dispatch.jobs.items():
            assert isinstance(job, Job)
            start_s, numbers = max(self.end_s, now_s), [fixture.block for fixture in job.fixtures]
            self.jobs[attempt] = (start_s, job.pairing.key, job.pairing.names, numbers)
            self.end_s = start_s + _BLOCK_S * len(numbers)

    def news(self, now_s: float) -> dict[str, AttemptProgress]:
        """Return the progress of all jobs that have begun, with the blocks of finished ones."""
        news = {}
        for attempt, (start_s, pairing, names, numbers) in self.jobs.items():
            done = min(len(numbers), int((now_s - start_s) / _BLOCK_S))
            is_over = done == len(numbers)
            blocks = tuple(played_by_nobody(pairing, names, number) for number in numbers) if is_over else ()
            if done > 0:
                news[attempt] = AttemptProgress(len(names) * done, "played" if is_over else "", blocks)
        return news


class _NearLink:
    """A link to `count` workers in the driver's process, without a network; `spent_s`: their CPU seconds."""

    def __init__(self, count: int) -> None:
        self.spent_s = 0.0
        self._count = count

    async def open(self) -> "_NearLink":
        """Create the workers, in the event loop of the driver."""
        self._workers = {f"near://{number}": _NearWorker() for number in range(self._count)}
        return self

    async def workers(self) -> tuple[str, dict[str, str]]:
        return "near", {address: address for address in self._workers}

    async def call(self, function: Callable[..., Any], address: str, argument: Any) -> Any:
        return await getattr(self, function.__name__)(address, argument)

    async def meet(self, address: str, opening: bytes) -> bytes:
        decode_message(opening, Opening)
        return encode_message(Welcome(remote.identity_of("nim"), address, 1.0))

    async def exchange(self, address: str, request: bytes) -> bytes:
        worker, loop = self._workers[address], asyncio.get_running_loop()
        begun_s, dispatch = time.thread_time(), decode_message(request, Dispatch)
        worker.take(dispatch, loop.time())
        self.spent_s += time.thread_time() - begun_s
        enough_s = worker.end_s - _MATCH_S * max(0, dispatch.enough - len(worker.jobs))
        await asyncio.sleep(min(dispatch.wait_s, max(0.0, enough_s - loop.time())))
        begun_s = time.thread_time()
        answer = encode_message(Report(attempts=worker.news(loop.time()), match_s=_MATCH_S))
        self.spent_s += time.thread_time() - begun_s
        return answer

    async def part(self, address: str, session: str) -> None: ...

    async def close(self) -> None: ...


class _Waiting:
    """A backend of a dask worker that plays by waiting."""

    slots = 1

    def __init__(self, _: int) -> None:
        self._loop, self._end_s = asyncio.get_running_loop(), 0.0

    def submit(self, job: Job, on_finished: OnFinished) -> "Future[PlayedBlocks]":
        """See Backend.submit."""
        future: Future[PlayedBlocks] = Future()
        self._loop.call_soon_threadsafe(self._begin, job, on_finished, future)
        return future

    def _begin(self, job: Job, on_finished: OnFinished, future: "Future[PlayedBlocks]") -> None:
        numbers, names = [fixture.block for fixture in job.fixtures], job.pairing.names
        start_s = max(self._loop.time(), self._end_s)
        for done in range(_REPORTED_BLOCKS, len(numbers), _REPORTED_BLOCKS):
            self._loop.call_at(start_s + _BLOCK_S * done, on_finished, len(names) * done)
        self._end_s = start_s + _BLOCK_S * len(numbers)
        blocks = [played_by_nobody(job.pairing.key, names, number) for number in numbers]
        self._loop.call_at(self._end_s, future.set_result, blocks)

    def close(self, *, is_interrupted: bool) -> None: ...


class _EveryBot:
    """A bot cache that has every bot."""

    def __init__(self, *_: object) -> None: ...

    def held(self, digests: Any) -> Any:
        """See BotCache.hold."""
        return contextlib.nullcontext(dict.fromkeys(digests, "/"))


@contextlib.contextmanager
def _cluster_of_stubs(count: int) -> Iterator[tuple[str, Callable[[], float]]]:
    """Start a scheduler and `count` workers in processes; yield the address and the CPU time of the scheduler."""
    with _process(_schedule) as (scheduler, address), _process(_work, address, count):
        yield address, partial(process_s, scheduler)


@contextlib.contextmanager
def _process(function: Callable[..., None], *arguments: Any) -> Iterator[tuple[int, str]]:
    """Run `function` in a process for a while; yield its id, and what it sends when it is ready."""
    here, there = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=function, args=(there, *arguments), daemon=True)
    process.start()
    try:
        assert here.poll(_WHILE_OTHERS_START_S), f"{function.__name__} did not start"
        yield process.pid or 0, here.recv()
    finally:
        process.kill()
        process.join()


def _schedule(pipe: Any) -> None:
    from distributed import Scheduler  # noqa: PLC0415 - only in the processes of the stubs

    from arena.cluster.link import set_up_dask  # noqa: PLC0415 - see above

    async def run() -> None:
        set_up_dask()
        async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
            pipe.send(scheduler.address)
            await scheduler.finished()

    asyncio.run(run())


def _work(pipe: Any, address: str, count: int) -> None:
    import dask  # noqa: PLC0415 - only in the processes of the stubs
    from distributed import Worker  # noqa: PLC0415 - see above

    from arena.cluster.link import set_up_dask  # noqa: PLC0415 - see above

    async def run() -> None:
        set_up_dask()
        dask.config.set({"distributed.admin.system-monitor.interval": "60s"})  # of the one machine, by each worker
        for name, instead in {"BotCache": _EveryBot, "speed": lambda: 1.0, "LocalBackend": _Waiting}.items():
            setattr(remote, name, instead)
        with TemporaryDirectory() as folder:
            start = partial(Worker, address, nthreads=1, memory_limit=0, local_directory=folder)
            workers = [await start(name=f"w{number}") for number in range(count)]
            pipe.send("ready")
            await asyncio.gather(*(worker.finished() for worker in workers))

    asyncio.run(run())
