"""Everybody paired, if there is a way: perfect matchings in a graph of who may meet whom.

Rule: exact. Where a pairing exists it is found, however unlucky the order in which one looks.

Source: Edmonds, "Paths, trees, and flowers", Canadian Journal of Mathematics 17 (1965): a matching can be made larger
as long as there is an alternating path between two single nodes; an odd cycle on the way is shrunk to one node.
"""

from collections import deque
from collections.abc import Iterable, Sequence


class Matching:
    """A matching of nodes 0..n-1 that grows; `neighbours` by node, in the order in which they are tried."""

    def __init__(self, neighbours: Sequence[Iterable[int]]) -> None:
        self._neighbours = [list(each) for each in neighbours]
        self._gone = [False] * len(self._neighbours)
        self.partner = [-1] * len(self._neighbours)
        for node in range(len(self._neighbours)):
            if self.partner[node] < 0:
                other = next((each for each in self._neighbours[node] if self.partner[each] < 0), -1)
                if other >= 0:
                    self._join(node, other)
        for node in range(len(self._neighbours)):
            if self.partner[node] < 0:
                self._grow(node)

    @property
    def is_perfect(self) -> bool:
        """Whether everybody who is left has a partner."""
        return all(gone or other >= 0 for gone, other in zip(self._gone, self.partner, strict=True))

    def settle(self, one: int, other: int) -> bool:
        """Take these two out of a perfect matching as a pair, if that leaves a partner for all others."""
        if self.partner[one] == other:
            self._gone[one] = self._gone[other] = True
            return True
        former = list(self.partner)
        left, right = self.partner[one], self.partner[other]
        self._join(one, other)
        self._gone[one] = self._gone[other] = True
        self.partner[left] = self.partner[right] = -1
        if self._grow(left):
            return True
        self.partner = former
        self._gone[one] = self._gone[other] = False
        return False

    def _join(self, one: int, other: int) -> None:
        self.partner[one], self.partner[other] = other, one

    def _grow(self, root: int) -> bool:
        """Give the single node `root` a partner; whether that was possible."""
        search = _Search(self._neighbours, self.partner, self._gone, root)
        end = search.run()
        while end >= 0:
            before = search.came_from[end]
            following = self.partner[before]
            self._join(end, before)
            end = following
        return self.partner[root] >= 0


class _Search:
    """One search for an alternating path from `root` to another single node."""

    def __init__(
        self, neighbours: Sequence[Sequence[int]], partner: Sequence[int], gone: Sequence[bool], root: int
    ) -> None:
        self._neighbours, self._partner, self._gone, self._root = neighbours, partner, gone, root
        self._base = list(range(len(partner)))
        self._reached = [False] * len(partner)
        self._queue = deque([root])
        self._reached[root] = True
        self.came_from = [-1] * len(partner)

    def run(self) -> int:
        """The other end of the path, whose way back is in `came_from`; -1 if there is none."""
        while self._queue:
            node = self._queue.popleft()
            for other in self._neighbours[node]:
                if self._gone[other] or self._base[node] == self._base[other] or self._partner[node] == other:
                    continue
                if other == self._root or self._is_outer(self._partner[other]):
                    self._shrink(node, other)
                elif self.came_from[other] < 0:
                    self.came_from[other] = node
                    if self._partner[other] < 0:
                        return other
                    self._reach(self._partner[other])
        return -1

    def _is_outer(self, node: int) -> bool:
        return node >= 0 and self.came_from[node] >= 0

    def _reach(self, node: int) -> None:
        if not self._reached[node]:
            self._reached[node] = True
            self._queue.append(node)

    def _shrink(self, node: int, other: int) -> None:
        """The two are ends of an odd cycle: all its nodes can now be the end of a path."""
        top = self._common_base(node, other)
        cycle: set[int] = set()
        self._mark(node, top, other, cycle)
        self._mark(other, top, node, cycle)
        for each, base in enumerate(self._base):
            if base in cycle:
                self._base[each] = top
                self._reach(each)

    def _common_base(self, node: int, other: int) -> int:
        above = set()
        while True:
            node = self._base[node]
            above.add(node)
            if self._partner[node] < 0:
                break
            node = self.came_from[self._partner[node]]
        while self._base[other] not in above:
            other = self.came_from[self._partner[self._base[other]]]
        return self._base[other]

    def _mark(self, node: int, top: int, child: int, cycle: set[int]) -> None:
        while self._base[node] != top:
            cycle |= {self._base[node], self._base[self._partner[node]]}
            self.came_from[node] = child
            child = self._partner[node]
            node = self.came_from[child]
