"""Goofspiel: each round shows a prize; all bid one card of their hand for it at once, and the highest bid takes it.

Each hand has the cards 1 to 5, the prizes are 1 to 5 points in an order that nobody knows. If two bids are highest,
nobody gets the prize.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import msgspec

from arena.games.api import (
    HEADING,
    Chance,
    Decision,
    Json,
    Number,
    Outcome,
    Over,
    Seat,
    Shuffle,
    Turn,
    ranks_by_score,
    with_names,
)
from arena.games.base import BaseGame, NoOptions
from arena.games.drawing import card, document, hidden, pile, words
from arena.text import counted

CARDS: Final = range(1, 6)


class Bid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The action to bid a card of the hand."""

    card: Number

    def __str__(self) -> str:
        return f"bids {self.card}"


class State(msgspec.Struct, frozen=True):
    """The prizes in their order, empty before they are shuffled, and by round the bid of each seat."""

    seats: int
    prizes: tuple[int, ...] = ()
    bids: tuple[tuple[int, ...], ...] = ()


class Goofspiel(BaseGame):
    """The game as `arena.games.api.Game` asks for it; `BaseGame` does the rest."""

    name: ClassVar[str] = "goofspiel"
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2, 3, 4)
    is_simultaneous: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "Each round all bid a card of their hand for a prize, at once. The highest bid takes it; equal ones leave it."
    )
    action_type = Bid

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        """Return the state before the prizes are shuffled."""
        self.read_options(options, seats, NoOptions)
        return State(seats)

    def turn(self, state: State) -> Turn:
        """Shuffle the prizes, then let all seats bid at once, round by round."""
        if not state.prizes:
            return Chance("prizes", Shuffle(len(CARDS)), is_public=False)
        return Over() if _is_over(state) else Decision(tuple(map(Seat, range(state.seats))))

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        """Return the prizes of the rounds so far and of this one, and all bids of earlier rounds."""
        bids = [list(bids) for bids in state.bids]
        return {"you": seat, "round": len(bids) + 1, "prizes": list(state.prizes[: len(bids) + 1]), "bids": bids}

    def may_know(self, state: State, _seat: Seat, _key: str, item: int) -> bool:
        """Return True for the prizes of the rounds so far and of this one."""
        return item <= len(state.bids)

    def legal(self, state: State, seat: Seat) -> tuple[Bid, ...]:
        """Return a bid for each card of the hand."""
        return () if not state.prizes or _is_over(state) else tuple(map(Bid, _hand(state, seat)))

    def all_actions(self, _options: Mapping[str, Json], _seats: int) -> tuple[Bid, ...]:
        """Return a bid for each card."""
        return tuple(map(Bid, CARDS))

    def apply(self, state: State, actions: Mapping[Seat, Bid]) -> State:
        """Add the bids of a round."""
        return State(state.seats, state.prizes, (*state.bids, tuple(actions[seat].card for seat in sorted(actions))))

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        """Lay out the shuffled prizes."""
        return State(state.seats, tuple(CARDS[item] for item in drawn), state.bids)

    def outcome(self, state: State) -> Outcome:
        """Score the points of the prizes taken."""
        scores = _points(state)
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def describe(self, state: State, names: Sequence[str] = ()) -> str:
        """Describe the prize of the round, and of each seat its points, its hand and that its bid is hidden."""
        bid = ", hidden bid" if isinstance(self.turn(state), Decision) else ""
        seats = [
            f"seat {seat}: {counted(points, 'point')}, hand {' '.join(map(str, _hand(state, seat))) or 'empty'}{bid}"
            for seat, points in enumerate(_points(state))
        ]
        return with_names("\n".join([_title(state), *seats]), names)

    def news(self, before: State, after: State, names: Sequence[str]) -> tuple[str, ...]:
        """Return who takes the prize of a round, and the heading of the next one."""
        lines = []
        if len(after.bids) > len(before.bids):
            winner, prize = _winner(after.bids[-1]), after.prizes[len(before.bids)]
            lines.append(f"the prize of {prize} goes to {'nobody' if winner is None else f'seat {winner}'}")
        if not _is_over(after):
            lines.append(f"{HEADING}{_title(after)}")
        return tuple(with_names(line, names) for line in lines)

    def picture(self, state: State) -> str:
        """Draw the prizes, and for each seat its points, its hand, and its bid: hidden until all seats have bid."""
        shown = state.prizes[: len(state.bids) + 1]
        parts = [words(20, 24, _title(state))]
        parts += [card(20 + 48 * number, 40, prize) for number, prize in enumerate(shown)]
        parts += [pile(20 + 48 * len(shown), 40, len(CARDS) - len(shown))] if len(shown) < len(CARDS) else []
        for seat, points in enumerate(_points(state)):
            top = 150 + 100 * seat
            parts.append(words(20, top, f"seat {seat}: {counted(points, 'point')}", colour=seat))
            parts += [card(20 + 48 * at, top + 12, held, colour=seat) for at, held in enumerate(_hand(state, seat))]
            if isinstance(self.turn(state), Decision):
                parts += [hidden(330, top + 12, colour=seat), words(330, top, "hidden bid", colour=seat)]
            elif state.bids:
                parts += [card(330, top + 12, state.bids[-1][seat], colour=seat), words(330, top, "bid", colour=seat)]
        return document(420, 150 + 100 * state.seats, parts, title=self.name, text=self.describe(state))


def _is_over(state: State) -> bool:
    return len(state.bids) == len(CARDS)


def _hand(state: State, seat: int) -> list[int]:
    """Return the cards that a seat has not bid yet."""
    return [held for held in CARDS if held not in [bids[seat] for bids in state.bids]]


def _winner(bids: Sequence[int]) -> int | None:
    """Return the seat of the highest bid, None if two seats made it."""
    return bids.index(max(bids)) if bids.count(max(bids)) == 1 else None


def _points(state: State) -> tuple[int, ...]:
    """Return by seat the points of the prizes that it took."""
    taken = [(_winner(bids), prize) for prize, bids in zip(state.prizes, state.bids, strict=False)]
    return tuple(sum(prize for winner, prize in taken if winner == seat) for seat in range(state.seats))


def _title(state: State) -> str:
    if _is_over(state):
        return "the game is over"
    number = len(state.bids)
    return f"round {number + 1} of {len(CARDS)}: a prize of {state.prizes[number]}" if state.prizes else "no prizes yet"


GAME: Final = Goofspiel()
