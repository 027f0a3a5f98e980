"""Goofspiel, a game with a shuffled deck of prizes and hidden bids, and variants that tell too much or too little."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec

from arena.games.api import (
    Chance,
    Decision,
    Dice,
    Json,
    Number,
    Outcome,
    Over,
    Seat,
    Shuffle,
    Turn,
    Weighted,
    ranks_by_score,
    with_names,
)
from arena.games.base import BaseGame, NoOptions

CARDS = 5


class Bid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A card of the hand."""

    card: Number

    def __str__(self) -> str:
        return f"bids {self.card}"


class Table(msgspec.Struct, frozen=True):
    """The prizes in their order, and the bids of both seats by round."""

    prizes: tuple[int, ...] = ()
    bids: tuple[tuple[int, int], ...] = ()


class Undeclared(BaseGame):
    """The prizes are a hidden draw; each round shows one, both seats bid for it, and the higher bid takes it."""

    name: ClassVar[str] = "goofspiel"
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2,)
    is_simultaneous = True
    action_type = Bid
    ahead: ClassVar[int] = 1
    """Prizes of the deck that views show, the one of this round included."""

    def setup(self, options: Mapping[str, Json], seats: int) -> Table:
        self.read_options(options, seats, NoOptions)
        return Table()

    def turn(self, state: Table) -> Turn:
        if not state.prizes:
            return Chance("prizes", Shuffle(CARDS), is_public=False)
        return Over() if len(state.bids) == CARDS else Decision((Seat(0), Seat(1)))

    def observe(self, state: Table, seat: Seat) -> dict[str, Json]:
        bids = [[bid[seat], bid[1 - seat]] for bid in state.bids]
        return {"you": seat, "prizes": list(state.prizes[: len(state.bids) + self.ahead]), "bids": bids}

    def legal(self, state: Table, seat: Seat) -> tuple[Bid, ...]:
        if not state.prizes or len(state.bids) == CARDS:
            return ()
        return tuple(Bid(card) for card in range(CARDS) if card not in [bid[seat] for bid in state.bids])

    def apply(self, state: Table, actions: Mapping[Seat, Bid]) -> Table:
        return Table(state.prizes, (*state.bids, (actions[Seat(0)].card, actions[Seat(1)].card)))

    def resolve(self, state: Table, drawn: tuple[int, ...]) -> Table:
        return Table(drawn, state.bids)

    def outcome(self, state: Table) -> Outcome:
        scores = [0, 0]
        for prize, (first, second) in zip(state.prizes, state.bids, strict=True):
            if first != second:
                scores[second > first] += prize + 1
        return Outcome(scores=tuple(scores), ranks=ranks_by_score(scores))

    def describe(self, state: Table, names: Sequence[str] = ()) -> str:
        return with_names(f"prizes {state.prizes}, bids of seats 0 and 1 {state.bids}", names)

    def describe_for(self, state: Table, seat: Seat, names: Sequence[str] = ()) -> str:
        return with_names(str(self.observe(state, seat)), names)


class Goofspiel(Undeclared):
    """The same with a declaration: the prizes of the rounds so far and of this one."""

    def may_know(self, state: Table, _seat: Seat, key: str, item: int) -> bool:
        assert key == "prizes"
        return item <= len(state.bids)


class NextPrize(Goofspiel):
    """Both seats see the next prize, too."""

    ahead = 2


class UndeclaredNextPrize(Undeclared):
    ahead = 2


class LastPrize(Goofspiel):
    """Seat 1 sees the last card of the deck, from the second round on."""

    def observe(self, state: Table, seat: Seat) -> dict[str, Json]:
        is_told = seat == 1 and len(state.bids) > 0
        return super().observe(state, seat) | {"last": state.prizes[-1:] if is_told else ()}


class DealtBids(Goofspiel):
    """The hidden deck decides what is legal, too: with other prizes most plays cannot go on."""

    def legal(self, state: Table, _seat: Seat) -> tuple[Bid, ...]:
        if not state.prizes or len(state.bids) == CARDS:
            return ()
        return (Bid(state.prizes[-1] * CARDS + len(state.bids)),)


class Rolls(Undeclared):
    """The prizes are three hidden dice, then a hidden choice; round by round one is shown."""

    def turn(self, state: Table) -> Turn:
        if len(state.prizes) == 3:
            return Chance("choice", Weighted((1, 0, 2, 1, 1)), is_public=False)
        if not state.prizes:
            return Chance("dice", Dice(3), is_public=False)
        return Over() if len(state.bids) == 4 else Decision((Seat(0), Seat(1)))

    def resolve(self, state: Table, drawn: tuple[int, ...]) -> Table:
        return Table((*state.prizes, *drawn), state.bids)


class Hands(Goofspiel):
    """The bids are hands of three cards, dealt from a deck of eight; a card that was bid is known to both."""

    def turn(self, state: Table) -> Turn:
        if not state.prizes:
            return Chance("deal", Shuffle(8), is_public=False)
        return Over() if len(state.bids) == 3 else Decision((Seat(0), Seat(1)))

    def observe(self, state: Table, seat: Seat) -> dict[str, Json]:
        return {"you": seat, "hand": [each.card for each in self._hand(state, seat)], "bids": state.bids}

    def legal(self, state: Table, seat: Seat) -> tuple[Bid, ...]:
        return self._hand(state, seat) if len(state.bids) < 3 else ()

    def outcome(self, state: Table) -> Outcome:
        scores = tuple(sum(bid[seat] > bid[1 - seat] for bid in state.bids) for seat in (0, 1))
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def may_know(self, state: Table, seat: Seat, key: str, item: int) -> bool:
        assert key == "deal"
        owner = item // 3
        return owner == seat or (owner < 2 and state.prizes[item] in [bid[owner] for bid in state.bids])

    def _hand(self, state: Table, seat: Seat) -> tuple[Bid, ...]:
        dealt = state.prizes[3 * seat : 3 * seat + 3]
        return tuple(Bid(card) for card in dealt if card not in [bid[seat] for bid in state.bids])


class NextCard(Hands):
    """After two rounds the first card that was not dealt stands in every view."""

    def observe(self, state: Table, seat: Seat) -> dict[str, Json]:
        return super().observe(state, seat) | {"next": state.prizes[6:7] if len(state.bids) == 2 else ()}
