"""Riff Raff: what a bot may ask of the simulated ship before it acts."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from riffraff_play import (
    AT_SEA,
    GAME,
    HANDS,
    IN_HAND,
    Place,
    Recorder,
    ScriptedShip,
    did,
    loaded,
    others_pass,
    played,
    raw_load,
    start,
    under_way,
)

from arena.errors import BotFault, HarnessFault, IllegalAction, MalformedReply
from arena.games.api import Json, Seat, Simulator
from arena.games.riffraff.actions import Load, Reason
from arena.games.riffraff.scene import KINDS
from arena.games.riffraff.simulator import RiffRaffSimulator
from arena.games.riffraff.state import State
from arena.games.riffraff.table import STILL
from arena.games.riffraff.view import cargo

SEAT = Seat(0)
YARD = played(start(), 7, 3, 2, 1)
BARREL_ABOARD = loaded(YARD, kind="barrel")
SECOND = loaded(did(played(others_pass(BARREL_ABOARD), 1, 7, 3, 2), {"pieces": 2}))
"""Seat 1 has the turn on area 7, where k01 and k02 lie."""
QUESTION = {"load": raw_load(YARD, "crate")}
NOTHING = "nothing that can be simulated"
ID = "expected an id from k00 to k99"
LENGTH = "the length of `quat` of piece k01 must be from 0.999 to 1.001"
IN_POSITION = "in `pos_mm` of piece k01 must be from"

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["k01", "rat"]),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.sampled_from(["id", "kind", "pos_mm", "quat", "roll_deg", "pitch_deg"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def breaking_down(*_: object) -> dict[str, Place]:
    """What no physics follows."""
    raise HarnessFault("the simulation of the ship broke down")


def refused(simulator: Simulator, what: Mapping[str, Json], state: State = YARD, seat: int = 0) -> BotFault:
    with pytest.raises(BotFault) as caught:
        simulator.what_if(state, Seat(seat), what)
    return caught.value


def test_a_look_ahead_needs_only_a_load() -> None:
    """Then it is of the table as it is, onto the area of the card, without noise; the answer speaks like the view."""
    ship = Recorder()

    answer = RiffRaffSimulator(ship).what_if(SECOND, Seat(1), {"load": raw_load(SECOND, "plank")})

    ((table, area, load, noise, name),) = ship.placed
    assert (table, area, noise, name) == (SECOND.table, 7, STILL, "k03")
    assert load == GAME.parse(SECOND, Seat(1), raw_load(SECOND, "plank"))
    assert [each[:2] for each in ship.insisted] == [(SECOND.table, 7)]
    assert {key: answer[key] for key in ("end", "t_s", "tilt_max_deg", "fallen", "ship")} == {
        "end": "rest",
        "t_s": 0.9,
        "tilt_max_deg": 3.1,
        "fallen": [],
        "ship": {"roll_deg": 0.0, "pitch_deg": 0.0},
    }
    assert answer["cargo"][:2] == GAME.observe(SECOND, Seat(1))["cargo"]
    assert answer["cargo"][2] == {
        "id": "k03",
        "kind": "plank",
        "on": 7,
        "card": 7,
        "by": 1,
        "pos_mm": [0.0, 46.0, 188.0],
        "quat": [1.0, 0.0, 0.0, 0.0],
    }


def test_a_look_ahead_comes_true() -> None:
    """With the noise of the event, it gives the very table that the placement gave."""
    state = played(start(weather="storm"), 7, 3, 2, 1)
    waiting = GAME.resolve(under_way(state), (900_000, 100_000, 700_000, 3, 4))
    after = GAME.simulator.apply_result(waiting, GAME.simulator.simulate(waiting))
    view = json.loads(json.dumps(GAME.observe(after, Seat(1))))

    answer = GAME.simulator.what_if(state, SEAT, {"load": view["last"][0]["load"], "noise": view["last"][0]["noise"]})

    assert answer["cargo"] == view["cargo"]
    assert answer["ship"] == view["ship"]


def test_a_look_ahead_can_go_on_from_an_imagined_table() -> None:
    """The answer to one question is the beginning of the next; ids do not collide."""
    ship = Recorder()
    simulator = RiffRaffSimulator(ship)
    what = {"area": 3, "load": raw_load(YARD, "crate") | {"u_mm": -50, "v_mm": 20}}

    first = simulator.what_if(start(), Seat(2), what)
    second = simulator.what_if(start(), Seat(2), what | {"ship": first["ship"], "cargo": first["cargo"]})

    assert [piece["id"] for piece in second["cargo"]] == ["k01", "k02"]
    assert cargo(ship.placed[1][0]) == first["cargo"]


def test_a_look_ahead_tells_what_would_fall() -> None:
    """With kind, place and hand, as the event would."""
    simulator = RiffRaffSimulator(ScriptedShip(lambda *_: {"k01": IN_HAND, "k02": AT_SEA}))

    answer = simulator.what_if(BARREL_ABOARD, Seat(1), {"load": raw_load(BARREL_ABOARD, "crate", hands_mm=HANDS)})

    assert answer["cargo"] == []
    assert answer["fallen"] == [
        {"id": "k01", "kind": "barrel", "x_mm": 45.0, "y_mm": 75.0, "hand": 0},
        {"id": "k02", "kind": "crate", "x_mm": 0.0, "y_mm": -150.0, "hand": None},
    ]


def test_any_kind_on_any_area_can_be_imagined() -> None:
    """Also in the card phase, and a piece that one does not hold."""
    what = {"area": 9, "load": QUESTION["load"]}

    answer = GAME.simulator.what_if(start(), Seat(3), what)

    assert [(piece["kind"], piece["on"], piece["by"]) for piece in answer["cargo"]] == [("crate", 9, 3)]


def lying(**changes: Json) -> dict[str, Json]:
    """An imagined piece, changed."""
    return {"id": "k01", "kind": "rat", "pos_mm": [0, 0, 50], "quat": [1, 0, 0, 0]} | changes


@pytest.mark.parametrize(
    ("changes", "reason", "sentence"),
    [
        ({"area": 11}, Reason.NOT_A_CHOICE, "there is no area 11; the areas are 1 to 10"),
        ({"load": QUESTION["load"] | {"kind": "monkey"}}, Reason.NOT_IN_SUPPLY, 'there is no kind "monkey"'),
        ({"load": QUESTION["load"] | {"face": "edge"}}, Reason.BAD_FACE, 'a crate has no face "edge"'),
        ({"load": QUESTION["load"] | {"u_mm": 20}}, Reason.OUTSIDE_AREA, "u 20, v 46 is outside area 7"),
        ({"load": QUESTION["load"] | {"v_mm": 6}}, Reason.INTO_OTHER_AREA, "at v 6 the crate"),
        ({"load": QUESTION["load"] | {"yaw_deg": 1e6}}, Reason.BAD_NUMBER, "`yaw_deg` must be from -360 to 360"),
        ({"noise": [50.1, 0, 0, 0, 0]}, Reason.BAD_NUMBER, "u_mm in `noise` must be from -50 to 50, found 50.1"),
        ({"noise": [0, 0, 0, 0, float("nan")]}, Reason.BAD_NUMBER, "pitch_rad_s in `noise` must be from -2 to 2"),
        (
            {"ship": {"roll_deg": 41, "pitch_deg": 0}},
            Reason.BAD_NUMBER,
            "`roll_deg` of the ship must be from -40 to 40",
        ),
        ({"cargo": [lying(), lying()]}, Reason.NOT_A_CHOICE, "two pieces of `cargo` have the id k01"),
        ({"cargo": [lying(pos_mm=[0, 501, 0])]}, Reason.BAD_NUMBER, f"y {IN_POSITION} -500 to 500, found 501"),
        ({"cargo": [lying(pos_mm=[0, 0, -21])]}, Reason.BAD_NUMBER, f"z {IN_POSITION} -20 to 500"),
        ({"cargo": [lying(quat=[1, 1, 0, 0])]}, Reason.BAD_NUMBER, f"{LENGTH}, found 1.41421"),
        ({"cargo": [lying(quat=[float("nan"), 0, 0, 0])]}, Reason.BAD_NUMBER, f"{LENGTH}, found nan"),
    ],
)
def test_what_cannot_be_imagined_is_refused(changes: dict[str, Json], reason: str, sentence: str) -> None:
    """Before any physics, with the reason and the sentence that an action would get."""
    ship = Recorder()

    fault = refused(RiffRaffSimulator(ship), QUESTION | changes)

    assert isinstance(fault, IllegalAction)
    assert fault.reason == reason
    assert fault.message.startswith(sentence)
    assert not ship.placed


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ({}, f'{NOTHING}: the field "load" is missing'),
        ({"load": None}, f"{NOTHING}: load: expected an object, found null"),
        ({"load": {"pass": True}}, f'not a load: unknown field "pass"; known: {", ".join(Load.__struct_fields__)}'),
        ({"load": {}}, 'not a load: the field "kind" is missing'),
        (QUESTION | {"wind": 1}, f'{NOTHING}: unknown field "wind"; known: load, area, noise, ship, cargo'),
        (QUESTION | {"noise": [0]}, f"{NOTHING}: noise: expected a list of length 5, found a list of length 1"),
        (QUESTION | {"ship": {}}, f'{NOTHING}: ship: the field "roll_deg" is missing'),
        (
            QUESTION | {"cargo": [lying(kind="monkey")]},
            f'{NOTHING}: cargo[0].kind: unknown value "monkey"; known: {", ".join(sorted(KINDS))}',
        ),
        (QUESTION | {"cargo": [lying(id="<x/>")]}, f'{NOTHING}: cargo[0].id: {ID}, found "<x/>"'),
        (QUESTION | {"cargo": [lying(id="k01\n")]}, f'{NOTHING}: cargo[0].id: {ID}, found "k01\\n"'),
        (
            QUESTION | {"cargo": [lying()] * 33},
            f"{NOTHING}: cargo: expected a list of length <= 32, found a list of length 33",
        ),
        ({"\ud800": 1}, f'{NOTHING}: unknown field "\\ud800"; known: load, area, noise, ship, cargo'),
    ],
)
def test_a_question_of_another_form_is_malformed(what: dict[str, Json], sentence: str) -> None:
    """With an example of the right one."""
    fault = refused(GAME.simulator, what)

    assert isinstance(fault, MalformedReply)
    assert fault.message == sentence
    assert fault.hint.startswith('for example {"')


def test_without_a_card_an_area_must_be_named() -> None:
    """Also when it is another one's turn."""
    for state, seat in ((start(), 0), (YARD, 1)):
        fault = refused(GAME.simulator, QUESTION, state, seat)

        assert isinstance(fault, MalformedReply)
        assert fault.message == "`area` is missing, and it is not your turn, so no card tells which area is meant"


