"""The requests of a stored match, put to another bot: its answers there, and the match as it would go on with them.

Rule: the referee plays the match once more, and the bot gets the lines of one seat, with the time banks as they
were. Its answers are noted, and those of the record are played, until a step from which its own count. No answer
changes what the bot is asked before that, so all of them can be compared.
"""

from collections.abc import Callable, Collection
from typing import Any, Final

import msgspec
from msgspec import UNSET

from arena.errors import BotFault, CheckFailed, Crashed, OutOfTime
from arena.games.api import Game, Json, Seat, simulator_of
from arena.match.bot_player import BotPlayer
from arena.match.decision import Decisions
from arena.match.participant import ActionRequest, Participant, refusal_of
from arena.match.reconstruction import RecordedPlayer, open_recorded_table
from arena.match.record import ActionStep, MatchRecord, SeatRecord
from arena.match.requests import answer_steps, requests_of
from arena.protocol import messages as m
from arena.text import printable

_NEVER: Final = 1 << 60
"""A step that no match has."""


class BotAnswer(msgspec.Struct, frozen=True):
    """The answer of a bot for a step of a stored match, beside the recorded one; both as text and as JSON.

    `fault`: the reason why the bot gave none that counts; `recorded_fault` the code of the fault in the match, after
    which a fallback action was played. With `is_owed` that fault ended the match, and there is no recorded action but
    the reason as text. `cpu_ms`: CPU time, `stderr`: what was written for this answer.
    """

    step: int
    recorded: str
    recorded_action: Json
    answered: str = ""
    action: Json = None
    fault: str = ""
    recorded_fault: str = ""
    note: str = ""
    cpu_ms: float = 0.0
    stderr: str = ""
    is_owed: bool = False

    @property
    def is_same(self) -> bool:
        """True if the bot repeats the recorded answer, or the recorded fault."""
        if self.recorded_fault:
            return self.fault.startswith(f"{self.recorded_fault}:")
        return not self.fault and self.action == self.recorded_action


def ask(
    record: MatchRecord,
    bot: BotPlayer,
    seat: int,
    steps: Collection[int] = (),
    *,
    before: Callable[[BotPlayer, int], object] = lambda _bot, _step: None,
) -> tuple[BotAnswer, ...]:
    """Ask the bot for these steps, counted from 1, or for every step of the seat; return its answers.

    The match ends after the last of them, or when the bot ends, so that later answers are missing; the bot is closed.
    `before` is called ahead of each of these requests. CheckFailed if the record cannot be played again, or if the bot
    does not start.
    """
    wanted = tuple(sorted(steps)) or answer_steps(record, seat)
    asking = _Asking(record, wanted, before)
    try:
        _play_again(record, {seat: bot}, asking)
    except _AllAnswered:
        pass
    finally:
        bot.close(grace_s=0.0)
    return tuple(asking.answers)


def continue_match(record: MatchRecord, bots: dict[int, BotPlayer], step: int) -> MatchRecord:
    """Play a stored match on with the answers of these bots, by seat, from that step on; return its record.

    Until then the bots are asked and the recorded answers are played. All draws are those of the record's luck. The
    bots are closed at the end. CheckFailed if a bot does not start, or ends before that step.
    """
    asking = _Asking(record, live_from=step)
    try:
        return _play_again(record, bots, asking)
    except _AllAnswered as ended:
        raise CheckFailed(f"{record.match} cannot be played on from step {step}: {ended}") from None
    finally:
        for bot in bots.values():
            bot.close(grace_s=0.0)


class _AllAnswered(Exception):
    """The end of the questions: the last wanted answer has come, or the bot has ended."""


class _Asking(msgspec.Struct):
    """The state that all seats of one table share; the bots' answers count from the step `live_from` on."""

    record: MatchRecord
    steps: tuple[int, ...] = ()
    before: Callable[[BotPlayer, int], object] = lambda _bot, _step: None
    live_from: int = _NEVER
    is_live: bool = False
    answers: list[BotAnswer] = []

    def reach(self, step: int) -> None:
        """Set `is_live` once a seat is asked for the step `live_from` or a later one."""
        self.is_live = self.is_live or step >= self.live_from


def _play_again(record: MatchRecord, bots: dict[int, BotPlayer], asking: _Asking) -> MatchRecord:
    """Play the match once more, with the bots beside the recorded players of their seats; return the new record.

    Raises _AllAnswered if the match need not be played to its end.
    """
    with open_recorded_table(record, is_live=lambda: asking.is_live) as table:
        seats: list[Participant] = [
            _AskedPlayer(player, bots[seat], seat, table.game, asking) if seat in bots else player
            for seat, player in enumerate(table.players)
        ]
        return table.play(seats)


