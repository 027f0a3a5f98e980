"""Riff Raff: rules and simulated ship together. All else is tested apart: the rules on a scripted ship."""

import json
from random import Random
from typing import Any

import msgspec
import pytest
from support.golden import Golden
from support.riffraff_play import counts, played, raw_load, start

from arena.errors import IllegalAction
from arena.games.api import Chance, Decision, Over, Seat, cost_of
from arena.games.luck import draw
from arena.games.riffraff import GAME
from arena.games.riffraff.actions import Reason
from arena.games.riffraff.scene import CATCH_PLANE_M, KINDS
from arena.games.riffraff.state import State

SIMULATOR = GAME.simulator


def let_go(state: State, kind: str) -> State:
    """After a load of that kind into the middle of the area was let go."""
    (seat,) = state.movers
    action = GAME.parse(state, seat, raw_load(state, kind))
    SIMULATOR.require(state, seat, action)
    return GAME.apply(state, {seat: action})


def settled(waiting: State) -> State:
    """Return the state after the ship came to rest."""
    after: State = SIMULATOR.apply_result(waiting, SIMULATOR.simulate(waiting))
    return after


def seen(state: State) -> dict[str, Any]:
    """Return the view of seat 1 as it goes over the line."""
    view: dict[str, Any] = json.loads(msgspec.json.encode(GAME.observe(state, Seat(1))))
    return view


def test_a_look_ahead_on_the_view_is_what_then_happens() -> None:
    """What a bot sees is the whole canonical state: with the noise of the event the same digits come out."""
    empty = played(start(2, "breeze"), 7, 5)
    first = settled(GAME.resolve(let_go(empty, "crate"), (900_000, 100_000, 700_000, 300_000, 600_000)))
    second = settled(GAME.resolve(let_go(first, "sailor"), (50_000, 800_000, 200_000, 900_000, 100_000)))
    before, after = seen(first), seen(second)
    (event,) = after["last"]

    what = {key: before[key] for key in ("ship", "cargo", "area")} | {key: event[key] for key in ("load", "noise")}
    answer = SIMULATOR.what_if(start(2), Seat(1), what)

    assert (answer["ship"], answer["cargo"]) == (after["ship"], after["cargo"])
    assert (answer["end"], answer["t_s"], answer["tilt_max_deg"]) == ("rest", event["t_s"], event["tilt_max_deg"])


def test_a_made_up_table_on_which_pieces_stand_in_each_other_is_refused(golden: Golden) -> None:
    """The refusal names two overlapping pieces; a table that a result gave is accepted."""
    what = {"area": 7, "load": {"kind": "rat", "face": "flat", "u_mm": 0, "v_mm": 30}}
    crate = {"id": "k01", "kind": "crate", "pos_mm": [0, 60, 129], "quat": [1, 0, 0, 0]}
    crowd = [{**crate, "id": f"k{number:02d}", "pos_mm": [0, 60 + number, 129]} for number in range(31)]

    with golden.raises(IllegalAction) as caught:
        SIMULATOR.what_if(start(), Seat(0), what | {"cargo": crowd})

    assert caught.value.reason == Reason.OVERLAP
    assert SIMULATOR.what_if(start(), Seat(0), what | {"cargo": [crate]})["end"] == "rest"


def test_what_a_request_may_simulate_is_bounded_in_steps_of_bodies() -> None:
    """A table of 24 sailors that never rests takes the budget, not seconds, and its end says so."""
    poses = [(0, 40 * y - 100, 290 + 70 * z) for y in range(6) for z in range(4)]
    hanging = [
        {"id": f"k{number:02d}", "kind": "sailor", "pos_mm": list(at), "quat": [1, 0, 0, 0]}
        for number, at in enumerate(poses)
    ]
    what = {"area": 1, "load": {"kind": "rat", "face": "flat", "u_mm": 50, "v_mm": 22}, "cargo": hanging}

    answer = SIMULATOR.what_if(start(), Seat(0), what, 3)

    assert answer["end"] == "budget"
    assert cost_of(SIMULATOR, answer) <= 3
    assert len(answer["cargo"]) + len(answer["fallen"]) == 25


@pytest.mark.slow
@pytest.mark.parametrize("seats", GAME.seat_counts)
def test_random_games_end_and_lose_no_piece(seats: int) -> None:
    """On the real ship; what is refused there is passed over. No piece is ever left below the catch plane."""
    for number in range(3):
        rng, state = Random(number), GAME.setup({"weather": "storm"}, seats)

        while not isinstance(turn := GAME.turn(state), Over):
            match turn:
                case Decision(movers):
                    state = GAME.apply(state, {seat: possible(state, seat, rng) for seat in movers})
                case Chance():
                    state = GAME.resolve(state, draw(f"aboard {number}", turn))
                case _:
                    state = settled(state)

            assert counts(state) == (3 if seats == 3 else 4,) * len(KINDS)
            assert all(piece.pose[2] >= CATCH_PLANE_M for piece in state.table.cargo)


def possible(state: State, seat: Seat, rng: Random) -> Any:
    """A sampled action for which the world has room, or what stands in for it."""
    action = GAME.sample(state, seat, rng)
    try:
        SIMULATOR.require(state, seat, action)
    except IllegalAction:
        return GAME.fault_policy.fallback_action(state, seat)
    return action
