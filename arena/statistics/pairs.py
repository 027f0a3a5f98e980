"""Results -> a compact table of who beat whom from which seat, and which players it connects.

Rule: the table holds whole numbers only. Their sums do not depend on the order of the matches, and all that is
calculated from the table inherits that.

A match of n players is taken apart into its n (n - 1) / 2 pairs. Each pair then counts 2 / n, so that the match as a
whole weighs as much as n - 1 comparisons. The chance of a pair's order is exactly right for players who perform
independently; what is not right is that the pairs of one match are not independent of each other. For players of equal
skill the weights overstate the error a little (variance by 1.13 with three seats, 1.2 with four); `design_effect`
measures it. A tie of more than two players is taken as so many ties of two, each by the margin of a match of two.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

Result = tuple[tuple[str, ...], tuple[int, ...]]
"""The players by seat, and their ranks by seat: lower is better, equal is a tie."""

PairKey = tuple[int, int, int, int]
"""Places of two players, lower first, and the seats they had."""


class PairRow(msgspec.Struct, frozen=True, gc=False):
    """How often `first` in `first_seat` won, drew and lost against `second` in `second_seat`.

    The players are places in the list of the table, `first` the lower one.
    """

    first: int
    second: int
    first_seat: int
    second_seat: int
    wins: int
    draws: int
    losses: int


class PairTable(msgspec.Struct, frozen=True):
    """All comparisons of pairs, sorted. `players` are in order of name; `seats` is 0 without any match."""

    players: tuple[str, ...]
    seats: int
    rows: tuple[PairRow, ...]

    @property
    def weight(self) -> float:
        """What one comparison counts for."""
        return 2.0 / self.seats if self.seats else 1.0


def pair_table(players: Iterable[str], results: Iterable[Result]) -> PairTable:
    """Count the comparisons in `results`, which may come in any order.

    Raises ValueError for a result without two different players or for matches with unequal numbers of seats (these
    belong in pools of their own), and KeyError for a result of somebody who is none of `players`.
    """
    names = tuple(sorted(set(players)))
    places = {name: place for place, name in enumerate(names)}
    counts: Counter[tuple[PairKey, int]] = Counter()
    seats = 0
    for result, times in Counter(results).items():
        seats = seats or len(result[0])
        if len(result[0]) != seats:
            raise ValueError(f"matches of {seats} and of {len(result[0])} players cannot share one table")
        for comparison in comparisons(result, places):
            counts[comparison] += times
    rows = (
        PairRow(*key, wins=counts[key, 1], draws=counts[key, 0], losses=counts[key, -1])
        for key in sorted({key for key, _ in counts})
    )
    return PairTable(players=names, seats=seats, rows=tuple(rows))


def comparisons(result: Result, places: dict[str, int]) -> Iterator[tuple[PairKey, int]]:
    """Take a match apart into its pairs, each with 1 if the lower place won, 0 for a draw, -1 if it lost."""
    seats, ranks = result
    if len(seats) < 2 or len(set(seats)) != len(seats) or len(ranks) != len(seats):
        raise ValueError(f"a result needs two or more different players and a rank for each, found {result}")
    order = sorted(range(len(seats)), key=lambda seat: places[seats[seat]])
    for index, own in enumerate(order):
        for other in order[index + 1 :]:
            sign = (ranks[own] < ranks[other]) - (ranks[own] > ranks[other])
            yield (places[seats[own]], places[seats[other]], own, other), sign


def connected_groups(table: PairTable) -> tuple[tuple[str, ...], ...]:
    """Split the players into groups that no match connects, directly or through others; the largest first.

    Within a group skills can be compared; between two groups nothing is known.
    """
    leader = list(range(len(table.players)))

    def find(place: int) -> int:
        while leader[place] != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    for row in table.rows:
        one, other = sorted((find(row.first), find(row.second)))
        leader[other] = one
    groups: dict[int, list[str]] = {}
    for place, name in enumerate(table.players):
        groups.setdefault(find(place), []).append(name)
    return tuple(sorted(map(tuple, groups.values()), key=lambda group: (-len(group), group)))
