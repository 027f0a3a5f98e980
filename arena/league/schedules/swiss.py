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

from arena.league.schedules import Plan, ScheduleGenerator, TableNames, half_points, points_text

BYE: Final = 4
"""Half points of a bye: those of a block whose two matches are won."""


def swiss(players: Sequence[str], rounds: int) -> ScheduleGenerator:
    """Plan the rounds; `players` in the order of the file."""
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
    return (
        f"points after {rounds} rounds: {', '.join(f'{player} {points_text(points[player])}' for player in standing)}",
    )


def pair_up(
    order: Sequence[str], points: "Counter[str]", meetings: "Counter[frozenset[str]]"
) -> tuple[TableNames, ...]:
    """Pair an even number of players, best first; no two meet more often than they must."""
    for most in count():
        may_meet = [
            [place for place, other in enumerate(order) if met != other and meetings[frozenset((met, other))] <= most]
            for met in order
        ]
        matching = Matching(may_meet)
        if matching.is_perfect:
            return tuple(_choose_tables(order, points, meetings, matching))
    raise AssertionError("somebody may be met often enough")


def _choose_tables(
    order: Sequence[str], points: "Counter[str]", meetings: "Counter[frozenset[str]]", matching: "Matching"
) -> Iterator[TableNames]:
    """Give each player, best first, the best choice that leaves somebody to meet for all others."""
    place = {player: number for number, player in enumerate(order)}
    left = list(order)
    while left:
        first = left[0]
        choices = sorted(_candidates(left, points), key=lambda other: meetings[frozenset((left[0], other))])
        other = next(choice for choice in choices if matching.fix_pair(place[first], place[choice]))
        left = [player for player in left if player not in (first, other)]
        yield first, other


def _candidates(left: Sequence[str], points: "Counter[str]") -> Iterator[str]:
    """Yield the opponents of the first player that is left, best choice first."""
    group = [player for player in left if points[player] == points[left[0]]]
    half = len(group) // 2
    yield from group[max(half, 1) :]
    yield from reversed(group[1:half])
    yield from left[len(group) :]


class Matching:
    """A perfect matching of nodes 0..n-1, if there is one; `neighbours` by node.

    Source: Edmonds, "Paths, trees, and flowers", Canadian Journal of Mathematics 17 (1965): a matching can be made
    larger as long as there is an alternating path between two single nodes; an odd cycle on the way is shrunk to one
    node.
    """

    def __init__(self, neighbours: Sequence[Sequence[int]]) -> None:
        self.neighbours = neighbours
        self.fixed = set[int]()
        self.partner = [-1] * len(neighbours)
        for node, others in enumerate(neighbours):
            single = (other for other in others if self.partner[other] < 0)
            if self.partner[node] < 0 and (other := next(single, -1)) >= 0:
                self.partner[node], self.partner[other] = other, node
        for node in range(len(neighbours)):
            if self.partner[node] < 0:
                self._find_partner(node)

    @property
    def is_perfect(self) -> bool:
        """True if every node that is left has a partner."""
        return all(other >= 0 or node in self.fixed for node, other in enumerate(self.partner))

    def fix_pair(self, first: int, other: int) -> bool:
        """Take two nodes out of a perfect matching as a pair; return True if all others still have partners.

        Otherwise return False and change nothing.
        """
        self.fixed |= {first, other}
        if self.partner[first] == other:
            return True
        former = list(self.partner)
        left, right = self.partner[first], self.partner[other]
        self.partner[first], self.partner[other] = other, first
        self.partner[left] = self.partner[right] = -1
        if self._find_partner(left):
            return True
        self.partner = former
        self.fixed -= {first, other}
        return False

    def _find_partner(self, root: int) -> bool:
        """Give the single node `root` a partner, by new partners for others; return True if that was possible."""
        search = _Search(self, root)
        end = search.run()
        while end >= 0:
            before = search.came_from[end]
            following = self.partner[before]
            self.partner[end], self.partner[before] = before, end
            end = following
        return self.partner[root] >= 0


class _Search:
    """A search for an alternating path from `root` to another single node."""

    def __init__(self, matching: Matching, root: int) -> None:
        self._matching, self._partner = matching, matching.partner
        self._base = list(range(len(self._partner)))
        self._ends = [root]
        self.came_from = [-1] * len(self._partner)

    def run(self) -> int:
        """Search; return the other end of the path, whose way back is in `came_from`, or -1 if there is none."""
        for node in self._ends:  # the list grows meanwhile
            for other in self._matching.neighbours[node]:
                partner = self._partner[other]
                if other in self._matching.fixed or self._base[node] == self._base[other] or partner == node:
                    continue
                if other == self._ends[0] or (partner >= 0 and self.came_from[partner] >= 0):
                    self._shrink_cycle(node, other)
                elif self.came_from[other] < 0:
                    self.came_from[other] = node
                    if partner < 0:
                        return other
                    self._ends.append(partner)
        return -1

    def _shrink_cycle(self, node: int, other: int) -> None:
        """Shrink the odd cycle that two nodes close: from now on each of its nodes can be the end of a path."""
        top = self._common_base(node, other)
        cycle = self._turn_way_back(node, top, other) | self._turn_way_back(other, top, node)
        for member, base in enumerate(self._base):
            if base in cycle:
                self._base[member] = top
                if member not in self._ends:
                    self._ends.append(member)

    def _common_base(self, node: int, other: int) -> int:
        """Return the first base on the ways of both nodes back to the root."""
        above = {node := self._base[node]}
        while self._partner[node] >= 0:
            above.add(node := self._base[self.came_from[self._partner[node]]])
        while (other := self._base[other]) not in above:
            other = self.came_from[self._partner[other]]
        return other

    def _turn_way_back(self, node: int, top: int, child: int) -> set[int]:
        """Let the way back from `node` up to `top` begin at `child`; return the bases on it."""
        cycle: set[int] = set()
        while self._base[node] != top:
            cycle |= {self._base[node], self._base[self._partner[node]]}
            self.came_from[node] = child
            child = self._partner[node]
            node = self.came_from[child]
        return cycle
