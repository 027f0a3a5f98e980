"""Shanghaien: dirty tricks, one case per line of the rule text ("Schmutzige Tricks")."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.games_positions import (
    FIRST,
    GAME,
    LAST_ROW,
    SECOND,
    cards,
    chance_key,
    decider,
    every_card,
    go,
    options,
    player,
    rolled,
    to_move,
    tricks,
)

from arena.games.shanghaien.actions import Action, Adjust, Both, Joker, Place, Reroll, Roll, Shanghai
from arena.games.shanghaien.cards import card_winners
from arena.games.shanghaien.state import ENDS, Player

PLAIN = (Place(dice=(2,)), Place(dice=(5,)))


# --- when ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["adjust", "both", "reroll"])
def test_no_trick_before_the_own_roll(kind: str) -> None:
    """Only directly after an own roll of dice."""
    assert options(to_move(player(tricks=(kind,), sailors=("dutch 3",)))) == (Roll(),)


def test_no_trick_after_the_opponents_roll() -> None:
    """The cards of the player who did not roll do not matter."""
    state = rolled((2, 5), player(), player(tricks=("both",), sailors=("dutch 3",)))

    assert options(state) == PLAIN
    assert GAME.legal(state, SECOND) == ()


def test_no_second_trick_in_a_round() -> None:
    """Even with more cards, and in a later turn of the round."""
    state = rolled((2, 5), player(tricks=("both", "adjust", "reroll"), sailors=("dutch 3",), used=True))

    assert options(state) == PLAIN


def test_after_a_reroll_no_other_trick() -> None:
    """The new roll is an own roll, but the one trick of the round is used."""
    state = rolled((2, 5), player(tricks=("reroll", "both", "reroll")))

    assert options(go(state, Reroll(), (1, 6))) == (Place(dice=(1,)), Place(dice=(6,)))


def test_each_player_has_a_trick_of_his_own() -> None:
    """The opponent's trick does not use up mine."""
    state = rolled((2, 5), player(tricks=("both",)), player(used=True))

    assert Both() in options(state)


def test_a_trick_used_in_one_round_does_not_forbid_one_in_the_next() -> None:
    """The captain comes back at the end of the round."""
    state = to_move(player(dice=(1, 2), tricks=("both",), used=True), player(dice=(3, 4)), seat=SECOND)

    state = go(state, Shanghai(), Roll(), (2, 5))

    assert Both() in options(state)


def test_a_trick_won_in_a_round_can_be_used_from_the_next_round_on() -> None:
    """It is nobody's while it lies in the row."""
    row = cards(*LAST_ROW)
    winning = player(dice=(1, 1))
    during = replace(rolled((2, 5), winning, player(dice=(3, 3))), row=row)
    calling = replace(to_move(winning, player(dice=(3, 3)), seat=SECOND), row=row)

    after = go(calling, Shanghai(), Roll(), (2, 5))

    assert tricks(during) == ()
    assert tricks(after) == (Both(),)


# --- joker --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["adjust", "both", "reroll"])
def test_every_trick_card_can_be_a_joker_of_a_nation_on_the_own_side(kind: str) -> None:
    """Any nation of which the player holds a sailor card, and no other."""
    state = rolled((2, 5), player(tricks=(kind,), sailors=("dutch 3", "french 1")), player(sailors=("german 4",)))

    jokers = [action for action in options(state) if isinstance(action, Joker)]

    assert jokers == [Joker(card=kind, nation="french"), Joker(card=kind, nation="dutch")]


def test_no_joker_without_a_sailor_card() -> None:
    """It can never lie alone and replace a missing nation, even one of which the opponent has sailors."""
    state = rolled((2, 5), player(tricks=("both",)), player(sailors=("german 4",)))

    assert tricks(state) == (Both(),)


