"""Cycles, and after them `until: decided`: blocks only between neighbours in the ranking that are undecided.

Rule: the ranking is that of the probit fit of all results so far (`arena.statistics`), with the errors of blocks, not
of matches. Two neighbours are decided when one is better with at least the likelihood asked for. Only pairs that are
undecided and below the cap play on, all by the same number of blocks, until there are none.

Whoever looks again and again will sooner or later see 95 % by luck alone: the likelihood is that of the last look, not
the share of such verdicts that are right. Measured: of two equal players one was called better at 95 % in 12 % of 400
leagues with a single look and in 34 % with ten; of two of whom one wins 60 %, the wrong one in 2 % with ten looks.
"""

from collections.abc import Sequence

from arena.league.schedules.evidence import Evidence
from arena.league.schedules.plan import Course, Plan, Table
from arena.league.schedules.settings import Decided
from arena.standings.ratings import RatingSettings
from arena.text import counted


def cycles(tables: Sequence[Table], count: int) -> Course:
    """Every table once in each cycle; nothing depends on what comes of it."""
    yield Plan(tuple(tables), count, title=counted(count, "cycle"), is_awaited=False)
    return ()


def until_decided(
    players: Sequence[str], tables: Sequence[Table], count: int, rule: Decided, rating: RatingSettings
) -> Course:
    """The cycles, then blocks for undecided neighbours that are among `tables`."""
    by_players = {frozenset(table): table for table in tables}
    played = dict.fromkeys(tables, count)
    evidence = Evidence(players, rating)
    evidence.add((yield Plan(tuple(tables), count, title=counted(count, "cycle"))))
    while True:
        undecided = [pair for pair in evidence.undecided(rule.likelihood) if frozenset(pair) in by_players]
        again = [by_players[frozenset(pair)] for pair in undecided]
        again = [pair for pair in again if played[pair] + rule.step_blocks <= rule.cap_blocks]
        if not again:
            return _news(undecided, rule)
        for pair in again:
            played[pair] += rule.step_blocks
        what = f"{counted(len(again), 'undecided pair')} of neighbours"
        evidence.add((yield Plan(tuple(again), rule.step_blocks, title=what)))


def _news(undecided: Sequence[tuple[str, str]], rule: Decided) -> tuple[str, ...]:
    if not undecided:
        return (f"decided: of neighbours who meet, each is better with a likelihood of {100 * rule.likelihood:g} %",)
    pairs = ", ".join(f"{better} and {worse}" for better, worse in undecided)
    return (f"undecided at the cap of {counted(rule.cap_blocks, 'block')}: {pairs}",)
