"""Riff Raff: between the rules and the simulated world, scripted here; what a result may be."""

import json
import subprocess
import sys
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.golden import Golden
from support.riffraff_play import (
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
    settled_of,
    start,
    under_way,
)

from arena.errors import BotFault, HarnessFault, IllegalAction, MalformedReply
from arena.games.api import Json, Seat, Simulator, cost_of
from arena.games.riffraff.actions import Reason
from arena.games.riffraff.simulator import RiffRaffSimulator
from arena.games.riffraff.state import State
from arena.games.riffraff.table import STILL, Fall, PieceId, Pose, Rest
from arena.games.riffraff.view import cargo

YARD = played(start(), 7, 3, 2, 1)
BARREL_ABOARD = loaded(YARD, kind="barrel")
POSE: Pose = (0.0, 0.05, 0.2, 1.0, 0.0, 0.0, 0.0)


def result(**changes: object) -> Json:
    """A result of the crate k02 that is loaded beside the barrel k01, changed."""
    state = under_way(BARREL_ABOARD, kind="crate")
    assert state.pending is not None
    settled = settled_of(
        PieceId("k02"),
        fallen=(),
        rests=(Rest(id=PieceId("k01"), pose=POSE), Rest(id=PieceId("k02"), pose=POSE)),
        table=state.table,
        load=state.pending,
    )
    plain: Json = msgspec.to_builtins(replace(settled, **changes))
    return plain


def fall(name: str, hand: int | None = None, x_mm: float = 0.0) -> Fall:
    return Fall(id=PieceId(name), x_mm=x_mm, y_mm=-150.0, t_s=0.5, hand=hand)


def rest(name: str, pose: Pose = POSE) -> Rest:
    return Rest(id=PieceId(name), pose=pose)


def test_the_refusal_of_the_world_is_the_bots_fault() -> None:
    """A refusal of the physics has a reason of its own."""
    simulator = RiffRaffSimulator(ScriptedShip(refuse=lambda *_: Reason.NO_SUPPORT))

    with pytest.raises(IllegalAction) as caught:
        simulator.require(YARD, Seat(0), GAME.parse(YARD, Seat(0), raw_load(YARD, "crate")))

    assert caught.value.reason == Reason.NO_SUPPORT


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"id": "k03"}, "the result is of piece k03, but k02 was placed"),
        ({"fallen": (fall("k02"),)}, "pieces at rest or fallen: k01, k02, k02; expected once each: k01, k02"),
        ({"rests": (rest("k02"), rest("k01"))}, "the pieces at rest are not in order: k02, k01"),
        ({"roll": 0.1}, "the digest [0-9a-f]{16} is not that of the table it is said to be of, [0-9a-f]{16}"),
        ({"pitch": float("nan")}, "the number nan in the result cannot be true"),
        ({"t_s": -0.1}, "a time, a tilt or a count in the result is negative"),
        ({"pitch": 0.123456}, "the number 0.123456 of the table after it has more than 5 decimals"),
        ({"rests": (rest("k01", (0, 0, -5, 1, 0, 0, 0)), rest("k02"))}, "piece k01 is said to rest where nothing can"),
        ({"rests": (rest("k01"), rest("k02", (0, 0, 0.1, 0, 0, 0, 0)))}, "piece k02 is said to rest where nothing can"),
        ({"roll": 1e308}, "the number 1e\\+308 in the result cannot be true"),
        ({"halved": -1}, "a time, a tilt or a count in the result is negative"),
        (
            {"rests": (rest("k01"),), "fallen": (fall("k02", hand=0),)},
            "piece k02 is said to be in hand 0; by where it fell it is None",
        ),
        (
            {"rests": (), "fallen": (fall("k02"), replace(fall("k01"), t_s=0.4))},
            "the pieces that fell are not in the order of falling",
        ),
        ({"end": "tired"}, "not the result of a placement: Invalid enum value 'tired'"),
    ],
)
def test_a_result_that_cannot_be_is_a_value_error(changes: dict[str, object], sentence: str) -> None:
    """The error says what does not fit."""
    state = under_way(BARREL_ABOARD, kind="crate")

    with pytest.raises(ValueError, match=sentence):
        GAME.simulator.apply_result(state, result(**changes))


