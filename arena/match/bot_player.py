"""A bot at the table: its process, its session and its clock, over as many matches as it lives.

Rule: the allowance and the cost of a move are known here. Each error of a bot is a `BotFault`; after one that ends a
match its process is ended, and the next match starts a new one.
"""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from arena.errors import BotFault, Crashed, MalformedReply, OutOfTime, ProtocolViolation
from arena.games.api import Game
from arena.match.dialogue import Dialogue, error_of
from arena.match.line_recorder import HELLO, READY, LineRecorder
from arena.match.participant import NO_LOOK_AHEAD, ActionRequest, Participant, TranscriptLine
from arena.match.record import Requests, Said, SeatLines, SeatRecord, sums_by_request
from arena.match.settings import ClockSettings
from arena.process.channel import QUICK_S, BoundedLog, Channel
from arena.process.clock import MoveClock
from arena.process.reaper import own_delay_s
from arena.process.suspension import WATCH
from arena.protocol import messages as m

GRACE_S: Final = 1.0
START_ATTEMPTS: Final = 2
TRANSCRIPT_LINES: Final = 20
QUIET_S: Final = 0.001
STOPPED: Final = 16
"""A bot that is charged more CPU time than QUIET_S for a request is stopped at that answer, and so many in all.

It may have used that time after its last answer. A Python bot clears up now and then, so none is stopped for ever.
"""


TAKEN: Final = 2
"""Requests of a match before which a bot used time while it was stopped: then it has evaded its stop on purpose."""


