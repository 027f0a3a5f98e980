"""One bot at the table: its process, its session and its clock, over as many matches as it lives.

Rule: the only module where a line, a message and a deadline meet. It turns everything a bot can do wrong into a
`BotFault`; after a fault its process is ended, and the next match starts a new one.
"""

import math
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from arena.errors import BotFault, Crashed, MalformedReply, OutOfTime, ProtocolViolation
from arena.match.terms import ClockSettings
from arena.match.unheard import Unheard
from arena.process.channel import Channel
from arena.process.clock import MoveClock
from arena.protocol import codec
from arena.protocol.messages import (
    ActionEvent,
    Answer,
    ChanceEvent,
    ErrorMessage,
    EventMessage,
    FromBot,
    Hello,
    MatchEnd,
    MatchStart,
    Quit,
    Request,
    TimeLeft,
    TimeUsed,
    ToBot,
)
from arena.protocol.session import Session

GRACE_S: Final = 1.0
START_ATTEMPTS: Final = 2
TRANSCRIPT_LINES: Final = 20
_NOTICE_S: Final = 1.0
"""Wall time a bot has to take a line that asks nothing of it."""
_USELESS_LIMIT: Final = 10_000
"""Lines that count for nothing before the one that counts. More are a flood: it costs the referee more than the bot."""
_USELESS_KEPT: Final = 1000
"""Lines that count for nothing, before one that counts, in the transcript: a flood must not fill the memory."""

TranscriptLine = tuple[float, str, bytes]
"""Wall-clock seconds, `>` to the bot or `<` from it, the line."""


