"""The actions of a player, as small values with one JSON form and one text form each.

Rule: an action carries all its choices, and its numbers are rounded: u and v to 0.1 mm, yaw to 1 degree, drop to 1 mm,
hands to 0.1 mm. So a log names exactly the action that was done. The phase tells which action is asked for.
"""

from typing import Annotated, Final, Literal, TypeVar

import msgspec

from arena.games.api import Number, Word

T = TypeVar("T")
Few = Annotated[tuple[T, ...], msgspec.Meta(max_length=16)]
"""A list in an action. Longer ones are malformed, before anything in them is read."""


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action of a player."""


class Play(Action, frozen=True):
    """Play a card face down: `{"card": 7}`."""

    card: Number

    def __str__(self) -> str:
        return f"plays card {self.card}"


class NameCaptain(Action, frozen=True):
    """The old captain names the new one among those who share the highest card: `{"seat": 1}`."""

    seat: Number

    def __str__(self) -> str:
        return f"names seat {self.seat} as captain"


class Order(Action, frozen=True):
    """The captain puts those with equal cards in order, first to move first: `{"seats": [3, 0]}`."""

    seats: Few[Number]

    def __str__(self) -> str:
        return f"lets seats {' and '.join(map(str, self.seats))} move in this order"


class Announce(Action, frozen=True):
    """Say, before the turn, whether one or two pieces will be loaded: `{"pieces": 2}`."""

    pieces: Number

    def __str__(self) -> str:
        return f"announces {self.pieces} {'piece' if self.pieces == 1 else 'pieces'}"


class Load(Action, frozen=True):
    """Lay a piece of `kind` on the side `face`, its centre at u (to the bow) and v (to port), turned by yaw.

    It is let go `drop_mm` above where it first touches something. `hands_mm`: centres (x, y) of up to two hands, in the
    catch plane of the table frame.
    """

    kind: Word
    face: Word
    u_mm: float
    v_mm: float
    yaw_deg: float = 0.0
    drop_mm: float = 0.0
    hands_mm: Few[tuple[float, float]] = ()

    def __str__(self) -> str:
        drop = f", dropped {self.drop_mm:g} mm" if self.drop_mm else ""
        hands = "; ".join(f"{x:g} {y:g}" for x, y in self.hands_mm)
        held = f", hands at {hands}" if hands else ""
        return f"loads a {self.kind}, {self.face}; u {self.u_mm:g} v {self.v_mm:g} yaw {self.yaw_deg:g}{drop}{held}"


class Pass(Action, frozen=True):
    """Give no load, which is honoured only where the referee finds none either: `{"pass": true}`."""

    is_pass: Literal[True] = msgspec.field(name="pass")

    def __str__(self) -> str:
        return "passes"


PASS: Final = Pass(is_pass=True)
AnyAction = Play | NameCaptain | Order | Announce | Load | Pass


class Reason:
    """The words by which programs tell refusals apart; each comes with a sentence."""

    NOT_TO_MOVE: Final = "not_to_move"
    NOT_ASKED: Final = "not_asked"
    NOT_IN_HAND: Final = "not_in_hand"
    NOT_A_CHOICE: Final = "not_a_choice"
    NOT_IN_SUPPLY: Final = "not_in_supply"
    BAD_FACE: Final = "bad_face"
    BAD_NUMBER: Final = "bad_number"
    OUTSIDE_AREA: Final = "outside_area"
    INTO_OTHER_AREA: Final = "into_other_area"
    NO_ROOM: Final = "no_room"
    NO_SUPPORT: Final = "no_support"
    MUST_LOAD: Final = "must_load"
    OVERLAP: Final = "overlap"
    DIVERGED: Final = "diverged"
    """Only for a look-ahead: the simulation broke down."""
