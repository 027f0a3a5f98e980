"""Sums of pairings -> scores and margins, with errors from the spread between blocks.

Rule: whole numbers up to the last division, and sums in no order, so that equal results give equal bits.

The unit of every error is the block (matches that share their luck, with the seats rotated), never the match.
Opponents are fixed, not drawn at random, so errors are stratified by pairing:

    score = sum y_b / M,   se^2 = sum_p n_p / (n_p - 1) * sum_{b in p} (y_b - r_p m_b)^2 / M^2

with y_b the entrant's points in block b, m_b its matches there, r_p its mean score in pairing p, n_p the blocks of p
and M all its matches. With complete blocks this is sum (n_p / N)^2 var_p / n_p over block means; an incomplete block
counts by the matches it has. A pairing with one block tells nothing about its own spread: it adds the mean square
about the overall mean over all blocks, sum_b (y_b - r m_b)^2 / (N - 1), which is too wide rather than too narrow.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import msgspec

from arena.match.results import points
from arena.standings.sums import BlockSums, Number, PairingSums, matches_of
from arena.statistics.interval import UNSEEN, Interval, degrees_of_freedom, equal_blocks, interval
from arena.statistics.pairs import Counted, comparisons, signs


class Share(NamedTuple):
    """What one player has of the blocks of a pairing: m matches and a total of y in each.

    The fields are the number of blocks and the sums of m, m m, y, y y and m y. `counts`, where they are known, are how
    often each (m, y) occurred, sorted: they tell how few blocks the spread hangs on.
    """

    blocks: int
    matches: int
    matches2: int
    total: Number
    total2: Number
    product: Number
    counts: tuple[tuple[int, Number, int], ...] = ()

    def squares(self, mean_of: "Share") -> float:
        """Sum the squares of what each block has above or below the mean of `mean_of`: of (y - r m)^2."""
        total, matches = mean_of.total, mean_of.matches
        above = self.total2 * matches**2 - 2 * total * matches * self.product + total**2 * self.matches2
        return float(above / matches**2)

    def fourths(self, mean_of: "Share") -> float:
        """Sum the fourth powers of the same; 0 where `counts` are not known."""
        mean = float(mean_of.total / mean_of.matches)
        return math.fsum(times * (y - mean * m) ** 4 for m, y, times in self.counts)


class Scores(msgspec.Struct, frozen=True):
    """What the courses of a pairing come to. Tuples are by place, and within that by seat where they are nested.

    `points` are 2 for each player beaten and 1 for each one tied. A win is a first place of one's
    own, a draw a shared one, everything else a loss. `drawn` counts matches whose first place is shared.
    """

    points: tuple[Share, ...]
    wins: tuple[int, ...]
    draws: tuple[int, ...]
    losses: tuple[int, ...]
    drawn: int
    matches_by_seat: tuple[tuple[int, ...], ...]
    points_by_seat: tuple[tuple[int, ...], ...]


class Mean(msgspec.Struct, frozen=True):
    """A mean over matches with its 95 % interval. `standard_error` is None where `blocks` are too few to tell."""

    value: float
    standard_error: float | None
    degrees: float
    blocks: int
    interval: Interval


def scores(played: PairingSums) -> Scores:
    """Count the courses of a pairing. Pairings of few blocks are often alike: each kind is counted once."""
    return _scores(tuple(sorted(played.courses.items())), played.seats)


@lru_cache(maxsize=1 << 14)
def _scores(courses: tuple[tuple[str, int], ...], seats: int) -> Scores:
    found = [(times, _course(course, seats)) for course, times in courses]
    places = range(seats)
    blocks: list[Counter[tuple[int, int]]] = [Counter() for _ in places]
    for times, one in found:
        for own, y in zip(blocks, one.points, strict=True):
            own[one.matches, y] += times

    def added(name: str) -> tuple[int, ...]:
        return tuple([sum(times * getattr(one, name)[place] for times, one in found) for place in places])

    def by_seat(name: str) -> tuple[tuple[int, ...], ...]:
        return tuple(
            [
                tuple([sum(n * getattr(one, name)[place][seat] for n, one in found) for seat in places])
                for place in places
            ]
        )

    return Scores(
        points=tuple(map(share_of, blocks)),
        wins=added("wins"),
        draws=added("draws"),
        losses=added("losses"),
        drawn=sum(times * one.drawn for times, one in found),
        matches_by_seat=by_seat("matches_by_seat"),
        points_by_seat=by_seat("points_by_seat"),
    )


class _Course(NamedTuple):
    """What one block comes to; as in `Scores`, but `points` and `matches` are those of the block."""

    points: tuple[int, ...]
    matches: int
    wins: tuple[int, ...]
    draws: tuple[int, ...]
    losses: tuple[int, ...]
    drawn: int
    matches_by_seat: tuple[tuple[int, ...], ...]
    points_by_seat: tuple[tuple[int, ...], ...]


@lru_cache(maxsize=1 << 14)
def _course(course: str, seats: int) -> _Course:
    wins, draws, losses = ([0] * seats for _ in range(3))
    matches_by_seat, points_by_seat = ([[0] * seats for _ in range(seats)] for _ in range(2))
    drawn = matches = 0
    for rotation, ranks in enumerate(matches_of(course, seats)):
        if ranks is None:
            continue
        matches += 1
        is_shared = ranks.count(0) > 1
        drawn += is_shared
        for seat, (rank, worth) in enumerate(zip(ranks, points(ranks), strict=True)):
            place = (seat + rotation) % seats
            (losses if rank else draws if is_shared else wins)[place] += 1
            matches_by_seat[place][seat] += 1
            points_by_seat[place][seat] += worth
    return _Course(
        points=tuple(map(sum, points_by_seat)),
        matches=matches,
        wins=tuple(wins),
        draws=tuple(draws),
        losses=tuple(losses),
        drawn=drawn,
        matches_by_seat=tuple(map(tuple, matches_by_seat)),
        points_by_seat=tuple(map(tuple, points_by_seat)),
    )


def scores_between(played: Iterable[Counted], pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Mean]:
    """The mean score of the first of each of `pairs` against the second, as far as they met; at tables of many, too."""
    asked = set(pairs)
    parts: defaultdict[tuple[str, str], list[Share]] = defaultdict(list)
    for one in played:
        if asked.isdisjoint(permutations(one.players, 2)):
            continue
        shares = _shares_between(tuple(sorted(one.courses.items())), len(one.players))
        for pair, own in zip(permutations(one.players, 2), shares, strict=True):
            if pair in asked and own.blocks:
                parts[pair].append(own)
    return {pair: _mean_score(tuple(own)) for pair, own in parts.items()}


@lru_cache(maxsize=1 << 14)
def _shares_between(courses: tuple[tuple[str, int], ...], seats: int) -> tuple[Share, ...]:
    """Of each two places, in the order of `permutations`: what the first one has of the matches with the second."""
    blocks = {pair: Counter[tuple[int, int]]() for pair in permutations(range(seats), 2)}
    for course, times in courses:
        found: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for row, sign in zip(comparisons(seats), signs(course, seats), strict=True):
            if sign is not None:
                found[row.first, row.second].append(1 + sign)
                found[row.second, row.first].append(1 - sign)
        for pair, gained in found.items():
            blocks[pair][len(gained), sum(gained)] += times
    return tuple(map(share_of, blocks.values()))


@lru_cache(maxsize=1 << 16)
def _mean_score(parts: tuple[Share, ...]) -> Mean:
    """Pairs of few blocks are often alike: each kind is computed once."""
    found = mean_of(parts, unit=2, lowest=0.0, highest=1.0)
    assert found is not None, "there is a block"
    return found


def share(sums: BlockSums, place: int) -> Share:
    """The part of `sums` that the player at `place` has."""
    own = (sums.total[place], sums.total2[place], sums.product[place])
    return Share(sums.blocks, sums.matches, sums.matches2, *own)


def share_of(blocks: Iterable[tuple[int, int]] | Mapping[tuple[int, Number], int]) -> Share:
    """The share of a player with these blocks: (matches, total) of each, or how often each of them occurred."""
    found: Counter[tuple[int, Number]] = Counter(blocks)
    return Share(
        blocks=found.total(),
        matches=sum(times * m for (m, _), times in found.items()),
        matches2=sum(times * m * m for (m, _), times in found.items()),
        total=sum(times * y for (_, y), times in found.items()),
        total2=sum(times * y * y for (_, y), times in found.items()),
        product=sum(times * m * y for (m, y), times in found.items()),
        counts=tuple((m, y, times) for (m, y), times in sorted(found.items())),
    )


def mean_of(
    parts: Iterable[Share],
    *,
    unit: int = 1,
    lowest: float = -math.inf,
    highest: float = math.inf,
    unseen: float = UNSEEN,
) -> Mean | None:
    """Average over matches, with the error by the formula at the top and its interval; None without a match.

    `parts` are an entrant's shares of its pairings, whose totals count in so many parts of one: `unit`. `lowest` and
    `highest` are the ends of what a match can be; for `unseen` see `arena.statistics.interval.interval`.
    `counts` have a say only in what has ends: sums of margins have none, and a margin is the same from either.
    """
    known = [one for one in parts if one.blocks]
    if not known:
        return None
    whole, is_score = joined(known), math.isfinite(lowest) and math.isfinite(highest)
    value = float(whole.total / (unit * whole.matches))
    spreads = [_spread(one) for one in known if one.blocks > 1]
    singles = sum(one.blocks == 1 for one in known)
    if singles and whole.blocks > 1:
        spreads.append(_overall(known, whole, singles))
    variance = math.fsum(one.variance for one in spreads)
    degrees = degrees_of_freedom(
        [(one.variance, one.degrees) for one in spreads],
        fourth=math.fsum(one.fourth for one in spreads) if is_score and all(one.counts for one in known) else 0.0,
        blocks=whole.blocks,
    )
    error = math.sqrt(variance) / (unit * whole.matches) if whole.blocks > 1 else None
    if error:
        found = interval(
            value, error, degrees=degrees, blocks=whole.blocks, lowest=lowest, highest=highest, unseen=unseen
        )
    else:
        strata = [(one.blocks, float(one.total / (unit * one.matches))) for one in known]
        bound = equal_blocks(strata, lowest=lowest, highest=highest)
        # blocks that lack matches weigh less in the value than in the bound
        ends = [min(max(value + (end - bound.value), lowest), highest) for end in (bound.low, bound.high)]
        found = Interval(value, ends[0], ends[1])
    return Mean(value, error, degrees, whole.blocks, found)


def joined(parts: Sequence[Share]) -> Share:
    """All blocks of these shares as those of one pairing; `counts` are left out."""
    return Share(
        blocks=sum(one.blocks for one in parts),
        matches=sum(one.matches for one in parts),
        matches2=sum(one.matches2 for one in parts),
        total=sum(one.total for one in parts),
        total2=sum(one.total2 for one in parts),
        product=sum(one.product for one in parts),
    )


class _Spread(NamedTuple):
    """What a pairing adds to the variance of the total, the degrees of freedom of that, and fourth powers to match."""

    variance: float
    degrees: int
    fourth: float


@lru_cache(maxsize=1 << 16)
def _spread(one: Share) -> _Spread:
    """Of a pairing with two blocks or more. Pairings of few blocks are often alike: each kind is computed once."""
    scale = one.blocks / (one.blocks - 1)
    squares = one.squares(one)
    return _Spread(scale * squares, one.blocks - 1, scale**2 * one.fourths(one) if squares else 0.0)


def _overall(known: Iterable[Share], whole: Share, singles: int) -> _Spread:
    """Of so many pairings with one block, which vary as blocks of all pairings do about the mean of all."""
    scale = 1.0 / (whole.blocks - 1)
    fourths = math.fsum(one.fourths(whole) for one in known)
    return _Spread(
        singles * scale * whole.squares(whole), whole.blocks - 1, singles * whole.blocks * scale**2 * fourths
    )
