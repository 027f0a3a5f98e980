"""The payoffs of one round, while its cards, crews and tricks stay as they are: for any dice that lie there.

Rule: payoffs are those of the seat that is named, and counts of dice those of the side named first; numbers 1..6 are
at index number-1. Caches only save time.
"""

from functools import lru_cache
from typing import Final

from arena.games.shanghaien.actions import End
from arena.games.shanghaien.cards import DECK_SIZE, JOKER_VALUE, Card, DiceCounts, neighbour_pips
from arena.games.shanghaien.state import DICE_PER_PLAYER, ROUNDS, ROW_SIZE, State
from arena.games.shanghaien.value.constants import CONSTANTS, chance_of, scale, steepness
from arena.games.shanghaien.value.stakes import (
    Endings,
    Side,
    Stake,
    expected_margin,
    jokers_of,
    pool_of,
    stake_of,
    tricks_worth,
)

MAY_END: Final = 2
MUST_END: Final = DICE_PER_PLAYER - 1
"""With so many own dice placed a player may call shanghai, or has to."""
_ALL_CARDS: Final = tuple([Card(card) for card in range(DECK_SIZE)])
_EMPTY, _TIE_WON, _TIE_EVEN, _TIE_LOST = range(4)
_LEADS: Final = {1: 4, 2: 5, 3: 6, -1: 7, -2: 8, -3: 9}
_AS_THE_OTHER: Final = (0, 3, 2, 1, 7, 8, 9, 4, 5, 6)
"""By standing: the same as the opponent sees it."""
_WINNER: Final = (0, 1, 0, -1, 1, 1, 1, -1, -1, -1)
"""By standing: the winner of the card, 1 the first side, -1 the other one, 0 nobody."""
_WAITING: Final = [[(chances[other][1], chances[other][0]) for other in _AS_THE_OTHER] for chances in CONSTANTS.chances]
"""`chances` for the side that does not move: it has just placed a die."""


def standing(mine: DiceCounts, theirs: DiceCounts, index: int) -> int:
    """For the first side: no dice, a tie that is won, even or lost, a lead of 1, 2, 3 or more."""
    lead = mine[index] - theirs[index]
    if lead:
        return _LEADS[max(-3, min(3, lead))]
    if not mine[index]:
        return _EMPTY
    pips = neighbour_pips(mine, index) - neighbour_pips(theirs, index)
    return _TIE_WON if pips > 0 else _TIE_LOST if pips < 0 else _TIE_EVEN


@lru_cache(maxsize=32768)
def card_standings(mine: DiceCounts, theirs: DiceCounts) -> tuple[int, ...]:
    """The standing of each card."""
    return tuple([standing(mine, theirs, index) for index in range(ROW_SIZE)])


@lru_cache(maxsize=32768)
def card_signs(mine: DiceCounts, theirs: DiceCounts) -> tuple[int, ...]:
    """The winner of each card: 1 the first side, -1 the other one, 0 nobody."""
    return tuple([_WINNER[stand] for stand in card_standings(mine, theirs)])


@lru_cache(maxsize=32768)
def after_each(mine: DiceCounts) -> tuple[DiceCounts, ...]:
    """The own dice with one more on each of the numbers."""
    return tuple([with_dice(mine, (face,)) for face in range(1, ROW_SIZE + 1)])


def with_dice(mine: DiceCounts, dice: tuple[int, ...]) -> DiceCounts:
    """The own dice with more of them."""
    return tuple([count + dice.count(face) for face, count in enumerate(mine, start=1)])


def mean_of_better(faces: list[float]) -> float:
    """The mean over two dice of the better one: the best of six faces is that in 11 of 36 ways, the next in 9..."""
    a, b, c, d, e, f = sorted(faces)
    return (11 * f + 9 * e + 7 * d + 5 * c + 3 * b + a) / 36


def round_of(state: State) -> "RoundValue":
    """The round that is played in this state."""
    pile = _ALL_CARDS if state.phase == "shuffle" else state.pile
    first, second = [
        Side(side.strength, len(side.tricks), sum([card < DECK_SIZE for card in side.tricks]), side.has_used_trick)
        for side in state.players
    ]
    return _round(state.round, state.row, pile, first, second)


@lru_cache(maxsize=128)
def _round(number: int, row: tuple[Card, ...], pile: tuple[Card, ...], first: Side, second: Side) -> "RoundValue":
    return RoundValue(number, row, pile, (first, second))


