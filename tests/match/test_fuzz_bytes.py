"""Any bytes in any pieces through the real channel: the lines of the reference, or the documented fault."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from support.match_fuzz_depth import fuzzed
from support.match_fuzz_pipes import PipedProcess, lines_of, piped, stepping

from arena.errors import BotFault, Crashed, MalformedReply, OutOfTime
from arena.process.channel import ProcessChannel

LINE_LIMIT = 1 << 16
PIECES = st.lists(
    st.binary(max_size=20) | st.text(alphabet="ab\n\r{", max_size=20).map(str.encode) | st.just(b"\n"), max_size=12
)
LENGTHS = st.lists(
    st.tuples(st.integers(LINE_LIMIT - 3, LINE_LIMIT + 3) | st.integers(0, 9), st.booleans()), max_size=4
)
"""Of pieces, and whether each ends its line."""
ASKED = st.lists(st.sampled_from(["receive", "pending", "send", "rest"]), min_size=1, max_size=5)
ENDS = st.sampled_from(["waits", "hangs up", "exits"])


@dataclass
class Dialogue:
    """A bot that writes one piece at each look at a clock, and a referee that asks for lines in some order."""

    process: PipedProcess
    channel: ProcessChannel
    pieces: list[bytes]
    end: str
    said: bytes = b""
    idle: int = 0
    lines: list[bytes] = field(default_factory=list)

    def step(self) -> bool:
        """Write the next piece; return False when the bot will do nothing more."""
        self.process.hear()
        self.process.log(b"a word on stderr\n")
        if self.pieces:
            piece = self.pieces[0]
            taken = self.process.say(piece)
            self.said += piece[:taken]
            self.pieces[:1] = [piece[taken:]] if taken < len(piece) else []
            return True
        self.idle += 1
        assert self.idle < 100, "the channel asks the clock for ever"
        if self.end == "waits":
            return False
        self.process.hang_up() if self.end == "hangs up" else self.process.exit()
        return True

    def ask(self, how: str) -> None:
        if how == "rest":
            return self.channel.rest()
        if how == "pending":
            self.step()
            self.lines.extend(self.channel.pending())
            return None
        self.channel.wake()
        clock = stepping(self.step)
        if how == "receive":
            self.lines.append(self.channel.receive(clock))
        else:
            self.channel.send(b"x" * 100 + b"\n", clock)
        return None

    def run(self, asked: list[str]) -> BotFault:
        """Ask for lines in that order again and again until a fault ends it; return the fault."""
        turn = 0
        try:
            while True:
                assert turn < 1000, "the dialogue does not end"
                self.ask(asked[turn % len(asked)] if self.pieces and turn < 30 else "receive")
                turn += 1
        except BotFault as fault:
            return fault


def check(pieces: list[bytes], asked: list[str], end: str, limit: int) -> None:
    """Check that the lines are those that the reference reads from the same stream."""
    with piped(limit=limit) as (process, channel):
        dialogue = Dialogue(process, channel, list(pieces), end)
        fault = dialogue.run(asked)

        expected, is_overlong = lines_of(dialogue.said, limit=limit)
        if is_overlong and isinstance(fault, MalformedReply):
            assert dialogue.lines == expected[: len(dialogue.lines)]
            assert fault.message == f"a line of more than {limit} bytes"
            return
        assert dialogue.lines == expected
        assert not is_overlong
        assert isinstance(fault, OutOfTime if end == "waits" else Crashed)


@fuzzed(400)
@given(pieces=PIECES, asked=ASKED, end=ENDS, limit=st.integers(1, 40) | st.just(LINE_LIMIT))
def test_any_bytes_in_any_pieces_are_the_lines_of_the_stream(
    pieces: list[bytes], asked: list[str], end: str, limit: int
) -> None:
    """A line too long is refused, the end of the stream is a crash, and silence runs out of time."""
    check(pieces, asked, end, limit)


@fuzzed(60)
@given(lengths=LENGTHS, asked=ASKED, end=ENDS)
def test_lines_about_the_real_limit_in_any_pieces(lengths: list[tuple[int, bool]], asked: list[str], end: str) -> None:
    """65536 bytes with the newline pass, one more does not, however the pipe splits them."""
    check([b"x" * length + b"\n" * ends_line for length, ends_line in lengths], asked, end, LINE_LIMIT)
