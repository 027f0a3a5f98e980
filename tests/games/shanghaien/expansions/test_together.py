"""The expansions together: what holds for all of them, and a round with all four."""

import pytest
from msgspec.json import encode
from support.expansions_positions import ALL, DOUBLES, SPENT_ON, VARIANTS, rolled, table
from support.games_positions import FIRST, GAME, every_card, go, player

from arena.games.api import observer_of, summary_of
from arena.games.shanghaien.actions import Action, Both
from arena.games.shanghaien.expansions.crazy_captain import PlayCaptain
from arena.games.shanghaien.expansions.doubles import PlayDoubles
from arena.games.shanghaien.expansions.no_shanghai import Ban, RerollAll
from arena.games.shanghaien.expansions.sharks import Exchange, Feed
from arena.games.shanghaien.state import Player, State

EACH: list[Action] = [PlayCaptain(), Ban(), RerollAll(), Feed(), Exchange(back=3), PlayDoubles()]


def full(side: Player) -> State:
    """All four; seat 0 is to move with one card of each kind besides what `side` has."""
    return table(ALL, side, hands=(ALL, ()))


# --- what holds for all -------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("trick", [*EACH, Both()], ids=lambda trick: type(trick).__name__)
def test_each_trick_spends_its_own_card(trick: Action) -> None:
    """A trick takes one card from the hand; no card is lost."""
    state = rolled(full(player(dice=(3, 4), tricks=("both",))), 2, 5)

    after = go(state, trick)

    kinds = [state.variant.faces[card] for card in {*state.players[0].tricks} - {*after.players[0].tricks}]
    assert kinds == [SPENT_ON.get(type(trick), "both")]
    assert every_card(after) == list(range(55))


def test_the_cards_are_numbered_in_the_order_of_play() -> None:
    """Behind the 48 of the tavern, seat 0 first, whatever the order in the options."""
    state = GAME.setup({"expansions": ALL[::-1]}, 2)

    assert state.variant.faces[48:] == (*[name for name in ALL[:3] for _ in range(2)], DOUBLES)
    assert [side.tricks for side in state.players] == [(48, 50, 52), (49, 51, 53)]


# --- all four -----------------------------------------------------------------------------------------------------


def test_the_rules_for_a_person_tell_every_expansion() -> None:
    """The summary names each expansion, in lines of a terminal."""
    assert all(f"expansion {name.replace('_', ' ')}" in summary_of(GAME).lower() for name in ALL)
    assert all(len(line) <= 80 for line in summary_of(GAME).splitlines())
