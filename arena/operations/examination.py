"""Bots on their way onto the list: each is installed, checked step by step, and plays a block against a baseline.

Rule: a bot's crash, hang or nonsense is a refusal of that bot and of no other. Of many bots each is examined in a
worker process; the process that writes the database runs none of them.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor
from functools import partial
from itertools import chain
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.conformance.check import CheckPlan, StepFailed
from arena.errors import CheckFailed, HarnessFault, MachineFault, SpecError
from arena.league.schedule import Job
from arena.league.worker import play_rotations
from arena.match.record import MatchRecord
from arena.operations.events import Event, OnEvent
from arena.operations.trials import require_conformance
from arena.process import reaper
from arena.process.manifest import BotSpec
from arena.process.sandbox import self_test
from arena.process.workers import Window, Workers, multiprocessing_pids
from arena.store.bots import BotStore

_ATTEMPTS: Final = 2
"""The number of deaths of a worker process at which a bot is refused."""


class BaselineMet(Event, frozen=True):
    """A match of the bot in `seat` against the baseline."""

    record: MatchRecord
    seat: int


class Trial(msgspec.Struct, frozen=True):
    """A bot to examine: its store, a check for each game, and the block against the baseline."""

    bot: BotSpec
    store: BotStore
    checks: tuple[CheckPlan, ...]
    baseline_job: Job


class Examination(msgspec.Struct, frozen=True):
    """The installed bot; or None if it was refused, with `reason` in a line and `details` in full.

    `events` are those of the examination. `for_author` is the reason for the author of the bot, if they get another
    one.
    """

    bot: BotSpec | None
    reason: str = ""
    details: str = ""
    events: tuple[Event, ...] = ()
    for_author: str = ""


def examine_bot(trial: Trial, on: OnEvent) -> BotSpec:
    """Install a bot, check it, and let it play its block; return the installed bot.

    SpecError if it cannot be installed, CheckFailed if it does not pass or forfeits. At the end all descendants of this
    process are killed, but for its worker processes.
    """
    self_test.require_isolation(trial.baseline_job.isolation)
    candidate = trial.store.install(trial.bot)
    reaper.become_subreaper()
    sweep = partial(reaper.kill_descendants, spare=frozenset(multiprocessing_pids()))
    try:
        for plan in trial.checks:
            require_conformance(candidate, replace(plan, compares_values=False), trial.baseline_job.isolation, on)
        _play_baseline(candidate, trial, on, sweep)
    finally:
        sweep()
    return candidate


def examine_all(
    trials: Sequence[Trial], workers: int, tick: Callable[[], object] = lambda: None
) -> Generator[tuple[int, Examination], None, None]:
    """Examine the bots of all trials, `workers` at once; yield the number of each trial with its result, as they end.

    `tick` is called about twice a second. MachineFault if no further bot can be examined, either. Closing the iterator
    kills all bots.
    """
    numbers, deaths = iter(range(len(trials))), Counter[int]()
    with Workers(workers, preload=__name__) as pool:
        window = Window[int, Examination](lambda number: pool.submit(examine_trial, trials[number]), lambda: workers)
        while window.fill(numbers):
            for number, future in window.collect():
                result: Examination | None = None
                with contextlib.suppress(BrokenExecutor):
                    result = future.result()
                deaths[number] += result is None
                if result is None and deaths[number] < _ATTEMPTS:
                    numbers = chain((number,), numbers)
                else:
                    yield number, result or Examination(None, f"the process that examined it died {_ATTEMPTS} times")
            tick()


def examine_trial(trial: Trial) -> Examination:
    """Examine a bot in a worker process; every failure but a MachineFault becomes the result."""
    events: list[Event] = []
    try:
        return Examination(examine_bot(trial, events.append), events=(*events,))
    except (SpecError, CheckFailed) as error:
        text = str(error)
        reason = error.reason if isinstance(error, StepFailed) else text.splitlines()[0]
        return Examination(None, reason, text if text != reason else "", (*events,))
    except MachineFault:
        raise
    except HarnessFault as fault:
        for_author = "it could not be examined; ask whoever runs arena for the reason"
        return Examination(None, f"it could not be examined: {fault}", "", (*events,), for_author)


def _play_baseline(candidate: BotSpec, trial: Trial, on: OnEvent, sweep: Callable[[], object]) -> None:
    """Play the block against the baseline, and report each match. CheckFailed if the candidate forfeits."""
    job = trial.baseline_job
    players = tuple(replace(player, bot=trial.store.install(player.bot)) for player in job.pairing.players)
    job = replace(job, pairing=replace(job.pairing, players=players))
    with contextlib.closing(play_rotations(job, sweep=sweep)) as matches:
        for record, _ in matches:
            seat = record.players.index(candidate.name)
            on(BaselineMet(record, seat))
            if record.fault is not None and record.fault.seat == seat:
                raise CheckFailed(
                    f"{candidate.label} forfeits: {record.fault.message}\nits stderr:\n{record.fault.stderr.rstrip()}"
                )
