"""A match as text: every step, result, request and line; after a forfeit the reason with the last lines."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from support.golden import Golden
from support.report_made import record
from support.scripted_bot import answer, stored_toy_match, toy_bot
from support.toy_game import ToyGame, ToySimulator

from arena.errors import CheckFailed, OutOfTime
from arena.match.record import ChanceStep, MatchRecord, RefusedAnswer, SimulationStep
from arena.match.requests import answer_steps
from arena.process.scripted import Reply
from arena.report.transcript import dialogue_lines, luck_lines, refusal_lines, result_line, time_lines, transcript

pytestmark = pytest.mark.usefixtures("toy_game")


def test_tells_players_steps_and_result(golden: Golden) -> None:
    """Head, numbered steps, the end of the game, who won, and the use of time."""
    played = record()

    lines = list(transcript(played, every_state=False))

    golden(lines[0])
    assert lines[1:3] == ["seat 0: ann (ann-hash)", "seat 1: bob (bob-hash)"]
    golden(lines[4])
    assert lines[4].endswith("# 'half'")
    assert sum(" takes " in line for line in lines) == len(played.steps)
    assert any(line.strip() == "the game is over" for line in lines)
    assert "wins: " in "\n".join(lines)
    golden(lines[-1])


def test_a_match_by_other_rules_is_told_as_it_was_recorded(golden: Golden) -> None:
    """Head, why it is not replayed, each step by its record, the result; a note or a name in it stays one line."""
    played = record()
    old = replace(played, rules="0")

    lines = list(transcript(old, every_state=True))

    golden(lines[0])
    golden(lines[4])
    golden(lines[6])
    assert lines[6].endswith("# 'half'")
    assert len([line for line in lines if " seat " in line and "{" in line]) == len(played.steps)
    assert lines[-3:] == list(transcript(played, every_state=False))[-3:]


def test_chance_and_simulations_of_other_rules_are_told_by_their_keys(golden: Golden) -> None:
    """Outcomes stand in the record, results are a matter of the game."""
    steps = (
        ChanceStep(key="roll/1", outcome=(3, 4)),
        ChanceStep(key="deck", outcome=tuple(range(48))),
        SimulationStep("x", {"a": 1}),
    )
    old = replace(record(), game="chess", steps=steps)

    lines = list(transcript(old, every_state=False))

    golden(lines[4])
    assert lines[6:9] == ["   1  chance roll/1: 3 4", "   2  chance deck: 48 items", "   3  simulation x"]


def test_explains_a_forfeit(golden: Golden) -> None:
    """The text has the bot at fault, the reason, its answer, and the last lines both ways."""
    text = "\n".join(transcript(record(cheats=True), every_state=False))

    golden(text)
    assert '"action": 999' in text


def test_a_game_without_a_value_has_no_lines_of_luck() -> None:
    """Nim has no value function, so its luck is not known."""
    assert [*luck_lines(record())] == []


def test_a_result_is_one_line(golden: Golden) -> None:
    """Names with points, or the fault."""
    assert result_line(record()).startswith("m-0-0  ann ")
    golden(result_line(record(cheats=True)))
    assert len({result_line(replace(record(), match="x"))}) == 1


def refused_and_late() -> MatchRecord:
    """A match in which the third player is refused, and then too late."""
    odd: dict[int, list[Reply]] = {1: [answer({"id": 1}, {"mm": 1000})], 2: [OutOfTime("late")]}
    return stored_toy_match(toy_bot(), toy_bot(), toy_bot(odd=lambda _message, number: odd.get(number)), rounds=2)


def test_tells_results_of_simulations_and_fallback_actions(golden: Golden) -> None:
    """Results are in the words of the game; the faults of each bot are counted at the end."""
    lines = list(transcript(refused_and_late(), every_state=False))

    golden(lines)
    golden(lines[-3])
    assert not any("went on" in line for line in lines[-5:-3])


def test_a_simulation_of_which_there_is_nothing_to_tell_has_its_key(
    monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """The line has only the key."""
    monkeypatch.setattr(ToySimulator, "describe_result", lambda *_: "")

    lines = list(transcript(stored_toy_match(), every_state=False))

    golden(lines)


def test_a_decision_of_several_has_one_state() -> None:
    """The state is printed once, after all players have decided."""
    played = stored_toy_match(rounds=2)

    lines = list(transcript(played, every_state=True))

    assert lines.index("      round 1, scores 0 0 0", 3) == lines.index("   3  seat 2 cid Lean(mm=20)") + 1
    assert sum("round " in line and "scores" in line for line in lines) == len(played.steps) - 4 + 1


@pytest.mark.parametrize(("width", "indent"), [(40, 6), (74, 6), (76, 4), (80, 0), (90, 0)])
def test_a_position_is_indented_as_far_as_a_terminal_is_wide(
    monkeypatch: pytest.MonkeyPatch, width: int, indent: int
) -> None:
    """The lines of a position share one indent within 80 columns."""
    monkeypatch.setattr(ToyGame, "describe", lambda *_: f"short\n{'x' * width}")

    lines = list(transcript(stored_toy_match(rounds=1), every_state=False))

    assert f"{' ' * indent}short" in lines
    assert f"{' ' * indent}{'x' * width}" in lines


@pytest.mark.parametrize(
    ("ranks", "scores", "told"),
    [
        ((0, 1, 2), (12, 9, 1), "seat 0 ann wins: 12 to 9 to 1"),
        ((0, 2, 0), (5, 1, 5), "seat 0 ann and seat 2 cid share the first place: 5 to 5 to 1"),
        ((0, 0, 0), (4, 4, 4), "a draw: 4 to 4 to 4"),
    ],
)
def test_the_winners_score_comes_first_and_who_shares_it_is_named(
    ranks: tuple[int, ...], scores: tuple[int, ...], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draw is only what all share."""
    monkeypatch.setattr("arena.report.transcript.replay", lambda _record: ())

    assert told in list(transcript(replace(stored_toy_match(), ranks=ranks, scores=scores), every_state=False))


