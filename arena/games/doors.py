"""What some games answer besides the contract, each behind a door of its own: an attribute that a game has or has not.

Rule: nobody asks a game for its name to know what it can do; the functions here tell, and give None without the door.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol, TypeVar, cast

from arena.games.api import Game, Json, Seat

S = TypeVar("S")

LEAST_VALUE: Final = -0.25
"""The least payoff that a value function may expect for a seat; all seats together have 1."""


class ValueFunction(Protocol[S]):
    """An estimate of what a position is worth, to tell luck from skill. A game may have one, as its attribute `value`.

    It may be poor, but luck measured with it has mean 0 only if it is fair: it looks at nothing that is still to be
    drawn or turned up, and a position that waits for luck is worth exactly the mean over what can happen, with the
    probabilities of the draw. No payoff it expects is below `LEAST_VALUE`: an estimate may leave 0 to 1 a little.
    """

    version: ClassVar[str]
    """Changes whenever any value does: luck is comparable only under one version."""

    def __call__(self, state: S) -> tuple[float, ...]:
        """The expected payoff of each seat, in any state: 1 for a win, a tie shared, all seats together 1.

        After the end it is the payoff itself.
        """

    def face_down(self, before: S, after: S) -> S | None:
        """Where a decision led from `before` to `after`: `after` with what was turned up on the way still hidden.

        That is luck too, though drawn long ago; this state waits for it. None if nothing was turned up.
        """


class Lenience(Protocol):
    """A game that goes on after a fault: a refused answer may be given once more, then something stands in for it.

    The game's attribute `lenience`. Without it every fault forfeits the match.
    """

    def stand_in(self, state: Any, seat: Seat) -> Any:
        """What happens in place of the action that `seat` owes; legal in every state in which it must act."""


class Nature(Protocol):
    """The part of a game that is not rules: a simulated world. The game's attribute `nature`.

    Pure like the rules: the same arguments give the same bytes, in any process and order, as long as the fingerprint
    is the same. It may be slow (a tenth of a second), and what it needs may not be installed: then every method
    raises SpecError, which names the extra to install.
    """

    def fingerprint(self) -> dict[str, str]:
        """What results depend on besides the arguments: `engine` (name and version), platform, parameters, a canary."""

    def insist(self, state: Any, seat: Seat, action: Any) -> None:
        """IllegalAction if the world has no room for an action that the rules allow; it tells why by its reason."""

    def simulate(self, state: Any) -> Json:
        """The result in a state whose turn is a `Simulation`, as plain JSON values."""

    def settle(self, state: Any, result: Json) -> Any:
        """The state after that result; ValueError if it is not one that could have come from this state."""

    def tell(self, before: Any, result: Json, after: Any) -> str:
        """What came of a simulation, as a sentence for a person: from its state, the result, and the state it led to.

        Like `settle` it needs nothing installed. Empty if there is nothing to tell: then the key stands there.
        """

    def budget(self, state: Any) -> int:
        """How often a bot may ask `imagine` in one request; 0 for never."""

    def imagine(self, state: Any, seat: Seat, what: Mapping[str, Json]) -> dict[str, Json]:
        """What would come of something a bot thinks about; nothing that `seat` may not know goes in.

        Raises IllegalAction or MalformedReply, as for an action.
        """

    def distance(self, state: Any, one: Json, other: Json) -> str:
        """How far two results for the same state are apart, as a phrase for a person; empty if they are the same."""


def value_of(game: Game[S, Any]) -> ValueFunction[S] | None:
    """The value function of a game that has one."""
    found: ValueFunction[S] | None = getattr(game, "value", None)
    return found


def lenience_of(game: Game[Any, Any]) -> Lenience | None:
    """The lenience of a game that has one."""
    found: Lenience | None = getattr(game, "lenience", None)
    return found


def nature_of(game: Game[Any, Any]) -> Nature | None:
    """The nature of a game that has one."""
    found: Nature | None = getattr(game, "nature", None)
    return found


def insist_on_nature(game: Game[Any, Any]) -> None:
    """SpecError, with the extra to install, if the nature of the game cannot be simulated here."""
    nature = nature_of(game)
    if nature is not None:
        nature.fingerprint()


def material_of(game: Game[Any, Any], options: Mapping[str, Json], seats: int) -> dict[str, Json]:
    """What a bot should know once and for all, from the game's method `material(options, seats)`; empty without it."""
    tell = getattr(game, "material", None)
    return {} if tell is None else cast(dict[str, Json], tell(options, seats))
