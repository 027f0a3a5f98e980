"""Balanced tables where all tables would be too many: a few base tables, each moved around the circle of players.

Rule: how often two players meet depends on their distance on the circle alone. So it is enough that the base tables
have every distance equally often: then everybody sits at equally many tables, and two pairs of players differ by one
meeting at most. The search is deterministic: a league must find the same tables for ever.

Source: cyclic difference families, as in Colbourn and Dinitz, Handbook of Combinatorial Designs (2007), VI.16; only
that a distance may come up once more than another here, which exists for every number of players.

A balanced part cannot be kept when a player joins. The newcomer's tables raise the meetings of the others among
themselves, and to end level again they must be raised for everybody, up to all tables there are.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import Final

from arena.games.luck import derive

_TRIES: Final = 4000
"""Changes of a base table per number of base tables; more tables are easier, so it pays to give up early."""


@lru_cache(maxsize=32)
def base_tables(players: int, seats: int) -> tuple[tuple[int, ...], ...]:
    """The smallest found number of tables whose distances come up equally often, or once more, and at least once."""
    distances = players // 2
    count = -(-distances // len(list(combinations(range(seats), 2))))
    while True:
        found = _Search(players, seats, count).run()
        if found is not None:
            return found
        count += 1


def circulant(players: int, seats: int) -> list[tuple[int, ...]]:
    """Every base table at every place of the circle; neighbours in the list have few players in common."""
    stride = next(step for step in range(seats + 1, players) if _are_coprime(step, players))
    return [
        tuple(sorted((place + stride * turn) % players for place in base))
        for turn in range(players)
        for base in base_tables(players, seats)
    ]


class _Search:
    """Base tables that are changed one place at a time, while that makes the distances no more unequal."""

    def __init__(self, players: int, seats: int, count: int) -> None:
        self._players, self._seats = players, seats
        self._random = _numbers(f"{players}/{seats}/{count}")
        self._met = [0] * (players // 2 + 1)
        self._bases: list[list[int]] = []
        self._least = max(1, count * seats * (seats - 1) // (players - 1))
        for _ in range(count):
            self._bases.append([0])
            while len(self._bases[-1]) < seats:
                self._bases[-1].append(self._stranger(self._bases[-1]))
            self._count(self._bases[-1], 1)

    def run(self) -> tuple[tuple[int, ...], ...] | None:
        cost = self._cost()
        for _ in range(_TRIES):
            if cost == 0 and self._are_distinct():
                return tuple(tuple(sorted(base)) for base in self._bases)
            base = self._bases[next(self._random) % len(self._bases)]
            place = 1 + next(self._random) % (self._seats - 1)
            before = base[place]
            after = self._stranger(base)
            self._count(base, -1)
            base[place] = after
            self._count(base, 1)
            new = self._cost()
            if new > cost:
                self._count(base, -1)
                base[place] = before
                self._count(base, 1)
            else:
                cost = new
        return None

    def _stranger(self, base: list[int]) -> int:
        while (place := next(self._random) % self._players) in base:
            pass
        return place

    def _count(self, base: list[int], step: int) -> None:
        for one, other in combinations(base, 2):
            apart = abs(one - other)
            distance = min(apart, self._players - apart)
            # moved half around the circle, a table with two opposite players has them again
            self._met[distance] += step * (2 if 2 * distance == self._players else 1)

    def _are_distinct(self) -> bool:
        """Whether no table comes up twice on its way around."""
        moved = {
            tuple(sorted((place + turn) % self._players for place in base))
            for base in self._bases
            for turn in range(self._players)
        }
        return len(moved) == self._players * len(self._bases)

    def _cost(self) -> int:
        """By how many meetings the distances miss `least` or `least + 1`."""
        least = self._least
        return sum(max(least - met, met - least - 1, 0) for met in self._met[1:])


def _numbers(name: str) -> Iterator[int]:
    """Numbers that look random and are the same everywhere and always."""
    turn = 0
    while True:
        yield int(derive("design", name, turn)[:8], 16)
        turn += 1


def _are_coprime(one: int, other: int) -> bool:
    while other:
        one, other = other, one % other
    return one == 1
