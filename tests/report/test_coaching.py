"""A judged match as text: totals, ledger, costliest decisions; and as data."""

import json
from inspect import cleandoc

import msgspec
from msgspec.structs import replace
from support.golden import Golden
from support.opinions import analyst, nim_values, opinion
from support.scripted_bot import ScriptedBot, answer, match_of, only, seated

from arena.match.judgement import JudgedDecision, Judgement, judge
from arena.match.record import MatchRecord
from arena.report.coaching import coaching_data, coaching_lines, mistake_text, mistakes_by_step
from arena.report.formats import Style

OPTIONS = {"heaps": [1, 2]}


def judged() -> tuple[MatchRecord, Judgement]:
    """A match in which ann takes a heap of two and leaves one counter, which bob takes: one of two was right."""
    ann = seated(ScriptedBot(only(1, answer({"id": 1}, 2))), player="ann", options=OPTIONS)
    bob = seated(ScriptedBot(), player="bob", options=OPTIONS)
    record = match_of(ann, bob, options=OPTIONS)
    return record, judge(record, opinion(record, analyst(nim_values), analyst(nim_values)))


def test_the_page_of_a_match() -> None:
    """A player a row, then the terms of the result, then the positions before the costliest decisions."""
    record, judgement = judged()

    text = "\n".join(line.rstrip() for line in coaching_lines(record, judgement, (0, 1), Style()))

    assert text == cleandoc(GOLDEN)


def test_only_the_chosen_player_has_a_row_and_moments() -> None:
    """The ledger has all of them."""
    lines = [*coaching_lines(*judged(), (1,), Style())]

    assert "no mistakes" in lines
    assert not [line for line in lines if line.startswith("ann")]
    assert [line for line in lines if "ann" in line and "bob" in line]


def test_the_data_has_every_decision() -> None:
    """Numbers are in payoff; it is JSON."""
    record, judgement = judged()

    data = json.loads(msgspec.json.encode(coaching_data(record, judgement, (0,))))

    assert (data["match"], data["players"]) == (record.match, ["ann", "bob"])
    assert [(one["seat"], one["cost"], one["is_mistake"]) for one in data["decisions"]] == [(0, 1.0, True)]
    assert [ledger["payoff"] for ledger in data["ledgers"]] == [0.0, 1.0]


def test_faults_and_errors_stand_with_a_mistake(golden: Golden) -> None:
    """A forfeit has no action; a value that was sampled has its error."""
    forfeit = JudgedDecision(3, 0, "", "timeout", best="takes 1", best_value=0.75)
    sampled = JudgedDecision(
        4, 1, "rolls", "illegal_action", best="stays", chosen_value=0.5, best_value=0.7, error=0.02
    )

    golden(mistake_text(forfeit))
    golden(mistake_text(sampled))


def test_a_second_judge_stands_below_the_costliest_decisions() -> None:
    """What the second judge thinks of each, and how many decisions only one of the two calls a mistake."""
    record, judgement = judged()
    (mistake,) = judgement.decisions
    milder, unsure = replace(mistake, best_value=0.25), replace(mistake, reason="late")
    agreeing = replace(mistake, best=mistake.chosen, best_value=mistake.chosen_value)
    others = [replace(judgement, by=f"judge {n}", decisions=(own,)) for n, own in enumerate((milder, unsure, agreeing))]

    lines = [*coaching_lines(record, judgement, (0, 1), Style(), others)]

    assert [line for line in lines if line.startswith("a mistake to only one")] == [
        "a mistake to only one of this judge and judge 0: 0 decisions",
        "a mistake to only one of this judge and judge 1: 0 decisions",
        "a mistake to only one of this judge and judge 2: 1 decision",
    ]
    assert [line.strip() for line in lines if line.startswith("    judge")] == [
        "judge 0: better by 25.0 %: takes 1 from heap 1 (25.0 %)",
        "judge 1: not judged, late",
        "judge 2: no mistake",
    ]


def test_the_better_actions_by_step() -> None:
    """What is no mistake has no line."""
    assert mistakes_by_step(judged()[1]) == {1: "better by 100.0 %: takes 1 from heap 1 (100.0 %)"}


GOLDEN = """
m  ann 0 : bob 1  bob wins
judged by the bot judge; all values in percent of a win

player      decisions    mistakes    cost a decision    cost in all
--------  -----------  ----------  -----------------  -------------
ann                 1           1             100.00          100.0
bob                 0           0               0.00            0.0

                       ann     bob  by
------------------  ------  ------  ----------------
value of the start   100.0     0.0  judge
luck of the draws     +0.0    +0.0  no luck measured
mistakes of others    +0.0  +100.0
own mistakes        -100.0    +0.0
unexplained           +0.0    +0.0
result                 0.0   100.0

the costliest decisions:

step 1: ann takes 2 from heap 1; better by 100.0 %: takes 1 from heap 1 (100.0 %)
    ann to move
    heap 0: o (1)
    heap 1: oo (2)
"""
