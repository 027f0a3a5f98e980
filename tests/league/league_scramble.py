"""Scramble: a game for 2 to 4 players with ties, for tests of larger tables until a real game needs them.

Counters lie in a heap. In turn everybody takes one to three, until none is left; whoever has taken more is better.
A die decides how many lie there, so that blocks have luck of their own.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import msgspec

from arena import validation
from arena.errors import IllegalAction, MalformedReply, SpecError
from arena.games.api import Chance, Decision, Dice, Json, Number, Outcome, Over, Randomness, Seat, Turn, ranks_by_score

NAME = "scramble"


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`counters`: those that lie there besides what the die adds."""

    counters: int = 6


class Take(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Take `count` counters."""

    count: Number


class State(msgspec.Struct, frozen=True):
    """Counters in the heap, -1 before the die is rolled; `taken` by seat; who moves."""

    base: int
    heap: int
    taken: tuple[int, ...]
    to_move: Seat = Seat(0)


class Scramble:
    """The game as `arena.games.api.Game` asks for it."""

    name: ClassVar[str] = NAME
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2, 3, 4)

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        if seats not in self.seat_counts:
            raise SpecError(f"scramble is for 2 to 4 players, not {seats}")
        read = validation.read_struct(dict(options), Options, place="options of scramble")
        return State(base=read.counters, heap=-1, taken=(0,) * seats)

    def turn(self, state: State) -> Turn:
        if state.heap < 0:
            return Chance(key="heap", kind=Dice(count=1))
        return Decision(seats=(state.to_move,)) if state.heap else Over()

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        return {"you": seat, "heap": state.heap, "taken": list(state.taken)}

    def legal(self, state: State, seat: Seat) -> tuple[Take, ...]:
        if seat != state.to_move:
            return ()
        return tuple(Take(count=count) for count in range(1, min(3, state.heap) + 1))

    def parse(self, state: State, seat: Seat, raw: Json) -> Take:
        try:
            take = msgspec.convert(raw, type=Take)
        except msgspec.ValidationError as error:
            raise MalformedReply(f"not an action of scramble: {error!s:.300}") from None
        if take not in self.legal(state, seat):
            raise IllegalAction(f"seat {seat} cannot take {take.count} of {state.heap}")
        return take

    def apply(self, state: State, actions: Mapping[Seat, Take]) -> State:
        count = actions[state.to_move].count
        taken = tuple(had + count * (seat == state.to_move) for seat, had in enumerate(state.taken))
        following = Seat((state.to_move + 1) % len(taken))
        return msgspec.structs.replace(state, heap=state.heap - count, taken=taken, to_move=following)

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        return msgspec.structs.replace(state, heap=state.base + drawn[0])

    def outcome(self, state: State) -> Outcome:
        return Outcome(scores=state.taken, ranks=ranks_by_score(state.taken))

    def sample(self, state: State, seat: Seat, rng: Randomness) -> Take:
        return cast(Take, rng.choice(self.legal(state, seat)))

    def describe(self, state: State) -> str:
        return f"{state.heap} counters left, taken: {state.taken}"

    def picture(self, state: State) -> str:
        return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{state.heap}</text></svg>'


GAME: Any = Scramble()