def test_the_world_may_have_no_room_for_what_is_imagined() -> None:
    """Then the bot learns what it would be told after acting."""
    simulator = RiffRaffSimulator(ScriptedShip(refuse=lambda *_: Reason.NO_ROOM))

    assert refused(simulator, QUESTION).reason == Reason.NO_ROOM


def test_an_imagined_breakdown_is_no_fault_of_the_harness() -> None:
    """A bot can imagine what no physics follows; in a real placement the same is the harness's fault."""
    simulator = RiffRaffSimulator(ScriptedShip(breaking_down))

    fault = refused(simulator, QUESTION)

    assert isinstance(fault, IllegalAction)
    assert fault.reason == Reason.DIVERGED
    with pytest.raises(HarnessFault):
        simulator.simulate(under_way(YARD))


@settings(max_examples=300)
@given(spoiled=st.dictionaries(st.sampled_from(["area", "load", "noise", "ship", "cargo", "wind"]), VALUE, max_size=3))
def test_any_question_is_answered_or_refused(spoiled: dict[str, Json]) -> None:
    """Nothing else comes out of it, and the position is as before."""
    before = repr(BARREL_ABOARD)

    try:
        answer = GAME.simulator.what_if(BARREL_ABOARD, Seat(1), {"load": raw_load(BARREL_ABOARD)} | spoiled)
    except BotFault as fault:
        text = fault.message
    else:
        text = json.dumps(answer)
    assert text
    assert repr(BARREL_ABOARD) == before
