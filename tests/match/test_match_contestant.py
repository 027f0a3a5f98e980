"""One bot at the table: what counts as its answer, what it costs, and what becomes of a bot that fails."""

from collections.abc import Callable

import msgspec
import pytest
from match_table import CLOCK, HELLO, Message, ScriptedBot, answer, house, match_of, only, ready, seated

from arena.errors import BotFault, Crashed, MalformedReply, OutOfTime
from arena.match.record import MatchRecord
from arena.process.clock import MoveClock
from arena.process.scripted import Reply, ScriptedChannel

STRICT = msgspec.structs.replace(CLOCK, strict=True)


def played(bot: ScriptedBot, clock: object = CLOCK) -> MatchRecord:
    return match_of(seated(bot, clock), house())  # type: ignore[arg-type]


def test_a_dialogue_goes_in_the_order_of_the_protocol() -> None:
    """hello, match_start, requests with rising ids, match_end; and a second match without another hello."""
    bot = ScriptedBot()
    contestant = seated(bot)
    match_of(contestant, house(), match="a")
    match_of(contestant, house(), match="b")
    contestant.close()

    kinds = [message["type"] for message in bot.heard]
    assert kinds[:3] == ["hello", "match_start", "request"]
    assert [kind for kind in kinds if kind != "request"] == [
        *("hello", "match_start", "match_end", "match_start", "match_end", "quit")
    ]
    ids = [message["id"] for message in bot.of_type("request")]
    assert ids == list(range(1, len(ids) + 1))
    assert {message["match"] for message in bot.of_type("request")} == {"a", "b"}


@pytest.mark.parametrize(
    ("around", "counted"),
    [
        ([b"  ", b"", b"\r"], {}),
        ([b"thinking", b"still thinking", b"[1]", b"\xff\xfe"], {"stray": 4}),
        ([b'{"type":"action","id":0,"action":1}'], {"stale": 1}),
        ([b'{"type":"action","id":77,"action":1}', b'{"type":"action","id":-5,"action":1}'], {"stale": 2}),
    ],
)
def test_what_is_no_answer_is_counted_and_not_applied(around: list[bytes], counted: dict[str, int]) -> None:
    """Old ids, ids of the future, prints and blank lines before the answer."""
    plain = played(ScriptedBot())
    record = played(ScriptedBot(lambda message, n: [*around, answer(message)] if n == 1 else None))

    assert record.seats[0].ignored == counted
    assert record.steps == plain.steps


def test_a_second_answer_to_a_request_counts_as_early() -> None:
    """It lies there before the next request, and says something else than the first."""
    plain = played(ScriptedBot())
    record = played(ScriptedBot(lambda message, n: [answer(message), answer(message, 1)] if n == 1 else None))

    assert record.seats[0].ignored == {"early": 1}
    assert record.steps == plain.steps


def test_an_answer_to_a_request_that_was_not_yet_sent_is_dropped() -> None:
    """Even if its id is the one that comes next."""
    bot = ScriptedBot(
        lambda message, n: [answer(message), answer({"id": message["id"] + 1}, 1)] if n == 1 else None
    )

    record = played(bot)

    assert record.seats[0].ignored == {"early": 1}
    assert record.steps == played(ScriptedBot()).steps


def test_an_answer_after_the_end_is_stale_in_the_next_match() -> None:
    """It arrives while the bot owes its ready."""
    bot = ScriptedBot()
    late: list[Reply] = []
    bot._ready = lambda message: [*late, ready(message)]
    contestant = seated(bot)
    match_of(contestant, house())
    late.append(answer(bot.of_type("request")[-1]))

    assert match_of(contestant, house()).seats[0].ignored == {"stale": 1}


@pytest.mark.parametrize("ending", [b"\r", b"   ", b"\t\r"])
def test_lines_may_end_as_on_other_systems(ending: bytes) -> None:
    """A carriage return before the newline is no fault."""
    bot = ScriptedBot(lambda message, _: [answer(message) + ending], hello=[HELLO + ending])

    assert played(bot).termination.value == "normal"
    assert played(bot).seats[0].ignored == {}


def test_a_stray_print_is_warned_of_once_a_match() -> None:
    """However many there are; the warning shows the line."""
    bot = ScriptedBot(lambda message, _: [b"hm\x1b[2J", b"hm", answer(message)])
    contestant = seated(bot)
    match_of(contestant, house())
    match_of(contestant, house())

    errors = bot.of_type("error")
    assert [(error["code"], error["fatal"]) for error in errors] == [("malformed_reply", False)] * 2
    assert errors[0]["got"] == "hm\\x1b[2J"
    assert "stdout belongs to the protocol" in errors[0]["hint"]


