"""What protocol.md promises about answers, ids, stray prints and faults, kept by the referee with scripted bots."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from support.scripted_bot import HELLO, ScriptedBot, match_of, seated

from arena.match.record import MatchRecord, Termination
from arena.match.settings import ClockSettings
from arena.process.scripted import Reply

Said = list[str]
Script = Callable[[dict[str, Any], Said], Said]
"""What a bot says instead, given a message and the lines an honest bot would say."""


class Guest(ScriptedBot):
    """Follows a script."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script

    def _respond(self, line: bytes) -> list[Reply]:
        honest = [str(said, "utf-8") for said in super()._respond(line) if isinstance(said, bytes)]
        return [text.encode() for text in self._script(json.loads(line), honest)]


class Seats:
    """Two bots at nim with the heaps 2 and 2: one keeps to a script, the other is honest."""

    def __init__(self, script: Script, *, strict: bool = False) -> None:
        self.clock = ClockSettings(strict=strict)
        self.guest = seated(Guest(script), self.clock, player="guest")
        self.honest = seated(ScriptedBot(), self.clock, player="honest")

    def play(self, match: str = "m") -> MatchRecord:
        """One match, the guest in seat 0."""
        return match_of(self.guest, self.honest, options={"heaps": [2, 2]}, clock=self.clock, match=match)

    def told(self, kind: str) -> list[dict[str, Any]]:
        """The messages of that type which the guest got."""
        raws = [json.loads(line) for _, direction, line in self.guest.transcript if direction == ">"]
        return [raw for raw in raws if raw["type"] == kind]


def action(number: int, chosen: object = 0) -> str:
    return json.dumps({"type": "action", "id": number, "action": chosen})


def at(kind: str, change: Script) -> Script:
    """A bot that is honest but for its answers to messages of one type."""
    return lambda message, said: change(message, said) if message["type"] == kind else said


IGNORED: dict[str, tuple[Script, dict[str, int]]] = {
    "an old or invented id": (
        at("request", lambda m, s: [action(m["id"] - 1), action(m["id"] + 99), *s]),
        {"stale": 4},
    ),
    "the same answer twice": (at("request", lambda _, s: s * 2), {"early": 1}),
    "an answer before any request": (at("match_start", lambda _, s: [*s, action(1), action(2)]), {"early": 2}),
    "an answer in front of ready": (at("match_start", lambda _, s: [action(1), *s]), {"stale": 1}),
    "a hello that lay there before a request": (
        at("match_start", lambda _, s: [*s, HELLO.decode()]),
        {"early": 1},
    ),
    "stray lines": (at("request", lambda _, s: ["thinking", "[1]", *s]), {"stray": 4}),
    "a byte order mark": (at("request", lambda m, s: ["\ufeff" + action(m["id"]), *s]), {"stray": 2}),
    "blank lines": (at("request", lambda _, s: ["", "  \r", *s]), {}),
    "carriage returns": (lambda _, said: [f" {line} \r" for line in said], {}),
}


@pytest.mark.parametrize(("script", "counted"), IGNORED.values(), ids=IGNORED)
def test_what_does_not_count_is_counted(script: Script, counted: dict[str, int]) -> None:
    """Lines that are no answer to the open request are never applied, and stand in the record."""
    record = Seats(script).play()

    assert record.termination is Termination.NORMAL
    assert record.seats[0].ignored == counted


def test_an_answer_after_the_end_is_stale_in_the_next_match() -> None:
    """A late answer is not taken for one of the next match."""
    seats = Seats(at("match_end", lambda _, s: [*s, action(1), action(2)]))

    records = [seats.play("m1"), seats.play("m2")]

    assert [record.termination for record in records] == [Termination.NORMAL] * 2
    assert records[1].seats[0].ignored == {"stale": 2}


def test_the_first_stray_line_is_answered_with_one_warning() -> None:
    """A warning says what is wrong, without ending anything, and is not repeated in the match."""
    seats = Seats(at("request", lambda _, s: ["thinking", *s]))

    seats.play()

    (warning,) = seats.told("error")
    assert (warning["code"], warning["fatal"], warning["got"]) == ("malformed_reply", False, "thinking")


