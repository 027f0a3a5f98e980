"""One bot at the table: what counts as its answer, what it costs, and what becomes of a bot that fails."""

from collections.abc import Callable, Iterator

import msgspec
import pytest
from msgspec import UNSET
from support.golden import Golden
from support.scripted_bot import CLOCK, HELLO, Message, ScriptedBot, answer, house, match_of, only, ready, seated

from arena.errors import HarnessFault
from arena.match.line_recorder import split_ignored
from arena.match.record import MatchRecord
from arena.match.results import result_of
from arena.process.scripted import Reply, ScriptedChannel

STRICT = msgspec.structs.replace(CLOCK, strict=True)


def played(bot: ScriptedBot, clock: object = CLOCK) -> MatchRecord:
    return match_of(seated(bot, clock), house())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "counted"),
    [
        ([b"  ", b"", b"\r"], [], {}),
        ([b"thinking", b"still thinking", b"[1]", b"\xff\xfe", b'\xef\xbb\xbf{"type":"hello"}'], [], {"stray": 5}),
        ([b'{"type":"action","id":0,"action":1}'], [], {"stale": 1}),
        ([b'{"type":"action","id":77,"action":1}', b'{"type":"action","id":-5,"action":1}'], [], {"stale": 2}),
        ([], [b'{"type":"action","id":1,"action":1}'], {"early": 1}),
        ([], [b'{"type":"action","id":2,"action":1}', HELLO], {"early": 2}),
    ],
)
def test_what_is_no_answer_is_counted_and_not_applied(
    before: list[bytes], after: list[bytes], counted: dict[str, int]
) -> None:
    """Wrong ids, prints and blank lines before an answer, and further answers after it, count for nothing."""
    plain = played(ScriptedBot())
    record = played(ScriptedBot(lambda message, n: [*before, answer(message), *after] if n == 1 else None))

    assert record.seats[0].ignored == counted
    assert record.steps == plain.steps


def test_unknown_fields_are_counted_by_name_and_the_answer_counts(golden: Golden) -> None:
    """A field that arena/1 does not have changes nothing; the record names three of a match, and counts the others."""
    plain = played(ScriptedBot())

    def with_more(message: Message, number: int) -> list[Reply]:
        extra = b',"x%d\\n":[1],"y":2' % number if number > 1 else b',"notes":"x"'
        return [answer(message)[:-1] + extra + b"}"]

    record = played(ScriptedBot(with_more))
    lines, sentences = split_ignored(record.seats[0].ignored)

    assert record.steps == plain.steps
    assert lines == {}
    golden(sentences[0])
    assert len(record.seats[0].ignored) == 4
    assert all(text.isprintable() for text in sentences)


@pytest.mark.parametrize(
    ("is_before", "counted"), [(True, {"stale": 2}), (False, {"early": 2})], ids=["before ready", "behind ready"]
)
def test_an_answer_without_a_request_is_dropped(is_before: bool, counted: dict[str, int]) -> None:
    """An answer of the last match while the bot owes `ready`, and one to a request that was not sent, are dropped."""
    bot = ScriptedBot()
    late: list[Reply] = []
    bot._ready = lambda message: [*late, ready(message)] if is_before else [ready(message), *late]
    bot_player = seated(bot)
    match_of(bot_player, house())
    late.extend([answer(bot.of_type("request")[-1]), answer({"id": 99})])

    assert match_of(bot_player, house()).seats[0].ignored == counted


def test_a_stray_print_is_warned_of_once_a_match(golden: Golden) -> None:
    """However many prints there are, one warning shows the first of them."""
    bot = ScriptedBot(lambda message, _: [b"hm\x1b[2J", b"hm", answer(message)])
    bot_player = seated(bot)
    match_of(bot_player, house())
    match_of(bot_player, house())

    errors = bot.of_type("error")
    assert [(error["code"], error["fatal"]) for error in errors] == [("malformed_reply", False)] * 2
    assert errors[0]["got"] == "hm\\x1b[2J"
    golden(errors[0]["hint"])


@pytest.mark.parametrize(
    "bot",
    [
        ScriptedBot(lambda message, _: [b"hm", answer(message)]),
        ScriptedBot(lambda message, _: [answer(message), b"hm"]),
        ScriptedBot(ready=lambda message: [b"loading", ready(message)]),
        ScriptedBot(hello=[b"welcome", HELLO]),
    ],
)
def test_a_strict_tournament_takes_a_stray_print_for_a_forfeit(bot: ScriptedBot, golden: Golden) -> None:
    """The print forfeits the match with an answer, before a request and at the start."""
    record = match_of(seated(bot, STRICT), house(), clock=STRICT)

    assert record.termination.value == "malformed_reply"
    assert record.fault is not None
    golden(record.fault.message)


def thinking(bot: ScriptedBot, *seconds: float) -> ScriptedBot:
    """Return a bot that uses so much CPU time for its first requests."""

    def think(message: Message, number: int) -> list[Reply]:
        if number <= len(seconds):
            bot.times.cpu_s += seconds[number - 1]
        return [answer(message)]

    bot._odd = think
    return bot


@pytest.mark.parametrize(("seconds", "termination"), [((0.6, 0.7), "normal"), ((0.6, 0.71), "timeout")])
def test_move_and_bank_together_are_the_limit(seconds: tuple[float, ...], termination: str) -> None:
    """After 0.6 s the bank holds 0.5 s: with the move's 0.1 s that makes 0.6 s, and some rounding."""
    bot = thinking(ScriptedBot(), seconds[0], seconds[1] - 0.101)
    record = match_of(seated(bot), house(), options={"heaps": [9, 9, 9, 9]})

    assert record.termination.value == termination


