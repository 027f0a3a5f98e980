"""The players of a match as the referee knows them, and the requests that they answer.

Rule: definitions only. Each kind of player (bot, human, baseline) is a subclass in a module of its own; players inside
this process read the game's state itself, bots get its observation.
"""

from collections import Counter, deque
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from arena.errors import BotFault, IllegalAction, MalformedReply
from arena.games.api import Game, Json, Seat, Simulator, cost_of
from arena.match.record import REFUSALS_KEPT, RefusedAnswer, SeatRecord
from arena.match.run_on import Pace, RunOn
from arena.protocol.messages import Answer, AnyEvent, ClockTerms, MatchEnd, MatchStart, Refused, Simulate, Simulated
from arena.text import printable

TranscriptLine = tuple[float, str, bytes]
"""Wall-clock seconds, `>` to the bot or `<` from it, the line."""
_FIRST: Final = Seat(0)
NO_SIMULATIONS_LEFT: Final = "no_simulations_left"
_NONE_LEFT: Final = Refused(
    code=IllegalAction.code,
    reason=NO_SIMULATIONS_LEFT,
    message="no simulations are left for this request",
    hint="`simulations` of the request tells what they may cost together, `left` what remains of it",
)


class LookAhead:
    """The simulations that a bot may ask for while it decides, as long as any of their budget is `left`.

    A wrong question costs some of it and gets an answer too.
    """

    def __init__(self, simulator: Simulator | None = None, state: Any = None, seat: Seat = _FIRST) -> None:
        self._simulator, self._state, self._seat = simulator, state, seat
        self.left = 0 if simulator is None else simulator.budget(state)

    def renew(self) -> "LookAhead":
        """Return a look-ahead at the same decision with its whole budget, for a second player who is asked."""
        return LookAhead(self._simulator, self._state, self._seat)

    def answer(self, asked: Simulate) -> Simulated:
        """Run one simulation and charge its cost, also if it is refused; return result or refusal, and what is left."""
        result: dict[str, Json] | None = None
        refused: Refused | None = _NONE_LEFT
        if self._simulator is not None and self.left > 0:
            try:
                result, refused = self._simulator.what_if(self._state, self._seat, asked.what, self.left), None
                cost = cost_of(self._simulator, result)
            except (IllegalAction, MalformedReply) as fault:
                refused, cost = refusal_of(fault), fault.cost
            self.left = max(0, self.left - cost)
        return Simulated(id=asked.id, query=asked.query, result=result, refused=refused, left=self.left)


NO_LOOK_AHEAD: Final = LookAhead()


def refusal_of(fault: BotFault) -> Refused:
    """Return the fault as a `Refused` of the protocol. Its texts may quote the bot, so they are made printable."""
    return Refused(code=fault.code, reason=fault.reason, message=printable(fault.message), hint=printable(fault.hint))


class ActionRequest(msgspec.Struct, frozen=True):
    """The request for an action of `seat` in `state`, the step of that number; `view` is its observation for a bot.

    `legal` is None where the game cannot list the actions. `refused`: the reason for which the last answer did not
    count; the same is asked once more, in the rest of the move's time. `look_ahead`: None in games without a simulator.
    `run_on`: the bots of the table of which those may run on that have answered; None where each is stopped.
    `banks_ms`: the banks of all seats, in a match with increments.
    """

    state: Any
    seat: Seat
    step: int
    view: Any
    legal: tuple[Any, ...] | None
    refused: Refused | None = None
    look_ahead: LookAhead | None = None
    run_on: RunOn | None = None
    banks_ms: tuple[float | None, ...] | UnsetType = UNSET


class Participant:
    """A player at the table; this base class accepts all reports and does nothing. One thread at a time calls it.

    `moves` counts requests. `faults`: refused answers of this match that did not end it, by their code; `refusals`
    are the first few of them.
    """

    is_human = False
    """A human has the terminal, and so the thread of the caller."""
    pace: Pace | None = None
    """None for a player who is never left running after an answer, and at whose table nobody is."""

    def __init__(self, player: str, bot: str, terms: ClockTerms) -> None:
        self.player = player
        self.bot = bot
        self.terms = terms
        self.moves = 0
        self.faults: Counter[str] = Counter()
        self.refusals: list[RefusedAnswer] = []
        self.transcript: deque[TranscriptLine] = deque()

    @property
    def is_reachable(self) -> bool:
        """True if the last request reached the player whole, so that another one can follow."""
        return True

    @property
    def bank_ms(self) -> float | None:
        """The milliseconds in the player's bank; None for a person."""
        return None

    def begin(self, start: MatchStart, game: Game[Any, Any]) -> None:  # noqa: ARG002 - for subclasses
        """Get ready for a match of the game. Raises BotFault."""
        self.moves = 0
        self.faults = Counter()
        self.refusals = []

    def ask(self, request: ActionRequest) -> Answer:
        """Return the answer to a request. Raises BotFault."""
        raise NotImplementedError

    def refuse(self, fault: BotFault, step: int) -> None:
        """Count a fault after which the match goes on, for the answer to `step` or its lack. Bots raise Crashed."""
        self.faults[fault.code] += 1
        if len(self.refusals) < REFUSALS_KEPT:
            self.refusals.append(RefusedAnswer(step, fault.code, fault.message, fault.reason))

    def on_event(self, event: AnyEvent, before: Any, after: Any) -> None:
        """Note an event that led from the state `before` to the state `after`."""

    def on_turn_end(self, before: Any, after: Any) -> None:
        """Note that a turn is over, also the player's own and a hidden draw. Only humans use it."""

    def stop(self) -> None:
        """Stop thinking until the next request."""

    def finish(self, end: MatchEnd) -> None:
        """Note the end of the match; each player puts its own events and times into it."""

    def fail(self, fault: BotFault) -> None:
        """Note the player's own fault that ended the match."""

    def abandon(self) -> None:
        """End the wait for an answer soon; another thread breaks the match off."""

    def stderr(self) -> str:
        """Return the text on stderr so far; empty for a player without a process."""
        return ""

    def seat_record(self, clock: ClockTerms) -> SeatRecord:  # noqa: ARG002 - for bots
        """Return the player's part of the record, without its faults; `clock` is that of the match."""
        return SeatRecord(self.player, self.bot, self.moves, 0.0, 0.0, 0.0, {}, self.terms.decides)
