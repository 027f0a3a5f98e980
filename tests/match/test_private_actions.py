"""Private actions: each seat hears no more of an action than the game lets it, and the record keeps all of it."""

from typing import Any

from support.lottery import BUYS, Buy, Lottery, State
from support.scripted_bot import ScriptedBot, answer, match_of, seated

from arena.conformance.game import check_game
from arena.games.api import Seat
from arena.match.record import ActionStep, MatchRecord
from arena.match.replay import problems

SEATS = 4


def played(*bots: ScriptedBot, rules: Any = None) -> MatchRecord:
    """Play a match of the lottery, store it, replay it, and rebuild its lines."""
    record = match_of(*map(seated, bots), game="lottery", rules=rules or Lottery())
    assert problems(record, rules or Lottery()) == []
    return record


def bots(count: int = SEATS) -> list[ScriptedBot]:
    """Return bots of which seat s answers with the action of index s mod 3."""
    return [ScriptedBot(plain=lambda message: answer(message, message["view"]["you"] % 3)) for _ in range(count)]


def heard(bot: ScriptedBot) -> list[dict[str, Any]]:
    """Return all events of actions that a bot got."""
    messages = [*bot.of_type("request"), *bot.of_type("match_end")]
    return [event for message in messages for event in message["events"] if event["event"] == "action"]


def test_a_seat_hears_what_the_game_lets_it_hear() -> None:
    """Seat 0 gets the whole action, the others only that there was one; the record has the whole action."""
    players = bots()
    record = played(*players)

    done = [step.action for step in record.steps if isinstance(step, ActionStep)]
    assert done == [BUYS[0], BUYS[1], BUYS[2], BUYS[0]]
    assert [each["action"]["tickets"] for each in heard(players[0])] == [2, 3, 1]
    for seat in range(1, SEATS):
        assert [each["seat"] for each in heard(players[seat])] == [other for other in range(SEATS) if other != seat]
        assert {each["action"]["tickets"] for each in heard(players[seat])} == {None}


def test_an_action_that_nobody_may_hear_is_no_event() -> None:
    """There is no empty event either."""

    class Silent(Lottery):
        def heard(self, state: State, seat: Seat, action: Buy) -> list[Any]:  # noqa: ARG002 - its contract
            return [None] * state.seats

    players = bots()
    played(*players, rules=Silent())

    assert [heard(each) for each in players] == [[]] * SEATS


class Poor(Lottery):
    """A lottery in which seat 1 has money for one ticket."""

    def legal(self, state: State, seat: Seat) -> tuple[Buy, ...]:
        return super().legal(state, seat)[: 1 if seat == 1 else 3]


def test_that_an_action_was_forced_is_told_to_its_own_seat_only() -> None:
    """The others would know from that which action it was."""
    players = bots()
    record = played(*players, rules=Poor())

    assert [step.forced for step in record.steps if isinstance(step, ActionStep)] == [False, True, False, False]
    assert heard(players[1])[1] == {"event": "action", "seat": 1, "action": {"tickets": 1}, "forced": True}
    for seat in (0, 2, 3):
        assert not any("forced" in event for event in heard(players[seat]))


class Lenient(Lottery):
    """A lottery in which a refused answer buys one ticket."""

    class fault_policy:  # noqa: N801 - the name of the capability
        @staticmethod
        def fallback_action(_state: State, _seat: Seat) -> Buy:
            return BUYS[0]


def test_that_a_fallback_was_played_is_told_to_those_who_hear_the_action() -> None:
    """For the others the word `stand_in` would name it: every reader of the rules knows the fallback."""
    players = bots()
    players[1] = ScriptedBot(plain=lambda message: answer(message, {"tickets": 9}))
    played(*players, rules=Lenient())

    assert [each.get("stand_in") for each in heard(players[0])] == ["illegal_action", None, None]
    assert [each.get("stand_in") for each in heard(players[2])] == [None, None, None]


def test_the_lottery_keeps_the_contract_with_two_to_ten_seats() -> None:
    """The contract check includes fractions of scores and weights of outcomes."""
    assert [part for part in check_game(Lottery()) if part.findings] == []
