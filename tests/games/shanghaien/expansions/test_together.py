"""The expansions together: what holds for all of them, and a round with all four."""

import pytest
from msgspec.json import encode
from support.expansions_positions import ALL, DOUBLES, VARIANTS
from support.games_positions import FIRST, GAME

from arena.games.api import observer_of, summary_of


@pytest.mark.parametrize("chosen", VARIANTS, ids="+".join)
def test_any_set_of_expansions_can_be_played(chosen: tuple[str, ...]) -> None:
    """Each adds its cards, two or one; the order in which they are named does not matter."""
    state = GAME.setup({"expansions": chosen}, 2)
    other = GAME.setup({"expansions": chosen[::-1]}, 2)

    assert len(state.variant.faces) == 48 + sum(1 if name == DOUBLES else 2 for name in chosen)
    assert [len(side.tricks) for side in state.players] == [sum(name != DOUBLES for name in chosen)] * 2
    assert (state.variant.faces, state.players, state.table) == (other.variant.faces, other.players, other.table)
    assert ("expansions" in GAME.observe(state, FIRST)) == bool(chosen)
    assert encode(observer_of(GAME)(state, FIRST)) == encode(GAME.observe(state, FIRST))


def test_the_cards_are_numbered_in_the_order_of_play() -> None:
    """Behind the 48 of the tavern, seat 0 first, whatever the order in the options."""
    state = GAME.setup({"expansions": ALL[::-1]}, 2)

    assert state.variant.faces[48:] == (*[name for name in ALL[:3] for _ in range(2)], DOUBLES)
    assert [side.tricks for side in state.players] == [(48, 50, 52), (49, 51, 53)]


def test_the_rules_for_a_person_tell_every_expansion() -> None:
    """The summary names each expansion, in lines of a terminal."""
    assert all(f"expansion {name.replace('_', ' ')}" in summary_of(GAME).lower() for name in ALL)
    assert all(len(line) <= 80 for line in summary_of(GAME).splitlines())
