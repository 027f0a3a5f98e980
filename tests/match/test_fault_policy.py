"""A game that goes on after a fault: the answer asked for once more, what stands in for it, and where that ends."""

import json
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from support.golden import Golden
from support.scripted_bot import (
    CLOCK,
    HELLO,
    STRICT,
    Message,
    NotingChannel,
    ScriptedBot,
    acted,
    answer,
    at_toy_game,
    house,
    match_of,
    only,
    seated,
    toy_bot,
    toy_match,
)
from support.toy_game import HOLD_ON, Lean, ToyGame

from arena.errors import Crashed, MalformedReply
from arena.match.record import ActionStep, RefusedAnswer, encode_record
from arena.match.settings import ClockSettings
from arena.process.scripted import Reply
from arena.protocol import codec
from arena.protocol.messages import FromBot

TOO_FAR = {"mm": 101}
PONDER = msgspec.structs.replace(CLOCK, ponder=True)


def leaning(*leans: Any) -> Any:
    """Return a bot that answers its first requests with these actions."""
    return lambda message, number: [answer(message, leans[number - 1])] if number <= len(leans) else None


def silent(*numbers: int) -> Any:
    """Return a bot that does not answer the requests of these numbers."""
    return lambda _message, number: [] if number in numbers else None


def test_a_refused_answer_is_asked_for_once_more_line_by_line() -> None:
    """The bot gets an error, and the same request with another id, the reason, and no new events."""
    bot = toy_bot(20, leaning(TOO_FAR))
    game = ToyGame()
    bot_player = at_toy_game(bot, game)
    toy_match(bot_player, at_toy_game(toy_bot(30), game), game=game)

    lines = [(way, json.loads(line)) for _, way, line in bot_player.transcript][4:9]
    request, again = lines[0][1], lines[3][1]
    view = {"you": 0, "round": 1, "phase": "lean", "scores": [0, 0], "leans": []}
    reason = {
        "code": "illegal_action",
        "reason": "too_far",
        "message": "nobody leans out 101 mm",
        "hint": "100 at most",
    }
    time = {"move_ms": 100.0, "bank_ms": 1000.0}
    base: Message = {"type": "request", "match": "m", "view": view, "events": [], "legal": None, "clock": time}
    assert [way for way, _ in lines] == [">", "<", ">", ">", "<"]
    assert request == {**base, "id": 1}
    assert lines[1][1] == {"type": "action", "id": 1, "action": TOO_FAR}
    assert lines[2][1] == {**reason, "type": "error", "fatal": False, "got": json.dumps(lines[1][1])}
    assert again == {**base, "id": 2, "refused": reason}
    assert lines[4][1] == {"type": "action", "id": 2, "action": {"mm": 20}}


@pytest.mark.parametrize(
    ("replies", "code", "found"),
    [
        ([b'{"type":"action","id":1,"action":{"mm":NaN}}'], "malformed_reply", "NaN is not JSON"),
        ([b'{"type":"action","id":1,"action":{"cm":1}}'], "malformed_reply", "not an action of the toy game"),
        ([MalformedReply("a line of more than 9 bytes")], "malformed_reply", "more than 9 bytes"),
        ([b'{"type":"action","id":1,"action":0}'], "malformed_reply", "lists no legal actions"),
        ([b'{"type":"action","id":1,"action":{"mm":-101}}'], "illegal_action", "nobody leans out -101 mm"),
        ([b'{"type":"action","id":1,"action":{"mm":13}}'], "illegal_action", "rotten"),
    ],
)
def test_whatever_is_malformed_or_illegal_is_refused(replies: list[Reply], code: str, found: str) -> None:
    """Codec, protocol, rules or simulator refuse it; the bot gets the reason, and the request once more."""
    bot = toy_bot(20, only(1, *replies))
    record = toy_match(bot, toy_bot(30))

    (error,) = bot.of_type("error")
    assert (error["code"], error["fatal"]) == (code, False)
    assert found in error["message"]
    assert bot.of_type("request")[1]["refused"]["message"] == error["message"]
    assert acted(record, 0)[0].action == Lean(20)
    assert record.seats[0].faults == {code: 1}
    assert record.termination.value == "normal"


@pytest.mark.parametrize("clock", [CLOCK, STRICT])
def test_an_index_where_nothing_is_listed_gets_an_example(clock: ClockSettings, golden: Golden) -> None:
    """The example is allowed by the rules, and always the same."""
    bot = toy_bot(20, leaning(0))
    toy_match(bot, toy_bot(30), clock=clock)

    hint = bot.of_type("error")[0]["hint"]
    golden(hint)


