"""Increments: added to the bank after each answer, public, and never a gain by a refused answer."""

from typing import Any

import msgspec
import pytest
from support.scripted_bot import CLOCK, ScriptedBot, answer, match_of, seated, toy_bot, toy_match

from arena import validation
from arena.errors import SpecError
from arena.match.settings import ClockSettings

TENTHS = ClockSettings(move_ms=0, bank_ms=1000, increment_ms=100, startup_ms=5000)
HEAPS = {"heaps": [9, 9, 9]}


def thinking(*seconds: float) -> ScriptedBot:
    """A bot that takes so long for its answers, and then no time."""
    bot, left = ScriptedBot(), iter(seconds)

    def think(_message: Any, _number: int) -> None:
        bot.times.cpu_s += next(left, 0.0)

    bot._odd = think
    return bot


def test_each_answer_adds_to_the_bank_and_all_banks_are_public() -> None:
    """An opponent's bank has the increment of its last answer; the lines made from the record are the same."""
    first, second = thinking(0.25, 0.05, 0.9), thinking(0.1, 0.0)

    record = match_of(seated(first, TENTHS), seated(second, TENTHS), clock=TENTHS, options=HEAPS)

    clocks = [message["clock"] for message in first.of_type("request")]
    assert [clock["bank_ms"] for clock in clocks[:4]] == [1000, 850, 900, 100]
    assert [clock["banks_ms"] for clock in clocks[:3]] == [[1000, 1000], [850, 1000], [900, 1100]]
    assert [message["clock"]["banks_ms"] for message in second.of_type("request")][:2] == [[850, 1000], [900, 1000]]
    assert {clock["move_ms"] for clock in clocks} == {0}
    assert first.of_type("match_start")[0]["clock"]["increment_ms"] == 100
    assert record.clock.increment_ms == 100


def test_a_bank_that_is_used_up_is_a_timeout_whatever_would_be_added() -> None:
    """1000 ms and not 1 ms more; a bank that has grown may be used whole, on the backstop's side too."""
    late = match_of(seated(thinking(1.001), TENTHS), seated(thinking(), TENTHS), clock=TENTHS, options=HEAPS)
    saved = thinking(0.0, 0.0, 1.15)
    record = match_of(seated(saved, TENTHS), seated(thinking(), TENTHS), clock=TENTHS, options=HEAPS)

    assert (late.termination, late.ranks) == ("timeout", (1, 0))
    assert record.termination == "normal"
    assert saved.of_type("request")[3]["clock"]["bank_ms"] == pytest.approx(150)


def test_a_refused_answer_gains_nothing() -> None:
    """The second answer to a request has what the first left; both together add one increment."""
    bot = toy_bot(20, lambda message, number: [answer(message, {"mm": 101})] if number == 1 else None)
    toy_match(bot, toy_bot(30), clock=TENTHS)

    banks = [(message["clock"]["bank_ms"], message["clock"]["banks_ms"][0]) for message in bot.of_type("request")]
    assert banks[:3] == [(1000, 1000), (1000, 1000), (1100, 1100)]


def test_matches_without_increments_say_nothing_of_them() -> None:
    """No bank of another is public there."""
    bot = thinking()
    match_of(seated(bot), seated(thinking()), options=HEAPS)

    assert "increment_ms" not in bot.of_type("match_start")[0]["clock"]
    assert {*bot.of_type("request")[0]["clock"]} == {"move_ms", "bank_ms"}
    assert b"increment_ms" not in msgspec.json.encode(CLOCK)


@pytest.mark.parametrize(
    ("clock", "said"),
    [
        ({"increment_ms": 100}, "increments go with a move_ms of 0"),
        ({"move_ms": 0, "bank_ms": 0, "increment_ms": 100}, "move_ms and bank_ms are both 0"),
        ({"move_ms": 0, "increment_ms": 0}, "increment_ms: expected a number > 0"),
        ({"move_ms": 0, "increment_ms": -1}, "increment_ms: expected a number > 0"),
        ({"move_ms": 0, "increment_ms": "x"}, "increment_ms: expected a number"),
    ],
)
def test_a_clock_that_makes_no_sense_is_refused(clock: dict[str, Any], said: str) -> None:
    """Time for each move and increments exclude each other."""
    with pytest.raises(SpecError, match=said):
        validation.read_struct(clock, ClockSettings, place="clock")
