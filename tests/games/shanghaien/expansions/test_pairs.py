"""Two expansions at once: what each one means for the other."""

import pytest
from support.expansions_positions import (
    ALL,
    CAPTAIN,
    DOUBLES,
    NO_SHANGHAI,
    SHARKS,
    card_of,
    place,
    rolled,
    table,
    unnumbered,
)
from support.games_positions import FIRST, GAME, SECOND, cards, chance_key, go, options, player, replace, tricks

from arena.games.api import Json
from arena.games.shanghaien.actions import Action, Both, Roll
from arena.games.shanghaien.expansions.crazy_captain import Allow, Veto
from arena.games.shanghaien.expansions.doubles import PlayDoubles, RollOne, TakeDoubles
from arena.games.shanghaien.expansions.no_shanghai import Ban, KeepBack, RerollAll
from arena.games.shanghaien.expansions.sharks import Exchange, Feed
from arena.games.shanghaien.state import Player, State

ALLOW, VETO = Allow(), Veto()


def full(first: Player | None = None, second: Player | None = None) -> State:
    """All four; seat 0 is to move with one card of each kind, and the captain of seat 1 is in force."""
    return table(ALL, first, second, hands=(ALL, ()), lying=((CAPTAIN, SECOND),))


def shown(state: State, name: str) -> dict[str, Json]:
    """Return the part of the view that belongs to an expansion."""
    found: dict[str, Json] = GAME.observe(state, FIRST)["expansions"][name]
    return found


# --- the captain and doubles --------------------------------------------------------------------------------------


def test_equal_dice_after_a_vetoed_placement_ask_before_any_trick() -> None:
    """Equal dice after a vetoed placement ask first, and can be used to take the card."""
    state = table((CAPTAIN, DOUBLES), player(tricks=("both",)), lying=((CAPTAIN, SECOND),))

    again = go(rolled(state, 2, 5), place(2), VETO, (3, 3))

    assert options(again) == (RollOne(), TakeDoubles())
    assert chance_key(go(again, RollOne())) == "again/1/0/1/2/1"
    assert tricks(go(again, RollOne(), (4,))) == (Both(),)
    assert shown(go(again, TakeDoubles()), DOUBLES) == {"holder": 0}


def test_the_doubles_card_can_be_vetoed_as_a_trick() -> None:
    """A vetoed doubles card stays with its holder, who places, or plays another card."""
    state = go(rolled(full(player(dice=(3,))), 2, 5), PlayDoubles(), VETO)

    assert shown(state, DOUBLES) == {"holder": 0}
    assert tricks(state) == (Ban(), RerollAll(), Feed(), Exchange(back=3))


def test_taking_the_card_ends_the_right_to_place_both() -> None:
    """Paid for with a trick, held through a veto, lost with the turn: the opponent places one die."""
    state = table((CAPTAIN, DOUBLES), player(tricks=("both",)), lying=((CAPTAIN, SECOND),))

    after = go(rolled(state, 2, 5), Both(), ALLOW, place(2, 5), VETO, (3, 3), TakeDoubles(), Roll(), (1, 6))

    assert after.to_place == 1
    assert options(after) == (place(1), place(6))
    assert cards("both")[0] in after.gone


# --- the captain and no shanghai / reroll all ---------------------------------------------------------------------


@pytest.mark.parametrize("action", [Ban(), RerollAll()])
def test_a_vetoed_card_is_unplayable_on_either_side(action: Action) -> None:
    """The card was vetoed; no ban is in force, no die was taken up."""
    holder = player(dice=(1, 2))
    state = go(rolled(full(holder), 2, 5), action, VETO)

    assert shown(state, NO_SHANGHAI) == {"ban": False}
    assert state.players[0].placed == holder.placed
    assert tricks(state) == (Feed(), Exchange(back=1), Exchange(back=2), PlayDoubles())


# --- the captain and the sharks -----------------------------------------------------------------------------------


def test_a_vetoed_feed_turns_no_card_down() -> None:
    """The die is placed as usual, the card stays with its owner."""
    state = go(rolled(full(), 2, 5), Feed(), VETO, place(5))

    assert shown(state, SHARKS) == {"face_down": (), "feeding": False}
    assert card_of(state, SHARKS) in state.players[0].tricks


def test_the_right_to_feed_holds_for_the_new_dice() -> None:
    """The placement was vetoed, not the trick: the card where the die comes to lie is turned down, no other."""
    state = go(rolled(full(), 2, 5), Feed(), ALLOW, place(5), VETO, (1, 6))

    assert shown(state, SHARKS) == {"face_down": (), "feeding": True}
    assert tricks(state) == ()
    assert shown(go(state, place(6)), SHARKS) == {"face_down": (6,), "feeding": False}


# --- the sharks and doubles ---------------------------------------------------------------------------------------


def test_taking_the_doubles_card_loses_the_right_to_feed() -> None:
    """No die is placed in this turn, and the next one turns nothing down."""
    state = table(ALL, hands=((SHARKS,), ()), lying=((CAPTAIN, SECOND),))

    taken = go(rolled(state, 2, 5), Feed(), ALLOW, place(5), VETO, (3, 3), TakeDoubles())
    later = go(taken, Roll(), (1, 2), place(1), Roll(), (1, 2), place(2), ALLOW)

    assert shown(taken, SHARKS) == {"face_down": (), "feeding": False}
    assert shown(later, SHARKS) == {"face_down": (), "feeding": False}
    assert card_of(state, SHARKS) in taken.gone


# --- no shanghai / reroll all with sharks and doubles -------------------------------------------------------------


def test_reroll_all_takes_dice_from_a_card_turned_down_too() -> None:
    """The card stays face down, and new dice can come to lie there."""
    state = table(ALL, hands=((NO_SHANGHAI,), (SHARKS,)), seat=SECOND)
    state = replace(state, players=(replace(state.players[0], placed=(0, 0, 0, 0, 1, 0)), state.players[1]))

    after = go(rolled(state, 2, 5), Feed(), place(5), Roll(), (1, 2), RerollAll(), (5, 5, 6), KeepBack(die=6))

    assert after.players[0].placed == (0, 0, 0, 0, 2, 0)
    assert shown(after, SHARKS) == {"face_down": (5,), "feeding": False}


def test_the_doubles_card_can_be_taken_before_the_numbering_is_chosen() -> None:
    """The action chooses it, so reroll all of the opponent does not, though no die lies there."""
    state = unnumbered(table(ALL, hands=((), (NO_SHANGHAI,))))
    taken = go(state, Roll(), (4, 4), TakeDoubles(one="right"))

    after = go(taken, Roll(), (1, 2), RerollAll(), (6, 6), KeepBack(die=6))

    assert (after.one_at, after.players[1].placed) == ("right", (0, 0, 0, 0, 0, 1))
