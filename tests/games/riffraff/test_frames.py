"""The movement behind a result of the simulation ends where the result lies, and belongs to no other result."""

from collections.abc import Sequence
from random import Random
from typing import Any

from msgspec.structs import replace

from arena.games import load_game
from arena.games.api import Chance, Decision, Simulation, filming_of, simulator_of
from arena.games.luck import derive, draw
from arena.games.riffraff import physics
from arena.games.riffraff.geometry import inverse, rotate, ship_rotation, split
from arena.games.riffraff.model import SCENARIO
from arena.games.riffraff.scene import AREAS
from arena.games.riffraff.table import PieceId, ShipAtRest, ship_after

RIFFRAFF = load_game("riffraff")


def loading() -> Any:
    """Return a position in which the simulation is due."""
    state, rng = RIFFRAFF.setup({}, 2), Random(1)
    while not isinstance(turn := RIFFRAFF.turn(state), Simulation):
        if isinstance(turn, Chance):
            state = RIFFRAFF.resolve(state, draw(derive("frames"), turn))
        else:
            assert isinstance(turn, Decision)
            state = RIFFRAFF.apply(state, {seat: RIFFRAFF.sample(state, seat, rng) for seat in turn.seats})
    return state


def near(found: Sequence[float], expected: Sequence[float], within: float) -> bool:
    return all(abs(one - other) <= within for one, other in zip(found, expected, strict=True))


def test_the_movement_ends_where_the_result_lies() -> None:
    """In the ship frame, to a millimetre; the result is that of a placement that nobody filmed."""
    table = ShipAtRest()
    for number, (area, load, noise) in enumerate(SCENARIO, start=1):
        piece = PieceId(f"k{number:02d}")
        placed = physics.place(table, AREAS[area], load, noise, piece)

        result, motion = physics.film(table, AREAS[area], load, noise, piece)

        assert result == placed
        assert (motion.seconds, motion.ids[-1], motion.kinds[-1]) == (result.t_s, piece, load.kind)
        frame = [sum(channel) for channel in motion.channels]
        assert near(frame[:5], [10_000 * tilt for tilt in (result.roll, result.pitch, *result.yards)], 20)
        ship = inverse(ship_rotation(ShipAtRest(roll=result.roll, pitch=result.pitch)))
        for rest in result.rests:
            at = 5 + 7 * motion.ids.index(rest.id)
            place = rotate(ship, split(rest.pose)[0])
            assert near(frame[at : at + 3], [10_000 * each for each in place], 10), rest.id
        pieces = physics.begin_placement(table, AREAS[area], load, noise, piece).pieces
        table = ship_after(pieces, result)


def test_a_movement_lasts_as_long_as_its_result() -> None:
    """A frame every `every_s`; numbers that change no more are left out."""
    area, load, noise = SCENARIO[0]

    result, motion = physics.film(ShipAtRest(), AREAS[area], load, noise, PieceId("k01"))

    most = max(map(len, motion.channels))
    assert most - 1 <= result.t_s / motion.every_s <= most + 60
    assert all(len(channel) == 1 or channel[-1] for channel in motion.channels)


def test_only_a_result_that_comes_out_again_has_a_movement() -> None:
    """Frames that contradict the record are not shown."""
    state, simulator, filming = loading(), simulator_of(RIFFRAFF), filming_of(RIFFRAFF)
    assert simulator is not None
    assert filming is not None
    result = simulator.simulate(state)

    assert filming.frames(state, result)["seconds"] == result["t_s"]
    assert filming.frames(state, {**result, "t_s": result["t_s"] + 1}) is None
    assert filming.frames(replace(state, table=replace(state.table, roll=0.1)), result) is None
