"""One match: what is asked, what is told, what is recorded, and whose fault the end is."""

import json
from collections.abc import Iterable
from fractions import Fraction
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.golden import Golden
from support.scripted_bot import CLOCK, Message, ScriptedBot, answer, house, match_of, only, seated

from arena.errors import Crashed, HarnessFault, OutOfTime
from arena.games import load_game
from arena.games.luck import derive
from arena.match.record import ActionStep, ChanceStep, Step
from arena.match.referee import play_match
from arena.match.secret_luck import Secret, draw_block
from arena.match.settings import MatchSettings, spec_of
from arena.process.scripted import Reply


def test_a_match_that_ends_by_the_rules_is_recorded_whole() -> None:
    """The record has the outcome, the steps in order, both seats, and the clock."""
    record = match_of(seated(ScriptedBot()), seated(ScriptedBot()), options={"heaps": [2, 1]}, match="x-0-0")

    assert (record.match, record.game, record.rules, record.options) == ("x-0-0", "nim", "1", {"heaps": [2, 1]})
    assert (record.termination.value, record.fault, record.isolation) == ("normal", None, "none")
    assert [(step.seat, step.forced) for step in record.steps if isinstance(step, ActionStep)] == [
        *((0, False), (1, False), (0, True))
    ]
    assert record.scores == (Fraction(1), Fraction(0))
    assert record.ranks == (0, 1)
    assert [seat.moves for seat in record.seats] == [1, 1]
    assert record.clock == CLOCK.terms()


def test_a_forced_move_is_told_and_not_asked() -> None:
    """Both seats, also its own, get it as an event."""
    bots = [ScriptedBot(), ScriptedBot()]
    match_of(*map(seated, bots), options={"heaps": [1, 1, 1]})

    assert [len(bot.of_type("request")) for bot in bots] == [1, 1]
    forced = {"event": "action", "seat": 0, "action": {"heap": 2, "count": 1}, "forced": True}
    for bot in bots:
        (end,) = bot.of_type("match_end")
        assert end["events"][-1] == forced


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("reply", "code", "message"),
    [
        (Crashed("the bot ended with exit code 3"), "crash", "exit code 3"),
        (OutOfTime("used 9 ms"), "timeout", "used 9 ms"),
        (b'{"type":"ready","match":"m"}', "protocol_violation", '"ready" from a bot that owes its action'),
        (b'{"type":"action","id":1,"action":-1}', "illegal_action", "action -1 is not an index in `legal`"),
        (b'{"type":"action","id":1,"action":12}', "illegal_action", "there are 12 actions, 0 to 11"),
        (b'{"type":"action","id":1,"action":{"heap":9,"count":1}}', "illegal_action", "no heap 9"),
        (b'{"type":"action","id":1,"action":{"pile":1}}', "malformed_reply", "not an action of nim"),
        (b'{"id":1}', "malformed_reply", "missing required field type"),
    ],
)
def test_every_fault_is_a_forfeit_of_its_seat(seat: int, reply: Reply, code: str, message: str) -> None:
    """The seat gets the last rank, no scores, and the last lines both ways; the other learns whose fault it was."""
    bad, good = ScriptedBot(only(1, reply)), ScriptedBot(lambda request, _: [answer(request, -1 + 1)])
    players = [seated(bad), seated(good)] if seat == 0 else [seated(good), seated(bad)]
    size = {"heaps": [3, 4, 5]} if seat == 0 else {"heaps": [1, 3, 4, 5]}
    record = match_of(*players, options=size)

    assert (record.termination.value, record.scores) == (code, None)
    assert record.ranks == ((1, 0) if seat == 0 else (0, 1))
    assert record.fault is not None
    assert record.fault.seat == seat
    assert message in record.fault.message
    assert record.fault.transcript[-1].startswith('> {"type":"error"')
    (end,) = good.of_type("match_end")
    assert (end["termination"], end["at_fault"], end["scores"]) == (code, seat, None)
    assert bad.of_type("match_end") == bad.of_type("quit") == []


def test_what_a_refused_bot_sent_is_shown_printable() -> None:
    """A log must not contain a bot's terminal escapes."""
    record = match_of(seated(ScriptedBot(only(1, b'{"type":"action","id":1,"action":{"\x1b[2J":1}}'))), house())

    assert record.fault is not None
    assert record.fault.got
    assert record.fault.got.isprintable()


