"""A base class with methods that many games share. A game may do without it: the contract is `Game`."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec

from arena import validation
from arena.errors import IllegalAction, SpecError
from arena.games.api import MOST_SEATS, SHORT_NAME_MAX, Decision, Json, Randomness, Seat, Turn, read_action, with_names
from arena.games.drawing import document, words
from arena.text import describe_range

_LINE_PX = 18
_LETTER_PX = 9
_LONGEST_NAMES = ["x" * SHORT_NAME_MAX] * MOST_SEATS
O = TypeVar("O")  # noqa: E741 - the options of a game


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a game that has none."""


class BaseGame:
    """The common part of a game, which adds `setup`, `turn`, `observe`, `legal`, `apply`, `outcome` and `describe`.

    `action_type`: the type of its actions, a frozen msgspec struct, or a union of such structs with tags.
    """

    name: ClassVar[str]
    seat_counts: ClassVar[tuple[int, ...]]
    action_type: ClassVar[Any]

    if TYPE_CHECKING:  # a class that lacks one of these is refused by name when it is loaded

        def turn(self, state: Any) -> Turn:
            """See Game."""

        def legal(self, state: Any, seat: Seat) -> tuple[Any, ...] | None:
            """See Game."""

        def describe(self, state: Any, names: Sequence[str] = ()) -> str:
            """See Game."""

    def read_options(self, options: Mapping[str, Json], seats: int, kind: type[O]) -> O:
        """Read the options into a struct; SpecError names a wrong option or a number of seats that cannot play."""
        if seats not in self.seat_counts:
            raise SpecError(f"{self.name} is for {describe_range(self.seat_counts)} players, not {seats}")
        return validation.read_struct(dict(options), kind, place=f"options of {self.name}")

    def parse(self, state: Any, seat: Seat, raw: Json) -> Any:
        """Return the legal action with this JSON form, in a game that lists all of them.

        MalformedReply for another form, IllegalAction if the seat is not to move or cannot do that.
        """
        legal, turn = self.legal(state, seat), self.turn(state)
        hint = json.dumps(msgspec.to_builtins(legal[0])) if legal else ""
        action = read_action(raw, self.action_type, game=self.name, hint=hint)
        if not isinstance(turn, Decision) or seat not in turn.seats:
            raise IllegalAction(f"seat {seat} is not to move")
        if action not in (legal or ()):
            raise IllegalAction(f"not possible now: {action}", hint=hint)
        return action

    def resolve(self, state: Any, drawn: tuple[int, ...]) -> Any:
        """Refuse a draw: a game with luck overrides this method."""
        raise AssertionError(f"{self.name} asks for no luck: {state}, {drawn}")

    def sample(self, state: Any, seat: Seat, rng: Randomness) -> Any:
        """Return one of the legal actions, all equally likely."""
        return rng.choice(self.legal(state, seat) or ())

    def picture(self, state: Any) -> str:
        """Draw the lines of `describe`, with room for names."""
        lines = self.describe(state).splitlines()
        longest = max([len(with_names(line, _LONGEST_NAMES)) for line in lines])
        more = 'font-family="monospace" xml:space="preserve"'
        texts = [words(10, _LINE_PX * number + 6, line, more=more) for number, line in enumerate(lines, start=1)]
        return document(20 + _LETTER_PX * longest, 20 + _LINE_PX * len(lines), texts)
