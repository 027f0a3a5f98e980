"""The value of a position of Shanghaien to each seat: the chance to win, a draw counting half.

`arena.match.luck` tells luck from skill by it; bots and rules never ask it. It knows the base game: what an expansion
adds it values by the dice and cards that lie there, or not at all. That costs precision, never truth: whatever the
value is, the luck measured with it has mean 0 as long as it keeps the rule of this module: it looks at nothing that the
players cannot know, and a position that waits for chance is worth exactly the mean over what can happen. Rolls of three
dice and more (reroll all) change nothing in it, so they count as no luck. Payoffs are those of the seat that is named,
and counts of dice those of the side named first; numbers 1..6 are at index number-1.
"""

from collections import Counter
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import product
from typing import ClassVar, Final, NamedTuple

from arena.games.api import Dice, Seat, Shuffle
from arena.games.shanghaien.cards import DECK_SIZE, JOKER_VALUE, Card
from arena.games.shanghaien.state import DICE_PER_PLAYER, ENDS, ROUNDS, ROW_SIZE, Choice, ExtraRoll, Player, State
from arena.games.shanghaien.turns import apply_roll, scores_of
from arena.games.shanghaien.value import stakes
from arena.games.shanghaien.value.constants import CONSTANTS, scale
from arena.games.shanghaien.value.placed import PlacedDice, placed_dice
from arena.games.shanghaien.value.stakes import CardParts, Side, chance_of

MAY_END: Final = 2
MUST_END: Final = DICE_PER_PLAYER - 1
"""A player with so many dice placed may call shanghai, or has to."""
_BOTH_ENDS: Final = (0, 1)
"""The end of the row where number 1 lies is here its index in `ENDS`."""
_NOT_LOOKED_AT: Final = [0.0] * ROW_SIZE
"""Payoffs with a weight of 0, which change no bit of a sum."""
_ALL_CARDS: Final = tuple([Card(card) for card in range(DECK_SIZE)])


def mean_of_better(faces: list[float]) -> float:
    """Return the mean over two dice of the better one: the best of six is that in 11 of 36 ways, the next in 9..."""
    a, b, c, d, e, f = sorted(faces)
    return (11 * f + 9 * e + 7 * d + 5 * c + 3 * b + a) / 36


class Outlook(NamedTuple):
    """The terms of the payoff of a seat that has just placed, but for the standings of the cards.

    `before`: its margin, were the row even; `by_number`: the part of each card, by its standing; `per_point`: standard
    deviations a point. `of_ended`, `of_lesser`: the weights in `Constants`, `of_going_on`: the rest.
    """

    before: float
    by_number: list[CardParts]
    per_point: float
    of_ended: float
    of_lesser: float
    of_going_on: float


