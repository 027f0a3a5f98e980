"""No shanghai / reroll all: one case for each line of the rule text, and for each ruling on it."""

from support.expansions_positions import DOUBLES, NO_SHANGHAI, asked, card_of, rolled, table, unnumbered
from support.games_positions import FIRST, GAME, SECOND, every_card, go, options, player, replace, tricks

from arena.games.api import Chance, Dice
from arena.games.shanghaien.actions import Place, Roll, Shanghai
from arena.games.shanghaien.expansions.no_shanghai import Ban, KeepBack, RerollAll
from arena.games.shanghaien.state import Player, State

HELD = ((NO_SHANGHAI,), ())


def holding(first: Player | None = None, second: Player | None = None) -> State:
    """Return a state in which seat 0 is to move and holds the card."""
    return table((NO_SHANGHAI,), first, second, hands=HELD)


def banned(first: Player | None = None, second: Player | None = None) -> State:
    """Seat 0 is to move, and the ban of seat 1 is in force."""
    return table((NO_SHANGHAI,), first, second, lying=((NO_SHANGHAI, SECOND),))


def test_the_player_chooses_one_of_two_actions() -> None:
    """Directly after an own roll; there is no joker side, even with sailors at hand."""
    state = holding(player(sailors=("dutch 3",)))

    assert options(state) == (Roll(),)
    assert tricks(rolled(state, 2, 5)) == (Ban(), RerollAll())


# --- 1. no shanghai -----------------------------------------------------------------------------------------------


def test_under_the_ban_neither_player_may_choose_shanghai() -> None:
    """Who plays it places a die as usual; the card lies beside the row."""
    state = rolled(holding(player(dice=(1, 2)), player(dice=(3, 4))), 2, 5)

    after = go(state, Ban())
    theirs = go(after, Place(dice=(2,)))
    own = go(theirs, Roll(), (2, 5), Place(dice=(2,)))

    assert options(after) == (Place(dice=(2,)), Place(dice=(5,)))
    assert after.table == (card_of(state, NO_SHANGHAI),)
    assert (options(theirs), options(own)) == ((Roll(),), (Roll(),))
    assert GAME.observe(own, FIRST)["expansions"][NO_SHANGHAI] == {"ban": True}


def test_the_ban_leaves_the_game_with_the_round() -> None:
    """In the next one shanghai can be chosen again."""
    state = banned(player(dice=(1, 2, 3, 4, 5)), player(dice=(3, 4)))

    ended = go(state, Shanghai())

    assert (ended.table, ended.round) == ((), 2)
    assert card_of(state, NO_SHANGHAI, SECOND) in ended.gone
    assert every_card(ended) == list(range(50))
    two_placed = replace(ended, players=(player(), player(dice=(1, 2))), one_at="left")
    assert options(two_placed) == (Roll(), Shanghai())


# --- 2. reroll all ------------------------------------------------------------------------------------------------


def test_the_known_answer_of_the_rule_text() -> None:
    """1 and 3 placed, 1 and 1 rolled; four dice show 2, 4, 5, 6; the 2 goes back, the others are placed."""
    state = rolled(holding(player(dice=(1, 3))), 1, 1)

    rolling = go(state, RerollAll())
    lying = go(rolling, (2, 4, 5, 6))
    after = go(lying, KeepBack(die=2))

    assert GAME.turn(rolling) == Chance(key="many/1/0/1/1", kind=Dice(4))
    assert options(lying) == tuple(KeepBack(die=die) for die in (2, 4, 5, 6))
    assert after.players[0].placed == (0, 0, 0, 1, 1, 1)
    assert after.players[0].supply == 3
    assert card_of(state, NO_SHANGHAI) in after.gone
    assert (asked(after), after.dice) == (("turn", 1), ())


def test_all_six_dice_can_be_rolled() -> None:
    """Four placed and two rolled; five are placed, and shanghai is compulsory in the next turn."""
    state = go(rolled(holding(player(dice=(1, 2, 3, 4))), 1, 2), RerollAll(), (1, 1, 1, 1, 1, 1), KeepBack(die=1))

    assert (state.players[0].placed, state.players[0].supply) == ((5, 0, 0, 0, 0, 0), 1)
    assert options(replace(state, to_move=FIRST)) == (Shanghai(),)


def test_with_nothing_placed_two_dice_are_rolled_and_one_placed() -> None:
    """In the first turn of a round, which chooses the numbering too."""
    rolling = go(unnumbered(rolled(holding(), 2, 5)), RerollAll())
    lying = go(rolling, (3, 6))

    after = go(lying, KeepBack(die=3, one="right"))

    assert rolling.one_at is None
    assert options(lying) == tuple(KeepBack(die=die, one=end) for die in (3, 6) for end in ("left", "right"))
    assert (after.one_at, after.players[0].placed) == ("right", (0, 0, 0, 0, 0, 1))


def test_the_roll_of_many_dice_makes_no_doubles() -> None:
    """A roll of many dice asks no question of doubles, even if it has only two dice."""
    state = table((NO_SHANGHAI, DOUBLES), hands=HELD)

    assert asked(go(rolled(state, 2, 5), RerollAll(), (3, 3))) == ("keep_back", 0)
