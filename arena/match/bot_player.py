"""One bot at the table: its process, its session and its clock, over as many matches as it lives.

Rule: what a move may cost, and what it did cost, is known here. Everything a bot can do wrong is a `BotFault`; after
one that ends a match its process is ended, and the next match starts a new one.
"""

import math
import time
from collections import Counter, deque
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from msgspec import UNSET

from arena.errors import BotFault, MalformedReply, OutOfTime
from arena.match.dialogue import Dialogue, error_of
from arena.match.line_recorder import HELLO, READY, LineRecorder
from arena.match.lookahead import NO_LOOK_AHEAD
from arena.match.participant import ActionRequest, TranscriptLine
from arena.match.record import Requests, Said, SeatLines, fraction_written
from arena.match.settings import ClockSettings
from arena.process.channel import Channel
from arena.process.clock import MoveClock
from arena.process.suspension import WATCH
from arena.process.usage import own_delay_s
from arena.protocol.messages import (
    Answer,
    AnyEvent,
    EventMessage,
    Hello,
    MatchEnd,
    MatchStart,
    Quit,
    Request,
    TimeLeft,
    TimeUsed,
)

__all__ = ["GRACE_S", "BotPlayer", "TranscriptLine"]

GRACE_S: Final = 1.0
START_ATTEMPTS: Final = 2
TRANSCRIPT_LINES: Final = 20


