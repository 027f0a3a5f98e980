"""Sums of pairings -> scores without the luck of dice and cards, for any player against any of their opponents.

Rule: it never decides a rank. The part taken off has mean 0 whatever the bots do, for the value of the game is frozen,
and the factor on it is fitted by other blocks: that of the even blocks by the odd ones, and the other way round. So

    score without luck = score - b * luck

has the mean of the score. The factor is pooled over the league and shrunk (`arena.statistics.control_variate`). Whether
luck is taken off at all is decided for each half of the blocks by the other half, too: only where that narrows the
interval of the other half beyond chance. A score without luck whose interval came out no narrower than the plain one
is not shown: it would be less precise.

As in all sums, numbers are whole up to the last division: the factor is rounded to millionths.
"""

from math import fsum
from typing import Any, Final

import msgspec
import numpy as np

from arena.match.results import LUCK_UNIT
from arena.standings.match_table import NO_PAIRINGS, Array, PlayerPairings
from arena.standings.ranks import full_score
from arena.standings.scores import Mean, mean_of
from arena.standings.sums import HALVES, LuckSums, PairingSums, Shares
from arena.statistics.control_variate import Products, is_narrower, slopes
from arena.statistics.interval import UNSEEN, interval

ADJUSTABLE_SEATS: Final = 2
"""A payoff is a score only against one opponent."""
_EXACT: Final = 1 << 53
"""Whole numbers below this bound are exact as floats."""
_FACTOR_UNIT: Final = 1_000_000
_UNIT: Final = _FACTOR_UNIT * LUCK_UNIT
_WORTH: Final = _UNIT // full_score(ADJUSTABLE_SEATS)


class LuckAdjustment:
    """The factors on luck of all pairings of a league in which the luck of all matches is known.

    For each half of the blocks it holds columns over the pairings: their products, and the factor pooled over all
    pairings whose luck has the same version.
    """

    def __init__(self, sums: PairingSums) -> None:
        self._sums, self._versions = sums, luck_versions(sums)
        self._products_of = [_products_of(half) for half in sums.luck] if sums.table.seats == ADJUSTABLE_SEATS else []
        self._factors = [np.zeros(len(sums.table.keys)) for _ in self._products_of]
        for version in set(self._versions) - {""}:
            is_of_version = self._versions == version
            for products, factors in zip(self._products_of, self._factors, strict=True):
                factors[is_of_version] = slopes(_select_pairings(products, is_of_version))

    def score(self, where: PlayerPairings, plain: Mean) -> Mean | None:
        """Compute the score without luck of a player over pairings; None if luck is better not taken off.

        `where` gives the pairings and the player's place in each, `plain` is the score in them. None as well if the
        luck of a match is unknown, or not of one version.
        """
        which, places = where
        versions = set(self._versions[which])
        if len(versions) != 1 or "" in versions:
            return None
        products = [_select_pairings(half, which) for half in self._products_of]
        factors = [half[which] for half in self._factors]
        is_used = [_narrows_interval(products[1 - half], factors[1 - half], places) for half in range(HALVES)]
        if not any(is_used):
            return None
        used = [is_used[half] * factors[1 - half] for half in range(HALVES)]
        adjusted = mean_of(_adjusted_shares(self._sums.luck, where, used), unit=_UNIT)
        return _with_interval(adjusted, plain) if adjusted else None


def luck_versions(sums: PairingSums) -> Array:
    """Return, by pairing, the version of the value under which all its matches have luck; empty without one.

    Empty for every pairing of more than two seats.
    """
    versions = np.full(len(sums.table.keys), "", dtype=object)
    if sums.table.seats == ADJUSTABLE_SEATS:
        for version, matches in sums.luck_versions.items():
            versions[matches == sums.matches] = version
    return versions


