"""The talk with one process of a bot: lines out, lines in, what counts of them and what does not.

Rule: a line becomes a message here, a message a line, and nowhere else. What a bot says in vain is counted and kept for
the sentence that tells its author; what breaks the protocol is raised. The clocks of moves are made elsewhere.
"""

import math
from collections import Counter, deque
from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec import UNSET

from arena.errors import BotFault, Crashed, MalformedReply, OutOfTime, ProtocolViolation
from arena.match.line_recorder import LineRecorder
from arena.match.lookahead import NO_LOOK_AHEAD, LookAhead
from arena.match.participant import TranscriptLine
from arena.match.unheard import DiscardedOutput
from arena.process.channel import Channel
from arena.process.clock import MoveClock
from arena.protocol import codec
from arena.protocol.messages import Answer, ErrorMessage, FromBot, Hello, MatchStart, Simulate, ToBot
from arena.protocol.session import Session

_NOTICE_S: Final = 1.0
"""Wall time a bot has to take a line that asks nothing of it."""
_NAMED_S: Final = 0.05
"""Of a start-up time: less went to `hello` than is worth a word."""
_USELESS_LIMIT: Final = 10_000
"""Lines that count for nothing before the one that counts. More are a flood: it costs the referee more than the bot."""
_USELESS_KEPT: Final = 1000
"""Lines that count for nothing, before one that counts, in the transcript: a flood must not fill the memory."""


class StartupCost(NamedTuple):
    """What `hello` or `ready` took of the time for both, and the bot's CPU clock when it was there; in seconds."""

    used_s: float
    cpu_s: float


