"""The tables of a cycle: who meets whom if everybody shall meet everybody equally often.

Rule: a cycle depends on the number of players and of seats only. All tables there are, where these are few; then a
player who joins adds tables and changes none. Beyond `MOST_TABLES` a balanced part of them (see `design`).
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final

from arena.league.schedules.design import circulant
from arena.league.schedules.plan import Table

MOST_TABLES: Final = 500
"""In a cycle of tables for three and more; a cycle of pairs always has all of them."""
_LOOKED_AT: Final = 100
"""Tables among which the next one is chosen where there are more than that: else thousands would take seconds."""

Places = tuple[int, ...]


def cycle(players: Sequence[str], seats: int) -> tuple[Table, ...]:
    """All tables of a cycle, in an order in which nobody waits long."""
    return _named(_cycle(len(players), seats), players)


def gauntlet(challengers: Sequence[str], others: Sequence[str], seats: int) -> tuple[Table, ...]:
    """Each challenger at all tables with `others`, or at a balanced part of them; never two challengers at one."""
    rest = [(place,) for place in range(len(others))] if seats == 2 else _cycle(len(others), seats - 1)
    return tuple((name, *table) for table in _named(tuple(rest), others) for name in challengers)


def is_complete(players: int, seats: int) -> bool:
    """Whether a cycle has all tables there are, so that a newcomer changes none of them."""
    return seats == 2 or math.comb(players, seats) <= MOST_TABLES


def circle_method(count: int) -> list[tuple[int, int]]:
    """All pairs of 0..count-1, round by round: one stays, the others rotate; in each round nobody plays twice."""
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
def _cycle(players: int, seats: int) -> tuple[Places, ...]:
    if seats == 2:
        return tuple(circle_method(players))
    if is_complete(players, seats):
        return _without_long_waits(list(combinations(range(players), seats)), players)
    return _without_long_waits(circulant(players, seats), players)


def _without_long_waits(tables: list[Places], players: int) -> tuple[Places, ...]:
    """Order the tables: next is always one of those who have played least and then sat out longest, taken together."""
    played, last = [0] * players, [0] * players
    looked_at = len(tables) if len(tables) <= MOST_TABLES else _LOOKED_AT
    left = list(tables)
    ordered: list[Places] = []
    while left:
        chosen = min(
            left[:looked_at],
            key=lambda table: (sum([played[each] for each in table]), sum([last[each] for each in table]), table),
        )
        left.remove(chosen)
        ordered.append(chosen)
        for player in chosen:
            played[player] += 1
            last[player] = len(ordered)
    return tuple(ordered)


def _named(tables: tuple[Places, ...], players: Sequence[str]) -> tuple[Table, ...]:
    return tuple(tuple(players[place] for place in table) for table in tables)
