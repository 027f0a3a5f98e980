"""The honest half of every hostile bot: it plays nim by the first legal action, with a place for one bad behaviour.

A bot is called with the name of its behaviour and, as JSON, with the decoys. An `attempt` is tried at the first request
of each match and reported in the note of the answer: `BROKE: ...` with what it got, `kept: ...` with what it met
instead. Everything else happens `instead_of` an answer, or before the `start`.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

Message = dict[str, Any]
FACTS: Message = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
_attempts: dict[str, Callable[[], str]] = {}
_starts: dict[str, Callable[[], object]] = {}
_instead: dict[str, tuple[str, Callable[[Message], object]]] = {}


def attempt(behaviour: Callable[[], str]) -> Callable[[], str]:
    """What it returns is what it got, empty or an OSError if nothing."""
    _attempts[behaviour.__name__] = behaviour
    return behaviour


def start(behaviour: Callable[[], object]) -> Callable[[], object]:
    """Before the first line is read; the bot plays on if it returns."""
    _starts[behaviour.__name__] = behaviour
    return behaviour


def instead_of(kind: str, name: str = "") -> Callable[[Callable[[Message], object]], Callable[[Message], object]]:
    """Instead of the answer to messages of that kind; `name` if it is not that of the function."""

    def register(behaviour: Callable[[Message], object]) -> Callable[[Message], object]:
        _instead[name or behaviour.__name__] = (kind, behaviour)
        return behaviour

    return register


def send(line: bytes) -> None:
    """A line, or several, or half of one."""
    while line:
        line = line[os.write(1, line) :]


def say(**message: Any) -> None:
    """A message."""
    send(json.dumps(message).encode() + b"\n")


def answer(message: Message, **more: Any) -> None:
    """The first legal action."""
    say(**{"type": "action", "id": message["id"], "action": 0, **more})


def reply(message: Message) -> None:
    """What an honest bot says."""
    if message["type"] == "hello":
        say(type="hello", protocols=[1])
    elif message["type"] == "match_start":
        say(type="ready", match=message["match"])
    elif message["type"] == "request":
        answer(message)


def for_ever() -> NoReturn:
    """Do nothing more."""
    while True:
        time.sleep(60)


def tried(behaviour: Callable[[], str]) -> str:
    """The report of an attempt."""
    try:
        got = behaviour()
    except (OSError, MemoryError, RuntimeError) as refusal:
        return f"kept: {type(refusal).__name__} {refusal}"
    return f"BROKE: {got}" if got else "kept: nothing there"


def every_way() -> str:
    """All attempts of a bot, one after the other: those that got something."""
    found = {name: tried(behaviour) for name, behaviour in _attempts.items() if behaviour is not every_way}
    return "; ".join(f"{name} {report}" for name, report in found.items() if report.startswith("BROKE"))


_attempts["every_way"] = every_way


def play() -> None:
    """Be the bot that the first argument names."""
    name = sys.argv[1].replace("-", "_")
    _starts.get(name, lambda: None)()
    kind, behaviour = _instead.get(name, ("", reply))
    is_first = True
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "match_start":
            is_first = True
        if message["type"] == kind:
            behaviour(message)
        elif message["type"] == "request" and is_first and name in _attempts:
            is_first = False
            answer(message, note=tried(_attempts[name])[:500])
        elif message["type"] == "quit":
            return
        else:
            reply(message)
