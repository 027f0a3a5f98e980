"""A bot as a player: its process and its dialogue, over all matches that the process plays.

Rule: each error of a bot is a `BotFault`; after one that ends a match its process is ended, and the next match starts
a new one. Its time is kept by `clock_account`, its starts by `start_up`.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from arena.errors import BotFault, Crashed, MalformedReply, OutOfTime
from arena.games.api import Game
from arena.match.clock_account import ClockAccount
from arena.match.dialogue import Dialogue, M, error_of
from arena.match.line_recorder import HELLO, LineRecorder
from arena.match.participant import NO_LOOK_AHEAD, ActionRequest, Participant, TranscriptLine
from arena.match.record import SeatLines, SeatRecord, sums_by_request
from arena.match.run_on import Pace
from arena.match.settings import ClockSettings
from arena.match.start_up import StartUp
from arena.process.channel import BoundedLog, Channel
from arena.process.suspension import WATCH
from arena.protocol import messages as m

GRACE_S: Final = 1.0
TRANSCRIPT_LINES: Final = 20


class BotPlayer(Participant):
    """A player's bot. `open_channel` starts a fresh process; `hello` greets a new process.

    `kept_stderr`: the bytes of stderr that go into the record of a match, from both ends. `account` keeps its time.
    """

    def __init__(
        self,
        *,
        player: str,
        bot: str,
        open_channel: Callable[[], Channel],
        hello: m.Hello,
        clock: ClockSettings,
        wall: Callable[[], float] = time.monotonic,
        suspended: Callable[[float], float] = WATCH.since,
    ) -> None:
        super().__init__(player, bot, clock.terms())
        self.account = ClockAccount(clock, wall, suspended)
        self.start_up = StartUp(open_channel, hello, clock.startup_ms / 1000, self.account)
        self.pace = Pace() if clock.decides == "cpu" and not clock.ponder else None
        self.kept_stderr = 0
        self.transcript: deque[TranscriptLine] = deque(maxlen=TRANSCRIPT_LINES)
        self.last_stderr = ""
        self._is_strict = clock.strict
        self._talk: Dialogue | None = None
        self._request_id = 0
        self._recorder = LineRecorder()
        self._begin_records("")

    def _begin_records(self, match: str) -> None:
        """Begin account and records of the next match, whose id for the bot is `match`."""
        self._match = match
        self.account.begin_match()
        self._recorder = self._new_recorder(() if self._talk is None else self._recorder.form)
        self._first_id = self._request_id + 1
        self._wants_events = False
        self._events: list[m.AnyEvent] = []

    @property
    def is_reachable(self) -> bool:
        """True if the last request has gone out whole to a process that still runs."""
        return self._talk is not None and self._talk.is_whole and self._talk.lost is None

    @property
    def bank_ms(self) -> float:
        """The milliseconds in the bot's bank."""
        return self.account.bank_us / 1000

    def seat_record(self, clock: m.ClockTerms) -> SeatRecord:
        """Return the record of the seat: its use of time, and what all lines can be rebuilt from."""
        account, recorder = self.account, self._recorder
        requests = account.requests(recorder.discarded)
        return SeatRecord(
            player=self.player,
            bot=self.bot,
            moves=self.moves,
            decides=self.terms.decides,
            startup_ms=account.startup_us / 1000 or UNSET,
            timeouts_by_load=account.timeouts_by_load or UNSET,
            requests=requests,
            lines=self._kept_lines(clock),
            stderr=recorder.stderr_texts,
            **sums_by_request(requests, self.terms.decides),
        )

    def _kept_lines(self, clock: m.ClockTerms) -> SeatLines:
        """Return the kept lines, with those of the process's `hello` even if it came in an earlier match."""
        recorder, hello, limits = self._recorder, self.start_up.said_hello, self.start_up.hello.limits
        said = recorder.said if hello is None else {**recorder.said, HELLO: hello}
        return SeatLines(
            startup_ms=limits.startup_ms,
            line_bytes=limits.line_from_bot,
            checksum=recorder.checksum,
            first_id=self._first_id,
            is_new=self.start_up.is_new,
            strict=self._is_strict,
            clock=UNSET if self.terms == clock else self.terms,
            form=recorder.form,
            said=tuple(said[number] for number in sorted(said)),
            told=tuple(recorder.faults),
            left_out=recorder.left_out,
            lost_at=recorder.lost_at,
        )

    def begin(self, start: m.MatchStart, game: Game[Any, Any]) -> None:
        """Start a process if none runs, announce the match and wait for `ready`. Raises BotFault."""
        super().begin(start, game)
        self._begin_records(start.match)
        with self.start_up.attempt():
            talk = self._talk
            if talk is None or talk.lost is not None:
                talk = self.start_process()
            talk.recorder, self._wants_events = self._recorder, talk.session.wants_events
            self._copy_stderr(talk.channel)
            talk.channel.before_wait(None)
            self.account.stderr_bytes = talk.channel.stderr_bytes()
            self.start_up.announce(talk, start)

    def ask(self, request: ActionRequest) -> m.Answer:
        """Send a request, with the events since the last one; return the answer. Raises BotFault."""
        return self._exchange(self._make_request(request), m.Answer, request)

    def evaluate(self, request: ActionRequest) -> m.Evaluation:
        """Return the bot's values of the legal actions of a request, which it is not asked to answer. Raises BotFault.

        It counts as a request: its time is charged, and the events since the last one are sent with it.
        """
        assert request.legal is not None, "actions that no list holds have no values"
        budget_ms, self._request_id = self.account.allow(is_again=False).move_ms, self._request_id + 1
        events = tuple(self._events)
        message = m.Evaluate(self._request_id, self._match, request.view, events, request.legal, budget_ms)
        return self._exchange(message, m.Evaluation, request)

    def _exchange(self, message: m.Request | m.Evaluate, owed: type[M], request: ActionRequest) -> M:
        """Send a message; return the reply that is owed to it, after which the bot may be stopped.

        The use of time and the lines are booked, also after a fault. Raises BotFault.
        """
        talk = self._require_dialogue()
        self._recorder.open(self.moves + 1)
        talk.begin_request()
        self._events.clear()
        account, channel, run_on = self.account, talk.channel, request.run_on
        clock = account.start(channel)
        channel.before_wait(None if run_on is None else run_on.before_wait(request.seat))
        answer = None
        try:
            talk.ask(message, clock)
            if channel.taken_s != account.taken_s:
                account.charge_taken(clock, channel.taken_s, message.id)
            answer = talk.hear(owed, clock, request.look_ahead or NO_LOOK_AHEAD)
            clock.stop()
            if run_on is not None and run_on.may_run_on(request.seat, clock.cpu_s):
                channel.run_on()
            else:
                channel.rest()
        except OutOfTime as late:
            late.hint = talk.discarded.explain(message.id) or late.hint
            account.timeouts_by_load += late.is_by_load
            raise
        except MalformedReply:
            clock.look()
            raise
        finally:
            if run_on is not None:
                run_on.end_turn(request.seat, clock.elapsed_s)
            self.moves += 1
            account.book(clock, channel.stderr_bytes())
            self._recorder.close(message.id, answer.action if isinstance(answer, m.Answer) else None)
        return answer

    def _make_request(self, request: ActionRequest) -> m.Request:
        """Allow the time of the next request, and return its message; OutOfTime if the match was broken off."""
        talk, refused, look_ahead = self._require_dialogue(), request.refused, request.look_ahead
        time_left = self.account.allow(is_again=refused is not None)
        if request.banks_ms:  # its own one may be lower by now, by a first answer that was refused
            own, seat = time_left.bank_ms, request.seat
            time_left = replace(time_left, banks_ms=(*request.banks_ms[:seat], own, *request.banks_ms[seat + 1 :]))
        self._request_id += 1
        return m.Request(
            id=self._request_id,
            match=self._match,
            view=request.view,
            events=tuple(self._events),
            legal=request.legal,
            clock=time_left,
            refused=UNSET if refused is None else refused,
            simulations=look_ahead.left if look_ahead is not None and talk.session.may_simulate else UNSET,
        )

    def refuse(self, fault: BotFault, step: int) -> None:
        """Send the refusal to the bot, and stop it; CPU time that it still uses is charged to its next move."""
        super().refuse(fault, step)
        talk = self._require_dialogue()
        self._recorder.fault(fault, is_fatal=False)
        talk.channel.rest()
        talk.tell(error_of(fault, is_fatal=False))

    def abandon(self) -> None:
        """Let the clock of the open request run out, or of the next one."""
        self.account.abandon()

    def on_event(self, event: m.AnyEvent, before: Any, after: Any) -> None:  # noqa: ARG002 - a bot gets observations
        """Report an event to the bot: at once if it asked for that, otherwise with the next request."""
        if self._wants_events and (talk := self._talk) is not None and talk.lost is None:
            talk.tell(m.EventMessage(match=self._match, what=event))
        else:
            self._events.append(event)

    def stop(self) -> None:
        """Stop the bot, if it runs on after an answer."""
        if self._talk is not None and self._talk.lost is None:
            self._talk.channel.stop()

    def finish(self, end: m.MatchEnd) -> None:
        """Send the end of the match to the bot. A bot that fails here loses nothing: its process is replaced."""
        self.stop()
        if self._talk is None:
            return
        if end.at_fault is not None:
            self._recorder.keep_answer()
        self._talk.tell(replace(end, events=tuple(self._events), time=self.account.used()))

    def fail(self, fault: BotFault) -> None:
        """Send the bot the fault that ended the match, and end its process."""
        self._recorder.fault(fault, is_fatal=True)
        if self._talk is not None:
            self._talk.tell(error_of(fault, is_fatal=True), patience_s=0.0)  # do not wait for a bot that does not read
            self.close(grace_s=0.0)

    def close(self, *, grace_s: float = GRACE_S) -> str:
        """End the process, with a grace period after `quit`; return how it ended, in words, also if there was none."""
        talk, self._talk = self._talk, None
        if talk is None:
            return "was not running"
        ending = "was not running"
        if talk.lost is None:
            if grace_s > 0:
                talk.tell(m.Quit(reason="no more matches", grace_ms=int(grace_s * 1000)))
            ending = "was killed" if talk.lost is not None else talk.channel.close(grace_s)
        self.last_stderr = talk.channel.stderr()
        return ending

    def stderr(self) -> str:
        """Return the stderr of the bot's process, running or ended."""
        return self.last_stderr if self._talk is None else self._talk.channel.stderr()

    @property
    def may_evaluate(self) -> bool:
        """True if the running process has the capability to evaluate."""
        return self._talk is not None and self._talk.session.may_evaluate

    def start_process(self) -> Dialogue:
        """Return the dialogue with a new process that has said hello. Raises BotFault."""
        self.last_stderr = ""
        channel = self.start_up.open()
        self._copy_stderr(channel)
        self._talk = Dialogue(
            channel,
            wall=self.account.wall,
            is_strict=self._is_strict,
            transcript=self.transcript,
            recorder=self._recorder,
        )
        self.start_up.greet(self._talk)
        return self._talk

    def pids(self) -> set[int]:
        """Return the process ids of the bot."""
        return set() if self._talk is None else self._talk.channel.pids()

    def _copy_stderr(self, channel: Channel) -> None:
        """Copy later stderr of the process into the record of this match, if that keeps stderr."""
        if self._recorder.stderr is not None:
            channel.copy_stderr(self._recorder.stderr)

    def _require_dialogue(self) -> Dialogue:
        """Return the dialogue with the process; raise the fault for which there is none."""
        talk = self._talk
        if talk is None:
            raise Crashed("its process is not running")
        if talk.lost is not None:
            raise talk.lost
        return talk

    def _new_recorder(self, form: tuple[str, ...]) -> LineRecorder:
        """Return a recorder for the next match; `form` is that of the process's earlier answers by index."""
        return LineRecorder(form, BoundedLog(self.kept_stderr // 2) if self.kept_stderr else None)
