"""Games with a value that breaks the contract in one way each, and sound ones."""

# ruff: noqa: ARG002, RUF012 - games that do not look at all they get

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

import msgspec

from arena.games.api import Chance, Decision, Json, Outcome, Over, Seat, Shuffle, Turn, ranks_by_score
from arena.games.base import BaseGame, NoOptions
from arena.games.connect_four import ConnectFour
from arena.games.kuhn_poker import KuhnPoker, Move
from arena.games.kuhn_poker import State as Hand


class EvenValue:
    """Before the end each seat is worth the same."""

    version = "1"
    game: Any = ConnectFour()

    def __call__(self, state: Any) -> tuple[float, ...]:
        if not isinstance(self.game.turn(state), Over):
            return (0.5, 0.5)
        ranks = self.game.outcome(state).ranks
        return tuple((rank == 0) / ranks.count(0) for rank in ranks)

    def before_reveal(self, before: Any, after: Any) -> Any:
        return None


class Valued(ConnectFour):
    """A sound value, though a poor one."""

    value: Any = EvenValue()


def valued(name: str, value: Callable[[Any], Any]) -> type[Any]:
    """Connect Four with that value of a position that goes on, and of one that has ended."""
    kind = type(f"{name}Value", (EvenValue,), {"__call__": lambda _, state: value(state)})
    return type(name, (ConnectFour,), {"value": kind()})


class Moving(EvenValue):
    """Another value each time, but after the end."""

    calls = 0

    def __call__(self, state: Any) -> tuple[float, ...]:
        self.calls += 1
        first, second = super().__call__(state)
        drift = first * second * self.calls / 1e6
        return first + drift, second - drift


class MovedValue(ConnectFour):
    value = Moving()


class Changing(EvenValue):
    """The state that it looks at is changed."""

    game = KuhnPoker()

    def __call__(self, state: Any) -> tuple[float, ...]:
        found = super().__call__(state)
        state.marks.append(1)
        return found


class MarkedHand(Hand, frozen=True):
    """A hand with something in it that can be changed."""

    marks: list[int] = []


class ChangedByValue(KuhnPoker):
    value = Changing()

    def setup(self, options: Mapping[str, Json], seats: int) -> Hand:
        super().setup(options, seats)
        return MarkedHand()

    def resolve(self, state: Hand, drawn: tuple[int, ...]) -> Hand:
        return MarkedHand(drawn[:2], state.moves)

    def apply(self, state: Hand, actions: Mapping[Seat, Move]) -> Hand:
        return MarkedHand(state.cards, (*state.moves, actions[state.to_move].do))


class Unversioned(ConnectFour):
    value = lambda _, state: EvenValue()(state)  # noqa: E731 - a value that is a function has no version


class Flip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The next card is turned up; after the last one, the match is ended."""

    do: Literal["flip"]

    def __str__(self) -> str:
        return "goes on"


class Deck(msgspec.Struct, frozen=True):
    """The whole deck once it is shuffled, and the cards of it that were turned up, in turn one for each seat."""

    cards: tuple[int, ...] = ()
    up: int = 0
    is_over: bool = False


class Flips(BaseGame):
    """Four cards of a deck are turned up, one after the other; the higher sum wins. Nobody has a choice."""

    name = "flips"
    rules_version = "1"
    seat_counts = (2,)
    action_type = Flip
    size = 8

    def setup(self, options: Mapping[str, Json], seats: int) -> Deck:
        self.read_options(options, seats, NoOptions)
        return Deck()

    def turn(self, state: Deck) -> Turn:
        if not state.cards:
            return Chance("deck", Shuffle(self.size), is_public=False)
        return Over() if state.is_over else Decision((Seat(state.up % 2),))

    def observe(self, state: Deck, seat: Seat) -> dict[str, Json]:
        return {"you": seat, "up": list(state.cards[: state.up]), "is_over": state.is_over}

    def legal(self, state: Deck, seat: Seat) -> tuple[Flip, ...]:
        return (Flip("flip"),) if self.turn(state) == Decision((seat,)) else ()

    def resolve(self, state: Deck, drawn: tuple[int, ...]) -> Deck:
        return Deck(drawn)

    def apply(self, state: Deck, actions: Mapping[Seat, Flip]) -> Deck:
        return Deck(state.cards, state.up + (state.up < 4), is_over=state.up == 4)

    def outcome(self, state: Deck) -> Outcome:
        scores = tuple(sum(state.cards[seat:4:2]) for seat in (0, 1))
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def describe(self, state: Deck, names: Sequence[str] = ()) -> str:
        return f"turned up: {state.cards[: state.up]}"


class FlipsValue(EvenValue):
    """Points count a hundredth of a win until the match is over: those turned up, and the mean for those to come."""

    def __init__(self, game: Flips, **broken: Any) -> None:
        self.game, self.broken = game, broken

    def __call__(self, state: Deck) -> tuple[float, ...]:
        if state.is_over:
            return super().__call__(state)
        known = state.cards[: self.broken.get("known", state.up)]
        to_come = (sum(range(self.game.size)) - sum(known)) / (self.game.size - len(known))
        margin = sum((-1) ** at * (known[at] if at < len(known) else to_come) for at in range(4))
        first = 0.5 + margin / 100 + self.broken.get("error", 0) * (bool(state.cards) and state.up == 0)
        return first, 1 - first

    def before_reveal(self, before: Deck, after: Deck) -> Deck | None:
        reveal = self.broken.get("reveal", lambda before, after: None if after.is_over else before)
        return cast("Deck | None", reveal(before, after))


def flips(name: str, size: int = 8, **broken: Any) -> type[Any]:
    """Flips with a value: a fair one, unless it is told what is broken."""
    kind: type[Any] = type(name, (Flips,), {"size": size})
    kind.value = FlipsValue(kind(), **broken)
    return kind


class UnfairDeal(KuhnPoker):
    """The match begins as if seat 0 had won it, though the deal is fair: luck would always be bad for it."""

    class Worth(EvenValue):
        game = KuhnPoker()

        def __call__(self, state: Hand) -> tuple[float, ...]:
            return super().__call__(state) if state.cards else (1.0, 0.0)

    value = Worth()


SOUND_VALUES: tuple[type[Any], ...] = (Valued, flips("Flips8"), flips("Flips5", size=5))
BROKEN_VALUES: dict[str, tuple[type[Any], ...]] = {
    "a value is a payoff for each seat": (
        valued("OneNumber", lambda _: 0.5),
        valued("ThreeSeats", lambda _: (0.5, 0.25, 0.25)),
        valued("NoNumber", lambda _: (float("nan"), 0.5)),
        valued("NotWhole", lambda _: (0.5, 0.4)),
        valued("TooLow", lambda _: (-0.3, 1.3)),
        valued("NeverOver", lambda _: (0.5, 0.5)),
        MovedValue,
        ChangedByValue,
        Unversioned,
    ),
    "a value that waits for luck is the mean over what can fall": (
        UnfairDeal,
        flips("SampledUnfair", error=0.3),
    ),
    "a value knows nothing that is yet to be turned up": (
        flips("KnowsDeck", known=4),
        flips("KnowsSmallDeck", size=5, known=4),
        flips("ShowsCard", reveal=lambda _, after: after),
        flips("ShowsSometimes", reveal=lambda before, after: before if after.cards[after.up - 1] > 3 else None),
        flips("UnfairReveal", reveal=lambda before, _: Deck(before.cards[::-1], 0), error=0.3),
        flips("UnfairSmall", size=5, error=0.001),
    ),
}
