"""The ranks of pairings as texts: the matches they stand for, their order in the schedule, and ranks of results.

Rule: a course is the text of a block, n n characters for n players: by rotation and by seat, a digit for each rank.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from arena.match.results import MatchResult, PairingRanks, rotate
from arena.statistics.pairs import MISSING

Ranking = tuple[tuple[str, ...], tuple[int, ...]]
"""The players of a match by seat, and their ranks by seat."""
Blocks = dict[int, dict[int, MatchResult]]
"""The matches of a pairing by block and rotation."""


@lru_cache(maxsize=4096)
def matches_of(course: str, seats: int) -> tuple[tuple[int, ...] | None, ...]:
    """The ranks of the matches of a block, by rotation; None for one that is not there."""
    parts = [course[start : start + seats] for start in range(0, len(course), seats)]
    return tuple([None if part[0] == MISSING else tuple(map(int, part)) for part in parts])


def full_score(seats: int) -> int:
    """The points of a win over all others, which is a score of 1."""
    return 2 * (seats - 1)


def in_schedule_order(pairings: Iterable[PairingRanks]) -> Iterator[Ranking]:
    """All matches by block, pairing, rotation; `pairings` come in the order of the schedule."""
    by_block: defaultdict[int, list[tuple[Ranking, ...]]] = defaultdict(list)
    for one in pairings:
        courses = [*one.courses]
        known = {course: _rankings(one.players, course) for course in {*courses}}
        for block, course in zip(one.blocks, courses, strict=True):
            by_block[block].append(known[course])
    return chain.from_iterable(chain.from_iterable(by_block[block] for block in sorted(by_block)))


def _rankings(players: tuple[str, ...], course: str) -> tuple[Ranking, ...]:
    ranks = matches_of(course, len(players))
    return tuple([(rotate(players, turn), own) for turn, own in enumerate(ranks) if own is not None])


def no_match(seats: int) -> str:
    """The part of a course for a match that is not there."""
    return MISSING * seats


def ranks_of(players: tuple[str, ...], blocks: Blocks) -> PairingRanks:
    """The ranks of the matches of a pairing, whose players come by place."""
    nothing = no_match(len(players))
    courses = (
        "".join(map(str, blocks[block][rotation].ranks)) if rotation in blocks[block] else nothing
        for block in sorted(blocks)
        for rotation in range(len(players))
    )
    return PairingRanks(players, sorted(blocks), "".join(courses))


def by_pairing(results: Iterable[MatchResult]) -> dict[str, tuple[tuple[str, ...], Blocks]]:
    """The players of each pairing by place, and its matches; by its key, in the order of first mention.

    ValueError for a match that is there twice, or whose players are no rotation of its pairing's.
    """
    found: dict[str, tuple[tuple[str, ...], Blocks]] = {}
    for one in results:
        players, blocks = found.setdefault(one.key.pairing, (one.places, {}))
        if one.places != players:
            seated, due = ", ".join(one.players), ", ".join(players)
            raise ValueError(f"match {one.key}: {seated} do not sit in a rotation of {due}")
        matches = blocks.setdefault(one.key.block, {})
        if one.key.rotation in matches or not 0 <= one.key.rotation < len(players):
            raise ValueError(f"match {one.key} of {', '.join(one.players)} is there twice, or no rotation of theirs")
        matches[one.key.rotation] = one
    return found
