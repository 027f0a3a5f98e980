"""A timeout tells what came instead of the answer: another id, an answer too soon, or text that is no JSON object."""

import pytest
from support.scripted_bot import ScriptedBot, answer, house, match_of, only, seated

from arena.match.record import Forfeit
from arena.process.scripted import Reply


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
    """The first of the wrong ids before anything that was printed; nothing at all is silence."""
    assert fault_of(ScriptedBot(only(1, *replies))).hint == hint


def test_an_answer_that_came_too_soon_is_the_hint() -> None:
    """It lay there before its request; a line that is no message does not hide the next timeout."""
    bot = ScriptedBot(lambda message, n: [answer(message), answer({"id": 2})] if n == 1 else [])

    assert fault_of(bot, heaps=[9, 9, 9]).hint == (
        "an action with id 2 came before request 2 was sent, and was dropped: answer each request once, after it came"
    )
    assert (
        "slept"
        in fault_of(ScriptedBot(lambda message, n: [answer(message), b"{no"] if n == 1 else []), heaps=[9, 9, 9]).hint
    )


def test_what_was_wrong_in_an_earlier_request_is_no_reason_for_this_one() -> None:
    """Each request begins anew."""
    bot = ScriptedBot(lambda message, n: [answer({"id": 77}), b"hm", answer(message)] if n == 1 else [])

    assert "slept" in fault_of(bot, heaps=[9, 9, 9]).hint


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            [b"blah \x1b[2J", b"", b"blubb", b"3"],
            "; 3 lines came, none of them a JSON object; the first: blah \\x1b[2J",
        ),
        ([b"blah"], "; 1 line came, and it is not a JSON object: blah"),
        ([], ""),
    ],
)
def test_nonsense_instead_of_a_hello_is_shown(lines: list[Reply], told: str) -> None:
    """How many lines, and the first of them, safe to print."""
    fault = fault_of(ScriptedBot(hello=lines))

    assert fault.message == f'no "hello" within 5.0 s from a function in this process{told}'


def test_an_index_beyond_the_list_is_told_where_indices_begin() -> None:
    """Counting from 1 is the usual reason."""
    record = match_of(seated(ScriptedBot(only(1, answer({"id": 1}, 12)))), house())

    assert record.fault is not None
    assert record.fault.hint == "indices count from 0"
