"""A stored match asked again: the answers of another bot there, and the match played on with them."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from msgspec import UNSET
from support.golden import Golden
from support.scripted_bot import (
    Message,
    RandomBot,
    ScriptedBot,
    answer,
    at_toy_game,
    match_of,
    only,
    seated,
    simulate,
    stored_toy_match,
    toy_bot,
)
from support.toy_game import ToyGame, on_offer

from arena.errors import CheckFailed, Crashed, OutOfTime
from arena.games import load_game
from arena.match.asking import ask, continue_match
from arena.match.bot_player import BotPlayer
from arena.match.record import ActionStep, MatchRecord, pack, unpack
from arena.match.replay import problems
from arena.match.requests import answer_steps
from arena.process.scripted import Reply

HEAPS = {"heaps": [5, 6, 7, 8]}
NAMES = ("ann", "bob")


def nim(*bots: ScriptedBot) -> MatchRecord:
    players = [seated(bot, player=name) for bot, name in zip(bots, NAMES, strict=True)]
    return unpack(pack(match_of(*players, options=HEAPS)))


def asked(bot: ScriptedBot, **more: Any) -> BotPlayer:
    return seated(bot, options=HEAPS, **more)


def first_is(number: int, reply: Reply) -> ScriptedBot:
    return ScriptedBot(only(number, reply))


@pytest.mark.parametrize("game", ["nim", "shanghaien"])
def test_a_bot_that_plays_by_its_lines_gives_its_answers_again(game: str) -> None:
    """The bot gives all its recorded answers; a bot with another policy gives others, listed for each step."""
    players = [seated(RandomBot(), player=name, game=load_game(game)) for name in NAMES]
    record = unpack(pack(match_of(*players, game=game)))

    for seat in (0, 1):
        same = ask(record, seated(RandomBot(), game=load_game(game)), seat)
        other = ask(record, seated(RandomBot(salt=7), game=load_game(game)), seat)
        assert [each.step for each in same] == [each.step for each in other] == list(answer_steps(record, seat))
        assert all(each.is_same for each in same)
        assert not all(each.is_same for each in other)
        assert all(each.is_same == (each.recorded == each.answered) for each in other)


def test_a_bot_gets_the_lines_of_the_match_whatever_it_answers() -> None:
    """Requests, events and banks are those of the match, so answers to all of them can be compared."""
    there = RandomBot()
    record = nim(there, RandomBot())
    here = RandomBot(salt=7)

    ask(record, asked(here), 0)

    assert here.of_type("request") == there.of_type("request")
    assert here.of_type("match_start") == there.of_type("match_start")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (OutOfTime("late"), "timeout: late"),
        (b"{nonsense", "malformed_reply: "),
        (answer({"id": 2}, 99), "illegal_action: "),
    ],
)
def test_a_fault_is_an_answer_that_differs_and_the_next_request_follows(reply: Reply, said: str) -> None:
    """No answer of the bot changes the match."""
    record = nim(ScriptedBot(), RandomBot())

    found = ask(record, asked(first_is(2, reply)), 0)

    assert found[1].fault.startswith(said)
    assert [each.is_same for each in found] == [number != 1 for number in range(len(found))]


def test_a_bot_that_ends_is_asked_no_more(golden: Golden) -> None:
    """The answers that it gave before are returned."""
    record = nim(ScriptedBot(), RandomBot())

    found = ask(record, asked(first_is(2, Crashed("gone"))), 0)

    assert [each.fault for each in found] == ["", "crash: gone"]
    with golden.raises(CheckFailed):
        ask(record, asked(ScriptedBot(hello=[Crashed("gone")])), 0)


@pytest.mark.parametrize("reply", [Crashed("gone"), OutOfTime("late"), b"{nonsense", answer({"id": 3}, 99)])
def test_the_request_that_lost_a_match_is_asked_too(reply: Reply) -> None:
    """Another answer differs from the fault, and so does another fault; the same fault is the same."""
    record = nim(first_is(3, reply), RandomBot())

    found, again, other = (
        ask(record, asked(bot), 0) for bot in (ScriptedBot(), first_is(3, reply), first_is(3, OutOfTime("asleep")))
    )

    assert [each.step for each in found] == [*answer_steps(record, 0)]
    assert len(found) == 3
    assert found[-1].step == len(record.steps) + 1
    assert (found[-1].is_owed, found[-1].is_same, found[-1].answered) == (True, False, "takes 1 from heap 0")
    assert found[-1].recorded.startswith(f"{record.termination}: ")
    assert all(each.is_same for each in again)
    assert other[-1].is_same == (record.termination == "timeout")
    assert answer_steps(record, 1)[-1] <= len(record.steps)


def test_the_request_that_lost_a_match_can_be_played_on() -> None:
    """The bot's own answer counts there."""
    record = nim(first_is(3, Crashed("gone")), ScriptedBot())

    on = continue_match(record, {0: asked(ScriptedBot()), 1: asked(ScriptedBot())}, len(record.steps) + 1)

    assert on.fault is None
    assert unpack(pack(on)).steps[: len(record.steps)] == record.steps


