"""What shipmate knows of the game without a simulator: where a piece has room, and what a hand is good for."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.bots_riffraff import SEAT, material, part, position, to_load, view_of

from arena.games.riffraff import GAME, turns
from arena.games.riffraff.actions import Load
from arena.games.riffraff.scene import AREAS, HAND_HOLDS, HAND_RADIUS_M, KINDS
from arena.games.riffraff.table import EVEN_KEEL, Fall, Settled
from arena.games.riffraff.turns import fates, hand_at

RADIUS_MM = 1000 * HAND_RADIUS_M
PLACES = st.tuples(st.integers(-150, 150), st.integers(-150, 150))


@pytest.mark.parametrize("placements", [0, 5, 12])
@pytest.mark.parametrize("manner", ["TIDY", "BOLD"])
def test_every_place_it_thinks_of_has_room_and_support(placements: int, manner: str) -> None:
    """On all areas, for all kinds, among cargo that was thrown there at random: neither rules nor physics refuse it."""
    state = position(placements)
    ship = part("places").Ship(material(), view_of(state))
    found = 0
    for area in AREAS:
        here = to_load(state, area)
        for kind in KINDS:
            for place in list(ship.places(area, kind, getattr(part("places"), manner)))[::40]:
                GAME.simulator.require(here, SEAT, GAME.parse(here, SEAT, place.load()))
                found += 1

    assert found > 30


@pytest.mark.parametrize("area", sorted(AREAS))
def test_an_empty_ship_has_a_place_for_every_kind(area: int) -> None:
    """Also for the longest ones, on the shortest yards."""
    ship = part("places").Ship(material(), view_of(position(0)))

    assert all(list(ship.places(area, kind)) for kind in KINDS)


def test_the_heel_it_expects_is_about_that_of_the_simulation() -> None:
    """A crate at the end of a yard, and one at the bow: within a quarter, which is all that its choice needs."""
    state = position(0)
    ship = part("places").Ship(material(), view_of(state))
    for area, u, v in ((5, 0, 90), (6, 0, -90), (9, 0, 55), (2, 80, -20)):
        load = {"kind": "crate", "face": "flat", "u_mm": u, "v_mm": v}

        expected = ship.heel("crate", u, v, 1000 * AREAS[area].surface_m)

        there = GAME.simulator.what_if(state, SEAT, {"area": area, "load": load})["ship"]
        assert expected == pytest.approx(math.hypot(there["roll_deg"], there["pitch_deg"]), rel=0.25)


@settings(max_examples=200)
@given(st.data())
def test_the_gain_is_what_the_rules_make_of_it(data: st.DataObject) -> None:
    """Whatever falls wherever, and wherever the hands are: caught pieces, and the new one that alone does not count."""
    state = turns.let_go(to_load(position(6), 7), Load(kind="rat", face="flat", u_mm=0, v_mm=60))
    ids = [*(piece.id for piece in state.table.cargo), state.next_id]
    fallen = data.draw(st.lists(st.sampled_from(ids), unique=True))
    where = {each: data.draw(PLACES) for each in fallen}
    hands = tuple(data.draw(st.lists(PLACES, max_size=2)))
    falls = [(each, float(x), float(y)) for each, (x, y) in where.items()]

    change = part("catching").gain(falls, state.next_id, hands, RADIUS_MM, HAND_HOLDS)

    result = _settled(state.next_id, where, hands)
    back = sum(fall.fate != "removed" for fall in fates(state, result))
    assert change == back - 1


def _settled(new: Any, where: dict[Any, tuple[int, int]], hands: tuple[tuple[int, int], ...]) -> Settled:
    """A result in which these pieces fell there."""
    fallen: list[Fall] = []
    for each, (x, y) in where.items():
        hand = hand_at(x, y, hands, [fall.hand for fall in fallen])
        fallen.append(Fall(id=each, x_mm=x, y_mm=y, t_s=1.0, hand=hand))
    return Settled(new, "rest", 0, 1.0, 1.0, tuple(fallen), 0.0, 0.0, EVEN_KEEL, (), "")


def test_hands_go_where_pieces_fell() -> None:
    """Two groups of falls far from where hands usually are: one hand for each, and nothing is lost."""
    default = ((45.0, 75.0), (-45.0, 75.0))
    samples = [
        ([("k01", -120.0, -90.0), ("k09", 100.0, -80.0)], "k09"),
        ([("k01", -100.0, -80.0), ("k09", 110.0, -70.0)], "k09"),
    ]

    hands, change = part("catching").best_hands(samples, default, RADIUS_MM, HAND_HOLDS)

    assert change == -1
    assert sorted(round(x / 100) for x, _ in hands) == [-1, 1]


def test_hands_stay_where_they_usually_are_if_nothing_fell() -> None:
    """Some falls are not foreseen."""
    default = ((45.0, 75.0), (-45.0, 75.0))

    hands, change = part("catching").best_hands([([], "k09"), ([], "k09")], default, RADIUS_MM, HAND_HOLDS)

    assert (hands, change) == (default, -1)