def test_refusals_are_kept_with_their_sentences() -> None:
    """A refusal has its step, code, sentence and the game's word; a seat without refusals has no such field."""
    record = toy_match(toy_bot(30), toy_bot(20, leaning(TOO_FAR, {"mm": 13})))

    assert record.seats[1].refusals == (
        RefusedAnswer(step=2, code="illegal_action", reason="too_far", message="nobody leans out 101 mm"),
        RefusedAnswer(step=2, code="illegal_action", reason="rotten", message="the plank at 13 mm is rotten"),
    )
    assert record.steps[1] == acted(record, 1)[0]
    assert record.seats[0].refusals is UNSET
    assert b"refusals" not in msgspec.json.encode(record.seats[0])


def test_after_the_second_refusal_something_stands_in() -> None:
    """All seats get the fallback action, also its own; the record has the code of the last fault."""
    bots = [toy_bot(20, leaning(TOO_FAR, {"cm": 1})), toy_bot(30)]
    record = toy_match(*bots)

    assert acted(record, 0)[0] == ActionStep(seat=0, action=HOLD_ON, fallback_for="malformed_reply")
    assert record.seats[0].faults == {"illegal_action": 1, "malformed_reply": 1}
    assert record.seats[0].moves == 4
    assert [error["fatal"] for error in bots[0].of_type("error")] == [False, False]
    told = {"event": "action", "seat": 0, "action": {"mm": 0}, "stand_in": "malformed_reply"}
    assert bots[0].of_type("request")[2]["events"][0] == told
    assert told in [event for message in bots[1].of_type("request") for event in message["events"]]


def test_who_is_too_late_is_not_asked_again() -> None:
    """The fallback action is played at once. The late answer is stale, and the next request counts."""
    late = answer({"id": 1}, {"mm": 99})
    bot = toy_bot(20, lambda message, number: [[], [late, answer(message)]][number - 1] if number < 3 else None)

    record = toy_match(bot, toy_bot(30))

    assert acted(record, 0)[0] == ActionStep(seat=0, action=HOLD_ON, fallback_for="timeout")
    assert record.seats[0].faults == {"timeout": 1}
    assert record.seats[0].ignored == {"stale": 1}
    assert record.termination.value == "normal"
    assert ["refused" in message for message in bot.of_type("request")] == [False] * len(bot.of_type("request"))
    assert bot.of_type("error")[0]["code"] == "timeout"


def timed(bot: ScriptedBot, *answers: tuple[float, Any], wall: bool = False) -> ScriptedBot:
    """Return a bot that uses so much CPU or wall time for its first requests; with None it gives no answer."""

    def think(message: Message, number: int) -> Iterable[Reply] | None:
        if number > len(answers):
            return None
        seconds, action = answers[number - 1]
        if wall:
            bot.times.wall_s += seconds
        else:
            bot.times.cpu_s += seconds
        return [] if action is None else [action if isinstance(action, bytes) else answer(message, action)]

    bot._odd = think
    return bot


def test_who_is_too_late_is_stopped() -> None:
    """Like a bot that has answered, it may not think while others are on move."""
    bot = toy_bot(20, silent(1))
    channel = NotingChannel(bot)
    toy_match(bot, toy_bot(30))

    assert channel.states[:6] == ["runs", "stopped"] * 3
    assert channel.states[-1] == "stopped"


def test_cpu_time_used_too_late_is_charged_to_the_next_move() -> None:
    """0.05 s between the end of its time and its being stopped count for the next answer."""
    bot = timed(toy_bot(1), (2.0, None))
    channel = NotingChannel(bot)
    channel.rest = lambda: setattr(bot.times, "cpu_s", bot.times.cpu_s + 0.05)  # type: ignore[method-assign]
    record = toy_match(bot, toy_bot(30))

    assert record.seats[0].faults == {"timeout": 1}
    assert record.seats[0].cpu_ms == pytest.approx(50 + 2000 + 50 + 50)  # after ready, late, after it, after the second


@pytest.mark.parametrize("wrong", [TOO_FAR, b"{"], ids=["illegal", "malformed"])
@pytest.mark.parametrize(
    ("first_s", "move_ms", "bank_ms"), [(0.0, 100, 1000), (0.03, 70, 1000), (0.1, 0, 1000), (0.4, 0, 700)]
)
def test_a_second_answer_has_what_the_first_left(first_s: float, move_ms: float, bank_ms: float, wrong: Any) -> None:
    """0.1 s for the move: what the first answer used of it is gone, beyond that the bank pays. Nonsense costs too."""
    bot = timed(toy_bot(20), (first_s, wrong))
    toy_match(bot, toy_bot(30))

    again = bot.of_type("request")[1]
    assert again["clock"]["move_ms"] == pytest.approx(move_ms, abs=1e-6)
    assert again["clock"]["bank_ms"] == pytest.approx(bank_ms)
    assert bot.of_type("request")[2]["clock"]["move_ms"] == 100


