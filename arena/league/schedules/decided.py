"""`until: decided`: after the cycles, blocks only between neighbours in the ranking that are undecided.

Rule: the ranking is that of the probit fit of all results so far; it only says who plays on. Whether one of two is
better is decided by their own blocks alone, at the end of each of their rounds, with an error that is bounded over all
of these analyses (`arena.statistics.spending`). So of two equals one is called better with a chance of 1 - likelihood
at most, however the ranking picks pairs. Nothing is promised for all pairs of a league together. Only pairs that are
undecided and below the cap play on, all by the same number of blocks, until there are none.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from arena.league.schedules import Plan, ScheduleGenerator, TableNames, half_points
from arena.league.schedules.settings import StoppingRule
from arena.match.results import PairingRanks
from arena.standings.ratings import RatingSettings
from arena.standings.skills import GrowingRanking
from arena.statistics.spending import GroupSequentialTest, InterimData, InterimDecision
from arena.text import counted

_MOST_LEAD = 2
"""The most points between the players of a block of two matches."""


def until_decided(
    players: Sequence[str], tables: Sequence[TableNames], count: int, rule: StoppingRule, rating: RatingSettings
) -> ScheduleGenerator:
    """Plan the cycles, then blocks for undecided neighbours that are among `tables`.

    When a pair of neighbours stops, the news say at which block, and why.
    """
    ranking = GrowingRanking(players, rating)
    last = count + (rule.cap_blocks - count) // rule.step_blocks * rule.step_blocks
    duels = {frozenset(table): _Duel(table, last, 1.0 - rule.likelihood) for table in tables}
    plan = Plan(tuple(tables), count, title=counted(count, "cycle"))
    while True:
        results = yield plan
        ranking.add(results)
        for played in results:
            duels[frozenset(played.players)].add(played)
        again, news = [], []
        for pair in map(frozenset, pairwise(ranking.order())):
            if pair in duels and not duels[pair].is_over:
                sentence = duels[pair].decide(last)
                if sentence:
                    news.append(sentence)
                else:
                    again.append(duels[pair].table)
        if not again:
            return tuple(news)
        title = f"{counted(len(again), 'undecided pair')} of neighbours"
        plan = Plan(tuple(again), rule.step_blocks, title=title, news=tuple(news))


class _Duel:
    """The blocks of two players, and the test of which of them is better."""

    def __init__(self, table: TableNames, longest: int, alpha: float) -> None:
        self.table = table
        self.is_over = False
        self._test = GroupSequentialTest(longest=longest, alpha=alpha)
        self._blocks = self._lead = 0
        self._looks: list[InterimData] = []

    def add(self, played: PairingRanks) -> None:
        """Add the blocks of a round, and keep the data of its interim analysis, which `decide` makes."""
        first, second = self.table
        leads: Counter[int] = Counter()
        for block_ranks, times in Counter(played.block_ranks).items():
            points = half_points([PairingRanks(played.players, (0,), block_ranks)])
            leads[(points[first] - points[second]) // 2] += times
        self._blocks += leads.total()
        self._lead += sum(lead * times for lead, times in leads.items())
        sizes = tuple(leads[size] + leads[-size] for size in range(1, _MOST_LEAD + 1))
        self._looks.append(InterimData(self._blocks, self._lead, sizes))

    def decide(self, last: int) -> str:
        """Make the analyses due; return why the pair stops, empty if it plays on. `last`: the most blocks of a pair."""
        while self._looks:
            decision = self._test.analyse(self._looks.pop(0))
            if decision.is_decided or decision.blocks == last:
                self.is_over = True
                return _describe_decision(self.table if decision.lead >= 0 else self.table[::-1], decision, last)
        return ""


def _describe_decision(names: TableNames, decision: InterimDecision, last: int) -> str:
    """Return in a sentence how a pair ended; the first of `names` leads, `last` is the most blocks of a pair."""
    better, worse = names
    lead, cap = counted(abs(decision.lead), "point"), counted(last, "block")
    if decision.is_decided:
        when = f"decided at block {decision.blocks} of {last}, {lead} ahead"
        return f"{better} is better than {worse}: {when} (bound: {decision.bound})"
    if decision.lead:
        return f"{better} and {worse}: not decided at the cap of {cap}, {better} {lead} ahead (bound: {decision.bound})"
    return f"{better} and {worse}: not decided at the cap of {cap}, level"
