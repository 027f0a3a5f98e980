"""Reading of a bot's JSON: an action that the rules allow, or the bot's fault.

Rule: first whose move it is, then the form of the action that is asked for, then its meaning. Numbers are rounded
before the position is looked at, so that the log names exactly the load that was refused or done. Pure geometry and
bookkeeping; the simulator decides about room and support. A refusal has a word for the program and a sentence for
its author, with what was found and what is allowed, in mm and degrees of the ship frame.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from arena.errors import IllegalAction, MalformedReply
from arena.games.api import Json, Seat, read_form
from arena.games.riffraff import turns
from arena.games.riffraff.actions import Announce, AnyAction, Load, NameCaptain, Order, Pass, Play, Reason
from arena.games.riffraff.geometry import extents, rotation_of
from arena.games.riffraff.scene import FACES, KINDS, Area, Face, Kind
from arena.games.riffraff.state import Phase, State
from arena.text import counted, join_words

DROP_MAX_MM: Final = 20
HANDS_MAX: Final = 2
HANDS_WITHIN_MM: Final = 1000
_YAW_MAX_DEG: Final = 360
_SLACK_MM: Final = 1e-6
"""Rotations by 90 degrees are not exact in floating point; a millionth of a millimetre is no trespass."""


class Form(NamedTuple):
    """The written form of an action: its type, its name in a sentence, an example."""

    kind: type[Any]
    name: str
    example: str

    def read(self, raw: Json) -> Any:
        """Read the action that `raw` is; MalformedReply if it has another form."""
        return read_form(raw, self.kind, place=f"not {self.name}", hint=f"for example {self.example}")


_LOAD: Final = Form(
    Load, "a load", '{"kind": "crate", "face": "flat", "u_mm": 0, "v_mm": 55, "yaw_deg": 90, "hands_mm": [[45, 75]]}'
)
_PASS: Final = Form(Pass, "a pass", '{"pass": true}')
_ANNOUNCE: Final = Form(Announce, "an announcement", '{"pieces": 2}')
_FORMS: Final = {
    Phase.CARD: Form(Play, "a card", '{"card": 7}'),
    Phase.NEW_CAPTAIN: Form(NameCaptain, "the seat of the new captain", '{"seat": 1}'),
    Phase.ORDER: Form(Order, "an order of seats", '{"seats": [3, 0]}'),
    Phase.ANNOUNCE: _ANNOUNCE,
    Phase.LOAD: _LOAD,
}


def parse(state: State, seat: Seat, raw: Json) -> AnyAction:
    """Read the action of `seat` that `raw` describes; MalformedReply or IllegalAction with a reason and a sentence.

    The numbers of a load come out rounded; room and support are not looked at.
    """
    if seat not in state.movers:
        verb = "is" if len(state.movers) == 1 else "are"
        movers = f"{_name_seats(state.movers)} {verb}" if state.movers else "nobody is"
        raise IllegalAction(f"seat {seat} is not to move; {movers}", reason=Reason.NOT_TO_MOVE)
    form = _FORMS[state.phase]
    if form is _LOAD and isinstance(raw, dict) and "pass" in raw:
        form = _PASS
    try:
        action: AnyAction = form.read(raw)
    except MalformedReply:
        _refuse_other_form(state, raw, form)
        raise
    if not isinstance(action, Load):
        _require_choice(state, seat, action)
        return action
    load = round_load(action)
    _require_held(state, seat, load)
    check_pose(state.active_area, load)
    return load


def read_load(raw: Json) -> Load:
    """Read a load of a known kind with its numbers rounded; check nothing else about it.

    MalformedReply for another form, IllegalAction for another kind or an unusable number.
    """
    load = round_load(_LOAD.read(raw))
    _require_kind(load)
    return load


def round_load(load: Load) -> Load:
    """Round the numbers of the load to their grids, yaw to 0 up to 359 degrees.

    IllegalAction for a number that is not finite or out of its limits, and for too many hands.
    """
    for name in ("u_mm", "v_mm", "yaw_deg", "drop_mm"):
        if not math.isfinite(number := getattr(load, name)):
            raise _make_refusal(Reason.BAD_NUMBER, f"`{name}` must be a finite number, found {number}")
    require_within("`yaw_deg`", load.yaw_deg, -_YAW_MAX_DEG, _YAW_MAX_DEG)
    require_within("`drop_mm`", load.drop_mm, 0, DROP_MAX_MM)
    _require_hands(load.hands_mm)
    return msgspec.structs.replace(
        load,
        u_mm=_round_to_tenth(load.u_mm),
        v_mm=_round_to_tenth(load.v_mm),
        yaw_deg=float(round(load.yaw_deg) % 360),
        drop_mm=float(round(load.drop_mm)),
        hands_mm=tuple((_round_to_tenth(x), _round_to_tenth(y)) for x, y in load.hands_mm),
    )


def require_within(name: str, number: float, low: float, high: float) -> None:
    """Raise IllegalAction if a number is not from `low` to `high`."""
    if not low <= number <= high:
        raise _make_refusal(Reason.BAD_NUMBER, f"{name} must be from {low:g} to {high:g}, found {number:g}")


def _refuse_other_form(state: State, raw: Json, asked: Form) -> None:
    """Raise IllegalAction if `raw` is an action of another phase."""
    for form in (*_FORMS.values(), _PASS):
        try:
            msgspec.convert(raw, type=form.kind)  # `read` would look for mistakes, which takes long in a long message
        except (msgspec.ValidationError, UnicodeEncodeError):
            continue
        if state.phase is Phase.LOAD and form is _ANNOUNCE:
            raise _make_refusal(Reason.NOT_ASKED, f"{_why_no_announcement(state)}; now load it")
        mismatch = f"found {form.name}, but {asked.name} is asked for now (phase {state.phase.value})"
        raise _make_refusal(Reason.NOT_ASKED, mismatch, f"for example {asked.example}")


def _why_no_announcement(state: State) -> str:
    """Return the reason why the number of pieces cannot be announced any more."""
    why = "" if state.loaded else turns.why_one(state)
    if why:
        return f"only 1 piece can be loaded in this turn: {why}"
    return f"how many pieces are loaded was announced before the turn, {counted(state.to_load, 'piece')} left"


def _require_choice(state: State, seat: Seat, action: AnyAction) -> None:
    """Raise IllegalAction unless an action out of the list in `legal` stands there."""
    hint = "choose one of the actions in `legal`"
    match action:
        case Play(card=card):
            hand = state.players[seat].hand
            if card not in hand:
                mistake = f"card {card} is not in your hand; it holds {_join_numbers(hand)}"
                raise _make_refusal(Reason.NOT_IN_HAND, mistake, hint)
        case NameCaptain(seat=named):
            tied = turns.leaders(state)
            if named not in tied:
                mistake = f"seat {named} cannot become captain; the highest card was played by {_name_seats(tied)}"
                raise _make_refusal(Reason.NOT_A_CHOICE, mistake, hint)
        case Order(seats=seats):
            tied = state.ties[0]
            if sorted(seats) != sorted(tied):
                given = _join_numbers(seats[:8]) + ("..." if len(seats) > 8 else "")
                mistake = f"the order must name each of {_name_seats(tied)} once; found {given}"
                raise _make_refusal(Reason.NOT_A_CHOICE, mistake, hint)
        case Announce(pieces=pieces):
            if pieces not in (1, 2):
                raise _make_refusal(Reason.NOT_A_CHOICE, f"1 or 2 pieces can be announced, not {pieces}", hint)


def _require_held(state: State, seat: Seat, load: Load) -> None:
    """Raise IllegalAction unless the piece is in the supply of the player who loads it."""
    _require_kind(load)
    player = state.players[seat]
    if not player.holds(load.kind):
        held = ", ".join(f"{kind} {count}" for kind, count in zip(KINDS, player.supply, strict=True) if count)
        raise _make_refusal(Reason.NOT_IN_SUPPLY, f"you hold no {load.kind}; your supply is {held}")


def _require_kind(load: Load) -> None:
    """Raise IllegalAction unless the kind of the load is one of the game's."""
    if load.kind not in KINDS:
        kinds = ", ".join(KINDS)
        raise _make_refusal(Reason.NOT_IN_SUPPLY, f"there is no kind {_quote_word(load.kind)}; the kinds are {kinds}")