@pytest.mark.parametrize(("second_s", "late"), [(0.69, {}), (0.71, {"timeout": 1})])
def test_both_answers_together_have_the_time_of_one(second_s: float, late: dict[str, int]) -> None:
    """1.1 s of move and bank, of which the first answer takes 0.4."""
    bot = timed(toy_bot(20), (0.4, TOO_FAR), (second_s, {"mm": 20}))
    record = toy_match(bot, toy_bot(30))

    assert record.seats[0].faults == {"illegal_action": 1, **late}
    assert acted(record, 0)[0].fallback_for == ("timeout" if late else "")


def test_both_answers_together_have_the_wall_time_of_one() -> None:
    """A bot that sleeps 0.4 s before each of two answers is too late with the second: the limit is 0.6 s."""
    bot = timed(toy_bot(20), (0.4, TOO_FAR), (0.4, {"mm": 20}), wall=True)
    clock = msgspec.structs.replace(CLOCK, wall_ms=600.0)

    assert toy_match(bot, toy_bot(30), clock=clock).seats[0].faults == {"illegal_action": 1, "timeout": 1}


def test_the_third_timeout_of_a_seat_forfeits() -> None:
    """Two timeouts of a match are pardoned; the next match counts anew. The last message says why it forfeits."""
    game = ToyGame()
    bot = toy_bot(20, silent(1, 2, 3, 4, 5))
    bot_player, other = at_toy_game(bot, game), at_toy_game(toy_bot(30), game)
    first = toy_match(bot_player, other, game=game)
    second = toy_match(bot_player, other, game=game)

    assert (first.termination.value, first.ranks) == ("timeout", (1, 0))
    assert [step.fallback_for for step in acted(first, 0)] == ["timeout", "timeout"]
    assert (first.seats[0].faults, first.seats[0].moves) == ({"timeout": 2}, 3)
    told = "; the third timeout in this match forfeits it"
    errors = [(error["fatal"], told in error["message"]) for error in bot.of_type("error")[:3]]
    assert errors == [(False, False), (False, False), (True, True)]
    assert first.fault is not None
    assert first.fault.message.endswith(told)
    assert (second.termination.value, second.seats[0].faults) == ("normal", {"timeout": 2})


@pytest.mark.parametrize(
    ("reply", "code"), [(Crashed("the bot ended"), "crash"), (HELLO, "protocol_violation")], ids=["crash", "violation"]
)
@pytest.mark.parametrize("number", [1, 2], ids=["at first", "asked again"])
def test_what_is_no_answer_at_all_always_forfeits(reply: Reply, code: str, number: int) -> None:
    """A bot whose process is gone, or that breaks the protocol, cannot be asked again."""
    odd = only(1, reply) if number == 1 else lambda m, n: [[answer(m, TOO_FAR)], [reply]][n - 1] if n < 3 else None

    record = toy_match(toy_bot(20, odd), toy_bot(30))

    assert (record.termination.value, record.ranks) == (code, (1, 0))
    assert record.seats[0].faults == ({} if number == 1 else {"illegal_action": 1})
    assert record.seats[0].moves == number


@pytest.mark.parametrize("reply", [b"{", b'{"type":"action","id":1,"action":{"mm":101}}', None])
def test_a_strict_tournament_pardons_nothing(reply: bytes | None) -> None:
    """Every fault forfeits, as in games without a fault policy."""
    record = toy_match(toy_bot(20, only(1, *([] if reply is None else [reply]))), toy_bot(30), clock=STRICT)

    assert record.fault is not None
    assert "the third timeout" not in record.fault.message
    assert (record.steps, record.seats[0].faults, record.seats[0].moves) == ((), {}, 1)


def test_a_game_without_a_fault_policy_forfeits_and_counts_no_faults() -> None:
    """The field is left out of its records."""
    game = ToyGame()
    game.fault_policy = None
    record = toy_match(at_toy_game(toy_bot(20, leaning(TOO_FAR)), game), at_toy_game(toy_bot(30), game), game=game)

    assert (record.termination.value, record.seats[0].faults) == ("illegal_action", UNSET)
    assert b'"faults"' not in encode_record(record)
    assert match_of(seated(ScriptedBot()), house()).seats[0].faults is UNSET


