"""Ranks for schedules without any matches: players of known strength, and the plans that follow from them."""

from collections.abc import Callable, Iterable, Sequence

from arena.league.schedules import Plan, ScheduleGenerator, TableNames
from arena.match.results import PairingRanks

Winner = Callable[[str, str, int], str | None]
"""Who wins a match of two in that block of theirs; None for a draw."""


def better(one: str, other: str, _block: int) -> str | None:
    """The earlier name is always better."""
    return min(one, other)


def course(players: Sequence[str], winner: str | None) -> str:
    """A block of two, by place, that one of them wins both times; None draws both matches."""
    if winner is None:
        return "0000"
    return "0110" if winner == players[0] else "1001"


def won_by(players: Sequence[str], winners: Iterable[str | None], *, first: int = 0) -> PairingRanks:
    """Blocks of two players, by the winner of each."""
    courses = [course(players, winner) for winner in winners]
    return PairingRanks(tuple(players), range(first, first + len(courses)), "".join(courses))


class Event:
    """A course played to its end: its plans, the ranks of each, and its last news."""

    def __init__(self, course: ScheduleGenerator, winner: Winner = better) -> None:
        self.plans: list[Plan] = []
        self.answers: list[list[PairingRanks]] = []
        self.news: tuple[str, ...] = ()
        self._winner = winner
        self._blocks: dict[TableNames, int] = {}
        while True:
            try:
                plan = course.send(self.answers[-1]) if self.answers else next(course)
            except StopIteration as end:
                self.news = end.value
                return
            self.plans.append(plan)
            self.answers.append([self._played(tuple(sorted(table)), plan.blocks) for table in plan.tables])

    @property
    def ranks(self) -> list[PairingRanks]:
        """Those of all rounds."""
        return [each for answer in self.answers for each in answer]

    @property
    def told(self) -> list[str]:
        """All news in their order."""
        return [sentence for plan in self.plans for sentence in plan.news] + list(self.news)

    def blocks(self, *players: str) -> int:
        """Blocks between these players."""
        return self._blocks.get(tuple(sorted(players)), 0)

    def _played(self, key: TableNames, blocks: int) -> PairingRanks:
        first = self._blocks.get(key, 0)
        self._blocks[key] = first + blocks
        winners = (self._winner(key[0], key[1], block) for block in range(first, first + blocks))
        return won_by(key, winners, first=first)
