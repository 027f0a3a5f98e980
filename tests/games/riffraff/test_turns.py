"""Riff Raff: announcing and loading, step by step."""

import pytest
from msgspec.structs import replace
from support.riffraff_play import (
    AT_SEA,
    GAME,
    HANDS,
    IN_HAND,
    Place,
    all_load,
    all_pass,
    did,
    loaded,
    no_load,
    others_pass,
    played,
    second_round,
    start,
    supply,
    to_load,
    under_way,
    with_pieces,
)

from arena.games.api import Chance, Dice, Outcome, Over, Seat, Simulation
from arena.games.riffraff.geometry import area_of
from arena.games.riffraff.scene import KINDS
from arena.games.riffraff.state import Phase, State
from arena.games.riffraff.table import Piece


def moved(state: State, piece_id: str, *, x: float, y: float, z: float) -> State:
    """The position with a piece shifted to another place, in m."""
    cargo = tuple(shifted(piece, x, y, z) if piece.id == piece_id else piece for piece in state.table.cargo)
    return replace(state, table=replace(state.table, cargo=cargo))


def shifted(piece: Piece, x: float, y: float, z: float) -> Piece:
    return replace(piece, pose=(x, y, z, *piece.pose[3:]))


def test_a_loaded_piece_leaves_the_supply_and_lies_on_the_area_of_the_card() -> None:
    """The piece gets the next id; the next player loads on the area of their card."""
    state = loaded(to_load(), kind="crate")

    (piece,) = state.table.cargo
    assert (piece.id, piece.kind, piece.card, piece.by) == ("k01", "crate", 7, 0)
    assert area_of(piece, state.table) == 7
    assert supply(state, 0) == {kind: 1 for kind in KINDS if kind != "crate"}
    assert (state.active, state.area, state.phase) == (1, 3, Phase.LOAD)
    assert state.pending is None
    assert state.noise is None


def test_hand_and_sea_are_drawn_before_the_ship_is_simulated() -> None:
    """Under keys of round, seat and number of the piece; the piece is still in the supply."""
    windy = under_way(to_load(weather="breeze"))

    blown = GAME.resolve(windy, (500_001, 1, 1_000_000, 841_345, 158_656))

    assert GAME.turn(windy) == Chance(key="noise/1/0/0", kind=Dice(5, faces=1_000_000))
    assert GAME.turn(blown) == Simulation(key="settle/1/0/0")
    assert blown.noise is not None
    assert (blown.noise.u_mm, blown.noise.v_mm, blown.noise.yaw_deg) == (0.0, -7.34, 14.67)
    assert (blown.noise.roll_rad_s, blown.noise.pitch_rad_s) == (0.05, -0.05)
    assert blown.players[0].pieces == 8


def test_whoever_holds_one_piece_cannot_announce_two() -> None:
    """A player with one piece is not asked for a number."""
    state = others_pass(loaded(to_load(), kind="chest"))

    state = played(with_pieces(state, 1, rat=1), 1, 7, 3, 2)

    assert (state.active, state.area, state.phase, state.to_load) == (1, 7, Phase.LOAD, 1)


@pytest.mark.parametrize(
    ("y", "z", "phase"),
    [
        (0.03, 0.20, Phase.ANNOUNCE),
        (-0.03, 0.20, Phase.LOAD),
        (0.03, 0.13, Phase.LOAD),
        (0.03, 0.05, Phase.LOAD),
        (0.03, 0.27, Phase.LOAD),
    ],
    ids=["there", "other side", "yard below", "deck", "yard above"],
)
def test_a_piece_lies_where_it_rests_not_where_it_was_loaded(y: float, z: float, phase: Phase) -> None:
    """A piece of area 7 may have slid away, and one of another area may have come to lie there."""
    state = others_pass(loaded(played(start(), 3, 2, 1, 10), kind="chest"))
    state = moved(state, "k01", x=0.0, y=y, z=z)

    state = played(state, 2, 7, 3, 4)

    assert (state.active, state.phase) == (1, phase)