class RoundValue:
    """A round with its cards, crews and tricks; `before` is the margin by seat, were the row even."""

    def __init__(self, number: int, row: tuple[Card, ...], pile: tuple[Card, ...], sides: tuple[Side, Side]) -> None:
        self._number, self._row, self._pile, self._sides = number, row, pile, sides
        self._rounds_left = ROUNDS - number
        first, second = sides
        self._pool = pool = stakes.pool_of(row + pile)
        margin, self._jokers = stakes.before_dice(self._rounds_left, pool, first, second)
        self.before = margin, -margin
        both = [stakes.stakes_of(card, first.strength, second.strength, pool, self._rounds_left) for card in row]
        self.row_stakes = [stake for stake, _ in both], [stake for _, stake in both]
        self._outlooks: dict[int, Outlook] = {}
        self._with_joker: list[RoundValue | None] = [None, None]

    def opening_payoff(self, seat: int) -> float:
        """Return the payoff of the seat that starts the round. Linear in the cards of the row: see `_opening_gain`."""
        before = self._lay_jokers(seat, 1 - seat).before[seat] + CONSTANTS.start[self._number]
        per_point = scale(self._number, 0)
        deviations = before * per_point
        return chance_of(deviations) + self._opening_gain(seat) * stakes.steepness(deviations) * per_point

    def _opening_gain(self, seat: int) -> float:
        """Return the margin of the row beyond that of an average one: 0 in the mean over all rows there could be.

        That is so because each of its places holds any of the cards to come with the same chance.
        """
        if not self._row:
            return 0.0
        mine, theirs = self._sides[seat].strength, self._sides[1 - seat].strength
        count = len(self._row) + len(self._pile)
        tricks = count - sum(map(len, self._pool))
        of_row = stakes.sum_in_order([stakes.worth_of(stake) for stake in self.row_stakes[seat]])
        total = stakes.total_worth(mine, theirs, self._pool, tricks, self._rounds_left)
        return of_row - len(self._row) * total / count

    def payoff_to_move(self, seat: int, dice: PlacedDice, end: int) -> float:
        """Return the payoff of the seat to move, by the better of roll and shanghai, if both are allowed."""
        dice_placed = dice.first if seat == 0 else dice.second
        if dice_placed >= MUST_END:
            return self._payoff_if_ended(seat, dice, end)
        rolls = mean_of_better(self._quick_face_payoffs(seat, dice, end))
        return rolls if dice_placed < MAY_END else max(rolls, self._payoff_if_ended(seat, dice, end))

    def payoff_after(self, seat: int, dice: PlacedDice, end: int) -> float:
        """Return the payoff of the seat whose dice lie there, and whose opponent is to move."""
        return 1 - self.payoff_to_move(1 - seat, dice, end)

    def face_payoffs(self, seat: int, dice: PlacedDice, end: int) -> list[float]:
        """Return the payoffs of the seat after it placed one die on each of the numbers."""
        if self._number < CONSTANTS.lookahead:
            return self._quick_face_payoffs(seat, dice, end)
        return [self.payoff_after(seat, after, end) for after in dice.after_each(seat)]

    def _quick_face_payoffs(self, seat: int, dice: PlacedDice, end: int) -> list[float]:
        """Compute `face_payoffs` by the frequencies in `chances` instead of the opponent's next roll."""
        mine, theirs = (dice.first + 1, dice.second) if seat == 0 else (dice.second + 1, dice.first)
        after_each = dice.after_each(seat)
        if theirs >= MUST_END:
            return self._payoffs_if_ended(seat, after_each, end)
        key = ((mine * DICE_PER_PLAYER + theirs) * 2 + seat) * 2 + end
        outlook = self._outlooks.get(key)
        if outlook is None:
            outlook = self._outlooks[key] = self._make_outlook(seat, end, mine, theirs)
        before, (first, second, third, fourth, fifth, sixth), per_point, of_ended, of_lesser, of_going_on = outlook
        each_ended = self._payoffs_if_ended(seat, after_each, end) if of_going_on != 1 else _NOT_LOOKED_AT
        payoffs = []
        for index, after in enumerate(after_each):
            a, b, c, d, e, f = after.standings
            margin = before + first[a] + second[b] + third[c] + fourth[d] + fifth[e] + sixth[f]
            payoff = chance_of(margin * per_point)
            now = each_ended[index]
            lesser = now if now < payoff else payoff  # noqa: FURB136 - a call of min takes as long as the sum
            payoffs.append(of_going_on * payoff + of_ended * now + of_lesser * lesser)
        return payoffs

    def _make_outlook(self, seat: int, end: int, mine: int, theirs: int) -> Outlook:
        """Return the outlook of the seat that has just placed, with so many dice of its own and of the other seat."""
        count = min(CONSTANTS.most_dice, mine + theirs)
        laid = self._lay_jokers(1 - seat, seat) if mine < MUST_END else self._lay_jokers(1 - seat)
        by_number = laid.row_stakes[seat] if end == 0 else laid.row_stakes[seat][::-1]
        parts = [stake.parts(seat, count) for stake in by_number]
        ended, lesser = CONSTANTS.ended[self._number][count], CONSTANTS.lesser[self._number][count]
        return Outlook(laid.before[seat], parts, scale(self._number, count), ended, lesser, 1 - ended - lesser)

    @cached_property
    def _endings(self) -> stakes.Endings:
        """The payoffs after this round, made when needed: nobody ends a round whose row is not turned up yet."""
        return stakes.Endings(self._number, self._row, self._pile, self._sides)

    def _payoff_if_ended(self, seat: int, dice: PlacedDice, end: int) -> float:
        """Return the payoff of the seat if it ended the round now, and the other one started the next one."""
        payoff = self._endings.payoff(dice.won_left if end == 0 else dice.won_right, 1 - seat)
        return payoff if seat == 0 else 1 - payoff

    def _payoffs_if_ended(self, seat: int, choices: tuple[PlacedDice, ...], end: int) -> list[float]:
        """Return the payoffs of the seat if the other one ended the round with each of these dice."""
        endings = self._endings
        cached_payoffs = endings.known[seat]
        payoffs = []
        for dice in choices:
            won = dice.won_left if end == 0 else dice.won_right
            payoff = cached_payoffs.get(won)
            if payoff is None:
                payoff = endings.payoff(won, seat)
            payoffs.append(payoff if seat == 0 else 1 - payoff)
        return payoffs

    def _lay_jokers(self, *seats: int) -> "RoundValue":
        """Return, in the last round, the round after these seats have laid the jokers they will lay, in this order.

        A joker in the last round is as good as laid, and what the other side can still answer matters most.
        """
        round_ = self
        for seat in seats if self._number == ROUNDS else ():
            side = round_._sides[seat]
            if not side.has_used and round_._jokers[seat].first > CONSTANTS.trick[0]:
                round_ = round_.with_joker(seat) or round_
        return round_

    def with_joker(self, seat: int) -> "RoundValue | None":
        """Return the round after the seat has laid a joker where it helps most; None if it has no joker, or no crew."""
        side, nation = self._sides[seat], self._jokers[seat].nation
        if nation < 0 or not side.jokers:
            return None
        laid_round = self._with_joker[seat]
        if laid_round is None:
            strength = list(side.strength)
            strength[nation] += JOKER_VALUE
            laid = Side(tuple(strength), side.tricks - 1, side.jokers - 1, has_used=True)
            sides = (laid, self._sides[1]) if seat == 0 else (self._sides[0], laid)
            laid_round = self._with_joker[seat] = _round_value(self._number, self._row, self._pile, sides)
        return laid_round


