"""The dice that both seats have placed in a round: how each card stands by them, and who would win it.

Rule: a `PlacedDice` never changes; those that come again and again are cached, linked to those with one more die.
Standings are those of seat 0; numbers 1..6 are at index number-1.
"""

from functools import cache
from itertools import product
from typing import Final

from arena.games.shanghaien.cards import DiceCounts
from arena.games.shanghaien.state import ROW_SIZE

_EMPTY, _TIE_WON, _TIE_EVEN, _TIE_LOST = range(4)
_LEADS: Final[tuple[int, ...]] = (_TIE_EVEN, 4, 5, 6, 6, 6, 6, 6, 9, 9, 9, 9, 9, 8, 7)
"""The standing by the lead; a negative one counts from the end."""
AS_THE_OTHER: Final[tuple[int, ...]] = (0, 3, 2, 1, 7, 8, 9, 4, 5, 6)
"""The standing as the opponent sees it, by standing."""
_WINNER: Final[tuple[int, ...]] = (0, 1, 0, 2, 1, 1, 1, 2, 2, 2)
"""The winner of a card as a digit of `Won`, by standing."""
_CACHE_SIZE: Final = 16384
"""There are 924 x 924 placements; a match has some hundreds of them, mirrored matches share many."""

PackedCounts = int
"""The dice on all numbers: six bits for each, its dice of seat 0 and eight times those of seat 1; see `_dice_on`."""
_DIE: Final[tuple[int, ...]] = (1, 8)
_LEAD: Final = tuple([pair % 8 - pair // 8 for pair in range(64)])
_STANDING: Final = tuple([_LEADS[lead] if pair else _EMPTY for pair, lead in enumerate(_LEAD)])
"""The standing of a card by the dice of both seats on its number, if a tie is even."""

CardStandings = tuple[int, ...]
Won = int
"""The winners of all cards as a number to base 3, whose first digit is that of the card on the left.

The digits: 0 for nobody, 1 for seat 0, 2 for seat 1.
"""
_PLACE_VALUES: Final[tuple[int, ...]] = (1, 3, 9, 27, 81, 243)
_NEAR: Final[tuple[tuple[int, ...], ...]] = ((0, 1), (0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 5), (4, 5))
"""The cards that a die on a number can change, by index."""
WINNERS: Final = [winners[::-1] for winners in product((0, 1, -1), repeat=ROW_SIZE)]
"""The winners of the cards from the left, by `Won`: 1 for seat 0, -1 for seat 1, 0 for nobody."""


class PlacedDice:
    """The dice of both seats: `counts` on the numbers, `first` and `second` all of seat 0 and of seat 1.

    `standings` of the cards are those of seat 0. `won_left` and `won_right` tell the winners if number 1 is on that end
    of the row.
    """

    __slots__ = ("_after", "counts", "first", "second", "standings", "won_left", "won_right")

    def __init__(
        self, counts: PackedCounts, totals: tuple[int, int], standings: CardStandings, won: tuple[Won, Won]
    ) -> None:
        self.counts = counts
        self.first, self.second = totals
        self.standings = standings
        self.won_left, self.won_right = won
        self._after: list[tuple[PlacedDice, ...]] = [(), ()]

    def after_each(self, seat: int) -> "tuple[PlacedDice, ...]":
        """Return, by index, these dice with one more of the seat on that number; they are kept for the next call."""
        after = self._after[seat]
        if not after:
            after = self._after[seat] = tuple([self.with_die(seat, index) for index in range(ROW_SIZE)])
        return after

    def with_die(self, seat: int, index: int) -> "PlacedDice":
        """Return these dice with one more of the seat on the number at the index."""
        counts = self.counts + (_DIE[seat] << 6 * index + 6)
        cached_dice = _cache.get(counts)
        if cached_dice is not None:
            return cached_dice
        standings = list(self.standings)
        left, right = self.won_left, self.won_right
        for near in _NEAR[index]:
            before = standings[near]
            if near != index and not _TIE_WON <= before <= _TIE_LOST:
                continue  # only a tie is decided by the dice beside it
            after = _standing_of(counts, near)
            if after != before:
                standings[near] = after
                change = _WINNER[after] - _WINNER[before]
                left += change * _PLACE_VALUES[near]
                right += change * _PLACE_VALUES[-1 - near]
        totals = (self.first + 1, self.second) if seat == 0 else (self.first, self.second + 1)
        return _store_in_cache(PlacedDice(counts, totals, tuple(standings), (left, right)))


def _dice_on(counts: PackedCounts, number: int) -> int:
    """Return the dice of both seats on a number, 0 to 7; none lie on 0 and 7, so each number has two beside it."""
    return counts >> 6 * number & 63


def _standing_of(counts: PackedCounts, index: int) -> int:
    """Return the standing of a card: no dice, a tie won, even or lost, or a lead of 1, 2, 3 or more of a seat."""
    standing = _STANDING[_dice_on(counts, index + 1)]
    if standing != _TIE_EVEN:
        return standing
    pips = index * _LEAD[_dice_on(counts, index)] + (index + 2) * _LEAD[_dice_on(counts, index + 2)]
    return _TIE_WON if pips > 0 else _TIE_LOST if pips < 0 else _TIE_EVEN


_cache: Final[dict[PackedCounts, PlacedDice]] = {}


def _store_in_cache(dice: PlacedDice) -> PlacedDice:
    """Keep the dice in the cache, which is emptied when it is full, and return them."""
    if len(_cache) >= _CACHE_SIZE:  # all at once, for they are linked
        _cache.clear()
    _cache[dice.counts] = dice
    return dice


@cache
def _pack_counts(placed: DiceCounts) -> PackedCounts:
    """Pack the dice of one side into the bits of seat 0."""
    return sum([count << 6 * index + 6 for index, count in enumerate(placed)])


def placed_dice(first: DiceCounts, second: DiceCounts) -> PlacedDice:
    """Return the dice of seats 0 and 1."""
    dice = _cache.get(_pack_counts(first) + _DIE[1] * _pack_counts(second))
    if dice is None:
        dice = _store_in_cache(PlacedDice(0, (0, 0), (_EMPTY,) * ROW_SIZE, (0, 0)))
        for seat, placed in enumerate((first, second)):
            for index, count in enumerate(placed):
                for _ in range(count):
                    dice = dice.with_die(seat, index)
    return dice
