"""A cluster in virtual time: workers that play by sleeping, and a network that can be cut; no process, no socket."""

import asyncio
import selectors
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.cluster import dealer
from arena.cluster.backend import ClusterBackend
from arena.cluster.dealer import DealingTimes, Requirements
from arena.cluster.messages import (
    AnyJob,
    AttemptProgress,
    Dispatch,
    Identity,
    Opening,
    Report,
    Welcome,
    decode_message,
    encode_message,
)
from arena.errors import MachineFault
from arena.games import fingerprint_of
from arena.league import driver
from arena.league.driver import PlayedBlocks, play_jobs
from arena.league.schedule import Fixture, Job, jobs
from arena.league.tournament import Tournament
from arena.league.worker import OnFinished
from arena.match.columns import Machine, PlayedBlock
from arena.operations.leagues import with_installed_bots
from arena.store.bots import BotStore
from support.league_made import all_blocks, numbers, played_block, real_tournament

IDENTITY = Identity("1", fingerprint_of("nim"))
TERMS = Requirements("league test", "nim", "none", IDENTITY)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands until `released`; then it jumps to the next timer when nothing is to be done."""

    def __init__(self, released: threading.Event) -> None:
        loop = self
        self.now_s = 0.0

        class Selector(selectors.DefaultSelector):
            def select(self, timeout: float | None = None) -> Any:
                if found := super().select(0):
                    return found
                if timeout is None or not released.is_set():
                    return super().select(0.01)
                loop.now_s += timeout
                return []

        super().__init__(Selector())

    def time(self) -> float:
        return self.now_s


class PausedBackend(ClusterBackend):
    """Time stands while the driver looks at a job that came back, until its `tick`."""

    released: threading.Event

    def submit(self, job: AnyJob, on_finished: OnFinished) -> "Future[Any]":
        future = super().submit(job, on_finished)
        future.add_done_callback(lambda _: self.released.clear())
        return future


class FakeWorker:
    """A worker that takes `block_s` for a block. `play` may raise Died, or an error that ends the job."""

    def __init__(self, cluster: "FakeCluster", name: str, play: Callable[[Job, Fixture], PlayedBlock]) -> None:
        self.cluster, self.name, self.play = cluster, name, play
        self.block_s, self.host, self.speed = 0.4, "host", 1.0
        self.identity: Identity | None = IDENTITY
        self.refusal = ""
        self.missing: tuple[str, ...] = ()
        self.is_busy_until_s = 0.0
        self.sessions = 0
        self.session, self.has_played = "", False
        self.attempts: dict[str, AttemptProgress] = {}
        self.queue: list[tuple[str, Job]] = []
        self.most_lives = 0
        self.playing: asyncio.Task[None] | None = None
        self.changed, self.queued = asyncio.Event(), asyncio.Event()
        self.heard_s = 0.0
        self.lease_s = 0.0

    def end(self) -> None:
        """End the session, with what is played."""
        self.session = ""
        if self.playing is not None:
            self.playing.cancel()
        self.queue.clear()
        self.attempts.clear()
        self.cluster.running.pop(self.name, None)

    def look_at_lease(self) -> None:
        if self.session and asyncio.get_running_loop().time() - self.heard_s >= self.lease_s:
            self.end()

    def meet(self, opening: Opening) -> Welcome:
        now_s = asyncio.get_running_loop().time()
        if now_s < self.is_busy_until_s:
            return Welcome(is_busy=True, refusal="it plays for somebody")
        self.end()
        self.session, self.heard_s, self.lease_s = opening.session, now_s, opening.lease_s
        self.sessions += 1
        self.playing = asyncio.get_running_loop().create_task(self.play_all())
        return Welcome(self.identity, self.host, self.speed, refusal=self.refusal)

    async def exchange(self, dispatch: Dispatch) -> Report:
        loop = asyncio.get_running_loop()
        self.look_at_lease()
        if dispatch.session != self.session:
            return Report(is_known=False)
        self.heard_s = loop.time()
        for attempt in [key for key, one in self.attempts.items() if one.ending and key not in dispatch.awaited]:
            del self.attempts[attempt]
        if dispatch.archives:
            self.cluster.sent.append(tuple(dispatch.archives))
            self.missing = tuple(digest for digest in self.missing if digest not in dispatch.archives)
        for attempt, job in dispatch.jobs.items():
            if attempt not in self.attempts:
                assert isinstance(job, Job)
                self.attempts[attempt] = AttemptProgress()
                self.cluster.attempts.add(job.attempt)
                self.queue.append((attempt, job))
                self.queued.set()
        self.most_lives = max(self.most_lives, sum(not one.ending for one in self.attempts.values()))
        end_s = loop.time() + dispatch.wait_s
        while self.left() > dispatch.enough and loop.time() < end_s:
            self.changed.clear()
            try:
                await asyncio.wait_for(self.changed.wait(), end_s - loop.time())
            except TimeoutError:
                break
        if dispatch.session != self.session:
            return Report(is_known=False)
        attempts = {key: one if one.ending else replace(one, blocks=()) for key, one in self.attempts.items()}
        return Report(attempts=attempts, missing=self.missing, match_s=self.block_s / 2 if self.has_played else 0.0)

    def left(self) -> int:
        sizes = {attempt: 2 * len(job.fixtures) for attempt, job in self.queue}
        return sum(1 + size - self.attempts[attempt].finished for attempt, size in sizes.items())

    async def play_all(self) -> None:
        while True:
            while not self.queue:
                self.queued.clear()
                await self.queued.wait()
            attempt, job = self.queue[0]
            for fixture in job.fixtures:
                self.cluster.begin(self.name, fixture)
                await asyncio.sleep(self.block_s)
                self.cluster.running.pop(self.name, None)
                try:
                    block = self.play(job, fixture)
                except Died:
                    self.cluster.kill(self.name)
                    return
                except PlayerDied:
                    for queued, _ in self.queue[1:]:
                        self.tell(queued, AttemptProgress(ending="undelivered", error="its process was lost"))
                    del self.queue[1:]
                    self.tell(attempt, AttemptProgress(ending="died", error="a worker process died"))
                    break
                except Silenced:
                    await asyncio.Event().wait()
                except MachineFault as error:
                    self.tell(attempt, AttemptProgress(ending="lacking", error=str(error)))
                    break
                except Exception as error:  # noqa: BLE001 - as a worker tells it
                    self.tell(attempt, AttemptProgress(ending="failed", error=str(error)))
                    break
                blocks = (*self.attempts[attempt].blocks, block)
                self.tell(attempt, AttemptProgress(2 * len(blocks), blocks=blocks))
            else:
                self.tell(attempt, replace(self.attempts[attempt], ending="played"))
            self.queue.pop(0)
            self.changed.set()

    def tell(self, attempt: str, news: AttemptProgress) -> None:
        self.attempts[attempt] = news
        self.has_played |= news.finished > 0
        self.changed.set()


class Died(Exception):
    """The worker, and its machine, die in the middle of this."""


class PlayerDied(Exception):
    """The process that plays dies in the middle of this; the worker has it replaced."""


class Silenced(Exception):
    """The worker answers from now on, and plays no more."""


class FakeCluster:
    """Workers by name, their network, and a scheduler. A `Link` by itself."""

    def __init__(self, play: Callable[[Job, Fixture], PlayedBlock] | None = None) -> None:
        self.play = play or (lambda job, fixture: played_block(fixture, job.pairing.names))
        self.scheduler = "first"
        self.is_cut = False
        self.found: dict[str, FakeWorker] = {}
        self.unreachable: set[str] = set()
        self.hanging: set[str] = set()
        """Workers that answer nothing, though the scheduler hears them."""
        self.deaf: set[str] = set()
        """Workers that hear, and whose answers are lost."""
        self.running: dict[str, tuple[str, int]] = {}
        self.sent: list[tuple[str, ...]] = []
        """The bots in each message that has any, by hash."""
        self.attempts: set[int] = set()
        """Of the jobs that were dealt: whether it is their first one."""
        self.archive_of: Callable[[str], bytes] = lambda _: b""
        self.started: dict[tuple[str, int], int] = defaultdict(int)
        self.doubled: list[tuple[str, int]] = []
        self.killed: list[str] = []
        self.parted: list[str] = []
        self.said: list[str] = []
        self.committed: list[tuple[str, int]] = []
        self.machines: set[Machine | None] = set()
        self.released = threading.Event()
        self.returns_after_s: float | None = None
        self.script: Callable[[FakeCluster], Any] | None = None
        self.wishes: dict[str, dict[str, Any]] = {}

    def commit(self, blocks: PlayedBlocks) -> None:
        """As a store."""
        self.committed += numbers(blocks)
        self.machines.update(each.machine for each in blocks)

    def backend(self, workers: int = 3, times: DealingTimes | None = None, **wishes: dict[str, Any]) -> ClusterBackend:
        """A backend on so many workers w0, w1, ...; `wishes` are their attributes, by name."""

        async def opened() -> FakeCluster:
            for number in range(workers):
                self.join(f"w{number}", **wishes.get(f"w{number}", {}))
            if self.script is not None:
                self.task = asyncio.get_running_loop().create_task(self.script(self))
            return self

        made = PausedBackend(
            opened,
            TERMS,
            self.archive_of,
            times=times or DealingTimes(),
            say=self.said.append,
            new_loop=lambda: VirtualLoop(self.released),
        )
        made.released = self.released
        return made

    def join(self, name: str, **wishes: Any) -> None:
        worker = self.found[name] = FakeWorker(self, name, self.play)
        for key, value in wishes.items():
            setattr(worker, key, value)

    def begin(self, name: str, fixture: Fixture) -> None:
        """A block begins; `doubled` gets it if it is being played elsewhere."""
        key = (fixture.pairing, fixture.block)
        self.end_expired()
        if key in self.running.values():
            self.doubled.append(key)
        self.running[name] = key
        self.started[key] += 1

    def kill(self, name: str) -> None:
        worker = self.found.pop(name)
        worker.end()
        self.killed.append(name)
        if self.returns_after_s is not None:
            asyncio.get_running_loop().call_later(self.returns_after_s, self.join, name)

    def end_expired(self) -> None:
        """End the sessions whose driver was not heard for too long."""
        for each in self.found.values():
            each.look_at_lease()

    async def workers(self) -> tuple[str, dict[str, str]]:
        await asyncio.sleep(0.001)
        if self.is_cut:
            raise ConnectionError("cut")
        return self.scheduler, {f"tls://{id(each)}": name for name, each in self.found.items()}

    async def call(self, function: Any, address: str, argument: Any) -> Any:
        """By name, as a test may have put another one there."""
        return await getattr(self, function.__name__)(address, argument)

    async def meet(self, address: str, opening: bytes) -> bytes:
        worker = self.at(address)
        if worker.name in self.hanging:
            await asyncio.Event().wait()
        return encode_message(worker.meet(decode_message(opening, Opening)))

    async def exchange(self, address: str, dispatch: bytes) -> bytes:
        worker = self.at(address)
        report = await worker.exchange(decode_message(dispatch, Dispatch))
        if self.at(address).name in self.deaf:
            raise ConnectionError("the answer is lost")
        return encode_message(report)

    async def part(self, address: str, session: str) -> None:
        worker = self.at(address)
        if worker.session == session:
            self.parted.append(worker.name)
            worker.end()

    async def close(self) -> None:
        for each in self.found.values():
            each.end()
        if self.script is not None:
            self.task.cancel()

    def at(self, address: str) -> FakeWorker:
        self.end_expired()
        for each in self.found.values():
            if address == f"tls://{id(each)}":
                if self.is_cut or each.name in self.unreachable:
                    break
                return each
        raise ConnectionError(f"no way to {address}")


OPENING = Opening("s", "league", "nim", "none", lease_s=600.0)


def jobs_and_bots(folder: Path, **changes: Any) -> tuple[list[Job], dict[str, bytes]]:
    """The jobs of a league between real bots, and what is sent of these, by hash."""
    bots = BotStore(folder / "results", folder / "none", "none")
    found = list(jobs(with_installed_bots(real_tournament(folder, **changes), bots), {}))
    return found, {player.bot.digest: bots.pack(player.bot.digest) for player in found[0].pairing.players}


class Waiting:
    """A backend that begins jobs and ends none."""

    slots = 9

    def __init__(self) -> None:
        self.begun: list[Job] = []

    def submit(self, job: Job, _: OnFinished) -> "Future[PlayedBlocks]":
        self.begun.append(job)
        return Future()

    def close(self, *, is_interrupted: bool) -> None: ...


def run(league: Tournament, cluster: FakeCluster, workers: int = 3, **wishes: Any) -> None:
    """Play a league, and see that each of its blocks is committed exactly once, and never played by two at a time.

    Time begins when all jobs are queued: so nothing depends on the threads of this process.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dealer, "_SPARE", 10**6)
        patch.setattr(driver, "LOOK_EVERY_S", 0.01)
        play_jobs(
            [jobs(league, {})],
            cluster.backend(workers, **wishes),
            commit=cluster.commit,
            tick=lambda _: cluster.released.set(),
        )
    assert cluster.doubled == []
    assert Counter(cluster.committed) == Counter(all_blocks(league))