class Contestant:
    """A player's bot. `open_channel` starts a fresh process; `hello` is what a new process is greeted with."""

    def __init__(
        self,
        *,
        player: str,
        bot: str,
        open_channel: Callable[[], Channel],
        hello: Hello,
        clock: ClockSettings,
        wall: Callable[[], float] = time.monotonic,
        keep_transcript: bool = False,
    ) -> None:
        self.player = player
        self.bot = bot
        self._open_channel = open_channel
        self._hello = hello
        self._settings = clock
        self.terms = clock.terms()
        self._wall = wall
        self._decides_cpu = clock.decides == "cpu"
        self._channel: Channel | None = None
        self._lost: BotFault | None = None
        self._answered_cpu_s: float | None = None
        self._failed_starts: list[BotFault] = []
        self._session = Session()
        self._request_id = 0
        self._match = ""
        self._unheard = Unheard()
        self._reset()
        self.transcript: deque[TranscriptLine] = deque(maxlen=None if keep_transcript else TRANSCRIPT_LINES)
        self.last_stderr = ""

    def _reset(self) -> None:
        self.bank_s = self.terms.bank_ms / 1000
        self.moves = 0
        self.cpu_s = 0.0
        self.wall_s = 0.0
        self.slowest_s = 0.0
        self.ignored: Counter[str] = Counter()
        self._events: list[ActionEvent | ChanceEvent] = []

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
            if self._channel is None:
                self._start_process()
            self._ask_within_startup(start)
        except BotFault as fault:
            self._failed_starts.append(fault)
            raise
        self._failed_starts.clear()

    def ask(self, view: dict[str, Any], legal: tuple[Any, ...] | None) -> Answer:
        """The bot's answer to a request with this view, these actions, and the events since the last one."""
        channel = self._running()
        move_s = self.terms.move_ms / 1000
        self._request_id += 1
        request = Request(
            id=self._request_id,
            match=self._match,
            view=view,
            events=tuple(self._events),
            legal=legal,
            clock=TimeLeft(move_ms=self.terms.move_ms, bank_ms=self.bank_s * 1000),
        )
        self._unheard = Unheard()
        early = channel.pending()
        if early:
            self._ignore_early(early)
        self._events.clear()
        self._session.send(request)
        line = codec.encode(request)
        clock = MoveClock(
            cpu=channel.cpu,
            wall=self._wall,
            budget_s=move_s + self.bank_s,
            wall_s=self.terms.wall_ms / 1000,
            decides_cpu=self._decides_cpu,
            delayed=channel.delayed_s,
            cpu_since=self._answered_cpu_s,
        )
        try:
            self.transcript.append((self._wall(), ">", line))
            channel.wake()
            channel.send(line, clock)
            answer = self._answer(channel, clock)
            clock.stop()
            channel.rest()
            self._answered_cpu_s = None if self._settings.ponder else clock.cpu_reading
        except OutOfTime as late:
            late.hint = self._unheard.told(request.id) or late.hint
            raise
        finally:
            self._charge(clock, move_s)
        assert isinstance(answer, Answer), "the session lets only an answer through while thinking"
        return answer

    def happened(self, event: ActionEvent | ChanceEvent) -> None:
        """Tell the bot of an event: at once if it asked for that, with the next request otherwise."""
        if self._session.wants_events and self._channel is not None:
            self._notify(EventMessage(match=self._match, what=event))
        else:
            self._events.append(event)

    def finish(
        self, *, ranks: tuple[int, ...], scores: tuple[int, ...] | None, termination: str, at_fault: int | None
    ) -> None:
        """Tell the bot how the match ended. A bot that fails here loses nothing: its process is replaced."""
        if self._channel is None:
            return
        end = MatchEnd(
            match=self._match,
            ranks=ranks,
            scores=scores,
            termination=termination,
            at_fault=at_fault,
            events=tuple(self._events),
            time=TimeUsed(moves=self.moves, cpu_ms=round(self.cpu_s * 1000, 3), wall_ms=round(self.wall_s * 1000, 3)),
        )
        self._notify(end)

    def fail(self, fault: BotFault) -> None:
        """Tell the bot what it did wrong, for good, and end its process."""
        if self._channel is None:
            return
        self._notify(_error_of(fault, is_fatal=True), patience_s=0.0)  # one that does not read is not waited for
        self.close(grace_s=0.0)

    def close(self, *, grace_s: float = GRACE_S, reason: str = "no more matches") -> str:
        """End the process, with a grace period after `quit`; how it ended, in words."""
        if self._channel is None:
            return "was not running"
        if grace_s > 0:
            self._notify(Quit(reason=reason, grace_ms=int(grace_s * 1000)))
        channel, self._channel = self._channel, None
        if channel is None:  # it failed to take the quit
            return "was killed"
        ending = channel.close(grace_s)
        self.last_stderr = channel.stderr()
        return ending

    def stderr(self) -> str:
        """What the bot's process wrote to stderr, running or ended."""
        return self._channel.stderr() if self._channel is not None else self.last_stderr

    def _start_process(self) -> None:
        self._session = Session()
        self._lost = None
        self.last_stderr = ""
        self._channel = self._open_channel()
        self._ask_within_startup(self._hello)

    def _running(self) -> Channel:
        """The channel, or the fault by which it was lost while a notice was sent."""
        if self._channel is None:
            assert self._lost is not None, "a contestant is asked only between begin and its failure or close"
            raise self._lost
        return self._channel

    def _ask_within_startup(self, message: Hello | MatchStart) -> FromBot:
        channel = self._running()
        startup_s = self._settings.startup_ms / 1000
        clock = MoveClock(
            cpu=channel.cpu,
            wall=self._wall,
            budget_s=math.inf,
            wall_s=startup_s,
            decides_cpu=True,  # which is not limited; but real time is counted as for a move
            delayed=channel.delayed_s,
        )
        owed = "hello" if isinstance(message, Hello) else "ready"
        self._unheard = Unheard()
        try:
            channel.wake()
            self._send(message, clock)
            answer = self._answer(channel, clock)
            self._answered_cpu_s = None if self._settings.ponder else channel.cpu()
            channel.rest()
        except OutOfTime:
            strays = self._unheard.strays_told()
            raise OutOfTime(
                f'no "{owed}" within {startup_s:.1f} s from {channel.origin}{"; " + strays if strays else ""}',
                hint=f'answer {message_name(message)} with "{owed}", and flush stdout',
            ) from None
        except Crashed as crash:
            hint = f"{crash.hint}; one process plays many matches: after match_end it must read on"
            raise Crashed(
                f'{crash.message} before its "{owed}"; it was started as {channel.origin}',
                hint=crash.hint if owed == "hello" else hint,
            ) from None
        return answer

    def _send(self, message: ToBot, clock: MoveClock) -> None:
        self._session.send(message)
        line = codec.encode(message)
        self.transcript.append((self._wall(), ">", line))
        self._running().send(line, clock)

    def _answer(self, channel: Channel, clock: MoveClock) -> FromBot:
        """The next message that counts; what does not count is noted, and its time runs on."""
        for number in range(_USELESS_LIMIT):
            line = channel.receive(clock)
            self.transcript.append((self._wall(), "<", line))
            message = self._understand(line)
            if message is not None:
                return message
            if number > _USELESS_KEPT:
                self.transcript.pop()
            self._running()
            clock.wait_s()
        raise ProtocolViolation(
            f"{_USELESS_LIMIT} lines that answer nothing, where one answer was expected",
            hint="print to stderr: stdout belongs to the protocol",
        )

    def _understand(self, line: bytes) -> FromBot | None:
        """The message in a line if it counts now; None for blank, stray and stale lines."""
        text = line.strip()
        if not text:
            return None
        if not text.startswith(b"{"):
            self._stray(line)
            return None
        message = codec.decode(text)
        if self._session.receive(message):
            return message
        self.ignored["stale"] += 1
        if isinstance(message, Answer):
            self._unheard.stale(message)
        return None

    def _stray(self, line: bytes) -> None:
        """Text on stdout that is no message: usually a forgotten print."""
        fault = MalformedReply(
            "a line on stdout that is not a JSON object",
            hint="print to stderr: stdout belongs to the protocol",
            got=codec.shown(line),
        )
        if self._settings.strict:
            raise fault
        self.ignored["stray"] += 1
        self._unheard.stray(line)
        if self.ignored["stray"] == 1:
            self._notify(_error_of(fault, is_fatal=False))

    def _ignore_early(self, lines: list[bytes]) -> None:
        """Lines that came before their request."""
        for line in lines:
            self.transcript.append((self._wall(), "<", line))
            text = line.strip()
            if text.startswith(b"{"):
                self.ignored["early"] += 1
                self._unheard.early(text)
            elif text:
                self._stray(line)
        self._running()

    def _notify(self, message: ToBot, patience_s: float = _NOTICE_S) -> None:
        """Send a line that asks nothing. A bot that cannot take it is ended; its next match starts a new process."""
        channel = self._channel
        if channel is None:
            return
        clock = MoveClock(cpu=channel.cpu, wall=self._wall, budget_s=patience_s, wall_s=patience_s, decides_cpu=False)
        try:
            self._send(message, clock)
        except BotFault as fault:
            self._lost = fault
            self._channel = None
            channel.close(0.0)
            self.last_stderr = channel.stderr()

    def _charge(self, clock: MoveClock, move_s: float) -> None:
        used_s = clock.used_s
        self.moves += 1
        self.cpu_s += clock.cpu_s
        self.wall_s += clock.elapsed_s
        self.slowest_s = max(self.slowest_s, used_s)
        if used_s > move_s:
            self.bank_s = max(0.0, self.bank_s - (used_s - move_s))


def note_of(answer: Answer) -> str:
    """The note in an answer, empty if there is none."""
    return "" if answer.note is UNSET else str(answer.note)


def message_name(message: ToBot) -> str:
    """The `type` of a message to a bot."""
    return str(message.__struct_config__.tag)


def _error_of(fault: BotFault, *, is_fatal: bool) -> ErrorMessage:
    return ErrorMessage(code=fault.code, message=fault.message, hint=fault.hint, fatal=is_fatal, got=fault.got)
