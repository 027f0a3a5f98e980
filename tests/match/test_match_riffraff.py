"""Matches of Riff Raff in memory: bots that only pass, so that nothing has to be loaded."""

import pytest
from support.scripted_bot import ScriptedBot, answer, match_of, seated

from arena.games import load_game
from arena.match.record import ActionStep, pack, unpack
from arena.match.replay import problems, replay
from arena.report.transcript import transcript

pytest.importorskip("mujoco", reason="the extra `riffraff` is not installed")


def test_a_record_can_be_replayed_before_it_is_stored() -> None:
    """It holds the game's own actions, of which not every field is called as in JSON."""
    bots = [ScriptedBot(plain=lambda message: answer(message, 0 if message["legal"] else {"pass": True})) for _ in "ab"]
    game = load_game("riffraff")
    record = match_of(*[seated(bot, game=game) for bot in bots], game="riffraff")

    assert problems(record) == problems(unpack(pack(record))) == []
    assert any(str(step.action) == "passes" for step in record.steps if isinstance(step, ActionStep))
    assert [moment.action for moment in replay(record)] == [moment.action for moment in replay(unpack(pack(record)))]
    assert any(line.endswith("passes") for line in transcript(record, every_state=False))