class BotPlayer:
    """A player's bot. `open_channel` starts a fresh process; `hello` is what a new process is greeted with.

    `suspended` tells of suspensions, which make a match void; `never` where nobody could play it again.
    """

    is_person = False

    def __init__(
        self,
        *,
        player: str,
        bot: str,
        open_channel: Callable[[], Channel],
        hello: Hello,
        clock: ClockSettings,
        wall: Callable[[], float] = time.monotonic,
        suspended: Callable[[float], float] = WATCH.since,
        keep_transcript: bool = False,
    ) -> None:
        self.player = player
        self.bot = bot
        self._open_channel = open_channel
        self._hello = hello
        self._settings = clock
        self.terms = clock.terms()
        self._full_move_us, self._full_wall_s = round(self.terms.move_ms * 1000), self.terms.wall_ms / 1000
        self._wall = wall
        self.suspended = suspended
        self._decides_cpu = clock.decides == "cpu"
        self._talk: Dialogue | None = None
        self._answered_cpu_s: float | None = None
        self._failed_starts: list[BotFault] = []
        self._request_id = 0
        self._match = ""
        self._kept = LineRecorder()
        self._said_hello: Said | None = None
        self._reset()
        self.transcript: deque[TranscriptLine] = deque(maxlen=None if keep_transcript else TRANSCRIPT_LINES)
        self.last_stderr = ""

    def _reset(self) -> None:
        self.bank_us = round(self.terms.bank_ms * 1000)
        self.moves = 0
        self._cpu_us: list[int] = []
        self._wall_us: list[int] = []
        self._idle_us: list[int] = []
        self._stderr: list[int] = []
        self._stderr_bytes = 0
        self.idle_bank_s = math.inf if self.terms.idle_ms is UNSET else self.terms.idle_ms / 1000
        self.startup_us = 0
        self._kept = self._keep_lines(self._kept.form if self._talk is not None else ())
        self._first_id = self._request_id + 1
        self._is_new = False
        self.timeouts_by_load = 0
        self.ignored: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self._events: list[AnyEvent] = []
        self._move_us = 0
        self._clock: MoveClock | None = None
        self._is_abandoned = False

    @property
    def is_reachable(self) -> bool:
        """See Participant.is_reachable."""
        return self._talk is not None and self._talk.is_whole and self._talk.lost is None

    @property
    def requests(self) -> Requests:
        """See Participant.requests."""
        return Requests(
            cpu_us=tuple(self._cpu_us),
            wall_us=tuple(self._wall_us),
            idle_us=tuple(self._idle_us) if any(self._idle_us) else (),
            stderr=tuple(self._stderr) if any(self._stderr) else (),
            discarded=self._kept.discarded,
        )

    @property
    def lines(self) -> SeatLines:
        """See Participant.lines. The lines of a process's `hello` stand in the record of each of its matches."""
        kept, hello = self._kept, self._said_hello
        said = kept.said if hello is None else {**kept.said, HELLO: hello}
        return SeatLines(
            startup_ms=self._hello.limits.startup_ms,
            line_bytes=self._hello.limits.line_from_bot,
            checksum=kept.checksum,
            first_id=self._first_id,
            is_new=self._is_new,
            strict=self._settings.strict,
            form=kept.form,
            said=tuple(said[number] for number in sorted(said)),
            told=tuple(kept.faults),
            left_out=kept.left_out,
            lost_at=kept.lost_at,
        )

    def begin(self, start: MatchStart) -> None:
        """Start the process if there is none, announce the match and wait for `ready`.

        After START_ATTEMPTS matches in a row that it was not ready for, a bot forfeits the following ones unasked: a
        bot that never says a word would cost its league the whole start-up time in every match.
        """
        self._reset()
        self._match = start.match
        if len(self._failed_starts) >= START_ATTEMPTS:
            raise self._failed_starts[-1]
        try:
            if self._talk is None or self._talk.lost is not None:
                self._said_hello, self._is_new = None, True
                self._talk = self._start_process()
                self._prepare(self._talk, self._hello, HELLO)
                self._said_hello = self._kept.said.get(HELLO)
            self._talk.ignored, self._talk.kept = self.ignored, self._kept
            self._stderr_bytes = self._talk.channel.stderr_bytes()
            self._prepare(self._talk, start, READY)
        except BotFault as fault:
            self._failed_starts.append(fault)
            raise
        self._failed_starts.clear()

    def ask(self, question: ActionRequest) -> Answer:
        """The bot's answer to a request with this view, these actions, and the events since the last one."""
        talk = self._talking()
        wall_s = self._allow(question)
        request = self._request(question, talk)
        self._kept.open(self.moves + 1)
        talk.forget()
        self._events.clear()
        self._clock = clock = self._move_clock(talk.channel, wall_s)
        clock.idle_bank_s = self.idle_bank_s
        if self._is_abandoned:  # by another thread, before it could reach this clock
            clock.abandon()
        answer = None
        try:
            talk.ask(request, clock)
            answer = talk.hear(clock, question.look_ahead or NO_LOOK_AHEAD)
            clock.stop()
            talk.channel.rest()
            self._answered_cpu_s = None if self._settings.ponder else clock.cpu_reading
        except OutOfTime as late:
            late.hint = talk.unheard.told(request.id) or late.hint
            self.timeouts_by_load += late.is_by_load
            raise
        except MalformedReply:
            clock.look()
            raise
        finally:
            self._charge(clock, talk.channel.stderr_bytes())
            self._kept.close(request.id, None if answer is None else getattr(answer, "action", None))
        assert isinstance(answer, Answer), "the session lets only an answer through while thinking"
        return answer

    def refuse(self, fault: BotFault) -> None:
        """See Participant.refuse. The bot is stopped; what it still used of CPU time is charged to its next move."""
        self.faults[fault.code] += 1
        talk = self._talking()
        self._kept.fault(fault, is_fatal=False)
        assert self._clock is not None, "only what was asked for can be refused"
        self._answered_cpu_s = None if self._settings.ponder else self._clock.cpu_reading
        talk.channel.rest()
        talk.tell(error_of(fault, is_fatal=False))

    def abandon(self) -> None:
        """See Participant.abandon."""
        self._is_abandoned = True
        if self._clock is not None:
            self._clock.abandon()

    def happened(self, event: AnyEvent) -> None:
        """Tell the bot of an event: at once if it asked for that, with the next request otherwise."""
        talk = self._talk
        if talk is not None and talk.session.wants_events and talk.lost is None:
            talk.tell(EventMessage(match=self._match, what=event))
        else:
            self._events.append(event)

    def finish(
        self, *, ranks: tuple[int, ...], scores: tuple[Fraction, ...] | None, termination: str, at_fault: int | None
    ) -> None:
        """Tell the bot how the match ended. A bot that fails here loses nothing: its process is replaced."""
        if self._talk is None:
            return
        if at_fault is not None:
            self._kept.keep_answer()
        idle_us = sum(self._idle_us)
        end = MatchEnd(
            match=self._match,
            ranks=ranks,
            scores=None if scores is None else tuple([fraction_written(score) for score in scores]),
            termination=termination,
            at_fault=at_fault,
            events=tuple(self._events),
            time=TimeUsed(
                moves=self.moves,
                cpu_ms=sum(self._cpu_us) / 1000,
                wall_ms=sum(self._wall_us) / 1000,
                idle_ms=idle_us / 1000 if idle_us else UNSET,
            ),
        )
        self._talk.tell(end)

    def fail(self, fault: BotFault) -> None:
        """Tell the bot what it did wrong, for good, and end its process."""
        self._kept.fault(fault, is_fatal=True)
        if self._talk is None:
            return
        self._talk.tell(error_of(fault, is_fatal=True), patience_s=0.0)  # one that does not read is not waited for
        self.close(grace_s=0.0)

    def close(self, *, grace_s: float = GRACE_S, reason: str = "no more matches") -> str:
        """End the process, with a grace period after `quit`; how it ended, in words."""
        talk, self._talk = self._talk, None
        if talk is None:
            return "was not running"
        ending = "was not running"
        if talk.lost is None:
            if grace_s > 0:
                talk.tell(Quit(reason=reason, grace_ms=int(grace_s * 1000)))
            ending = "was killed" if talk.lost is not None else talk.close(grace_s)
        self.last_stderr = talk.stderr()
        return ending

    def stderr(self) -> str:
        """What the bot's process wrote to stderr, running or ended."""
        return self._talk.stderr() if self._talk is not None else self.last_stderr

    def _start_process(self) -> Dialogue:
        self.last_stderr = ""
        return Dialogue(
            self._open_channel(),
            wall=self._wall,
            suspended=self.suspended,
            is_strict=self._settings.strict,
            transcript=self.transcript,
            ignored=self.ignored,
            kept=self._kept,
        )

    def _talking(self) -> Dialogue:
        """The conversation, or the fault by which it was lost while a notice was sent."""
        talk = self._talk
        assert talk is not None, "a bot_player is asked only between begin and its failure or close"
        if talk.lost is not None:
            raise talk.lost
        return talk

    def _allow(self, question: ActionRequest) -> float:
        """Set what the move may use besides the bank; the backstop of wall time.

        Who is asked once more has what it left of both, so that nothing is gained by a first answer.
        """
        if self._is_abandoned:
            raise OutOfTime("the match was broken off")
        if question.refused is None or self._clock is None:
            self._move_us = self._full_move_us
            return self._full_wall_s
        self._move_us = max(0, self._move_us - _whole_us(self._clock.used_s))
        return self._clock.left_of_wall_s()

    def _request(self, question: ActionRequest, talk: Dialogue) -> Request:
        refused, look_ahead = question.refused, question.look_ahead
        self._request_id += 1
        return Request(
            id=self._request_id,
            match=self._match,
            view=question.view,
            events=tuple(self._events),
            legal=question.legal,
            clock=TimeLeft(
                move_ms=self.terms.move_ms if refused is None else self._move_us / 1000, bank_ms=self.bank_us / 1000
            ),
            refused=UNSET if refused is None else refused,
            simulations=look_ahead.left if look_ahead is not None and talk.session.may_simulate else UNSET,
        )

    def _prepare(self, talk: Dialogue, message: Hello | MatchStart, number: int) -> None:
        """Ask for `hello` or `ready`, for which a match has one time together; a move's CPU time counts from there."""
        self._kept.open(number)
        try:
            started = talk.ask_within_startup(
                message,
                self._settings.startup_ms / 1000,
                spent_s=self.startup_us / 1e6,
                decides_cpu=self._decides_cpu,
            )
        finally:
            self._kept.close()
        self.startup_us += _whole_us(started.used_s)
        self._answered_cpu_s = None if self._settings.ponder else started.cpu_s

    def _keep_lines(self, form: tuple[str, ...]) -> LineRecorder:
        """What keeps the lines of the match that begins, of a process whose answers had that form."""
        return LineRecorder(form)

    def _move_clock(self, channel: Channel, wall_s: float) -> MoveClock:
        """The clock of a request that is about to be sent."""
        return MoveClock(
            cpu=channel.cpu,
            wall=self._wall,
            budget_s=(self._move_us + self.bank_us) / 1e6,
            wall_s=wall_s,
            decides_cpu=self._decides_cpu,
            delayed=channel.delayed_s if self._decides_cpu else lambda: channel.delayed_s() + own_delay_s(),
            cpu_since=self._answered_cpu_s,
            suspended=self.suspended,
        )

    def _charge(self, clock: MoveClock, stderr_bytes: int) -> None:
        """Book what the request took, in whole microseconds: banks and sums follow from the record alone."""
        cpu_us, wall_us = _whole_us(clock.cpu_s), _whole_us(clock.elapsed_s)
        idle_us = min(_whole_us(clock.idle_s), max(0, wall_us - cpu_us)) if clock.asleep_s else 0
        self.moves += 1
        self._cpu_us.append(cpu_us)
        self._wall_us.append(wall_us)
        self._idle_us.append(idle_us)
        self._stderr.append(stderr_bytes - self._stderr_bytes)
        self._stderr_bytes = stderr_bytes
        self.idle_bank_s = max(0.0, self.idle_bank_s - idle_us / 1e6)
        beyond_us = (cpu_us if self._decides_cpu else wall_us) - self._move_us
        if beyond_us > 0:
            self.bank_us = max(0, self.bank_us - beyond_us)


def _whole_us(seconds: float) -> int:
    return round(seconds * 1e6)