class RoundValue:
    """A round with its cards, crews and tricks; `before` is the margin by seat, were the row even."""

    def __init__(self, number: int, row: tuple[Card, ...], pile: tuple[Card, ...], sides: tuple[Side, Side]) -> None:
        self._number, self._row, self._pile, self._sides = number, row, pile, sides
        self._rounds_left = ROUNDS - number
        self._strengths = first, second = sides[0].strength, sides[1].strength
        pool = self._pool = pool_of(row + pile)
        self._jokers = jokers_of(first, second, pool), jokers_of(second, first, pool)
        tricks = [
            tricks_worth(side.tricks, jokers.first, jokers.second, self._rounds_left + (not side.has_used))
            for side, jokers in zip(sides, self._jokers, strict=True)
        ]
        crews = [expected_margin(*nation) for nation in zip(first, second, pool, strict=True)]
        before = sum(crews) + tricks[0] - tricks[1]
        self.before = (before, -before)
        stakes = [stake_of(card, first, second, pool, self._rounds_left) for card in row]
        self._stakes = stakes, [Stake(-stake.lost, -stake.won, -stake.gone) for stake in stakes]
        self._endings = Endings(number, row, pile, sides)

    def opening(self, seat: int) -> float:
        """The payoff of the seat that starts the round. Linear in the cards of the row: see `_opening_gain`."""
        before = self._settled(seat, 1 - seat).before[seat] + CONSTANTS.start[self._number]
        per_point = scale(self._number, 0)
        deviations = before * per_point
        return chance_of(deviations) + self._opening_gain(seat) * steepness(deviations) * per_point

    def _opening_gain(self, seat: int) -> float:
        """The margin of the row beyond that of an average one: 0 in the mean over all rows there could be.

        That is so because each of its places holds any of the cards to come with the same chance.
        """
        if not self._row:
            return 0.0
        mine, theirs = self._strengths[seat], self._strengths[1 - seat]
        win, lose = CONSTANTS.chances[0][0]

        def worth(stake: Stake) -> float:
            return win * stake.won + lose * stake.lost + (1 - win - lose) * stake.gone

        to_come = sorted(self._row + self._pile)
        worths = [worth(stake_of(card, mine, theirs, self._pool, self._rounds_left)) for card in to_come]
        return sum([worth(stake) for stake in self._stakes[seat]]) - len(self._row) * sum(worths) / len(worths)

    def to_move(self, seat: int, mine: DiceCounts, theirs: DiceCounts, end: End) -> float:
        """The payoff of the seat to move, before it chooses between a roll and shanghai."""
        own = sum(mine)
        if own >= MUST_END:
            return self._ended(seat, mine, theirs, end, 1 - seat)
        rolls = mean_of_better(self._quick_faces(seat, mine, theirs, end))
        return rolls if own < MAY_END else max(rolls, self._ended(seat, mine, theirs, end, 1 - seat))

    def placed(self, seat: int, mine: DiceCounts, theirs: DiceCounts, end: End) -> float:
        """The payoff of the seat whose dice lie there, and whose opponent is to move."""
        return 1 - self.to_move(1 - seat, theirs, mine, end)

    @lru_cache(maxsize=8192)  # noqa: B019 - bounded
    def faces(self, seat: int, mine: DiceCounts, theirs: DiceCounts, end: End) -> list[float]:
        """The payoff of the seat after it placed one die on each of the numbers."""
        if self._number < CONSTANTS.lookahead:
            return self._quick_faces(seat, mine, theirs, end)
        return [self.placed(seat, after, theirs, end) for after in after_each(mine)]

    def _quick_faces(self, seat: int, mine: DiceCounts, theirs: DiceCounts, end: End) -> list[float]:
        """Like `faces`, by the frequencies in `chances` instead of the opponent's next roll."""
        own, other = sum(mine) + 1, sum(theirs)
        if other >= MUST_END:
            return [self._ended(seat, after, theirs, end, seat) for after in after_each(mine)]
        dice = min(CONSTANTS.most_dice, own + other)
        settled = self._settled(1 - seat, seat) if own < MUST_END else self._settled(1 - seat)
        first, second, third, fourth, fifth, sixth = settled.contributions(seat, end, dice)
        before, per_point = settled.before[seat], scale(self._number, dice)
        of_ended, of_lesser = CONSTANTS.ended[self._number][dice], CONSTANTS.lesser[self._number][dice]
        of_going_on = 1 - of_ended - of_lesser
        payoffs = []
        for after in after_each(mine):
            a, b, c, d, e, f = card_standings(after, theirs)
            expected = before + first[a] + second[b] + third[c] + fourth[d] + fifth[e] + sixth[f]
            payoff = chance_of(expected * per_point)
            if of_going_on < 1:
                ended = self._ended(seat, after, theirs, end, seat)
                payoff = of_going_on * payoff + of_ended * ended + of_lesser * min(payoff, ended)
            payoffs.append(payoff)
        return payoffs

    @lru_cache(maxsize=4096)  # noqa: B019 - bounded
    def contributions(self, seat: int, end: End, dice: int) -> list[list[float]]:
        """The part of each card in the margin of the seat that does not move, by number and by standing."""
        stakes = self._stakes[seat] if end == "left" else self._stakes[seat][::-1]
        return [
            [gone + win * (won - gone) + lose * (lost - gone) for win, lose in _WAITING[dice]]
            for won, lost, gone in stakes
        ]

    def _ended(self, seat: int, mine: DiceCounts, theirs: DiceCounts, end: End, starter: int) -> float:
        """The payoff if the round ended now, and that seat started the next one."""
        won = card_signs(mine, theirs) if seat == 0 else card_signs(theirs, mine)
        payoff = self._endings.payoff(won if end == "left" else won[::-1], starter)
        return payoff if seat == 0 else 1 - payoff

    @lru_cache(maxsize=1024)  # noqa: B019 - bounded
    def _settled(self, *seats: int) -> "RoundValue":
        """In the last round, the round after these seats have laid the jokers they will lay, the first one first.

        A joker in the last round is as good as laid, and what the other side can still answer matters most.
        """
        settled = self
        for seat in seats if self._number == ROUNDS else ():
            side = settled._sides[seat]
            if not side.has_used and settled._jokers[seat].first > CONSTANTS.trick[0]:
                settled = settled.with_joker(seat) or settled
        return settled

    def with_joker(self, seat: int) -> "RoundValue | None":
        """The round after the seat has laid a joker where it helps most; None if it has no joker, or no crew."""
        side, nation = self._sides[seat], self._jokers[seat].nation
        if nation < 0 or not side.jokers:
            return None
        strength = list(side.strength)
        strength[nation] += JOKER_VALUE
        laid = Side(tuple(strength), side.tricks - 1, side.jokers - 1, has_used=True)
        first, second = (laid, self._sides[1]) if seat == 0 else (self._sides[0], laid)
        return _round(self._number, self._row, self._pile, first, second)
