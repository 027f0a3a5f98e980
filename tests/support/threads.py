"""A backend whose workers are threads of the test's own process, where a test can put another referee or stop a run."""

from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from arena.errors import HarnessFault
from arena.league import worker
from arena.league.driver import PlayedBlocks
from arena.league.schedule import Job
from arena.league.worker import OnFinished, play_job
from arena.match import referee
from arena.match.columns import PlayedBlock
from arena.match.participant import Participant
from arena.match.record import MatchRecord
from arena.match.settings import MatchSpec
from arena.process.sandbox import self_test


def play_whole_job(job: Job) -> list[PlayedBlock]:
    """All blocks of the job. HarnessFault if bots cannot be isolated so here."""
    self_test.require_isolation(job.isolation)
    return play_job(job)


class ThreadBackend:
    """A backend that plays whole jobs on an executor."""

    slots = 1

    def __init__(self, executor: Executor | None = None) -> None:
        self._executor = executor or ThreadPoolExecutor(1)

    def submit(self, job: Job, on_finished: OnFinished) -> "Future[PlayedBlocks]":  # noqa: ARG002 - it shows no progress
        return self._executor.submit(play_whole_job, job)

    def close(self, *, is_interrupted: bool) -> None:
        self._executor.shutdown(wait=not is_interrupted, cancel_futures=is_interrupted)


def play_in_threads(monkeypatch: pytest.MonkeyPatch, executor: Executor | None = None) -> None:
    """`league run` in this process plays on that executor, by default on one thread, until the patch is undone."""

    def make(_workers: int, **_options: Any) -> ThreadBackend:
        return ThreadBackend(executor)

    monkeypatch.setattr("arena.operations.run_league.LocalBackend", make)


def make_void(monkeypatch: pytest.MonkeyPatch, match: str, times: int) -> None:
    """Let the referee fail in that match, so many times; the processes have met it then."""
    left = times

    def play(spec: MatchSpec, participants: Sequence[Participant], **meter: Any) -> MatchRecord:
        nonlocal left
        record = referee.play_match(spec, participants, **meter)
        if spec.match == match and left:
            left -= 1
            raise HarnessFault("all was quiet")
        return record

    monkeypatch.setattr(worker, "play_match", play)
