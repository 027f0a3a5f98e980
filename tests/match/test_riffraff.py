"""Matches of Riff Raff in memory, of bots that only pass."""

from collections.abc import Callable
from functools import cache

import pytest
from support.riffraff_play import counts
from support.scripted_bot import Message, ScriptedBot, answer, match_of, seated

from arena.games import load_game
from arena.games.riffraff.scene import KINDS
from arena.match.record import ActionStep, MatchRecord, SimulationStep, Termination, pack, unpack
from arena.match.replay import problems, replay
from arena.report.transcript import transcript
from arena.verify.resimulation import resimulate

pytest.importorskip("mujoco", reason="the extra `riffraff` is not installed")


def reluctant(message: Message) -> bytes:
    """Play the first card, two pieces where they may be announced, and pass in place of each load."""
    if message["legal"]:
        return answer(message, -1 % len(message["legal"]) if message["view"]["phase"] == "announce" else 0)
    return answer(message, {"pass": True})


def rude(message: Message) -> bytes:
    """Announce two pieces, and answer each load with nonsense."""
    return reluctant(message) if message["legal"] else answer(message, {"pieces": 1, "kind": "whale"})


def stubborn(message: Message) -> bytes:
    """Answer everything with nonsense."""
    return answer(message, {"pass": False})


@cache
def match_between(*manners: Callable[[Message], bytes]) -> MatchRecord:
    """Play a match of bots with these policies."""
    bots = [ScriptedBot(plain=manner) for manner in manners]
    return match_of(*[seated(bot, game=load_game("riffraff"), seats=len(bots)) for bot in bots], game="riffraff")


def test_a_record_can_be_replayed_before_it_is_stored() -> None:
    """It holds the game's own actions, of which not every field is called as in JSON."""
    record = match_between(reluctant, reluctant)

    assert problems(record) == problems(unpack(pack(record))) == []
    assert any(str(step.action) == "passes" for step in record.steps if isinstance(step, ActionStep))
    assert [moment.action for moment in replay(record)] == [moment.action for moment in replay(unpack(pack(record)))]
    lines = list(transcript(record, every_state=False))
    assert any(line.endswith("passes (stands in after a fault: illegal_action)") for line in lines)
    assert any("the referee loads a sailor" in line for line in lines)


@pytest.mark.parametrize(
    ("manners", "reasons"),
    [
        ((reluctant, reluctant), {"must_load"}),
        ((rude, reluctant, rude), {"must_load", ""}),
        ((stubborn, rude, reluctant, stubborn), {"must_load", ""}),
    ],
    ids=["pass", "pass or nonsense", "nonsense to all"],
)
def test_players_who_never_load_are_loaded_for(
    manners: tuple[Callable[[Message], bytes], ...], reasons: set[str]
) -> None:
    """Each load takes two refusals, counted in the record; the match ends with every piece placed, and verifies."""
    record = match_between(*manners)

    searches = [step.result for step in record.steps if isinstance(step, SimulationStep) and "standard" in step.key]
    loads = sum(isinstance(step, SimulationStep) and "settle" in step.key for step in record.steps)
    refused = sum(sum(seat.faults.values()) for seat in record.seats if seat.faults)
    passes = [step for step in record.steps if isinstance(step, ActionStep) and step.fallback_for]
    assert record.termination is Termination.NORMAL
    assert refused == 2 * len(passes)
    assert loads == sum(result["load"] is not None for result in searches) > len(manners)
    assert {refusal.reason for seat in record.seats for refusal in seat.refusals or ()} <= reasons
    for moment in replay(record):
        assert counts(moment.after) == (3 if len(manners) == 3 else 4,) * len(KINDS)
    again, differences = resimulate(record)
    assert differences == []
    assert again is not None
    assert again.made == again.equal
