"""What the rules do not allow, each refusal with a word for the program and a sentence for its author.

Rule: pure geometry and bookkeeping; whether there is room and support is asked of the simulated world. A sentence says
what was found and what is allowed, in mm and degrees of the ship frame.
"""

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from arena.errors import IllegalAction
from arena.games.api import Seat
from arena.games.riffraff.actions import DROP_MAX_MM, HANDS_MAX, Announce, Load, Name, Order, Play, Reason
from arena.games.riffraff.geometry import extents, laid
from arena.games.riffraff.material import FACES, KINDS, Area, Face, Kind
from arena.games.riffraff.state import Player, State

_YAW_MAX_DEG: Final = 360
HANDS_WITHIN_MM: Final = 1000
_SLACK_MM: Final = 1e-6
"""Rotations by 90 degrees are not exact in floating point; a millionth of a millimetre is no trespass."""


class Refusal(NamedTuple):
    """Why not: one of the words in `Reason`, and a sentence."""

    reason: str
    sentence: str

    def error(self, hint: str = "") -> IllegalAction:
        """The refusal as the bot's fault."""
        return IllegalAction(self.sentence, hint=hint, reason=self.reason)


def why_not_card(state: State, seat: Seat, action: Play) -> Refusal | None:
    """A card must still be in hand."""
    hand = state.players[seat].hand
    if action.card in hand:
        return None
    return Refusal(Reason.NOT_IN_HAND, f"card {action.card} is not in your hand; it holds {_listed(hand)}")


def why_not_captain(tied: tuple[Seat, ...], action: Name) -> Refusal | None:
    """The new captain is one of those who share the highest card."""
    if action.seat in tied:
        return None
    return Refusal(
        Reason.NOT_A_CHOICE,
        f"seat {action.seat} cannot become captain; the highest card was played by {seats_named(tied)}",
    )


def why_not_order(tied: tuple[Seat, ...], action: Order) -> Refusal | None:
    """An order names each of the tied seats once."""
    if sorted(action.seats) == sorted(tied):
        return None
    shown = _listed(action.seats[:8]) + ("..." if len(action.seats) > 8 else "")
    return Refusal(Reason.NOT_A_CHOICE, f"the order must name each of {seats_named(tied)} once; found {shown}")


def why_not_announced(action: Announce) -> Refusal | None:
    """One piece or two."""
    if action.pieces in (1, 2):
        return None
    return Refusal(Reason.NOT_A_CHOICE, f"1 or 2 pieces can be announced, not {action.pieces}")


def why_not_held(player: Player, action: Load) -> Refusal | None:
    """A piece must be in the supply of whoever loads it."""
    if player.holds(action.kind):
        return None
    held = [f"{kind} {count}" for kind, count in zip(KINDS, player.supply, strict=True) if count]
    return why_no_kind(action) or Refusal(
        Reason.NOT_IN_SUPPLY, f"you hold no {action.kind}; your supply is {', '.join(held)}"
    )


def why_no_kind(action: Load) -> Refusal | None:
    """There are eight kinds."""
    if action.kind in KINDS:
        return None
    return Refusal(Reason.NOT_IN_SUPPLY, f"there is no kind {_quoted(action.kind)}; the kinds are {', '.join(KINDS)}")


def why_not_number(action: Load) -> Refusal | None:
    """Numbers must be finite, and those that no area limits within the limits of this function."""
    numbers = {"u_mm": action.u_mm, "v_mm": action.v_mm, "yaw_deg": action.yaw_deg, "drop_mm": action.drop_mm}
    for name, number in numbers.items():
        if not math.isfinite(number):
            return Refusal(Reason.BAD_NUMBER, f"`{name}` must be a finite number, found {number}")
    if abs(action.yaw_deg) > _YAW_MAX_DEG:
        return Refusal(
            Reason.BAD_NUMBER, f"`yaw_deg` must be from -{_YAW_MAX_DEG} to {_YAW_MAX_DEG}, found {action.yaw_deg:g}"
        )
    if not 0 <= action.drop_mm <= DROP_MAX_MM:
        return Refusal(Reason.BAD_NUMBER, f"`drop_mm` must be from 0 to {DROP_MAX_MM}, found {action.drop_mm:g}")
    return _why_not_hands(action.hands_mm)


