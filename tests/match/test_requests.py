"""Requests and the steps to which they led, and the stderr that came with them."""

from collections.abc import Iterable
from typing import Any

import pytest
from msgspec import UNSET
from support.golden import Golden
from support.scripted_bot import ScriptedBot, answer, house, match_of, seated, stored_toy_match, toy_bot
from support.toy_game import on_offer

from arena.errors import Crashed, OutOfTime
from arena.match.record import ActionStep, MatchRecord, encode_record, pack, unpack
from arena.match.requests import requests_by_step, stderr_by_step
from arena.process.channel import BoundedLog
from arena.process.scripted import Reply

HEAPS = {"heaps": [9, 9, 9]}
KEPT = 1000


class LoudBot(ScriptedBot):
    """A bot that writes `text(number)` to stderr before its answer to each request, and a word at its start."""

    def __init__(self, text: Any, odd: Any = lambda _message, _number: None) -> None:
        def loud(message: Any, number: int) -> Iterable[Reply] | None:
            self.write(text(number))
            replies: Iterable[Reply] | None = odd(message, number)
            return replies

        super().__init__(loud)

    def write(self, text: bytes) -> None:
        self.channels[-1].stderr_log.add(text)

    def _respond(self, line: bytes) -> Iterable[Reply]:
        if b'"hello"' in line[:20]:
            self.write(b"I start\n")
        return super()._respond(line)


def played(bot: LoudBot, kept: int = KEPT) -> MatchRecord:
    player = seated(bot)
    player.kept_stderr = kept
    return unpack(pack(match_of(player, house(), options=HEAPS)))


def own_steps(record: MatchRecord, seat: int = 0) -> list[int]:
    """Return the indices of the steps for which the seat was asked."""
    return [
        index
        for index, step in enumerate(record.steps)
        if isinstance(step, ActionStep) and step.seat == seat and not step.forced
    ]


def test_stderr_is_kept_with_the_step_for_which_it_was_written() -> None:
    """Text before the first answer stands apart; a seat that wrote nothing has none."""
    record = played(LoudBot(lambda number: b"number %d\n" % number))

    own, other = stderr_by_step(record)
    assert own.before == "I start\n"
    assert list(own.at) == own_steps(record)
    assert list(own.at.values()) == [f"number {number}\n" for number in range(1, len(own.at) + 1)]
    assert own.rest == ""
    assert (other.before, other.at, other.rest) == ("", {}, "")


def test_a_crash_leaves_its_last_words() -> None:
    """They belong to no step, since there is none."""
    bot = LoudBot(lambda number: b"number %d\n" % number, lambda _m, number: [Crashed("gone")] if number == 2 else None)

    own = stderr_by_step(played(bot))[0]

    assert list(own.at.values()) == ["number 1\n"]
    assert own.rest == "number 2\n"


def test_the_record_is_bounded_whatever_a_bot_writes(golden: Golden) -> None:
    """The beginning and the end are kept, and the cut says how much is missing; sizes by request stay exact."""
    record = played(LoudBot(lambda number: b"%d" % (number % 10) * 300 * number))

    seat, own = record.seats[0], stderr_by_step(record)[0]
    assert seat.requests
    assert seat.stderr
    assert sum(seat.requests.stderr) == sum(300 * number for number in range(1, seat.moves + 1))
    assert KEPT <= sum(len(each.text) for each in seat.stderr) < KEPT + 3 * 50
    assert own.before == "I start\n"
    texts = list(own.at.values())
    assert texts[0] == "1" * 300
    assert texts[1].startswith("2222")
    golden(texts[1])
    assert texts[-1].startswith("\n... ")
    assert texts[-1].endswith("0" if seat.moves % 10 == 0 else str(seat.moves % 10))
    assert len(texts) == 3


def test_bytes_that_are_no_text_draw_on_no_terminal() -> None:
    """Escapes and broken UTF-8 are shown as numbers."""
    own = stderr_by_step(played(LoudBot(lambda _number: b"\x1b[2J\xff\0 \xc3\xa9\n")))[0]

    assert next(iter(own.at.values())) == "\\x1b[2J\\xff\\x00 é\n"


def test_each_match_of_a_process_keeps_its_own() -> None:
    """A match has no text of the match before; only the first one has that of the process's start."""
    bot = LoudBot(lambda number: b"number %d\n" % number)
    player = seated(bot)
    player.kept_stderr = KEPT
    records = [match_of(player, house(), options=HEAPS) for _ in range(2)]
    first, second = (stderr_by_step(record)[0] for record in records)

    for record, own in zip(records, (first, second), strict=True):
        assert record.seats[0].requests
        assert record.seats[0].requests.stderr == tuple(map(len, own.at.values()))
    assert (first.before, second.before) == ("I start\n", "")
    assert set(first.at.values()) & set(second.at.values()) == set()


def test_without_the_wish_nothing_is_kept() -> None:
    silent = played(LoudBot(lambda _number: b"x\n"), 0)

    assert silent.seats[0].stderr is UNSET
    assert b'"stderr":[[' not in encode_record(silent)
    assert stderr_by_step(silent)[0].at == {}


@pytest.mark.parametrize(
    ("odd", "led_to"),
    [
        ({}, [(1,), (2,)]),
        ({1: [answer({"id": 1}, {"mm": 1000})]}, [(1, 2), (3,)]),
        ({1: [OutOfTime("late")]}, [(1,), (2,)]),
        ({1: [answer({"id": 1}, {"mm": 1000})], 2: [OutOfTime("late")]}, [(1, 2), (3,)]),
        (
            {1: [answer({"id": 1}, {"mm": 1000})], 2: [answer({"id": 2}, {"mm": 1000})], 3: [OutOfTime("late")]},
            [(1, 2), (3,)],
        ),
    ],
)
def test_refused_and_late_requests_belong_to_the_step_after_them(
    odd: dict[int, list[Reply]], led_to: list[tuple[int, ...]]
) -> None:
    """A refusal is followed by another request, a timeout or a second refusal by the fallback action."""
    with on_offer():
        record = stored_toy_match(
            toy_bot(), toy_bot(), toy_bot(odd=lambda _message, number: odd.get(number)), seats=3, rounds=2
        )

    found = requests_by_step(record)
    assert [found[index] for index in own_steps(record, 2)] == led_to
    assert [found[index] for index in own_steps(record, 0)] == [(n,) for n in range(1, record.seats[0].moves + 1)]


def test_a_log_is_cut_where_one_asks(golden: Golden) -> None:
    """The first and last four bytes of twelve are read in three parts."""
    log = BoundedLog(4)
    for part in (b"abc", b"defghi", b"jkl"):
        log.add(part)

    assert [log.text(0, 3), log.text(3, 9), log.text(9, 12)] == ["abc", "d\n... 4 bytes left out ...\ni", "jkl"]
    golden(log.text())
    assert log.text(5, 7) == ""
