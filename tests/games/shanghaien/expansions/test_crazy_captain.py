"""The Crazy Captain: one case for each line of his rule text, and for each ruling on him."""

import pytest
from support.expansions_positions import CAPTAIN, asked, both_or_one, captained, card_of, place, rolled, table
from support.games_positions import FIRST, GAME, SECOND, chance_key, go, options, player, tricks

from arena.games.shanghaien.actions import Action, Adjust, Both, Joker, Roll, Shanghai
from arena.games.shanghaien.expansions.crazy_captain import PlayCaptain, Veto

# --- playing him --------------------------------------------------------------------------------------------------


def test_he_is_played_like_any_trick_and_a_die_is_placed_as_usual() -> None:
    """Directly after an own roll; he lies beside the row and the trick of the round is used."""
    state = rolled(table((CAPTAIN,), player(tricks=("both",)), hands=((CAPTAIN,), ())), 2, 5)

    after = go(state, PlayCaptain())

    assert tricks(state) == (Both(), PlayCaptain())
    assert after.table == (card_of(state, CAPTAIN),)
    assert after.players[0].has_used_trick
    assert options(after) == (place(2), place(5))
    assert GAME.observe(after, SECOND)["expansions"][CAPTAIN] == {"in_force": 0, "vetoed": None, "announced": None}


# --- who is asked, and when ---------------------------------------------------------------------------------------


def test_the_asked_seat_sees_what_is_announced_with_its_choices() -> None:
    """Both seats see the announced action with its choices."""
    holder = player(tricks=("adjust",), sailors=("dutch 3",))
    for action, shown in (
        (Adjust(die=2, to=3), {"do": "adjust", "die": 2, "to": 3}),
        (Joker(card="adjust", nation="dutch"), {"do": "joker", "card": "adjust", "nation": "dutch"}),
        (place(5), {"do": "place", "dice": (5,)}),
    ):
        state = go(rolled(captained(holder), 2, 5), action)

        views = [GAME.observe(state, seat)["expansions"][CAPTAIN] for seat in (FIRST, SECOND)]

        assert views[0] == views[1]
        assert {**views[0]["announced"], "dice": None} == {**shown, "dice": None}
        assert (views[0]["in_force"], views[0]["vetoed"]) == (1, None)


# --- 1. the placement ---------------------------------------------------------------------------------------------


def test_a_vetoed_placement_is_taken_back_and_both_dice_are_rolled_again() -> None:
    """Nothing is placed, and the new roll is the next one of the same turn."""
    state = go(rolled(captained(), 2, 5), place(2), Veto())

    assert chance_key(state) == "roll/1/0/1/2"
    assert state.players[0].placed == (0,) * 6
    assert options(go(state, (1, 6))) == (place(1), place(6))


# --- 2. a trick ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trick", [Adjust(die=2, to=3), Joker(card="adjust", nation="dutch")])
def test_a_vetoed_trick_stays_and_is_unplayable_for_the_rest_of_the_turn(trick: Action) -> None:
    """Either side of the card; it does not count as used, and another card may be announced."""
    holder = player(tricks=("adjust", "both"), sailors=("dutch 3",))
    state = go(rolled(captained(holder), 2, 5), trick, Veto())

    assert state.players[0] == holder
    assert options(state) == (place(2), place(5), Both(), Joker(card="both", nation="dutch"))
    assert GAME.observe(state, FIRST)["expansions"][CAPTAIN]["vetoed"] == "adjust"
    assert options(go(state, Both())) == both_or_one(2, 5)


def test_another_card_of_the_same_kind_may_be_announced() -> None:
    """The card was vetoed, not the kind; one of the two stays with its owner."""
    state = go(rolled(captained(player(tricks=("both", "both"))), 2, 5), Both(), Veto())

    after = go(state, Both())

    assert tricks(state) == (Both(),)
    assert options(after) == both_or_one(2, 5)
    assert len(after.players[0].tricks) == 1


def test_a_vetoed_trick_can_be_played_in_the_next_turn() -> None:
    """A vetoed trick can be played, and vetoed, again in the next turn."""
    state = go(rolled(captained(player(tricks=("both",))), 2, 5), Both(), Veto(), place(5), Roll(), (1, 2), place(1))

    again = go(state, Roll(), (3, 4), Both())

    assert asked(again) == ("veto", 1)
    assert tricks(go(again, Veto())) == ()


# --- 3. shanghai --------------------------------------------------------------------------------------------------


def test_after_a_vetoed_shanghai_he_must_roll() -> None:
    """The round goes on; in his next turn he may call it again."""
    state = go(captained(player(dice=(1, 2)), player(dice=(3, 4))), Shanghai(), Veto())

    later = go(state, Roll(), (2, 5), place(2), Roll(), (2, 5), place(2))

    assert options(state) == (Roll(),)
    assert asked(go(state, Roll(), (2, 5))) == ("rolled", 0)
    assert options(later) == (Roll(), Shanghai())
    assert asked(go(later, Shanghai())) == ("veto", 1)