def test_a_joker_counts_as_two_sailors_for_good() -> None:
    """The card leaves the tricks and is not gone; then one die is placed as usual."""
    state = rolled((2, 5), player(tricks=("reroll", "both"), sailors=("dutch 3",)))

    after = go(state, Joker(card="reroll", nation="dutch"))

    side = after.players[0]
    assert side.strength == (0, 0, 0, 0, 5, 0, 0, 0)
    assert (side.tricks, side.jokers) == (cards("both"), ((cards("reroll")[0], 4),))
    assert after.gone == ()
    assert options(after) == PLAIN


def test_a_joker_stays_through_the_rounds() -> None:
    """And counts at the end as two sailors, not as an unused trick."""
    state = to_move(player(dice=(1, 2), sailors=("dutch 3",), jokers=(("both", "dutch"),)), round_=8)
    state = replace(state, row=cards("dutch 1", "dutch 4", "german 1", "german 2", "german 3", "german 4"))

    ended = go(state, Shanghai())

    assert ended.players[0].strength == (0, 0, 0, 0, 10, 0, 0, 0)
    assert GAME.outcome(ended).scores == (10, 0)


# --- adjust -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dice", "changes"),
    [
        ((2, 5), [(2, 1), (2, 3), (5, 4), (5, 6)]),
        ((1, 6), [(1, 2), (6, 5)]),
        ((6, 6), [(6, 5)]),
        ((1, 1), [(1, 2)]),
        ((3, 3), [(3, 2), (3, 4)]),
    ],
)
def test_adjust_changes_one_die_by_one_within_1_to_6(dice: tuple[int, int], changes: list[tuple[int, int]]) -> None:
    """A 6 does not become a 7 or a 1, a 1 not a 0 or a 6."""
    assert tricks(rolled(dice, player(tricks=("adjust",)))) == tuple(Adjust(die=a, to=b) for a, b in changes)


@pytest.mark.parametrize(
    ("dice", "change", "faces"),
    [
        ((2, 5), Adjust(die=5, to=6), {2, 6}),
        ((3, 3), Adjust(die=3, to=4), {3, 4}),
        ((4, 5), Adjust(die=4, to=5), {5}),
    ],
)
def test_after_adjust_either_die_is_placed(dice: tuple[int, int], change: Adjust, faces: set[int]) -> None:
    """The changed one or the other; the card leaves the game."""
    after = go(rolled(dice, player(tricks=("adjust",))), change)

    assert set(options(after)) == {Place(dice=(face,)) for face in faces}
    assert after.gone == cards("adjust")
    assert after.players[0].tricks == ()


# --- both ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dice", "placed"), [((5, 2), (0, 1, 0, 0, 1, 0)), ((4, 4), (0, 0, 0, 2, 0, 0))])
def test_both_places_both_dice(dice: tuple[int, int], placed: tuple[int, ...]) -> None:
    """The card leaves the game and the opponent is to move."""
    allowed = go(rolled(dice, player(tricks=("both",))), Both())

    after = go(allowed, Place(dice=(min(dice), max(dice))))

    assert after.players[0].placed == placed
    assert (after.gone, after.to_place, decider(after)) == (cards("both"), 1, 1)


@pytest.mark.parametrize("dice", [(5, 2), (4, 4)])
def test_both_is_a_right(dice: tuple[int, int]) -> None:
    """The texts say "darf", "pouvez", "можете": one of the dice may be placed alone; the card is spent."""
    allowed = go(rolled(dice, player(tricks=("both",))), Both())
    alone = Place(dice=dice[:1])

    after = go(allowed, alone)

    assert options(allowed) == (Place(dice=tuple(sorted(dice))), *(Place(dice=(die,)) for die in dict.fromkeys(dice)))
    assert (after.players[0].supply, after.gone, decider(after)) == (5, cards("both"), 1)


def test_the_view_tells_a_right_from_a_duty() -> None:
    """`to_place` at most, `must_place` at least."""
    state = go(rolled((5, 2), player(tricks=("both",))), Both())

    views = [GAME.observe(each, FIRST) for each in (state, go(state, Place(dice=(2, 5))))]

    assert [(view["to_place"], view["must_place"]) for view in views] == [(2, 1), (1, 1)]


