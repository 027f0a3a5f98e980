"""Matches that share their luck -> blocks, and how much less (or more) they vary than independent matches.

Rule: the block is the unit of every error. The matches of a block are played with the same luck and rotated seats, so
they are not independent; blocks are. Blocks of one pairing (the same set of players) form a stratum: opponents are
fixed, not drawn, so that only what varies within a pairing is chance.

The design effect of a pairing with N blocks is

    variance over its blocks of a player's score in the block / sum over seatings of the variance of the score there

whose expectation is 1 if the matches of a block are independent, whoever is better and whichever seat: both sides are
taken about the means of that pairing and seating. A mirrored block in which the luck decides has one win for each
side, always: its design effect is near 0. For n > 2 the same is done for each player against each opponent in the
match, times the weight 2 / n that a comparison has in the pair table.

One number for a whole league is an average: luck decides between equals, and a far better player wins whatever the
luck. So it is a little too large for neighbours in the table and too small for opposites; `bootstrap` knows no such
average.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from arena.statistics.pairs import Result

Stratum = Mapping[tuple[Result, ...], int]
"""How often each course of a block occurred, in blocks of one pairing and the same seatings."""


class Played(msgspec.Struct, frozen=True, gc=False):
    """One match: its block, which is unique, the pairing of that block, and who came where, by seat."""

    block: int
    pairing: int
    players: tuple[str, ...]
    ranks: tuple[int, ...]


class Block(msgspec.Struct, frozen=True, gc=False):
    """All matches of a block, sorted."""

    pairing: int
    number: int
    results: tuple[Result, ...]


class Spread(msgspec.Struct, frozen=True, gc=False):
    """Sums of squares: of scores of whole blocks, and of single matches as if these were independent.

    `degrees` are those of freedom. Both are about the means of their pairing, in points (1, 1/2, 0) squared.
    """

    of_blocks: float
    of_matches: float
    degrees: int


class DesignEffect(msgspec.Struct, frozen=True, gc=False):
    """The variance of blocks over that of independent matches: of the players' scores, and of the seats'.

    What matches share and a rotation cancels for the players, adds up for the seats: with two seats the one effect is
    as much above 1 as the other is below. `degrees` are those of freedom behind both.
    """

    players: float
    seats: float
    degrees: int


def blocks(played: Iterable[Played]) -> tuple[Block, ...]:
    """Gather matches, in any order, into blocks sorted by pairing and number.

    Raises ValueError for a block that belongs to two pairings.
    """
    results: defaultdict[int, list[Result]] = defaultdict(list)
    pairings: dict[int, int] = {}
    for one in played:
        if pairings.setdefault(one.block, one.pairing) != one.pairing:
            raise ValueError(f"block {one.block} belongs to pairing {pairings[one.block]} and to {one.pairing}")
        results[one.block].append((one.players, one.ranks))
    return tuple(
        Block(pairing, number, tuple(sorted(results[number])))
        for pairing, number in sorted((pairing, number) for number, pairing in pairings.items())
    )


def design_effect(played: Iterable[Block]) -> DesignEffect | None:
    """Estimate the design effect over all pairings; None where nothing tells of it.

    One more degree of freedom, of independent matches, is added to what was seen. So the value stays above 0 where all
    blocks ended alike in sum (a bot against itself), and a few blocks alone cannot promise much.
    """
    by_player, by_seat = [], []
    seats = 2
    for stratum in strata(played):
        seatings = {seating for course in stratum for seating, _ in course}
        seats = max(map(len, seatings))
        by_player += [
            _pooled(spread(stratum, partial(_of_player, player)) for player in sorted(set().union(*seatings)))
        ]
        by_seat += [_pooled(spread(stratum, partial(_of_seat, seat)) for seat in range(seats))]
    of_players = ratio(by_player, weight=2.0 / seats)
    of_seats = ratio(by_seat, weight=2.0 / seats)
    if of_players is None or of_seats is None:
        return None
    return DesignEffect(of_players, of_seats, sum(one.degrees for one in by_player))


def ratio(spreads: Sequence[Spread], *, weight: float = 1.0) -> float | None:
    """Pool `spreads` into one design effect, with the degree of freedom that `design_effect` tells of."""
    degrees = sum(one.degrees for one in spreads)
    of_matches = math.fsum(one.of_matches for one in spreads)
    if of_matches <= 0.0:
        return None
    extra = of_matches / degrees
    return (weight * math.fsum(one.of_blocks for one in spreads) + extra) / (of_matches + extra)


def pair_spread(own: Iterable[Stratum], one: str, other: str) -> Spread:
    """Sum up how the scores of `one` against `other` alone vary."""
    found = [spread(stratum, partial(_of_pair, one, other)) for stratum in own]
    return Spread(
        of_blocks=math.fsum(part.of_blocks for part in found),
        of_matches=math.fsum(part.of_matches for part in found),
        degrees=sum(part.degrees for part in found),
    )


def strata(played: Iterable[Block]) -> tuple[Stratum, ...]:
    """Put blocks of the same pairing and seatings together; an incomplete block is none of its pairing's others."""
    found: defaultdict[Hashable, Counter[tuple[Result, ...]]] = defaultdict(Counter)
    for block in sorted(played, key=lambda block: (block.pairing, block.number)):
        seatings = tuple(seats for seats, _ in block.results)
        found[block.pairing, seatings][block.results] += 1
    return tuple(found.values())


def spread(stratum: Stratum, points_of: Callable[[Result], Iterable[tuple[Hashable, int]]]) -> Spread:
    """Sum up how scores vary from block to block, and match by match.

    `points_of` a match are those of one side, 2, 1 or 0 for each comparison, which has a name within the match.
    """
    totals: Counter[int] = Counter()
    single: defaultdict[Hashable, Counter[int]] = defaultdict(Counter)
    for course, times in stratum.items():
        total = 0
        for result in course:
            for name, points in points_of(result):
                total += points
                single[result[0], name][points] += times
        totals[total] += times
    count = totals.total()
    if count < 2:
        return Spread(0.0, 0.0, 0)
    # a seating that a block has twice gives two scores of one distribution
    of_matches = math.fsum(_variance(points) * (count - 1) * points.total() / count for points in single.values())
    return Spread(_variance(totals) * (count - 1) / 4.0, of_matches / 4.0, count - 1)


def _of_player(player: str, result: Result) -> Iterator[tuple[Hashable, int]]:
    if player in result[0]:
        yield from _of_seat(result[0].index(player), result)


def _of_seat(seat: int, result: Result) -> Iterator[tuple[Hashable, int]]:
    own = result[1][seat]
    for other, rank in enumerate(result[1]):
        if other != seat:
            yield other, 1 + (own < rank) - (own > rank)


def _of_pair(one: str, other: str, result: Result) -> Iterator[tuple[Hashable, int]]:
    if one in result[0] and other in result[0]:
        own, rank = (result[1][result[0].index(player)] for player in (one, other))
        yield None, 1 + (own < rank) - (own > rank)


def _pooled(parts: Iterable[Spread]) -> Spread:
    """Add up the sides of one stratum, which all tell of the same blocks."""
    found = list(parts)
    return Spread(
        of_blocks=math.fsum(part.of_blocks for part in found),
        of_matches=math.fsum(part.of_matches for part in found),
        degrees=max(part.degrees for part in found),
    )


def _variance(values: Counter[int]) -> float:
    """Of a sample of whole numbers, by whole numbers up to the last division."""
    count = values.total()
    total = sum(value * times for value, times in values.items())
    squares = sum(value * value * times for value, times in values.items())
    return (count * squares - total * total) / (count * (count - 1))
