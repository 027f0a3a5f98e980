"""Matches of Riff Raff in memory: bots that only pass, so that nothing has to be loaded."""

import pytest
from support.scripted_bot import Message, ScriptedBot, answer, match_of, seated

from arena.games import load_game
from arena.match.record import ActionStep, MatchRecord, pack, unpack
from arena.match.replay import problems, replay
from arena.process.scripted import Reply
from arena.report.transcript import transcript

pytest.importorskip("mujoco", reason="the extra `riffraff` is not installed")


def passer(*first: object) -> ScriptedBot:
    """Says this where nothing is listed, then passes ever after."""
    loads = iter(first)

    def plain(message: Message) -> Reply:
        return answer(message, 0 if message["legal"] else next(loads, {"pass": True}))

    return ScriptedBot(plain=plain)


def passed(*bots: ScriptedBot) -> MatchRecord:
    game = load_game("riffraff")
    return match_of(*[seated(bot, game=game, seats=len(bots)) for bot in bots], game="riffraff")


def test_a_record_can_be_replayed_before_it_is_stored() -> None:
    """It holds the game's own actions, of which not every field is called as in JSON."""
    record = passed(passer(), passer())

    assert problems(record) == problems(unpack(pack(record))) == []
    assert any(str(step.action) == "passes" for step in record.steps if isinstance(step, ActionStep))
    assert [moment.action for moment in replay(record)] == [moment.action for moment in replay(unpack(pack(record)))]
    assert any(line.endswith("passes") for line in transcript(record, every_state=False))


def test_an_index_where_loads_are_asked_for_gets_an_example() -> None:
    """The pass that would stand in for it."""
    bot = passer(0)
    passed(bot, passer())

    assert bot.of_type("error")[0]["hint"] == 'answer with an action of the game, such as {"pass": true}'
