"""The luck of a pairing's matches added up beside its points, as much of it as a score without luck needs.

Rule: whole numbers only, as in the tallies these are part of: luck counts in millionths. Even and odd blocks are apart,
for the factor on the luck of the ones is fitted by the others. Matches without luck are in no sum here.
"""

from collections.abc import Mapping
from typing import Final, Protocol, Self

import msgspec

from arena.standings.outcomes import code_of, points

LUCK_UNIT: Final = 1_000_000
HALVES: Final = 2


class Lucky(Protocol):
    """What is taken from one match, by seat."""

    @property
    def ranks(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def luck(self) -> tuple[float, ...]: ...  # noqa: D102


class Lucks(msgspec.Struct, frozen=True, gc=False):
    """Sums over the blocks of a half: with m the matches of a block and, by place, y its points and l its luck.

    `matches` is the sum of m and `matches2` that of m m; the others are those of y, y y, m y, l, l l, m l and y l.
    """

    blocks: int
    matches: int
    matches2: int
    points: tuple[int, ...]
    points2: tuple[int, ...]
    points_product: tuple[int, ...]
    luck: tuple[int, ...]
    luck2: tuple[int, ...]
    luck_product: tuple[int, ...]
    both: tuple[int, ...]

    def __add__(self, other: Self) -> "Lucks":
        return Lucks(
            self.blocks + other.blocks,
            self.matches + other.matches,
            self.matches2 + other.matches2,
            *(_added(getattr(self, name), getattr(other, name)) for name in _BY_PLACE),
        )


_BY_PLACE: Final = Lucks.__struct_fields__[3:]


def lucks_added(one: tuple[Lucks, ...], other: tuple[Lucks, ...]) -> tuple[Lucks, ...]:
    """Half by half; without any luck there are no halves."""
    if not one or not other:
        return one or other
    return tuple(a + b for a, b in zip(one, other, strict=True))


class LuckAdding:
    """The sums of both halves while they are added up."""

    def __init__(self, seats: int) -> None:
        self._seats = seats
        self._counts = [[0, 0, 0] for _ in range(HALVES)]
        self._sums = [[[0] * seats for _ in _BY_PLACE] for _ in range(HALVES)]

    def block(self, number: int, matches: Mapping[int, Lucky]) -> None:
        """Add the matches of a block, by rotation."""
        seats, count = self._seats, 0
        gained, lucks = [0] * seats, [0] * seats
        for rotation, one in matches.items():
            if one.luck:
                count += 1
                worth = points(seats)[code_of(one.ranks)]
                for seat, luck in enumerate(one.luck):
                    place = (seat + rotation) % seats
                    gained[place] += worth[seat]
                    lucks[place] += round(luck * LUCK_UNIT)
        if not count:
            return
        for index, value in enumerate((1, count, count * count)):
            self._counts[number % HALVES][index] += value
        own = self._sums[number % HALVES]
        for place, (y, luck) in enumerate(zip(gained, lucks, strict=True)):
            for total, value in zip(own, (y, y * y, count * y, luck, luck * luck, count * luck, y * luck), strict=True):
                total[place] += value

    def sums(self) -> tuple[Lucks, ...]:
        """What has been added up so far; nothing at all without luck."""
        if not any(blocks for blocks, *_ in self._counts):
            return ()
        return tuple(
            Lucks(blocks, matches, matches2, *map(tuple, own))
            for (blocks, matches, matches2), own in zip(self._counts, self._sums, strict=True)
        )


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([a + b for a, b in zip(one, other, strict=True)])
