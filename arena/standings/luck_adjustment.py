"""Tallies -> an entrant's score with the luck of dice and cards excluded, and its error.

Rule: it never decides a rank. What is taken off has mean 0 whatever the bots do, for the value of the game is frozen,
and the factor on it is fitted by other blocks: that of the even blocks by the odd ones, and the other way round. So

    score without luck = score - b * luck

has the mean of the score and, as far as the value is worth something, a smaller error. The factor makes up for a value
that says too much or too little. It is the slope of points on luck over blocks about their means: by pairing, as luck
decides between equals and not against a far weaker player; for pairings of few blocks, that of all the entrant's.

As everywhere in tallies, numbers are whole up to the last division: the factor is rounded to millionths.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from arena.standings.luck_sums import HALVES, LUCK_UNIT, Lucks
from arena.standings.outcomes import full_score
from arena.standings.scores import Mean, Share, joined, mean_of
from arena.standings.tally import Tallied, Tally

SEATS: Final = 2
"""A payoff is a score only where there is one other."""
LEAST_BLOCKS: Final = 20
"""Of the other half, to fit the factor; with fewer it is 1, that of a perfect value."""
LEAST_SQUARE: Final = 1
"""Of the sum of squares of luck, in millionths twice: below, luck does not vary."""
_FACTOR_UNIT: Final = 1_000_000
_UNIT: Final = _FACTOR_UNIT * LUCK_UNIT


class _Products(NamedTuple):
    """Of blocks: their number, the sum of points times luck about the means, and that of luck squared."""

    blocks: int
    product: Fraction
    square: Fraction


def luck_version(played: Iterable[Tallied]) -> str:
    """The version of the value under which all matches have their luck; empty if there is no such version."""
    found: set[str] = set()
    for one in played:
        versions = one.tally.sums.luck_versions
        if one.tally.seats != SEATS or sum(versions.values()) != one.tally.matches:
            return ""
        found.update(versions)
    return found.pop() if len(found) == 1 else ""


def without_luck(met: Sequence[tuple[Tally, int]]) -> Mean | None:
    """The score of an entrant without luck; `met` are its pairings and its place in each.

    Only for matches that all have luck, under one version of the value. None for an entrant without a match.
    """
    factors = [_factors([(tally.sums.luck[1 - half], place) for tally, place in met]) for half in range(HALVES)]
    shares = []
    for number, (tally, place) in enumerate(met):
        parts = [_share(tally.sums.luck[half], place, factors[half][number]) for half in range(HALVES)]
        shares.append(joined(parts))
    return mean_of(shares, unit=_UNIT)


def _factors(other_half: Sequence[tuple[Lucks, int]]) -> list[int]:
    """By pairing, in parts of `_FACTOR_UNIT`."""
    parts = [_products(lucks, place) for lucks, place in other_half]
    common = _slope(parts, Fraction(1))
    return [round(_slope([part], common) * _FACTOR_UNIT) for part in parts]


def _products(lucks: Lucks, place: int) -> _Products:
    blocks = max(1, lucks.blocks)
    luck = lucks.luck[place]
    return _Products(
        lucks.blocks,
        lucks.both[place] - Fraction(lucks.points[place] * luck, blocks),
        lucks.luck2[place] - Fraction(luck * luck, blocks),
    )


def _slope(parts: Iterable[_Products], otherwise: Fraction) -> Fraction:
    """That of these pairings together; `otherwise` if they have too few blocks, or no luck that varies."""
    blocks, product, square = map(sum, zip((0, 0, 0), *parts, strict=True))
    if blocks < LEAST_BLOCKS or square <= LEAST_SQUARE:
        return otherwise
    return Fraction(product * LUCK_UNIT, square * full_score(SEATS))


def _share(lucks: Lucks, place: int, factor: int) -> Share:
    """Its blocks with z in the place of y, of `_UNIT` for a match won: z = y - b l."""
    worth = _UNIT // full_score(SEATS)
    return Share(
        blocks=lucks.blocks,
        matches=lucks.matches,
        matches2=lucks.matches2,
        total=worth * lucks.points[place] - factor * lucks.luck[place],
        total2=worth**2 * lucks.points2[place]
        - 2 * worth * factor * lucks.both[place]
        + factor**2 * lucks.luck2[place],
        product=worth * lucks.points_product[place] - factor * lucks.luck_product[place],
    )