def test_both_in_the_first_turn_of_a_round_chooses_the_numbering_too() -> None:
    """One end for both dice, or for the one."""
    state = replace(rolled((5, 2), player(tricks=("both",))), one_at=None)

    assert options(go(state, Both())) == tuple(
        Place(dice=dice, one=end) for dice in ((2, 5), (5,), (2,)) for end in ENDS
    )


def test_both_players_may_use_up_their_supplies() -> None:
    """The one who is to move ends the round."""
    state = rolled((1, 6), player(dice=(2, 3, 4, 5), tricks=("both",)), player(dice=(1, 2, 3, 4, 5, 6)))

    state = go(state, Both(), Place(dice=(1, 6)))

    assert [side.supply for side in state.players] == [0, 0]
    assert options(state) == (Shanghai(),)
    assert decider(go(state, Shanghai())) == 0


# --- reroll -------------------------------------------------------------------------------------------------------


def test_reroll_asks_for_two_new_dice_under_a_new_key() -> None:
    """The second roll of the same turn; the card leaves the game."""
    after = go(rolled((2, 5), player(tricks=("reroll",))), Reroll())

    assert chance_key(after) == "roll/1/0/1/2"
    assert (after.dice, after.gone) == ((), cards("reroll"))


# --- unused -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["adjust", "both", "reroll"])
def test_a_trick_won_in_the_last_round_scores_one_point(kind: str) -> None:
    """It can no longer be used."""
    row = cards(kind, "dutch 1", "dutch 2", "dutch 3", "dutch 4", "german 1")
    state = replace(to_move(player(dice=(1, 1)), player(tricks=("adjust", "both")), round_=8), row=row)

    ended = go(state, Shanghai())

    assert GAME.outcome(ended).scores == (1, 2)
    assert GAME.outcome(ended).ranks == (1, 0)


@pytest.mark.parametrize("trick", [Adjust(die=2, to=1), Both(), Reroll(), Joker(card="both", nation="dutch")])
def test_one_card_is_spent_and_none_is_lost(trick: Action) -> None:
    """Of two cards of a kind one stays."""
    held = ("adjust", "adjust", "both", "both", "reroll", "reroll")
    state = rolled((2, 5), player(tricks=held, sailors=("dutch 3",)))

    after = go(state, trick)

    assert len(after.players[0].tricks) == 5
    assert after.players[0].has_used_trick
    assert every_card(after) == every_card(state)
    assert after.players[1] == Player()


A, B = 0, 1
Dice = tuple[int, ...]
DICE = st.lists(st.integers(1, 6), max_size=6).map(tuple)


def counts(dice: Dice) -> Dice:
    return tuple(dice.count(number) for number in range(1, 7))


def won(first: Dice, second: Dice) -> list[int | None]:
    return list(card_winners((counts(first), counts(second))))


def scores(first: Player, second: Player) -> tuple[int | Fraction, ...]:
    return GAME.outcome(replace(to_move(first, second), phase="over")).scores


def test_the_example_of_the_rule_text() -> None:
    """Anna 2, 2, 3, 6, 6 and Bernd 3, 4, 5, 6, 6.

    The French text prints Anna's dice as 2, 2, 3, 6: a misprint, for it counts two of her dice on the sixth card.
    """
    assert won((2, 2, 3, 6, 6), (3, 4, 5, 6, 6)) == [None, A, None, B, B, B]


