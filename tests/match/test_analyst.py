"""A bot as the judge of a match: it gets what the seat got, and its wrong answers judge nothing."""

import json
from typing import Any

import pytest
from support.opinions import EVALUATING, analyst, evaluation, kuhn_values, nim_values, opinion
from support.scripted_bot import (
    Message,
    RandomBot,
    ScriptedBot,
    at_reference,
    match_of,
    random_match,
    seated,
    toy_bot,
    toy_match,
)

from arena.errors import CheckFailed, OutOfTime
from arena.games import load_game
from arena.games.kuhn_poker import RANKS
from arena.match.judgement import ActionValues, Opinion, judge
from arena.match.record import ActionStep, MatchRecord


def even() -> ScriptedBot:
    return analyst(lambda message: [0.5] * len(message["legal"]))


def kuhn(number: int, *moves: str) -> MatchRecord:
    """A hand in which these moves were made."""
    game, rest = load_game("kuhn_poker"), [*moves]

    def choose(message: Message) -> bytes:
        index = message["legal"].index({"do": rest.pop(0)})
        return json.dumps({"type": "action", "id": message["id"], "action": index}).encode()

    bots = [seated(ScriptedBot(plain=choose), game=game) for _ in range(2)]
    return match_of(*bots, game="kuhn_poker", seed=f"{number:032x}")


def hands(own: str, *moves: str) -> list[MatchRecord]:
    """Two hands with these moves in which seat 1 holds `own`, and seat 0 has one card or the other."""
    by_cards = {}
    for number in range(100):
        record = kuhn(number, *moves)
        deal = tuple(record.steps[0].outcome[:2])  # type: ignore[union-attr]
        if RANKS[deal[1]] == own:
            by_cards[deal] = record
    assert len(by_cards) == 2
    return [*by_cards.values()]


@pytest.mark.parametrize("own", RANKS)
def test_the_hidden_card_of_another_seat_does_not_reach_the_analyst(own: str) -> None:
    """With either card of seat 0 the analyst of seat 1 gets the same lines, but for the id of the match."""
    lines = []
    for record in hands(own, "bet", "fold"):
        judge_of_1 = even()
        opinion(record, even(), judge_of_1)
        lines.append(judge_of_1.heard)

    assert lines[0] == lines[1]
    assert [message["type"] for message in lines[0]][:3] == ["hello", "match_start", "evaluate"]


def test_kuhn_poker_against_a_fixed_strategy() -> None:
    """With the queen a call wins against the jack alone, which seat 0 bets in one of three hands."""
    (record, _) = hands("queen", "bet", "fold")

    judgement = judge(record, opinion(record, even(), analyst(kuhn_values(bluffs=1 / 3, calls=1 / 3))))

    (decision,) = [one for one in judgement.decisions if one.seat == 1]
    assert (decision.chosen, decision.best) == ("folds", "calls")
    assert decision.cost == pytest.approx(1 / 4)


def test_the_events_have_the_actions_of_the_seat_itself() -> None:
    """The analyst does not choose them, so it is told; all events since the last question come once, in their order."""
    record = random_match("nim", 9)
    judge_of_0 = analyst(nim_values)

    opinion(record, judge_of_0, analyst(nim_values))

    told = [event for message in judge_of_0.of_type("evaluate") for event in message["events"]]
    played = [step for step in record.steps if isinstance(step, ActionStep)]
    assert [(event["seat"], event["action"]) for event in told] == [
        (step.seat, {"heap": step.action.heap, "count": step.action.count}) for step in played[: len(told)]
    ]
    assert {event["seat"] for event in told} == {0, 1}


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (lambda message: evaluation(message, [0.5] * (len(message["legal"]) + 1)), "malformed_reply"),
        (lambda message: evaluation(message, [0.5] * len(message["legal"]), [0.1]), "malformed_reply"),
        (lambda message: evaluation(message, [1.5] * len(message["legal"])), "malformed_reply"),
        (lambda message: evaluation(message, [-0.1] * len(message["legal"])), "malformed_reply"),
        (lambda message: evaluation(message, ["0.5"] * len(message["legal"])), "malformed_reply"),
        (lambda message: evaluation(message, [True] * len(message["legal"])), "malformed_reply"),
        (lambda message: evaluation(message, [float("nan")] * len(message["legal"])), "malformed_reply"),
        (lambda message: evaluation({"id": message["id"] + 1}, [0.5]), "timeout"),
        (lambda _: OutOfTime("no answer"), "timeout"),
        (lambda message: json.dumps({"type": "action", "id": message["id"], "action": 0}), "protocol_violation"),
    ],
)
def test_a_wrong_answer_is_not_judged(reply: Any, code: str) -> None:
    """It costs the decision that it was about; after a violation of the protocol nothing more is asked."""
    record = random_match("nim", 9)

    def odd(message: Message, number: int) -> Any:
        given = reply(message) if number == 1 else evaluation(message, nim_values(message))
        return [given.encode() if isinstance(given, str) else given]

    values = opinion(record, ScriptedBot(odd, hello=(EVALUATING,)), analyst(nim_values)).values

    first, *others = [values[index] for index in sorted(values) if record.steps[index].seat == 0]  # type: ignore[union-attr]
    assert first == f"the analyst gave no values: {code}"
    assert others
    assert all(isinstance(one, ActionValues) for one in others) == (code != "protocol_violation")


@pytest.mark.parametrize(
    ("bot", "sentence"),
    [
        (RandomBot(), "does not evaluate: its hello has no capability `evaluate`"),
        (ScriptedBot(hello=()), "does not start"),
    ],
)
def test_a_bot_that_cannot_judge_is_named(bot: ScriptedBot, sentence: str) -> None:
    """No match is judged by it."""
    with pytest.raises(CheckFailed, match=sentence):
        opinion(random_match("nim", 9), bot, analyst(nim_values))


def test_payoffs_of_larger_tables_are_means_over_the_opponents() -> None:
    """All seats together have half as much as there are; without a judged decision all of it is unexplained."""
    record = at_reference(toy_match(*[toy_bot(mm) for mm in (20, 30, 40)]))

    judgement = judge(record, Opinion("it", {}, (0.5, 0.5, 0.5), "all seats alike", (1.0, 0.5, 0.0)))

    assert [ledger.unexplained for ledger in judgement.ledgers] == [0.5, 0.0, -0.5]
    assert {decision.cost for decision in judgement.decisions} == {0.0}
