"""Shanghaien: every refusal is a sentence that names what was found."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.games_positions import (
    FIRST,
    FRESH,
    GAME,
    NUMBERED,
    SECOND,
    UNNUMBERED,
    do,
    go,
    options,
    player,
    refused,
    replace,
    rolled,
    to_move,
)

from arena.errors import BotFault, MalformedReply
from arena.games.api import Json, picture_with_names
from arena.games.shanghaien.actions import Both, Place, Shanghai
from arena.games.shanghaien.cards import NATIONS
from arena.games.shanghaien.state import Player, State

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


def test_the_wrong_seat_is_told_who_is_to_move() -> None:
    """The refusal is the same whatever the seat wants to do."""
    assert refused(BEGUN, do("place", dice=[2]), seat=SECOND) == "seat 1 is not to move; seat 0 is"


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
def test_a_form_that_is_no_action_is_malformed(raw: Json, expected: str) -> None:
    """The message says where, the hint shows what an action looks like."""
    with pytest.raises(MalformedReply) as caught:
        GAME.parse(BEGUN, FIRST, raw)

    assert caught.value.message == f"not an action of shanghaien: {expected}"
    assert '{"do": "place", "dice": [4]}' in caught.value.hint


def test_a_misspelt_action_is_told_the_known_ones() -> None:
    """The refusal lists the known actions and the one that resembles it."""
    with pytest.raises(MalformedReply) as caught:
        GAME.parse(BEGUN, FIRST, do("rol"))

    assert caught.value.message.startswith(
        'not an action of shanghaien: do: unknown value "rol"; known: roll, shanghai'
    )
    assert caught.value.message.endswith('; did you mean "roll"?')


def test_the_order_of_two_dice_is_free() -> None:
    """[5, 2] and [2, 5] are one placement."""
    state = RIGHT

    assert GAME.parse(state, FIRST, do("place", dice=[5, 2])) == Place(dice=(2, 5))


ACTIONS = st.one_of(
    st.fixed_dictionaries({"do": st.sampled_from(["roll", "shanghai", "both", "reroll"])}),
    st.fixed_dictionaries(
        {"do": st.just("place"), "dice": st.lists(st.integers(0, 7), max_size=3)},
        optional={"one": st.sampled_from(["left", "right", None])},
    ),
    st.fixed_dictionaries({"do": st.just("adjust"), "die": st.integers(0, 7), "to": st.integers(0, 7)}),
    st.fixed_dictionaries(
        {
            "do": st.just("joker"),
            "card": st.sampled_from(["adjust", "both", "reroll", "dutch 3"]),
            "nation": st.sampled_from(["dutch", "german", "swiss"]),
        }
    ),
)
PLAYERS = st.builds(
    player,
    dice=st.lists(st.integers(1, 6), max_size=6).map(tuple),
    tricks=st.sets(st.sampled_from(["adjust", "both", "reroll"])).map(lambda kinds: tuple(sorted(kinds))),
    sailors=st.sampled_from([(), ("dutch 3",)]),
    used=st.booleans(),
)


@given(raw=ACTIONS, side=PLAYERS, dice=st.tuples(st.integers(1, 6), st.integers(1, 6)), has_rolled=st.booleans())
def test_every_well_formed_action_is_legal_or_refused(
    raw: dict[str, Json], side: Player, dice: tuple[int, int], has_rolled: bool
) -> None:
    """In any position; nothing else comes out of `parse`."""
    state = rolled(dice, side) if has_rolled else to_move(side)

    try:
        action = GAME.parse(state, FIRST, raw)
    except BotFault as fault:
        sentence_found, action = fault.message, None
    else:
        sentence_found = ""

    assert action in options(state) if action else len(sentence_found) > 20


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
            "the game is over: 3 points for seat 0, 1 for seat 1",
        ),
    ],
)
def test_the_title_says_what_comes_next(state: State, title: str) -> None:
    """The title says what comes next, or how the game ended."""
    assert GAME.describe(state).splitlines()[0] == title
    assert title in GAME.picture(state)


def test_nothing_in_the_picture_overlaps_or_leaves_it() -> None:
    """With all dice of both players on one card, text lines are apart and fit by an estimate of their width."""
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


def test_a_picture_has_names_and_the_expansions_in_force() -> None:
    """Hostile names are text; a long one loses its middle. Each expansion in force has a line below."""
    state = GAME.setup({"expansions": ["doubles"]}, 2)
    hostile = ("<b>ann</b>", "a-very-long-name-of-a-bot")

    drawing = ET.fromstring(picture_with_names(GAME, state, hostile))

    texts = [text.text or "" for text in drawing.findall(f"{SVG}text")]
    assert any(text.startswith("<b>ann</b>: 6 dice") for text in texts)
    assert any(text.startswith("a-very-…of-a-bot: 6 dice") for text in texts)
    assert texts[-1] == "the doubles card lies in the middle"
    assert drawing.get("height") == "320"