@pytest.mark.parametrize(
    "bot",
    [
        ScriptedBot(lambda message, _: [b"hm", answer(message)]),
        ScriptedBot(lambda message, _: [answer(message), b"hm"]),
        ScriptedBot(ready=lambda message: [b"loading", ready(message)]),
        ScriptedBot(hello=[b"welcome", HELLO]),
    ],
)
def test_a_strict_tournament_takes_a_stray_print_for_a_forfeit(bot: ScriptedBot) -> None:
    """Whether it comes with an answer, before a request or at the start."""
    record = match_of(seated(bot, STRICT), house(), clock=STRICT)

    assert record.termination.value == "malformed_reply"
    assert record.fault is not None
    assert record.fault.message == "a line on stdout that is not a JSON object"


def thinking(bot: ScriptedBot, *seconds: float) -> ScriptedBot:
    """The bot takes so much CPU time for its first requests."""

    def think(message: Message, number: int) -> list[Reply]:
        if number <= len(seconds):
            bot.times.cpu_s += seconds[number - 1]
        return [answer(message)]

    bot._odd = think
    return bot


def test_the_bank_pays_what_goes_beyond_a_move() -> None:
    """0.1 s a move: 0.5 s take 0.4 from the bank of 1 s, 0.05 s nothing; each request tells what is left."""
    bot = thinking(ScriptedBot(), 0.5, 0.05, 0.3)
    record = match_of(seated(bot), house(), options={"heaps": [9, 9, 9, 9]})

    left = [message["clock"]["bank_ms"] for message in bot.of_type("request")]
    assert left[:4] == pytest.approx([1000, 600, 600, 400])
    assert all(message["clock"]["move_ms"] == 100 for message in bot.of_type("request"))
    assert record.seats[0].cpu_ms == pytest.approx(850)
    assert record.seats[0].slowest_ms == pytest.approx(500)


def test_the_bank_is_full_again_in_the_next_match() -> None:
    """It is a bank per match."""
    contestant = seated(bot := thinking(ScriptedBot(), 0.9))
    match_of(contestant, house())
    match_of(contestant, house(), match="b")

    assert next(m["clock"]["bank_ms"] for m in bot.of_type("request") if m["match"] == "b") == 1000


@pytest.mark.parametrize(("seconds", "termination"), [((0.6, 0.7), "normal"), ((0.6, 0.71), "timeout")])
def test_move_and_bank_together_are_the_limit(seconds: tuple[float, ...], termination: str) -> None:
    """After 0.6 s the bank holds 0.5: with the move's 0.1 that makes 0.6, and a hair for rounding."""
    bot = thinking(ScriptedBot(), seconds[0], seconds[1] - 0.101)
    record = match_of(seated(bot), house(), options={"heaps": [9, 9, 9, 9]})

    assert record.termination.value == termination


def test_cpu_time_between_the_requests_is_not_charged() -> None:
    """Nor is the time of the start-up."""
    bot = ScriptedBot()

    def heavy(message: Message) -> list[Reply]:
        bot.times.cpu_s += 4.0
        return [ready(message)]

    bot._ready = heavy

    assert played(bot).seats[0].cpu_ms == 0.0


def test_time_for_useless_lines_runs_on() -> None:
    """A bot that prints and prints has no other clock than one that thinks."""
    bot = ScriptedBot()

    def prints() -> Reply:
        bot.times.cpu_s += 0.2
        return b"hm"

    class Endless(list[Reply]):
        def __iter__(self):  # type: ignore[no-untyped-def]
            return (prints() for _ in range(100))

    bot._odd = lambda _message, _number: Endless()

    assert played(bot).termination.value == "timeout"


def test_events_come_at_once_to_who_asks_for_them() -> None:
    """The capability moves them from the requests into messages of their own."""
    hello = b'{"type":"hello","protocols":[1],"capabilities":["events","telepathy"]}'
    at_once, bundled = ScriptedBot(hello=[hello]), ScriptedBot()
    played(at_once)
    played(bundled)

    assert all(message["events"] == [] for message in [*at_once.of_type("request"), *at_once.of_type("match_end")])
    in_requests = [e for m in bundled.heard if m["type"] in {"request", "match_end"} for e in m["events"]]
    assert [message["what"] for message in at_once.of_type("event")] == in_requests
    assert bundled.of_type("event") == []


