"""Progress of a run in words, for a line on stderr and for the log.

Rule: finished matches of jobs that are not over are told apart from stored ones: a stop loses them.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from arena.league.schedule import Round, is_open_ended, match_count
from arena.league.state import LeagueState
from arena.match.columns import PlayedBlock
from arena.text import counted, printable

_DAY_H: Final = 24
_NAMED: Final = 3
_AT_ONCE: Final = 500
"""Steps of a task between two reports."""

T = TypeVar("T")
OnStep = Callable[[str, int, int], None]
"""Gets the words of a part of a task, and how many of how many steps of it are done."""


def ignore_step(_words: str, _done: int, _total: int) -> None:
    """Report nothing."""


def steps_of(items: Iterable[T], words: str, total: int, on_step: OnStep, *, every: int = _AT_ONCE) -> Iterator[T]:
    """Yield the items, and report how many of `total` have been taken, each time after `every` of them."""
    for number, item in enumerate(items):
        if number % every == 0:
            on_step(words, number, total)
        yield item


class Progress:
    """Counts of a run: `total` and `done` are matches, `forfeits` those of them lost that way.

    `done` are stored; `finished` are those that are over and not stored yet.
    """

    def __init__(
        self, *, total: int, done: int = 0, forfeits: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = total
        self.done = done
        self.finished = 0
        self._before = done
        self._forfeits = forfeits
        self._clock = clock
        self._start_s = clock()

    def add(self, matches: int, forfeits: int) -> None:
        """More matches are stored."""
        self.done += matches
        self._forfeits += forfeits

    def counts(self) -> tuple[int, int]:
        """Matches that are over, and of how many."""
        return self.done + self.finished, self.total

    def words(self) -> str:
        """Matches, those of them that are stored if not all are, rate, time left, forfeits."""
        rate = self._rate()
        forfeits = f", {counted(self._forfeits, 'forfeit')}" if self._forfeits else ""
        stored = f" ({self.done} stored)" if self.finished else ""
        matches = f"{self.done + self.finished}/{self.total} matches{stored}"
        return f"{matches}, {rate:.{0 if rate >= 10 else 1}f}/s{self.left()}{forfeits}"

    def left(self) -> str:
        """`, 1h02m left`; nothing before the first match of this run, and after the last one."""
        rate, left = self._rate(), self.total - self.done - self.finished
        return f", {duration_text(left / rate)} left" if rate and left > 0 else ""

    def _rate(self) -> float:
        """Matches a second since the start of this run."""
        return (self.done + self.finished - self._before) / max(self._clock() - self._start_s, 1e-9)


class LeagueProgress(Progress):
    """The same with the round of the league; its total is that of the rounds known by now.

    `whole` is the number of all matches in words, `at most 40` if results decide how many there will be.
    """

    def __init__(self, state: LeagueState, forfeits: int) -> None:
        super().__init__(total=state.scheduled, done=state.stored, forfeits=forfeits)
        most = match_count(state.tournament)
        self.whole = f"at most {most}" if is_open_ended(state.tournament) else str(most)
        self._round = ""
        self._machines = Counter[str]()

    def played(self, blocks: Iterable[PlayedBlock]) -> None:
        """More blocks are stored."""
        for block in blocks:
            self.add(len(block.storable), block.forfeits)
            if block.machine is not None:
                self._machines[block.machine.name] += len(block.storable)

    def begin(self, state: LeagueState) -> None:
        """The next round of the league begins."""
        self.total = state.scheduled
        current = state.rounds[-1]
        more = f" ({self.whole} in all)" if is_open_ended(state.tournament) else ""
        self._round = f", {round_title(current)}{more}" if current.is_awaited else ""

    def words(self) -> str:
        """Matches, rate, time left, forfeits, round; of a cluster also the matches of this run by machine."""
        return super().words() + self._round + self._by_machine()

    def _by_machine(self) -> str:
        if not self._machines:
            return ""
        named = [f"{printable(name)} {count}" for name, count in self._machines.most_common(_NAMED)]
        more = len(self._machines) - len(named)
        return f", on {', '.join(named)}" + (f" and {counted(more, 'other machine')}" if more else "")


def round_title(current: Round) -> str:
    """A round in the words of its reader: `round 2 of 5`, `round 3: final`."""
    return current.title if current.title.startswith("round") else f"round {current.number}: {current.title}"


def progress_of(state: LeagueState) -> str:
    """Matches stored and asked for, and the round where there is more than one."""
    current = state.rounds[-1]
    if is_open_ended(state.tournament) and not state.is_complete:
        most = counted(match_count(state.tournament), "match", "matches")
        return f"{state.stored} of at most {most}, {round_title(current)}"
    said = f"{state.stored} of {counted(state.scheduled, 'match', 'matches')}"
    return said if state.is_complete or not current.is_awaited else f"{said}, {round_title(current)}"


def duration_text(seconds: float) -> str:
    """`42s`, `3m07s`, `1h02m`, `2d03h`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= _DAY_H:
        return f"{hours // _DAY_H}d{hours % _DAY_H:02}h"
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
