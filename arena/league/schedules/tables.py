"""The tables of a cycle: who meets whom if everybody shall meet everybody equally often.

Rule: a cycle depends on the number of players and of seats only. All tables there are, where these are few; then a
player who joins adds tables and changes none. Beyond `MOST_TABLES` a balanced part of them: a few base tables, each
moved around the circle of players. The distance of two players on the circle decides alone how often they meet, so it
is enough that the base tables have every distance equally often: then everybody sits at equally many tables, and two
pairs of players differ by one meeting at most. The search is deterministic: a league finds the same tables for ever.

Source: cyclic difference families, as in Colbourn and Dinitz, Handbook of Combinatorial Designs (2007), VI.16; only
that a distance may come up once more than another here, which exists for every number of players.

A balanced part cannot be kept when a player joins. The newcomer's tables raise the meetings of the others among
themselves, and to end level again they must be raised for everybody, up to all tables there are.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, count
from typing import Final

from arena.games.luck import derive
from arena.league.schedules import Plan, ScheduleGenerator, TableNames
from arena.text import counted

MOST_TABLES: Final = 500
"""The most tables in a cycle of three and more seats; a cycle of pairs always has all of them."""
_MOST_CANDIDATES: Final = 100
"""Tables among which the next one is chosen if there are more than `MOST_TABLES`: thousands would take seconds."""

_Places = tuple[int, ...]


def cycles(of_cycle: Sequence[TableNames], count: int) -> ScheduleGenerator:
    """Plan every table once in each cycle; nothing depends on the results."""
    yield Plan(tuple(of_cycle), count, title=counted(count, "cycle"), is_awaited=False)
    return ()


def cycle(players: Sequence[str], seats: int) -> tuple[TableNames, ...]:
    """Return the tables of a cycle, in an order in which nobody waits long."""
    return _name_places(_cycle_of_places(len(players), seats), players)


def gauntlet(challengers: Sequence[str], others: Sequence[str], seats: int) -> tuple[TableNames, ...]:
    """Return the tables of each challenger with `others`, all or a balanced part; never two challengers at one."""
    other_places = (
        [(place,) for place in range(len(others))] if seats == 2 else _cycle_of_places(len(others), seats - 1)
    )
    return tuple((name, *table) for table in _name_places(tuple(other_places), others) for name in challengers)


def is_complete(players: int, seats: int) -> bool:
    """Return True if a cycle has all tables there are, so that a newcomer changes none of them."""
    return seats == 2 or math.comb(players, seats) <= MOST_TABLES


def circle_method(count: int) -> list[tuple[int, int]]:
    """Return all pairs of 0..count-1, round by round: one stays, the others rotate; nobody plays twice a round."""
    ring: list[int | None] = list(range(count)) + ([None] if count % 2 else [])
    size = len(ring)
    pairs: list[tuple[int, int]] = []
    for _ in range(size - 1):
        for a, b in zip(ring[: size // 2], reversed(ring[size // 2 :]), strict=True):
            if a is not None and b is not None:
                pairs.append((min(a, b), max(a, b)))
        ring[1:] = [ring[-1], *ring[1:-1]]
    return pairs


@lru_cache(maxsize=32)
def _cycle_of_places(players: int, seats: int) -> tuple[_Places, ...]:
    """Return the tables of a cycle by the places of the players, in order."""
    if seats == 2:
        return tuple(circle_method(players))
    if is_complete(players, seats):
        return _shorten_waits(list(combinations(range(players), seats)), players)
    return _shorten_waits(circulant(players, seats), players)


def _shorten_waits(tables: list[_Places], players: int) -> tuple[_Places, ...]:
    """Order the tables: next is the one whose players have, in sum, played least and then sat out longest."""
    played, last = [0] * players, [0] * players
    candidates = len(tables) if len(tables) <= MOST_TABLES else _MOST_CANDIDATES
    left = list(tables)
    ordered: list[_Places] = []
    while left:
        chosen = min(
            left[:candidates],
            key=lambda table: (sum([played[place] for place in table]), sum([last[place] for place in table]), table),
        )
        left.remove(chosen)
        ordered.append(chosen)
        for player in chosen:
            played[player] += 1
            last[player] = len(ordered)
    return tuple(ordered)


def _name_places(tables: tuple[_Places, ...], players: Sequence[str]) -> tuple[TableNames, ...]:
    """Return the tables with names in place of numbers."""
    return tuple([tuple([players[place] for place in table]) for table in tables])


_TRIES: Final = 4000
"""Changes of a base table per number of base tables; more tables are easier, so it pays to give up early."""


@lru_cache(maxsize=32)
def base_tables(players: int, seats: int) -> tuple[tuple[int, ...], ...]:
    """Search for the fewest tables whose distances come up equally often, or once more, and at least once."""
    distances = players // 2
    count = -(-distances // len(list(combinations(range(seats), 2))))
    while True:
        bases = _Search(players, seats, count).run()
        if bases is not None:
            return bases
        count += 1


def circulant(players: int, seats: int) -> list[tuple[int, ...]]:
    """Return every base table at every place of the circle; neighbours in the list share few players."""
    stride = next(step for step in range(seats + 1, players) if math.gcd(step, players) == 1)
    return [
        tuple(sorted((place + stride * turn) % players for place in base))
        for turn in range(players)
        for base in base_tables(players, seats)
    ]


class _Search:
    """A search for base tables, of which one place at a time is changed if distances become no more unequal."""

    def __init__(self, players: int, seats: int, count: int) -> None:
        self._players, self._seats = players, seats
        self._random = _pseudo_random_numbers(f"{players}/{seats}/{count}")
        self._meetings = [0] * (players // 2 + 1)
        self._bases: list[list[int]] = []
        self._least = max(1, count * seats * (seats - 1) // (players - 1))
        for _ in range(count):
            self._bases.append([0])
            while len(self._bases[-1]) < seats:
                self._bases[-1].append(self._draw_other_place(self._bases[-1]))
            self._count_distances(self._bases[-1], 1)

    def run(self) -> tuple[tuple[int, ...], ...] | None:
        """Search for the base tables by `_TRIES` changes at most; None if they were not found."""
        cost = self._excess_meetings()
        for _ in range(_TRIES):
            if cost == 0 and self._are_distinct():
                return tuple(tuple(sorted(base)) for base in self._bases)
            base = self._bases[next(self._random) % len(self._bases)]
            place = 1 + next(self._random) % (self._seats - 1)
            before = base[place]
            after = self._draw_other_place(base)
            self._count_distances(base, -1)
            base[place] = after
            self._count_distances(base, 1)
            new = self._excess_meetings()
            if new > cost:
                self._count_distances(base, -1)
                base[place] = before
                self._count_distances(base, 1)
            else:
                cost = new
        return None

    def _draw_other_place(self, base: list[int]) -> int:
        """Draw a place that is not in the base table."""
        while (place := next(self._random) % self._players) in base:
            pass
        return place

    def _count_distances(self, base: list[int], step: int) -> None:
        """Add the distances in a base table to `_meetings`, `step` times; -1 takes them away."""
        for first, second in combinations(base, 2):
            apart = abs(first - second)
            distance = min(apart, self._players - apart)
            # a table with two opposite players contains the same two after half a turn around the circle
            self._meetings[distance] += step * (2 if 2 * distance == self._players else 1)

    def _are_distinct(self) -> bool:
        """Return True if the base tables, each at every place of the circle, are all different tables."""
        moved = {
            tuple(sorted((place + turn) % self._players for place in base))
            for base in self._bases
            for turn in range(self._players)
        }
        return len(moved) == self._players * len(self._bases)

    def _excess_meetings(self) -> int:
        """Return the number of meetings by which the distances miss `_least` or one more."""
        least = self._least
        return sum(max(least - met, met - least - 1, 0) for met in self._meetings[1:])


def _pseudo_random_numbers(name: str) -> Iterator[int]:
    """Yield numbers that look random and are the same everywhere and always."""
    return (int(derive("design", name, turn)[:8], 16) for turn in count())
