"""Results for schedules without any matches: players of known strength, and what a schedule then asks for."""

from collections.abc import Callable, Sequence

from arena.league.results import rotate
from arena.league.schedules.plan import Course, Plan, Table
from arena.standings.table import MatchResult

Winner = Callable[[str, str, int], str | None]
"""Who wins a match of two in that block of theirs; None for a draw."""


def better(one: str, other: str, _block: int) -> str | None:
    """The earlier name is always better."""
    return min(one, other)


def result(players: Sequence[str], winner: str | None, *, block: int = 0, pairing: int = 0) -> MatchResult:
    """A match without forfeit; None is a draw of all."""
    ranks = tuple(0 if winner in {None, player} else 1 for player in players)
    seats = len(players)
    return MatchResult(
        block=block,
        pairing=pairing,
        players=tuple(players),
        ranks=ranks,
        scores=tuple(1 - rank for rank in ranks),
        termination="normal",
        at_fault=-1,
        moves=(1,) * seats,
        time_ms=(1.0,) * seats,
        slowest_ms=(1.0,) * seats,
    )


class Event:
    """A course played to its end: its plans, all results, and its last news."""

    def __init__(self, course: Course, winner: Winner = better) -> None:
        self.plans: list[Plan] = []
        self.results: list[MatchResult] = []
        self.news: tuple[str, ...] = ()
        self._winner = winner
        self._blocks: dict[Table, int] = {}
        answer: list[MatchResult] | None = None
        while True:
            try:
                plan = next(course) if answer is None else course.send(answer)
            except StopIteration as end:
                self.news = end.value
                return
            self.plans.append(plan)
            answer = self._played(plan)
            self.results += answer

    @property
    def told(self) -> list[str]:
        """All news in their order."""
        return [sentence for plan in self.plans for sentence in plan.news] + list(self.news)

    def blocks(self, *players: str) -> int:
        """Blocks between these players."""
        return self._blocks.get(tuple(sorted(players)), 0)

    def _played(self, plan: Plan) -> list[MatchResult]:
        found = []
        for table in plan.tables:
            key = tuple(sorted(table))
            first = self._blocks.get(key, 0)
            pairing = list(self._blocks).index(key) if key in self._blocks else len(self._blocks)
            self._blocks[key] = first + plan.blocks
            for block in range(first, first + plan.blocks):
                winner = self._winner(key[0], key[1], block)
                found += [
                    result(rotate(key, rotation), winner, block=block * 10_000 + pairing, pairing=pairing)
                    for rotation in (0, 1)
                ]
        return found