def test_look_aheads_are_counted_only_while_somebody_decides() -> None:
    """The budget of each request is the option's number, and 0 if nobody decides."""
    state = GAME.setup({"simulations": 3, "weather": "still"}, 4)

    assert GAME.simulator.budget(state) == 3
    assert GAME.simulator.budget(played(state, 7, 3, 2, 1)) == 3
    assert GAME.simulator.budget(under_way(played(state, 7, 3, 2, 1))) == 0


def test_results_are_compared_by_the_physics_unless_they_are_the_same() -> None:
    """Equal results, such as a record read back, need no physics."""
    one, other = result(), result(tilt_max_deg=4.0)

    assert GAME.simulator.distance(YARD, one, json.loads(json.dumps(result()))) == ""
    assert GAME.simulator.distance(YARD, one, other) == "scripted differently"
    assert GAME.simulator.fingerprint() == {"engine": "scripted"}


def test_rules_records_and_pictures_need_no_physics() -> None:
    """Without the engine, and without numpy, a game is loaded, begun, shown and settled."""
    program = """
import sys
sys.modules["mujoco"] = sys.modules["numpy"] = None
from arena.games import load_game
game = load_game("riffraff")
state = game.setup({}, 4)
assert game.describe(state) and game.picture(state) and game.observe(state, 0) and game.game_info({}, 4)
assert game.simulator.budget(state) == 60
"""

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)

    assert found.stderr == ""
    assert found.returncode == 0


SECOND = loaded(did(played(others_pass(BARREL_ABOARD), 1, 7, 3, 2), {"pieces": 2}))
"""Seat 1 has the turn on area 7, where k01 and k02 lie."""
QUESTION = {"load": raw_load(YARD, "crate")}
LEVEL = {"roll_deg": 0, "pitch_deg": 0, "yards_deg": [0, 0, 0]}
LENGTH = "the length of `quat` of piece k01 must be from 0.999 to 1.001"
IN_POSITION = "in `pos_mm` of piece k01 must be from"

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["k01", "rat"]),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(
            st.sampled_from(["id", "kind", "pos_mm", "quat", "roll_deg", "pitch_deg", "yards_deg"]), inner, max_size=4
        )
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
        "ship": {"roll_deg": 0.0, "pitch_deg": 0.0, "yards_deg": [0.0, 0.0, 0.0]},
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
    """The answer has kind, place and hand, as the event would."""
    simulator = RiffRaffSimulator(ScriptedShip(lambda *_: {"k01": IN_HAND, "k02": AT_SEA}))

    answer = simulator.what_if(BARREL_ABOARD, Seat(1), {"load": raw_load(BARREL_ABOARD, "crate", hands_mm=HANDS)})

    assert answer["cargo"] == []
    assert answer["fallen"] == [
        {"id": "k01", "kind": "barrel", "x_mm": 45.0, "y_mm": 75.0, "hand": 0},
        {"id": "k02", "kind": "crate", "x_mm": 0.0, "y_mm": -150.0, "hand": None},
    ]


@pytest.mark.parametrize(
    ("left", "looks", "t_s"), [(1, 50, 1.0), (2, 100, 2.0), (5, 250, 5.0), (6, 300, 6.0), (9, 300, 6.0)]
)
def test_a_look_ahead_lasts_as_long_as_the_budget(left: int, looks: int, t_s: float) -> None:
    """The budget counts steps times bodies, which are the ship and the pieces: here four, of which 1000 are a unit."""
    ship = Recorder()
    what = {"load": raw_load(SECOND, "plank")}

    RiffRaffSimulator(ship).what_if(SECOND, Seat(1), what, left)

    assert ship.looks == [looks]
    cost = cost_of(GAME.simulator, {"t_s": t_s, "cargo": [0, 0], "fallen": [0]})
    assert cost == min(left, 6)
    assert cost_of(GAME.simulator, {"t_s": 0.02, "cargo": [], "fallen": [0]}) == 1


