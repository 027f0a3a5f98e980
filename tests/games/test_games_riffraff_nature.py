"""Riff Raff: between the rules and the simulated world, scripted here; what a result may be."""

import json
import subprocess
import sys

import msgspec
import pytest
from msgspec.structs import replace
from riffraff_play import (
    AT_SEA,
    GAME,
    IN_HAND,
    Recorder,
    ScriptedShip,
    loaded,
    played,
    raw_load,
    settled_of,
    start,
    under_way,
)

from arena.errors import IllegalAction
from arena.games.api import Json, Seat
from arena.games.riffraff.actions import PASS, Reason
from arena.games.riffraff.simulator import RiffRaffSimulator
from arena.games.riffraff.table import Fall, PieceId, Pose, Rest

SEAT = Seat(0)
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


def test_a_load_asks_for_room_on_the_area_of_the_card() -> None:
    """Of the table as it is; nothing else asks anything."""
    ship = Recorder()
    simulator = RiffRaffSimulator(ship)
    action = GAME.parse(YARD, SEAT, raw_load(YARD))

    simulator.require(YARD, SEAT, action)
    simulator.require(YARD, SEAT, PASS)

    assert ship.insisted == [(YARD.table, 7, action)]


def test_the_refusal_of_the_world_is_the_bots_fault() -> None:
    """With its own reason."""
    simulator = RiffRaffSimulator(ScriptedShip(refuse=lambda *_: Reason.NO_SUPPORT))

    with pytest.raises(IllegalAction) as caught:
        simulator.require(YARD, SEAT, GAME.parse(YARD, SEAT, raw_load(YARD, "crate")))

    assert caught.value.reason == Reason.NO_SUPPORT


def test_a_placement_is_simulated_with_the_noise_that_was_drawn() -> None:
    """And with the next id."""
    ship = Recorder()
    state = GAME.resolve(under_way(played(start(weather="calm"), 7, 3, 2, 1)), (900_000, 1, 2, 3, 4))

    RiffRaffSimulator(ship).simulate(state)

    assert ship.placed == [(state.table, 7, state.pending, state.noise, "k01")]


def test_a_result_that_fits_settles() -> None:
    """The one that the tests below spoil."""
    state = under_way(BARREL_ABOARD, kind="crate")

    after = GAME.simulator.apply_result(state, json.loads(json.dumps(result())))

    assert [piece.id for piece in after.table.cargo] == ["k01", "k02"]
    assert [(piece.kind, piece.card, piece.by) for piece in after.table.cargo] == [("barrel", 7, 0), ("crate", 3, 1)]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"id": "k03"}, "the result is of piece k03, but k02 was placed"),
        ({"rests": (rest("k01"),)}, "pieces at rest or fallen: k01; expected once each: k01, k02"),
        ({"fallen": (fall("k02"),)}, "pieces at rest or fallen: k01, k02, k02; expected once each: k01, k02"),
        ({"rests": (rest("k01"), rest("k09"))}, "pieces at rest or fallen: k01, k09; expected once each: k01, k02"),
        ({"rests": (rest("k01"), rest("k01"))}, "pieces at rest or fallen: k01, k01; expected once each: k01, k02"),
        ({"rests": (rest("k02"), rest("k01"))}, "the pieces at rest are not in order: k02, k01"),
        ({"roll": 0.1}, "the digest [0-9a-f]{16} is not that of the table it is said to be of, [0-9a-f]{16}"),
        ({"digest": "0" * 16}, "the digest 0{16} is not that of the table"),
        ({"pitch": float("nan")}, "the number nan in the result cannot be true"),
        ({"roll": 1e308}, "the number 1e\\+308 in the result cannot be true"),
        ({"t_s": -0.1}, "a time, a tilt or a count in the result is negative"),
        ({"halved": -1}, "a time, a tilt or a count in the result is negative"),
        ({"pitch": 0.123456}, "the number 0.123456 of the table after it has more than 5 decimals"),
        ({"rests": (rest("k01", (0, 0, -5, 1, 0, 0, 0)), rest("k02"))}, "piece k01 is said to rest where nothing can"),
        ({"rests": (rest("k01"), rest("k02", (0, 0, 0.1, 0, 0, 0, 0)))}, "piece k02 is said to rest where nothing can"),
        (
            {"rests": (rest("k01"), rest("k02", (float("inf"), *POSE[1:])))},
            "the number inf in the result cannot be true",
        ),
        (
            {"rests": (rest("k01"),), "fallen": (fall("k02", hand=0),)},
            "piece k02 is said to be in hand 0; by where it fell it is None",
        ),
        ({"end": "tired"}, "not the result of a placement: Invalid enum value 'tired'"),
        ({"t_s": "long"}, "not the result of a placement: Expected `float`, got `str`"),
    ],
)
def test_a_result_that_cannot_be_is_a_value_error(changes: dict[str, object], sentence: str) -> None:
    """It says what does not fit."""
    state = under_way(BARREL_ABOARD, kind="crate")

    with pytest.raises(ValueError, match=sentence):
        GAME.simulator.apply_result(state, result(**changes))


def test_a_placement_is_told_in_a_sentence() -> None:
    """How long and how far the ship rocked, and what became of what fell."""
    state = under_way(BARREL_ABOARD, kind="crate")
    simulator = RiffRaffSimulator(ScriptedShip(lambda *_: {"k01": IN_HAND, "k02": AT_SEA}))
    plain = simulator.simulate(state)

    assert simulator.tell(state, plain, simulator.apply_result(state, plain)) == (
        "at rest after 0.9 s, tilted up to 3.1°; k01 barrel fell, caught, out of the game; k02 crate fell, not caught,"
        " to seat 1"
    )


def test_a_disturbed_placement_is_told_with_what_disturbed_it() -> None:
    """How far the hand was off, in the units of a load."""
    dice = (900_000, 100_000, 600_000, 500_000, 500_000)
    state = GAME.resolve(under_way(played(GAME.setup({"weather": "breeze"}, 2), 7, 3)), dice)
    simulator = RiffRaffSimulator(ScriptedShip())
    plain = simulator.simulate(state)

    told = simulator.tell(state, plain, simulator.apply_result(state, plain))

    assert told == "off by u +1.9 v -1.9 mm, turned +0.8°; at rest after 0.9 s, tilted up to 3.1°"


def test_look_aheads_are_counted_only_while_somebody_decides() -> None:
    """As many as the option says, in each request."""
    state = GAME.setup({"simulations": 3, "weather": "still"}, 4)

    assert GAME.simulator.budget(state) == 3
    assert GAME.simulator.budget(played(state, 7, 3, 2, 1)) == 3
    assert GAME.simulator.budget(under_way(played(state, 7, 3, 2, 1))) == 0


def test_results_are_compared_by_the_physics_unless_they_are_the_same() -> None:
    """A record that was read back is the same."""
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
assert game.simulator.budget(state) == 20
"""

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)

    assert found.stderr == ""
    assert found.returncode == 0
