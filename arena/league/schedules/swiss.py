"""The Swiss system: round by round, players of about the same score meet, nobody twice.

Rule: players stand in order of score, then of the file. The first one meets somebody of the same score: those form a
group, whose upper half meets its lower half in order, as in the Dutch system of the chess federation FIDE (Handbook,
C.04.3). If that one has been met already, the nearest other of the group does, then the next below. A choice that
would leave others without anybody to meet is passed over. Nobody meets again as long as there is a way without it.

With an odd number the last in the order who has not yet had a bye gets one. It counts as a block won.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from arena.league.schedules.matching import Matching
from arena.league.schedules.plan import Course, Plan, Table, half_points, shown

BYE: Final = 4
"""Half points: those of the two matches of a block, won."""


def swiss(players: Sequence[str], rounds: int) -> Course:
    """The rounds; `players` in the order of the file."""
    points: Counter[str] = Counter()
    meetings: Counter[frozenset[str]] = Counter()
    byes: list[str] = []
    for number in range(1, rounds + 1):
        order = sorted(players, key=lambda player: -points[player])
        if len(order) % 2:
            byes.append(next((player for player in reversed(order) if player not in byes), order[-1]))
            order.remove(byes[-1])
            points[byes[-1]] += BYE
        tables = pair_up(order, points, meetings)
        meetings.update(map(frozenset, tables))
        news = (f"round {number}: {byes[-1]} has a bye",) if len(players) % 2 else ()
        points += half_points((yield Plan(tables, 1, title=f"round {number} of {rounds}", news=news)))
    standing = sorted(players, key=lambda player: -points[player])
    return (f"points after {rounds} rounds: {', '.join(f'{player} {shown(points[player])}' for player in standing)}",)


def pair_up(order: Sequence[str], points: "Counter[str]", meetings: "Counter[frozenset[str]]") -> tuple[Table, ...]:
    """Pair an even number of players, best first; nobody meets more often than that needs."""
    for most in count():
        may_meet = [
            [place for place, other in enumerate(order) if met != other and meetings[frozenset((met, other))] <= most]
            for met in order
        ]
        matching = Matching(may_meet)
        if matching.is_perfect:
            return tuple(_settled(order, points, meetings, matching))
    raise AssertionError("somebody may be met often enough")


def _settled(
    order: Sequence[str], points: "Counter[str]", meetings: "Counter[frozenset[str]]", matching: Matching
) -> Iterator[Table]:
    """Give each player, best first, the best choice that leaves somebody to meet for all others."""
    place = {player: number for number, player in enumerate(order)}
    left = list(order)
    while left:
        first = left[0]
        choices = sorted(_candidates(left, points), key=lambda other: meetings[frozenset((left[0], other))])
        other = next(each for each in choices if matching.settle(place[first], place[each]))
        left = [each for each in left if each not in (first, other)]
        yield first, other


def _candidates(left: Sequence[str], points: "Counter[str]") -> Iterator[str]:
    """Whom the first of those left would meet, best choice first."""
    group = [player for player in left if points[player] == points[left[0]]]
    half = len(group) // 2
    yield from group[max(half, 1) :]
    yield from reversed(group[1:half])
    yield from left[len(group) :]
