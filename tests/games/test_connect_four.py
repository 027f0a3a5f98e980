"""Connect Four: what a disc does, and who has won."""

from fractions import Fraction

import pytest
from support.golden import Golden

from arena.errors import BotFault
from arena.games.api import Outcome, Over, Seat
from arena.games.connect_four import GAME, Drop, State


def dropped(columns: str) -> State:
    """The state after discs in these columns, seat 0 first."""
    state = GAME.setup({}, 2)
    for column in columns:
        assert not isinstance(GAME.turn(state), Over), "the game was over before"
        state = GAME.apply(state, {state.to_move: GAME.parse(state, state.to_move, {"column": int(column)})})
    return state


@pytest.mark.parametrize(
    ("columns", "scores"),
    [
        ("0101010", (1, 0)),
        ("60101010", (0, 1)),
    ],
    ids=["first seat", "second seat"],
)
def test_four_in_a_row_win(columns: str, scores: tuple[int, int]) -> None:
    """Four in a row end the game at once."""
    state = dropped(columns)

    assert isinstance(GAME.turn(state), Over)
    assert GAME.outcome(state).scores == scores


@pytest.mark.parametrize("columns", ["000111", "5566001", "30303054545", "600615243"])
def test_three_in_a_row_or_four_around_the_edge_do_not(columns: str) -> None:
    """The last disc of one column and the first ones of the next are no row."""
    assert not isinstance(GAME.turn(dropped(columns)), Over)


def test_every_row_of_four_wins_and_there_are_69() -> None:
    """Counted on squares, without the trick with the bits."""
    steps = ((1, 0), (0, 1), (1, 1), (1, -1))
    starts = [
        (x, y, d, e) for x in range(7) for y in range(6) for d, e in steps if x + 3 * d < 7 and 0 <= y + 3 * e < 6
    ]

    assert len(starts) == 69
    for x, y, d, e in starts:
        discs = sum(1 << 7 * (x + d * i) + y + e * i for i in range(4))
        assert isinstance(GAME.turn(State((discs, 0), Seat(1))), Over)


def test_a_full_board_without_a_row_is_a_draw() -> None:
    """A full board without four in a row gives half a point to each."""
    state = dropped("330254564223355224331121550404466660106011")

    assert isinstance(GAME.turn(state), Over)
    assert GAME.outcome(state) == Outcome(scores=(Fraction(1, 2), Fraction(1, 2)), ranks=(0, 0))
    assert GAME.legal(state, Seat(0)) == ()


def test_the_picture_marks_the_last_disc_or_the_four() -> None:
    """One dark edge after each disc, four at the end; columns are numbered from 1, discs told apart by a letter."""
    counts = [GAME.picture(dropped("0101010"[:length])).count('r="17.64"') for length in range(8)]
    drawing = GAME.picture(dropped("01"))

    assert counts == [0, 1, 1, 1, 1, 1, 1, 4]
    assert [number for number in range(9) if f">{number}</text>" in drawing] == [*range(1, 8)]
    assert drawing.count(">x</text>") == drawing.count(">o</text>") == 1


def test_a_full_column_takes_no_disc(golden: Golden) -> None:
    """A full column is not listed, and is refused."""
    state = dropped("333333")

    assert Drop(3) not in GAME.legal(state, Seat(0))
    with golden.raises(BotFault):
        GAME.parse(state, Seat(0), {"column": 3})