def test_a_turn_ends_without_loading_where_no_load_is_possible() -> None:
    """The piece stays in the supply, nothing has happened in it."""
    state = loaded(to_load())

    after = no_load(state)

    assert after.active == 2
    assert after.players == state.players
    assert (len(state.last), after.last) == (1, ())


def test_a_second_piece_is_left_out_where_no_load_is_possible() -> None:
    """The turn ends, and the first piece stays in view."""
    state = loaded(did(second_round(), {"pieces": 2}))

    after = no_load(state)

    assert after.active == 2
    assert [each.id for each in after.last] == ["k02"]


def test_all_see_what_was_loaded_since_the_last_turn_began() -> None:
    """All see who loaded where and how, under which noise, and what fell."""
    state = loaded(to_load(), {"k01": AT_SEA}, kind="plank")

    (event,) = GAME.observe(state, Seat(3))["last"]

    assert event == {
        "event": "loaded",
        "seat": 0,
        "id": "k01",
        "kind": "plank",
        "area": 7,
        "load": {
            "kind": "plank",
            "face": "flat",
            "u_mm": 0.0,
            "v_mm": 46.0,
            "yaw_deg": 0.0,
            "drop_mm": 0.0,
            "hands_mm": HANDS,
        },
        "noise": [0.0, 0.0, 0.0, 0.0, 0.0],
        "end": "rest",
        "t_s": 0.9,
        "tilt_max_deg": 3.1,
        "fallen": [
            {"id": "k01", "kind": "plank", "x_mm": 0.0, "y_mm": -150.0, "hand": None, "fate": "to_supply"},
        ],
        "hash": state.table.digest(),
    }


def test_who_holds_no_piece_at_the_end_of_a_turn_wins_at_once() -> None:
    """The round is not finished; the others rank by what they hold."""
    state = with_pieces(with_pieces(to_load(), 0, rat=1), 2, rat=1, crate=2)

    after = loaded(state)

    assert GAME.turn(after) == Over()
    assert (after.round, after.turn) == (1, 0)
    assert GAME.outcome(after) == Outcome(scores=(8, 0, 5, 0), ranks=(0, 2, 1, 2))


@pytest.mark.parametrize("place", [IN_HAND, AT_SEA], ids=["caught alone", "not caught"])
def test_the_last_piece_comes_back_when_it_falls(place: Place) -> None:
    """A last piece that falls wins nothing and ends the turn."""
    after = loaded(with_pieces(to_load(), 0, rat=1), {"k01": place})

    assert (after.active, supply(after, 0)) == (1, {"rat": 1})


def test_of_two_last_pieces_only_the_second_wins() -> None:
    """The turn goes on after the first of two last pieces."""
    state = did(with_pieces(second_round(), 1, rat=1, crate=1), {"pieces": 2})

    once = loaded(state)
    twice = loaded(once)

    assert (once.phase, once.players[1].pieces) == (Phase.LOAD, 1)
    assert GAME.turn(twice) == Over()


def test_after_the_last_round_the_fewest_pieces_win() -> None:
    """Who holds the same number shares the victory."""
    state = all_pass(all_load(played(start(), 7, 3, 2, 1)), 9)
    of_two = all_pass(others_pass(loaded(to_load(2))), 19)

    even = GAME.outcome(state)
    uneven = GAME.outcome(with_pieces(with_pieces(state, 1, rat=2), 3, crate=1, barrel=1))

    assert GAME.turn(state) == Over()
    assert even == Outcome(scores=(1, 1, 1, 1), ranks=(0, 0, 0, 0))
    assert uneven == Outcome(scores=(1, 6, 1, 6), ranks=(2, 0, 2, 0))
    assert GAME.outcome(of_two) == Outcome(scores=(1, 0), ranks=(0, 1))
