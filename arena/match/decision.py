"""One decision: each seat that must act is asked; its answer becomes a step, is given once more, or ends the match.

Rule: all requests are fixed before the first is sent, and nobody hears of another's action before all have answered.
Faults are taken in the order of the seats, so that no fault depends on who was faster.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET

from arena.errors import BotFault, IllegalAction, MalformedReply, OutOfTime
from arena.games.api import FaultPolicy, Game, Seat, Simulator, fault_policy_of
from arena.match.concurrent import ask_concurrently
from arena.match.participant import ActionRequest, LookAhead, Participant, refusal_of
from arena.match.record import LAST_TIMEOUT, PARDONABLE, REFUSALS_KEPT, ActionStep, RefusedAnswer, Termination
from arena.protocol.codec import excerpt
from arena.text import printable


class Forfeited(Exception):
    """Within a match only: the seat at fault and its fault."""

    def __init__(self, seat: Seat, fault: BotFault) -> None:
        super().__init__(fault.message)
        # both may quote the bot, and are shown on terminals
        fault.message, fault.hint = printable(fault.message), printable(fault.hint)
        self.seat = seat
        self.fault = fault


class Decisions:
    """Asks the seats of one match. With `is_strict` no fault is pardoned, whatever the game's policy.

    `refusals`: by seat, the first faults of bots after which the match went on.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        simulator: Simulator | None,
        participants: Sequence[Participant],
        *,
        is_strict: bool,
    ) -> None:
        self._game = game
        self._simulator = simulator
        self._fault_policy = None if is_strict else fault_policy_of(game)
        self._participants = participants
        self._seats: tuple[Seat, ...] = ()
        self._first = 1
        self.refusals: list[list[RefusedAnswer]] = [[] for _ in participants]

    def decide(self, state: Any, seats: tuple[Seat, ...], first: int) -> list[ActionStep]:
        """The action of each seat, in their order. Forfeited if the fault of one ends the match.

        `first` is the number, from 1, of the first step that comes of it.
        """
        self._seats, self._first = seats, first
        if len(seats) == 1:
            due = self._due(state, seats[0])
            return [due if isinstance(due, ActionStep) else self._act(due)]
        acted: dict[Seat, ActionStep | Forfeited] = {}
        requests: dict[Seat, ActionRequest] = {}
        for seat in seats:
            due = self._due(state, seat)
            if isinstance(due, ActionStep):
                acted[seat] = due
            else:
                requests[seat] = due
        calls = [(self._participants[seat], partial(self._act_or_forfeit, due)) for seat, due in requests.items()]
        acted |= zip(requests, ask_concurrently(calls), strict=True)
        return self._all_acted([acted[seat] for seat in seats])

    def _due(self, state: Any, seat: Seat) -> ActionStep | ActionRequest:
        """The only legal action of the seat, or the request for one."""
        legal = self._game.legal(state, seat)
        if legal is not None and len(legal) == 1:
            return ActionStep(seat=seat, action=legal[0], forced=True)
        look_ahead = None
        if (simulator := self._simulator) is not None:
            look_ahead = LookAhead(simulator.budget(state), lambda what: simulator.what_if(state, seat, what))
        return ActionRequest(state, seat, self._game.observe(state, seat), legal, None, look_ahead)

    def _all_acted(self, results: list[ActionStep | Forfeited]) -> list[ActionStep]:
        """The steps, if nobody failed. Otherwise the first fault counts, and the others end their processes too."""
        failed = [each for each in results if isinstance(each, Forfeited)]
        if failed:
            for other in failed[1:]:
                self._participants[other.seat].fail(other.fault)
            raise failed[0]
        return [each for each in results if isinstance(each, ActionStep)]

    def _act_or_forfeit(self, request: ActionRequest) -> ActionStep | Forfeited:
        try:
            return self._act(request)
        except Forfeited as forfeited:
            return forfeited

    def _act(self, request: ActionRequest) -> ActionStep:
        """The seat's answer to the request, or the fallback action. A human is asked until they answer."""
        while True:
            try:
                return self._answered(request)
            except BotFault as fault:
                policy, last = self._pardon(request.seat, fault), fault
            is_last = request.refused is not None and not self._participants[request.seat].is_human
            if is_last or isinstance(last, OutOfTime):
                action = policy.fallback_action(request.state, request.seat)
                return ActionStep(seat=request.seat, action=action, fallback_for=last.code)
            request = msgspec.structs.replace(request, refused=refusal_of(last))

    def _answered(self, request: ActionRequest) -> ActionStep:
        """The action that the player chose. Raises its fault."""
        state, seat = request.state, request.seat
        try:
            answer = self._participants[seat].ask(request)
            if type(answer.action) is int:
                action = self._by_index(request, answer.action)
            else:
                action = self._game.parse(state, seat, answer.action)
            if self._simulator is not None:
                self._simulator.require(state, seat, action)
        except BotFault as fault:
            fault.got = fault.got or self._last_answer(seat)
            raise
        return ActionStep(seat=seat, action=action, note="" if answer.note is UNSET else str(answer.note))

    def _pardon(self, seat: Seat, fault: BotFault) -> FaultPolicy:
        """Refuse the answer and go on, by the policy that allows it. Forfeited if the match cannot go on."""
        participant, policy = self._participants[seat], self._fault_policy
        is_last = isinstance(fault, OutOfTime) and participant.faults[Termination.TIMEOUT] + 1 >= LAST_TIMEOUT
        if policy is not None and is_last:
            fault.message += "; the third timeout in this match forfeits it"
        if policy is None or is_last or fault.code not in PARDONABLE or not participant.is_reachable:
            raise Forfeited(seat, fault) from None
        fault.message, fault.hint, fault.got = map(printable, (fault.message, fault.hint, fault.got))
        self._note(seat, fault)
        try:
            participant.refuse(fault)
        except BotFault as worse:
            raise Forfeited(seat, worse) from None
        return policy

    def _note(self, seat: Seat, fault: BotFault) -> None:
        """Keep the sentence for the record. A human who is refused heard it, and has committed no fault."""
        kept = self.refusals[seat]
        if len(kept) < REFUSALS_KEPT and not self._participants[seat].is_human:
            step = self._first + self._seats.index(seat)
            kept.append(RefusedAnswer(step=step, code=fault.code, message=fault.message, reason=fault.reason))

    def _by_index(self, request: ActionRequest, index: int) -> Any:
        legal = request.legal
        if legal is None:
            raise MalformedReply(
                "an index as action, but this request lists no legal actions", hint=self._example(request)
            )
        if not 0 <= index < len(legal):
            raise IllegalAction(
                f"action {index} is not an index in `legal`: there are {len(legal)} actions, 0 to {len(legal) - 1}",
                hint="indices count from 0",
            )
        return legal[index]

    def _example(self, request: ActionRequest) -> str:
        """A hint with an action: the fallback action is always legal."""
        policy = fault_policy_of(self._game)
        if policy is None:
            return "answer with an action of the game"
        example = json.dumps(msgspec.to_builtins(policy.fallback_action(request.state, request.seat)))
        return f"answer with an action of the game, such as {example}"

    def _last_answer(self, seat: Seat) -> str:
        """The beginning of the seat's last line; empty if the last word was the referee's."""
        said = self._participants[seat].transcript
        return excerpt(said[-1][2]) if said and said[-1][1] == "<" else ""
