"""All lines of a match can be made again from its record, as `scripted_bot.match_of` asserts for each match here."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fake_clock import FakeClock
from support.golden import Golden
from support.scripted_bot import (
    HELLO,
    ScriptedBot,
    answer,
    house,
    match_of,
    seated,
    with_seat,
)

from arena.errors import CheckFailed
from arena.match import line_recorder
from arena.match.reconstruction import lines_of
from arena.match.record import KEPT_BYTES, MatchRecord, Requests, SeatRecord, encode_record, pack, unpack
from arena.match.replay import problems

replace = msgspec.structs.replace
HEAPS = {"heaps": [9, 9, 9]}


def by_seat(record: MatchRecord) -> list[list[tuple[str, bytes]]]:
    told = lines_of(unpack(pack(record)))
    assert all(each.is_exact for each in told)
    return [[(way, line) for _, way, line in each.lines] for each in told]


@pytest.mark.parametrize("line", [b"\xff\xfe", b"\0", b"", "\x85\u2028é".encode(), b'{"type": "action", "id": "\xff"}'])
def test_bytes_that_are_no_text_are_told_as_they_were(line: bytes) -> None:
    """They come back unchanged before an answer, and before its request."""
    stray = match_of(seated(ScriptedBot(lambda m, n: [line, answer(m)] if n == 2 else None)), house(), options=HEAPS)

    assert ("<", line) in by_seat(stray)[0]


@given(line=st.binary(max_size=20))
def test_each_line_is_kept_as_a_text_of_its_own(line: bytes) -> None:
    """Every line comes back from its text unchanged."""
    assert line_recorder.line_of(line_recorder.text_of(line)) == line


def test_what_a_bot_says_without_end_is_counted_and_not_kept() -> None:
    """The record stays small; the other seat's lines are whole, and answers of the usual form are still rebuilt."""
    long = b"x" * 1000

    def chatter(message: Any, number: int) -> list[bytes]:
        return [long] * 200 + [answer(message)] if number == 2 else [answer(message)]

    record = match_of(seated(ScriptedBot(chatter)), house(), options=HEAPS)
    own, other = lines_of(record)

    assert len(encode_record(record)) < KEPT_BYTES + 10_000
    assert (own.is_exact, other.is_exact, other.left_out) == (False, True, 0)
    assert own.left_out == 200 + 1 - KEPT_BYTES // (1000 + 8)
    assert sum(way == "<" and b'"action"' in line for _, way, line in own.lines) == record.seats[0].moves


def test_a_greeting_too_long_to_be_kept_leaves_the_other_seat_its_lines() -> None:
    """That holds in this match and in the next one of the process, and for a form that only -0 can have."""

    def act(message: Any, number: int) -> list[bytes]:
        zero = b'{"type":"action","id":%d,"action":-0}' % message["id"]
        return [zero if number == 1 else answer(message, len(message["legal"]) - 1)]

    players = seated(ScriptedBot(act, hello=[b"x" * (KEPT_BYTES - 8), HELLO])), house()
    first, second = (lines_of(match_of(*players, options=HEAPS)) for _ in range(2))

    assert first[0].left_out
    assert [each.is_exact for each in (*first, *second)] == [False, True, True, True]


def test_times_are_those_of_the_clocks() -> None:
    """Times are by request, in whole microseconds; what exceeds the move is taken from the bank of the next request."""
    times = FakeClock()
    bot = ScriptedBot()
    bot.times = times
    spent = iter([0.25, 0.0000004, 0.1, 0.0999996, 0.3])

    def think(_message: Any, _number: int) -> None:
        times.cpu_s += next(spent, 0.0)

    bot._odd = think
    record = match_of(seated(bot), house(), options=HEAPS)
    requests = record.seats[0].requests
    assert requests

    assert requests.cpu_us[:5] == (250_000, 0, 100_000, 100_000, 300_000)
    banks = [message["clock"]["bank_ms"] for message in bot.of_type("request")]
    assert banks[:6] == [1000.0, 850.0, 850.0, 850.0, 850.0, 650.0]
    assert record.seats[0].cpu_ms == sum(requests.cpu_us) / 1000


def test_discarded_lines_stand_with_their_request() -> None:
    """They are counted by kind; request 0 is the start."""
    bot = ScriptedBot(
        lambda m, n: [b"print", answer(m), answer(m)] if n in {2, 3} else None,
        ready=lambda m: [b"early print", msgspec.json.encode({"type": "ready", "match": m["match"]})],
    )
    record = match_of(seated(bot), house(), options=HEAPS)
    requests = record.seats[0].requests
    assert requests

    found = [(each.request, each.kind, each.count) for each in requests.discarded]
    assert found == [(0, "stray", 1), (2, "stray", 1), (3, "early", 1), (3, "stray", 1), (4, "early", 1)]
    assert record.seats[0].ignored == {"stray": 3, "early": 2}


@pytest.fixture(scope="module")
def record() -> MatchRecord:
    """Return a match with strays, late answers and a pardoned fault."""
    odd = ScriptedBot(lambda m, n: [b"print", answer(m)] if n == 2 else None)
    return unpack(pack(match_of(seated(odd), house(), options=HEAPS)))


def changed_times(entry: SeatRecord) -> Iterator[Requests]:
    times = entry.requests
    assert times
    yield replace(times, cpu_us=(times.cpu_us[0] + 1, *times.cpu_us[1:]))
    yield replace(times, wall_us=times.wall_us[1:])
    yield replace(times, wall_us=(-5, *times.wall_us[1:]))
    yield replace(times, idle_us=(7,) + (0,) * (entry.moves - 1))
    yield replace(times, stderr=(7,))
    yield replace(times, stderr=(-7,) * entry.moves)
    yield replace(times, discarded=())
    yield replace(times, discarded=(replace(times.discarded[0], count=2),))
    yield Requests()


def test_times_that_do_not_add_up_are_found(record: MatchRecord, golden: Golden) -> None:
    """`verify` finds each of them."""
    for times in changed_times(record.seats[0]):
        (problem,) = problems(with_seat(record, requests=times))
        golden(problem)


def test_another_line_is_found(record: MatchRecord, golden: Golden) -> None:
    """Each change of the kept lines gives lines with another checksum, or none."""
    lines = record.seats[0].lines
    assert lines
    said = lines.said
    changes: list[dict[str, Any]] = [
        {"said": said[:-1]},
        {"said": (*said[:-1], replace(said[-1], lines=("other print", *said[-1].lines[1:])))},
        {"said": (*said[:-1], replace(said[-1], early=("x",)))},
        {"form": ("a", "b", "c")},
        {"form": tuple(f"{part} " for part in lines.form)},
        {"first_id": 2},
        {"startup_ms": 1},
        {"line_bytes": 1},
        {"is_new": False},
        {"lost_at": 3},
        {"checksum": lines.checksum ^ 1},
    ]
    for change in changes:
        try:
            told, _ = lines_of(with_seat(record, lines=replace(lines, **change)))
        except CheckFailed as error:
            golden(error)
        else:
            assert not told.is_exact, change


def test_an_older_record_says_so(record: MatchRecord, golden: Golden) -> None:
    """It has neither times nor lines, and is no damage."""
    seats = tuple(replace(seat, requests=msgspec.UNSET, lines=msgspec.UNSET) for seat in record.seats)
    old = replace(record, seats=seats)

    assert problems(old) == []
    with golden.raises(CheckFailed):
        lines_of(old)
    with golden.raises(CheckFailed):
        lines_of(replace(record, rules="0"))
