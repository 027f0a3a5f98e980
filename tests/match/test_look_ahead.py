"""What a bot may ask while it thinks: what is offered, what it costs, and what becomes of senseless questions."""

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from support.golden import Golden
from support.scripted_bot import (
    CLOCK,
    NIM,
    SIMULATING,
    Message,
    NotingChannel,
    ScriptedBot,
    acted,
    answer,
    at_toy_game,
    house,
    match_of,
    seated,
    simulate,
    toy_bot,
    toy_match,
)
from support.toy_game import ToyGame, ToySimulator

from arena.errors import IllegalAction
from arena.games.api import ENDLESS, Json, Seat
from arena.match.participant import NO_SIMULATIONS_LEFT
from arena.match.record import MatchRecord, SimulationStep, encode_record
from arena.match.referee import hello_for
from arena.match.settings import ClockSettings
from arena.process.scripted import Reply

WALL = msgspec.structs.replace(CLOCK, decides="wall", wall_ms=1100.0)


def asking(*whats: Any, then: Any = None, hello: bytes = SIMULATING) -> ScriptedBot:
    """Return a bot that asks these questions in its first request, then answers."""

    def odd(message: Message, number: int) -> Iterable[Reply] | None:
        if number > 1:
            return None
        asked = [simulate(message, query, what) for query, what in enumerate(whats, start=1)]
        return [*asked, answer(message, then or {"mm": 20})]

    return toy_bot(20, odd, hello=[hello])


def heard(bot: ScriptedBot) -> list[Message]:
    return bot.of_type("simulated")


def test_a_question_is_answered_while_the_request_is_open() -> None:
    """The reply has its number, the result, and the budget left; the answer counts as without questions."""
    bot = asking({"mm": 5}, {"mm": -70})
    record = toy_match(bot, toy_bot(30))

    assert heard(bot) == [
        {"type": "simulated", "id": 1, "query": 1, "result": {"tilt": 5}, "refused": None, "left": 2},
        {"type": "simulated", "id": 1, "query": 2, "result": {"tilt": -70}, "refused": None, "left": 1},
    ]
    assert [message["simulations"] for message in bot.of_type("request")] == [3] * len(bot.of_type("request"))
    assert record.steps == toy_match(toy_bot(20), toy_bot(30)).steps
    assert (record.seats[0].moves, record.seats[0].ignored, record.seats[0].faults) == (3, {}, {})


def test_the_simulator_is_asked_for_the_seat_and_the_state_of_the_request() -> None:
    """The simulator gets the bot's question unchanged."""
    game = ToyGame()
    toy_match(at_toy_game(toy_bot(30), game), at_toy_game(asking({"mm": 5}), game), game=game)

    assert game.simulator.asked == [(Seat(1), {"mm": 5})]


@pytest.mark.parametrize(
    ("what", "code", "reason"),
    [
        ({"mm": 101}, "illegal_action", "too_far"),
        ({"mm": 13}, "illegal_action", "rotten"),
        ({"cm": 1}, "malformed_reply", ""),
        ({}, "malformed_reply", ""),
    ],
)
def test_what_cannot_be_is_refused_and_costs_a_question(what: Any, code: str, reason: str) -> None:
    """The refusal has the reason that an action would get; it is no fault."""
    bot = asking(what)
    record = toy_match(bot, toy_bot(30))

    (told,) = heard(bot)
    assert (told["result"], told["left"]) == (None, 2)
    assert (told["refused"]["code"], told["refused"]["reason"]) == (code, reason)
    assert told["refused"]["message"]
    assert record.seats[0].faults == {}


class Dear(ToySimulator):
    """A simulator whose answers cost as much as the seat leans, and a question beyond its reach 2."""

    def what_if(self, state: Any, seat: Any, what: Any, left: int = ENDLESS) -> dict[str, Json]:
        try:
            return {**super().what_if(state, seat, what, left), "left": left}
        except IllegalAction as fault:
            fault.cost = 2
            raise

    def cost(self, answer: dict[str, Json]) -> int:
        return min(int(answer["left"]), abs(int(answer["tilt"])))


