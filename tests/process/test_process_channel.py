"""What a channel keeps of an endless stream, and how a script stands in for a process."""

import contextlib
import os
from collections.abc import Iterator
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import Crashed, MalformedReply, OutOfTime
from arena.process.channel import BoundedLog, ProcessChannel
from arena.process.clock import MoveClock
from arena.process.process import BotProcess
from arena.process.scripted import ScriptedChannel

CHUNKS = st.lists(st.text(alphabet="abcdefgh \n", max_size=40).map(str.encode), max_size=12)


@given(chunks=CHUNKS, size=st.integers(1, 50))
def test_head_and_tail_of_any_stream(chunks: list[bytes], size: int) -> None:
    """The first and the last `size` bytes, and the number of those between, however the stream was cut."""
    kept = BoundedLog(size)
    for chunk in chunks:
        kept.add(chunk)
    whole = b"".join(chunks)

    left_out = max(0, len(whole) - 2 * size)
    gap = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
    expected = whole[:size] + gap + whole[size + left_out :]
    assert kept.text() == expected.decode()


@given(chunks=CHUNKS, size=st.integers(1, 50))
def test_no_more_than_head_and_tail_is_held(chunks: list[bytes], size: int) -> None:
    """At every moment, not only at the end."""
    kept = BoundedLog(size)
    for chunk in chunks:
        kept.add(chunk)

        assert len(kept._head) <= size
        assert len(kept._tail) <= size


def test_what_a_terminal_would_obey_is_made_visible() -> None:
    """Escapes, carriage returns and broken UTF-8 become text; lines, tabs and letters stay."""
    kept = BoundedLog()
    kept.add("für\tx\n\x1b[2J\r\0".encode() + b"\xff")

    assert kept.text() == "für\tx\n\\x1b[2J\\r\\x00\\xff"


def clock(wall_s: float = 1.0) -> MoveClock:
    ticks = iter(range(100))
    return MoveClock(cpu=lambda: 0.0, wall=lambda: float(next(ticks)), budget_s=wall_s, wall_s=wall_s, decides_cpu=True)


def test_a_script_answers_in_order() -> None:
    """Each line sent may bring several replies; they are read one by one."""
    channel = ScriptedChannel(lambda line: [line + b"1", line + b"2"])
    channel.send(b"a", clock())
    channel.send(b"b", clock())

    assert [channel.receive(clock()) for _ in range(4)] == [b"a1", b"a2", b"b1", b"b2"]
    assert channel.sent == [b"a", b"b"]


def test_a_script_that_is_silent_runs_into_the_clock() -> None:
    """As a process would, but without a sleep."""
    channel = ScriptedChannel(lambda _: [])
    channel.send(b"a", clock())

    with pytest.raises(OutOfTime):
        channel.receive(clock(5.0))


def test_a_script_can_crash() -> None:
    """After what it said before; and its end is not taken for a line that waits."""
    channel = ScriptedChannel(lambda _: [b"x", Crashed("gone")])
    channel.send(b"a", clock())

    assert channel.pending() == [b"x"]
    with pytest.raises(Crashed, match="gone"):
        channel.receive(clock())
    assert channel.close(0.0) == "ended with exit code 0"


class Pipes:
    """The real channel over pipes, whose other side the test holds."""

    def __init__(self, limit: int) -> None:
        self.group = self
        self.origin = "pipes"
        self.is_frozen = False
        self.is_running = True
        self.cpu = self.delayed_s = lambda: 0.0
        self.is_asleep = lambda: False
        self._theirs, self.stdin = os.pipe()
        self.stdout, self._mouth = os.pipe()
        self.stderr, self._diary = os.pipe()
        self.channel = ProcessChannel(cast(BotProcess, self), limit=limit)

    def say(self, data: bytes) -> None:
        os.write(self._mouth, data)

    def ending(self) -> str:
        return ""

    def freeze(self) -> bool:
        return True

    def cpu_by_process(self) -> dict[int, float]:
        return {}

    def has_pipe_open(self, _inode: int) -> bool:
        return True

    def limit_violation(self) -> str:
        return ""

    def close(self) -> None:
        for fd in (self._theirs, self.stdin, self.stdout, self._mouth, self.stderr, self._diary):
            os.close(fd)


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    made = Pipes(limit=10)
    yield made
    made.close()


@pytest.mark.parametrize(
    "pieces",
    [
        [b"x" * 20 + b"\n", b"good\n"],
        [b"x" * 10, b"x" * 10 + b"\ngo", b"od\n"],
        [b"x" * 9 + b"\n" + b"x" * 30, b"x" * 500, b"x\n", b"good\n"],
        [b"x" * 10 + b"\nlost\n" + b"go", b"od\n"],
        [b"x" * 10 + b"\n" + b"y" * 50, b"y\ngood\n"],
    ],
)
def test_after_a_line_that_was_too_long_the_next_ones_count(pipes: Pipes, pieces: list[bytes]) -> None:
    """It is told once, whatever pieces it came in; what had come behind it until then is lost."""
    said = iter(pieces)
    got: list[bytes | str] = []

    for piece in said:
        pipes.say(piece)
        try:
            got += pipes.channel.pending()
        except MalformedReply as fault:
            got.append(fault.message)

    told = "a line of more than 10 bytes"
    assert [each for each in got if each != b"x" * 9] == [told, b"good"]


def test_a_line_without_end_is_not_kept(pipes: Pipes) -> None:
    """A megabyte of it leaves nothing behind but the sentence."""
    for _ in range(20):
        pipes.say(b"x" * 50_000)
        with contextlib.suppress(MalformedReply):
            pipes.channel.pending()

    assert len(pipes.channel._partial) < 10
    pipes.say(b"\ngood\n")
    assert pipes.channel.pending() == [b"good"]