def test_the_first_seat_fails_to_begin() -> None:
    """The other never hears of the match; what it did in the match before is not in this record."""
    other = seated(good := ScriptedBot())
    match_of(other, house(), match="a")
    record = match_of(seated(ScriptedBot(hello=[Crashed("gone")])), other, match="b")
    after = match_of(other, house(), match="c")

    assert record.seats[1].moves == 0
    assert [start["match"] for start in good.of_type("match_start")] == ["a", "c"]
    assert [end["match"] for end in good.of_type("match_end")] == ["a", "c"]
    assert after.termination.value == "normal"


def test_the_second_seat_fails_to_begin() -> None:
    """The first one is ready and hears the end without having been asked."""
    good = ScriptedBot()
    record = match_of(seated(good), seated(ScriptedBot(hello=[Crashed("gone")])))

    assert (record.ranks, record.steps) == ((0, 1), ())
    assert [message["type"] for message in good.heard] == ["hello", "match_start", "match_end"]


def test_a_trouble_of_the_machine_is_nobodys_loss(golden: Golden) -> None:
    """If there are no descriptors left, for example, the match is void, and the error names the reason."""
    bot = ScriptedBot()

    def fails() -> Any:
        raise OSError(24, "Too many open files")

    bot.open = fails  # type: ignore[method-assign]

    with golden.raises(HarnessFault):
        match_of(seated(bot), house())


def test_a_bot_gets_the_seed_of_its_seat_and_nothing_of_the_luck() -> None:
    """The seeds come by seat, whoever sits there; neither the block's luck nor the stored id is on the wire."""
    drawn = draw_block(Secret.public("1"), "abc-0", 2)
    first, second = ScriptedBot(), ScriptedBot()
    for rotation, seats in enumerate(([first, second], [second, first])):
        spec = spec_of(MatchSettings("nim", {}, CLOCK), f"abc-0-{rotation}", drawn, rotation, "none")
        play_match(spec, [seated(bot) for bot in seats])

    starts = {bot: bot.of_type("match_start") for bot in (first, second)}
    seeds = {bot: tuple(start["bot_seed"] for start in starts[bot]) for bot in starts}
    assert seeds[first] == drawn.bot_seeds == seeds[second][::-1]
    assert [start["match"] for start in starts[first]] == list(drawn.wire_ids)
    assert drawn.luck not in json.dumps(first.heard)
    assert "abc-0" not in json.dumps(first.heard)


class Follower:
    """A bot that keeps the state of a match by its events and its own actions alone, and compares it with each view."""

    def __init__(self, game: str, seat: int, rng: Random) -> None:
        self.bot = ScriptedBot(self._answer)
        self._game = load_game(game)
        self._seat = seat
        self._rng = rng
        self.events: list[Message] = []

    def _answer(self, request: Message, _number: int) -> Iterable[Reply]:
        self.events += request["events"]
        index = self._rng.randrange(len(request["legal"]))
        self.events.append({"event": "action", "seat": self._seat, "action": request["legal"][index]})
        return [answer(request, index)]

    def story(self) -> list[Message]:
        return self.events + [event for end in self.bot.of_type("match_end") for event in end["events"]]


@settings(max_examples=8)
@given(number=st.integers(0, 10**6), game=st.sampled_from(["nim", "shanghaien"]))
def test_the_events_tell_each_seat_the_whole_public_match(number: int, game: str) -> None:
    """With its own actions they are exactly the recorded steps that it may see, in order."""
    rng = Random(number)
    followers = [Follower(game, seat, rng) for seat in range(2)]
    record = match_of(*[seated(follower.bot) for follower in followers], game=game, seed=derive("story", number))

    assert record.termination.value == "normal"
    told = [_told(step) for step in record.steps if not _is_secret(step)]
    for follower in followers:
        assert [{**event, "forced": event.get("forced", False)} for event in follower.story()] == told


def _told(step: Step) -> Message:
    if isinstance(step, ChanceStep):
        return {"event": "chance", "key": step.key, "outcome": list(step.outcome), "forced": False}
    assert isinstance(step, ActionStep), "nim and shanghaien simulate nothing"
    action = json.loads(msgspec.json.encode(step.action))
    return {"event": "action", "seat": step.seat, "action": action, "forced": step.forced}


def _is_secret(step: Step) -> bool:
    return isinstance(step, ChanceStep) and not step.key.startswith("roll")
