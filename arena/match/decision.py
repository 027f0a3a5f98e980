"""One decision: who must act is asked, and each answer becomes a step, is given once more, or ends the match.

Rule: what a seat is asked is settled before anybody is asked, and nobody hears what another did before all have
answered. Faults are taken in the order of the seats, so that no fault depends on who was faster.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET

from arena.errors import BotFault, IllegalAction, MalformedReply, OutOfTime
from arena.games.api import Game, Seat, fault_policy_of, simulator_of
from arena.match.concurrent import Inquiry, ask_concurrently
from arena.match.lookahead import LookAhead, refusal_of
from arena.match.participant import ActionRequest, Participant
from arena.match.record import LAST_TIMEOUT, PARDONABLE, REFUSALS_KEPT, ActionStep, RefusedAnswer, Termination
from arena.protocol.codec import excerpt
from arena.validation import printable


class Forfeited(Exception):
    """Within a match only: the seat at fault and what it did."""

    def __init__(self, seat: Seat, fault: BotFault) -> None:
        super().__init__(fault.message)
        # both may quote the bot, and are shown on terminals
        fault.message, fault.hint = printable(fault.message), printable(fault.hint)
        self.seat = seat
        self.fault = fault


class Decisions:
    """Asks the seats of one match. With `is_strict` no fault is pardoned, whatever the game says.

    `refusals`: by seat, the first faults of bots after which the match went on.
    """

    def __init__(self, game: Game[Any, Any], participants: Sequence[Participant], *, is_strict: bool) -> None:
        self._game = game
        self._simulator = simulator_of(game)
        self._fault_policy = None if is_strict else fault_policy_of(game)
        self._participants = participants
        self._seats: tuple[Seat, ...] = ()
        self._first = 1
        self.refusals: list[list[RefusedAnswer]] = [[] for _ in participants]

    def decide(self, state: Any, seats: tuple[Seat, ...], first: int) -> list[ActionStep]:
        """What each seat does, in their order. Forfeited if the fault of one ends the match.

        `first` is the number, from 1, of the first step that comes of it.
        """
        self._seats, self._first = seats, first
        if len(seats) > 1:
            return self._at_once(state, seats)
        (seat,) = seats
        legal = self._game.legal(state, seat)
        if legal is not None and len(legal) == 1:
            return [ActionStep(seat=seat, action=legal[0], forced=True)]
        return [self._act(state, seat, self._question(state, seat, legal))]

    def _at_once(self, state: Any, seats: tuple[Seat, ...]) -> list[ActionStep]:
        acted: dict[Seat, ActionStep | Forfeited] = {}
        askings: dict[Seat, Inquiry[ActionStep | Forfeited]] = {}
        for seat in seats:
            legal = self._game.legal(state, seat)
            if legal is not None and len(legal) == 1:
                acted[seat] = ActionStep(seat=seat, action=legal[0], forced=True)
            else:
                call = partial(self._act_or_forfeit, state, seat, self._question(state, seat, legal))
                askings[seat] = Inquiry(self._participants[seat], call)
        acted |= zip(askings, ask_concurrently(list(askings.values())), strict=True)
        return self._all_acted([acted[seat] for seat in seats])

    def _all_acted(self, results: list[ActionStep | Forfeited]) -> list[ActionStep]:
        """The steps, if nobody failed. Otherwise the first fault counts, and the others end their processes too."""
        failed = [each for each in results if isinstance(each, Forfeited)]
        if failed:
            for other in failed[1:]:
                self._participants[other.seat].fail(other.fault)
            raise failed[0]
        return [each for each in results if isinstance(each, ActionStep)]

    def _question(self, state: Any, seat: Seat, legal: tuple[Any, ...] | None) -> ActionRequest:
        simulator = self._simulator
        if simulator is None:
            return ActionRequest(self._game.observe(state, seat), legal)
        look_ahead = LookAhead(simulator.budget(state), lambda what: simulator.what_if(state, seat, what))
        return ActionRequest(self._game.observe(state, seat), legal, None, look_ahead)

    def _act_or_forfeit(self, state: Any, seat: Seat, question: ActionRequest) -> ActionStep | Forfeited:
        try:
            return self._act(state, seat, question)
        except Forfeited as forfeited:
            return forfeited

    def _act(self, state: Any, seat: Seat, question: ActionRequest) -> ActionStep:
        """What the seat does in answer to the question, or what stands in for it. Nothing stands in for a person."""
        is_patient = self._participants[seat].is_person
        while True:
            try:
                return self._answered(state, seat, question)
            except BotFault as fault:
                self._pardon(seat, fault)
                last = fault
            if isinstance(last, OutOfTime) or (question.refused is not None and not is_patient):
                break
            question = msgspec.structs.replace(question, refused=refusal_of(last))
        assert self._fault_policy is not None, "only a lenient game pardons"
        return ActionStep(seat=seat, action=self._fault_policy.fallback_action(state, seat), fallback_for=last.code)

    def _answered(self, state: Any, seat: Seat, question: ActionRequest) -> ActionStep:
        """What the bot answers. Raises its fault."""
        try:
            answer = self._participants[seat].ask(question)
            if type(answer.action) is int:
                action = self._by_index(state, seat, question.legal, answer.action)
            else:
                action = self._game.parse(state, seat, answer.action)
            if self._simulator is not None:
                self._simulator.require(state, seat, action)
        except BotFault as fault:
            fault.got = fault.got or self._last_answer(seat)
            raise
        return ActionStep(seat=seat, action=action, note="" if answer.note is UNSET else str(answer.note))

    def _pardon(self, seat: Seat, fault: BotFault) -> None:
        """Refuse what the seat did, and go on. Forfeited if the match cannot."""
        participant = self._participants[seat]
        is_last = isinstance(fault, OutOfTime) and participant.faults[Termination.TIMEOUT] + 1 >= LAST_TIMEOUT
        if self._fault_policy is not None and is_last:
            fault.message += "; the third timeout in this match forfeits it"
        if self._fault_policy is None or is_last or fault.code not in PARDONABLE or not participant.is_reachable:
            raise Forfeited(seat, fault) from None
        fault.message, fault.hint, fault.got = map(printable, (fault.message, fault.hint, fault.got))
        self._note(seat, fault)
        try:
            participant.refuse(fault)
        except BotFault as worse:
            raise Forfeited(seat, worse) from None

    def _note(self, seat: Seat, fault: BotFault) -> None:
        """Keep the sentence for the record. A person who is refused heard it, and has committed no fault."""
        kept = self.refusals[seat]
        if len(kept) < REFUSALS_KEPT and not self._participants[seat].is_person:
            step = self._first + self._seats.index(seat)
            kept.append(RefusedAnswer(step=step, code=fault.code, message=fault.message, reason=fault.reason))

    def _by_index(self, state: Any, seat: Seat, legal: tuple[Any, ...] | None, index: int) -> Any:
        if legal is None:
            raise MalformedReply(
                "an index as action, but this request lists no legal actions", hint=self._example(state, seat)
            )
        if not 0 <= index < len(legal):
            raise IllegalAction(
                f"action {index} is not an index in `legal`: there are {len(legal)} actions, 0 to {len(legal) - 1}",
                hint="indices count from 0",
            )
        return legal[index]

    def _example(self, state: Any, seat: Seat) -> str:
        """What an action looks like: that which would stand in for it is always legal."""
        fault_policy = fault_policy_of(self._game)
        if fault_policy is None:
            return "answer with an action of the game"
        example = json.dumps(msgspec.to_builtins(fault_policy.fallback_action(state, seat)))
        return f"answer with an action of the game, such as {example}"

    def _last_answer(self, seat: Seat) -> str:
        """The beginning of what the seat said last; empty if the last word was the referee's."""
        said = self._participants[seat].transcript
        return excerpt(said[-1][2]) if said and said[-1][1] == "<" else ""
