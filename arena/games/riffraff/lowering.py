"""How a piece is let down: from under the next level to what it first touches.

Rule: a search over heights, in m in the ship frame; whether something is touched there is asked, not known here.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from arena.errors import IllegalAction
from arena.games.riffraff.actions import Load, Reason
from arena.games.riffraff.material import Area
from arena.games.riffraff.model import DEEPEST_HOOK_M, DEEPEST_M, LOWERING_END_M, LOWERING_STEP_M

_NAMES_MAX: Final = 3
Touches = Callable[[float], bool]
"""Whether the piece, with its origin at this height, reaches into anything."""


class Refusal(msgspec.Struct, frozen=True):
    """Why a piece cannot be let down somewhere: `Reason.NO_ROOM` and what is in its way, or `Reason.NO_SUPPORT`."""

    reason: str
    touched: tuple[str, ...] = ()

    def fault(self, load: Load, area: Area) -> IllegalAction:
        """The refusal as the bot's author reads it."""
        place = f"u {load.u_mm:g} v {load.v_mm:g} yaw {load.yaw_deg:g} on area {area.number}"
        piece = f"a {load.kind} {load.face} at {place}"
        if self.reason == Reason.NO_ROOM:
            message = f"no room for {piece}: where its way down begins it would reach into {_listed(self.touched)}"
            hint = "a piece is let down from just under the next higher level: choose a place or a face that fits there"
        else:
            deepest_m = DEEPEST_HOOK_M if load.face == "hang" else DEEPEST_M
            message = f"no support for {piece}: nothing is met down to {1000 * deepest_m:g} mm below the surface"
            hint = "choose a place where more of it is above the surface or above other cargo"
        return IllegalAction(message, hint=hint, reason=self.reason)


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - _NAMES_MAX
    return " and ".join([*names[:_NAMES_MAX], *([f"{more} more"] if more > 0 else [])])


def first_contact(touches: Touches, *, top_m: float, clear_m: float, floor_m: float) -> float | None:
    """The height just above the first contact on the way down from `top_m`; None if it lies below `floor_m`.

    The way is tried in steps of a millimetre, thinner than any part of a piece. Between `top_m` and `clear_m` nothing
    can be met, so the steps there are not tried, and the result is the same.
    """

    def height(step: int) -> float:
        return top_m - step * LOWERING_STEP_M

    step = max(0, int((top_m - clear_m) / LOWERING_STEP_M) - 1)  # one less, for what rounding does to a height
    while height(step) > floor_m:
        if touches(height(step + 1)):
            return _narrowed(touches, free_m=height(step), touching_m=height(step + 1))
        step += 1
    return None


def _narrowed(touches: Touches, *, free_m: float, touching_m: float) -> float:
    while free_m - touching_m > LOWERING_END_M:
        between_m = (free_m + touching_m) / 2
        if touches(between_m):
            touching_m = between_m
        else:
            free_m = between_m
    return free_m


def let_go_at(touches: Touches, *, contact_m: float, drop_m: float, top_m: float) -> float:
    """The height of release `drop_m` above the contact, but not above the start and not inside of anything.

    What the steps of the way down passed over can be in the way up: then the drop is halved, and at last nothing.
    """
    while drop_m > LOWERING_END_M:
        height_m = min(contact_m + drop_m, top_m)
        if not touches(height_m):
            return height_m
        drop_m /= 2
    return contact_m