@pytest.mark.parametrize(("lines", "termination"), [(10_000, "normal"), (10_001, "protocol_violation")])
def test_endless_prints_are_a_flood_here_too(lines: int, termination: str) -> None:
    """More than 10 000 lines that answer nothing are no answer that could be refused; so many are let pass."""
    patient = msgspec.structs.replace(CLOCK, wall_ms=10_000_000.0)

    def flood(message: Message, number: int) -> list[bytes] | None:
        return [*[b"hm"] * lines, answer(message, {"mm": 20})] if number == 1 else None

    record = toy_match(toy_bot(20, flood), toy_bot(30), clock=patient)

    assert (record.termination.value, record.seats[0].faults) == (termination, {})


LONG: Final = 60_000
STALE: Final = b'{"type":"action","id":0,"action":{"a":[%b[]]}}' % (b"[]," * (LONG // 3))


@pytest.mark.parametrize("line", [b"x" * LONG, b" " * LONG, STALE], ids=["stray", "blank", "stale"])
def test_few_lines_that_answer_nothing_are_a_flood_if_they_are_long(line: bytes, golden: Golden) -> None:
    """18 of them are more than a MiB."""
    record = toy_match(toy_bot(20, only(1, *[line] * 18)), toy_bot(30))

    assert record.termination.value == "protocol_violation"
    assert record.fault is not None
    golden(record.fault.message)


def test_a_line_about_another_request_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoding takes 30 times as long as reading its id, and the bot needs no time to write it."""
    strictly = codec.decode_strictly

    def decoded(line: bytes) -> tuple[FromBot, tuple[str, ...]]:
        assert line != STALE
        return strictly(line)

    monkeypatch.setattr(codec, "decode_strictly", decoded)
    toy_match(toy_bot(20, only(1, *[STALE] * 10)), toy_bot(30))


class Flooded(NotingChannel):
    """A channel that raises a flood at the second request."""

    def pending(self) -> list[bytes]:
        if len(self.states) > 5:
            raise MalformedReply("lines without end before a request")
        return super().pending()


class Deaf(NotingChannel):
    """A channel that cannot take a warning."""

    def send(self, line: bytes, clock: Any) -> None:
        if line.startswith(b'{"type":"error"'):
            raise Crashed("the bot ended")
        super().send(line, clock)


class Greedy(NotingChannel):
    """A channel whose bot is found to break its limits when it is stopped for the third time."""

    def rest(self) -> None:
        super().rest()
        if len(self.states) > 5:
            raise Crashed("the bot was stopped: it used 900 MiB")


@pytest.mark.parametrize(
    ("channel", "odd", "code"),
    [(Flooded, leaning(), "malformed_reply"), (Deaf, leaning(TOO_FAR), "crash"), (Greedy, silent(1), "crash")],
)
def test_a_process_that_cannot_be_asked_again_forfeits(channel: type[NotingChannel], odd: Any, code: str) -> None:
    """It has flooded the channel, ended before it could take the warning, or broken its limits while refused."""
    bot = toy_bot(20, odd)
    channel(bot)
    record = toy_match(bot, toy_bot(30))

    assert (record.termination.value, record.seats[0].moves) == (code, 1)


def test_a_bot_that_may_ponder_is_not_charged_for_the_time_between() -> None:
    """Where bots may think while others are on move, a late one may finish its thought."""
    bot = timed(toy_bot(20), (0.05, TOO_FAR), (0.05, {"mm": 20}))
    channel = NotingChannel(bot)
    channel.rest = lambda: setattr(bot.times, "cpu_s", bot.times.cpu_s + 9.0)  # type: ignore[method-assign]

    assert toy_match(bot, toy_bot(30), clock=PONDER).seats[0].cpu_ms == pytest.approx(100)


BAD = st.sampled_from([TOO_FAR, {"cm": 1}, {"mm": 13}, None])


@settings(max_examples=60)
@given(said=st.lists(st.lists(BAD | st.just({"mm": 20}), max_size=8), min_size=2, max_size=4))
def test_answers_and_faults_always_add_up(said: list[list[Any]]) -> None:
    """An answer is a step of its seat, a pardoned fault, or lost in a match that another seat forfeited."""

    def speaking(mine: list[Any]) -> ScriptedBot:
        def odd(message: Message, number: int) -> Iterable[Reply] | None:
            if number > len(mine) or (message["legal"] and mine[number - 1] == {"mm": 20}):
                return None
            return [] if mine[number - 1] is None else [answer(message, mine[number - 1])]

        return toy_bot(20, odd)

    record = toy_match(*map(speaking, said))

    for seat, entry in enumerate(record.seats):
        assert isinstance(entry.faults, dict)
        own = sum(not step.fallback_for and not step.forced for step in acted(record, seat))
        more = entry.moves - own - sum(entry.faults.values())
        assert 0 <= more <= (record.fault is not None)
        assert more or record.fault is None or record.fault.seat != seat
        assert entry.faults.get("timeout", 0) <= 2
