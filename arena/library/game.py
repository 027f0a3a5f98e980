"""`arena.game(NAME)`: the rules of a game, pure: states go in, states come out.

game, rng = arena.game("nim"), random.Random(1)
state = game.playout(rng)
print(game.outcome(state).scores)
"""

import random
from collections.abc import Mapping
from typing import Any

import msgspec

from arena.conformance.play import sample_action
from arena.errors import SpecError
from arena.games import load_game
from arena.games.api import (
    Chance,
    Decision,
    Dice,
    Json,
    Outcome,
    Over,
    Seat,
    Simulation,
    Turn,
    Weighted,
    require_simulator,
    simulator_of,
)
from arena.games.looks import paint_seats
from arena.games.luck import index_at
from arena.library.table import Picture


class Rules:
    """A game by its rules. A state is an immutable value of the game's own; nothing here knows a clock or a bot."""

    def __init__(self, name: str) -> None:
        self._game = load_game(name)
        self.name = name
        self.version = self._game.rules_version
        self.seat_counts = self._game.seat_counts

    def setup(self, options: Mapping[str, Json] | None = None, *, seats: int = 2) -> Any:
        """Return the first state. SpecError names an unknown or impossible option or number of seats."""
        if seats not in self.seat_counts:
            raise SpecError(f"{self.name} is for {self.seat_counts} seats, found {seats}")
        return self._game.setup(options or {}, seats)

    def turn(self, state: Any) -> Turn:
        """Return the next turn: `Decision(seats)`, `Chance(key, kind)`, `Simulation(key)` or `Over()`."""
        return self._game.turn(state)

    def observe(self, state: Any, seat: int) -> dict[str, Json]:
        """Return what this seat may know, as JSON values: the `view` of a bot."""
        return self._game.observe(state, Seat(seat))

    def legal(self, state: Any, seat: int | None = None) -> tuple[Any, ...] | None:
        """Return the actions open to a seat, by default the first that decides; None if the game cannot list them.

        Empty for a seat that does not decide now. SpecError without `seat` if nobody decides.
        """
        if seat is None:
            return self._game.legal(state, self._deciding_seats(state)[0])
        turn = self.turn(state)
        return self._game.legal(state, Seat(seat)) if isinstance(turn, Decision) and seat in turn.seats else ()

    def apply(self, state: Any, action: Any) -> Any:
        """Return the state after an action of the one seat that decides; if several do, after a mapping by seat.

        An action is one of `legal`, which is not checked again, or its JSON form: BotFault if the rules forbid that.
        SpecError if nobody decides. TypeError for a value without a JSON form, or if a seat has no action.
        """
        seats = self._deciding_seats(state)
        by_seat = action if len(seats) > 1 else {seats[0]: action}
        if not isinstance(by_seat, Mapping) or set(by_seat) != set(seats):
            raise TypeError(f"expected a mapping from the seats {seats} to actions, found {action!r:.80}")
        return self._game.apply(state, {seat: self._parse(state, seat, move) for seat, move in by_seat.items()})

    def resolve(self, state: Any, drawn: tuple[int, ...] | None = None, *, rng: random.Random | None = None) -> Any:
        """Return the state after chance came out as `drawn`, or as `rng` draws it (without both, anew at each call).

        Where a simulation is due, return the state after it; both are ignored then. SpecError if neither is due, or if
        the engine is missing.
        """
        match self.turn(state):
            case Simulation():
                require_simulator(self._game)
                simulator = simulator_of(self._game)
                assert simulator is not None, "only a game with a simulator asks for it"
                return simulator.apply_result(state, simulator.simulate(state))
            case Chance(kind=kind):
                return self._game.resolve(state, _draw(kind, rng or random.Random()) if drawn is None else drawn)  # noqa: S311
        raise SpecError(f"nothing is drawn in this state of {self.name}: {self.turn(state)}")

    def is_over(self, state: Any) -> bool:
        """Return True if play has ended, so that `outcome` may be asked."""
        return isinstance(self.turn(state), Over)

    def outcome(self, state: Any) -> Outcome:
        """Return scores (exact, in the game's points) and ranks (from 0, the best) by seat, after the end."""
        return self._game.outcome(state)

    def playout(self, rng: random.Random, state: Any = None, *, seats: int = 2) -> Any:
        """Return the last state of a match of random actions, from `state` or from the beginning, without options.

        `rng` draws actions and luck. `seats` counts only without `state`.
        """
        state, simulator = self.setup(seats=seats) if state is None else state, simulator_of(self._game)
        while not isinstance(turn := self.turn(state), Over):
            if isinstance(turn, Decision):
                actions = {seat: sample_action(self._game, state, seat, rng, simulator) for seat in turn.seats}
                state = self._game.apply(state, actions)
            else:
                state = self.resolve(state, rng=rng)
        return state

    def describe(self, state: Any) -> str:
        """Return the state as text for a person."""
        return self._game.describe(state)

    def picture(self, state: Any) -> Picture:
        """Return the state as an SVG document, which a notebook draws."""
        return Picture(paint_seats(self._game.picture(state)))

    def __repr__(self) -> str:
        return f"<rules of {self.name}, version {self.version}>"

    def _deciding_seats(self, state: Any) -> tuple[Seat, ...]:
        """Return the seats that decide in a state. SpecError if none does."""
        turn = self.turn(state)
        if not isinstance(turn, Decision):
            raise SpecError(f"nobody decides in this state of {self.name}: {turn}")
        return turn.seats

    def _parse(self, state: Any, seat: Seat, action: Any) -> Any:
        return action if isinstance(action, msgspec.Struct) else self._game.parse(state, seat, action)


def game(name: str) -> Rules:
    """Return the rules of that game; SpecError lists the known ones."""
    return Rules(name)


def _draw(kind: Any, rng: random.Random) -> tuple[int, ...]:
    """Draw an outcome of dice, weights or a shuffle by `rng`."""
    if isinstance(kind, Dice):
        return tuple(rng.randint(1, kind.faces) for _ in range(kind.count))
    if isinstance(kind, Weighted):
        return (index_at(kind.weights, rng.randrange(sum(kind.weights))),)
    return tuple(rng.sample(range(kind.size), kind.size))
