"""Feed the sharks / exchange: one case for each line of the rule text, and for each ruling on it."""

import pytest
from support.expansions_positions import SHARKS, asked, card_of, rolled, table, unnumbered
from support.games_positions import FIRST, GAME, SECOND, cards, every_card, go, options, player, replace, tricks

from arena.games.shanghaien.actions import Place, Roll, Shanghai
from arena.games.shanghaien.expansions.sharks import Exchange, Feed
from arena.games.shanghaien.state import Player, State

HELD = ((SHARKS,), ())
ROW = ("german 1", "german 2", "german 3", "german 4", "dutch 1", "dutch 2")


def holding(first: Player | None = None, second: Player | None = None) -> State:
    """Seat 0 is to move and holds the card; number n is the n-th card of `ROW`."""
    return table((SHARKS,), first, second, hands=HELD, row=ROW)


def fed(state: State) -> list[int]:
    """The numbers of the cards that lie face down, as the view shows them."""
    return list(GAME.observe(state, FIRST)["expansions"][SHARKS]["face_down"])


def test_the_player_chooses_one_of_two_actions() -> None:
    """Directly after an own roll; there is no joker side, even with sailors at hand."""
    state = holding(player(dice=(3, 3, 6), sailors=("french 3",)))

    assert options(state) == (Roll(), Shanghai())
    assert tricks(rolled(state, 2, 5)) == (Feed(), Exchange(back=3), Exchange(back=6))


# --- 1. feed the sharks -------------------------------------------------------------------------------------------


def test_the_card_on_which_the_die_of_this_turn_is_placed_is_turned_down() -> None:
    """A die is placed as usual; the trick card leaves the game at once."""
    state = rolled(holding(), 2, 5)

    feeding = go(state, Feed())
    after = go(feeding, Place(dice=(5,)))

    assert options(feeding) == (Place(dice=(2,)), Place(dice=(5,)))
    assert GAME.observe(feeding, SECOND)["expansions"][SHARKS] == {"face_down": (), "feeding": True}
    assert GAME.observe(after, SECOND)["expansions"][SHARKS] == {"face_down": (5,), "feeding": False}
    assert card_of(state, SHARKS) in feeding.gone


@pytest.mark.parametrize("theirs", [(1, 2), (5, 1), (5, 5), (5, 5, 5), (5, 4), (5, 6, 6)])
def test_a_card_turned_down_leaves_the_game_whatever_dice_lie_there(theirs: tuple[int, ...]) -> None:
    """The only die, equally many, fewer, or a tie that the neighbours would decide."""
    state = go(rolled(holding(player(), player(dice=theirs)), 2, 5), Feed(), Place(dice=(5,)))

    ended = go(state, Shanghai())

    assert cards("dutch 1")[0] in ended.gone
    assert all(cards("dutch 1")[0] not in side.sailors for side in ended.players)
    assert every_card(ended) == list(range(50))


def test_dice_on_a_card_turned_down_count_for_ties_beside_it() -> None:
    """Number 4 is tied; the die on number 5, which is lost, decides for seat 0; without it nobody gets number 4."""
    fed_five = go(rolled(holding(player(dice=(4,)), player(dice=(4, 1))), 2, 5), Feed(), Place(dice=(5,)))
    other = go(rolled(holding(player(dice=(4,)), player(dice=(4, 1))), 2, 5), Feed(), Place(dice=(2,)))

    ended, tied = (go(state, Shanghai()) for state in (fed_five, other))

    assert ended.players[0].sailors == cards("german 4")
    assert set(cards("dutch 1")) <= set(ended.gone)
    assert tied.players[0].sailors == ()
    assert set(cards("german 2", "german 4")) <= set(tied.gone)


def test_the_number_is_the_one_chosen_with_this_very_die() -> None:
    """The first placement of a round, with number 1 on the right: number 5 is the second card from the left."""
    state = go(unnumbered(rolled(holding(), 2, 5)), Feed(), Place(dice=(5,), one="right"))
    state = replace(state, players=(player(dice=(5, 5)), player(dice=(6, 6))))

    ended = go(state, Shanghai())

    assert cards("german 2")[0] in ended.gone
    assert ended.players[1].sailors == cards("german 1")


def test_both_players_can_feed_in_one_round() -> None:
    """Two cards are turned down, or the same one twice."""
    state = table((SHARKS,), hands=((SHARKS,), (SHARKS,)), row=ROW)
    once = go(rolled(state, 2, 5), Feed(), Place(dice=(5,)), Roll())

    assert fed(go(once, (1, 5), Feed(), Place(dice=(1,)))) == [1, 5]
    assert fed(go(once, (1, 5), Feed(), Place(dice=(5,)))) == [5]


def test_in_the_next_round_all_cards_lie_face_up() -> None:
    """A new round has no card turned down."""
    state = go(rolled(holding(player(dice=(1, 2)), player(dice=(1, 2))), 2, 5), Feed(), Place(dice=(5,)), Shanghai())

    assert (state.round, fed(state)) == (2, [])
    assert GAME.observe(state, FIRST)["expansions"][SHARKS]["feeding"] is False


# --- 2. exchange --------------------------------------------------------------------------------------------------


def test_no_exchange_without_a_die_of_an_earlier_turn() -> None:
    """The opponent's dice do not make an exchange possible."""
    assert tricks(rolled(holding(player(), player(dice=(1, 2))), 2, 5)) == (Feed(),)


def test_the_exchange_takes_a_die_back_and_places_both() -> None:
    """An exchange adds one die to the row; the trick card leaves the game."""
    state = rolled(holding(player(dice=(3, 3, 6))), 2, 5)

    taken = go(state, Exchange(back=3))
    after = go(taken, Place(dice=(2, 5)))

    assert (taken.players[0].placed, options(taken)) == ((0, 0, 1, 0, 0, 1), (Place(dice=(2, 5)),))
    assert (after.players[0].placed, after.players[0].supply) == ((0, 1, 1, 0, 1, 1), 2)
    assert card_of(state, SHARKS) in after.gone
    assert asked(after) == ("turn", 1)
