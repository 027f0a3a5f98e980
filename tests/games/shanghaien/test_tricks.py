"""Shanghaien: dirty tricks, one case per line of the rule text ("Schmutzige Tricks")."""

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
    go,
    options,
    player,
    replace,
    rolled,
    to_move,
    tricks,
)

from arena.games.shanghaien.actions import Adjust, Both, Joker, Place, Roll, Shanghai
from arena.games.shanghaien.cards import card_winners
from arena.games.shanghaien.state import Player

PLAIN = (Place(dice=(2,)), Place(dice=(5,)))


# --- when ---------------------------------------------------------------------------------------------------------


def test_a_trick_won_in_a_round_can_be_used_from_the_next_round_on() -> None:
    """A trick belongs to nobody while it lies in the row."""
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


def test_a_joker_counts_as_two_sailors_for_good() -> None:
    """The card leaves the tricks and is not gone; then one die is placed as usual."""
    state = rolled((2, 5), player(tricks=("reroll", "both"), sailors=("dutch 3",)))

    after = go(state, Joker(card="reroll", nation="dutch"))

    side = after.players[0]
    assert side.strength == (0, 0, 0, 0, 5, 0, 0, 0)
    assert (side.tricks, side.jokers) == (cards("both"), ((cards("reroll")[0], 4),))
    assert after.gone == ()
    assert options(after) == PLAIN


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


def test_the_view_tells_a_right_from_a_duty() -> None:
    """The view has `to_place` at most and `must_place` at least."""
    state = go(rolled((5, 2), player(tricks=("both",))), Both())

    views = [GAME.observe(each, FIRST) for each in (state, go(state, Place(dice=(2, 5))))]

    assert [(view["to_place"], view["must_place"]) for view in views] == [(2, 1), (1, 1)]


# --- unused -------------------------------------------------------------------------------------------------------


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
