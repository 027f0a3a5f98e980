"""The dialogue with one process of a bot: lines out, lines in, and the ones that count.

Rule: a line becomes a message here, a message a line, and nowhere else. Output that answers nothing is counted and kept
for the sentence that its author reads; a breach of the protocol is raised. The clocks of moves are made elsewhere.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from arena.errors import BotFault, MalformedReply, ProtocolViolation, Shortage
from arena.match.line_recorder import LineRecorder
from arena.match.participant import NO_LOOK_AHEAD, LookAhead, TranscriptLine
from arena.process.channel import Channel
from arena.process.clock import MoveClock
from arena.protocol import codec
from arena.protocol import messages as m
from arena.protocol.session import Session

M = TypeVar("M", bound=m.Message)
_NOTICE_S: Final = 1.0
"""Seconds of wall time in which a bot must take a line that needs no answer."""
_USELESS_LIMIT: Final = 10_000
"""Lines that count for nothing before the one that counts. More are a flood: it costs the referee more than the bot."""
_USELESS_BYTES: Final = 1 << 20
"""Bytes of such lines: the referee reads, notes and decodes them on its own time."""
_USELESS_KEPT: Final = 1000
"""Lines that count for nothing, before one that counts, in the transcript: a flood must not fill the memory."""


class DiscardedOutput(msgspec.Struct):
    """The output that was no reply while a reply was due. It explains a timeout and decides nothing.

    The first of each kind is kept, the others are counted.
    """

    strays: int = 0
    first_stray: str = ""
    wrong_id: str = ""
    early_id: str = ""
    has_early: bool = False

    def note_stray(self, line: bytes) -> None:
        """Note a line that is no JSON object."""
        self.strays += 1
        self.first_stray = self.first_stray or codec.excerpt(line)

    def note_stale(self, kind: str, number: int) -> None:
        """Note an answer or a question to a request that is not open."""
        self.wrong_id = self.wrong_id or f"{'an' if kind == 'action' else 'a'} {kind} with id {number}"

    def note_early(self, line: bytes) -> None:
        """Note a line that lay there before the request; only the first is decoded, for there may be many."""
        if self.has_early:
            return
        self.has_early = True
        try:
            message = codec.decode(line)
        except MalformedReply:
            return
        if isinstance(message, m.Answer):
            self.early_id = str(message.id)

    def describe_strays(self) -> str:
        """Describe the stray lines: `3 lines came, none of them a JSON object; the first: blah`; empty without any."""
        if not self.strays:
            return ""
        if self.strays == 1:
            return f"1 line came, and it is not a JSON object: {self.first_stray}"
        return f"{self.strays} lines came, none of them a JSON object; the first: {self.first_stray}"

    def explain(self, request_id: int) -> str:
        """Return the likely reason why request `request_id` has no answer; empty if nothing came."""
        if self.wrong_id:
            return f"{self.wrong_id} came, but the open request is {request_id}: repeat the request's id"
        if self.early_id:
            return (
                f"an action with id {self.early_id} came before request {request_id} was sent, and was dropped:"
                " answer each request once, after it came"
            )
        return self.describe_strays()


class Dialogue:
    """The dialogue with one process, from its `hello` to its end. `transcript` and `recorder` are its player's.

    `lost` is the fault, the bot's or the machine's, for which the process was ended, because it could not take a
    notice. `is_whole`: all that was written for the open request has gone out; the rest of a line that was cut off
    cannot be sent later.
    """

    def __init__(
        self,
        channel: Channel,
        *,
        wall: Callable[[], float],
        is_strict: bool,
        transcript: deque[TranscriptLine],
        recorder: LineRecorder,
    ) -> None:
        self.channel = channel
        self.session = Session()
        self.discarded = DiscardedOutput()
        self.recorder = recorder
        self.is_whole = False
        self.lost: BotFault | Shortage | None = None
        self._wall = wall
        self._is_strict = is_strict
        self._transcript = transcript

    def shake_hands(
        self, message: m.Hello | m.MatchStart, owed: type[m.BotHello] | type[m.Ready], clock: MoveClock
    ) -> float:
        """Ask for `hello` or `ready`, then stop the bot; return the CPU seconds that it had used at its answer.

        Raises BotFault, or Shortage if the machine is to blame.
        """
        self.discarded = DiscardedOutput()
        self.ask(message, clock)
        self.hear(owed, clock)
        clock.stop()
        cpu_reading = self.channel.cpu()
        self.channel.rest()
        return cpu_reading

    def begin_request(self) -> None:
        """Get ready for a request: reset the counts of useless output, and count lines that lie there as early.

        Raises the fault by which the process was lost, if it was.
        """
        self.discarded = DiscardedOutput()
        self.is_whole = False
        early = self.channel.pending()
        if early:
            self._ignore_early(early)

    def ask(self, message: m.ToBot, clock: MoveClock) -> None:
        """Wake the bot, and send it a line that needs an answer."""
        line = self._encode_and_note(message)
        self.channel.wake()
        self._send(line, clock)

    def hear(self, owed: type[M], clock: MoveClock, look_ahead: LookAhead = NO_LOOK_AHEAD) -> M:
        """Wait for the message that is `owed`; the clock runs on while lines come that do not count.

        Questions of the bot meanwhile are answered by `look_ahead`. ProtocolViolation for a flood of useless lines.
        """
        useless = useless_bytes = 0
        while useless <= _USELESS_LIMIT and useless_bytes <= _USELESS_BYTES:
            line = self.channel.receive(clock)
            self.recorder.from_bot(line)
            self._transcript.append((self._wall(), "<", line))
            message = self._decode_if_due(line)
            if isinstance(message, owed):
                return message
            if isinstance(message, m.Simulate) and look_ahead.left:
                self._answer_simulation(message, look_ahead, clock)
                continue
            useless += 1
            useless_bytes += len(line) + 1
            if useless > _USELESS_KEPT:
                self._transcript.pop()
            if isinstance(message, m.Simulate):
                self._send(self._encode_and_note(look_ahead.answer(message)), clock)
                if useless > _USELESS_KEPT:
                    self._transcript.pop()
            self._require_process()
            clock.wait_s()
        flood = (
            f"more than {_USELESS_LIMIT} lines"
            if useless > _USELESS_LIMIT
            else f"lines of more than {_USELESS_BYTES} bytes"
        )
        raise ProtocolViolation(
            f"{flood} that answer nothing, where one answer was expected",
            hint="print to stderr: stdout belongs to the protocol",
        )

    def tell(self, message: m.ToBot, patience_s: float = _NOTICE_S) -> None:
        """Send a line that needs no answer. A bot that cannot take it is ended; its next match starts a new process."""
        if self.lost is not None:
            return
        # a clock without `suspended`: a pause of the referee is excused like any other delay
        clock = MoveClock(cpu=self.channel.cpu, wall=self._wall, budget_s=math.inf, wall_s=patience_s, decides_cpu=True)
        try:
            self.channel.send(self._encode_and_note(message), clock)
        except (BotFault, Shortage) as fault:
            self.lost = fault
            self.recorder.lose()
            self.channel.close(0.0)

    def _send(self, line: bytes, clock: MoveClock) -> None:
        """Send a line of the open request; `is_whole` is False if the bot did not take all of it."""
        self.is_whole = False
        self.channel.send(line, clock)
        self.is_whole = True

    def _require_process(self) -> None:
        """Raise the fault by which the process was lost, if it was."""
        if self.lost is not None:
            raise self.lost

    def _encode_and_note(self, message: m.ToBot) -> bytes:
        """Encode a message as a line, and note it as sent; the session checks the order."""
        self.session.send(message)
        line = codec.encode(message)
        self.recorder.to_bot(line)
        self._transcript.append((self._wall(), ">", line))
        return line

    def _answer_simulation(self, asked: m.Simulate, look_ahead: LookAhead, clock: MoveClock) -> None:
        """Answer the bot's request for a simulation while the bot and its clock are stopped."""
        clock.pause()
        self.channel.rest()
        answer = look_ahead.answer(asked)
        clock.resume()
        self.ask(answer, clock)

    def _decode_if_due(self, line: bytes) -> m.FromBot | None:
        """Decode the message in a line if it counts now; None for blank lines, and for stray and stale ones.

        Stray and stale lines are counted. Raises BotFault for a message that is malformed, or not allowed now.
        """
        text = line.strip()
        if not text:
            return None
        if not text.startswith(b"{"):
            self._discard_stray(line)
            return None
        message: m.FromBot | None = codec.decode_short(text)
        if message is None:
            heading = codec.read_heading(text)
            if heading is not None and self.session.is_stale(heading.type, heading.id):
                self._discard_stale(heading.type, heading.id)
                return None
            message, unknown_fields = codec.decode_strictly(text)
            self.recorder.ignore_fields(unknown_fields)
        if self.session.receive(message):
            return message
        assert isinstance(message, m.Answer | m.Evaluation | m.Simulate), "all others are received or refused"
        self._discard_stale(str(message.__struct_config__.tag), message.id)
        return None

    def _discard_stale(self, kind: str, number: int) -> None:
        """Count an answer or a question about a request that is not open."""
        self.recorder.discard("stale")
        self.discarded.note_stale(kind, number)

    def _discard_stray(self, line: bytes) -> None:
        """Count text on stdout that is no message, usually a forgotten print; the bot gets an error for the first.

        With `is_strict` raises a fault instead.
        """
        fault = MalformedReply(
            "a line on stdout that is not a JSON object",
            hint="print to stderr: stdout belongs to the protocol",
            got=codec.excerpt(line),
        )
        if self._is_strict:
            raise fault
        self.discarded.note_stray(line)
        if self.recorder.discard("stray"):
            self.tell(error_of(fault, is_fatal=False))

    def _ignore_early(self, lines: list[bytes]) -> None:
        """Count lines that came before their request. Raises the fault by which the process was lost, if it was."""
        for line in lines:
            self.recorder.from_bot(line, is_early=True)
            self._transcript.append((self._wall(), "<", line))
            text = line.strip()
            if text.startswith(b"{"):
                self.recorder.discard("early")
                self.discarded.note_early(text)
            elif text:
                self._discard_stray(line)
        self._require_process()


def error_of(fault: BotFault, *, is_fatal: bool) -> m.ErrorMessage:
    """Return the message that reports a fault to the bot."""
    return m.ErrorMessage(
        code=fault.code,
        message=fault.message,
        hint=fault.hint,
        fatal=is_fatal,
        got=fault.got,
        reason=fault.reason or UNSET,
    )
