"""The worth of crews, cards of a row and tricks, in points of the final margin to be expected.

Rule: plain functions of counts; the order of the draw pile is never looked at, only which cards are still to come.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from arena.games.shanghaien.cards import JOKER_VALUE, NATIONS, Card, is_sailor, nation_of, strength_of
from arena.games.shanghaien.value.constants import CONSTANTS

SailorPool = tuple[tuple[int, ...], ...]
"""By nation the values of the sailors still to come, in ascending order."""


class Stake(NamedTuple):
    """The part of a card in a side's margin if this side wins it, if the other one does, and if nobody does."""

    won: float
    lost: float
    gone: float


class Jokers(NamedTuple):
    """The gains by a first and a second joker, laid where they help most; the nation of the first, -1 for none."""

    first: float
    second: float
    nation: int


_SHARE: Final = CONSTANTS.share


@lru_cache(maxsize=1024)
def pool_of(cards: tuple[Card, ...]) -> SailorPool:
    """The sailors among `cards`."""
    values: list[list[int]] = [[] for _ in NATIONS]
    for card in sorted(cards):
        if is_sailor(card):
            values[nation_of(card)].append(strength_of(card))
    return tuple([tuple(each) for each in values])


@cache
def expected_margin(mine: int, theirs: int, pool: tuple[int, ...]) -> float:
    """The margin a nation will give if each card of the pool goes to either side with the chance `share`."""
    if pool:
        value, rest = pool[0], pool[1:]
        won = expected_margin(mine + value, theirs, rest) + expected_margin(mine, theirs + value, rest)
        return _SHARE * won + (1 - 2 * _SHARE) * expected_margin(mine, theirs, rest)
    if mine == theirs:
        return 0.0
    points = min(mine, theirs) or max(mine, theirs)
    return float(points if mine > theirs else -points)


def stake_of(card: Card, mine: Sequence[int], theirs: Sequence[int], pool: SailorPool, rounds_left: int) -> Stake:
    """The stake of a card of the pool, or of a trick, to the side whose crews are named first."""
    if not is_sailor(card):
        worth = CONSTANTS.trick[rounds_left]
        return Stake(worth, -worth, 0.0)
    nation = nation_of(card)
    return _sailor_stake(mine[nation], theirs[nation], pool[nation], strength_of(card))


@cache
def _sailor_stake(mine: int, theirs: int, pool: tuple[int, ...], value: int) -> Stake:
    at = pool.index(value)
    others = pool[:at] + pool[at + 1 :]
    now = expected_margin(mine, theirs, pool)
    return Stake(
        expected_margin(mine + value, theirs, others) - now,
        expected_margin(mine, theirs + value, others) - now,
        expected_margin(mine, theirs, others) - now,
    )


def jokers_of(mine: Sequence[int], theirs: Sequence[int], pool: SailorPool) -> Jokers:
    """The gains by jokers laid to the crews named first."""
    gains = [
        (expected_margin(own + JOKER_VALUE, other, left) - expected_margin(own, other, left), nation)
        for nation, (own, other, left) in enumerate(zip(mine, theirs, pool, strict=True))
        if own
    ]
    if not gains:
        return Jokers(0.0, 0.0, -1)
    best, nation = max(gains)
    return Jokers(best, max([gain for gain, where in gains if where != nation], default=0.0), nation)


def tricks_worth(held: int, first: float, second: float, chances: int) -> float:
    """The worth of so many unused tricks, by the gains of jokers, with so many rounds left in which one can be used."""
    if not held:
        return 0.0
    worth = CONSTANTS.trick[chances] * held + CONSTANTS.first_joker[chances] * first
    return worth + CONSTANTS.second_joker[chances] * second if held > 1 else worth
