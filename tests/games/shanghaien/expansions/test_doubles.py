"""Doubles: one case for each line of the rule text, and for each ruling on it."""

import pytest
from support.expansions_positions import DOUBLES, asked, card_of, rolled, table
from support.games_positions import (
    FIRST,
    GAME,
    LAST_ROW,
    SECOND,
    chance_key,
    every_card,
    go,
    is_over,
    options,
    player,
    tricks,
)

from arena.games.api import Chance, Dice, Seat
from arena.games.shanghaien.actions import Adjust, Both, Place, Reroll, Roll, Shanghai
from arena.games.shanghaien.expansions.doubles import PlayDoubles, RollOne, TakeDoubles
from arena.games.shanghaien.state import Player, State

TOLD: dict[Seat | None, tuple[tuple[str, ...], tuple[str, ...]]] = {
    None: ((), ()),
    FIRST: ((DOUBLES,), ()),
    SECOND: ((), (DOUBLES,)),
}


def lies(holder: Seat | None, first: Player | None = None, second: Player | None = None) -> State:
    """Seat 0 is to move; the card lies with `holder` or in the middle."""
    return table((DOUBLES,), first, second, hands=TOLD[holder])


def holder(state: State) -> int | None:
    """Return the seat that has the card, as the view shows it."""
    found: int | None = GAME.observe(state, FIRST)["expansions"][DOUBLES]["holder"]
    return found


# --- the choice ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "choices"),
    [(None, (RollOne(), TakeDoubles())), (SECOND, (RollOne(), TakeDoubles())), (FIRST, (RollOne(),))],
)
def test_equal_dice_ask_first(where: Seat | None, choices: tuple[RollOne | TakeDoubles, ...]) -> None:
    """Before any trick; who holds the card himself cannot take it."""
    state = go(lies(where, player(tricks=("both",))), Roll(), (4, 4))

    assert asked(state) == ("doubles", 0)
    assert options(state) == choices


@pytest.mark.parametrize("where", [None, SECOND])
def test_taking_the_card_ends_the_turn_without_a_die(where: Seat | None) -> None:
    """The card is taken from the middle or from the opponent; both dice go back."""
    state = go(lies(where, player(dice=(1,))), Roll(), (4, 4), TakeDoubles())

    assert (holder(state), state.table) == (0, ())
    assert [DOUBLES in side["tricks"] for side in GAME.observe(state, FIRST)["players"]] == [True, False]
    assert (asked(state), state.dice) == (("turn", 1), ())
    assert (state.players[0].placed, state.players[0].supply) == ((1, 0, 0, 0, 0, 0), 5)
    assert every_card(state) == list(range(49))


def test_taking_the_card_is_no_trick() -> None:
    """The card can be played in the player's next turn, in the same round too."""
    state = go(lies(None), Roll(), (4, 4), TakeDoubles(), Roll(), (1, 2), Place(dice=(1,)), Roll(), (2, 5))

    assert not state.players[0].has_used_trick
    assert tricks(state) == (PlayDoubles(),)


def test_one_of_the_two_dice_is_rolled_again() -> None:
    """The other one stays, and he goes on with the result; tricks are open now."""
    asking = go(lies(None, player(tricks=("both",))), Roll(), (4, 4), RollOne())

    after = go(asking, (6,))

    assert GAME.turn(asking) == Chance(key="again/1/0/1/1/1", kind=Dice(1))
    assert options(after) == (Place(dice=(4,)), Place(dice=(6,)), Both())
    assert holder(after) is None


def test_equal_again_asks_again() -> None:
    """Each time the dice are equal again the question comes again, with a key of its own."""
    second = go(lies(None), Roll(), (4, 4), RollOne(), (4,))
    third = go(second, RollOne())

    assert options(second) == (RollOne(), TakeDoubles())
    assert chance_key(third) == "again/1/0/1/1/2"
    assert holder(go(third, (4,), TakeDoubles())) == 0
    assert options(go(third, (5,))) == (Place(dice=(4,)), Place(dice=(5,)))


def test_a_reroll_asks_too() -> None:
    """The dice that were rolled again are the second roll of the turn."""
    state = go(rolled(lies(None, player(tricks=("reroll",))), 2, 5), Reroll(), (3, 3))

    assert options(state) == (RollOne(), TakeDoubles())
    assert chance_key(go(state, RollOne())) == "again/1/0/1/2/1"


def test_an_adjusted_die_does_not_ask() -> None:
    """Equal dice after an adjustment ask nothing: the die was not rolled."""
    state = go(rolled(lies(None, player(tricks=("adjust",))), 4, 5), Adjust(die=4, to=5))

    assert options(state) == (Place(dice=(5,)),)


# --- the trick ----------------------------------------------------------------------------------------------------


def test_the_holder_plays_it_as_a_trick_and_rolls_both_again() -> None:
    """The card goes back to the middle; the new roll stands."""
    state = rolled(lies(FIRST, player(tricks=("both",))), 2, 5)

    rolling = go(state, PlayDoubles())
    after = go(rolling, (1, 6))

    assert tricks(state) == (Both(), PlayDoubles())
    assert chance_key(rolling) == "roll/1/0/1/2"
    assert rolling.table == (card_of(state, DOUBLES),)
    assert options(after) == (Place(dice=(1,)), Place(dice=(6,)))
    assert after.players[0].has_used_trick


# --- the end ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("where", "scores"), [(None, (0, 0)), (FIRST, (1, 0)), (SECOND, (0, 1))])
def test_held_at_the_end_it_scores_a_point(where: Seat | None, scores: tuple[int, int]) -> None:
    """The card scores a point for its holder, and nothing in the middle."""
    state = table((DOUBLES,), player(dice=(1, 1)), player(dice=(1, 1)), hands=TOLD[where], round_=8, row=LAST_ROW)

    ended = go(state, Shanghai())

    assert is_over(ended)
    assert GAME.outcome(ended).scores == scores
