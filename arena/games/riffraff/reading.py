"""From what a bot sent to an action that the rules allow, or to the bot's fault.

Rule: first whose move it is, then the form of the action that is asked for, then its meaning. Numbers within
their limits are rounded before the position is asked about them, so that what is refused or done is what the log says.
"""

from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from arena import validation
from arena.errors import IllegalAction, MalformedReply
from arena.games.api import Json, Seat
from arena.games.riffraff import refusal
from arena.games.riffraff.actions import Announce, AnyAction, Load, Name, Order, Pass, Play, Reason
from arena.games.riffraff.material import AREAS
from arena.games.riffraff.refusal import Refusal
from arena.games.riffraff.rounds import leaders
from arena.games.riffraff.state import Phase, State
from arena.games.riffraff.turns import why_one

A = TypeVar("A")
_FULL_TURN_DEG: Final = 360


class Form(NamedTuple):
    """An action as it is written: its type, what it is called in a sentence, an example."""

    kind: type[Any]
    name: str
    example: str


_LOAD: Final = Form(
    Load, "a load", '{"kind": "crate", "face": "flat", "u_mm": 0, "v_mm": 55, "yaw_deg": 90, "hands_mm": [[45, 75]]}'
)
_PASS: Final = Form(Pass, "a pass", '{"pass": true}')
_ANNOUNCE: Final = Form(Announce, "an announcement", '{"pieces": 2}')
_FORMS: Final = {
    Phase.CARD: Form(Play, "a card", '{"card": 7}'),
    Phase.NEW_CAPTAIN: Form(Name, "the seat of the new captain", '{"seat": 1}'),
    Phase.ORDER: Form(Order, "an order of seats", '{"seats": [3, 0]}'),
    Phase.ANNOUNCE: _ANNOUNCE,
    Phase.LOAD: _LOAD,
}


def read(state: State, seat: Seat, raw: Json) -> AnyAction:
    """The action of `seat` that `raw` describes. MalformedReply or IllegalAction with a reason and a sentence."""
    if seat not in state.movers:
        raise IllegalAction(f"seat {seat} is not to move; {_movers(state)}", reason=Reason.NOT_TO_MOVE)
    form = _FORMS[state.phase]
    if form is _LOAD and isinstance(raw, dict) and "pass" in raw:
        form = _PASS
    try:
        action: AnyAction = _converted(raw, form)
    except MalformedReply:
        _refuse_other_form(state, raw, form)
        raise
    if isinstance(action, Load):
        action = rounded(action)
    refused = _why_not(state, seat, action)
    if refused is not None:
        raise refused.error("" if form is _LOAD else "choose one of the actions in `legal`")
    return action


def read_load(raw: Json) -> Load:
    """A load of a right form with usable numbers, rounded; nothing else about it is checked."""
    load = rounded(_converted(raw, _LOAD))
    if (refused := refusal.why_not_number(load)) is not None:
        raise refused.error()
    return load


def rounded(load: Load) -> Load:
    """The load with its numbers on their grids; unchanged if there are some that no grid has."""
    if refusal.why_not_number(load) is not None:
        return load
    return msgspec.structs.replace(
        load,
        u_mm=_tenth(load.u_mm),
        v_mm=_tenth(load.v_mm),
        yaw_deg=float(round(load.yaw_deg) % _FULL_TURN_DEG),
        drop_mm=float(round(load.drop_mm)),
        hands_mm=tuple((_tenth(x), _tenth(y)) for x, y in load.hands_mm),
    )


def _movers(state: State) -> str:
    if not state.movers:
        return "nobody is"
    return f"{refusal.seats_named(state.movers)} {'is' if len(state.movers) == 1 else 'are'}"


def _tenth(number: float) -> float:
    """Rounded to 0.1; adding 0 turns -0.0 into 0.0."""
    return round(number, 1) + 0.0


def _converted(raw: Json, form: Form) -> Any:
    try:
        return msgspec.convert(raw, type=form.kind)
    except (msgspec.ValidationError, UnicodeEncodeError):
        sentence = validation.why_not(raw, form.kind, place=f"not {form.name}")
        raise MalformedReply(sentence, hint=f"for example {form.example}") from None


def _refuse_other_form(state: State, raw: Json, asked: Form) -> None:
    """An action of another phase is understood, and told apart from one that nobody would understand."""
    for form in (*_FORMS.values(), _PASS):
        if form.kind is asked.kind or not _has_form(raw, form):
            continue
        if state.phase is Phase.LOAD and form is _ANNOUNCE:
            raise IllegalAction(f"{_why_no_announcement(state)}; now load it, or pass", reason=Reason.NOT_ASKED)
        raise IllegalAction(
            f"found {form.name}, but {asked.name} is asked for now (phase {state.phase.value})",
            hint=f"for example {asked.example}",
            reason=Reason.NOT_ASKED,
        )


def _has_form(raw: Json, form: Form) -> bool:
    try:
        msgspec.convert(raw, type=form.kind)
    except (msgspec.ValidationError, UnicodeEncodeError):
        return False
    return True


def _why_no_announcement(state: State) -> str:
    why = "" if state.loaded else why_one(state)
    if why:
        return f"only 1 piece can be loaded in this turn: {why}"
    left = f"{state.to_load} piece{'' if state.to_load == 1 else 's'}"
    return f"how many pieces are loaded was announced before the turn, {left} left"


def _why_not(state: State, seat: Seat, action: AnyAction) -> Refusal | None:
    """What the rules have against an action of the right form."""
    match action:
        case Play():
            return refusal.why_not_card(state, seat, action)
        case Name():
            return refusal.why_not_captain(leaders(state), action)
        case Order():
            return refusal.why_not_order(state.ties[0], action)
        case Announce():
            return refusal.why_not_announced(action)
        case Load():
            assert state.area is not None, "a load is asked for in a turn"
            return (
                refusal.why_not_number(action)
                or refusal.why_not_held(state.players[seat], action)
                or refusal.why_not_placed(AREAS[state.area], action)
            )
        case Pass():
            return None
