"""greedy in C takes exactly the actions of greedy in Python."""

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from bots_driver import VARIANTS, Bot, Prepare, play, started

from arena.games.api import Seat
from arena.protocol import messages as m

pytestmark = pytest.mark.process

Write = Callable[[m.Request], bytes]


def test_the_same_actions_over_fifty_matches(prepare: Prepare) -> None:
    """Both are asked at every decision of both seats, in matches that also leave greedy's own paths."""
    with started(prepare("greedy")) as python, started(prepare("greedy-c")) as c:
        asked = sum(_compare(python, c, number, msgspec.json.encode) for number in range(50))

    assert asked > 3000


def test_the_same_actions_with_every_set_of_expansions(prepare: Prepare) -> None:
    """Both meet every question of the expansions in all sixteen variants."""
    with started(prepare("greedy")) as python, started(prepare("greedy-c")) as c:
        asked = sum(
            _compare(python, c, number, msgspec.json.encode, options=VARIANTS[number % 16]) for number in range(32)
        )

    assert asked > 2000


def test_the_form_of_the_json_does_not_matter(prepare: Prepare) -> None:
    """Other orders of keys, white space and escaped letters are read as well."""
    with started(prepare("greedy")) as python, started(prepare("greedy-c")) as c:
        asked = sum(_compare(python, c, number, _in_odd_form, options=VARIANTS[-number]) for number in range(6))

    assert asked > 300


def _compare(python: Bot, c: Bot, number: int, write: Write, *, options: Mapping[str, Any] = VARIANTS[0]) -> int:
    """Requests in which both agreed: in even matches greedy has seat 0, all other actions are random."""
    rng = random.Random(number)
    asked = 0
    for bot in (python, c):
        bot.start_match(f"m{number}", options=options)

    def choose(seat: Seat, request: m.Request) -> Any:
        nonlocal asked
        answer = python.ask(request)
        assert c.ask(write(request)) == answer, request
        asked += 1
        assert request.legal is not None
        return answer.action if seat == 0 and number % 2 == 0 else rng.randrange(len(request.legal))

    play("shanghaien", f"luck {number}", choose, options=options)
    return asked


def _in_odd_form(request: m.Request) -> bytes:
    return b" \t" + _odd(msgspec.to_builtins(request)).encode() + b" \r"


def _odd(value: Any) -> str:
    if isinstance(value, dict):
        items = [f"{_odd(key)}\t:  {_odd(item)}" for key, item in reversed(value.items())]
        return "{ " + " ,".join([*items, '"":{"you":[9,"]\\\\"]}']) + "}"
    if isinstance(value, list | tuple):
        return "[ " + " , ".join(map(_odd, value)) + "\t]"
    if isinstance(value, str):
        return '"' + "".join(f"\\u{ord(letter):04x}" for letter in value) + '"'
    return json.dumps(value)
