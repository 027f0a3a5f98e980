"""Riff Raff: what falls, who catches it, and where it goes."""

from collections.abc import Mapping

import pytest
from riffraff_play import (
    AT_SEA,
    IN_HAND,
    IN_OTHER_HAND,
    Place,
    counts,
    did,
    loaded,
    second_round,
    supply,
    to_load,
    with_pieces,
)

from arena.games.riffraff.scene import KINDS


@pytest.mark.parametrize(
    ("falls", "fates", "held", "removed"),
    [
        ({"k02": IN_HAND}, {"k02": "returned"}, {"chest": 1, "crate": 1, "rat": 1}, 0),
        ({"k02": AT_SEA}, {"k02": "to_supply"}, {"chest": 1, "crate": 1, "rat": 1}, 0),
        ({"k01": AT_SEA}, {"k01": "to_supply"}, {"chest": 1, "crate": 1, "barrel": 1}, 0),
        ({"k01": IN_HAND}, {"k01": "removed"}, {"chest": 1, "crate": 1}, 1),
        ({"k01": IN_HAND, "k02": IN_HAND}, {"k01": "removed", "k02": "removed"}, {"chest": 1, "crate": 1}, 2),
        (
            {"k02": IN_HAND, "k01": IN_OTHER_HAND},
            {"k02": "removed", "k01": "removed"},
            {"chest": 1, "crate": 1},
            2,
        ),
        (
            {"k02": IN_HAND, "k01": AT_SEA},
            {"k02": "returned", "k01": "to_supply"},
            {"chest": 1, "crate": 1, "rat": 1, "barrel": 1},
            0,
        ),
        (
            {"k02": AT_SEA, "k01": IN_HAND},
            {"k02": "to_supply", "k01": "removed"},
            {"chest": 1, "crate": 1, "rat": 1},
            1,
        ),
        (
            {"k02": AT_SEA, "k01": AT_SEA},
            {"k02": "to_supply", "k01": "to_supply"},
            {"chest": 1, "crate": 1, "rat": 1, "barrel": 1},
            0,
        ),
    ],
    ids=lambda value: "+".join(f"{key} {place}" for key, place in value.items()) if isinstance(value, Mapping) else "",
)
def test_what_becomes_of_what_falls(
    falls: Mapping[str, Place], fates: Mapping[str, str], held: Mapping[str, int], removed: int
) -> None:
    """Caught: out of the game, unless it is nothing but the piece just loaded. Not caught: to the active player.

    Seat 0 has loaded the barrel k01; seat 1, who holds a chest, a crate and a rat, loads the rat as k02.
    """
    state = with_pieces(loaded(to_load(), kind="barrel"), 1, chest=1, crate=1, rat=1)

    after = loaded(state, falls, kind="rat")

    assert {fall.id: fall.fate for fall in after.last[0].fallen} == fates
    assert supply(after, 1) == held
    assert after.players[1].removed == removed
    assert supply(after, 0) == supply(state, 0)
    assert {piece.id for piece in after.table.cargo} == {"k01", "k02"} - set(falls)
    assert counts(after) == counts(state) == (4,) * len(KINDS)


def test_in_a_turn_of_two_pieces_the_first_counts_as_another_one() -> None:
    """Caught with the second, or alone, it is out of the game."""
    once = loaded(did(second_round(), {"pieces": 2}), kind="crate")

    both = loaded(once, {"k02": IN_HAND, "k03": IN_HAND}, kind="rat")
    first = loaded(once, {"k02": IN_HAND}, kind="rat")
    second = loaded(once, {"k03": IN_HAND}, kind="rat")

    assert [fall.fate for fall in both.last[-1].fallen] == ["removed", "removed"]
    assert [fall.fate for fall in first.last[-1].fallen] == ["removed"]
    assert [fall.fate for fall in second.last[-1].fallen] == ["returned"]


@pytest.mark.parametrize(
    ("hands", "place", "hand"),
    [
        (((45, 75),), (90.0, 75.0), 0),
        (((45, 75),), (90.01, 75.0), None),
        (((45, 75),), (45.0, 120.0), 0),
        (((45, 75),), (45.0, 120.01), None),
        (((45, 75), (-45, 75)), (-30.0, 75.0), 1),
        (((45, 75), (30, 75)), (40.0, 75.0), 0),
        (((30, 75), (45, 75)), (40.0, 75.0), 0),
        (((30, 75), (45, 75)), (-20.0, 75.0), None),
        ((), (45.0, 75.0), None),
    ],
)
def test_the_first_hand_within_45_mm_catches(hands: tuple[Place, ...], place: Place, hand: int | None) -> None:
    """Measured in the catch plane, to the centre of the hand; the edge still catches."""
    state = loaded(to_load(), {"k01": place}, hands_mm=hands)

    assert [fall.hand for fall in state.last[0].fallen] == [hand]


def test_only_the_active_player_catches() -> None:
    """What falls from others' loading counts for the one whose turn it is."""
    state = loaded(loaded(to_load()), {"k01": IN_HAND})

    assert [player.removed for player in state.players] == [0, 1, 0, 0]
