"""What falls, where, and into which hand; and when all is at rest: on scripted states, then on the simulated ship."""

import numpy as np
import pytest
from riffraff_tables import piece, settled

from arena.games.riffraff.actions import Load
from arena.games.riffraff.engine import HINGES, POSE, WorldState
from arena.games.riffraff.model import LOOK_S, LOOKS_PER_WINDOW
from arena.games.riffraff.physics import Watch
from arena.games.riffraff.table import PieceId, ShipAtRest

_IDS = (PieceId("k01"), PieceId("k02"))
_CRATE = Load("crate", "flat", 50, 22)


def _state(*places: tuple[float, float, float], roll: float = 0.0) -> WorldState:
    """A state with pieces there, none of them turned."""
    state = np.zeros(HINGES + POSE * len(places))
    state[0] = roll
    for index, place in enumerate(places):
        state[HINGES + POSE * index :][:4] = (*place, 1.0)
    return state


def _watch(start: WorldState, hands_mm: tuple[tuple[float, float], ...] = ()) -> Watch:
    return Watch(start, _IDS[: (len(start) - HINGES) // POSE], hands_mm)


def _beside(x_m: float, y_m: float) -> ShipAtRest:
    """An empty ship, and a rat in the air beside it, which is about to fall."""
    return ShipAtRest(cargo=(piece(1, "rat", (x_m, y_m, 0.05, 1, 0, 0, 0)),))


def test_a_piece_falls_where_its_way_crosses_the_catch_plane() -> None:
    """The crossing lies between two looks, in proportion: place and time."""
    watch = _watch(_state((0.10, 0.20, -0.010), (0, 0, 0.1)))

    gone = watch.see(_state((0.14, 0.16, -0.050), (0, 0, 0.1)))

    assert gone == (0,)
    (fall,) = watch.fallen
    assert (fall.id, fall.x_mm, fall.y_mm, fall.hand) == ("k01", 110, 190, None)
    assert fall.t_s == pytest.approx(0.25 * LOOK_S)


def test_a_piece_falls_once() -> None:
    """What has fallen is not looked at any more, and does not rest."""
    watch = _watch(_state((0, 0, -0.010), (0, 0, 0.1)))
    watch.see(_state((0, 0, -0.030), (0, 0, 0.1)))

    gone = watch.see(_state((0, 0, -0.060), (0, 0, 0.1)))

    assert gone == ()
    assert len(watch.fallen) == 1
    assert [rest.id for rest in watch.rests(_state((0, 0, -0.060), (0, 0, 0.1)))] == ["k02"]


def test_pieces_fall_in_the_order_in_which_they_cross() -> None:
    """Between the same two looks the lower one was first; at the same time, the first id."""
    first = _watch(_state((0, 0, -0.010), (0, 0, -0.019)))
    alike = _watch(_state((0, 0, -0.010), (0, 0, -0.010)))

    first.see(_state((0, 0, -0.030), (0, 0, -0.040)))
    alike.see(_state((0, 0, -0.030), (0, 0, -0.030)))

    assert [fall.id for fall in first.fallen] == ["k02", "k01"]
    assert [fall.id for fall in alike.fallen] == ["k01", "k02"]


@pytest.mark.parametrize(("x_mm", "hand"), [(44.9, 0), (45.0, 0), (45.1, None), (-45.0, 0), (-45.1, None)])
def test_a_hand_reaches_as_far_as_its_radius(x_mm: float, hand: int | None) -> None:
    """A tenth of a millimetre decides at the edge of the disc."""
    place = (x_mm / 1000, 0.1)
    watch = _watch(_state((*place, -0.010)), hands_mm=((0, 100),))

    watch.see(_state((*place, -0.030)))

    assert watch.fallen[0].hand == hand


def test_rest_is_judged_at_the_end_of_a_window() -> None:
    """Nothing moves for 0.3 s: that is rest, and not a look earlier."""
    still = _state((0, 0, 0.1), roll=0.1)
    watch = _watch(still)

    judged = []
    for _ in range(LOOKS_PER_WINDOW):
        watch.see(still)
        judged.append(watch.is_at_rest(still))

    assert judged == [False] * (LOOKS_PER_WINDOW - 1) + [True]
    assert watch.t_s == 0.3


@pytest.mark.parametrize(
    ("moved", "is_rest"),
    [
        (_state((0, 0, 0.10019)), True),
        (_state((0, 0, 0.10021)), False),
        (_state((0, 0, 0.1), roll=0.00079), True),
        (_state((0, 0, 0.1), roll=-0.00081), False),
        (_state((0, 0, 0.1)) + np.array([0] * 6 + [0.0039, 0, 0]), True),
        (_state((0, 0, 0.1)) + np.array([0] * 6 + [0, -0.0041, 0]), False),
    ],
    ids=["shift", "shift too far", "tilt", "tilt too far", "turn", "turn too far"],
)
def test_a_little_movement_within_the_window_is_still_rest(moved: WorldState, *, is_rest: bool) -> None:
    """0.2 mm, 0.0008 rad of a hinge, 0.004 of a quaternion's component; more is not rest, and a new window begins."""
    watch = _watch(_state((0, 0, 0.1)))

    for _ in range(LOOKS_PER_WINDOW):
        watch.see(moved)
    first = watch.is_at_rest(moved)
    for _ in range(LOOKS_PER_WINDOW):
        watch.see(moved)

    assert first is is_rest
    assert watch.is_at_rest(moved)


def test_the_largest_tilt_is_kept() -> None:
    """Of all looks and both hinges, either way."""
    watch = _watch(_state((0, 0, 0.1)))

    for roll in (0.05, -0.2, 0.1):
        watch.see(_state((0, 0, 0.1), roll=roll))

    assert watch.tilt_max_rad == 0.2


@pytest.mark.parametrize(("off_mm", "hand"), [(44.9, 0), (45.1, None)])
def test_a_piece_that_drops_beside_the_hull_is_caught_by_a_hand_below(off_mm: float, hand: int | None) -> None:
    """It goes down plumb, so where the hand may be is known to a tenth of a millimetre."""
    load = Load("crate", "flat", 50, 22, hands_mm=((-90, -50), (30, 150 + off_mm)))

    result = settled(_beside(0.03, 0.15), 1, load)

    (fall,) = result.fallen
    assert (fall.id, fall.x_mm, fall.y_mm) == ("k01", 30, 150)
    assert fall.hand == (None if hand is None else 1)
    assert fall.t_s == pytest.approx((2 * 0.07 / 9.81) ** 0.5, abs=0.003)
    assert [rest.id for rest in result.rests] == ["k02"]


def test_what_has_fallen_touches_nothing() -> None:
    """A piece under the plane is no obstacle: what the ship does is the same without it, but for its last moments."""
    alone = settled(ShipAtRest(), 1, _CRATE)

    beside = settled(_beside(0.03, 0.15), 1, _CRATE)

    assert (beside.roll, beside.pitch) == (alone.roll, alone.pitch)
    assert beside.rests[0].pose == alone.rests[0].pose


def test_a_piece_that_falls_onto_the_deck_has_not_fallen() -> None:
    """A crate in the air beside the lowest yard lands on the deck below, and is still aboard."""
    beside = ShipAtRest(cargo=(piece(1, "crate", (0.031, 0.02, 0.13, 1, 0, 0, 0)),))

    result = settled(beside, 6, Load("rat", "flat", 0, -60))

    assert result.fallen == ()
    assert result.rests[0].pose[2] < 0.06