def test_cpu_time_between_the_requests_is_not_charged() -> None:
    """The CPU time of the start-up is not charged either."""
    bot = ScriptedBot()

    def heavy(message: Message) -> list[Reply]:
        bot.times.cpu_s += 4.0
        return [ready(message)]

    bot._ready = heavy

    assert played(bot).seats[0].cpu_ms == 0.0


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


def test_the_last_lines_both_ways_are_kept() -> None:
    """Twenty lines are kept, or all lines where that was asked for."""
    short, whole = seated(ScriptedBot(), keep_transcript=False), seated(ScriptedBot(), keep_transcript=True)
    match_of(short, house(), options={"heaps": [9, 9, 9, 9, 9]})
    match_of(whole, house(), options={"heaps": [9, 9, 9, 9, 9]})

    assert len(short.transcript) == 20
    assert [line for _, _, line in short.transcript] == [line for _, _, line in whole.transcript][-20:]
    assert [way for _, way, _ in whole.transcript][:4] == [">", "<", ">", "<"]
    assert all(line.endswith(b"\n") == (way == ">") for _, way, line in whole.transcript)


def starting(hello_s: float, ready_s: float) -> ScriptedBot:
    """Return a bot that uses so much CPU time before its `hello` and before each `ready`."""
    bot = ScriptedBot()

    class Slow(list[Reply]):
        def __iter__(self) -> Iterator[Reply]:
            bot.times.cpu_s += hello_s
            return iter([HELLO])

    def prepare(message: Message) -> list[Reply]:
        bot.times.cpu_s += ready_s
        return [ready(message)]

    bot._hello, bot._ready = Slow(), prepare
    return bot


@pytest.mark.parametrize(("hello_s", "ready_s", "termination"), [(2.0, 2.9, "normal"), (2.9, 2.9, "timeout")])
def test_hello_and_ready_share_the_start_up_time_of_a_match(hello_s: float, ready_s: float, termination: str) -> None:
    """They have 5 s; CPU time of all threads counts like real time, and the message names what took it."""
    record = played(starting(hello_s, ready_s))

    assert record.termination.value == termination
    if record.fault is not None:
        message = 'no "ready" within 5.0 s (2.9 s went to "hello") from a function in this process; its threads used'
        assert record.fault.message == f"{message} 2.9 s of CPU time"


def test_later_matches_of_a_process_have_the_whole_start_up_time_again() -> None:
    """The budget is one match's: no match depends on how many came before it."""
    bot_player = seated(starting(2.0, 2.9))

    records = [match_of(bot_player, house(), match=name) for name in ("a", "b", "c")]

    assert [record.termination.value for record in records] == ["normal"] * 3
    assert [round(float(record.seats[0].startup_ms or 0.0), -2) for record in records] == [4900, 2900, 2900]


def test_where_wall_time_decides_cpu_time_of_the_start_is_free() -> None:
    """CPU time cannot be trusted there."""
    clock = msgspec.structs.replace(CLOCK, decides="wall")
    bot = starting(4.0, 4.0)

    assert match_of(seated(bot, clock), house(), clock=clock).termination.value == "normal"


def by_wall(*, waited: bool) -> MatchRecord:
    """Play a match, where wall time decides, with a bot that never answers and always or never waits for a core."""
    clock = msgspec.structs.replace(CLOCK, decides="wall")
    bot = ScriptedBot(only(1))

    def open_channel(bot_open: Callable[[], ScriptedChannel] = bot.open) -> ScriptedChannel:
        channel = bot_open()
        if waited:
            channel.delayed_s = lambda: bot.times.wall_s
        return channel

    bot.open = open_channel  # type: ignore[method-assign]
    return match_of(seated(bot, clock), house(clock), clock=clock)


@pytest.mark.parametrize("waited", [True, False])
def test_a_timeout_by_load_is_told_in_the_sentence_and_counted(waited: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record and the result count it."""
    monkeypatch.setattr("arena.match.clock_account.own_delay_s", lambda: 0.0)  # of a busy machine
    record = by_wall(waited=waited)

    assert record.termination.value == "timeout"
    assert record.fault is not None
    assert ("waited for a core" in record.fault.message) == waited
    assert record.seats[0].timeouts_by_load == (1 if waited else UNSET)
    assert result_of(msgspec.structs.replace(record, match="p-0-0")).timeouts_by_load == ((1, 0) if waited else (0, 0))


def stopped_once(suspended_s: float) -> MatchRecord:
    """Play a match in which nine seconds pass while the bot owes its second answer."""
    bot = ScriptedBot()

    def stopped(message: Message, number: int) -> list[Reply]:
        bot.times.wall_s += 9.0 if number == 2 else 0.0
        return [answer(message)]

    bot._odd = stopped
    bot_player = seated(bot)
    bot_player.account.suspended = lambda _: suspended_s
    return match_of(bot_player, house())


def test_a_suspension_while_a_bot_owes_an_answer_makes_the_match_void(golden: Golden) -> None:
    """Nobody forfeits, and there is no record."""
    with golden.raises(HarnessFault):
        stopped_once(4.0)


def test_where_nobody_could_play_it_again_the_bot_is_excused() -> None:
    """After Ctrl-Z in `arena play` the match goes on."""
    assert stopped_once(0.0).termination.value == "normal"
