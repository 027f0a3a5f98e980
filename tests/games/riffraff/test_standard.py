"""Riff Raff: nobody may simply pass; the referee loads from a fixed list for a player who gives no load."""

import json
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.riffraff_play import (
    GAME,
    HANDS,
    ScriptedShip,
    counts,
    did,
    loaded,
    played,
    second_round,
    start,
    to_load,
    topple,
    with_pieces,
)

from arena.errors import IllegalAction
from arena.games.api import Chance, Decision, Json, Over, Seat, Simulation, filming_of
from arena.games.riffraff import standard
from arena.games.riffraff.actions import PASS, Announce, AnyAction, Load, Reason
from arena.games.riffraff.rules import RiffRaff
from arena.games.riffraff.scene import AREAS, FACES, KINDS, Area
from arena.games.riffraff.simulator import RiffRaffSimulator
from arena.games.riffraff.state import CARDS, Phase, State

PASSED = {"pass": True}
FULL = RiffRaffSimulator(ScriptedShip(refuse=lambda *_: Reason.NO_ROOM))
"""A ship on which nothing has room."""


def on_area(card: int) -> State:
    """A position in which seat 0 has the turn on that area, with all kinds."""
    state = played(start(2), card, card % 10 + 1)
    return replace(state, captain=Seat(0), order=(Seat(0), Seat(1)), turn=0, phase=Phase.LOAD, to_load=1)


def test_the_list_names_every_face_of_every_kind_once() -> None:
    """The list is complete, so a pass is honoured only where no face of any kind finds a place."""
    assert sorted((kind, face) for kind, face, _ in standard.BY_RISK) == sorted(
        (kind, face) for kind in KINDS for face in FACES[kind]
    )


@pytest.mark.parametrize("card", CARDS)
def test_standard_loads_are_legal_and_begin_at_the_outer_end(card: int) -> None:
    """Without hands, never twice, the same each time; a piece that slips off is first."""
    state = on_area(card)

    found = list(standard.list_loads(state))

    area = AREAS[card]
    outer_mm = round(1000 * max(map(abs, area.v_m)), 1)
    assert found == list(standard.list_loads(state))
    assert len(set(found)) == len(found) <= 30 * len(standard.BY_RISK)
    assert all(GAME.parse(state, Seat(0), msgspec.to_builtins(load)) == load for load in found)
    assert {load.kind for load in found} == set(KINDS)
    assert all(load.hands_mm == () for load in found)
    assert (found[0].kind, found[0].face) == ("sailor", "hang" if area.is_yard else "lying")
    assert abs(found[0].v_mm) == outer_mm


def test_only_pieces_that_the_player_holds_are_loaded() -> None:
    """Loads come in the order of the list."""
    state = with_pieces(to_load(), 0, crate=1, barrel=2)

    assert list(dict.fromkeys(load.kind for load in standard.list_loads(state))) == ["barrel", "crate"]


def test_a_pass_is_refused_with_the_load_that_is_possible() -> None:
    """The sentence names it, so that a person sees why; the hint tells what becomes of players who insist."""
    with pytest.raises(IllegalAction) as caught:
        GAME.simulator.require(to_load(), Seat(0), PASS)

    assert caught.value.reason == Reason.MUST_LOAD
    assert caught.value.message == (
        "nobody may pass who can load a piece: sailor hang at u 9, v 86, yaw 0 has room and support on area 7"
    )
    assert caught.value.hint == "the referee loads that one, without hands, for a player who gives no load"


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


def test_an_announcement_of_two_binds() -> None:
    """The second piece is loaded by the referee for a player who passes; without it the turn goes on."""
    state = loaded(did(second_round(), {"pieces": 2}))

    with pytest.raises(IllegalAction, match="nobody may pass"):
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


def test_the_referees_load_is_told_in_words() -> None:
    """A search that finds no load, and the difference of two searches, are described as well."""
    asked = did(to_load(), PASSED)
    result, nothing = GAME.simulator.simulate(asked), {"load": None}

    def told(result: Json) -> str:
        return GAME.simulator.describe_result(asked, result, GAME.simulator.apply_result(asked, result))

    load = "loads sailor hang at u 9 v 86 yaw 0"
    assert told(result) == f"nobody may pass while a piece can be loaded: for seat 0 the referee {load}"
    assert told(nothing) == "nothing that seat 0 holds has room on area 7, so the turn ends"
    assert GAME.simulator.distance(asked, result, json.loads(msgspec.json.encode(result))) == ""
    assert GAME.simulator.distance(asked, result, nothing) == f"the first {load}; the second finds no load"


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), seats=st.sampled_from((2, 3, 4)), announced=st.sampled_from((1, 2)))
def test_a_match_of_players_who_only_pass_ends_with_all_pieces_where_they_belong(
    seed: int, seats: int, announced: int
) -> None:
    """Everybody announces as many as possible and then refuses to load; now and then something falls or has no room."""
    rng = Random(seed)
    refuse = rng.choice((lambda *_: "", lambda _, load: Reason.NO_ROOM if load.kind != "rat" else ""))
    game = RiffRaff(RiffRaffSimulator(ScriptedShip(topple, refuse=refuse)))
    state, placed = game.setup({"weather": "still"}, seats), 0
    for _ in range(600):
        match turn := game.turn(state):
            case Over():
                break
            case Decision(seats=asked):
                actions = {seat: _reluctant(game, state, seat, announced, rng) for seat in asked}
                state = game.apply(state, actions)
            case Simulation():
                placed += state.phase is Phase.SETTLING
                state = game.simulator.apply_result(state, game.simulator.simulate(state))
            case Chance():
                raise AssertionError(turn)
        assert counts(state) == (3 if seats == 3 else 4,) * len(KINDS)
        assert state.to_load <= 2

    assert isinstance(game.turn(state), Over)
    assert placed == state.placements
    assert placed >= seats


def _reluctant(game: RiffRaff, state: State, seat: Seat, announced: int, rng: Random) -> AnyAction:
    if state.phase is Phase.ANNOUNCE:
        return Announce(pieces=announced)
    is_load = state.phase is Phase.LOAD
    return game.fault_policy.fallback_action(state, seat) if is_load else game.sample(state, seat, rng)
