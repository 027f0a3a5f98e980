"""What a position of Shanghaien is worth to each seat: the chance to win, a draw counting half.

It serves to tell luck from skill (see `arena.match.luck`); bots and rules never ask it. It knows the base game:
what an expansion adds it values by the dice and cards that lie there, or not at all. That costs precision, never truth:
whatever the value is, the luck measured with it has mean 0 as long as it keeps the rule of this module: it looks at
nothing that the players cannot know, and a position that waits for chance is worth exactly the mean over what can
happen. Rolls of three dice and more (reroll all) change nothing in it, so they count as no luck.
"""

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import ClassVar, Final

from msgspec.structs import replace

from arena.games.api import Chance, Dice, Seat, Shuffle
from arena.games.shanghaien.awards import final_scores
from arena.games.shanghaien.expansion import Expansion
from arena.games.shanghaien.state import ENDS, Phase, State
from arena.games.shanghaien.turns import rolled
from arena.games.shanghaien.value.constants import VERSION
from arena.games.shanghaien.value.faces import with_dice
from arena.games.shanghaien.value.round import Round, mean_of_better, round_of

_FACES: Final = range(1, 7)
_SINGLES: Final = tuple([((face,), 1) for face in _FACES])
_PAIRS: Final = tuple([(pair, 1 + (pair[0] != pair[1])) for pair in combinations_with_replacement(_FACES, 2)])
"""Two dice regardless of order, and in how many of the 36 ways they fall so."""

_Ways = tuple[tuple[tuple[int, ...], int], ...]
_ENUMERATED: Final[Mapping[Dice | Shuffle, _Ways]] = {
    Dice(1): _SINGLES,
    Dice(2): _PAIRS,
}
"""The draws an expansion may ask for that are averaged over."""


class ShanghaienValue:
    """The value as `arena.games.api.ValueFunction` asks for it."""

    version: ClassVar[str] = VERSION

    def __call__(self, state: State) -> tuple[float, float]:
        """The expected payoffs of the seats, which add up to 1."""
        first = _first_payoff(state)
        return first, 1.0 - first

    def before_reveal(self, before: State, after: State) -> State | None:
        """`after` with the row that was turned up on the way still lying on the pile; None if none was."""
        is_new = after.row != before.row and after.phase is Phase.TURN and after.one_at is None
        if not is_new:
            return None
        return replace(after, row=(), pile=after.row + after.pile)


def _first_payoff(state: State) -> float:
    """The expected payoff of seat 0."""
    phase = state.phase
    if phase is Phase.OVER:
        return _final_payoff(state)
    position = _Position(state)
    if phase is Phase.ROLLING:
        payoff = _mean_roll(state, position)
    elif phase is Phase.ROLLED:
        payoff = position.best_placement(state.dice)
    elif phase is Phase.INTERLUDE:
        payoff = _interlude(state, position)
    else:
        payoff = position.waiting()
    return payoff if state.to_move == 0 else 1.0 - payoff


def _final_payoff(state: State) -> float:
    first, second = state.players
    mine, theirs = final_scores((first.strength, second.strength), (len(first.tricks), len(second.tricks)))
    return 0.5 if mine == theirs else float(mine > theirs)


def _mean_roll(state: State, position: "_Position") -> float:
    """Two dice fall: the mean over the 36 ways of what the side to move gets."""
    if state.to_place == 1 and not state.variant.on_rolled:
        return mean_of_better(position.each_face())
    return sum([ways * _of_mover(rolled(state, dice), state.to_move) for dice, ways in _PAIRS]) / 36


def _of_mover(state: State, seat: Seat) -> float:
    first = _first_payoff(state)
    return first if seat == 0 else 1.0 - first


def _interlude(state: State, position: "_Position") -> float:
    """An expansion asks. One or two dice are averaged over; more than two the value does not look at."""
    assert state.interlude is not None, "the phase says that there is one"
    chance: Chance | None = state.interlude.chance
    if chance is not None and chance.kind in _ENUMERATED:
        expansion: Expansion = state.variant.expansions[state.interlude.by]
        assert expansion.resolve is not None, "an expansion that asks for chance says what follows from it"
        ways = _ENUMERATED[chance.kind]
        after = [(_of_mover(expansion.resolve(state, dice), state.to_move), count) for dice, count in ways]
        return sum([payoff * count for payoff, count in after]) / sum([count for _, count in ways])
    if chance is None and len(state.dice) == 2:
        return position.best_placement(state.dice)
    return position.waiting()


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
        plain = self._faces(self._round)
        player = self._state.players[self._seat]
        if not player.tricks or player.has_used_trick:
            return plain
        joker = self._round.with_joker(self._seat)
        return plain if joker is None else [max(pair) for pair in zip(plain, self._faces(joker), strict=True)]

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

    def _faces(self, round_: Round) -> list[float]:
        each = [round_.faces(self._seat, self._mine, self._theirs, end) for end in self._ends]
        return each[0] if len(each) == 1 else [max(pair) for pair in zip(*each, strict=True)]
