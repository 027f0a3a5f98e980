"""The position in a game of Riff Raff, as one immutable value.

Rule: a state holds what lies on the table and what has been played, in the rule book's words, and no rules.
"""

from enum import Enum
from typing import Final, Literal

import msgspec

from arena.games.api import Seat
from arena.games.riffraff.actions import Load
from arena.games.riffraff.scene import AREAS, KINDS, Area, Kind
from arena.games.riffraff.table import Noise, PieceId, ShipAtRest, Sigma, Weather, sigma_in

CARDS: Final = tuple(range(1, 11))
ROUNDS_PER_HAND: Final = 10
Fate = Literal["removed", "returned", "to_supply"]
"""`removed`: caught, out of the game; `returned`: caught alone, just loaded; `to_supply`: not caught."""


class Phase(Enum):
    """The action asked for; in `STANDARD` the referee loads, `NOISE` waits for chance, `SETTLING` for simulation."""

    __hash__ = object.__hash__
    CARD = "card"
    NEW_CAPTAIN = "new_captain"
    ORDER = "order"
    ANNOUNCE = "announce"
    LOAD = "load"
    STANDARD = "standard"
    NOISE = "noise"
    SETTLING = "settling"
    OVER = "over"


TURN_PHASES: Final = frozenset({Phase.ANNOUNCE, Phase.LOAD, Phase.STANDARD, Phase.NOISE, Phase.SETTLING})
"""The phases in which somebody has the turn."""


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of the game. `weather`: unsteadiness of hand and sea; `simulations`: look-ahead cost of a request."""

    weather: Weather = "breeze"
    simulations: int = 60


class Player(msgspec.Struct, frozen=True):
    """A player's side. `supply`: pieces of each kind, in the order of `KINDS`. `card`: played in this round.

    `removed`: pieces this player has caught out of the game.
    """

    supply: tuple[int, ...]
    hand: tuple[int, ...] = CARDS
    card: int | None = None
    removed: int = 0

    @property
    def pieces(self) -> int:
        """Pieces still to be loaded."""
        return sum(self.supply)

    def holds(self, kind: str) -> bool:
        """Return True if a piece of that kind is in the supply; False for a word that is no kind."""
        return kind in KINDS and self.supply[KINDS.index(kind)] > 0


class Fallen(msgspec.Struct, frozen=True):
    """A piece that fell, and its fate; places in mm in the catch plane."""

    id: PieceId
    kind: Kind
    x_mm: float
    y_mm: float
    hand: int | None
    fate: Fate


class Loaded(msgspec.Struct, frozen=True, tag_field="event", tag="loaded"):
    """A finished placement, as all players see it afterwards: the fields are those of the view."""

    seat: Seat
    id: PieceId
    kind: Kind
    area: int
    load: Load
    noise: Noise
    end: str
    t_s: float
    tilt_max_deg: float
    fallen: tuple[Fallen, ...]
    digest: str = msgspec.field(name="hash")


class State(msgspec.Struct, frozen=True):
    """A position of the game.

    `round` counts from 1. `captain`: of the last round until the cards are revealed and a tie is decided, then the new
    one. `order`: seats in order of play, as far as it is known. `ties`: groups of equal cards that the captain still
    has to order. `turn`: index in `order`. `to_load`: pieces the active player may still load in this turn, 0 before it
    begins. `loaded`: pieces loaded in this turn. `placements`: pieces loaded in the match. `pending` and `noise`: the
    load that waits for chance and simulation. `removed`: pieces out of the game, by kind. `last`: what was loaded since
    the last turn began, the newest last.
    """

    options: Options
    players: tuple[Player, ...]
    phase: Phase = Phase.CARD
    round: int = 1
    captain: Seat = Seat(0)
    order: tuple[Seat, ...] = ()
    ties: tuple[tuple[Seat, ...], ...] = ()
    turn: int = 0
    to_load: int = 0
    loaded: int = 0
    placements: int = 0
    pending: Load | None = None
    noise: Noise | None = None
    table: ShipAtRest = ShipAtRest()
    removed: tuple[int, ...] = (0,) * len(KINDS)
    last: tuple[Loaded, ...] = ()

    @property
    def sets(self) -> int:
        """Sets of cargo that each player starts with."""
        return 2 if len(self.players) == 2 else 1

    @property
    def rounds(self) -> int:
        """Rounds after which the game ends: two hands of cards for two players."""
        return ROUNDS_PER_HAND * self.sets

    @property
    def sigma(self) -> Sigma:
        """The deviations of the noise in this round."""
        return sigma_in(self.options.weather, self.round, self.rounds)

    @property
    def active(self) -> Seat | None:
        """The player whose turn it is; None while cards are played and the order is found, and after the end."""
        return self.order[self.turn] if self.phase in TURN_PHASES else None

    @property
    def area(self) -> int | None:
        """The area on which the active player loads: the number of the card."""
        return None if self.active is None else self.players[self.active].card

    @property
    def active_area(self) -> Area:
        """The struct of `area`, while somebody has the turn."""
        assert self.area is not None, "somebody has the turn, and has played a card"
        return AREAS[self.area]

    @property
    def movers(self) -> tuple[Seat, ...]:
        """The seats that must act now."""
        if self.phase is Phase.CARD:
            return tuple(map(Seat, range(len(self.players))))
        if self.phase in (Phase.NEW_CAPTAIN, Phase.ORDER):
            return (self.captain,)
        return (self.order[self.turn],) if self.phase in (Phase.ANNOUNCE, Phase.LOAD) else ()

    @property
    def next_id(self) -> PieceId:
        """The id of the next piece that comes aboard; two digits are enough for the 80 placements of a match."""
        return PieceId(f"k{self.placements + 1:02d}")
