"""A decision: each seat that must act is asked; its answer becomes a step, is given once more, or ends the match.

Rule: all requests are fixed before the first is sent, and nobody hears of another's action before all have answered.
Faults are taken in the order of the seats, so that no fault depends on who was faster. Only the waiting is done
concurrently, each player in a thread of its own. An error in the caller stops the threads too: nobody waits for a bot
whose match is over.
"""

import json
import random
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, as_completed
from functools import partial
from itertools import count
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from arena.errors import ArenaError, BotFault, IllegalAction, MalformedReply, OutOfTime
from arena.games.api import Game, Seat, Simulator, fault_policy_of, observer_of
from arena.match.participant import ActionRequest, LookAhead, Participant, refusal_of
from arena.match.record import LAST_TIMEOUT, PARDONABLE, ActionStep, Termination
from arena.match.run_on import RunOn
from arena.protocol.codec import excerpt
from arena.text import printable

T = TypeVar("T")
_STOP_S: Final = 0.5
"""Seconds to wait for the threads after Ctrl-C; they check their clocks 20 times a second."""
_END_S: Final = 60.0
"""Seconds to wait after a fault of ours: a simulation cannot be broken off, and the next match needs what it holds."""


class Forfeited(Exception):
    """A forfeit, raised within a match only: the seat at fault and its fault."""

    def __init__(self, seat: Seat, fault: BotFault) -> None:
        super().__init__(fault.message)
        # both may quote the bot, and appear on terminals
        fault.message, fault.hint = printable(fault.message), printable(fault.hint)
        self.seat = seat
        self.fault = fault


class Decisions:
    """The decisions of one match, for which the seats are asked. With `is_strict` no fault is pardoned."""

    def __init__(
        self, game: Game[Any, Any], simulator: Simulator | None, participants: Sequence[Participant], *, is_strict: bool
    ) -> None:
        self._game, self._observe = game, observer_of(game)
        self._simulator = simulator
        self._fault_policy = None if is_strict else fault_policy_of(game)
        self._participants = participants
        paces = [player.pace for player in participants if player.pace is not None]
        may_run_on = simulator is None and len(paces) == len(participants)
        self._run_on = RunOn(paces, [player.stop for player in participants]) if may_run_on else None

    def decide(self, state: Any, seats: tuple[Seat, ...], first: int) -> list[ActionStep]:
        """Ask each seat; return their steps in order. Forfeited if a fault ends the match.

        `first` is the number, from 1, of the first of these steps. Of several faults the first counts, and the
        others end their processes too.
        """
        if len(seats) == 1:
            due = self._turn_of(state, seats[0], first, self._run_on)
            result = self._ask_until_settled(due) if isinstance(due, ActionRequest) else due
            if isinstance(result, Forfeited):
                raise result
            return [result]
        turns = [self._turn_of(state, *pair) for pair in zip(seats, count(first), strict=False)]
        results = self._act_concurrently(turns)
        forfeits = [result for result in results if isinstance(result, Forfeited)]
        if forfeits:
            for other in forfeits[1:]:
                self._participants[other.seat].fail(other.fault)
            raise forfeits[0]
        return [result for result in results if isinstance(result, ActionStep)]

    def _act_concurrently(self, due: list[ActionStep | ActionRequest]) -> list[ActionStep | Forfeited]:
        """Suspend all bots, send all requests, then collect the answers."""
        for player in self._participants:
            player.stop()
        requests = [request for request in due if isinstance(request, ActionRequest)]
        calls = [(self._participants[request.seat], partial(self._ask_until_settled, request)) for request in requests]
        answers = iter(_ask_concurrently(calls))
        return [next(answers) if isinstance(step, ActionRequest) else step for step in due]

    def _turn_of(self, state: Any, seat: Seat, number: int, run_on: RunOn | None = None) -> ActionStep | ActionRequest:
        """Return the step of the seat if only one action is legal, else the request for an action."""
        legal = self._game.legal(state, seat)
        if legal is not None and len(legal) == 1:
            return ActionStep(seat=seat, action=legal[0], forced=True)
        look_ahead = None if self._simulator is None else LookAhead(self._simulator, state, seat)
        view, players = self._observe(state, seat), self._participants
        banks_ms = tuple([player.bank_ms for player in players]) if players[seat].terms.increment_ms else UNSET
        return ActionRequest(state, seat, number, view, legal, None, look_ahead, run_on, banks_ms)

    def _ask_until_settled(self, request: ActionRequest) -> ActionStep | Forfeited:
        """Ask the seat; return its step, that of the fallback action, or a forfeit.

        A pardoned bot is asked twice at most, a human until they answer.
        """
        participant, policy = self._participants[request.seat], self._fault_policy
        while True:
            try:
                return self.ask_player(request, participant)
            except BotFault as fault:
                last = fault
            if request.run_on is not None:
                request.run_on.stop_others(request.seat)
            if policy is None or not _is_pardoned(participant, last):
                return Forfeited(request.seat, last)
            try:
                participant.refuse(last, request.step)
            except BotFault as worse:
                return Forfeited(request.seat, worse)
            if isinstance(last, OutOfTime) or (request.refused is not None and not participant.is_human):
                action = policy.fallback_action(request.state, request.seat)
                return ActionStep(seat=request.seat, action=action, fallback_for=last.code)
            request = msgspec.structs.replace(request, refused=refusal_of(last))

    def ask_player(self, request: ActionRequest, participant: Participant) -> ActionStep:
        """Ask the player; return the step with the chosen action. Raises the player's fault."""
        state, seat, legal = request.state, request.seat, request.legal
        try:
            answer = participant.ask(request)
            chosen = answer.action
            if type(chosen) is not int:
                action = self._game.parse(state, seat, chosen)
            elif legal is not None and 0 <= chosen < len(legal):
                action = legal[chosen]
            else:
                raise self._unlisted_index_fault(request, chosen)
            if self._simulator is not None:
                self._simulator.require(state, seat, action)
        except BotFault as fault:
            transcript = participant.transcript
            if not fault.got and transcript and transcript[-1][1] == "<":  # otherwise the last line was the referee's
                fault.got = excerpt(transcript[-1][2])
            fault.message, fault.hint, fault.got = map(printable, (fault.message, fault.hint, fault.got))
            raise
        return ActionStep(seat=seat, action=action, note="" if answer.note is UNSET else str(answer.note))

    def _unlisted_index_fault(self, request: ActionRequest, index: int) -> BotFault:
        """Return the fault of an index as action where none are listed, or that is not in the list."""
        if request.legal is None:
            return MalformedReply(
                "an index as action, but this request lists no legal actions", hint=self._example_hint(request)
            )
        count = len(request.legal)
        return IllegalAction(
            f"action {index} is not an index in `legal`: there are {count} actions, 0 to {count - 1}",
            hint="indices count from 0",
        )

    def _example_hint(self, request: ActionRequest) -> str:
        """Return the hint for an index where nothing is listed: a legal action, always the same in a state."""
        action = self._game.sample(request.state, request.seat, random.Random(0))  # noqa: S311 - an example
        return f"answer with an action of the game, such as {json.dumps(msgspec.to_builtins(action))}"


