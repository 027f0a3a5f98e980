"""A bot that fails: what it and its author are told, what becomes of its process, and notices that it cannot take."""

from collections.abc import Callable

import pytest
from support.golden import Golden
from support.scripted_bot import HELLO, Message, ScriptedBot, answer, house, match_of, only, seated

from arena.errors import BotFault, Crashed, MalformedReply, OutOfTime
from arena.match.record import Forfeit
from arena.process.clock import MoveClock
from arena.process.scripted import Reply, ScriptedChannel


@pytest.mark.parametrize(
    ("replies", "code"),
    [
        ([Crashed("the bot ended with exit code 1")], "crash"),
        ([MalformedReply("a line of more than 9 bytes")], "malformed_reply"),
        ([b"{"], "malformed_reply"),
        ([b'{"type":"action","id":1,"action":99}'], "illegal_action"),
        ([HELLO], "protocol_violation"),
        ([], "timeout"),
    ],
)
def test_a_fault_ends_the_process_and_the_next_match_starts_a_new_one(replies: list[Reply], code: str) -> None:
    """The last message to the bot says what was wrong."""
    bot = ScriptedBot(only(1, *replies))
    bot_player = seated(bot)
    first = match_of(bot_player, house())
    second = match_of(bot_player, house())

    assert (first.termination.value, second.termination.value) == (code, "normal")
    assert [channel.is_closed for channel in bot.channels] == [True, False]
    (error,) = bot.of_type("error")
    assert (error["code"], error["fatal"]) == (code, True)
    assert (error["hint"] == "indices count from 0") == (code == "illegal_action")
    assert len(bot.of_type("hello")) == 2
    assert bot.of_type("request")[0]["id"] < bot.of_type("request")[1]["id"]


@pytest.mark.parametrize(
    ("bot", "code", "sentence"),
    [
        (ScriptedBot(hello=[]), "timeout", 'no "hello" within 5.0 s from a function in this process'),
        (ScriptedBot(ready=lambda _: []), "timeout", 'no "ready" within 5.0 s from a function in this process'),
        (ScriptedBot(hello=[b'{"type":"hello","protocols":[9]}']), "protocol_violation", "no common protocol"),
        (
            ScriptedBot(hello=[b'{"type":"hello","protocols":[%s9]}' % (b"9," * 9999)]),
            "protocol_violation",
            "arena/9, a",
        ),
        (ScriptedBot(ready=lambda _: [b'{"type":"ready","match":"x"}']), "protocol_violation", 'ready for match "x"'),
        (ScriptedBot(hello=[b'{"type":"ready","match":"x"}']), "protocol_violation", "owes its hello"),
        (ScriptedBot(hello=[Crashed("the bot ended")]), "crash", 'the bot ended before its "hello"; it was started as'),
    ],
)
def test_a_start_that_fails_is_a_forfeit(bot: ScriptedBot, code: str, sentence: str) -> None:
    """The match is forfeited before the first request, and the message says which line was missing."""
    record = match_of(seated(bot), house())

    assert (record.termination.value, record.steps) == (code, ())
    assert record.fault is not None
    assert sentence in record.fault.message
    assert len(record.fault.message) < 300
    assert bot.channels[0].is_closed


def test_a_bot_that_does_not_start_is_not_tried_for_ever() -> None:
    """After two attempts matches are forfeited at once, with the same fault."""
    bot = ScriptedBot(hello=[Crashed("the bot ended")])
    bot_player = seated(bot)
    records = [match_of(bot_player, house()) for _ in range(5)]

    assert [record.termination.value for record in records] == ["crash"] * 5
    assert len({record.fault.message for record in records if record.fault is not None}) == 1
    assert len(bot.channels) == 2


class Deaf(ScriptedChannel):
    """A channel that fails to take a line of that type."""

    def __init__(self, bot: ScriptedBot, kind: bytes, fault: BotFault) -> None:
        super().__init__(bot._respond)
        self._kind = kind
        self._fault = fault

    def send(self, line: bytes, clock: MoveClock) -> None:
        assert not self.is_closed, "nothing may be written to a channel that was closed"
        if line.startswith(b'{"type":"' + self._kind):
            raise self._fault
        super().send(line, clock)

    def pending(self) -> list[bytes]:
        assert not self.is_closed
        return super().pending()

    def receive(self, clock: MoveClock) -> bytes:
        assert not self.is_closed, "nothing may be read from a channel that was closed"
        return super().receive(clock)


def deaf(bot: ScriptedBot, kind: bytes, fault: BotFault | None = None) -> Callable[[], ScriptedChannel]:
    """Return the bot with a first process that cannot take that type of line."""

    def open_channel() -> ScriptedChannel:
        bot.channels.append(
            Deaf(bot, kind, fault or Crashed("the bot ended")) if not bot.channels else ScriptedChannel(bot._respond)
        )
        return bot.channels[-1]

    return open_channel


