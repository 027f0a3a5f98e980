"""The ranks of pairings as texts: reading them, and the order of their matches in the schedule.

Rule: the ranks of a block are a text of n n characters for n players: by rotation and by seat, a digit for each rank.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from arena.match.results import PairingRanks, rotate
from arena.statistics.pairs import MISSING

Ranking = tuple[tuple[str, ...], tuple[int, ...]]
"""The players of a match by seat, and their ranks by seat."""


@lru_cache(maxsize=4096)
def matches_of(block_ranks: str, seats: int) -> tuple[tuple[int, ...] | None, ...]:
    """Read the ranks of the matches of a block, by rotation; None for a match that is not there."""
    parts = [block_ranks[start : start + seats] for start in range(0, len(block_ranks), seats)]
    return tuple([None if part[0] == MISSING else tuple(map(int, part)) for part in parts])


def full_score(seats: int) -> int:
    """Return the points of a win over all others in one match, which is a score of 1."""
    return 2 * (seats - 1)


def in_schedule_order(pairings: Iterable[PairingRanks]) -> Iterator[Ranking]:
    """Yield all matches that are there by block, then pairing, then rotation.

    `pairings` come in the order of the schedule; all are read before the first match.
    """
    by_block: defaultdict[int, list[tuple[Ranking, ...]]] = defaultdict(list)
    for pairing in pairings:
        all_ranks = [*pairing.block_ranks]
        known = {block_ranks: _rankings(pairing.players, block_ranks) for block_ranks in {*all_ranks}}
        for block, block_ranks in zip(pairing.blocks, all_ranks, strict=True):
            by_block[block].append(known[block_ranks])
    return chain.from_iterable(chain.from_iterable(by_block[block] for block in sorted(by_block)))


def _rankings(players: tuple[str, ...], block_ranks: str) -> tuple[Ranking, ...]:
    """Return players and ranks, both by seat, of each match of a block that is there."""
    ranks = matches_of(block_ranks, len(players))
    return tuple([(rotate(players, turn), match) for turn, match in enumerate(ranks) if match is not None])
