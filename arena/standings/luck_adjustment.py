"""Sums of pairings -> scores with the luck of dice and cards excluded, for any player against any of its opponents.

Rule: it never decides a rank. What is taken off has mean 0 whatever the bots do, for the value of the game is frozen,
and the factor on it is fitted by other blocks: that of the even blocks by the odd ones, and the other way round. So

    score without luck = score - b * luck

has the mean of the score. The factor is pooled over the league and shrunk (`arena.statistics.control_variate`). Whether
luck is taken off at all is decided for each half of the blocks by the other half, too: only where that narrows the
interval of the other half beyond chance. A score without luck whose interval came out no narrower than the plain one
is not given: it would tell less.

As in all sums, numbers are whole up to the last division: the factor is rounded to millionths.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum
from typing import Final, NamedTuple

import msgspec

from arena.match.results import LUCK_UNIT
from arena.standings.scores import Mean, Share, mean_of
from arena.standings.sums import HALVES, LuckSums, PairingSums, full_score
from arena.statistics.control_variate import Products, narrows, slopes
from arena.statistics.interval import UNSEEN, interval

SEATS: Final = 2
"""A payoff is a score only where there is one other."""
_FACTOR_UNIT: Final = 1_000_000
_UNIT: Final = _FACTOR_UNIT * LUCK_UNIT
_WORTH: Final = _UNIT // full_score(SEATS)
_NOTHING: Final = Products(0, 0, 0.0, 0.0, 0.0, 0.0)


class _Fitted(NamedTuple):
    """A pairing with known luck: its version, and by half what its blocks say, and the factor that all pairings say."""

    version: str
    products: tuple[Products, ...]
    factors: tuple[float, ...]


class LuckAdjustment:
    """The factors on luck of all pairings of a league in which the luck of all matches is known."""

    def __init__(self, pairings: Iterable[PairingSums]) -> None:
        known: defaultdict[str, list[PairingSums]] = defaultdict(list)
        for one in pairings:
            if version := luck_version([one]):
                known[version].append(one)
        self._fitted = {
            one.players: fitted
            for version, own in known.items()
            for one, fitted in zip(own, _fitted(version, own), strict=True)
        }

    def score(self, met: Sequence[tuple[PairingSums, int]], plain: Mean) -> Mean | None:
        """The score without luck of a player over these pairings, with its place in each; `plain` is its score there.

        None where luck is not known in all of them, or is better not taken off.
        """
        fitted = [self._fitted[one.players] for one, _ in met if one.players in self._fitted]
        if len(fitted) < len(met) or len({one.version for one in fitted}) != 1:
            return None
        places = [place for _, place in met]
        is_used = [_pays(fitted, places, 1 - half) for half in range(HALVES)]
        if not any(is_used):
            return None
        factors = [[used * one.factors[1 - half] for half, used in enumerate(is_used)] for one in fitted]
        found = mean_of((_share(one, place, own) for (one, place), own in zip(met, factors, strict=True)), unit=_UNIT)
        return _narrower(found, plain) if found else None


def luck_version(pairings: Iterable[PairingSums]) -> str:
    """The version of the value under which all matches have their luck; empty if there is no such version."""
    found: set[str] = set()
    for one in pairings:
        if len(one.players) != SEATS or sum(one.luck_versions.values()) != one.matches:
            return ""
        found.update(one.luck_versions)
    return found.pop() if len(found) == 1 else ""


def _fitted(version: str, pairings: Sequence[PairingSums]) -> list[_Fitted]:
    products = [tuple(map(_products, one.luck)) for one in pairings]
    factors = [slopes([own[half] for own in products]) for half in range(HALVES)]
    return [_Fitted(version, *each) for each in zip(products, zip(*factors, strict=True), strict=True)]


def _products(sums: LuckSums) -> Products:
    """Seen from place 0."""
    matches = sums.matches
    if not matches:
        return _NOTHING
    points, luck = sums.points[0], sums.luck[0]
    points_off = matches * sums.points_product[0] - points * sums.matches2
    luck_off = matches * sums.luck_product[0] - luck * sums.matches2
    full = full_score(SEATS)
    return Products(
        blocks=sums.blocks,
        matches=matches,
        score=points / (full * matches),
        score2=(matches * (matches * sums.points2[0] - points * sums.points_product[0]) - points * points_off)
        / (full * matches) ** 2,
        both=(matches * (matches * sums.both[0] - points * sums.luck_product[0]) - luck * points_off)
        / (full * LUCK_UNIT * matches**2),
        luck2=(matches * (matches * sums.luck2[0] - luck * sums.luck_product[0]) - luck * luck_off)
        / (LUCK_UNIT * matches) ** 2,
    )


def _pays(fitted: Sequence[_Fitted], places: Sequence[int], half: int) -> bool:
    """Whether that half of these pairings says that luck is better taken off."""
    products = [one.products[half] for one in fitted]
    matches = sum(one.matches for one in products)
    if not matches:
        return False
    # from place 1 a score is what is missing to 1
    total = fsum([abs(place - one.score) * one.matches for place, one in zip(places, products, strict=True)])
    return narrows(products, [one.factors[half] for one in fitted], total / matches)


def _share(one: PairingSums, place: int, factors: Sequence[float]) -> Share:
    """Its blocks with z in the place of y, of `_UNIT` for a match won: z = y - b l, with the b of the half."""
    even, odd = one.luck
    b, c = round(_FACTOR_UNIT * factors[0]), round(_FACTOR_UNIT * factors[1])
    cross = b * even.both[place] + c * odd.both[place]
    return Share(
        blocks=even.blocks + odd.blocks,
        matches=even.matches + odd.matches,
        matches2=even.matches2 + odd.matches2,
        total=_WORTH * (even.points[place] + odd.points[place]) - b * even.luck[place] - c * odd.luck[place],
        total2=_WORTH * (_WORTH * (even.points2[place] + odd.points2[place]) - 2 * cross)
        + b * b * even.luck2[place]
        + c * c * odd.luck2[place],
        product=_WORTH * (even.points_product[place] + odd.points_product[place])
        - b * even.luck_product[place]
        - c * odd.luck_product[place],
    )


def _narrower(without: Mean, plain: Mean) -> Mean | None:
    """With an interval within what a score can be, and no surer of its error than the plain score is of its own.

    A block that has not been seen yet counts with the part of its square that luck would not explain.
    """
    value, error = min(max(without.value, 0.0), 1.0), without.standard_error
    if error is None or not plain.standard_error:
        return None
    left = min(error / plain.standard_error, 1.0) ** 2
    degrees = min(without.degrees, plain.degrees)
    found = interval(
        value, error, degrees=degrees, blocks=without.blocks, lowest=0.0, highest=1.0, unseen=UNSEEN * left
    )
    if found.error >= plain.interval.error:
        return None
    return msgspec.structs.replace(without, value=value, degrees=degrees, interval=found)
