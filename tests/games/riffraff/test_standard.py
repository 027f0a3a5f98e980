"""Riff Raff: nobody may simply pass; the referee loads from a fixed list for a player who gives no load."""

import json

import msgspec
import pytest
from support.golden import Golden
from support.riffraff_play import (
    GAME,
    HANDS,
    ScriptedShip,
    did,
    loaded,
    second_round,
    to_load,
    with_pieces,
)

from arena.errors import IllegalAction
from arena.games.api import Json, Seat, Simulation, filming_of
from arena.games.riffraff import standard
from arena.games.riffraff.actions import PASS, Load, Reason
from arena.games.riffraff.scene import FACES, KINDS, Area
from arena.games.riffraff.simulator import RiffRaffSimulator
from arena.games.riffraff.state import Phase

PASSED = {"pass": True}
FULL = RiffRaffSimulator(ScriptedShip(refuse=lambda *_: Reason.NO_ROOM))
"""A ship on which nothing has room."""


def test_the_list_names_every_face_of_every_kind_once() -> None:
    """The list is complete, so a pass is honoured only where no face of any kind finds a place."""
    assert sorted((kind, face) for kind, face, _ in standard.BY_RISK) == sorted(
        (kind, face) for kind in KINDS for face in FACES[kind]
    )


def test_only_pieces_that_the_player_holds_are_loaded() -> None:
    """Loads come in the order of the list."""
    state = with_pieces(to_load(), 0, crate=1, barrel=2)

    assert list(dict.fromkeys(load.kind for load in standard.list_loads(state))) == ["barrel", "crate"]


def test_a_pass_is_refused_with_the_load_that_is_possible(golden: Golden) -> None:
    """The sentence names it, so that a person sees why; the hint tells what becomes of players who insist."""
    with pytest.raises(IllegalAction) as caught:
        GAME.simulator.require(to_load(), Seat(0), PASS)

    assert caught.value.reason == Reason.MUST_LOAD
    golden(caught.value.message)
    golden(caught.value.hint)


def test_a_pass_is_honoured_where_nothing_has_room() -> None:
    """The referee tries the whole list before a pass is honoured."""
    tried: list[Load] = []

    def refuse(_area: Area, load: Load) -> str:
        tried.append(load)
        return Reason.NO_ROOM

    state = to_load()
    RiffRaffSimulator(ScriptedShip(refuse=refuse)).require(state, Seat(0), PASS)

    assert tried == list(standard.list_loads(state))
    assert FULL.simulate(did(state, PASSED)) == {"load": None}


def test_for_a_player_who_gives_no_load_the_referee_loads() -> None:
    """The search is a simulation of its own in the record; wind and rocking follow as after a load of the player."""
    asked = did(to_load(weather="breeze"), PASSED)

    result = json.loads(msgspec.json.encode(GAME.simulator.simulate(asked)))
    after = GAME.simulator.apply_result(asked, result)

    first = next(standard.list_loads(asked))
    assert GAME.turn(asked) == Simulation(key="standard/1/0/0")
    assert GAME.observe(asked, Seat(1))["phase"] == "standard"
    assert result["load"]["kind"] == first.kind
    assert (after.phase, after.pending) == (Phase.NOISE, first)
    filming = filming_of(GAME)
    assert filming is not None
    assert filming.frames(asked, result) is None


def test_an_announcement_of_two_binds(golden: Golden) -> None:
    """The second piece is loaded by the referee for a player who passes; without it the turn goes on."""
    state = loaded(did(second_round(), {"pieces": 2}))

    with golden.raises(IllegalAction):
        GAME.simulator.require(state, state.movers[0], PASS)
    asked = did(state, PASSED)
    waiting = GAME.simulator.apply_result(asked, GAME.simulator.simulate(asked))
    after = GAME.simulator.apply_result(waiting, GAME.simulator.simulate(waiting))

    assert GAME.turn(asked) == Simulation(key="standard/2/1/1")
    assert waiting.active == 1
    assert (after.active, [each.id for each in after.last]) == (2, ["k02", "k03"])


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ({"load": {"kind": "crate", "face": "flat", "u_mm": 0.0, "v_mm": 46.3}}, "none of the standard loads"),
        ({"load": {"kind": "sailor", "face": "hang", "u_mm": 9.0, "v_mm": 86.0, "hands_mm": HANDS}}, "none of the"),
        ({"load": PASSED}, "not the result of a search for a standard load"),
        ({"load": None, "more": 1}, "not the result of a search for a standard load"),
        (None, "not the result of a search for a standard load"),
    ],
)
def test_a_load_that_is_not_in_the_list_cannot_be_recorded(result: Json, sentence: str) -> None:
    """A standard load with hands is refused, too."""
    with pytest.raises(ValueError, match=sentence):
        GAME.simulator.apply_result(did(to_load(), PASSED), result)


def test_two_searches_for_a_load_are_compared() -> None:
    """The difference names both loads; a result read back is the same."""
    asked = did(to_load(), PASSED)
    result, nothing = GAME.simulator.simulate(asked), {"load": None}

    load = "loads a sailor, hang; u 9 v 86 yaw 0"
    assert GAME.simulator.distance(asked, result, json.loads(msgspec.json.encode(result))) == ""
    assert GAME.simulator.distance(asked, result, nothing) == f"the first {load}; the second finds no load"
