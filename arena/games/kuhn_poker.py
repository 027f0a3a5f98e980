"""Kuhn poker: three cards, one for each of two players, and one round of bets. The smallest game in which a bluff pays.

Source: Kuhn, "A simplified two-person poker" (1950): with best play seat 0 loses 1/18 of a chip in each hand.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Literal, get_args

import msgspec

from arena.games.api import Chance, Decision, Json, Outcome, Over, Seat, Shuffle, Turn, ranks_by_score, with_names
from arena.games.base import BaseGame, NoOptions

RANKS: Final = ("jack", "queen", "king")
MoveWord = Literal["check", "bet", "fold", "call"]
_ENDS: Final = {
    ("check", "check"),
    ("bet", "fold"),
    ("bet", "call"),
    ("check", "bet", "fold"),
    ("check", "bet", "call"),
}


class Move(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The action to check or bet one chip, or after a bet to fold or call it."""

    do: MoveWord

    def __str__(self) -> str:
        return f"{self.do}s"


class State(msgspec.Struct, frozen=True):
    """The card of each seat, empty before they are dealt, and the moves so far; seat 0 began."""

    cards: tuple[int, ...] = ()
    moves: tuple[MoveWord, ...] = ()

    @property
    def to_move(self) -> Seat:
        """The seat that moves next."""
        return Seat(len(self.moves) % 2)


class KuhnPoker(BaseGame):
    """The game as `arena.games.api.Game` asks for it; `BaseGame` does the rest."""

    name: ClassVar[str] = "kuhn_poker"
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2,)
    summary: ClassVar[str] = (
        "Each puts a chip into the pot and gets one of three cards: jack, queen, king. Check, or bet another chip;"
        " after a bet, fold or call it. The higher card takes the pot, unless somebody folds."
    )
    action_type = Move

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        """Return the state before the deal."""
        self.read_options(options, seats, NoOptions)
        return State()

    def turn(self, state: State) -> Turn:
        """Deal, then let seats move in turn until the betting is over."""
        if not state.cards:
            return Chance("deal", Shuffle(len(RANKS)), is_public=False)
        return Over() if state.moves in _ENDS else Decision((state.to_move,))

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        """Return the seat's own card only; after a showdown both cards, after a fold never the other's."""
        is_open = _is_showdown(state)
        cards = [RANKS[card] if is_open or seat == holder else None for holder, card in enumerate(state.cards)]
        return {"you": seat, "cards": cards, "moves": list(state.moves)}

    def may_know(self, state: State, seat: Seat, _key: str, item: int) -> bool:
        """Return True for the seat's own card, and after a showdown for both; nobody sees the third card."""
        return item == seat or (item < len(state.cards) and _is_showdown(state))

    def legal(self, state: State, seat: Seat) -> tuple[Move, ...]:
        """Return check and bet, or fold and call after a bet; nothing for the other seat."""
        if seat != state.to_move:
            return ()
        return (Move("fold"), Move("call")) if state.moves[-1:] == ("bet",) else (Move("check"), Move("bet"))

    def all_actions(self, _options: Mapping[str, Json], _seats: int) -> tuple[Move, ...]:
        """Return the four moves."""
        return tuple(map(Move, get_args(MoveWord)))

    @staticmethod
    def encode(view: Json) -> Json:
        """Encode 18 numbers: the seat's card and the other's, 1 at its rank of 3; three moves, 1 at its word of 4."""
        you, cards, moves = view["you"], [*view["cards"], None, None], [*view["moves"], None, None, None]
        ranks = [float(cards[seat] == rank) for seat in (you, 1 - you) for rank in ("jack", "queen", "king")]
        return ranks + [float(move == word) for move in moves[:3] for word in ("check", "bet", "fold", "call")]

    def apply(self, state: State, actions: Mapping[Seat, Move]) -> State:
        """Add one move."""
        return State(state.cards, (*state.moves, actions[state.to_move].do))

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        """Deal the first card to seat 0 and the second to seat 1; nobody gets the third."""
        return State(drawn[:2], state.moves)

    def outcome(self, state: State) -> Outcome:
        """Score the chips won, and the same number lost: 2 after a call, else 1."""
        folds = state.moves[-1] == "fold"
        winner = state.to_move if folds else int(state.cards[1] > state.cards[0])
        chips = 2 if state.moves[-1] == "call" else 1
        scores = (chips, -chips) if winner == 0 else (-chips, chips)
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def describe(self, state: State, names: Sequence[str] = ()) -> str:
        """Describe both cards and the moves."""
        return _describe_hands(state, [*map(RANKS.__getitem__, state.cards)], names)

    def describe_for(self, state: State, seat: Seat, names: Sequence[str] = ()) -> str:
        """Describe the moves and the cards that this seat may see."""
        return _describe_hands(state, self.observe(state, seat)["cards"], names)


def _is_showdown(state: State) -> bool:
    """Return True if the hand has ended without a fold, so that both cards are shown."""
    return state.moves in _ENDS and state.moves[-1] != "fold"


def _describe_hands(state: State, cards: Sequence[str | None], names: Sequence[str]) -> str:
    """Describe the turn, the cards (None for a hidden one) and the moves."""
    moves = [f"seat {number % 2} {Move(word)}" for number, word in enumerate(state.moves)]
    hands = [f"seat {seat}: {card or 'a hidden card'}" for seat, card in enumerate(cards)] or ["no cards yet"]
    title = "the hand is over" if state.moves in _ENDS else f"seat {state.to_move} to move"
    return with_names("\n".join([title, *hands, f"moves: {', '.join(moves) or 'none'}"]), names)


GAME: Final = KuhnPoker()
