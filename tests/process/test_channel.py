"""What a channel keeps of an endless stream, and how a script stands in for a process."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.golden import Golden
from support.match_fuzz_pipes import piped

from arena.errors import Crashed, MalformedReply
from arena.process.channel import BoundedLog
from arena.process.clock import MoveClock
from arena.process.scripted import ScriptedChannel

CHUNKS = st.lists(st.text(alphabet="abcdefgh \n", max_size=40).map(str.encode), max_size=12)


@given(chunks=CHUNKS, size=st.integers(0, 50))
def test_head_and_tail_of_any_stream(chunks: list[bytes], size: int) -> None:
    """The first and last `size` bytes and the number left out do not depend on the pieces; no more is kept."""
    kept = BoundedLog(size)
    for chunk in chunks:
        kept.add(chunk)
        assert max(len(kept._head), len(kept._tail)) <= size
    whole = b"".join(chunks)

    left_out = max(0, len(whole) - 2 * size)
    gap = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
    expected = whole[:size] + gap + whole[size + left_out :]
    assert kept.text() == expected.decode()


def test_what_a_terminal_would_obey_is_made_visible(golden: Golden) -> None:
    """Escapes, carriage returns and broken UTF-8 become text; lines, tabs and letters stay."""
    kept = BoundedLog()
    kept.add("für\tx\n\x1b[2J\r\0".encode() + b"\xff")

    golden(kept.text())


def clock() -> MoveClock:
    ticks = iter(range(100))
    return MoveClock(cpu=lambda: 0.0, wall=lambda: float(next(ticks)), budget_s=1.0, wall_s=1.0, decides_cpu=True)


def test_a_script_can_crash(golden: Golden) -> None:
    """The lines before the crash are read first, and the crash is not taken for a line."""
    channel = ScriptedChannel(lambda _: [b"x", Crashed("gone")])
    channel.send(b"a", clock())

    assert channel.pending() == [b"x"]
    with pytest.raises(Crashed, match="gone"):
        channel.receive(clock())
    golden(channel.close(0.0))


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
def test_after_a_line_that_was_too_long_the_next_ones_count(pieces: list[bytes]) -> None:
    """It is reported once, in any pieces; lines that arrived before that are dropped."""
    got: list[bytes | str] = []

    with piped(limit=10) as (process, channel):
        for piece in pieces:
            process.resume()
            process.say(piece)
            try:
                got += channel.pending()
            except MalformedReply as fault:
                got.append(fault.message)

    told = "a line of more than 10 bytes"
    assert [each for each in got if each != b"x" * 9] == [told, b"good"]


def test_a_line_without_end_is_not_kept() -> None:
    """After a megabyte of it only the fault remains in memory."""
    with piped(limit=10) as (process, channel):
        for _ in range(20):
            process.resume()
            process.say(b"x" * 50_000)
            with contextlib.suppress(MalformedReply):
                channel.pending()

        assert len(channel._partial) < 10
        process.resume()
        process.say(b"\ngood\n")
        assert channel.pending() == [b"good"]
