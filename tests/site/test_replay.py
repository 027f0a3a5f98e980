"""The data of a match for the player: every step and picture, nothing hidden, and hostile text that stays text."""

import json
import zlib
from base64 import b64decode
from typing import Any

import pytest
from msgspec.structs import replace
from support.scripted_bot import ScriptedBot, answer, house, match_of, random_match, seated, stored_toy_match

from arena.errors import CheckFailed, Crashed
from arena.match.judgement import judge_by_game
from arena.match.luck import luck_of
from arena.match.record import ActionStep, ChanceStep, MatchRecord, StderrText
from arena.match.replay import replay
from arena.match.results import partners, result_of
from arena.match.settings import ClockSettings
from arena.report.transcript import step_line
from arena.site.replay import match_data, script

HOSTILE = "</script><script>alert('x')</script><!--\u2028<img src=http://evil/x onerror=alert(1)>"
SHANGHAIEN = random_match("shanghaien", 4)
CRASHED = match_of(seated(ScriptedBot(lambda _m, n: [Crashed("gone")] if n == 2 else None), player="guilty"), house())


def unpacked(packed: str) -> list[Any]:
    found: list[Any] = json.loads(zlib.decompress(b64decode(packed)))
    return found


def with_notes(record: MatchRecord, note: str) -> MatchRecord:
    steps = tuple(replace(step, note=note) if isinstance(step, ActionStep) else step for step in record.steps)
    return replace(record, steps=steps)


def test_costs_are_those_of_the_first_judge_with_the_doubts_of_others() -> None:
    """The better action in words, whose opinion it is, and who sees no mistake there; the costliest has a mark."""
    (judgement,) = judge_by_game(SHANGHAIEN)
    costliest = judgement.costliest(1, (0, 1))[0]
    agreeing = replace(costliest, best=costliest.chosen, best_value=costliest.chosen_value)
    other = replace(judgement, by="another", decisions=(agreeing,))

    plain, doubted = match_data(SHANGHAIEN), match_data(SHANGHAIEN, judgements=(judgement, other))

    assert not [step for step in plain["steps"] if "cost" in step]
    step = doubted["steps"][costliest.step]
    assert step["cost"] == pytest.approx(costliest.cost, abs=1e-4)
    assert step["better"].endswith(f", by {judgement.by}; no mistake by another")
    assert [mark["step"] for mark in doubted["marks"] if mark["kind"] == "costliest decision"] == [costliest.step]


def test_the_start_and_every_step_are_there_with_round_seat_and_position() -> None:
    """In the words of the transcript, with the index of a picture and of the view of seat 0."""
    data = match_data(SHANGHAIEN)

    assert len(data["steps"]) == len(SHANGHAIEN.steps) + 1
    for step, moment in zip(data["steps"][1:], replay(SHANGHAIEN), strict=True):
        name = "" if "seat" not in step else f"seat {step['seat']} {data['players'][step['seat']]['name']} "
        assert isinstance(moment.step, ChanceStep) or f"{name}{step['text']}" == step_line(SHANGHAIEN, moment)
    assert [step.get("round", 0) for step in data["steps"]] == sorted(step.get("round", 0) for step in data["steps"])
    assert data["steps"][-1]["round"] == 8
    stills = unpacked(data["stills"])
    assert {step.get("still", 0) for step in data["steps"]} == set(range(len(stills)))
    assert all(still.startswith("<svg ") for still in stills)


def test_the_chance_of_winning_ends_with_the_result_and_luck_is_told_where_it_fell() -> None:
    """Marks lead to the luckiest draw and to the largest swing."""
    data = match_data(SHANGHAIEN)

    best = min(SHANGHAIEN.ranks)
    assert [value == 1 for value in data["steps"][-1]["value"]] == [rank == best for rank in SHANGHAIEN.ranks]
    kinds = {mark["kind"]: mark["step"] for mark in data["marks"]}
    lucky = {number: max(step["luck"]) for number, step in enumerate(data["steps"]) if "luck" in step}
    assert lucky[kinds["luckiest draw"]] == max(lucky.values())
    assert 0 < kinds["largest swing"] < len(data["steps"])
    assert {"luck", "value"} & set().union(*match_data(random_match("nim", 3))["steps"]) == set()


