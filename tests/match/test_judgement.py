"""The cost of decisions and the ledger: known answers of solved games, and what the ledger of Shanghaien adds up to."""

from math import fsum
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.opinions import analyst, nim_values, opinion
from support.scripted_bot import (
    RandomBot,
    ScriptedBot,
    answer,
    at_reference,
    match_of,
    only,
    random_match,
    seated,
    toy_bot,
    toy_match,
)

from arena.errors import CheckFailed
from arena.games.shanghaien.value.position import ShanghaienValue
from arena.match.judgement import ActionValues, JudgedDecision, Judgement, Opinion, choices_of, judge, opinion_of_game
from arena.match.luck import luck_of
from arena.match.record import ActionStep, MatchRecord, Termination
from arena.match.replay import replay

EXPANSIONS = {"expansions": ["crazy_captain", "no_shanghai", "sharks", "doubles"]}


def judged(record: MatchRecord) -> Judgement:
    by_game = opinion_of_game(record)
    assert by_game is not None
    return judge(record, by_game)


@given(number=st.integers(0, 10**6), misere=st.booleans())
@settings(max_examples=20)
def test_nim_is_judged_exactly(number: int, misere: bool) -> None:
    """Each cost is 0 or 1, nothing is left unexplained, and the seat that could win lost by its last mistake."""
    record = random_match("nim", number, {"misere": misere})

    judgement = judge(record, opinion(record, analyst(nim_values), analyst(nim_values)))

    assert {decision.cost for decision in judgement.decisions} <= {0.0, 1.0}
    assert [ledger.unexplained for ledger in judgement.ledgers] == [0.0, 0.0]
    assert [ledger.luck for ledger in judgement.ledgers] == [0.0, 0.0]
    assert [ledger.payoff for ledger in judgement.ledgers] == [1.0 - rank for rank in record.ranks]
    assert fsum(ledger.start for ledger in judgement.ledgers) == 1
    asked = [n for n, step in enumerate(record.steps, 1) if isinstance(step, ActionStep) and not step.forced]
    assert [decision.step for decision in judgement.decisions] == asked


@pytest.mark.parametrize("options", [{}, EXPANSIONS])
def test_the_ledger_of_shanghaien_adds_up(options: dict[str, Any]) -> None:
    """Unexplained is what the value says otherwise at the best action, or a forced one, than before: nothing else."""
    record, value = random_match("shanghaien", 5, options), ShanghaienValue()

    judgement = judged(record)

    best = {one.step: one.best_value if one.seat == 0 else 1 - one.best_value for one in judgement.decisions}
    gaps = []
    for number, moment in enumerate(replay(record), 1):
        if isinstance(moment.step, ActionStep):
            after = value.before_reveal(moment.before, moment.after) or moment.after
            gaps.append(best.get(number, value(after)[0]) - value(moment.before)[0])
    first, second = judgement.ledgers
    assert first.luck == luck_of(record).by_seat[0]
    assert first.unexplained == pytest.approx(fsum(gaps), abs=1e-9)
    assert fsum([first.start, first.luck, first.others, -first.own, first.unexplained]) == pytest.approx(first.payoff)
    assert (second.others, second.own) == pytest.approx((first.own, first.others))
    assert min(one.cost for one in judgement.decisions) >= 0


def test_the_chosen_action_is_the_best_one_if_it_is_as_good_as_any() -> None:
    """An opinion that finds all actions alike finds no mistakes."""
    record = random_match("nim", 3)

    judgement = judge(record, opinion(record, *[analyst(lambda message: [0.5] * len(message["legal"]))] * 2))

    assert all(decision.best == decision.chosen for decision in judgement.decisions)
    assert judgement.costliest(5, (0, 1)) == ()