def _why_not_hands(hands: tuple[tuple[float, float], ...]) -> Refusal | None:
    if len(hands) > HANDS_MAX:
        return Refusal(Reason.BAD_NUMBER, f"`hands_mm` holds {len(hands)} hands; you have {HANDS_MAX}")
    for x, y in hands:
        if not all(abs(number) <= HANDS_WITHIN_MM for number in (x, y)):
            return Refusal(
                Reason.BAD_NUMBER,
                f"a hand at x {x:g}, y {y:g} in `hands_mm`; both must be from -{HANDS_WITHIN_MM} to {HANDS_WITHIN_MM}",
            )
    return None


def why_not_placed(area: Area, action: Load) -> Refusal | None:
    """A piece lies on one of its faces, its origin inside the area, and reaches into no other area."""
    kind = next(known for known in KINDS if known == action.kind)
    allowed = faces_on(area, kind)
    face = next((known for known in allowed if known == action.face), None)
    if face is None:
        where = f" on area {area.number}, a part of the deck" if action.face in FACES[kind] else ""
        found = _quoted(action.face)
        return Refusal(Reason.BAD_FACE, f"a {kind} has no face {found}{where}; it can be laid {', '.join(allowed)}")
    return _why_outside(area, action) or _why_into_other(area, kind, face, action)


def faces_on(area: Area, kind: Kind) -> tuple[Face, ...]:
    """The faces on which a piece of that kind can be laid there: nothing hangs on the deck."""
    return tuple(face for face in FACES[kind] if area.is_yard or face != "hang")


def ranges_mm(area: Area) -> Mapping[str, tuple[float, float]]:
    """The limits of u and v in an area, both ends included, in mm."""
    return {name: (round(low * 1000, 1), round(high * 1000, 1)) for name, (low, high) in _sides(area).items()}


def _sides(area: Area) -> dict[str, tuple[float, float]]:
    return {"u": area.u_m, "v": area.v_m}


def _why_outside(area: Area, action: Load) -> Refusal | None:
    ranges = ranges_mm(area)
    origin = {"u": action.u_mm, "v": action.v_mm}
    if all(ranges[name][0] <= origin[name] <= ranges[name][1] for name in ranges):
        return None
    wanted = ", ".join(f"{name} from {low:g} to {high:g}" for name, (low, high) in ranges.items())
    return Refusal(
        Reason.OUTSIDE_AREA,
        f"u {action.u_mm:g}, v {action.v_mm:g} is outside area {area.number},"
        f" where the origin of a piece can be at {wanted} mm",
    )


def _why_into_other(area: Area, kind: Kind, face: Face, action: Load) -> Refusal | None:
    low, high = _reach_mm(kind, face, action.yaw_deg)
    for axis, (name, origin, side) in enumerate((("u", action.u_mm, area.side_u), ("v", action.v_mm, area.side_v))):
        over = _over(origin, side, low[axis], high[axis])
        if over > _SLACK_MM:
            least = math.ceil((abs(origin) + over - _SLACK_MM) * 10) / 10
            bound = f"{name} {least:g} or more" if side > 0 else f"{name} {-least:g} or less"
            limits = ranges_mm(area)[name]
            turn = "" if limits[0] <= side * least <= limits[1] else ", which is outside this area: turn it"
            return Refusal(
                Reason.INTO_OTHER_AREA,
                f"at {name} {origin:g} the {kind} ({face}, yaw {action.yaw_deg:g}) reaches {over:.1f} mm over"
                f" {name} = 0 into another area; it needs {bound}{turn}",
            )
    return None


def _over(origin: float, side: int, low: float, high: float) -> float:
    """How far a piece reaches over the line that an area must not cross; 0 where there is none."""
    if side > 0:
        return max(0.0, -(origin + low))
    return max(0.0, origin + high) if side < 0 else 0.0


@lru_cache(maxsize=8192)
def _reach_mm(kind: Kind, face: Face, yaw_deg: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """How far a piece that lies so reaches from its origin, lowest and highest along u, v and up."""
    low, high = extents(kind, laid(kind, face, yaw_deg))
    return tuple(1000 * reach for reach in low), tuple(1000 * reach for reach in high)


def _quoted(word: str) -> str:
    """Only ASCII, because a message must be fit for every file and terminal."""
    return json.dumps(word)


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers)) or "nothing"


def seats_named(seats: tuple[Seat, ...]) -> str:
    """`seat 1`, `seats 0, 1 and 3`."""
    *first, last = map(str, seats)
    return f"seats {', '.join(first)} and {last}" if first else f"seat {last}"
