"""What a bot may ask the game's nature while it thinks about one decision.

Rule: a budget for each decision, and an answer to everything. What the bot asks for wrongly is told to it and costs one
of its questions, nothing else.
"""

from collections.abc import Callable, Mapping
from typing import Final

from arena.errors import BotFault, IllegalAction, MalformedReply
from arena.games.api import Json
from arena.protocol.messages import Refused, Simulate, Simulated
from arena.validation import printable

NO_SIMULATIONS_LEFT: Final = "no_simulations_left"


class LookAhead:
    """`left` questions to `imagine`, which is the nature's for one state and seat."""

    def __init__(self, budget: int, what_if: Callable[[Mapping[str, Json]], dict[str, Json]]) -> None:
        self.left = budget
        self._what_if = what_if

    def answer(self, asked: Simulate) -> Simulated:
        """What came of it, after a while; at once if nothing is left to be asked."""
        result: dict[str, Json] | None = None
        refused: Refused | None = None
        try:
            self._spend()
            result = self._what_if(asked.what)
        except (IllegalAction, MalformedReply) as fault:
            refused = refusal_of(fault)
        return Simulated(id=asked.id, query=asked.query, result=result, refused=refused, left=self.left)

    def _spend(self) -> None:
        if self.left <= 0:
            raise IllegalAction(
                "no simulations are left for this request",
                hint="`simulations` of the request tells how many there are, `left` how many remain",
                reason=NO_SIMULATIONS_LEFT,
            )
        self.left -= 1


NO_LOOK_AHEAD: Final = LookAhead(0, dict)
"""Nothing may be asked."""


def refusal_of(fault: BotFault) -> Refused:
    """The fault in the words of the protocol; all of it may quote the bot."""
    return Refused(code=fault.code, reason=fault.reason, message=printable(fault.message), hint=printable(fault.hint))