class _AskedPlayer(Participant):
    """A recorded player whose requests also go to a bot."""

    def __init__(
        self, recorded: RecordedPlayer, bot: BotPlayer, seat: int, game: Game[Any, Any], asking: _Asking
    ) -> None:
        super().__init__(recorded.player, recorded.bot, recorded.terms)
        self._recorded, self._bot, self._asking = recorded, bot, asking
        self._decisions = Decisions(game, simulator_of(game), (), is_strict=False)
        self._game = game
        self._is_over = False
        self._refused: BotFault | None = None
        self._again = {at + 1 for at, numbers in requests_of(asking.record, seat).items() if len(numbers) > 1}

    @property
    def _counting_player(self) -> Participant:
        """The participant whose answers count now: the recorded player, or the bot once the match is live."""
        return self._bot if self._asking.is_live else self._recorded

    @property
    def is_reachable(self) -> bool:
        """True if the participant whose answers count is reachable."""
        return self._counting_player.is_reachable

    @property
    def bank_ms(self) -> float | None:
        """The milliseconds in the bank of the participant whose answers count."""
        return self._counting_player.bank_ms

    def begin(self, start: m.MatchStart, game: Game[Any, Any]) -> None:
        """Start the recorded player and the bot. CheckFailed if the bot does not start."""
        self._recorded.begin(start, game)
        self._take_over(self._recorded)
        try:
            self._bot.begin(start, game)
        except BotFault as fault:
            raise CheckFailed(f"the bot in place of {self._bot.player} does not start: {fault.message}") from None

    def _take_over(self, playing: Participant) -> None:
        """Take over the faults, refusals and transcript of a participant, which the referee reads."""
        self.faults, self.refusals, self.transcript = playing.faults, playing.refusals, playing.transcript

    def ask(self, request: ActionRequest) -> m.Answer:
        """Ask the bot, and return the answer that counts: the recorded one, or the bot's once the match is live.

        A bot whose answer is refused is asked once more where the recorded player was, too.
        """
        asking, was_live = self._asking, self._asking.is_live
        asking.reach(request.step)
        if asking.is_live:
            if not was_live:
                self._bot.account.copy_banks(self._recorded.account)
            self._take_over(self._bot)
            return self._bot.ask(request)
        if request.refused is None:
            self._refused = None
        if not self._is_over and (request.refused is None or self._refused is not None):
            self._ask_bot_too(request)
        return self._recorded.ask(request)

    def _ask_bot_too(self, request: ActionRequest) -> None:
        """Ask the bot; store its answer beside the recorded one if the step is wanted.

        Raises _AllAnswered after the last wanted answer, and when the bot has ended.
        """
        bot, asking = self._bot, self._asking
        number = min(request.step, len(asking.record.steps) + 1)  # also where several seats owe the last one
        is_wanted, refused = number in asking.steps, self._refused
        if is_wanted and refused is None:
            asking.before(bot, number)
        bot.account.copy_banks(self._recorded.account)
        budget = request.look_ahead and request.look_ahead.renew()
        fault, step = "", None
        reason, self._refused = None if refused is None else refusal_of(refused), None
        try:
            if refused is not None:
                bot.refuse(refused, number)
            step = self._decisions.ask_player(msgspec.structs.replace(request, look_ahead=budget, refused=reason), bot)
        except BotFault as error:
            fault = f"{error.code}: {error.message}"
            self._is_over = isinstance(error, Crashed) or not bot.is_reachable
            is_last = refused is not None or isinstance(error, OutOfTime) or number not in self._again
            self._refused = None if self._is_over or is_last else error
        if is_wanted:
            asking.answers[len(asking.answers) - (refused is not None) :] = [self._compare(request, step, fault)]
        if self._is_over or (self._refused is None and asking.steps and number >= asking.steps[-1]):
            raise _AllAnswered(f"the bot in place of {bot.player} ended at step {number}: {fault}")

    def _compare(self, request: ActionRequest, step: ActionStep | None, fault: str) -> BotAnswer:
        """Return the bot's answer beside the recorded one."""
        entry = self._bot.seat_record(self.terms)
        assert entry.requests, "it was asked"
        return msgspec.structs.replace(
            self._recorded_answer(request),
            answered="" if step is None else str(step.action),
            action=None if step is None else plain_action(step.action),
            fault=fault,
            note="" if step is None else step.note,
            cpu_ms=entry.requests.cpu_us[-1] / 1000 if entry.requests.cpu_us else 0.0,
            stderr="".join(part.text for part in entry.stderr or () if part.request == entry.moves),
        )

    def _recorded_answer(self, request: ActionRequest) -> BotAnswer:
        """Return the recorded answer, or the fault that ended the match; the bot's own answer is still empty."""
        record = self._asking.record
        if request.step > len(record.steps):
            assert record.fault is not None, "the match ended with the fault of the seat"
            code = str(record.termination)
            owed = printable(f"{code}: {record.fault.message}")
            return BotAnswer(len(record.steps) + 1, owed, None, recorded_fault=code, is_owed=True)
        recorded = record.steps[request.step - 1]
        assert isinstance(recorded, ActionStep), "a request leads to an action"
        action = self._game.parse(request.state, Seat(request.seat), msgspec.to_builtins(recorded.action))
        return BotAnswer(request.step, str(action), plain_action(recorded.action), recorded_fault=recorded.fallback_for)

    def refuse(self, fault: BotFault, step: int) -> None:
        """Report the refusal to the participant whose answers count."""
        self._counting_player.refuse(fault, step)

    def on_event(self, event: m.AnyEvent, before: Any, after: Any) -> None:
        """Report the event to the bot, and to the recorded player while its answers count."""
        if not self._asking.is_live:
            self._recorded.on_event(event, before, after)
        self._bot.on_event(event, before, after)

    def stop(self) -> None:
        """Stop the bot."""
        self._bot.stop()

    def finish(self, end: m.MatchEnd) -> None:
        """Report the end of the match to the participant whose answers count."""
        self._counting_player.finish(end)

    def fail(self, fault: BotFault) -> None:
        """Report the fault that ended the match to the participant whose answers count."""
        self._counting_player.fail(fault)

    def abandon(self) -> None:
        """Let the clock of the bot's request run out."""
        self._bot.abandon()

    def stderr(self) -> str:
        """Return the bot's text on stderr."""
        return self._bot.stderr()

    def seat_record(self, clock: m.ClockTerms) -> SeatRecord:
        """Return the record of the participant whose answers count; that of a live bot has no lines."""
        entry = self._counting_player.seat_record(clock)
        return msgspec.structs.replace(entry, lines=UNSET) if self._asking.is_live else entry


def plain_action(action: Any) -> Json:
    """Return the action as plain JSON values."""
    value: Json = msgspec.json.decode(msgspec.json.encode(action))
    return value