def test_a_match_is_not_played_on_by_a_bot_that_ended_before() -> None:
    """The error names the step and the reason."""
    record = nim(ScriptedBot(), ScriptedBot())
    last = answer_steps(record, 0)[-1]

    with pytest.raises(
        CheckFailed, match=f"cannot be played on from step {last}: the bot .* ended at step .*: crash: gone"
    ):
        continue_match(record, {0: asked(first_is(2, Crashed("gone"))), 1: asked(ScriptedBot())}, last)


def test_a_bot_that_was_refused_gives_its_answers_again() -> None:
    """A bot that was refused once, refused twice, and late gets the same requests and gives the same answers."""
    odd: dict[int, list[Reply]] = {
        1: [answer({"id": 1}, {"mm": 1000})],
        3: [b"{nonsense"],
        4: [b"{nonsense"],
        6: [OutOfTime("late")],
    }
    bots = [toy_bot(odd=lambda _m, n: odd.get(n)) for _ in range(3)]
    with on_offer():
        record = stored_toy_match(toy_bot(), toy_bot(), bots[0], rounds=4)
        there = bots[0].of_type("request")

        found = ask(record, at_toy_game(bots[1], ToyGame(), seats=3), 2)
        (last,) = ask(record, at_toy_game(bots[2], ToyGame(), seats=3), 2, [found[-1].step])

    assert [each.is_same for each in found] == [True] * len(answer_steps(record, 2))
    assert {each.recorded_fault for each in found} == {"", "malformed_reply", "timeout"}
    assert bots[1].of_type("request") == there
    assert last == found[-1]


def test_an_answer_beside_a_fallback_action_is_another_one() -> None:
    """In the match the bot was refused twice, or too late; the table of several asked at once is asked as it was."""
    odd: dict[int, list[Reply]] = {1: [answer({"id": 1}, {"mm": 1000})], 2: [OutOfTime("late")]}
    with on_offer():
        record = stored_toy_match(toy_bot(), toy_bot(), toy_bot(odd=lambda _m, n: odd.get(n)), rounds=2)

        found = ask(record, at_toy_game(toy_bot(), ToyGame(), seats=3), 2)

    assert [(each.recorded_fault, each.is_same) for each in found] == [("timeout", False), ("", True)]
    assert found[0].answered == "Lean(mm=20)"


def test_a_bot_may_look_ahead_as_far_as_the_one_that_played() -> None:
    """The bot has the whole simulation budget of the request, whatever the recorded bot used of it."""

    def looks(message: Message, _number: int) -> Iterable[Reply] | None:
        if message.get("simulations"):
            own = {"mm": 20} if message["legal"] is None else 0
            return [simulate(message, 1, {"leans": [1, 1, 1], "trim": 0}), answer(message, own)]
        return None

    hello = [b'{"type":"hello","protocols":[1],"capabilities":["simulate"]}']
    with on_offer():
        record = stored_toy_match(toy_bot(odd=looks, hello=hello), rounds=2)
        bot = toy_bot(odd=looks, hello=hello)

        found = ask(record, at_toy_game(bot, ToyGame(), seats=3), 0)

    assert all(each.is_same for each in found)
    assert bot.of_type("simulated")
    assert {message["left"] for message in bot.of_type("simulated")} == {
        message["simulations"] - 1 for message in bot.of_type("request") if message.get("simulations")
    }


def test_the_same_bots_play_on_to_the_same_match() -> None:
    """The luck is that of the record; a match of other bots follows the rules from the step on."""
    players = [seated(RandomBot(), player=name, game=load_game("shanghaien")) for name in NAMES]
    record = unpack(pack(match_of(*players, game="shanghaien")))
    step = answer_steps(record, 1)[10]

    def bots(salt: int) -> dict[int, BotPlayer]:
        return {
            seat: seated(RandomBot(salt * seat), player=name, game=load_game("shanghaien"))
            for seat, name in enumerate(NAMES)
        }

    again, other = (continue_match(record, bots(salt), step) for salt in (0, 7))

    assert (plain(again), again.scores, again.seed) == (plain(record), record.scores, record.seed)
    assert plain(other)[: step - 1] == plain(record)[: step - 1]
    assert plain(other) != plain(record)
    without_lines = tuple(msgspec.structs.replace(seat, lines=UNSET) for seat in other.seats)
    assert problems(msgspec.structs.replace(other, seats=without_lines)) == []


def plain(record: MatchRecord) -> list[Any]:
    """Return all steps without notes, as JSON has them."""
    steps = [msgspec.structs.replace(step, note="") if isinstance(step, ActionStep) else step for step in record.steps]
    found: list[Any] = msgspec.json.decode(msgspec.json.encode(steps))
    return found
