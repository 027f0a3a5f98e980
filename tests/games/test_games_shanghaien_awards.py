"""Shanghaien: the known answers of the rule texts, and each line of the awards and of the scoring."""

from fractions import Fraction

import pytest
from games_positions import GAME, player, to_move
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.games.shanghaien.cards import card_winners, final_scores, neighbour_pips
from arena.games.shanghaien.state import Player

A, B = 0, 1
Dice = tuple[int, ...]
DICE = st.lists(st.integers(1, 6), max_size=6).map(tuple)
STRENGTHS = st.tuples(*[st.integers(0, 12)] * 8)


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
def test_the_awards_do_not_prefer_a_seat(first: Dice, second: Dice) -> None:
    """With the dice swapped the winners are swapped."""
    swapped = [None if winner is None else 1 - winner for winner in won(first, second)]

    assert won(second, first) == swapped


@given(first=DICE, second=DICE)
def test_the_awards_by_other_means(first: Dice, second: Dice) -> None:
    """A second reading of the text, from the lists of dice: the larger pair of (dice on it, pips beside it) wins."""
    for number in range(1, 7):
        mine, theirs = (
            (dice.count(number), sum(die for die in dice if abs(die - number) == 1)) for dice in (first, second)
        )
        nobody = mine == theirs or mine[0] == theirs[0] == 0

        assert won(first, second)[number - 1] == (None if nobody else A if mine > theirs else B)


def test_pips_are_dice_times_number() -> None:
    """Two 2s and one 4 beside the 3 are 8 pips; the ends have one neighbour."""
    placed = counts((1, 2, 2, 4, 5))

    assert [neighbour_pips(placed, index) for index in range(6)] == [4, 1, 8, 5, 4, 5]


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


@given(first=STRENGTHS, second=STRENGTHS, tricks=st.tuples(st.integers(0, 8), st.integers(0, 8)))
def test_the_scoring_does_not_prefer_a_seat(first: Dice, second: Dice, tricks: tuple[int, int]) -> None:
    """With the sides swapped the points are swapped."""
    here = final_scores((first, second), tricks)
    there = final_scores((second, first), tricks[::-1])

    assert there == here[::-1]