def test_refused_answers_are_told_in_full() -> None:
    """At the end below their seat; below the line of a result only the first."""
    refusals = (
        RefusedAnswer(step=8, code="illegal_action", message="no stone weighs 12", reason="no_such_stone"),
        RefusedAnswer(step=10, code="timeout", message="no answer within 100 ms"),
    )
    told = refused_and_late()
    plain, played = (
        replace(told, seats=(*told.seats[:2], replace(told.seats[2], refusals=each))) for each in (UNSET, refusals)
    )

    lines = list(transcript(played, every_state=False))

    counted = "  cid: faults after which the game went on: 1 illegal_action, 1 timeout"
    assert lines[-2:] == [
        "  for step 8: illegal_action (no_such_stone): no stone weighs 12",
        "  for step 10: timeout: no answer within 100 ms",
    ]
    assert list(refusal_lines(played)) == [
        f"{counted}; the first, for step 8: illegal_action (no_such_stone): no stone weighs 12"
    ]
    assert list(refusal_lines(plain)) == [counted]
    assert list(refusal_lines(stored_toy_match())) == []


def older(played: MatchRecord) -> MatchRecord:
    return replace(played, seats=tuple(replace(seat, requests=UNSET, lines=UNSET) for seat in played.seats))


def test_each_request_has_its_times_and_what_did_not_count(golden: Golden) -> None:
    """The table has a line for each answer; its bank is the value that the bot was sent."""
    played = record()
    told = list(time_lines(played))

    golden(told[1])
    assert sum(line.split()[:1] == ["1"] for line in told) == len(played.seats)
    assert sum(line[:1] == " " and line.split()[0].isdigit() for line in told) == sum(s.moves for s in played.seats)
    assert any("stray" in line for line in told)
    assert all("1000.000" in line for line in told if line.split()[:1] == ["1"])


def test_all_lines_are_told_request_by_request_and_printable(golden: Golden) -> None:
    """Each request has its step and its time; each line has its direction."""
    told = list(dialogue_lines(record(), 0))

    golden(told[0])
    assert told[2:4] == ["start", next(line for line in told if line.startswith('> {"type":"hello"'))]
    assert any(line.startswith("step 1, request 1: 0.000 ms CPU, ") for line in told)
    assert told[-1].startswith('> {"type":"match_end"')
    assert any(line.startswith("< {") for line in told)
    assert all(line.isprintable() for line in told)


def test_the_lines_of_one_step_are_those_of_its_requests() -> None:
    """Lines of the steps before and after are left out."""
    played = record()
    steps = answer_steps(played, 0)

    told = list(dialogue_lines(played, 0, steps[1]))

    assert told[2].startswith(f"step {steps[1]}, request 2: ")
    assert sum(line.startswith('> {"type":"request"') for line in told) == 1
    assert len(told) < len(list(dialogue_lines(played, 0))) / 2


def test_lines_that_are_not_those_of_the_day_say_so(golden: Golden) -> None:
    """Other lines than those of the checksum, and lines that were not kept."""
    played = record()
    first = played.seats[0]
    assert first.lines
    other = replace(first, lines=replace(first.lines, checksum=1))
    cut = replace(first, lines=replace(first.lines, left_out=3))

    wrong, short = (
        next(iter(dialogue_lines(replace(played, seats=(each, *played.seats[1:])), 0))) for each in (other, cut)
    )

    golden(wrong)
    golden(short)


def test_older_records_and_other_rules_say_why_not(golden: Golden) -> None:
    """Lines where the match cannot be played again; neither times nor lines of a record that keeps neither."""
    played = record()

    with golden.raises(CheckFailed):
        list(time_lines(older(played)))
    with golden.raises(CheckFailed):
        list(dialogue_lines(older(played), 0))
    with golden.raises(CheckFailed):
        list(dialogue_lines(replace(played, rules="0"), 0))
    assert list(time_lines(replace(played, rules="0"))) == list(time_lines(played))