_round_value: Final = lru_cache(maxsize=32)(RoundValue)


_TWO_DICE: Final = Dice(2)
_FACES: Final = range(1, 7)
_AVERAGED: Final[dict[Dice | Shuffle, Counter[tuple[int, ...]]]] = {
    Dice(1): Counter(product(_FACES)),
    _TWO_DICE: Counter(tuple(sorted(roll)) for roll in product(_FACES, repeat=2)),
}
"""Rolls whose mean is taken: the faces regardless of order, and in how many ways they fall so."""


class ShanghaienValue:
    """The value as `arena.games.api.ValueFunction` asks for it."""

    version: ClassVar[str] = CONSTANTS.version

    def __call__(self, state: State) -> tuple[float, float]:
        """Return the expected payoffs of the seats, which add up to 1."""
        first = _first_payoff(state)
        return first, 1.0 - first

    def before_reveal(self, before: State, after: State) -> State | None:
        """Return `after` with the newly turned-up row still on the pile; None if no row was turned up."""
        is_new = after.row != before.row and after.phase == "turn" and after.one_at is None
        if not is_new:
            return None
        hidden = after.copy()
        hidden.row, hidden.pile = (), after.row + after.pile
        return hidden


def _first_payoff(state: State) -> float:
    """Return the expected payoff of seat 0."""
    phase = state.phase
    if phase == "over":
        first, second = scores_of(state)
        return 0.5 if first == second else float(first > second)
    if phase == "rolling":
        is_plain = state.to_place == 1 and not state.variant.on_rolled
        payoff = mean_of_better(_position(state).payoff_by_face()) if is_plain else _mean(state, _TWO_DICE, apply_roll)
    elif isinstance(phase, ExtraRoll) and phase.chance.kind in _AVERAGED:
        payoff = _mean(state, phase.chance.kind, phase.then)
    elif phase == "rolled" or (isinstance(phase, Choice) and len(state.dice) == 2):
        payoff = _position(state).best_placement(state)
    else:
        payoff = _position(state).payoff_before_action()
    return _payoff_of(state.to_move, payoff)