@pytest.mark.parametrize(
    ("first", "second", "number", "winner"),
    [
        pytest.param((1, 1), (1, 1), 4, None, id="no dice: out of the game"),
        pytest.param((4,), (1, 1), 4, A, id="only dice of one player: his"),
        pytest.param((4, 4), (4, 3, 3, 5, 5), 4, A, id="more dice win, whatever lies beside"),
        pytest.param((4, 3), (4, 2), 4, A, id="equal dice: more pips beside win, lower number"),
        pytest.param((4, 1), (4, 5), 4, B, id="equal dice: more pips beside win, higher number"),
        pytest.param((4, 3, 5), (4, 5), 4, A, id="both neighbours are summed"),
        pytest.param((4, 3, 3), (4, 5), 4, A, id="each die beside counts: two 3s beat one 5"),
        pytest.param((4, 4, 3), (4, 4, 3), 4, None, id="equal again: out of the game"),
        pytest.param((4,), (4,), 4, None, id="nothing beside on either side: out of the game"),
        pytest.param((4, 2, 2), (4, 6, 6), 4, None, id="two steps away is no neighbour"),
        pytest.param((1, 2), (1, 6, 6), 1, A, id="card 1 has one neighbour, and 6 is not it"),
        pytest.param((6, 5), (6, 1, 1), 6, A, id="card 6 has one neighbour, and 1 is not it"),
        pytest.param((2, 1, 1, 1), (2, 3), 2, None, id="three 1s equal one 3"),
    ],
)
def test_each_line_of_the_awards(first: Dice, second: Dice, number: int, winner: int | None) -> None:
    """The card of that number goes to the winner."""
    assert won(first, second)[number - 1] == winner


@given(first=DICE, second=DICE)
def test_the_awards_by_other_means(first: Dice, second: Dice) -> None:
    """A second reading of the text, from the lists of dice: the larger pair of (dice on it, pips beside it) wins."""
    for number in range(1, 7):
        mine, theirs = (
            (dice.count(number), sum(die for die in dice if abs(die - number) == 1)) for dice in (first, second)
        )
        nobody = mine == theirs or mine[0] == theirs[0] == 0

        assert won(first, second)[number - 1] == (None if nobody else A if mine > theirs else B)


def test_the_scoring_example_of_the_rule_text() -> None:
    """Anna 7 (her Spaniards), Bernd 8: 6 for the Americans, 1 for the Chinese, 1 for the unused trick."""
    anna = player(
        sailors=("spanish 3", "french 1", "french 4", "american 1", "american 2", "american 3", "chinese 1"),
        jokers=(("adjust", "spanish"), ("reroll", "spanish")),
    )
    bernd = player(
        sailors=("french 2", "french 3", "american 3", "american 4", "chinese 3", "chinese 3", "chinese 4"),
        tricks=("both",),
    )

    assert scores(anna, bernd) == (7, 8)
    assert scores(bernd, anna) == (8, 7)


@pytest.mark.parametrize(
    ("first", "second", "points"),
    [
        pytest.param(player(), player(), (0, 0), id="nothing"),
        pytest.param(player(sailors=("dutch 4", "dutch 1")), player(), (5, 0), id="alone: his own sum"),
        pytest.param(
            player(sailors=("dutch 4",)), player(sailors=("dutch 1",)), (1, 0), id="stronger: the other's sum"
        ),
        pytest.param(player(sailors=("dutch 1",)), player(sailors=("dutch 4",)), (0, 1), id="the same for seat 1"),
        pytest.param(
            player(sailors=("dutch 1", "dutch 2")), player(sailors=("dutch 3",)), (0, 0), id="equal sums: nobody"
        ),
        pytest.param(
            player(sailors=("dutch 1",), jokers=(("both", "dutch"),)),
            player(sailors=("dutch 2",)),
            (2, 0),
            id="a joker makes the crew stronger",
        ),
        pytest.param(
            player(sailors=("dutch 1",), jokers=(("both", "dutch"),)),
            player(sailors=("dutch 4",)),
            (0, 3),
            id="a joker is worth two to the opponent",
        ),
        pytest.param(player(tricks=("both", "adjust")), player(tricks=("reroll",)), (2, 1), id="unused tricks"),
        pytest.param(
            player(sailors=("dutch 4", "german 1")), player(sailors=("dutch 2", "german 3")), (2, 1), id="each nation"
        ),
    ],
)
def test_each_line_of_the_scoring(first: Player, second: Player, points: tuple[int, int]) -> None:
    """Points of seat 0 and seat 1."""
    assert scores(first, second) == points
