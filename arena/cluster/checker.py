"""Matches of `arena verify` checked on the workers of a cluster, batch after batch, each by any of them.

Rule: a check changes nothing, so a batch whose worker is lost is checked by another. A worker checks only if it has the
arena, rules and simulators of this side: so the findings are those of a check here.
"""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from arena.cluster.backend import LoopThread
from arena.cluster.dealer import USUAL_TIMES, DealingTimes, Unfit, watched
from arena.cluster.link import DaskLink, open_link
from arena.cluster.messages import Identity, identity_differences
from arena.cluster.session import identity_of
from arena.errors import ArenaError, HarnessFault, MachineFault
from arena.league.tournament import ClusterSettings
from arena.text import counted, printable
from arena.verify.match import Batch, Checked, Checker, Task, check_batch, in_order

_BATCH_S: Final = 1.0
_MOST: Final = 64
"""Matches of a batch."""
_AHEAD: Final = 2
"""Batches for each worker: one that it checks, and one that waits here."""
_DEATHS: Final = 3
log: Final = logging.getLogger("arena.cluster")
Found = TypeVar("Found")


class CheckedBatch(msgspec.Struct, frozen=True):
    """The findings in the matches of a batch, in their order, and the seconds that they took."""

    seconds: float
    checked: list[Checked]


async def check(message: bytes) -> bytes:
    """A `CheckedBatch` for a batch of tasks, on a worker, whose event loop goes on meanwhile."""
    return await asyncio.to_thread(_checked, message)


async def identities(games: list[str]) -> dict[str, bytes]:
    """On a worker: a packed `Identity` of each game."""
    return await asyncio.to_thread(lambda: {game: msgspec.msgpack.encode(_identity(game)) for game in games})


@contextlib.contextmanager
def cluster_checker(
    settings: ClusterSettings, games: Iterable[str], say: Callable[[str], object], times: DealingTimes = USUAL_TIMES
) -> Iterator[Checker]:
    """A checker of matches of these games, on all workers that have them as they are here; `say` gets sentences.

    MachineFault if there is no scheduler, or no such worker; HarnessFault if workers die of a match.
    """
    with LoopThread() as loop:
        link = loop.run(open_link(settings)).result()
        team = Team(link, {game: _identity(game) for game in games}, say, times)
        looking = loop.run(team.look_for_workers())
        try:
            yield lambda tasks: in_order(partial(_sent, loop, team), tasks, team.most, team.batch_size)
        finally:
            looking.cancel()
            loop.run(link.close()).result()


def _sent(loop: LoopThread, team: "Team", batch: Batch) -> Callable[[], list[Checked]]:
    """Send a batch. Matches of no league are checked here: they may be of games of which no worker was asked."""
    if batch[0].expected is None:
        return partial(check_batch, batch)
    return loop.run(team.check(batch)).result


class _OpenBatch:
    """A batch whose findings are awaited, and the number of workers that were lost with it."""

    def __init__(self, batch: Batch) -> None:
        self.batch, self.deaths = batch, 0
        self.message = msgspec.msgpack.encode(batch, enc_hook=str)  # fractions, which msgpack does not know
        self.future: asyncio.Future[list[Checked]] = asyncio.get_running_loop().create_future()


