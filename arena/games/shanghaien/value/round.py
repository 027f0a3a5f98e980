"""The payoffs of one round, while its cards, crews and tricks stay as they are: for any dice that lie there.

Rule: payoffs are those of the seat that is named, and what is remembered only saves time.
"""

from functools import lru_cache
from typing import Final

from arena.games.shanghaien.actions import End
from arena.games.shanghaien.awards import Counts
from arena.games.shanghaien.cards import DECK_SIZE, JOKER_VALUE, Card
from arena.games.shanghaien.state import DICE_PER_PLAYER, ROUNDS, Player, State
from arena.games.shanghaien.value.chance import chance_of, scale, steepness
from arena.games.shanghaien.value.constants import CHANCES, ENDED, LESSER, LOOKAHEAD, MOST_DICE, START, TRICK
from arena.games.shanghaien.value.endings import Endings, Side
from arena.games.shanghaien.value.faces import WAITING, after_each, standings, winners
from arena.games.shanghaien.value.stakes import (
    crews_margin,
    jokers_of,
    mirrored,
    pool_of,
    stake_of,
    tricks_worth,
)

MUST_END: Final = DICE_PER_PLAYER - 1
MAY_END: Final = 2
"""With so many own dice placed a player has to call shanghai, or may."""
_ALL_CARDS: Final = tuple([Card(card) for card in range(DECK_SIZE)])
Contributions = tuple[tuple[float, ...], ...]


def round_of(state: State) -> "Round":
    """The round that is played in this state."""
    first, second = state.players
    pile = state.pile
    if not state.row and not pile and state.round == 1:
        pile = _ALL_CARDS  # before the shuffle
    return _round(
        state.round,
        state.row,
        pile,
        _side(first),
        _side(second),
    )


def _side(player: Player) -> Side:
    jokers = sum([card < DECK_SIZE for card in player.tricks])
    return Side(player.strength, len(player.tricks), jokers, player.has_used_trick)


@lru_cache(maxsize=128)
def _round(number: int, row: tuple[Card, ...], pile: tuple[Card, ...], first: Side, second: Side) -> "Round":
    return Round(number, row, pile, (first, second))


