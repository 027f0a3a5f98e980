"""The contract of a game: what rules answer, and nothing else.

Rule: a game is pure. It knows no clock, file, process, log or global random; every state is a frozen value;
everything random is asked for by name (`Chance`) and drawn by somebody else.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar, NewType, Protocol, TypeVar

import msgspec

Seat = NewType("Seat", int)
"""A place at the table, 0..n-1, in the order of the rule book."""

Json = Any
"""A plain JSON value: None, bool, int, float, str, or lists, tuples and string-keyed dicts of these."""

Number = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number in an action. Longer ones are malformed: no message should have to print a thousand digits."""

Word = Annotated[str, msgspec.Meta(max_length=100)]
"""A name in an action, short enough to be quoted in a message."""


class Dice(msgspec.Struct, frozen=True):
    """`count` dice with faces 1..`faces`; the outcome lists the faces in the order of the dice."""

    count: int
    faces: int = 6


class Shuffle(msgspec.Struct, frozen=True):
    """A permutation of 0..`size`-1; the outcome lists the items from first to last."""

    size: int


class Decision(msgspec.Struct, frozen=True):
    """These seats must act now: one alone, or several at once, hidden from each other."""

    seats: tuple[Seat, ...]


class Chance(msgspec.Struct, frozen=True):
    """Luck is needed. `key` names this draw within the match and never repeats in it.

    `is_public` tells whether all seats see the outcome (dice) or nobody does (the order of a draw pile).
    """

    key: str
    kind: Dice | Shuffle
    is_public: bool = True


class Simulation(msgspec.Struct, frozen=True):
    """Nature takes its course. The game's `nature` computes the result from the state alone, the record keeps it.

    `key` names this result within the match and never repeats in it. Only games with a nature ask for it: see `doors`.
    """

    key: str


class Over(msgspec.Struct, frozen=True):
    """Play has ended; `Game.outcome` may be asked."""


Turn = Decision | Chance | Simulation | Over


class Outcome(msgspec.Struct, frozen=True):
    """What the rules decided. By seat: `scores` in the game's own points, `ranks` from 0 (best), equal = tie.

    A score is exact: a whole number or a `Fraction`, never a float.
    """

    scores: tuple[int | Fraction, ...]
    ranks: tuple[int, ...]


class Randomness(Protocol):
    """The part of `random.Random` that `Game.sample` may use."""

    def choice(self, seq: Sequence[Any], /) -> Any:
        """One item of `seq`, all equally likely."""


S = TypeVar("S")
A = TypeVar("A")


class Game(Protocol[S, A]):
    """Rules. `S` is the game's state, `A` its action; both are immutable values."""

    name: ClassVar[str]
    rules_version: ClassVar[str]
    """Changes whenever the same actions and luck could lead to another outcome."""
    seat_counts: ClassVar[tuple[int, ...]]
    """The numbers of seats that can be played."""

    def setup(self, options: Mapping[str, Json], seats: int) -> S:
        """The first state. SpecError names an unknown or impossible option and lists the known ones."""

    def turn(self, state: S) -> Turn:
        """Who or what moves next."""

    def observe(self, state: S, seat: Seat) -> dict[str, Json]:
        """All that `seat` may know, as JSON values. Hidden information leaves by this door only."""

    def legal(self, state: S, seat: Seat) -> tuple[A, ...] | None:
        """The actions open to `seat`, in a fixed order; None where they cannot be listed."""

    def parse(self, state: S, seat: Seat, raw: Json) -> A:
        """The legal action that `raw` describes. Raises MalformedReply or IllegalAction with a sentence."""

    def apply(self, state: S, actions: Mapping[Seat, A]) -> S:
        """The state after the deciding seats acted; every action must come from `legal` or `parse`."""

    def resolve(self, state: S, drawn: tuple[int, ...]) -> S:
        """The state after chance; `drawn` is an outcome of the kind that `turn` asked for."""

    def outcome(self, state: S) -> Outcome:
        """Scores and ranks of a state whose turn is `Over`."""

    def sample(self, state: S, seat: Seat, rng: Randomness) -> A:
        """Some legal action (tests, baseline bots)."""

    def describe(self, state: S) -> str:
        """The state as text for a person, several lines."""

    def picture(self, state: S) -> str:
        """The state as an SVG document."""


def ranks_by_score(scores: Sequence[int | Fraction]) -> tuple[int, ...]:
    """Ranks from 0 for the highest score; equal scores share the better rank: (7, 9, 7) -> (1, 0, 1)."""
    return tuple(sum(other > score for other in scores) for score in scores)
