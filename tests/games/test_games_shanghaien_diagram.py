"""Shanghaien: a position as text and as a picture, as people see it."""

from xml.etree import ElementTree as ET

import pytest
from games_positions import FRESH, GAME, act, player, rolled, to_move
from msgspec.structs import replace

from arena.games.shanghaien.actions import Both, Shanghai
from arena.games.shanghaien.cards import NATIONS
from arena.games.shanghaien.state import State

SVG = "{http://www.w3.org/2000/svg}"
MIDST = rolled(
    (2, 5),
    player(dice=(2, 6, 6), tricks=("both", "adjust", "adjust"), sailors=("dutch 3", "american 1")),
    player(dice=(1,), jokers=(("reroll", "german"),), sailors=("german 4",), used=True),
)


def test_a_position_reads_as_a_table() -> None:
    """Each die stands as its number beside its card, seat 1 above and seat 0 below."""
    assert GAME.describe(MIDST).splitlines() == [
        "round 1 of 8, seat 0 rolled 2 and 5 and must place a die",
        "  seat 1       1",
        "  card     american 1  american 2  american 3  american 3  american 4   french 1",
        "  number      (1)         (2)         (3)         (4)         (5)         (6)",
        "  seat 0                   2                                              6 6",
        "seat 0: 3 dice in supply; tricks: both, adjust x2; sailors: american 1, dutch 3",
        "seat 1: 5 dice in supply; tricks: none, one used this round; sailors: german 6",
    ]


def test_the_numbers_run_from_the_end_that_was_chosen() -> None:
    """From the right, the dice on 6 lie on the first card."""
    lines = GAME.describe(replace(MIDST, one_at="right")).splitlines()

    assert lines[3].split()[1:] == ["(6)", "(5)", "(4)", "(3)", "(2)", "(1)"]
    assert lines[4].split()[2:] == ["6", "6", "2"]


@pytest.mark.parametrize(
    ("state", "title"),
    [
        (FRESH, "round 1 of 8, the deck is shuffled"),
        (to_move(player(), round_=3), "round 3 of 8, seat 0 to move"),
        (act(MIDST, Both()), "round 1 of 8, seat 0 rolled 2 and 5 and must place both dice"),
        (
            act(to_move(player(dice=(1, 2)), player(tricks=("both",)), round_=8), Shanghai()),
            "the game is over: seat 0 has 3 points, seat 1 has 1",
        ),
    ],
)
def test_the_title_says_what_comes_next(state: State, title: str) -> None:
    """Or how the game ended."""
    assert GAME.describe(state).splitlines()[0] == title
    assert title in GAME.picture(state)


def test_nothing_in_the_picture_overlaps_or_leaves_it() -> None:
    """With all six dice of both players on one card; text lines are apart and fit by an estimate of their width."""
    crowded = replace(MIDST, players=(player(dice=(6,) * 6), player(dice=(1,) * 6)))
    crews = player(sailors=tuple(f"{nation} {value}" for nation in NATIONS for value in (1, 2, 3, 4)))

    for state in (crowded, to_move(crews)):
        drawing = ET.fromstring(GAME.picture(state))
        boxes = [
            tuple(float(shape.get(name, "0")) for name in ("x", "y", "width", "height"))
            for shape in drawing.findall(f"{SVG}rect")[1:]
        ]
        lines = [
            (float(text.get("y", "0")), text) for text in drawing.findall(f"{SVG}text") if not text.get("text-anchor")
        ]

        for index, (x, y, width, height) in enumerate(boxes):
            assert x >= 0
            assert x + width <= 640
            assert y + height <= 300
            for left, top, wide, high in boxes[:index]:
                assert x >= left + wide or left >= x + width or y >= top + high or top >= y + height
        for y, text in lines:
            assert 20 + 0.5 * float(text.get("font-size", "0")) * len(text.text or "") <= 640
            assert all(y == other or abs(y - other) >= 18 for other, _ in lines)
            assert all(not top - 3 < y < top + high + 10 for _, top, _, high in boxes)