@pytest.mark.parametrize("number", range(4))
def test_the_sentence_of_the_end_names_the_last_change_of_the_lead(number: int) -> None:
    """From its step on the winner leads to the end; before it did not."""
    record = random_match("shanghaien", number)
    players = ("ann", "bob")
    record = replace(
        record, seats=tuple(replace(seat, player=name) for seat, name in zip(record.seats, players, strict=True))
    )
    data = match_data(record)
    leads = [step["value"][0] > step["value"][1] for step in data["steps"]]
    (mark,) = (mark for mark in data["marks"] if mark["kind"] == "lead")
    at, winner = mark["step"], record.ranks.index(0)

    assert {*leads[at:]} == {winner == 0} != {leads[at - 1]}
    assert mark["text"] == f"{players[1 - winner]} lost the lead in round {data['steps'][at]['round']}"
    assert data["result"].endswith(f"{players[winner]} wins; {mark['text']}")


def test_points_by_now_become_those_of_the_result() -> None:
    """A call of shanghai gives what was at stake; after it nothing is, and the last points are the scores."""
    steps = match_data(SHANGHAIEN)["steps"]
    calls = [number for number, step in enumerate(steps) if step["text"].startswith("calls shanghai")]

    assert len(calls) == 8
    for number in calls:
        before = steps[number - 1]
        stake = before.get("stake", (0, 0))
        assert steps[number]["points"] == tuple(now + more for now, more in zip(before["points"], stake, strict=True))
        assert "stake" not in steps[number]
    assert any("stake" in step for step in steps)
    assert steps[-1]["points"] == SHANGHAIEN.scores
    assert "points" not in match_data(random_match("nim", 3))["steps"][0]


@pytest.mark.usefixtures("toy_game")
def test_nothing_of_a_simultaneous_decision_is_shown_before_all_have_decided() -> None:
    """Its steps show the position before it; the picture changes with the last of them."""
    data = match_data(stored_toy_match(rounds=2))

    assert [step.get("still", 0) for step in data["steps"]] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4]
    assert data["steps"][0]["next"] == (0, 1, 2)
    assert [step["kind"] for step in data["steps"] if "kind" in step][:3] == ["start", "chance", "simulation"]


def test_no_secret_leaves_by_the_data() -> None:
    """Neither the seed of the block, nor those of bots, nor the order of the deck, nor cards that lie in the pile."""
    data = match_data(SHANGHAIEN)

    told = json.dumps(data) + "".join(map(json.dumps, map(unpacked, filter(None, [data["stills"], data["views"]]))))
    deck = next(step for step in SHANGHAIEN.steps if isinstance(step, ChanceStep) and len(step.outcome) == 48)
    assert SHANGHAIEN.seed not in told
    assert str(list(deck.outcome))[1:-1] not in told
    assert next(step["text"] for step in data["steps"] if step.get("key") == "deck") == "shuffled, hidden"
    assert all(type(view["pile"]) is int for view in unpacked(data["views"] or data["stills"]) if type(view) is dict)


def test_notes_and_stderr_are_told_of_private_players_only() -> None:
    """Notes and stderr are in the data for private players only, for nobody by default."""
    fault = CRASHED.fault
    assert fault is not None
    record = replace(with_notes(CRASHED, "my plan"), fault=replace(fault, stderr="trace of mine", hint="a hint"))

    for private, notes, errors in (((), set(), False), (("guilty",), {0}, True), (("house",), {1}, False)):
        data = match_data(record, private=private)
        assert {step["seat"] for step in data["steps"] if "note" in step} == notes
        assert ("trace of mine" in json.dumps(data)) == errors
        assert all(word not in json.dumps(data) for word in fault.transcript)
    assert data["marks"][-1]["kind"] == "fault"
    assert "crash: " in data["steps"][-1]["fault"]


def test_kept_stderr_stands_at_the_step_for_private_players() -> None:
    """Apart from it, what was written before the first answer and after the last."""
    texts = (StderrText(-1, "I start"), StderrText(0, "ready"), StderrText(1, "first"), StderrText(2, "last words"))
    record = replace(CRASHED, seats=(replace(CRASHED.seats[0], stderr=texts), CRASHED.seats[1]))

    shown, hidden = match_data(record, private=["guilty"]), match_data(record, private=["house"])
    player = shown["players"][0]
    assert [step["stderr"] for step in shown["steps"] if "stderr" in step] == ["first"]
    assert (player["stderr_before"], player["stderr"]) == ("I startready", "last words")
    assert "first" not in json.dumps(hidden)
    assert "stderr" not in json.dumps(hidden)


