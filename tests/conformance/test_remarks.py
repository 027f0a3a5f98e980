"""What the author of a bot hears of its habits, from the records of a few matches."""

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace
from support.golden import Golden
from support.scripted_bot import CLOCK, Message, answer, toy_bot, toy_match

from arena.conformance.check import idle_remark, refusals_remark, timeouts_remark
from arena.errors import OutOfTime
from arena.match.record import MatchRecord
from arena.process.scripted import Reply

TOO_FAR = {"mm": 101}
BOT = "0" * 64


def sailed(*leans: Any) -> MatchRecord:
    """A match in which the first seat leans so, and then as it may; None is too late."""
    left = iter(leans)

    def respond(message: Message, _number: int) -> Iterable[Reply] | None:
        if message["legal"]:
            return None
        action = next(left, {"mm": 20})
        return [OutOfTime("late") if action is None else answer(message, action)]

    return toy_match(toy_bot(20, respond), toy_bot(30))


def test_refused_answers_are_counted_by_reason_and_the_first_is_told(golden: Golden) -> None:
    """Refused answers of all matches are counted by reason; timeouts are not among them."""
    records = [sailed(), sailed(None, {"mm": 13}), sailed(TOO_FAR, {"cm": 1}, TOO_FAR)]

    golden(refusals_remark(records, BOT))


def test_reasons_are_those_of_the_refusals_that_were_kept(golden: Golden) -> None:
    """The remark counts all refusals, and says if it knows the reasons of some only."""
    odd = toy_bot(odd=lambda message, _: [answer(message, TOO_FAR if message["legal"] is None else 9)])

    told = refusals_remark([toy_match(odd, toy_bot(30))], BOT)

    golden(told)


def test_timeouts_are_counted() -> None:
    """The remark counts timeouts and says what more of them would cause."""
    end = "after which the match went on; the third in a match forfeits it"

    assert timeouts_remark([sailed(None)], BOT) == f"1 timeout, {end}"
    assert timeouts_remark([sailed(None), sailed(None, None)], BOT) == f"3 timeouts, {end}"


def test_idle_time_is_told_of_the_worst_match(golden: Golden) -> None:
    """The remark has the longest idle time and the limit; under a tenth of a second, or by wall time, there is none."""
    seats = [replace(sailed().seats[0], idle_ms=each) for each in (UNSET, 2500.0, 40.0)]
    terms = CLOCK.terms()

    golden(idle_remark(seats, terms))
    assert idle_remark(seats[::2], terms) == ""
    assert idle_remark(seats, replace(CLOCK, decides="wall").terms()) == ""
