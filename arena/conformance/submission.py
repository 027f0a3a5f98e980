"""Bots on their way onto the list: each is installed, checked step by step, and plays a block against a baseline.

Rule: a bot's crash, hang or nonsense is a refusal of that bot and of no other. Of many bots each is examined in a
worker process; the process that writes the database runs none of them.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from itertools import chain
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.conformance.check import CheckPlan, StepFailed, outcome_text, require_conformance
from arena.errors import CheckFailed, HarnessFault, MachineFault, SpecError
from arena.league.schedule import Job
from arena.league.worker import play_rotations
from arena.match.record import MatchRecord
from arena.process import reaper
from arena.process.manifest import BotSpec
from arena.process.sandbox import self_test
from arena.process.workers import Window, Workers, multiprocessing_pids
from arena.report.transcript import refusal_lines, result_line
from arena.store.bots import BotStore

_ATTEMPTS: Final = 2
"""A bot that brings down a worker process a second time is refused."""


class Trial(msgspec.Struct, frozen=True):
    """A bot to be examined: the store, the checks, one for each game, and the block against the baseline."""

    bot: BotSpec
    store: BotStore
    checks: tuple[CheckPlan, ...]
    meeting: Job


class Examined(msgspec.Struct, frozen=True):
    """The result: the installed bot, None if it was refused, and then why in a line.

    `report`: the text for the author, which begins with the verdict.
    """

    bot: BotSpec | None
    reason: str
    report: str


def examine_bot(trial: Trial, tell: Callable[[str], object]) -> BotSpec:
    """Install the bot, check it, and let it play its block; the installed bot. `tell` gets each line.

    SpecError if it cannot be installed, CheckFailed if it does not pass or forfeits.
    """
    self_test.require_isolation(trial.meeting.isolation)
    candidate = trial.store.install(trial.bot)
    reaper.become_subreaper()
    sweep = partial(reaper.kill_descendants, spare=frozenset(multiprocessing_pids()))
    try:
        for each in trial.checks:
            require_conformance(candidate, each, trial.meeting.isolation, tell)
        _meet(candidate, trial, tell, sweep)
    finally:
        sweep()
    return candidate


def examine_all(
    trials: Sequence[Trial], workers: int, tick: Callable[[], object] = lambda: None
) -> Generator[tuple[int, Examined], None, None]:
    """Examine all, so many at once; the number of each trial with its result, as they end. `tick` as for a league.

    MachineFault ends it: then no further bot can be examined, either. Closing the iterator ends all bots at once.
    """
    pool = Workers(workers, preload=__name__)
    window: Window[int, Examined] = Window(lambda number: pool.submit(examine_apart, trials[number]), lambda: workers)
    numbers, deaths = iter(range(len(trials))), Counter[int]()
    is_done = False
    try:
        while window.fill(numbers):
            for number, future in window.ended():
                examined = _result(future)
                deaths[number] += examined is None
                if examined is None and deaths[number] < _ATTEMPTS:
                    numbers = chain((number,), numbers)
                else:
                    yield number, examined or _refused(f"the process that examined it died {_ATTEMPTS} times", [])
            tick()
        is_done = True
    finally:
        pool.close(is_interrupted=not is_done)


def examine_apart(trial: Trial) -> Examined:
    """The work of a worker process: examine a bot, whatever comes of it."""
    told: list[str] = []
    try:
        bot = examine_bot(trial, told.append)
        return Examined(bot, "", "\n".join([f"accepted: {bot.label}", "", *told]))
    except (SpecError, CheckFailed) as error:
        return _refused(str(error), told, reason=error.reason if isinstance(error, StepFailed) else "")
    except MachineFault:
        raise
    except HarnessFault as fault:
        report = "\n".join(["refused: it could not be examined; ask whoever runs arena for the reason", "", *told])
        return Examined(None, f"it could not be examined: {fault}", report)


def _refused(text: str, told: list[str], reason: str = "") -> Examined:
    reason = reason or text.splitlines()[0]
    details = [text] if text != reason else []
    return Examined(None, reason, "\n".join([f"refused: {reason}", "", *told, *details]).rstrip())


def _result(future: "Future[Examined]") -> Examined | None:
    """The result of a worker; None if it died."""
    try:
        return future.result()
    except BrokenExecutor:
        return None


def _meet(candidate: BotSpec, trial: Trial, tell: Callable[[str], object], sweep: Callable[[], object]) -> None:
    """Play the block; a forfeit of the candidate refuses it."""
    meeting = trial.meeting
    players = tuple(replace(each, bot=trial.store.install(each.bot)) for each in meeting.pairing.players)
    meeting = replace(meeting, pairing=replace(meeting.pairing, players=players))
    with contextlib.closing(play_rotations(meeting, sweep=sweep)) as matches:
        for _, record, _ in matches:
            seat = record.players.index(candidate.name)
            tell("\n".join([_told(record, seat), *refusal_lines(record)]))
            if record.fault is not None and record.fault.seat == seat:
                raise CheckFailed(
                    f"{candidate.label} forfeits: {record.fault.message}\nits stderr:\n{record.fault.stderr.rstrip()}"
                )


def _told(record: MatchRecord, seat: int) -> str:
    """`won 18 to 4 in seat 0 against random`, or whose fault ended the match."""
    if record.fault is not None:
        return result_line(record)
    rivals = [entry.player for other, entry in enumerate(record.seats) if other != seat]
    return f"{outcome_text(record, seat)} in seat {seat} against {', '.join(rivals)}"
