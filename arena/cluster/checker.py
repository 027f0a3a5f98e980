"""Matches of `arena verify` checked on the workers of a cluster, batch after batch, each by any of them.

Rule: a check changes nothing, so a batch whose worker is lost is checked by another. A worker checks only if it has the
arena, rules and simulators of this side: so the findings are those of a check here.
"""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
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
_LISTEN_EVERY_S: Final = 10.0
_SILENT_S: Final = 60.0
"""A worker whose event loop answers nothing for so long hangs; a check in its thread may take any time."""
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
        self._free: asyncio.Queue[str] = asyncio.Queue()
        self._found: dict[str, _Found] = {}
        self._left_out: dict[str, str] = {}
        self._silent = Counter[str]()
        self._ended, self._trouble = asyncio.Event(), ""
        self._match_s = _BATCH_S

    def most(self) -> int:
        """Batches at once."""
        return _AHEAD * max(1, len(self._found))

    def batch_size(self) -> int:
        """Matches of the next batch, by the time that those before took."""
        return min(max(1, int(_BATCH_S / self._match_s)), _MOST)

    async def check(self, batch: Batch) -> list[Checked]:
        """The findings of any worker. MachineFault if there is none; HarnessFault if one after the other dies of it."""
        message, deaths = msgspec.msgpack.encode(batch, enc_hook=str), 0  # fractions, which msgpack does not know
        while deaths < _DEATHS:
            address, worker = await self._free_worker()
            try:
                found = _findings(await self._asked(address, check, message), batch)
            except (Unfit, msgspec.MsgspecError) as error:
                self._leave_out(worker.name, f"{type(error).__name__}: {error}")
            except OSError as error:
                deaths += await self._is_silent(address, error)
            else:
                self._free.put_nowait(address)
                self._silent.pop(worker.name, None)
                self._match_s = max(1e-6, found.seconds / len(found.checked))
                return found.checked
        raise HarnessFault(f"{counted(_DEATHS, 'worker')} died of the same matches, or could not be reached; try again")

    async def look_for_workers(self) -> None:
        """Welcome workers that come, and let those go that are gone, until there was none for too long."""
        try:
            self._trouble = await watched(self._link, self._times, self._left_out, self._compare)
        finally:
            self._ended.set()

    async def _asked(self, address: str, function: Callable[..., Awaitable[Found]], argument: Any) -> Found:
        """The answer of a worker, however long it takes. OSError if the worker is gone, or hangs."""

        async def listen() -> None:
            await asyncio.wait_for(self._link.call(identities, address, []), _SILENT_S)

        return await _unless(self._found[address].gone, self._link.call(function, address, argument), listen)

    async def _is_silent(self, address: str, error: OSError) -> bool:
        """Let go of a worker that did not answer, and whether that is its own fault; it is asked again if it is there.

        After several times in a row it is left out.
        """
        log.info("worker at %s did not answer: %s", address, error)
        worker = self._found.pop(address, None)
        try:
            _, found = await self._link.workers()
        except OSError:
            return False
        if worker is not None and address in found:
            self._silent[worker.name] += 1
            if self._silent[worker.name] >= _DEATHS:
                self._leave_out(worker.name, f"it did not answer {_DEATHS} times in a row")
        return True

    def _compare(self, _: str, found: dict[str, str]) -> None:
        for address in self._found.keys() - found.keys():
            self._found.pop(address).gone.set()
        for address, name in found.items():
            if address not in self._found and name not in self._left_out:
                worker = self._found[address] = _Found(name)
                worker.task = asyncio.create_task(self._welcome(address, worker))

    async def _welcome(self, address: str, worker: "_Found") -> None:
        """Let it check, if its games are those of this side."""
        try:
            told = await self._asked(address, identities, list(self._here))
            found = {game: msgspec.msgpack.decode(each, type=Identity | None) for game, each in told.items()}
        except OSError as error:
            await self._is_silent(address, error)
            return
        except Exception as error:  # noqa: BLE001 - whatever another program answers
            self._leave_out(worker.name, f"{type(error).__name__}: {error}")
            return
        for game, expected in self._here.items():
            if found.get(game) != expected:
                self._leave_out(worker.name, f"{game}: {_difference(found.get(game), expected)}")
                return
        self._free.put_nowait(address)

    async def _free_worker(self) -> "tuple[str, _Found]":
        while True:
            try:
                address = await _unless(self._ended, self._free.get())
            except ConnectionError:
                why = self._trouble or "nobody looks for workers any more"
                raise MachineFault(f"{why}; nothing was changed, and the same command begins anew") from None
            if (worker := self._found.get(address)) is not None:
                return address, worker

    def _leave_out(self, name: str, sentence: str) -> None:
        if name not in self._left_out:
            self._found = {address: worker for address, worker in self._found.items() if worker.name != name}
            self._left_out[name] = printable(f"worker {name} is left out: {sentence}")
            self._say(self._left_out[name])


class _Found:
    """A worker that the scheduler has."""

    def __init__(self, name: str) -> None:
        self.name, self.gone = name, asyncio.Event()
        self.task: asyncio.Task[None] | None = None


async def _unless(
    event: asyncio.Event, action: Awaitable[Found], listen: Callable[[], Awaitable[None]] | None = None
) -> Found:
    """The result of an action. ConnectionError if the event comes before, or dask gives the action up.

    `listen` is called again and again meanwhile, and may raise.
    """
    call, end = asyncio.ensure_future(action), asyncio.create_task(event.wait())
    every_s = None if listen is None else _LISTEN_EVERY_S
    try:
        while not (await asyncio.wait([call, end], timeout=every_s, return_when=asyncio.FIRST_COMPLETED))[0]:
            if listen is not None:
                await listen()
        if call.done() and not call.cancelled():
            return call.result()
        raise ConnectionError("the worker is gone")
    finally:
        call.cancel()
        end.cancel()


def _findings(answer: bytes, batch: Batch) -> CheckedBatch:
    """The answer of a worker. MsgspecError if it is none, Unfit if it is that for another batch."""
    found = msgspec.msgpack.decode(answer, type=CheckedBatch)
    if [one.match for one in found.checked] != [str(task.match.key) for task in batch]:
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