def _is_pardoned(participant: Participant, fault: BotFault) -> bool:
    """Return True if the match can go on after the fault, in a game with a fault policy.

    The message of a timeout that is one too many says so from here on.
    """
    if isinstance(fault, OutOfTime) and participant.faults[Termination.TIMEOUT] + 1 >= LAST_TIMEOUT:
        fault.message += "; the third timeout in this match forfeits it"
        return False
    return fault.code in PARDONABLE and participant.is_reachable


def _ask_concurrently(calls: Sequence[tuple[Participant, Callable[[], T]]]) -> list[T]:
    """Run the calls, each of which asks one player, concurrently; return all values, in the order of the calls.

    A human is asked in the calling thread, which has the terminal and gets Ctrl-C; so is a single player.
    """
    if len(calls) <= 1:
        return [call() for _, call in calls]
    futures: list[Future[T]] = [Future() for _ in calls]
    human_calls: list[tuple[Callable[[], T], Future[T]]] = []
    threads: dict[Future[T], tuple[Participant, threading.Thread]] = {}
    for (player, call), future in zip(calls, futures, strict=True):
        if player.is_human:
            human_calls.append((call, future))
        else:
            threads[future] = player, threading.Thread(target=_run_into_future, args=(call, future), daemon=True)
    try:
        for _, thread in threads.values():
            thread.start()
        for call, future in human_calls:
            _run_into_future(call, future)
            future.result()
        for future in as_completed(threads):
            future.result()
    except BaseException as error:
        _break_off(threads.values(), _END_S if isinstance(error, ArenaError) else _STOP_S)
        raise
    return [future.result() for future in futures]


def _run_into_future(call: Callable[[], T], future: Future[T]) -> None:
    """Run the call, and set its value or its error in the future."""
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - the edge of a thread; `result` raises it in the caller's
        future.set_exception(error)


def _break_off(asked: Collection[tuple[Participant, threading.Thread]], patience_s: float) -> None:
    """Break off the requests of these players, and wait `patience_s` seconds at most for their threads."""
    for player, _ in asked:
        player.abandon()
    deadline_s = time.monotonic() + patience_s
    for _, thread in asked:
        if thread.ident is not None:
            thread.join(max(0.0, deadline_s - time.monotonic()))