def _require_hands(hands: tuple[tuple[float, float], ...]) -> None:
    """Raise IllegalAction for too many hands, or for one that is too far away."""
    if len(hands) > HANDS_MAX:
        raise _make_refusal(Reason.BAD_NUMBER, f"`hands_mm` holds {len(hands)} hands; you have {HANDS_MAX}")
    for x, y in hands:
        if not all(abs(number) <= HANDS_WITHIN_MM for number in (x, y)):
            limits = f"both must be from -{HANDS_WITHIN_MM} to {HANDS_WITHIN_MM}"
            raise _make_refusal(Reason.BAD_NUMBER, f"a hand at x {x:g}, y {y:g} in `hands_mm`; {limits}")


def check_pose(area: Area, load: Load) -> None:
    """Raise IllegalAction unless a piece lies on one of its faces, has its origin inside the area and stays in it.

    The load is rounded and of a known kind.
    """
    kind = next(known for known in KINDS if known == load.kind)
    allowed = faces_on(area, kind)
    face = next((known for known in allowed if known == load.face), None)
    if face is None:
        where = f" on area {area.number}, a part of the deck" if load.face in FACES[kind] else ""
        mistake = f"a {kind} has no face {_quote_word(load.face)}{where}; it can be laid {', '.join(allowed)}"
        raise _make_refusal(Reason.BAD_FACE, mistake)
    _require_inside(area, load)
    _require_reach(area, kind, face, load)