def common_luck_version(sums: PairingSums, player: str = "") -> str:
    """Return the version of the value under which all matches (of a player) have luck; empty without one."""
    versions = luck_versions(sums)
    distinct = set(versions[sums.table.pairings_of_player.get(player, NO_PAIRINGS)[0]] if player else versions)
    return distinct.pop() if len(distinct) == 1 else ""


def _select_pairings(products: Products, which: Array) -> Products:
    """Return the products of some pairings, given by numbers or by a mask."""
    return Products(*(column[which] for column in products))


def _products_of(sums: LuckSums) -> Products:
    """Compute the products of points and luck that the factor is fitted to, seen from place 0; 0 without a block."""
    by_place = [column[:, 0] for column in sums[3:]]
    largest = max(int(np.abs(column).max(initial=0)) for column in by_place)
    if 4 * largest * int(sums.matches.max(initial=0)) ** 2 >= _EXACT:
        by_place = [column.astype(object) for column in by_place]
    points, points2, points_product, luck, luck2, luck_product, both = by_place
    full, matches, matches2 = full_score(ADJUSTABLE_SEATS), sums.matches, sums.matches2
    points_off = matches * points_product - points * matches2
    luck_off = matches * luck_product - luck * matches2
    squares = np.maximum(1, matches) ** 2
    columns: tuple[Any, ...] = (
        sums.blocks,
        matches,
        points / (full * np.maximum(1, matches)),
        (matches * (matches * points2 - points * points_product) - points * points_off) / (full**2 * squares),
        (matches * (matches * both - points * luck_product) - luck * points_off) / (full * LUCK_UNIT * squares),
        (matches * (matches * luck2 - luck * luck_product) - luck * luck_off) / (LUCK_UNIT**2 * squares),
    )
    return Products(*columns[:2], *(column.astype(np.float64) for column in columns[2:]))


def _narrows_interval(products: Products, factors: Array, places: Array) -> bool:
    """Return True if taking off luck narrows the interval in this half of the blocks beyond chance.

    `factors` are those of the other half; `places` are the player's, by pairing. False without a match.
    """
    matches = int(products.matches.sum())
    if not matches:
        return False
    # seen from place 1 a score s is 1 - s
    return is_narrower(products, factors, fsum(np.abs(places - products.score) * products.matches) / matches)


def _adjusted_shares(luck: tuple[LuckSums, ...], where: PlayerPairings, factors: list[Array]) -> Shares:
    """Return a player's shares over both halves, with z = y - b l for the total y of each block.

    l is the luck of the block, b the factor for its half; totals are in parts of 1 / `_UNIT`.
    """
    columns = []
    for half, factor in zip(luck, factors, strict=True):
        b = np.array([round(_FACTOR_UNIT * value) for value in factor.tolist()], dtype=object)
        y, y2, y_product, own, own2, own_product, both = (column[where].astype(object) for column in half[3:])
        total, total2 = _WORTH * y - b * own, _WORTH * (_WORTH * y2 - 2 * b * both) + b * b * own2
        counts = (column[where[0]] for column in half[:3])
        columns.append((*counts, total, total2, _WORTH * y_product - b * own_product))
    return Shares._make([*map(sum, zip(*columns, strict=True)), None])


def _with_interval(without: Mean, plain: Mean) -> Mean | None:
    """Add the interval to a score without luck, with at most the degrees of freedom of `plain`.

    None if it is no narrower than that of `plain`. A block that has not been seen yet counts with the part of its
    square that luck would not explain.
    """
    value, error = min(max(without.value, 0.0), 1.0), without.standard_error
    if error is None or not plain.standard_error:
        return None
    left = min(error / plain.standard_error, 1.0) ** 2
    degrees = min(without.degrees, plain.degrees)
    bounds = interval(
        value, error, degrees=degrees, blocks=without.blocks, lowest=0.0, highest=1.0, unseen=UNSEEN * left
    )
    if bounds.error >= plain.interval.error:
        return None
    return msgspec.structs.replace(without, value=value, degrees=degrees, interval=bounds)