class BotPlayer(Participant):
    """A player's bot. `open_channel` starts a fresh process; `hello` greets a new process.

    `suspended` tells of suspensions, which make a match void; `never` where nobody could play it again. `kept_stderr`:
    the bytes of stderr that go into the record of a match, from both ends. Without `has_clock` answers may take any
    time.
    """

    clock_type: type[MoveClock] = MoveClock

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
        keep_transcript: bool = False,
    ) -> None:
        super().__init__(player, bot, clock.terms())
        self.kept_stderr, self.has_clock = 0, True
        self._open_channel = open_channel
        self._hello = hello
        self._settings = clock
        self._full_move_us, self._full_wall_s = round(self.terms.move_ms * 1000), self.terms.wall_ms / 1000
        self._wall = wall
        self.suspended = suspended
        self._decides_cpu = clock.decides == "cpu"
        self.may_run_on = self._decides_cpu and not clock.ponder
        self._stops = 0
        self._talk: Dialogue | None = None
        self._answered_cpu_s: float | None = None
        self._taken_s = 0.0
        self._failed_starts: list[BotFault] = []
        self._request_id = 0
        self._recorder = LineRecorder()
        self._said_hello: Said | None = None
        self.transcript: deque[TranscriptLine] = deque(maxlen=None if keep_transcript else TRANSCRIPT_LINES)
        self.last_stderr = ""
        self._reset("")

    def _reset(self, match: str) -> None:
        self._match = match
        self.bank_us = round(self.terms.bank_ms * 1000)
        self.idle_bank_s = math.inf if self.terms.idle_ms is UNSET else self.terms.idle_ms / 1000
        self.startup_us = self._move_us = self._stderr_bytes = 0
        self._spent: list[tuple[int, int, int, int]] = []
        self._recorder = self._new_recorder(() if self._talk is None else self._recorder.form)
        self._first_id = self._request_id + 1
        self._is_new = self._is_abandoned = self._wants_events = False
        self.timeouts_by_load = self._taken_times = 0
        self._events: list[m.AnyEvent] = []
        self._clock: MoveClock | None = None

    @property
    def is_reachable(self) -> bool:
        """Whether the last request has gone out whole to a process that lives."""
        return self._talk is not None and self._talk.is_whole and self._talk.lost is None

    def seat_record(self, clock: m.ClockTerms) -> SeatRecord:
        """The use of time, and all that its lines can be made from again."""
        cpu_us, wall_us, idle_us, stderr = self._by_request()
        requests = Requests(
            cpu_us=cpu_us,
            wall_us=wall_us,
            idle_us=idle_us if any(idle_us) else (),
            stderr=stderr if any(stderr) else (),
            discarded=self._recorder.discarded,
        )
        return SeatRecord(
            player=self.player,
            bot=self.bot,
            moves=self.moves,
            decides=self.terms.decides,
            startup_ms=self.startup_us / 1000 or UNSET,
            timeouts_by_load=self.timeouts_by_load or UNSET,
            requests=requests,
            lines=self._lines(clock),
            stderr=self._recorder.stderr_texts,
            **sums_by_request(requests, self.terms.decides),
        )

    def _by_request(self) -> tuple[tuple[int, ...], ...]:
        """By request: microseconds of CPU, wall and idle time, and bytes on stderr."""
        return tuple(zip(*self._spent, strict=True)) if self._spent else ((), (), (), ())

    def _lines(self, clock: m.ClockTerms) -> SeatLines:
        """The lines of a process's `hello` stand in the record of each of its matches."""
        recorder, hello = self._recorder, self._said_hello
        said = recorder.said if hello is None else {**recorder.said, HELLO: hello}
        return SeatLines(
            startup_ms=self._hello.limits.startup_ms,
            line_bytes=self._hello.limits.line_from_bot,
            checksum=recorder.checksum,
            first_id=self._first_id,
            is_new=self._is_new,
            strict=self._settings.strict,
            clock=UNSET if self.terms == clock else self.terms,
            form=recorder.form,
            said=tuple(said[number] for number in sorted(said)),
            told=tuple(recorder.faults),
            left_out=recorder.left_out,
            lost_at=recorder.lost_at,
        )

    def begin(self, start: m.MatchStart, game: Game[Any, Any]) -> None:
        """Start the process if there is none, announce the match and wait for `ready`.

        After START_ATTEMPTS matches in a row that it was not ready for, a bot forfeits the following ones unasked: a
        bot that never says a word would cost its league the whole start-up time in every match.
        """
        super().begin(start, game)
        self._reset(start.match)
        if len(self._failed_starts) >= START_ATTEMPTS:
            raise self._failed_starts[-1]
        try:
            talk = self._talk
            if talk is None or talk.lost is not None:
                talk = self.start_process()
            talk.recorder, self._wants_events = self._recorder, talk.session.wants_events
            self._copy_stderr(talk.channel)
            self._stderr_bytes = talk.channel.stderr_bytes()
            self._prepare(talk, start, READY)
        except BotFault as fault:
            self._failed_starts.append(fault)
            raise
        self._failed_starts.clear()

    def ask(self, request: ActionRequest) -> m.Answer:
        """The bot's answer to a request with this view, these actions, and the events since the last one."""
        talk = self._talking()
        if self._is_abandoned:
            raise OutOfTime("the match was broken off")
        message, wall_s = self._request(request, talk)
        self._recorder.open(self.moves + 1)
        talk.forget()
        self._events.clear()
        self._clock = clock = self._move_clock(talk.channel, wall_s)
        clock.stop_others = request.stop_others if self.is_quick else None
        if self._is_abandoned:  # by another thread, before it could reach this clock
            clock.abandon()
        answer = None
        try:
            talk.ask(message, clock)
            if talk.channel.taken_s != self._taken_s:
                self._charge_taken(talk.channel.taken_s, clock)
            answer = talk.hear(m.Answer, clock, request.look_ahead or NO_LOOK_AHEAD)
            clock.stop()
            if clock.cpu_s > QUIET_S:
                self._stops = STOPPED
            elif self._stops:
                self._stops -= 1
            if request.runs_on and not self._stops:
                talk.channel.run_on()
            else:
                talk.channel.rest()
        except OutOfTime as late:
            late.hint = talk.discarded.explanation(message.id) or late.hint
            self.timeouts_by_load += late.is_by_load
            raise
        except MalformedReply:
            clock.look()
            raise
        finally:
            self.is_quick = clock.elapsed_s < QUICK_S
            if not self.is_quick and request.stop_others is not None:
                request.stop_others()  # nobody looks for a quick answer at its next request
            self._charge(clock, talk.channel.stderr_bytes())
            self._recorder.close(message.id, None if answer is None else answer.action)
        return answer

    def _charge_taken(self, taken_in_all_s: float, clock: MoveClock) -> None:
        """Charge what the bot used while it was stopped. ProtocolViolation if that is no accident."""
        taken_s, self._taken_s = taken_in_all_s - self._taken_s, taken_in_all_s
        self._taken_times += 1
        clock.charge(taken_s)
        if self._taken_times >= TAKEN:
            raise ProtocolViolation(
                f"used {taken_s * 1000:.0f} ms of CPU time while it was stopped, before request {self._request_id},"
                " and in this match not for the first time",
                hint="a bot that is not on move is stopped: whatever lets it run on is an evasion",
            )

    def refuse(self, fault: BotFault, step: int) -> None:
        """Tell the bot, and stop it; the CPU time that it still used is charged to its next move."""
        super().refuse(fault, step)
        talk = self._talking()
        self._recorder.fault(fault, is_fatal=False)
        talk.channel.rest()
        talk.tell(error_of(fault, is_fatal=False))

    def abandon(self) -> None:
        """Let the clock of the open request run out, or of the next one."""
        self._is_abandoned = True
        if self._clock is not None:
            self._clock.abandon()

    def happened(self, event: m.AnyEvent, before: Any, after: Any) -> None:  # noqa: ARG002 - a bot gets observations
        """Tell the bot of an event: at once if it asked for that, with the next request otherwise."""
        if self._wants_events and (talk := self._talk) is not None and talk.lost is None:
            talk.tell(m.EventMessage(match=self._match, what=event))
        else:
            self._events.append(event)

    def stop(self) -> None:
        """Stop the bot, if it runs on after an answer."""
        if self._talk is not None and self._talk.lost is None:
            self._talk.channel.stop()

    def finish(self, end: m.MatchEnd) -> None:
        """Tell the bot the end of the match. A bot that fails here loses nothing: its process is replaced."""
        self.stop()
        if self._talk is None:
            return
        if end.at_fault is not None:
            self._recorder.keep_answer()
        cpu_ms, wall_ms, idle_ms, _ = [sum(each) / 1000 for each in self._by_request()]
        time_used = m.TimeUsed(self.moves, cpu_ms, wall_ms, idle_ms or UNSET)
        self._talk.tell(replace(end, events=tuple(self._events), time=time_used))

    def fail(self, fault: BotFault) -> None:
        """Tell the bot its fault, for good, and end its process."""
        self._recorder.fault(fault, is_fatal=True)
        if self._talk is not None:
            self._talk.tell(error_of(fault, is_fatal=True), patience_s=0.0)  # one that does not read is not waited for
            self.close(grace_s=0.0)

    def close(self, *, grace_s: float = GRACE_S) -> str:
        """End the process, with a grace period after `quit`; the way it ended, in words."""
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
        """The stderr of the bot's process, running or ended."""
        return self.last_stderr if self._talk is None else self._talk.channel.stderr()

    def start_process(self) -> Dialogue:
        """The dialogue with a new process that has said hello. Raises BotFault."""
        self.last_stderr, self._said_hello, self._is_new = "", None, True
        self._answered_cpu_s, self._stops, self._taken_s = None, 0, 0.0
        channel = self._open_channel()
        self._copy_stderr(channel)
        self._talk = Dialogue(
            channel,
            wall=self._wall,
            suspended=self.suspended,
            is_strict=self._settings.strict,
            transcript=self.transcript,
            recorder=self._recorder,
        )
        self._prepare(self._talk, self._hello, HELLO)
        self._said_hello = self._recorder.said.get(HELLO)
        return self._talk

    def pids(self) -> set[int]:
        """Those of the processes that run its program now."""
        return set() if self._talk is None else self._talk.channel.pids()

    def _copy_stderr(self, channel: Channel) -> None:
        """Let the record of this match have what the bot writes to stderr from now on, if it is kept."""
        if self._recorder.stderr is not None:
            channel.copy_stderr(self._recorder.stderr)

    def _talking(self) -> Dialogue:
        """The dialogue with the process, or the fault for which there is none."""
        talk = self._talk
        if talk is None:
            raise Crashed("its process is not running")
        if talk.lost is not None:
            raise talk.lost
        return talk

    def _request(self, request: ActionRequest, talk: Dialogue) -> tuple[m.Request, float]:
        """The message, and the backstop of wall time; sets the move's time besides the bank.

        A request that is made once more has the rest of both, so that nothing is gained by a first answer.
        """
        refused, look_ahead, clock = request.refused, request.look_ahead, self._clock
        if refused is None or clock is None:
            self._move_us, wall_s, left = self._full_move_us, self._full_wall_s, self.terms.move_ms
        else:
            self._move_us, wall_s = max(0, self._move_us - round(clock.used_s * 1e6)), clock.left_of_wall_s()
            left = self._move_us / 1000
        self._request_id += 1
        message = m.Request(
            id=self._request_id,
            match=self._match,
            view=request.view,
            events=tuple(self._events),
            legal=request.legal,
            clock=m.TimeLeft(left, self.bank_us / 1000),
            refused=UNSET if refused is None else refused,
            simulations=look_ahead.left if look_ahead is not None and talk.session.may_simulate else UNSET,
        )
        return message, wall_s

    def _prepare(self, talk: Dialogue, message: m.Hello | m.MatchStart, number: int) -> None:
        """Ask for `hello` or `ready`, for which a match has one time together; a move's CPU time counts from there."""
        self._recorder.open(number)
        try:
            used_s, cpu_s = talk.ask_within_startup(
                message,
                self._settings.startup_ms / 1000,
                spent_s=self.startup_us / 1e6,
                decides_cpu=self._decides_cpu,
                cpu_since=self._answered_cpu_s,
            )
        finally:
            self._recorder.close()
        self.startup_us += round(used_s * 1e6)
        self._answered_cpu_s = None if self._settings.ponder else cpu_s

    def _new_recorder(self, form: tuple[str, ...]) -> LineRecorder:
        """The recorder of the match that begins, of a process whose answers had that form."""
        return LineRecorder(form, BoundedLog(self.kept_stderr // 2) if self.kept_stderr else None)

    def _move_clock(self, channel: Channel, wall_s: float) -> MoveClock:
        """The clock of a request that is about to be sent: that of the match, started anew."""
        clock = self._clock or self._new_clock(channel)
        if self.has_clock:
            clock.start((self._move_us + self.bank_us) / 1e6, wall_s, self.idle_bank_s, self._answered_cpu_s)
        else:
            clock.start(math.inf, math.inf, math.inf, self._answered_cpu_s)
        return clock

    def _new_clock(self, channel: Channel) -> MoveClock:
        return self.clock_type(
            cpu=channel.cpu,
            wall=self._wall,
            budget_s=math.inf,
            wall_s=math.inf,
            decides_cpu=self._decides_cpu,
            delayed=channel.delayed_s if self._decides_cpu else lambda: channel.delayed_s() + own_delay_s(),
            suspended=self.suspended,
        )

    def _charge(self, clock: MoveClock, stderr_bytes: int) -> None:
        """Book the time of the request, in whole microseconds: banks and sums follow from the record alone."""
        cpu_us, wall_us, idle_us = round(clock.cpu_s * 1e6), round(clock.elapsed_s * 1e6), 0
        if clock.asleep_s:
            idle_us = min(round(clock.idle_s * 1e6), max(0, wall_us - cpu_us))
            self.idle_bank_s = max(0.0, self.idle_bank_s - idle_us / 1e6)
        self.moves += 1
        self._spent.append((cpu_us, wall_us, idle_us, stderr_bytes - self._stderr_bytes))
        self._stderr_bytes = stderr_bytes
        self._answered_cpu_s = None if self._settings.ponder else clock.cpu_reading
        beyond_us = (cpu_us if self._decides_cpu else wall_us) - self._move_us
        if beyond_us > 0:
            self.bank_us = max(0, self.bank_us - beyond_us)