class Team:
    """The workers that check, each a batch at a time."""

    def __init__(
        self,
        link: DaskLink,
        here: dict[str, Identity | None],
        say: Callable[[str], object],
        times: DealingTimes,
    ) -> None:
        self._link, self._here, self._say, self._times = link, here, say, times
        self._queue = asyncio.Queue[_OpenBatch]()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._left_out: dict[str, str] = {}
        self._silent = Counter[str]()
        self._trouble = ""
        self._match_s = _BATCH_S

    def most(self) -> int:
        """Batches at once."""
        return _AHEAD * max(1, len(self._tasks))

    def batch_size(self) -> int:
        """Matches of the next batch, by the time that those before took."""
        return min(max(1, int(_BATCH_S / self._match_s)), _MOST)

    async def check(self, batch: Batch) -> list[Checked]:
        """The findings of any worker. MachineFault if there is none; HarnessFault if one after the other dies of it."""
        open_batch = _OpenBatch(batch)
        self._add(open_batch)
        return await open_batch.future

    async def look_for_workers(self) -> None:
        """Welcome workers that come, and let those go that are gone, until there was none for too long."""
        try:
            self._trouble = await watched(self._link, self._times, self._left_out, self._compare)
        finally:
            self._trouble = self._trouble or "nobody looks for workers any more"
            while not self._queue.empty():
                self._add(self._queue.get_nowait())

    def _add(self, one: _OpenBatch) -> None:
        """Queue a batch for any worker, or give it up."""
        if one.deaths >= _DEATHS:
            what = f"{counted(_DEATHS, 'worker')} died of the same matches, or could not be reached; try again"
            one.future.set_exception(HarnessFault(what))
        elif self._trouble:
            what = f"{self._trouble}; nothing was changed, and the same command begins anew"
            one.future.set_exception(MachineFault(what))
        else:
            self._queue.put_nowait(one)

    def _compare(self, _: str, found: dict[str, str]) -> None:
        for address in self._tasks.keys() - found.keys():
            self._tasks.pop(address).cancel()
        for address, name in found.items():
            if address not in self._tasks and name not in self._left_out:
                self._tasks[address] = asyncio.create_task(self._talk(address, name))

    async def _talk(self, address: str, name: str) -> None:
        """Let a worker check batch after batch, if its games are those of this side, as long as it is there.

        One that hangs is dropped by its scheduler, which hears nothing of it, after some minutes.
        """
        one, is_death = None, False
        try:
            told = await self._link.call(identities, address, list(self._here))
            found = {game: msgspec.msgpack.decode(each, type=Identity | None) for game, each in told.items()}
            for game, expected in self._here.items():
                if found.get(game) != expected:
                    self._leave_out(name, f"{game}: {_difference(found.get(game), expected)}")
                    return
            while True:
                one = await self._queue.get()
                answer = _findings(await self._link.call(check, address, one.message), one.batch)
                one.future.set_result(answer.checked)
                one = None
                self._silent.pop(name, None)
                self._match_s = max(1e-6, answer.seconds / len(answer.checked))
        except asyncio.CancelledError:  # the scheduler has lost it, or dask gave it up
            is_death = True
        except OSError as error:
            log.info("worker at %s did not answer: %s", address, error)
            is_death = await self._is_silent(address, name)
        except Exception as error:  # noqa: BLE001 - whatever another program answers
            self._leave_out(name, f"{type(error).__name__}: {error}")
        finally:
            if self._tasks.get(address) is asyncio.current_task():
                del self._tasks[address]
            if one is not None:
                one.deaths += is_death
                self._add(one)

    async def _is_silent(self, address: str, name: str) -> bool:
        """Whether it is the worker's own fault that it did not answer: the scheduler answers.

        A worker that is there is asked again; after several times in a row it is left out.
        """
        try:
            _, found = await self._link.workers()
        except OSError:
            return False
        if address in found:
            self._silent[name] += 1
            if self._silent[name] >= _DEATHS:
                self._leave_out(name, f"it did not answer {_DEATHS} times in a row")
        return True

    def _leave_out(self, name: str, sentence: str) -> None:
        if name not in self._left_out:
            self._left_out[name] = printable(f"worker {name} is left out: {sentence}")
            self._say(self._left_out[name])


def _findings(answer: bytes, batch: Batch) -> CheckedBatch:
    """The answer of a worker. MsgspecError if it is none, Unfit if it is that for another batch."""
    found = msgspec.msgpack.decode(answer, type=CheckedBatch)
    if [one.match for one in found.checked] != [str(task.match.result.key) for task in batch]:
        raise Unfit("it tells of other matches than it was asked")
    return found


def _difference(found: Identity | None, expected: Identity | None) -> str:
    if found is None or expected is None:
        return f"{'this machine' if expected is None else 'it'} cannot play it; install the same on all machines"
    return identity_differences(found, expected)


def _identity(game: str) -> Identity | None:
    """That of the game here; None if it lacks something."""
    try:
        return identity_of(game)
    except ArenaError:
        return None


def _checked(message: bytes) -> bytes:
    tasks = msgspec.msgpack.decode(message, type=list[Task], dec_hook=_fraction)
    start_s = time.monotonic()
    checked = check_batch(tasks)
    return msgspec.msgpack.encode(CheckedBatch(time.monotonic() - start_s, checked))


def _fraction(kind: type, text: str) -> Any:
    """The only values of a task that msgpack does not know."""
    assert kind is Fraction
    return Fraction(text)
