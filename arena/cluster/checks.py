"""Stored matches as a job of the cluster: a worker checks them, in a process of its own.

Rule: a check changes nothing, so that a job whose worker is lost goes to another one.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar, Self

import msgspec

from arena.process.manifest import BotSpec
from arena.verify.match import Batch, Checked, Task, check_match


class CheckJob(msgspec.Struct, frozen=True, tag=True):
    """Stored matches to be checked, by their ids; `tasks` are packed. `attempt` counts from 1."""

    ids: tuple[str, ...]
    tasks: bytes
    attempt: int = 1
    digests: ClassVar = frozenset[str]()
    """The bots that it needs."""

    @property
    def key(self) -> tuple[str, int]:
        """The first match: the same whenever the job is done again."""
        return self.ids[0], 0

    @property
    def matches(self) -> int:
        """The number of its matches."""
        return len(self.ids)

    def with_bots(self, _: Callable[[BotSpec], BotSpec]) -> Self:
        """Return the job as it is: it has no bots."""
        return self


def check_job(batch: Batch) -> CheckJob:
    """Return the job of a batch."""
    tasks = msgspec.msgpack.encode(batch, enc_hook=str)  # fractions, which msgpack does not know
    return CheckJob(tuple(str(task.match.key) for task in batch), tasks)


def check_alone(job: CheckJob, on_finished: Callable[[int], None]) -> list[Checked]:
    """Check the matches of a job; `on_finished` gets the number of those that are checked."""
    checked: list[Checked] = []
    for task in msgspec.msgpack.decode(job.tasks, type=list[Task], dec_hook=_fraction):
        checked.append(check_match(task))
        on_finished(len(checked))
    return checked


def _fraction(kind: type, text: str) -> Any:
    """The only values of a task that msgpack does not know."""
    assert kind is Fraction
    return Fraction(text)