def test_a_forfeit_costs_what_the_best_action_was_worth() -> None:
    """It is the last decision, without a chosen action."""
    record = match_of(seated(ScriptedBot()), seated(ScriptedBot(only(1, answer({"id": 1}, 99)))))

    judgement = judge(record, opinion(record, analyst(nim_values), analyst(nim_values)))

    last = judgement.decisions[-1]
    assert (last.seat, last.step, last.chosen, last.fault) == (1, len(record.steps) + 1, "", "illegal_action")
    assert last.chosen_value == 0
    assert [ledger.unexplained for ledger in judgement.ledgers] == [0.0, 0.0]


def test_a_crash_before_the_first_decision_is_no_decision() -> None:
    """Seat 1 was not on move, so nothing can be compared; the loss is unexplained."""
    record = match_of(seated(RandomBot()), seated(ScriptedBot(hello=())))

    judgement = judge(record, opinion(record, analyst(nim_values), analyst(nim_values)))

    assert [(one.seat, one.reason) for one in judgement.decisions] == [(1, "it was not on move")]
    assert judgement.ledgers[1].payoff == 0


def test_a_void_match_is_not_judged() -> None:
    """Nobody played it to an end."""
    void = msgspec.structs.replace(random_match("nim", 1), termination=Termination.VOID)

    with pytest.raises(CheckFailed, match="void"):
        list(choices_of(void))


def test_joint_decisions_are_named_as_not_judged() -> None:
    """So are those of a game whose simulator may refuse an action; all of them stay in the list."""
    record = at_reference(toy_match(toy_bot(), toy_bot()))

    reasons = {choice.reason for choice in choices_of(record)}

    assert reasons == {"several seats decided at once", "the simulator of the game may refuse a legal action"}
    assert opinion_of_game(record) is None


def test_a_cost_within_its_error_is_no_mistake() -> None:
    """The error of a difference is that of both values together."""
    record = random_match("nim", 3)
    first = next(choices_of(record))
    chosen = first.actions.index(first.chosen)
    payoffs = tuple((0.5, 0.5) if n == chosen else (0.6, 0.4) for n in range(len(first.actions)))

    def decision(error: float) -> Any:
        values = ActionValues(payoffs, (error,) * len(payoffs))
        return judge(record, Opinion("it", {0: values}, (0.5, 0.5), "it", (1.0, 0.0))).decisions[0]

    assert decision(0.01).is_mistake
    assert decision(0.01).error == pytest.approx(0.01 * 2**0.5)
    assert not decision(0.05).is_mistake
    assert decision(0.05).cost == pytest.approx(0.1)


@pytest.mark.slow
def test_what_shanghaien_leaves_unexplained_has_mean_0() -> None:
    """It is 0 within 2 standard errors over 200 matches of bots that choose at random."""
    ledgers = [judged(random_match("shanghaien", number)).ledgers[0] for number in range(200)]

    unexplained = [ledger.unexplained for ledger in ledgers]
    mean = fsum(unexplained) / len(unexplained)
    error = (fsum((one - mean) ** 2 for one in unexplained) / len(unexplained) ** 2) ** 0.5
    assert abs(mean) <= 2 * error


def test_judges_are_at_odds_only_beyond_their_errors() -> None:
    """One says mistake, the other does not, and 1.96 errors of the difference do not reach over the gap."""
    clear, none = JudgedDecision(1, 0, "a", best_value=0.2), JudgedDecision(1, 0, "a")
    unsure = JudgedDecision(1, 0, "a", best_value=0.1, error=0.08)
    other, unjudged = replace(none, step=2), replace(none, reason="late")

    def odds(*decisions: JudgedDecision) -> list[int]:
        first, second = (Judgement("", "", "", (decision,), ()) for decision in decisions)
        return [decision.step for decision in first.disagreements(second)]

    assert odds(clear, none) == odds(none, clear) == [1]
    assert odds(clear, clear) == odds(clear, unsure) == odds(none, unsure) == []
    assert odds(clear, other) == odds(clear, unjudged) == odds(unjudged, clear) == []