def test_questions_cost_what_the_simulator_says() -> None:
    """The simulator gets the budget that is left, and no more is taken; a refusal has a cost of its own."""
    game = ToyGame()
    game.simulator = Dear()
    bot = asking({"mm": 4}, {"mm": 101}, {"mm": 70}, {"mm": 1})
    options = {"simulations": 9}
    toy_match(at_toy_game(bot, game), at_toy_game(toy_bot(30), game), game=game, options=options)

    assert [message["left"] for message in heard(bot)] == [5, 3, 0, 0]
    assert [message["result"] and message["result"]["left"] for message in heard(bot)] == [9, None, 3, None]
    assert heard(bot)[-1]["refused"]["reason"] == NO_SIMULATIONS_LEFT


def test_more_than_the_budget_is_refused_and_the_simulator_not_asked() -> None:
    """A request has three questions; the fourth is refused, and the answer still counts."""
    game = ToyGame()
    bot = asking(*[{"mm": mm} for mm in range(5)])
    record = toy_match(at_toy_game(bot, game), at_toy_game(toy_bot(30), game), game=game)

    assert [message["left"] for message in heard(bot)] == [2, 1, 0, 0, 0]
    assert [message["refused"] and message["refused"]["reason"] for message in heard(bot)] == [
        *(None, None, None, NO_SIMULATIONS_LEFT, NO_SIMULATIONS_LEFT)
    ]
    assert len(game.simulator.asked) == 3
    assert acted(record, 0)[0].action.mm == 20


def test_answers_beyond_the_budget_are_in_the_transcript() -> None:
    """Each answer stands after its question; of a flood the first thousand are kept."""
    game = ToyGame()
    few, many = asking(*[{"mm": 1}] * 5), asking(*[{"mm": 1}] * 2003)
    patient = msgspec.structs.replace(CLOCK, wall_ms=10_000_000.0)
    lines = []
    for bot in (few, many):
        bot_player = at_toy_game(bot, game, patient)
        toy_match(bot_player, at_toy_game(toy_bot(30), game), game=game, clock=patient)
        lines.append([(way, json.loads(line)["type"]) for _, way, line in bot_player.transcript])

    question_and_answer = [("<", "simulate"), (">", "simulated")]
    assert lines[0][5:17] == [*question_and_answer * 5, ("<", "action"), (">", "request")]
    assert lines[1].count((">", "simulated")) == lines[1].count(("<", "simulate")) == 1003


def test_a_wrong_id_is_the_likely_reason_of_silence(golden: Golden) -> None:
    """The sentence for the author says which id came."""
    bot = toy_bot(20, lambda _m, n: [simulate({"id": 77}, 1, {})] if n < 4 else None, hello=[SIMULATING])
    record = toy_match(bot, toy_bot(30))

    assert record.fault is not None
    golden(record.fault.hint)


def test_it_is_offered_only_where_there_is_something_to_simulate() -> None:
    """It is not offered in a game without a simulator, nor with a budget of 0."""
    offered = [
        hello_for(NIM, {}, 1).capabilities,
        hello_for(ToyGame(), {}, 1).capabilities,
        hello_for(ToyGame(), {"simulations": 0}, 1).capabilities,
    ]

    assert offered == [("events",), ("events", "simulate"), ("events",)]


def test_asking_for_what_is_not_offered_is_no_error(golden: Golden) -> None:
    """Only using it is an error."""
    quiet = ScriptedBot(hello=[SIMULATING])
    loud = ScriptedBot(lambda m, n: [simulate(m, 1, {})] if n == 1 else None, hello=[SIMULATING])
    good, bad = match_of(seated(quiet), house()), match_of(seated(loud), house())

    assert (good.termination.value, bad.termination.value) == ("normal", "protocol_violation")
    assert bad.fault is not None
    golden(bad.fault.hint)
    assert "simulations" not in quiet.of_type("request")[0]


@pytest.mark.parametrize(("seats", "told"), [(2, 2), (4, 4)])
def test_the_hello_tells_what_the_game_has_to_say_once(seats: int, told: int) -> None:
    """The game's information is for a table of that size; a game without any leaves the field out."""
    hello = hello_for(ToyGame(), {}, 1, seats=seats)

    assert hello.material == {"far_mm": 100, "seats": told}
    assert b"material" not in msgspec.json.encode(hello_for(NIM, {}, 1))


