"""A game for programs that learn in which seats act at once, and not all of them in each round."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, Final, Literal, get_args

import msgspec

from arena.games.api import Decision, Json, Outcome, Over, Seat, Turn, ranks_by_score
from arena.games.base import BaseGame, NoOptions
from support.plugin_packages import bundled

Hand = Literal["rock", "paper", "scissors"]
HANDS: Final[tuple[Hand, ...]] = get_args(Hand)
ROUNDS: Final = 4


class Show(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    hand: Hand

    def __str__(self) -> str:
        return f"shows {self.hand}"


class Shown(msgspec.Struct, frozen=True):
    """Hands of each round by seat; the first seat alone decides about rounds with an odd number."""

    seats: int
    rounds: tuple[tuple[str, ...], ...] = ()


class Hands(BaseGame):
    """Two or three seats show a hand at once; in each second round only seat 0 does, and the others show rock."""

    name: ClassVar[str] = "hands"
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2, 3)
    is_simultaneous = True
    action_type = Show

    def setup(self, options: Mapping[str, Json], seats: int) -> Shown:
        self.read_options(options, seats, NoOptions)
        return Shown(seats)

    def turn(self, state: Shown) -> Turn:
        movers = range(1 if len(state.rounds) % 2 else state.seats)
        return Decision(tuple(map(Seat, movers))) if len(state.rounds) < ROUNDS else Over()

    def observe(self, state: Shown, seat: Seat) -> dict[str, Json]:
        return {"you": seat, "rounds": [list(each) for each in state.rounds]}

    def legal(self, state: Shown, seat: Seat) -> tuple[Show, ...]:
        turn = self.turn(state)
        return tuple(map(Show, HANDS)) if isinstance(turn, Decision) and seat in turn.seats else ()

    def all_actions(self, _options: Mapping[str, Json], _seats: int) -> tuple[Show, ...]:
        return tuple(map(Show, HANDS))

    @staticmethod
    def encode(view: Json) -> Json:
        hands = [hand for each in view["rounds"] for hand in each] + [None] * 12
        return [float(view["you"] + 1), *(float(hand == kind) for hand in hands[:12] for kind in ("rock", "paper"))]

    def apply(self, state: Shown, actions: Mapping[Seat, Show]) -> Shown:
        shown = tuple(actions[Seat(seat)].hand if seat in actions else "rock" for seat in range(state.seats))
        return Shown(state.seats, (*state.rounds, shown))

    def outcome(self, state: Shown) -> Outcome:
        scores = [sum(each[seat] == "paper" for each in state.rounds) for seat in range(state.seats)]
        return Outcome(scores=tuple(scores), ranks=ranks_by_score(scores))

    def describe(self, state: Shown, names: Sequence[str] = ()) -> str:  # noqa: ARG002 - it names nobody
        return f"after {len(state.rounds)} rounds"


GAME: Final = Hands()


@contextmanager
def hands_on_offer() -> Iterator[None]:
    """Within, it is one of arena's games."""
    with bundled(Hands.name, f"{__name__}:GAME"):
        yield
