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
from arena.match.conversation import Conversation, error_of
from arena.match.lookahead import NO_LOOK_AHEAD
from arena.match.participant import Question, TranscriptLine
from arena.match.record import fraction_written
from arena.match.terms import ClockSettings
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

__all__ = ["GRACE_S", "Contestant", "TranscriptLine"]

GRACE_S: Final = 1.0
START_ATTEMPTS: Final = 2
TRANSCRIPT_LINES: Final = 20


class Contestant:
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
        self._full_move_s, self._full_wall_s = self.terms.move_ms / 1000, self.terms.wall_ms / 1000
        self._wall = wall
        self.suspended = suspended
        self._decides_cpu = clock.decides == "cpu"
        self._talk: Conversation | None = None
        self._answered_cpu_s: float | None = None
        self._failed_starts: list[BotFault] = []
        self._request_id = 0
        self._match = ""
        self._reset()
        self.transcript: deque[TranscriptLine] = deque(maxlen=None if keep_transcript else TRANSCRIPT_LINES)
        self.last_stderr = ""

    def _reset(self) -> None:
        self.bank_s = self.terms.bank_ms / 1000
        self.moves = 0
        self.cpu_s = 0.0
        self.wall_s = 0.0
        self.slowest_s = 0.0
        self.idle_s = 0.0
        self.idle_bank_s = math.inf if self.terms.idle_ms is UNSET else self.terms.idle_ms / 1000
        self.startup_s = 0.0
        self.timeouts_by_load = 0
        self.ignored: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self._events: list[AnyEvent] = []
        self._move_s = 0.0
        self._clock: MoveClock | None = None
        self._is_abandoned = False

    @property
    def is_reachable(self) -> bool:
        """See Participant.is_reachable."""
        return self._talk is not None and self._talk.is_whole and self._talk.lost is None

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
                self._talk = self._start_process()
                self._prepare(self._talk, self._hello)
            self._talk.ignored = self.ignored
            self._prepare(self._talk, start)
        except BotFault as fault:
            self._failed_starts.append(fault)
            raise
        self._failed_starts.clear()

    def ask(self, question: Question) -> Answer:
        """The bot's answer to a request with this view, these actions, and the events since the last one."""
        talk = self._talking()
        wall_s = self._allow(question)
        request = self._request(question, talk)
        talk.forget()
        self._events.clear()
        self._clock = clock = MoveClock(
            cpu=talk.channel.cpu,
            wall=self._wall,
            budget_s=self._move_s + self.bank_s,
            wall_s=wall_s,
            decides_cpu=self._decides_cpu,
            delayed=talk.channel.delayed_s if self._decides_cpu else lambda: talk.channel.delayed_s() + own_delay_s(),
            cpu_since=self._answered_cpu_s,
            suspended=self.suspended,
        )
        clock.idle_bank_s = self.idle_bank_s
        if self._is_abandoned:  # by another thread, before it could reach this clock
            clock.abandon()
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
            self._charge(clock)
        assert isinstance(answer, Answer), "the session lets only an answer through while thinking"
        return answer

    def refuse(self, fault: BotFault) -> None:
        """See Participant.refuse. The bot is stopped; what it still used of CPU time is charged to its next move."""
        self.faults[fault.code] += 1
        talk = self._talking()
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
        end = MatchEnd(
            match=self._match,
            ranks=ranks,
            scores=None if scores is None else tuple([fraction_written(score) for score in scores]),
            termination=termination,
            at_fault=at_fault,
            events=tuple(self._events),
            time=TimeUsed(
                moves=self.moves,
                cpu_ms=round(self.cpu_s * 1000, 3),
                wall_ms=round(self.wall_s * 1000, 3),
                idle_ms=round(self.idle_s * 1000, 3) if self.idle_s else UNSET,
            ),
        )
        self._talk.tell(end)

    def fail(self, fault: BotFault) -> None:
        """Tell the bot what it did wrong, for good, and end its process."""
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

    def _start_process(self) -> Conversation:
        self.last_stderr = ""
        return Conversation(
            self._open_channel(),
            wall=self._wall,
            suspended=self.suspended,
            is_strict=self._settings.strict,
            transcript=self.transcript,
            ignored=self.ignored,
        )

    def _talking(self) -> Conversation:
        """The conversation, or the fault by which it was lost while a notice was sent."""
        talk = self._talk
        assert talk is not None, "a contestant is asked only between begin and its failure or close"
        if talk.lost is not None:
            raise talk.lost
        return talk

    def _allow(self, question: Question) -> float:
        """Set what the move may use besides the bank; the backstop of wall time.

        Who is asked once more has what it left of both, so that nothing is gained by a first answer.
        """
        if self._is_abandoned:
            raise OutOfTime("the match was broken off")
        if question.refused is None or self._clock is None:
            self._move_s = self._full_move_s
            return self._full_wall_s
        self._move_s = max(0.0, self._move_s - self._clock.used_s)
        return self._clock.left_of_wall_s()

    def _request(self, question: Question, talk: Conversation) -> Request:
        refused, look_ahead = question.refused, question.look_ahead
        self._request_id += 1
        return Request(
            id=self._request_id,
            match=self._match,
            view=question.view,
            events=tuple(self._events),
            legal=question.legal,
            clock=TimeLeft(
                move_ms=self.terms.move_ms if refused is None else self._move_s * 1000, bank_ms=self.bank_s * 1000
            ),
            refused=UNSET if refused is None else refused,
            simulations=look_ahead.left if look_ahead is not None and talk.session.may_simulate else UNSET,
        )

    def _prepare(self, talk: Conversation, message: Hello | MatchStart) -> None:
        """Ask for `hello` or `ready`, for which a match has one time together; a move's CPU time counts from there."""
        started = talk.ask_within_startup(
            message,
            self._settings.startup_ms / 1000,
            spent_s=self.startup_s,
            decides_cpu=self._decides_cpu,
        )
        self.startup_s += started.used_s
        self._answered_cpu_s = None if self._settings.ponder else started.cpu_s

    def _charge(self, clock: MoveClock) -> None:
        used_s = clock.used_s
        self.moves += 1
        self.cpu_s += clock.cpu_s
        self.wall_s += clock.elapsed_s
        self.slowest_s = max(self.slowest_s, used_s)
        if clock.asleep_s:
            idle_s = clock.idle_s
            self.idle_s += idle_s
            self.idle_bank_s = max(0.0, self.idle_bank_s - idle_s)
        if used_s > self._move_s:
            self.bank_s = max(0.0, self.bank_s - (used_s - self._move_s))