class Slow(ToySimulator):
    """A simulator that takes 5 s of real time for a question."""

    def __init__(self, bot: ScriptedBot) -> None:
        super().__init__()
        self._bot = bot

    def what_if(self, state: Any, seat: Any, what: Any, left: int = ENDLESS) -> dict[str, Json]:
        self._bot.times.wall_s += 5.0
        return super().what_if(state, seat, what, left)


def slow_match(bot: ScriptedBot, clock: ClockSettings) -> MatchRecord:
    game = ToyGame()
    game.simulator = Slow(bot)
    return toy_match(at_toy_game(bot, game, clock), at_toy_game(toy_bot(30), game, clock), game=game, clock=clock)


@pytest.mark.parametrize("clock", [CLOCK, WALL], ids=["cpu", "wall"])
def test_the_clock_stands_still_during_a_simulation(clock: ClockSettings) -> None:
    """Three simulations take 5 s each, where a move may take 3.2 s at most, or 1.1 s of real time."""
    record = slow_match(asking({"mm": 1}, {"mm": 2}, {"mm": 3}), clock)

    assert record.seats[0].faults == {}
    assert record.seats[0].wall_ms < 100


def test_the_bots_own_time_counts_between_questions() -> None:
    """The bot thinks 0.4 s before each of three questions, of which 1.1 s are allowed."""
    bot = toy_bot(20, hello=[SIMULATING])

    class Thinking(list[Reply]):
        def __iter__(self) -> Any:
            for query in range(3):
                bot.times.cpu_s += 0.4
                yield simulate({"id": 1}, query, {"mm": 1})
            yield answer({"id": 1}, {"mm": 20})

    bot._odd = lambda _message, number: Thinking() if number == 1 else None
    record = toy_match(bot, toy_bot(30))

    assert record.seats[0].faults == {"timeout": 1}


def test_who_asks_too_late_is_not_answered() -> None:
    """The simulator does not run for a bot whose time is used up."""
    game = ToyGame()
    bot = toy_bot(20, hello=[SIMULATING])

    def late(message: Message, number: int) -> Iterable[Reply] | None:
        bot.times.cpu_s += 2.0 if number == 1 else 0.0
        return [simulate(message, 1, {"mm": 1})] if number == 1 else None

    bot._odd = late
    record = toy_match(at_toy_game(bot, game), at_toy_game(toy_bot(30), game), game=game)

    assert (record.seats[0].faults, game.simulator.asked) == ({"timeout": 1}, [])


def test_the_bot_is_stopped_during_a_simulation() -> None:
    """It goes on when its answer is there; that the stop takes effect is tested with the channel (`ponder`)."""
    bot = asking({"mm": 1})
    channel = NotingChannel(bot)
    toy_match(bot, toy_bot(30))

    begin = channel.noted.index("request")
    assert channel.noted[begin : begin + 5] == ["request", "stopped", "runs", "simulated", "stopped"]


def test_what_is_left_of_the_questions_is_left_when_asked_once_more() -> None:
    """A refused answer brings no new budget."""
    bot = asking({"mm": 1}, {"mm": 2}, then={"mm": 101})
    toy_match(bot, toy_bot(30))

    assert [message["simulations"] for message in bot.of_type("request")[:3]] == [3, 1, 3]


def test_simulations_are_recorded_and_told_to_all() -> None:
    """The record has the simulator's result under its key, and the fingerprint of the simulator."""
    bots = [toy_bot(20), toy_bot(90), toy_bot(-60)]
    record = toy_match(*bots)

    tips = [step for step in record.steps if isinstance(step, SimulationStep)]
    assert tips[0] == SimulationStep(key="tip/1", result={"tilt": 50, "wet": [1]})
    assert record.simulator == {"engine": "1.0", "platform": "test"}
    for bot in bots:
        events = [event for message in bot.heard for event in message.get("events", [])]
        assert {"event": "simulation", "key": "tip/1", "result": {"tilt": 50, "wet": [1]}} in events


def test_a_game_without_a_simulator_tells_of_none() -> None:
    """The field is left out of its records."""
    assert b'"nature"' not in encode_record(match_of(seated(ScriptedBot()), house()))