class Round:
    """See the module. By seat: `jokers`, what they can add; `before`, the margin with an even row."""

    def __init__(self, number: int, row: tuple[Card, ...], pile: tuple[Card, ...], sides: tuple[Side, Side]) -> None:
        self._number = number
        self._row = row
        self._pile = pile
        self.sides = sides
        self._rounds_left = ROUNDS - number
        first, second = sides
        pool = pool_of(row + pile)
        self._pool = pool
        self.jokers = (
            jokers_of(first.strength, second.strength, pool),
            jokers_of(second.strength, first.strength, pool),
        )
        tricks = [
            tricks_worth(side.tricks, jokers, self._rounds_left + (not side.has_used))
            for side, jokers in zip(sides, self.jokers, strict=True)
        ]
        before = crews_margin(first.strength, second.strength, pool) + tricks[0] - tricks[1]
        self.before = (before, -before)
        stakes = [stake_of(card, first.strength, second.strength, pool, self._rounds_left) for card in row]
        self._stakes = (stakes, [mirrored(stake) for stake in stakes])
        self._contributions: dict[tuple[int, End, int], Contributions] = {}
        self._endings = Endings(number, row, pile, sides)
        self._faces: dict[tuple[int, Counts, Counts, End], list[float]] = {}
        self._settled: dict[tuple[int, ...], Round] = {}

    def opening(self, seat: int) -> float:
        """The payoff of the seat that starts the round. Linear in the cards of the row: see `_opening_gain`."""
        before = self._before_moves(seat) + START[self._number]
        deviations = before * scale(self._number, 0)
        payoff = chance_of(deviations)
        return payoff + self._opening_gain(seat) * steepness(deviations) * scale(self._number, 0)

    def _before_moves(self, seat: int) -> float:
        """The margin of the seat to move, before any dice lie there."""
        return self._settle((seat, 1 - seat)).before[seat]

    def _settle(self, seats: tuple[int, ...]) -> "Round":
        """In the last round, the round after these seats have laid the jokers they will lay, the first one first.

        A joker in the last round is as good as laid, and what the other side can still answer matters most.
        """
        if self._rounds_left:
            return self
        known = self._settled.get(seats)
        if known is None:
            known = self
            for seat in seats:
                side = known.sides[seat]
                if side.jokers and not side.has_used and known.jokers[seat].first > TRICK[0]:
                    known = known.with_joker(seat) or known
            self._settled[seats] = known
        return known

    def _opening_gain(self, seat: int) -> float:
        """What the row adds to the margin beyond an average one: 0 in the mean over all rows there could be.

        That is so because each of its places holds any of the cards to come with the same chance.
        """
        if not self._row:
            return 0.0
        strengths = self.sides[seat].strength, self.sides[1 - seat].strength
        to_come = self._row + self._pile
        win, lose = CHANCES[0][0]
        rest = 1 - win - lose
        all_stakes = [stake_of(card, *strengths, self._pool, self._rounds_left) for card in sorted(to_come)]
        worths = [win * stake.won + lose * stake.lost + rest * stake.gone for stake in all_stakes]
        of_row = [win * stake.won + lose * stake.lost + rest * stake.gone for stake in self._stakes[seat]]
        return sum(of_row) - len(of_row) * sum(worths) / len(worths)

    def to_move(self, seat: int, mine: Counts, theirs: Counts, end: End) -> float:
        """The payoff of the seat to move, before it chooses between a roll and shanghai."""
        own = sum(mine)
        if own >= MUST_END:
            return self.ended(seat, mine, theirs, end, 1 - seat)
        rolls = mean_of_better(self._quick_faces(seat, mine, theirs, end))
        return rolls if own < MAY_END else max(rolls, self.ended(seat, mine, theirs, end, 1 - seat))

    def faces(self, seat: int, mine: Counts, theirs: Counts, end: End) -> list[float]:
        """The payoff of the seat after it placed one die on each of the numbers."""
        key = (seat, mine, theirs, end)
        known = self._faces.get(key)
        if known is None:
            if self._number < LOOKAHEAD:
                known = self._quick_faces(seat, mine, theirs, end)
            else:
                known = [1 - self.to_move(1 - seat, theirs, after, end) for after in after_each(mine)]
            self._faces[key] = known
        return known

    def placed(self, seat: int, mine: Counts, theirs: Counts, end: End) -> float:
        """The payoff of the seat whose dice lie there, and whose opponent is to move."""
        return 1 - self.to_move(1 - seat, theirs, mine, end)

    def _quick_faces(self, seat: int, mine: Counts, theirs: Counts, end: End) -> list[float]:
        """Like `faces`, by the frequencies in `CHANCES` instead of the opponent's next roll."""
        other = sum(theirs)
        if other >= MUST_END:
            return [self.ended(seat, after, theirs, end, seat) for after in after_each(mine)]
        dice = min(MOST_DICE, sum(mine) + other + 1)
        settled = self._settle((1 - seat, seat) if sum(mine) + 1 < MUST_END else (1 - seat,))
        first, second, third, fourth, fifth, sixth = settled.contributed(seat, end, dice)
        before, per_point = settled.before[seat], scale(self._number, dice)
        of_ended, of_lesser = ENDED[self._number][dice], LESSER[self._number][dice]
        of_going_on = 1 - of_ended - of_lesser
        payoffs = []
        for after in after_each(mine):
            a, b, c, d, e, f = standings(after, theirs)
            expected = before + first[a] + second[b] + third[c] + fourth[d] + fifth[e] + sixth[f]
            payoff = chance_of(expected * per_point)
            if of_going_on < 1:
                ended = self.ended(seat, after, theirs, end, seat)
                payoff = of_going_on * payoff + of_ended * ended + of_lesser * min(payoff, ended)
            payoffs.append(payoff)
        return payoffs

    def contributed(self, seat: int, end: End, dice: int) -> Contributions:
        """What each card adds to the margin of the seat that does not move, by number and by how it stands."""
        key = (seat, end, dice)
        known = self._contributions.get(key)
        if known is None:
            stakes = self._stakes[seat] if end == "left" else self._stakes[seat][::-1]
            known = self._contributions[key] = tuple(
                [
                    tuple([gone + win * (won - gone) + lose * (lost - gone) for win, lose in WAITING[dice]])
                    for won, lost, gone in stakes
                ]
            )
        return known

    def ended(self, seat: int, mine: Counts, theirs: Counts, end: End, starter: int) -> float:
        """The payoff if the round ended now, and that seat started the next one."""
        won = winners(mine, theirs) if seat == 0 else winners(theirs, mine)
        if end == "right":
            won = won[::-1]
        payoff = self._endings.payoff(won, starter)
        return payoff if seat == 0 else 1 - payoff

    def with_joker(self, seat: int) -> "Round | None":
        """The round after the seat has laid a joker where it helps most; None if it has no joker, or no crew."""
        side, nation = self.sides[seat], self.jokers[seat].nation
        if nation < 0 or not side.jokers:
            return None
        strength = list(side.strength)
        strength[nation] += JOKER_VALUE
        return self._with_side(seat, Side(tuple(strength), side.tricks - 1, side.jokers - 1, has_used=True))

    def _with_side(self, seat: int, side: Side) -> "Round":
        first, second = (side, self.sides[1]) if seat == 0 else (self.sides[0], side)
        return _round(self._number, self._row, self._pile, first, second)


def mean_of_better(faces: list[float]) -> float:
    """The mean over two dice of the better one: the best of six faces is that in 11 of 36 ways, the next in 9..."""
    a, b, c, d, e, f = sorted(faces)
    return (11 * f + 9 * e + 7 * d + 5 * c + 3 * b + a) / 36
