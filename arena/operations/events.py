"""Events: what an operation reports while it runs. A door draws them, prints them or passes them on.

Rule: an event holds numbers and names, never a line of a terminal; tags make all of them one format in msgpack.
"""

from collections.abc import Callable
from typing import Any, Self

import msgspec

from arena.league.progress import RunCounts


class Event(msgspec.Struct, frozen=True, tag=True):
    """Something that happened in an operation."""


class Progress(Event, frozen=True):
    """`done` of `total` steps of a task, which is named by the noun of its steps: matches, pages."""

    task: str
    done: int
    total: int


class Counted(Progress, frozen=True):
    """Progress with its rate; if the steps are matches, `done` of them are finished."""

    counts: RunCounts

    @classmethod
    def of(cls, counts: RunCounts, *more: Any, task: str = "matches") -> Self:
        """Return the event of these counts; `more` are the fields of a subclass."""
        return cls(task, counts.done, counts.total, counts, *more)


class Warned(Event, frozen=True):
    """A warning, in a sentence for the user; the operation goes on."""

    sentence: str


OnEvent = Callable[[Event], object]
"""A door's function for the events of an operation. An exception of it ends the operation."""


def ignore(_event: Event) -> None:
    """Drop an event."""
