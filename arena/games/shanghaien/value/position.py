"""The worth of a position of Shanghaien to each seat: the chance to win, a draw counting half.

`arena.match.luck` tells luck from skill by it; bots and rules never ask it. It knows the base game:
what an expansion adds it values by the dice and cards that lie there, or not at all. That costs precision, never truth:
whatever the value is, the luck measured with it has mean 0 as long as it keeps the rule of this module: it looks at
nothing that the players cannot know, and a position that waits for chance is worth exactly the mean over what can
happen. Rolls of three dice and more (reroll all) change nothing in it, so they count as no luck.
"""

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import ClassVar, Final

from msgspec.structs import replace

from arena.games.api import Dice, Seat, Shuffle
from arena.games.shanghaien.state import ENDS, Choice, ExtraRoll, State
from arena.games.shanghaien.turns import rolled, scores_of
from arena.games.shanghaien.value.constants import CONSTANTS
from arena.games.shanghaien.value.round import mean_of_better, round_of, with_dice

_TWO_DICE: Final = Dice(2)
_FACES: Final = range(1, 7)
_AVERAGED: Final[dict[Dice | Shuffle, Counter[tuple[int, ...]]]] = {
    Dice(1): Counter(product(_FACES)),
    _TWO_DICE: Counter(tuple(sorted(roll)) for roll in product(_FACES, repeat=2)),
}
"""Rolls that are averaged over: the faces regardless of order, and in how many ways they fall so."""


class ShanghaienValue:
    """The value as `arena.games.api.ValueFunction` asks for it."""

    version: ClassVar[str] = CONSTANTS.version

    def __call__(self, state: State) -> tuple[float, float]:
        """The expected payoffs of the seats, which add up to 1."""
        first = _first_payoff(state)
        return first, 1.0 - first

    def before_reveal(self, before: State, after: State) -> State | None:
        """`after` with the row that was turned up on the way still lying on the pile; None if none was."""
        is_new = after.row != before.row and after.phase == "turn" and after.one_at is None
        return replace(after, row=(), pile=after.row + after.pile) if is_new else None


def _first_payoff(state: State) -> float:
    """The expected payoff of seat 0."""
    phase = state.phase
    if phase == "over":
        first, second = scores_of(state)
        return 0.5 if first == second else float(first > second)
    position = _Position(state)
    if phase == "rolling":
        is_plain = state.to_place == 1 and not state.variant.on_rolled
        payoff = mean_of_better(position.each_face()) if is_plain else _mean(state, _TWO_DICE, rolled)
    elif isinstance(phase, ExtraRoll) and phase.chance.kind in _AVERAGED:
        payoff = _mean(state, phase.chance.kind, phase.then)
    elif phase == "rolled" or (isinstance(phase, Choice) and len(state.dice) == 2):
        payoff = position.best_placement(state.dice)
    else:
        payoff = position.waiting()
    return _of(state.to_move, payoff)


def _of(seat: Seat, first: float) -> float:
    """The payoff of the seat by that of seat 0, and back."""
    return first if seat == 0 else 1.0 - first


def _mean(state: State, dice: Dice | Shuffle, then: Callable[[State, tuple[int, ...]], State]) -> float:
    """The mean over the ways in which dice fall of the payoff of the side to move."""
    ways = _AVERAGED[dice]
    seat = state.to_move
    return sum([count * _of(seat, _first_payoff(then(state, faces))) for faces, count in ways.items()]) / ways.total()


class _Position:
    """A position as the side to move sees it."""

    def __init__(self, state: State) -> None:
        seat = state.to_move
        self._state = state
        self._seat = seat
        self._round = round_of(state)
        self._mine, self._theirs = state.players[seat].placed, state.players[1 - seat].placed
        self._ends = ENDS if state.one_at is None else (state.one_at,)

    def waiting(self) -> float:
        """The payoff before the side to move does anything."""
        end = self._state.one_at
        if end is None:
            return self._round.opening(self._seat)
        return self._round.to_move(self._seat, self._mine, self._theirs, end)

    def each_face(self) -> list[float]:
        """The payoff after the best that can be done with a die of each face."""
        has_used = self._state.players[self._seat].has_used_trick
        joker = None if has_used else self._round.with_joker(self._seat)
        rounds = [self._round] if joker is None else [self._round, joker]
        each = [round_.faces(self._seat, self._mine, self._theirs, end) for round_ in rounds for end in self._ends]
        return each[0] if len(each) == 1 else [max(face) for face in zip(*each, strict=True)]

    def best_placement(self, dice: tuple[int, ...]) -> float:
        """The payoff after the best placement of the dice that lie there."""
        state = self._state
        payoffs: list[float] = []
        if state.to_place == 2:
            mine = with_dice(self._mine, dice)
            payoffs = [self._round.placed(self._seat, mine, self._theirs, end) for end in self._ends]
        if state.must_place == 1:
            faces = self.each_face()
            payoffs += [faces[face - 1] for face in dice]
        return max(payoffs)