def test_hostile_text_stays_inside_the_script_that_carries_it() -> None:
    """Names, notes and the rest are JSON without any character that could end the script or a line."""
    record = with_notes(SHANGHAIEN, HOSTILE)
    record = replace(record, seats=tuple(replace(seat, player=HOSTILE) for seat in record.seats))

    text = script("match-m", match_data(record, private=[HOSTILE]))

    assert not set("<>\u2028\u2029") & set(text)
    assert text.count("\n") == 1
    name, data = json.loads("[" + text.removeprefix("arena_data(").removesuffix(");\n") + "]")
    assert name == "match-m"
    assert data["players"][0]["name"] == HOSTILE
    assert any(step.get("note") == HOSTILE for step in data["steps"])


def test_a_record_that_contradicts_the_rules_is_refused() -> None:
    """No page shows a match that nobody can have played."""
    with pytest.raises(CheckFailed):
        match_data(replace(SHANGHAIEN, steps=SHANGHAIEN.steps[1:]))


def test_a_match_by_other_rules_is_told_as_it_was_recorded() -> None:
    """Without positions, with a sentence that says why, and with the luck of the store."""
    other = replace(SHANGHAIEN, rules="1")

    data = match_data(other)

    assert "played by rules 1" in data["notice"]
    assert len(data["steps"]) == len(other.steps) + 1
    assert (data["stills"], data["views"], data["module"]) == ("", "", "")


def test_the_time_of_an_action_is_that_of_its_requests() -> None:
    """The sum of a seat is the time of its record; a refused answer's request counts for the action after it."""

    def late(message: Any, number: int) -> list[Any] | None:
        return [answer(message, 99)] if number in {2, 5, 6} else None

    with_faults = match_of(seated(ScriptedBot(late), player="late"), house(), game="nim", options={"heaps": [3, 4, 5]})
    for record in (SHANGHAIEN, with_faults):
        data = match_data(record)
        for seat, entry in enumerate(record.seats):
            steps = [step for step in data["steps"] if step.get("seat") == seat and "total_ms" in step]
            spent = entry.cpu_ms if entry.decides == "cpu" else entry.wall_ms
            assert not steps or steps[-1]["total_ms"] == pytest.approx(spent)
            assert steps or entry.requests is None or not entry.requests


def test_the_bank_goes_down_by_what_goes_beyond_the_time_for_a_move() -> None:
    """From step to step, and to what is left at the end, an answer of a forfeit included."""

    clock = ClockSettings(move_ms=50, bank_ms=300)

    def slow(_message: Any, number: int) -> None:
        bot.times.cpu_s += 0.06 * number

    bot = ScriptedBot(slow)
    record = match_of(seated(bot, clock, player="slow"), house(clock), clock=clock)
    data = match_data(record)

    slow_player, quick = data["players"]
    left = [step["bank_ms"] for step in data["steps"] if step.get("seat") == 0 and "bank_ms" in step]
    assert left == [290.0, 220.0, 90.0]
    timed = [step for step in data["steps"] if step.get("seat") == 0 and "used_ms" in step]
    assert [(step["used_ms"], step["total_ms"]) for step in timed[:3]] == [(60.0, 60.0), (120.0, 180.0), (180.0, 360.0)]
    assert (slow_player["banks_ms"], quick["banks_ms"]) == ((300.0, 0.0), (300.0, 300.0))
    assert record.termination == "timeout"


def test_the_other_matches_of_a_block_are_its_other_rotations() -> None:
    """None for an id that belongs to no pairing."""
    assert partners("c91b78bc3e0c-4-1", 3) == ("c91b78bc3e0c-4-0", "c91b78bc3e0c-4-2")
    assert partners("m", 2) == ()


def test_a_stored_match_gives_its_luck_where_no_replay_can() -> None:
    """A match that cannot be replayed has the luck that was measured when it was played."""
    record = replace(SHANGHAIEN, match="c91b78bc3e0c-4-1")
    found = result_of(record, luck_of(record))

    data = match_data(replace(record, rules="1"), found)

    assert [player["luck"] for player in data["players"]] == pytest.approx(luck_of(record).by_seat, abs=1e-4)
