"""The workers of a cluster, each looked at on its own machine before a league is played: `arena doctor --cluster`.

Rule: a worker sends plain values, which this machine compares. A worker that cannot send them is a result, too.
"""

import asyncio
import platform
import time
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from arena import __version__
from arena.cluster.backend import LoopThread
from arena.cluster.dealer import CallFailed
from arena.cluster.link import DaskLink, open_link
from arena.cluster.messages import Identity, decode_message, describe_differences, encode_message
from arena.cluster.session import identity_of
from arena.doctor.machine import CheckResult, bad, note, speed
from arena.doctor.sandbox import languages_in
from arena.errors import ArenaError
from arena.games import known_names
from arena.league.tournament import ClusterSettings
from arena.process.cores import usable_cores
from arena.process.limits import Isolation
from arena.process.sandbox import runtimes, self_test

_LATE_S: Final = 120.0
"""Longest wait for a report: a new worker tests its sandbox first, and may have other work."""
_APART_S: Final = 60.0
"""Largest difference of clocks without a note: certificates are valid from and to a time."""


class WorkerReport(msgspec.Struct, frozen=True):
    """The machine of a worker. `sandbox`: why its sandbox does not hold, or ""; `lacking`: why a game cannot be played.

    `speed`: see `arena.doctor.machine.speed`; `clock_s`: seconds since 1970.
    """

    host: str
    arena: str
    python: str
    cores: int
    speed: float
    sandbox: str
    languages: tuple[str, ...]
    identities: dict[str, Identity]
    lacking: dict[str, str]
    clock_s: float


class SurveyedWorker(msgspec.Struct, frozen=True):
    """A worker by its name in the cluster, with its report; without one (None) `why` is the reason.

    `ahead_s`: seconds by which its clock is ahead of the one here; a lower bound, by the time of transmission.
    """

    name: str
    report: WorkerReport | None = None
    why: str = ""
    ahead_s: float = 0.0


async def look(_: bytes) -> bytes:
    """Describe this machine, called on a worker; return a packed `WorkerReport`."""
    return encode_message(await asyncio.to_thread(report))


def report() -> WorkerReport:
    """Describe this machine: versions, speed, sandbox, languages, and games that cannot be played here."""
    identities, lacking = {}, {}
    for game in known_names():
        try:
            identities[game] = identity_of(game)
        except ArenaError as error:
            lacking[game] = str(error)
    return WorkerReport(
        host=platform.node(),
        arena=__version__,
        python=platform.python_version(),
        cores=len(usable_cores()),
        speed=speed(),
        sandbox=_sandbox_breach(),
        languages=tuple(languages_in(runtimes.search_path())),
        identities=identities,
        lacking=lacking,
        clock_s=time.time(),
    )


def survey(settings: ClusterSettings) -> list[SurveyedWorker]:
    """Ask all workers of the cluster for a report; return them sorted by name, those without an answer, too.

    Raises MachineFault if no scheduler answers.
    """
    with LoopThread() as loop:
        return loop.run(_survey_workers(settings)).result()


def faults(worker: SurveyedWorker, here: WorkerReport) -> Iterator[CheckResult]:
    """Compare a worker with this machine; yield a `bad` or `note` for each difference, nothing if it is fit."""
    there, name = worker.report, f"worker {worker.name}"
    if there is None:
        yield bad(f"{name} does not tell: {worker.why}; install the same arena there, and start the worker anew")
        return
    name = f"{name} on {there.host}"
    if there.sandbox:
        yield bad(f"{name}: {there.sandbox}")
    for game, expected in here.identities.items():
        if game in there.lacking:
            yield note(f"{name} cannot play {game}: {there.lacking[game]}")
        elif difference := describe_differences(there.identities.get(game), expected):
            yield bad(f"{name}, {game}: {difference}")
    if abs(worker.ahead_s) > _APART_S:
        skew = f"its clock is {abs(worker.ahead_s):.0f} s {'ahead' if worker.ahead_s > 0 else 'behind'}"
        yield note(f"{name}: {skew}; no match depends on it, but certificates and times in logs do")


def fit_for(
    game: str, isolation: Isolation, workers: Iterable[SurveyedWorker], here: WorkerReport
) -> list[WorkerReport]:
    """Return the reports of the workers that can play a game with this isolation and the versions of this machine."""
    reports = (worker.report for worker in workers if worker.report is not None)
    expected = here.identities.get(game)
    fit = (it for it in reports if expected is not None and it.identities.get(game) == expected)
    return [it for it in fit if isolation == "none" or not it.sandbox]


async def _survey_workers(settings: ClusterSettings) -> list[SurveyedWorker]:
    """Connect to the cluster and ask all workers at once; return them sorted by name."""
    link = await open_link(settings)
    try:
        _, names = await link.workers()
        workers = await asyncio.gather(*(_ask_worker(link, address, name) for address, name in names.items()))
    finally:
        await link.close()
    return sorted(workers, key=lambda worker: worker.name)


async def _ask_worker(link: DaskLink, address: str, name: str) -> SurveyedWorker:
    """Ask a worker for its report; without one, return the worker with the reason."""
    try:
        answer = decode_message(await asyncio.wait_for(link.call(look, address, b""), _LATE_S), WorkerReport)
    except TimeoutError:
        return SurveyedWorker(name, why=f"no answer within {_LATE_S:.0f} s")
    except (CallFailed, OSError, msgspec.MsgspecError) as error:
        return SurveyedWorker(name, why=f"{type(error).__name__}: {error}")
    return SurveyedWorker(name, answer, ahead_s=answer.clock_s - time.time())


def _sandbox_breach() -> str:
    """Return why bots cannot be run in a sandbox here; empty if they can."""
    try:
        breaches = self_test.breaches(self_test.attempt_escapes())
    except (ArenaError, OSError, ImportError) as error:
        return str(error) or type(error).__name__
    return f"the sandbox does not hold: {'; '.join(breaches)}" if breaches else ""