class Dialogue:
    """One process, from its `hello` to its end. `transcript`, `ignored`, `kept` are those of its bot_player.

    `lost` is the fault for which the process was ended, because it could not take a notice. `is_whole` tells whether
    all that was written for the open question has gone out; the rest of a line that was cut off cannot be sent later.
    """

    def __init__(
        self,
        channel: Channel,
        *,
        wall: Callable[[], float],
        suspended: Callable[[float], float],
        is_strict: bool,
        transcript: deque[TranscriptLine],
        ignored: Counter[str],
        kept: LineRecorder,
    ) -> None:
        self.channel = channel
        self.session = Session()
        self.unheard = DiscardedOutput()
        self.ignored = ignored
        self.kept = kept
        self.is_whole = False
        self.lost: BotFault | None = None
        self._wall = wall
        self._suspended = suspended
        self._is_strict = is_strict
        self._transcript = transcript

    def ask_within_startup(
        self, message: Hello | MatchStart, startup_s: float, *, spent_s: float, decides_cpu: bool
    ) -> StartupCost:
        """Ask for `hello` or `ready` in what is left of the time for both. Then the bot is stopped.

        Real time counts without what the machine kept from the bot; and its CPU time, unless it cannot be trusted.
        """
        channel, left_s = self.channel, startup_s - spent_s
        clock = MoveClock(
            cpu=channel.cpu,
            wall=self._wall,
            budget_s=left_s if decides_cpu else math.inf,
            wall_s=left_s,
            decides_cpu=True,
            delayed=channel.delayed_s,
            suspended=self._suspended,
        )
        owed = "hello" if isinstance(message, Hello) else "ready"
        self.unheard = DiscardedOutput()
        try:
            self.ask(message, clock)
            self.hear(clock)
            clock.stop()
            cpu_s = channel.cpu()
            channel.rest()
        except OutOfTime:
            before = f' ({spent_s:.1f} s went to "hello")' if spent_s >= _NAMED_S else ""
            strays = self.unheard.strays_told()
            used = f"; its threads used {clock.cpu_s:.1f} s of CPU time" if decides_cpu and clock.cpu_s > left_s else ""
            raise OutOfTime(
                f'no "{owed}" within {startup_s:.1f} s{before} from {channel.origin}{used}{strays and "; " + strays}',
                hint=f'answer {message.__struct_config__.tag} with "{owed}", and flush stdout',
            ) from None
        except Crashed as crash:
            hint = f"{crash.hint}; one process plays many matches: after match_end it must read on"
            raise Crashed(
                f'{crash.message} before its "{owed}"; it was started as {channel.origin}',
                hint=crash.hint if owed == "hello" else hint,
            ) from None
        return StartupCost(used_s=clock.charged_s if decides_cpu else clock.elapsed_s, cpu_s=cpu_s)

    def forget(self) -> None:
        """Nothing that was said in vain before concerns what is asked now. Lines that lie there already are early."""
        self.unheard = DiscardedOutput()
        self.is_whole = False
        early = self.channel.pending()
        if early:
            self._ignore_early(early)

    def ask(self, message: ToBot, clock: MoveClock) -> None:
        """Send a line that wants an answer; from now on the bot runs."""
        line = self._line_of(message)
        self.channel.wake()
        self.channel.send(line, clock)
        self.is_whole = True

    def hear(self, clock: MoveClock, look_ahead: LookAhead = NO_LOOK_AHEAD) -> FromBot:
        """The next message that counts; what does not count is noted, and its time runs on.

        What the bot asks back meanwhile is answered by `look_ahead`.
        """
        useless = 0
        while useless < _USELESS_LIMIT:
            line = self.channel.receive(clock)
            self.kept.from_bot(line)
            self._transcript.append((self._wall(), "<", line))
            message = self._understand(line)
            if message is not None and not isinstance(message, Simulate):
                return message
            if message is not None and look_ahead.left:
                self._what_if(message, look_ahead, clock)
                continue
            useless += 1
            if useless > _USELESS_KEPT:
                self._transcript.pop()
            if message is not None:
                self._write(self._line_of(look_ahead.answer(message)), clock)
                if useless > _USELESS_KEPT:
                    self._transcript.pop()
            self._insist()
            clock.wait_s()
        raise ProtocolViolation(
            f"{_USELESS_LIMIT} lines that answer nothing, where one answer was expected",
            hint="print to stderr: stdout belongs to the protocol",
        )

    def tell(self, message: ToBot, patience_s: float = _NOTICE_S) -> None:
        """Send a line that asks nothing. A bot that cannot take it is ended; its next match starts a new process."""
        if self.lost is not None:
            return
        channel = self.channel
        clock = MoveClock(
            cpu=channel.cpu, wall=self._wall, budget_s=math.inf, wall_s=patience_s, decides_cpu=True
        )  # a suspended referee would be none of its faults either
        try:
            channel.send(self._line_of(message), clock)
        except BotFault as fault:
            self.lost = fault
            self.kept.lose()
            self.close(0.0)

    def close(self, grace_s: float) -> str:
        """End the process; how it ended, in words."""
        return self.channel.close(grace_s)

    def stderr(self) -> str:
        """What the process wrote to stderr, running or ended."""
        return self.channel.stderr()

    def _insist(self) -> None:
        """The process may have been lost by a warning."""
        if self.lost is not None:
            raise self.lost

    def _line_of(self, message: ToBot) -> bytes:
        """The line, noted as sent: the session insists that it may be."""
        self.session.send(message)
        line = codec.encode(message)
        self.kept.to_bot(line)
        self._transcript.append((self._wall(), ">", line))
        return line

    def _write(self, line: bytes, clock: MoveClock) -> None:
        self.is_whole = False
        self.channel.send(line, clock)
        self.is_whole = True

    def _what_if(self, asked: Simulate, look_ahead: LookAhead, clock: MoveClock) -> None:
        """Answer a question while the bot and its clock stand still."""
        clock.pause()
        self.channel.rest()
        answer = look_ahead.answer(asked)
        clock.resume()
        line = self._line_of(answer)
        self.channel.wake()
        self._write(line, clock)

    def _understand(self, line: bytes) -> FromBot | None:
        """The message in a line if it counts now; None for blank, stray and stale lines."""
        text = line.strip()
        if not text:
            return None
        if not text.startswith(b"{"):
            self._stray(line)
            return None
        message = codec.decode(text)
        if self.session.receive(message):
            return message
        self._ignore("stale")
        if isinstance(message, Answer | Simulate):
            self.unheard.stale(message)
        return None

    def _stray(self, line: bytes) -> None:
        """Text on stdout that is no message: usually a forgotten print."""
        fault = MalformedReply(
            "a line on stdout that is not a JSON object",
            hint="print to stderr: stdout belongs to the protocol",
            got=codec.excerpt(line),
        )
        if self._is_strict:
            raise fault
        self._ignore("stray")
        self.unheard.stray(line)
        if self.ignored["stray"] == 1:
            self.tell(error_of(fault, is_fatal=False))

    def _ignore(self, kind: str) -> None:
        self.ignored[kind] += 1
        self.kept.discard(kind)

    def _ignore_early(self, lines: list[bytes]) -> None:
        """Lines that came before their request."""
        for line in lines:
            self.kept.from_bot(line, is_early=True)
            self._transcript.append((self._wall(), "<", line))
            text = line.strip()
            if text.startswith(b"{"):
                self._ignore("early")
                self.unheard.early(text)
            elif text:
                self._stray(line)
        self._insist()


def error_of(fault: BotFault, *, is_fatal: bool) -> ErrorMessage:
    """The fault as the bot hears of it."""
    return ErrorMessage(
        code=fault.code,
        message=fault.message,
        hint=fault.hint,
        fatal=is_fatal,
        got=fault.got,
        reason=fault.reason or UNSET,
    )