def test_a_note_is_kept_with_the_action() -> None:
    """For the log; without one there is nothing."""
    record = played(ScriptedBot(lambda message, n: [answer(message, note="aha")] if n == 1 else None))

    notes = [step.note for step in record.steps if step.seat == 0]  # type: ignore[union-attr]
    assert notes[0] == "aha"
    assert not any(notes[1:])


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
    """With a last word to the bot that says what was wrong."""
    bot = ScriptedBot(only(1, *replies))
    contestant = seated(bot)
    first = match_of(contestant, house())
    second = match_of(contestant, house())

    assert (first.termination.value, second.termination.value) == (code, "normal")
    assert [channel.is_closed for channel in bot.channels] == [True, False]
    (error,) = bot.of_type("error")
    assert (error["code"], error["fatal"]) == (code, True)
    assert len(bot.of_type("hello")) == 2
    assert bot.of_type("request")[0]["id"] < bot.of_type("request")[1]["id"]


@pytest.mark.parametrize(
    ("bot", "code", "sentence"),
    [
        (ScriptedBot(hello=[]), "timeout", 'no "hello" within 5.0 s from a function in this process'),
        (ScriptedBot(ready=lambda _: []), "timeout", 'no "ready" within 5.0 s from a function in this process'),
        (ScriptedBot(hello=[b'{"type":"hello","protocols":[9]}']), "protocol_violation", "no common protocol"),
        (ScriptedBot(ready=lambda _: [b'{"type":"ready","match":"x"}']), "protocol_violation", 'ready for match "x"'),
        (ScriptedBot(hello=[b'{"type":"ready","match":"x"}']), "protocol_violation", "owes its hello"),
        (ScriptedBot(hello=[Crashed("the bot ended")]), "crash", 'the bot ended before its "hello"; it was started as'),
    ],
)
def test_a_start_that_fails_is_a_forfeit(bot: ScriptedBot, code: str, sentence: str) -> None:
    """Before the first request, with a sentence that says what was owed."""
    record = played(bot)

    assert (record.termination.value, record.steps) == (code, ())
    assert record.fault is not None
    assert sentence in record.fault.message
    assert bot.channels[0].is_closed


class Deaf(ScriptedChannel):
    """Fails to take a line of that type."""

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
    """The bot as it is, but its first process cannot take that type of line."""

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
    contestant = seated(bot)

    first, second = match_of(contestant, house()), match_of(contestant, house())

    assert (first.termination.value, second.termination.value) == (fault.code, "normal")
    assert first.fault is not None
    assert first.fault.message == fault.message


@pytest.mark.parametrize("prints", [lambda m: [b"hm", answer(m)], lambda m: [answer(m), b"hm"]])
def test_who_prints_and_cannot_take_the_warning_has_crashed(prints: Callable[[Message], list[Reply]]) -> None:
    """The channel is closed at once, so nothing may be read from it or written to it any more."""
    bot = ScriptedBot(lambda message, _: prints(message))
    bot.open = deaf(bot, b"error")  # type: ignore[method-assign]

    assert played(bot).termination.value == "crash"
    assert bot.channels[0].is_closed


def test_who_cannot_take_the_end_of_a_match_loses_nothing() -> None:
    """The match is over; the next one starts a new process."""
    bot = ScriptedBot()
    bot.open = deaf(bot, b"match_end")  # type: ignore[method-assign]
    contestant = seated(bot)

    assert [match_of(contestant, house()).termination.value for _ in range(2)] == ["normal", "normal"]
    assert len(bot.channels) == 2


def test_who_cannot_take_the_quit_is_killed() -> None:
    """And a contestant without a process says so."""
    bot = ScriptedBot()
    bot.open = deaf(bot, b"quit")  # type: ignore[method-assign]
    contestant = seated(bot)
    match_of(contestant, house())

    assert contestant.close() == "was killed"
    assert contestant.close() == "was not running"


def test_the_last_lines_both_ways_are_kept() -> None:
    """Twenty, or all of them where that was asked for."""
    short, whole = seated(ScriptedBot()), seated(ScriptedBot(), keep_transcript=True)
    match_of(short, house(), options={"heaps": [9, 9, 9, 9, 9]})
    match_of(whole, house(), options={"heaps": [9, 9, 9, 9, 9]})

    assert len(short.transcript) == 20
    assert [line for _, _, line in short.transcript] == [line for _, _, line in whole.transcript][-20:]
    assert [way for _, way, _ in whole.transcript][:4] == [">", "<", ">", "<"]
    assert all(line.endswith(b"\n") == (way == ">") for _, way, line in whole.transcript)
