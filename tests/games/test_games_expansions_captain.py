"""The Crazy Captain: one case for each line of his rule text, and for each ruling on him."""

import pytest
from expansions_positions import CAPTAIN, asked, both_or_one, captained, card_of, place, rolled, table
from games_positions import FIRST, GAME, SECOND, chance_key, every_card, go, options, player, tricks
from msgspec.structs import replace

from arena.games.api import Seat
from arena.games.shanghaien.actions import Action, Adjust, Both, Joker, Place, Roll, Shanghai
from arena.games.shanghaien.expansions.crazy_captain import Allow, PlayCaptain, Veto

ANSWERS = (Allow(), Veto())


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


def test_he_is_not_playable_before_the_own_roll() -> None:
    """Nor in the opponent's turn."""
    state = table((CAPTAIN,), hands=((CAPTAIN,), (CAPTAIN,)))

    assert options(state) == (Roll(),)
    assert GAME.legal(rolled(state, 2, 5), SECOND) == ()


@pytest.mark.parametrize(("round_", "playable"), [(1, (PlayCaptain(),)), (7, (PlayCaptain(),)), (8, ())])
def test_he_is_not_playable_in_the_last_round(round_: int, playable: tuple[Action, ...]) -> None:
    """Up to the seventh he is."""
    assert tricks(rolled(table((CAPTAIN,), hands=((CAPTAIN,), ()), round_=round_), 2, 5)) == playable


def test_he_is_not_playable_while_the_opponents_is_in_force() -> None:
    """Other tricks are."""
    state = table((CAPTAIN,), player(tricks=("both",)), hands=((CAPTAIN,), ()), lying=((CAPTAIN, SECOND),))

    assert tricks(rolled(state, 2, 5)) == (Both(),)


@pytest.mark.parametrize("owner", [FIRST, SECOND])
def test_he_leaves_the_game_with_the_round(owner: Seat) -> None:
    """Nobody gets a point for him, and in the next round nobody is asked."""
    state = table((CAPTAIN,), player(dice=(1, 2)), player(dice=(3, 4)), lying=((CAPTAIN, owner),), seat=owner)

    ended = go(state, Shanghai())

    assert (ended.table, ended.players[owner].tricks) == ((), ())
    assert card_of(state, CAPTAIN, owner) in ended.gone
    assert every_card(ended) == list(range(50))
    assert asked(go(ended, Roll(), (2, 5), Place(dice=(2,), one="left"))) == ("turn", owner)


def test_the_other_captain_can_be_played_in_the_next_round() -> None:
    """Only the same round forbids him."""
    state = table(
        (CAPTAIN,), player(dice=(1, 2)), player(dice=(3, 4)), hands=((CAPTAIN,), ()), lying=((CAPTAIN, SECOND),)
    )

    ended = go(replace(state, to_move=SECOND), Shanghai(), Roll(), (2, 5))

    assert tricks(ended) == (PlayCaptain(),)


# --- who is asked, and when ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("owner", [FIRST, SECOND])
def test_only_the_owner_may_veto_and_only_the_opponent_is_vetoed(owner: Seat) -> None:
    """In his own turns nobody is asked."""
    own = table((CAPTAIN,), lying=((CAPTAIN, owner),), seat=owner)
    theirs = replace(own, to_move=Seat(1 - owner))

    assert asked(go(rolled(own, 2, 5), place(2))) == ("turn", 1 - owner)
    assert asked(go(rolled(theirs, 2, 5), place(2))) == ("veto", owner)
    assert options(go(rolled(theirs, 2, 5), place(2))) == ANSWERS
    assert GAME.legal(go(rolled(theirs, 2, 5), place(2)), Seat(1 - owner)) == ()


def test_nobody_is_asked_while_no_captain_is_in_force() -> None:
    """Cards in hand do not matter."""
    state = table((CAPTAIN,), player(dice=(1, 2), tricks=("both",)), hands=((CAPTAIN,), (CAPTAIN,)))

    assert asked(go(rolled(state, 2, 5), place(2))) == ("turn", 1)
    assert asked(go(rolled(state, 2, 5), Both())) == ("rolled", 0)
    assert asked(go(state, Shanghai())) == ("turn", 1)


def test_a_roll_cannot_be_vetoed() -> None:
    """Three things can: a placement, a trick, shanghai."""
    assert chance_key(go(captained(), Roll())) == "roll/1/0/1/1"


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ((Roll(), (2, 5), place(2), Veto()), ((1, 6), place(1))),
        ((Roll(), (2, 5), Both(), Veto()), (place(5),)),
        ((Shanghai(), Veto()), (Roll(), (3, 3), place(3))),
    ],
)
def test_one_veto_in_each_turn_of_the_opponent(
    first: tuple[Action | tuple[int, ...], ...], rest: tuple[Action | tuple[int, ...], ...]
) -> None:
    """Whatever it was used on, the rest of this turn goes unasked; in the next turn there is a new one."""
    state = captained(player(dice=(1, 2), tricks=("both",)), player(dice=(6,)))

    turn_over = go(state, *first, *rest)
    next_turn = go(turn_over, Roll(), (1, 2), place(1))

    assert asked(turn_over) == ("turn", 1)
    assert asked(go(next_turn, Roll(), (2, 5), place(2))) == ("veto", 1)


def test_what_is_allowed_happens_and_the_veto_is_still_to_be_had() -> None:
    """First the trick is asked about, then the placement."""
    state = rolled(captained(player(tricks=("both",))), 2, 5)

    announced = go(state, Both())
    allowed = go(announced, Allow())
    placing = go(allowed, place(2, 5))

    assert asked(announced) == ("veto", 1)
    assert (asked(allowed), options(allowed)) == (("rolled", 0), both_or_one(2, 5))
    assert asked(placing) == ("veto", 1)
    assert go(placing, Allow()).players[0].placed == (0, 1, 0, 0, 1, 0)


def test_the_asked_seat_sees_what_is_announced_with_its_choices() -> None:
    """And both seats see the same."""
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


# --- the end ------------------------------------------------------------------------------------------------------
