"""Game with many seats: 2 to 4 players, any bot can play it; each takes 1 to 3, most wins."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import msgspec

from arena.errors import IllegalAction, MalformedReply, SpecError
from arena.games.api import Decision, Json, Number, Outcome, Over, Randomness, Seat, Turn, ranks_by_score

NAME = "dibs"


class Take(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Take so many."""

    count: Number

    def __str__(self) -> str:
        return f"takes {self.count}"


class ManySeats:
    """The game as `arena.games.api.Game` asks for it. A state: what each has taken, -1 before that."""

    name: ClassVar[str] = NAME
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2, 3, 4)

    def setup(self, options: Mapping[str, Json], seats: int) -> tuple[int, ...]:
        if seats not in self.seat_counts or options:
            raise SpecError(f"dibs is for 2 to 4 players without options, not for {seats}")
        return (-1,) * seats

    def turn(self, state: tuple[int, ...]) -> Turn:
        return Decision(seats=(Seat(state.index(-1)),)) if -1 in state else Over()

    def observe(self, state: tuple[int, ...], seat: Seat) -> dict[str, Json]:
        return {"you": seat, "taken": list(state)}

    def legal(self, _state: tuple[int, ...], _seat: Seat) -> tuple[Take, ...]:
        return tuple(Take(count=count) for count in (1, 2, 3))

    def parse(self, state: tuple[int, ...], seat: Seat, raw: Json) -> Take:
        try:
            take = msgspec.convert(raw, type=Take)
        except msgspec.ValidationError as error:
            raise MalformedReply(f"not an action of dibs: {error!s:.300}") from None
        if take not in self.legal(state, seat):
            raise IllegalAction(f"nobody takes {take.count}")
        return take

    def apply(self, state: tuple[int, ...], actions: Mapping[Seat, Take]) -> tuple[int, ...]:
        return tuple(actions[Seat(seat)].count if Seat(seat) in actions else had for seat, had in enumerate(state))

    def resolve(self, _state: tuple[int, ...], _drawn: tuple[int, ...]) -> tuple[int, ...]:
        raise AssertionError("dibs has no chance to resolve")

    def outcome(self, state: tuple[int, ...]) -> Outcome:
        return Outcome(scores=state, ranks=ranks_by_score(state))

    def sample(self, state: tuple[int, ...], seat: Seat, rng: Randomness) -> Take:
        return cast(Take, rng.choice(self.legal(state, seat)))

    def describe(self, state: tuple[int, ...]) -> str:
        return f"taken: {' '.join(map(str, state))}"

    def picture(self, state: tuple[int, ...]) -> str:
        return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{self.describe(state)}</text></svg>'


GAME: Any = ManySeats()
