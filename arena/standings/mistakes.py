"""Costs of the decisions of each player of a league, from judged matches.

Rule: decisions of a block are not independent of each other, blocks are: the interval is that of a ratio of two sums
over blocks. Source: W. G. Cochran, Sampling Techniques, 3rd edition, 6.4.
"""

from collections import defaultdict
from collections.abc import Iterable
from heapq import nsmallest
from math import fsum, sqrt
from typing import TYPE_CHECKING, Final

import msgspec

from arena.match.judgement import JudgedDecision, Judgement
from arena.match.results import MatchResult
from arena.statistics.interval import Interval, interval

if TYPE_CHECKING:
    from arena.standings.rows import Row

MOST_COSTLY: Final = 5
"""The number of the costliest decisions that are kept of each player."""


class CostlyDecision(msgspec.Struct, frozen=True):
    """A mistake in a match, which is named by its id."""

    match: str
    decision: JudgedDecision


class PlayerMistakes(msgspec.Struct, frozen=True, kw_only=True):
    """The decisions of a player in judged matches, beside the rating: mistakes, and the mean cost of a decision.

    `cost` is in payoff, of which 1 is a win, with its 95 % interval from `blocks`; None without a judged decision.
    `unjudged` decisions are not among `decisions`. `costliest` are the largest mistakes, the costliest first.
    """

    name: str
    rating: Interval | None
    matches: int
    blocks: int
    decisions: int
    unjudged: int
    mistakes: int
    cost: Interval | None
    costliest: tuple[CostlyDecision, ...] = ()


class LeagueMistakes(msgspec.Struct, frozen=True):
    """The mistakes of all players, best player first, in `judged` of the `stored` matches of a league.

    `by`: whose opinion it is. `failures` count the matches that could not be judged, by the reason.
    """

    league: str
    by: str
    judged: int
    stored: int
    players: tuple[PlayerMistakes, ...]
    failures: dict[str, int]

    @property
    def by_name(self) -> dict[str, PlayerMistakes]:
        """The mistakes of each player by name."""
        return {player.name: player for player in self.players}


class _Block(msgspec.Struct):
    """The sums of a player over a block."""

    decisions: int = 0
    cost: float = 0.0


class MistakeSums:
    """Sums over judged matches, by player."""

    def __init__(self) -> None:
        self._counts = defaultdict[str, dict[str, int]](lambda: dict.fromkeys(("matches", "mistakes", "unjudged"), 0))
        self._blocks = defaultdict[str, dict[tuple[str, int], _Block]](lambda: defaultdict(_Block))
        self._costliest = defaultdict[str, list[CostlyDecision]](list)

    def add(self, match: MatchResult, judgement: Judgement) -> None:
        """Add a match with the judgement of all its seats."""
        for seat, name in enumerate(match.players):
            judged, counts = judgement.judged(seat), self._counts[name]
            counts["matches"] += 1
            counts["mistakes"] += sum(decision.is_mistake for decision in judged)
            counts["unjudged"] += sum(decision.seat == seat for decision in judgement.decisions) - len(judged)
            block = self._blocks[name][match.key.pairing, match.key.block]
            block.decisions += len(judged)
            block.cost += fsum(decision.cost for decision in judged)
            mistakes = [CostlyDecision(str(match.key), chosen) for chosen in judgement.costliest(MOST_COSTLY, (seat,))]
            self._costliest[name] = nsmallest(MOST_COSTLY, [*self._costliest[name], *mistakes], key=_order_by_cost)

    def players(self, rows: "Iterable[Row]") -> tuple[PlayerMistakes, ...]:
        """Return the mistakes of the players of these rows, in their order; counts are 0 without a judged match."""
        return tuple(self._player(row) for row in rows)

    def _player(self, row: "Row") -> PlayerMistakes:
        blocks = [block for block in self._blocks[row.name].values() if block.decisions]
        decisions = sum(block.decisions for block in blocks)
        return PlayerMistakes(
            name=row.name,
            rating=row.rating,
            blocks=len(blocks),
            decisions=decisions,
            cost=_mean_cost(blocks, decisions) if decisions else None,
            costliest=tuple(self._costliest[row.name]),
            **self._counts[row.name],
        )


def _order_by_cost(mistake: CostlyDecision) -> tuple[float, str, int]:
    """Return the key that sorts mistakes, the costliest first; equal ones by match and step."""
    return -mistake.decision.cost, mistake.match, mistake.decision.step


def _mean_cost(blocks: list[_Block], decisions: int) -> Interval:
    """Return the cost of a decision: the ratio of two sums over blocks, whose residuals give its error."""
    count = len(blocks)
    mean = fsum(block.cost for block in blocks) / decisions
    squares = fsum((block.cost - mean * block.decisions) ** 2 for block in blocks)
    error = sqrt(squares * count / (count - 1)) / decisions if count > 1 else 0.0
    return interval(mean, error, degrees=count - 1, blocks=count, lowest=0.0, unseen=0.0)