@pytest.mark.parametrize("fault", [Crashed("the bot ended"), OutOfTime("no room in the pipe")])
def test_who_cannot_take_an_event_loses_when_it_is_asked_next(fault: BotFault) -> None:
    """The match goes on until then; it is no accident of the referee."""
    bot = ScriptedBot(hello=[b'{"type":"hello","protocols":[1],"capabilities":["events"]}'])
    bot.open = deaf(bot, b"event", fault)  # type: ignore[method-assign]
    bot_player = seated(bot)

    first, second = match_of(bot_player, house()), match_of(bot_player, house())

    assert (first.termination.value, second.termination.value) == (fault.code, "normal")
    assert first.fault is not None
    assert first.fault.message == fault.message


@pytest.mark.parametrize("prints", [lambda m: [b"hm", answer(m)], lambda m: [answer(m), b"hm"]])
def test_who_prints_and_cannot_take_the_warning_has_crashed(prints: Callable[[Message], list[Reply]]) -> None:
    """The channel is closed at once, so nothing may be read from it or written to it any more."""
    bot = ScriptedBot(lambda message, _: prints(message))
    bot.open = deaf(bot, b"error")  # type: ignore[method-assign]

    assert match_of(seated(bot), house()).termination.value == "crash"
    assert bot.channels[0].is_closed


def test_who_cannot_take_the_end_of_a_match_loses_nothing() -> None:
    """The match is over; the next one starts a new process."""
    bot = ScriptedBot()
    bot.open = deaf(bot, b"match_end")  # type: ignore[method-assign]
    bot_player = seated(bot)

    assert [match_of(bot_player, house()).termination.value for _ in range(2)] == ["normal", "normal"]
    assert len(bot.channels) == 2


def test_who_cannot_take_the_quit_is_killed(golden: Golden) -> None:
    """A bot player without a process reports that."""
    bot = ScriptedBot()
    bot.open = deaf(bot, b"quit")  # type: ignore[method-assign]
    bot_player = seated(bot)
    match_of(bot_player, house())

    assert bot_player.close() == "was killed"
    golden(bot_player.close())


def fault_of(bot: ScriptedBot, **options: list[int]) -> Forfeit:
    record = match_of(seated(bot), house(), options=options)
    assert record.termination.value == "timeout"
    assert record.fault is not None
    return record.fault


@pytest.mark.parametrize(
    ("replies", "hint"),
    [
        ([answer({"id": 2})], "an action with id 2 came, but the open request is 1: repeat the request's id"),
        (
            [b"hm", answer({"id": 0}), answer({"id": 9})],
            "an action with id 0 came, but the open request is 1: repeat the request's id",
        ),
        ([b"hm"], "1 line came, and it is not a JSON object: hm"),
        ([b"[1,2]"], "1 line came, and it is not a JSON object: [1,2]"),
        ([b"", b"1 2", b"[]"], "2 lines came, none of them a JSON object; the first: 1 2"),
        ([], "the bot slept, waited for something else, or never flushed its answer"),
    ],
)
def test_what_came_instead_of_an_answer_is_the_hint(replies: list[Reply], hint: str) -> None:
    """The first wrong id goes before anything that was printed; without any output there is no such hint."""
    assert fault_of(ScriptedBot(only(1, *replies))).hint == hint


def test_an_answer_that_came_too_soon_is_the_hint(golden: Golden) -> None:
    """The answer was there before its request."""
    bot = ScriptedBot(lambda message, n: [answer(message), answer({"id": 2})] if n == 1 else [])

    golden(fault_of(bot, heaps=[9, 9, 9]).hint)


@pytest.mark.parametrize(("before", "after"), [([], [b"{no"]), ([answer({"id": 77}), b"hm"], [])])
def test_what_was_wrong_in_an_earlier_request_is_no_reason_for_this_one(
    before: list[Reply], after: list[Reply]
) -> None:
    """Each request begins anew, and a line that is no message does not explain the next timeout."""
    bot = ScriptedBot(lambda message, n: [*before, answer(message), *after] if n == 1 else [])

    assert "slept" in fault_of(bot, heaps=[9, 9, 9]).hint


def test_nonsense_instead_of_a_hello_is_shown() -> None:
    """The message has the number of lines, and the first of them, safe to print."""
    fault = fault_of(ScriptedBot(hello=[b"blah \x1b[2J", b"", b"blubb", b"3"]))

    came = "3 lines came, none of them a JSON object; the first: blah \\x1b[2J"
    assert fault.message == f'no "hello" within 5.0 s from a function in this process; {came}'
