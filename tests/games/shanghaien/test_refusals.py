"""Shanghaien: every refusal is a sentence that names what was found."""

from xml.etree import ElementTree as ET

import pytest
from support.games_positions import (
    FIRST,
    GAME,
    NUMBERED,
    SECOND,
    UNNUMBERED,
    do,
    player,
    refused,
    replace,
    rolled,
    to_move,
)
from support.golden import Golden

from arena.errors import MalformedReply
from arena.games.api import Json, picture_with_names
from arena.games.shanghaien.actions import Place
from arena.games.shanghaien.cards import NATIONS
from arena.games.shanghaien.state import State

HOLDER = player(tricks=("adjust", "both"), sailors=("dutch 3",))
OPEN = replace(rolled((2, 5), player()), one_at=None)
BEGUN = rolled((2, 5), player())
RIGHT = replace(BEGUN, to_place=2)
TO_ROLL, READY = to_move(HOLDER), rolled((2, 5), HOLDER)


BEGINS = "begins a turn; this one has begun, the dice show 2 and 5: place, or a trick"
FIRST_ROLL = "comes after a roll; now choose roll or shanghai"
NO_CHANGE = "is not possible: the dice show 2 and 6; one may change by 1, within 1 to 6"


@pytest.mark.parametrize(
    ("state", "raw", "end"),
    [
        (BEGUN, do("roll"), f"roll {BEGINS}"),
        (to_move(player(dice=(1, 2, 3, 4, 5))), do("roll"), "found 1; shanghai is compulsory"),
        (to_move(player(dice=(4,))), do("shanghai"), "shanghai needs 2 own dice placed in this round, found 1"),
        (TO_ROLL, do("place", dice=[2]), f"place {FIRST_ROLL}"),
        (BEGUN, do("place", dice=[2, 5]), "found 2 dice in `dice`, but 1 must be placed"),
        (
            replace(BEGUN, to_place=2, must_place=2),
            do("place", dice=[2]),
            "1 dice in `dice`, but 2 must be placed",
        ),
        (BEGUN, do("place", dice=[7]), "the dice show 2 and 5, so 7 cannot be placed"),
        (BEGUN, do("place", dice=[2], one="right"), NUMBERED),
        (OPEN, do("place", dice=[2]), UNNUMBERED),
        (OPEN, do("place", dice=[3], one="left"), "the dice show 2 and 5, so 3 cannot be placed"),
        (rolled((2, 5), replace(HOLDER, has_used_trick=True)), do("both"), "each player may use one per round"),
        (BEGUN, do("adjust", die=2, to=3), 'no trick "adjust" to play; you hold none'),
        (READY, do("joker", card="both", nation="german"), "and you hold none that is german"),
        (READY, do("joker", card="both", nation="swiss"), f"the nations are {', '.join(NATIONS)}"),
        (
            rolled((2, 6), HOLDER),
            do("adjust", die=6, to=7),
            f"adjust: turns the 6 into a 7 {NO_CHANGE}",
        ),
        (replace(BEGUN, phase="over"), do("place", dice=[2]), "place: no action is asked for now"),
    ],
)
def test_a_refusal_names_what_stands_against_the_action(state: State, raw: Json, end: str) -> None:
    """Each way to be wrong has a sentence of its own."""
    assert refused(state, raw).endswith(end)


def test_the_wrong_seat_is_told_who_is_to_move(golden: Golden) -> None:
    """The refusal is the same whatever the seat wants to do."""
    golden(refused(BEGUN, do("place", dice=[2]), seat=SECOND))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, "expected an object, found null"),
        (do("place"), 'the field "dice" is missing'),
        (do("place", dice=[4.0]), "dice[0]: expected a whole number, found 4.0"),
        (do("place", dice=[4], one="top"), 'one: unknown value "top"; known: left, right'),
        (do("roll", dice=[4]), 'unknown field "dice"; known: none'),
    ],
)
def test_a_form_that_is_no_action_is_malformed(raw: Json, expected: str, golden: Golden) -> None:
    """The message says where, the hint shows what an action looks like."""
    with pytest.raises(MalformedReply) as caught:
        GAME.parse(BEGUN, FIRST, raw)

    assert caught.value.message == f"not an action of shanghaien: {expected}"
    golden(caught.value.hint)


def test_the_order_of_two_dice_is_free() -> None:
    """[5, 2] and [2, 5] are one placement."""
    state = RIGHT

    assert GAME.parse(state, FIRST, do("place", dice=[5, 2])) == Place(dice=(2, 5))


SVG = "{http://www.w3.org/2000/svg}"
MIDST = rolled(
    (2, 5),
    player(dice=(2, 6, 6), tricks=("both", "adjust", "adjust"), sailors=("dutch 3", "american 1")),
    player(dice=(1,), jokers=(("reroll", "german"),), sailors=("german 4",), used=True),
)


def test_the_numbers_run_from_the_end_that_was_chosen() -> None:
    """With number 1 on the right, the dice on 6 lie on the first card."""
    lines = GAME.describe(replace(MIDST, one_at="right")).splitlines()

    assert lines[3].split()[1:] == ["(6)", "(5)", "(4)", "(3)", "(2)", "(1)"]
    assert lines[4].split()[2:] == ["6", "6", "2"]


def test_a_picture_has_names_and_the_expansions_in_force(golden: Golden) -> None:
    """Hostile names are text; a long one loses its middle. Each expansion in force has a line below."""
    state = GAME.setup({"expansions": ["doubles"]}, 2)
    hostile = ("<b>ann</b>", "a-very-long-name-of-a-bot")

    drawing = ET.fromstring(picture_with_names(GAME, state, hostile))

    texts = [text.text or "" for text in drawing.findall(f"{SVG}text")]
    assert any(text.startswith("<b>ann</b>: 6 dice") for text in texts)
    assert any(text.startswith("a-very-…of-a-bot: 6 dice") for text in texts)
    golden(texts[-1])
    assert drawing.get("height") == "320"
