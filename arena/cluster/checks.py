"""Stored matches as a job of the cluster: a worker checks them, in a process of its own.

Rule: a check changes nothing, so that a job whose worker is lost goes to another one.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar, Self

import msgspec

from arena.process.manifest import BotSpec
from arena.verify.match import Batch, CheckedMatch, CheckTask, check_match


class CheckJob(msgspec.Struct, frozen=True, tag=True):
    """A job of stored matches to check. `ids`: their ids; `tasks`: packed by msgpack; `attempt` counts from 1."""

    ids: tuple[str, ...]
    tasks: bytes
    attempt: int = 1
    digests: ClassVar = frozenset[str]()
    """Hashes of the bots that the job needs: none."""

    @property
    def key(self) -> tuple[str, int]:
        """Id of the first match and 0: the same in all attempts."""
        return self.ids[0], 0

    @property
    def matches(self) -> int:
        """Number of matches."""
        return len(self.ids)

    def with_bots(self, _: Callable[[BotSpec], BotSpec]) -> Self:
        """Return the job unchanged: it has no bots."""
        return self


def check_job(batch: Batch) -> CheckJob:
    """Return the job that checks a batch."""
    tasks = msgspec.msgpack.encode(batch, enc_hook=str)  # the hook is for fractions, which msgpack does not know
    return CheckJob(tuple(str(task.match.key) for task in batch), tasks)


def check_alone(job: CheckJob, on_finished: Callable[[int], None]) -> list[CheckedMatch]:
    """Check the matches of a job; `on_finished` gets the number of matches checked so far."""
    checked: list[CheckedMatch] = []
    for task in msgspec.msgpack.decode(job.tasks, type=list[CheckTask], dec_hook=_decode_fraction):
        checked.append(check_match(task))
        on_finished(len(checked))
    return checked


def _decode_fraction(kind: type, text: str) -> Any:
    """Decode a fraction, the only type in a task that msgpack does not know."""
    assert kind is Fraction
    return Fraction(text)
