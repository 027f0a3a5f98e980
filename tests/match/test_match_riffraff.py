"""Matches of Riff Raff in memory, of bots that only pass."""

import msgspec
import pytest
from support.scripted_bot import ScriptedBot, answer, match_of, seated

from arena.games import load_game
from arena.match.record import ActionStep, SimulationStep, Termination, pack, unpack
from arena.match.replay import other_rules, problems, replay
from arena.report.transcript import transcript
from arena.verify.resimulation import resimulate

pytest.importorskip("mujoco", reason="the extra `riffraff` is not installed")


def test_a_record_can_be_replayed_before_it_is_stored() -> None:
    """It holds the game's own actions, of which not every field is called as in JSON."""
    bots = [ScriptedBot(plain=lambda message: answer(message, 0 if message["legal"] else {"pass": True})) for _ in "ab"]
    game = load_game("riffraff")
    record = match_of(*[seated(bot, game=game) for bot in bots], game="riffraff")

    assert problems(record) == problems(unpack(pack(record))) == []
    assert any(str(step.action) == "passes" for step in record.steps if isinstance(step, ActionStep))
    assert [moment.action for moment in replay(record)] == [moment.action for moment in replay(unpack(pack(record)))]
    lines = list(transcript(record, every_state=False))
    assert any(line.endswith("passes (stands in after a fault: illegal_action)") for line in lines)
    assert any("the referee loads sailor" in line for line in lines)


def test_players_who_never_load_are_refused_and_loaded_for() -> None:
    """Two refusals a load, for the same reason, counted in the record; the matches can be verified."""
    bots = [ScriptedBot(plain=lambda message: answer(message, 0 if message["legal"] else {"pass": True})) for _ in "ab"]
    record = match_of(*[seated(bot, game=load_game("riffraff")) for bot in bots], game="riffraff")

    loads = sum(isinstance(step, SimulationStep) and step.key.startswith("standard/") for step in record.steps)
    faults = [seat.faults for seat in record.seats]
    assert record.termination is Termination.NORMAL
    assert sum(each["illegal_action"] for each in faults if each) == 2 * loads > 0
    assert {refusal.reason for seat in record.seats for refusal in seat.refusals or ()} == {"must_load"}
    found, problems_found = resimulate(record)
    assert problems_found == []
    assert found is not None
    assert found.made == found.equal


def test_records_of_the_first_version_are_told_apart() -> None:
    """They are shown as they were recorded; nothing is replayed by other rules."""
    bots = [ScriptedBot(plain=lambda message: answer(message, 0 if message["legal"] else {"pass": True})) for _ in "ab"]
    played = match_of(*[seated(bot, game=load_game("riffraff")) for bot in bots], game="riffraff")
    record = msgspec.structs.replace(played, rules="1")

    sentence = "played by rules 1 of riffraff; this arena plays rules 2 and cannot replay it"
    assert other_rules(record) == sentence
    assert problems(record) == [f"{record.match}: {sentence}"]
    assert any(sentence in line for line in transcript(record, every_state=False))
