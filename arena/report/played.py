"""What is stored of a league -> the ids of its matches.

Rule: nothing here knows how blocks are numbered within a league, only that their numbers follow the schedule.
"""

from collections import defaultdict
from collections.abc import Sequence

from arena.league.state import LeagueState
from arena.standings.table import MatchResult


def match_ids(state: LeagueState, results: Sequence[MatchResult]) -> tuple[str, ...]:
    """The id of each of `results`, which are all that is stored of the league.

    The n-th block of a pairing among the results is the n-th that the store has of it.
    """
    tables = {frozenset(span.pairing.names): span for span in state.spans}
    met: defaultdict[frozenset[str], set[int]] = defaultdict(set)
    for one in results:
        met[frozenset(one.players)].add(one.block)
    numbers = {
        (table, block): tables[table].ranks.blocks[place]
        for table, found in met.items()
        for place, block in enumerate(sorted(found))
    }
    ids = []
    for one in results:
        table = frozenset(one.players)
        rotation = tables[table].pairing.names.index(one.players[0])
        ids.append(f"{tables[table].pairing.key}-{numbers[table, one.block]}-{rotation}")
    return tuple(ids)
