"""Variants of the Goofspiel that a new game may begin as: they declare nothing, or tell too much or too little."""

from collections.abc import Sequence
from typing import Any, ClassVar

from arena.games.api import (
    Chance,
    Decision,
    Dice,
    Json,
    Outcome,
    Over,
    Seat,
    Shuffle,
    Turn,
    Weighted,
    ranks_by_score,
    with_names,
)
from arena.operations.templates import goofspiel
from arena.operations.templates.goofspiel import Bid, State


class Undeclared(goofspiel.Goofspiel):
    """The game for two without a declaration; `ahead`: prizes that views show, that of this round included."""

    seat_counts: ClassVar[tuple[int, ...]] = (2,)
    may_know: Any = None
    all_actions: Any = None
    news: Any = None
    ahead = 1

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        shown = list(state.prizes[: len(state.bids) + self.ahead])
        return {"you": seat, "prizes": shown, "bids": [[bid[seat], bid[1 - seat]] for bid in state.bids]}

    def describe(self, state: State, names: Sequence[str] = ()) -> str:
        return with_names(f"prizes {state.prizes}, bids of seats 0 and 1 {state.bids}", names)

    def describe_for(self, state: State, seat: Seat, names: Sequence[str] = ()) -> str:
        return with_names(str(self.observe(state, seat)), names)

    def picture(self, state: State) -> str:
        return super(goofspiel.Goofspiel, self).picture(state)


class Goofspiel(Undeclared):
    """The game with its declaration: the prizes of the rounds so far and of this one."""

    may_know = goofspiel.Goofspiel.may_know


class NextPrize(Goofspiel):
    """Both seats see the next prize, too."""

    ahead = 2


class UndeclaredNextPrize(Undeclared):
    ahead = 2


class LastPrize(Goofspiel):
    """Seat 1 sees the last card of the deck, from the second round on."""

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        is_told = seat == 1 and len(state.bids) > 0
        return super().observe(state, seat) | {"last": state.prizes[-1:] if is_told else ()}


class DealtBids(Goofspiel):
    """The hidden deck decides what is legal, too: with other prizes most plays cannot go on."""

    def legal(self, state: State, seat: Seat) -> tuple[Bid, ...]:
        return (Bid(state.prizes[-1] * 5 + len(state.bids)),) if super().legal(state, seat) else ()


class Rolls(Undeclared):
    """The prizes are three hidden dice, then a hidden choice; round by round one is shown."""

    def turn(self, state: State) -> Turn:
        if len(state.prizes) == 3:
            return Chance("choice", Weighted((1, 0, 2, 1, 1)), is_public=False)
        if not state.prizes:
            return Chance("dice", Dice(3), is_public=False)
        return Over() if len(state.bids) == 4 else Decision((Seat(0), Seat(1)))

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        return State(2, (*state.prizes, *drawn), state.bids)


class Hands(Goofspiel):
    """The bids are hands of three cards, dealt from a deck of eight; a card that was bid is known to both."""

    def turn(self, state: State) -> Turn:
        if not state.prizes:
            return Chance("deal", Shuffle(8), is_public=False)
        return Over() if len(state.bids) == 3 else Decision((Seat(0), Seat(1)))

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        return State(state.seats, drawn)

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        return {"you": seat, "hand": [each.card for each in self._hand(state, seat)], "bids": state.bids}

    def legal(self, state: State, seat: Seat) -> tuple[Bid, ...]:
        return self._hand(state, seat) if len(state.bids) < 3 else ()

    def outcome(self, state: State) -> Outcome:
        scores = tuple(sum(bid[seat] > bid[1 - seat] for bid in state.bids) for seat in (0, 1))
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def may_know(self, state: State, seat: Seat, key: str, item: int) -> bool:
        assert key == "deal"
        owner = item // 3
        return owner == seat or (owner < 2 and state.prizes[item] in [bid[owner] for bid in state.bids])

    def _hand(self, state: State, seat: Seat) -> tuple[Bid, ...]:
        dealt = state.prizes[3 * seat : 3 * seat + 3]
        return tuple(Bid(card) for card in dealt if card not in [bid[seat] for bid in state.bids])


class NextCard(Hands):
    """After two rounds the first card that was not dealt stands in every view."""

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        return super().observe(state, seat) | {"next": state.prizes[6:7] if len(state.bids) == 2 else ()}
