"""A bot as the judge of a match: for each decision of a seat it says what every action was worth.

Rule: an analyst knows what the seat knew and nothing else: `match_start` with a bot_seed of its own, the events, and
the view of each decision. It is started afresh for each seat, and its answers change nothing in the match. A wrong
answer is its own fault; that decision is not judged.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from arena.errors import BotFault, CheckFailed, MalformedReply, ProtocolViolation
from arena.games import load_game
from arena.games.api import Chance, Game, observer_of, value_of
from arena.games.luck import derive
from arena.match.bot_player import BotPlayer
from arena.match.judgement import ActionValues, Choice, Opinion, choices_of
from arena.match.participant import ActionRequest
from arena.match.record import ActionStep, ChanceStep, MatchRecord
from arena.match.referee import events_of_action
from arena.match.replay import ReplayStep, replay
from arena.protocol import messages as m
from arena.text import printable


class JudgeFailed(CheckFailed):
    """Error: a bot that shall judge does not start, or does not evaluate."""


def opinion_of_bot(record: MatchRecord, label: str, open_bot: Callable[[int], BotPlayer]) -> Opinion:
    """Ask the analyst of that label about the decisions of all seats; `open_bot` returns a new bot for a seat.

    In the end the processes of these bots are ended. CheckFailed if the match cannot be replayed; JudgeFailed if the
    analyst does not start, or does not evaluate.
    """
    game, count = load_game(record.game), len(record.seats)
    choices = {choice.index: choice for choice in choices_of(record)}
    values: dict[int, ActionValues | str] = {}
    with contextlib.ExitStack() as stack:
        analysts = [_Analyst(record, game, seat, open_bot(seat), stack) for seat in range(count)]

        def judge_choice(index: int) -> None:
            if index in choices and not choices[index].reason:
                values[index] = analysts[choices[index].seat].evaluate(choices[index])

        decision: list[ReplayStep] = []
        for index, moment in enumerate(replay(record)):
            judge_choice(index)
            decision.append(moment)
            if moment.is_complete:
                _report(game, decision, analysts)
                decision = []
        judge_choice(len(record.steps))
    start, start_from = _start(record, game, choices, values, label)
    return Opinion(
        f"the bot {label}", values, start, start_from, tuple(payoff_of(record.ranks, rank) for rank in record.ranks)
    )


class _Analyst:
    """The analyst's process for one seat, which it sits in from the start of the match on; `stack` ends it."""

    def __init__(
        self, record: MatchRecord, game: Game[Any, Any], seat: int, bot: BotPlayer, stack: contextlib.ExitStack
    ) -> None:
        self.bot = bot
        self._count = len(record.seats)
        self._observe = observer_of(game)
        self._lost = ""
        stack.callback(bot.close, grace_s=0.0)
        offer_evaluation(bot)
        start = m.MatchStart(
            match=record.wire_id or record.match,
            seat=seat,
            players=record.players,
            protocol=m.PROTOCOL_MAJORS[-1],
            game=game.name,
            options=record.options,
            clock=bot.terms,
            bot_seed=int(derive("analyst", record.match, seat), 16) % 2**52,
        )
        try:
            bot.begin(start, game)
        except BotFault as fault:
            raise JudgeFailed(f"{bot.player} does not start: {fault.message}{quote_stderr(bot)}") from None
        if not bot.may_evaluate:
            raise JudgeFailed(f"{bot.player} does not evaluate: its hello has no capability `{m.EVALUATE}`")

    def evaluate(self, choice: Choice) -> ActionValues | str:
        """Return each action's value for every seat, or why there is none; other seats share what is left.

        After a violation of the protocol, or its end, the analyst is not asked again.
        """
        if self._lost:
            return self._lost
        view = self._observe(choice.before, choice.seat)
        try:
            answer = values_of(
                self.bot, ActionRequest(choice.before, choice.seat, choice.index + 1, view, choice.actions)
            )
        except BotFault as fault:
            if isinstance(fault, ProtocolViolation) or not self.bot.is_reachable:
                self._lost = f"the analyst had ended: {fault.message}"
            return f"the analyst gave no values: {fault.code}"
        others = self._count - 1
        return ActionValues(
            tuple(
                tuple(
                    value if seat == choice.seat else (self._count / 2 - value) / others for seat in range(self._count)
                )
                for value in answer.values
            ),
            answer.errors,
        )


def offer_evaluation(bot: BotPlayer) -> BotPlayer:
    """Offer the capability to evaluate to the next process of a bot, and return the bot."""
    hello = bot.start_up.hello
    bot.start_up.hello = replace(hello, capabilities=(*hello.capabilities, m.EVALUATE))
    return bot


def quote_stderr(bot: BotPlayer) -> str:
    """Return the last line of a bot's stderr as the end of a sentence; empty if there is none."""
    last = printable("".join(bot.stderr().splitlines()[-1:]))
    return f"; the last line of its stderr: {last}" if last else ""


def values_of(bot: BotPlayer, request: ActionRequest) -> m.Evaluation:
    """Return a bot's values of the listed actions; raises BotFault, also for another number of values or errors."""
    answer, count = bot.evaluate(request), len(request.legal or ())
    if len(answer.values) != count or len(answer.errors) not in {0, count}:
        raise MalformedReply(f"{len(answer.values)} values and {len(answer.errors)} errors for {count} actions")
    return answer


def _report(game: Game[Any, Any], decision: Sequence[ReplayStep], analysts: Sequence[_Analyst]) -> None:
    """Report the steps of a turn to the analysts, to each what its seat may know, and its own actions, too."""
    for moment in decision:
        step = moment.step
        events: Sequence[m.AnyEvent | None]
        if isinstance(step, ActionStep):
            events = events_of_action(game, moment.before, step, len(analysts), moment.action)
        elif isinstance(step, ChanceStep):
            turn = game.turn(moment.before)
            is_public = isinstance(turn, Chance) and turn.is_public
            events = [m.ChanceEvent(step.key, step.outcome) if is_public else None] * len(analysts)
        else:
            events = [m.SimulationEvent(step.key, step.result)] * len(analysts)
        for analyst, event in zip(analysts, events, strict=True):
            if event is not None:
                analyst.bot.on_event(event, moment.before, moment.after)


def _start(
    record: MatchRecord,
    game: Game[Any, Any],
    choices: Mapping[int, Choice],
    values: Mapping[int, ActionValues | str],
    label: str,
) -> tuple[tuple[float, ...], str]:
    """Return the expected payoffs at the start, and by whom: the analyst, the game, or nobody, so that all are even."""
    first = values.get(0)
    if isinstance(first, ActionValues):
        return max(first.payoffs, key=lambda payoffs: payoffs[choices[0].seat]), label
    value = value_of(game)
    if value is not None and len(record.seats) == 2:  # at larger tables it has another scale
        return value(game.setup(record.options, 2)), f"{record.game}, value {value.version}"
    return (0.5,) * len(record.seats), "all seats alike"


def payoff_of(ranks: Sequence[int], rank: int) -> float:
    """Return the mean over the opponents of win 1, draw 1/2, of a seat with that rank."""
    return (sum(other > rank for other in ranks) + (ranks.count(rank) - 1) / 2) / (len(ranks) - 1)
