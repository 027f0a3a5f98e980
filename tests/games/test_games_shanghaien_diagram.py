"""Shanghaien: a position as text and as a picture, as people see it."""

from xml.etree import ElementTree as ET

import pytest
from games_positions import FRESH, GAME, go, player, rolled, to_move
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
        (go(MIDST, Both()), "round 1 of 8, seat 0 rolled 2 and 5 and may place both dice"),
        (
            replace(MIDST, to_place=2, must_place=2),
            "round 1 of 8, seat 0 rolled 2 and 5 and must place both dice",
        ),
        (
            go(to_move(player(dice=(1, 2)), player(tricks=("both",)), round_=8), Shanghai()),
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
            end = 20 + 0.5 * float(text.get("font-size", "0")) * len(text.text or "")
            assert 20 + 0.5 * float(text.get("font-size", "0")) * len(text.text or "") <= 640
            assert all(y == other or abs(y - other) >= 18 for other, _ in lines)
            assert all(not top - 3 < y < top + high + 10 for left, top, _, high in boxes if left < end + 8)


def test_the_end_is_told_nation_by_nation() -> None:
    """What each seat has, what it scores for it, and the sum; in words and in a picture without a row."""
    first = player(dice=(1, 2), tricks=("both",), sailors=("german 4", "dutch 1"))
    second = player(sailors=("german 3", "french 2"))
    state = go(to_move(first, second, round_=8), Shanghai())

    lines = GAME.describe(state).splitlines()
    drawing = ET.fromstring(GAME.picture(state))

    assert "german           4       3           3         -" in lines[4]
    assert [line.split() for line in lines[-2:]] == [["tricks", "1", "-", "1", "-"], ["together", "8", "2"]]
    texts = [text.text for text in drawing.findall(f"{SVG}text")]
    assert texts[texts.index("german") :][:5] == ["german", "4", "3", "3", "-"]
    assert texts[-3:] == ["together", "8", "2"]
    assert all(float(text.get("y", "0")) < 300 for text in drawing.findall(f"{SVG}text"))


def test_the_dice_just_rolled_lie_in_the_corner() -> None:
    """Those that were placed are in the row; before a roll there are none."""

    def faces(state: State) -> list[str | None]:
        return [text.text for text in ET.fromstring(GAME.picture(state)).findall(f"{SVG}text") if text.get("y") == "21"]

    assert faces(MIDST) == ["2", "5"]
    assert faces(to_move(player())) == []


def test_a_long_line_goes_on_below() -> None:
    """At 100 columns, behind a comma; and one die is a die."""
    crew = player(dice=(6,) * 5, sailors=tuple(f"{nation} 4" for nation in NATIONS))

    lines = GAME.describe(to_move(crew)).splitlines()[5:7]

    assert lines[0].startswith("seat 0: 1 die in supply; tricks: none; sailors: american 4,")
    assert lines[0].endswith(",")
    assert lines[1].startswith("        ")
    assert max(map(len, lines)) <= 100
    assert " ".join(line.strip() for line in lines).endswith("spanish 4, italian 4")