def _payoff_of(seat: Seat, first: float) -> float:
    """Convert the payoff of seat 0 to that of the seat, or back."""
    return first if seat == 0 else 1.0 - first


def _mean(state: State, dice: Dice | Shuffle, then: Callable[[State, tuple[int, ...]], None]) -> float:
    """Return the payoff of the side to move, in the mean over the ways in which dice fall."""
    ways = _AVERAGED[dice]
    seat = state.to_move
    total = 0.0
    for faces, count in ways.items():
        after = state.copy()
        then(after, faces)
        total += count * _payoff_of(seat, _first_payoff(after))
    return total / ways.total()


class _Position:
    """A position as the side to move sees it, whatever dice it has just rolled."""

    def __init__(self, state: State) -> None:
        self._first, self._second = state.players
        self._row, self._pile = state.row, state.pile
        self._number, self._seat, self._one_at = state.round, state.to_move, state.one_at
        self._ends = _BOTH_ENDS if state.one_at is None else (ENDS.index(state.one_at),)
        pile = _ALL_CARDS if state.phase == "shuffle" else state.pile
        self._round_value = _round_value(state.round, state.row, pile, (_side_of(self._first), _side_of(self._second)))
        self._dice = placed_dice(self._first.placed, self._second.placed)
        self._payoff_by_face: list[float] = []

    def is_of(self, state: State) -> bool:
        """Return True if the state differs only in phase and dice. Its parts never change, so they are identical."""
        first, second = state.players
        return (
            first is self._first
            and second is self._second
            and state.pile is self._pile
            and state.row is self._row
            and state.to_move == self._seat
            and state.one_at == self._one_at
            and state.round == self._number
        )

    def payoff_before_action(self) -> float:
        """Return the payoff before the side to move does anything."""
        if self._one_at is None:
            return self._round_value.opening_payoff(self._seat)
        return self._round_value.payoff_to_move(self._seat, self._dice, self._ends[0])

    def payoff_by_face(self) -> list[float]:
        """Return the payoffs of the side to move, by face, after the best that it can do with one die of that face."""
        if not self._payoff_by_face:
            has_used = (self._first if self._seat == 0 else self._second).has_used_trick
            joker = None if has_used else self._round_value.with_joker(self._seat)
            rounds = [self._round_value] if joker is None else [self._round_value, joker]
            ways = [round_.face_payoffs(self._seat, self._dice, end) for round_ in rounds for end in self._ends]
            self._payoff_by_face = ways[0] if len(ways) == 1 else [max(face) for face in zip(*ways, strict=True)]
        return self._payoff_by_face

    def best_placement(self, state: State) -> float:
        """Return the payoff after the best placement of the dice that lie there."""
        payoffs: list[float] = []
        if state.to_place == 2:
            after = self._dice
            for face in state.dice:
                after = after.after_each(self._seat)[face - 1]
            payoffs = [self._round_value.payoff_after(self._seat, after, end) for end in self._ends]
        if state.must_place == 1:
            faces = self.payoff_by_face()
            payoffs += [faces[face - 1] for face in state.dice]
        return max(payoffs)


def _side_of(player: Player) -> Side:
    """Return the part of a player's side that the value depends on."""
    jokers = sum([card < DECK_SIZE for card in player.tricks])
    return Side(player.strength, len(player.tricks), jokers, player.has_used_trick)


_last: Final[list[_Position]] = []
"""The position evaluated last: the states before and after a draw are evaluated one after the other."""


def _position(state: State) -> _Position:
    """Return the position of a state, and keep it; the one evaluated last if only phase and dice differ."""
    if not _last or not _last[0].is_of(state) or state.phase == "shuffle":
        _last[:] = [_Position(state)]
    return _last[0]
