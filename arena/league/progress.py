"""Progress of a run in words, for a line on stderr and for the log.

Rule: finished matches of jobs that are not over are shown apart from stored ones: a stop loses them.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

import msgspec

from arena.league.schedule import Round, is_open_ended, match_count
from arena.league.state import LeagueState
from arena.league.tournament import Tournament
from arena.match.columns import PlayedBlock
from arena.text import counted, printable

_DAY_H: Final = 24
_MOST_MACHINES: Final = 3
_REPORT_EVERY: Final = 500
"""Steps of a task between two reports."""

T = TypeVar("T")
OnStep = Callable[[str, int, int], object]
"""Gets the words for a part of a task, the number of its finished steps, and that of all its steps."""


def ignore_step(_words: str, _done: int, _total: int) -> None:
    """Ignore a report."""


def steps_of(items: Iterable[T], words: str, total: int, on_step: OnStep, *, every: int = _REPORT_EVERY) -> Iterator[T]:
    """Yield the items; report how many of `total` were yielded, before the first and after `every` more each time."""
    for number, item in enumerate(items):
        if number % every == 0:
            on_step(words, number, total)
        yield item


class RunCounts(msgspec.Struct, frozen=True):
    """The counts of a run at a moment: `done` of `total` matches are over, `stored` of them kept for good.

    `rate` is in matches a second. `round` names the round of a league, `machines` has the number of matches of each
    machine of a cluster.
    """

    done: int
    total: int
    stored: int
    rate: float
    forfeits: int = 0
    round: str = ""
    machines: tuple[tuple[str, int], ...] = ()

    def words(self) -> str:
        """Return the counts as one line: matches, stored ones if fewer, rate, time left, forfeits, round, machines."""
        stored = f" ({self.stored} stored)" if self.stored < self.done else ""
        rate = f"{self.rate:.{0 if self.rate >= 10 else 1}f}/s"
        forfeits = f", {counted(self.forfeits, 'forfeit')}" if self.forfeits else ""
        matches = f"{self.done}/{self.total} matches{stored}, {rate}{self.left()}{forfeits}"
        return f"{matches}{self.round and f', {self.round}'}{self._by_machine()}"

    def left(self) -> str:
        """Return `, 1h02m left`; empty before the first match of this run, and after the last one."""
        left = self.total - self.done
        return f", {duration_text(left / self.rate)} left" if self.rate and left > 0 else ""

    def _by_machine(self) -> str:
        """Return `, on a 12, b 10 and 3 other machines`; empty without machines."""
        if not self.machines:
            return ""
        named = [f"{printable(name)} {count}" for name, count in self.machines[:_MOST_MACHINES]]
        more = len(self.machines) - len(named)
        return f", on {', '.join(named)}" + (f" and {counted(more, 'other machine')}" if more else "")


class RunProgress:
    """The progress of a run: counts that go on. `finished` matches are over and not stored yet."""

    def __init__(
        self, *, total: int, done: int = 0, forfeits: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = total
        self.done = done
        self.finished = 0
        self.round = ""
        self.machines = Counter[str]()
        self._before = done
        self._forfeits = forfeits
        self._clock = clock
        self._start_s = clock()

    def add(self, matches: int, forfeits: int) -> None:
        """Count more matches as stored, which were finished before."""
        self.done += matches
        self.finished = max(0, self.finished - matches)
        self._forfeits += forfeits

    def reach(self, done: int, total: int) -> None:
        """Count what is stored by now, of a total that may have changed."""
        self.total = total
        self.add(done - self.done, 0)

    def add_blocks(self, blocks: Iterable[PlayedBlock]) -> None:
        """Count the matches of more blocks as stored."""
        for block in blocks:
            self.add(block.matches, block.forfeits)
            if block.machine is not None:
                self.machines[block.machine.name] += block.matches

    def begin(self, state: LeagueState) -> None:
        """Begin the next round of a league; the total is that of the rounds known by now."""
        self.total = state.scheduled
        current = state.rounds[-1]
        more = f" ({whole_text(state.tournament)} in all)" if is_open_ended(state.tournament) else ""
        self.round = f"{round_title(current)}{more}" if current.is_awaited else ""

    @property
    def counts(self) -> RunCounts:
        """The counts of the run by now."""
        done = self.done + self.finished
        rate = (done - self._before) / max(self._clock() - self._start_s, 1e-9)
        machines = tuple(self.machines.most_common())
        return RunCounts(done, self.total, self.done, rate, self._forfeits, self.round, machines)


def whole_text(tournament: Tournament) -> str:
    """Return the number of all matches; `at most 40` if results decide how many there will be."""
    most = match_count(tournament)
    return f"at most {most}" if is_open_ended(tournament) else str(most)


def round_title(current: Round) -> str:
    """Return the name of a round for its reader: `round 2 of 5`, `round 3: final`."""
    return current.title if current.title.startswith("round") else f"round {current.number}: {current.title}"


def progress_of(state: LeagueState) -> str:
    """Describe the matches stored and asked for, and the round where there is more than one."""
    current = state.rounds[-1]
    if is_open_ended(state.tournament) and not state.is_complete:
        most = counted(match_count(state.tournament), "match", "matches")
        return f"{state.stored} of at most {most}, {round_title(current)}"
    matches = f"{state.stored} of {counted(state.scheduled, 'match', 'matches')}"
    return matches if state.is_complete or not current.is_awaited else f"{matches}, {round_title(current)}"


def duration_text(seconds: float) -> str:
    """Return a duration as text: `42s`, `3m07s`, `1h02m`, `2d03h`."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= _DAY_H:
        return f"{hours // _DAY_H}d{hours % _DAY_H:02}h"
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{seconds:02}s" if minutes else f"{seconds}s"