def lying(**changes: Json) -> dict[str, Json]:
    """Return an imagined piece, changed."""
    return {"id": "k01", "kind": "rat", "pos_mm": [0, 0, 50], "quat": [1, 0, 0, 0]} | changes


@pytest.mark.parametrize(
    ("changes", "reason", "sentence"),
    [
        ({"area": 11}, Reason.NOT_A_CHOICE, "there is no area 11; the areas are 1 to 10"),
        ({"load": QUESTION["load"] | {"face": "edge"}}, Reason.BAD_FACE, 'a crate has no face "edge"'),
        ({"load": QUESTION["load"] | {"u_mm": 20}}, Reason.OUTSIDE_AREA, "u 20, v 46 is outside area 7"),
        ({"noise": [50.1, 0, 0, 0, 0]}, Reason.BAD_NUMBER, "u_mm in `noise` must be from -50 to 50, found 50.1"),
        ({"noise": [0, 0, 0, 0, float("nan")]}, Reason.BAD_NUMBER, "pitch_rad_s in `noise` must be from -2 to 2"),
        ({"ship": LEVEL | {"roll_deg": 41}}, Reason.BAD_NUMBER, "`roll_deg` of the ship must be from -40 to 40"),
        ({"ship": LEVEL | {"yards_deg": [0, -30, 0]}}, Reason.BAD_NUMBER, "`yards_deg` of the ship must be from -"),
        ({"cargo": [lying(), lying()]}, Reason.NOT_A_CHOICE, "two pieces of `cargo` have the id k01"),
        ({"cargo": [lying(pos_mm=[0, 501, 0])]}, Reason.BAD_NUMBER, f"y {IN_POSITION} -500 to 500, found 501"),
        ({"cargo": [lying(quat=[1, 1, 0, 0])]}, Reason.BAD_NUMBER, f"{LENGTH}, found 1.41421"),
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
    ("what", "words"),
    [
        ({}, 'the field "load" is missing'),
        (QUESTION | {"wind": 1}, 'unknown field "wind"; known: load, area, noise, ship, cargo'),
        (QUESTION | {"cargo": [lying(kind="monkey")]}, 'cargo[0].kind: unknown value "monkey"'),
        (QUESTION | {"cargo": [lying(id="k01\n")]}, "cargo[0].id: expected an id from k00 to k99"),
        (QUESTION | {"cargo": [lying()] * 33}, "cargo: expected a list of length <= 32"),
        ({"\ud800": 1}, 'unknown field "\\ud800"'),
    ],
)
def test_a_question_of_another_form_is_malformed(what: dict[str, Json], words: str, golden: Golden) -> None:
    """The refusal has an example of the right form."""
    fault = refused(GAME.simulator, what)

    assert isinstance(fault, MalformedReply)
    assert fault.message.startswith(f"nothing that can be simulated: {words}")
    golden(fault.hint)


def test_without_a_card_an_area_must_be_named(golden: Golden) -> None:
    """An area must be named also in another player's turn."""
    for state, seat in ((start(), 0), (YARD, 1)):
        fault = refused(GAME.simulator, QUESTION, state, seat)

        assert isinstance(fault, MalformedReply)
        golden(fault.message)


def test_an_imagined_breakdown_is_no_fault_of_the_harness() -> None:
    """A bot can imagine what no physics follows; in a real placement the same is the harness's fault."""
    simulator = RiffRaffSimulator(ScriptedShip(breaking_down))

    fault = refused(simulator, QUESTION)

    assert isinstance(fault, IllegalAction)
    assert fault.reason == Reason.DIVERGED
    assert fault.cost >= 60, "it would be asked again and again"
    with pytest.raises(HarnessFault):
        simulator.simulate(under_way(YARD))


@settings(max_examples=100)
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