FAULTS: dict[str, tuple[Script, Termination, str]] = {
    "index out of range": (at("request", lambda m, _: [action(m["id"], 5)]), Termination.ILLEGAL_ACTION, "action 5"),
    "index below zero": (at("request", lambda m, _: [action(m["id"], -1)]), Termination.ILLEGAL_ACTION, "action -1"),
    "an action against the rules": (
        at("request", lambda m, _: [action(m["id"], {"heap": 0, "count": 3})]),
        Termination.ILLEGAL_ACTION,
        "it holds 2",
    ),
    "an action of another game": (
        at("request", lambda m, _: [action(m["id"], {"do": "roll"})]),
        Termination.MALFORMED_REPLY,
        "not an action of nim",
    ),
    "no type": (at("request", lambda *_: ['{"id": 1}']), Termination.MALFORMED_REPLY, "missing required field type"),
    "a word as action": (at("request", lambda m, _: [action(m["id"], "roll")]), Termination.MALFORMED_REPLY, "got str"),
    "an action as deep as allowed": (
        at("request", lambda m, _: [action(m["id"], {"a": json.loads("[" * 62 + "]" * 62)})]),
        Termination.MALFORMED_REPLY,
        "not an action of nim",
    ),
    "hello as answer to a request": (
        at("request", lambda *_: [HELLO.decode()]),
        Termination.PROTOCOL_VIOLATION,
        'a "hello" from a bot that owes its action',
    ),
    "ready for another match": (
        at("match_start", lambda *_: ['{"type": "ready", "match": "m0"}']),
        Termination.PROTOCOL_VIOLATION,
        'expected "m"',
    ),
    "another protocol": (
        at("hello", lambda *_: ['{"type": "hello", "protocols": [2]}']),
        Termination.PROTOCOL_VIOLATION,
        "no common protocol",
    ),
    "ready in place of hello": (
        at("hello", lambda *_: ['{"type": "ready", "match": "m"}']),
        Termination.PROTOCOL_VIOLATION,
        "owes its hello",
    ),
}


@pytest.mark.parametrize(("script", "termination", "sentence"), FAULTS.values(), ids=FAULTS)
def test_faults_end_the_match_as_the_table_says(script: Script, termination: Termination, sentence: str) -> None:
    """The code is that of the table, the bot is told a fatal error, and gets neither match_end nor quit."""
    seats = Seats(script)

    record = seats.play()

    assert record.termination is termination
    assert record.fault is not None
    assert sentence in record.fault.message
    (error,) = seats.told("error")
    assert (error["code"], error["fatal"]) == (termination.value, True)
    assert seats.told("match_end") == seats.told("quit") == []
    assert (record.ranks, record.scores) == ((1, 0), None)


def test_a_stray_line_forfeits_a_strict_match() -> None:
    """Where a tournament is strict, a print is a malformed reply."""
    record = Seats(at("request", lambda _, s: ["thinking", *s]), strict=True).play()

    assert record.termination is Termination.MALFORMED_REPLY


def test_after_a_fault_comes_a_new_hello() -> None:
    """The next match of a bot that failed is played by a new process."""
    seats = Seats(at("request", lambda m, _: [action(m["id"], 99)]))

    seats.play("m1")
    seats.play("m2")

    assert [len(seats.told(kind)) for kind in ("hello", "match_start", "match_end")] == [2, 2, 0]


def test_events_arrive_once() -> None:
    """With the capability a bot gets each event at once and none in its requests; together they are the same events."""
    lists, singly = (Seats(script) for script in (lambda _, said: said, at("hello", lambda *_: [EVENTFUL])))

    lists.play()
    singly.play()

    listed = [event for kind in ("request", "match_end") for raw in lists.told(kind) for event in raw["events"]]
    assert [raw["what"] for raw in singly.told("event")] == listed != []
    assert [event for raw in singly.told("request") for event in raw["events"]] == []


EVENTFUL = '{"type": "hello", "protocols": [1], "capabilities": ["events"]}'