def faces_on(area: Area, kind: Kind) -> tuple[Face, ...]:
    """Return the faces on which a piece of that kind can be laid there: nothing hangs on the deck."""
    return tuple(face for face in FACES[kind] if area.is_yard or face != "hang")


def ranges_mm(area: Area) -> Mapping[str, tuple[float, float]]:
    """Return the limits of u and v in an area, both ends included, in mm."""
    sides = {"u": area.u_m, "v": area.v_m}
    return {name: (round(low * 1000, 1), round(high * 1000, 1)) for name, (low, high) in sides.items()}


def _require_inside(area: Area, load: Load) -> None:
    """Raise IllegalAction unless the origin of the piece is inside the area."""
    ranges = ranges_mm(area)
    (low_u, high_u), (low_v, high_v) = ranges.values()
    if not (low_u <= load.u_mm <= high_u and low_v <= load.v_mm <= high_v):
        limits = ", ".join(f"{name} from {low:g} to {high:g}" for name, (low, high) in ranges.items())
        where = f"outside area {area.number}, where the origin of a piece can be at {limits} mm"
        raise _make_refusal(Reason.OUTSIDE_AREA, f"u {load.u_mm:g}, v {load.v_mm:g} is {where}")


def _require_reach(area: Area, kind: Kind, face: Face, load: Load) -> None:
    """Raise IllegalAction if a part of the piece sticks out into another area."""
    low, high = _reach_mm(kind, face, load.yaw_deg)
    for axis, (name, origin, side) in enumerate((("u", load.u_mm, area.side_u), ("v", load.v_mm, area.side_v))):
        over = {1: -(origin + low[axis]), -1: origin + high[axis], 0: 0.0}[side]
        if over > _SLACK_MM:
            least = math.ceil((abs(origin) + over - _SLACK_MM) * 10) / 10
            bound = f"{name} {least:g} or more" if side > 0 else f"{name} {-least:g} or less"
            limits = ranges_mm(area)[name]
            turn = "" if limits[0] <= side * least <= limits[1] else ", which is outside this area: turn it"
            piece = f"at {name} {origin:g} the {kind} ({face}, yaw {load.yaw_deg:g})"
            far = f"reaches {over:.1f} mm over {name} = 0 into another area; it needs {bound}{turn}"
            raise _make_refusal(Reason.INTO_OTHER_AREA, f"{piece} {far}")


@lru_cache(maxsize=8192)
def _reach_mm(kind: Kind, face: Face, yaw_deg: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the lowest and highest reach of a piece that lies so from its origin, along u, v and up."""
    low, high = extents(kind, rotation_of(kind, face, yaw_deg))
    return tuple(1000 * reach for reach in low), tuple(1000 * reach for reach in high)


def _make_refusal(reason: str, sentence: str, hint: str = "") -> IllegalAction:
    """Return the fault of an action, with a word for programs, a sentence and a hint."""
    return IllegalAction(sentence, hint=hint, reason=reason)


def _round_to_tenth(number: float) -> float:
    """Round to 0.1; adding 0 turns -0.0 into 0.0."""
    return round(number, 1) + 0.0


def _quote_word(word: str) -> str:
    """Quote a word in ASCII, because a message must be fit for every file and terminal."""
    return json.dumps(word)


def _join_numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "nothing"


def _name_seats(seats: Sequence[Seat]) -> str:
    """Name the seats: `seat 1`, `seats 0, 1 and 3`."""
    return f"{'seats' if len(seats) > 1 else 'seat'} {join_words(seats)}"
