"""Nim: take any number of counters from one heap; the player of the last counter wins (or loses, in misere play).

Tests use it, and newcomers may copy it. Source: Bouton, "Nim, a game with a complete mathematical theory" (1901): the
player to move loses exactly when the xor of the heap sizes is 0.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, cast

import msgspec

from arena.errors import IllegalAction, SpecError
from arena.games.api import Decision, Json, Number, Outcome, Over, Seat, Turn, ranks_by_score, read_action, with_names
from arena.games.base import BaseGame
from arena.games.drawing import document, token, words

_DRAWN_MAX: Final = 60
"""The most counters of a heap that a line of a terminal shows."""


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`heaps`: counters in each heap at the start; `misere`: the player of the last counter loses."""

    heaps: tuple[int, ...] = (3, 4, 5)
    misere: bool = False


class Take(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The action to take `count` counters from the heap with that index (from 0)."""

    heap: Number
    count: Number

    def __str__(self) -> str:
        return f"takes {self.count} from heap {self.heap}"


class State(msgspec.Struct, frozen=True):
    """A position: the counters left in each heap, and the seat to move."""

    heaps: tuple[int, ...]
    is_misere: bool
    to_move: Seat = Seat(0)


class Nim(BaseGame):
    """The game as `arena.games.api.Game` asks for it; `BaseGame` does the rest."""

    name: ClassVar[str] = "nim"
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2,)
    trial_options: ClassVar[tuple[dict[str, Json], ...]] = ({"misere": True}, {"heaps": [1, 20, 7, 2]})
    summary: ClassVar[str] = (
        "Take one or more counters from one heap. The player who takes the last counter wins; in misere play they lose."
    )

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        """Return the heaps of the options, seat 0 to move."""
        chosen = self.read_options(options, seats, Options)
        if not chosen.heaps or min(chosen.heaps) < 1 or max(chosen.heaps) > 1000 or len(chosen.heaps) > 20:
            raise SpecError(f"options of nim: heaps: found {list(chosen.heaps)}, expected 1 to 20 heaps of 1 to 1000")
        return State(heaps=chosen.heaps, is_misere=chosen.misere)

    def turn(self, state: State) -> Turn:
        """Let the player to move decide until no counter is left."""
        return Decision(seats=(state.to_move,)) if any(state.heaps) else Over()

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        """Return the whole position: Nim hides nothing."""
        return {"you": seat, "heaps": list(state.heaps), "misere": state.is_misere}

    def legal(self, state: State, seat: Seat) -> tuple[Take, ...]:
        """Return every count from every heap, by heap, then by count; nothing for the other seat."""
        if seat != state.to_move:
            return ()
        return tuple([Take(heap=i, count=n) for i, size in enumerate(state.heaps) for n in range(1, size + 1)])

    def all_actions(self, options: Mapping[str, Json], seats: int) -> tuple[Take, ...]:
        """Return the legal actions of the first state, which are those of the match."""
        return self.legal(self.setup(options, seats), Seat(0))

    @staticmethod
    def encode(view: Json) -> Json:
        """Encode the counters in each heap, then 1 in misere play."""
        return [*map(float, view["heaps"]), float(view["misere"])]

    def parse(self, state: State, seat: Seat, raw: Json) -> Take:
        """Read an action such as `{"heap": 0, "count": 2}`; MalformedReply, or IllegalAction if it is not possible."""
        take = cast(Take, read_action(raw, Take, game=self.name, hint='{"heap": 0, "count": 2}'))
        if seat != state.to_move:
            raise IllegalAction(f"seat {seat} is not to move; seat {state.to_move} is")
        if not 0 <= take.heap < len(state.heaps):
            raise IllegalAction(f"there is no heap {take.heap}; the heaps are 0 to {len(state.heaps) - 1}")
        if not 1 <= take.count <= state.heaps[take.heap]:
            raise IllegalAction(
                f"{take.count} counters cannot be taken from heap {take.heap}: it holds {state.heaps[take.heap]},"
                " and at least 1 must be taken"
            )
        return take

    def apply(self, state: State, actions: Mapping[Seat, Take]) -> State:
        """Take the counters from their heap; the opponent moves next."""
        take = actions[state.to_move]
        heaps = list(state.heaps)
        heaps[take.heap] -= take.count
        return msgspec.structs.replace(state, heaps=tuple(heaps), to_move=Seat(1 - state.to_move))

    def outcome(self, state: State) -> Outcome:
        """Score 1 point for the winner; the last mover is the seat that is not to move now."""
        winner = state.to_move if state.is_misere else 1 - state.to_move
        scores = (1, 0) if winner == 0 else (0, 1)
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def describe(self, state: State, names: Sequence[str] = ()) -> str:
        """Describe each heap in a line."""
        counters = ["o" * size if size <= _DRAWN_MAX else f"{'o' * _DRAWN_MAX}…" for size in state.heaps]
        heaps = [f"heap {index}: {counters[index] or '-'} ({size})" for index, size in enumerate(state.heaps)]
        title = f"seat {state.to_move} to move" if any(state.heaps) else "the game is over"
        return "\n".join([with_names(title, names), *heaps])

    def picture(self, state: State) -> str:
        """Draw counters as circles, a row a heap; a sentence when none is left."""
        counters = [
            token(8 + 24 * column, 8 + 24 * row, size=24)
            for row, size in enumerate(state.heaps)
            for column in range(size)
        ]
        parts = counters or [words(10, 25, "all heaps are empty")]
        width, height = max(160, 16 + 24 * max(state.heaps)), 16 + 24 * len(state.heaps)
        return document(width, height, parts, title=self.name, text=self.describe(state))


GAME: Final = Nim()
