"""Shanghaien: every refusal is a sentence that names what was found."""

import pytest
from games_positions import FIRST, GAME, NUMBERED, SECOND, UNNUMBERED, do, options, player, refused, rolled, to_move
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.errors import BotFault, MalformedReply
from arena.games.api import Json
from arena.games.shanghaien.actions import Place
from arena.games.shanghaien.state import Player, State

HOLDER = player(tricks=("adjust", "both"), sailors=("dutch 3",))
OPEN = replace(rolled((2, 5), player()), one_at=None)
BEGUN = rolled((2, 5), player())
RIGHT = replace(BEGUN, to_place=2)
TO_ROLL, READY = to_move(HOLDER), rolled((2, 5), HOLDER)


@pytest.mark.parametrize(
    ("state", "raw", "expected"),
    [
        (BEGUN, do("roll"), "roll begins a turn; this one has begun, the dice show 2 and 5: place, or a trick"),
        (BEGUN, do("shanghai"), "shanghai begins a turn; this one has begun, the dice show 2 and 5: place, or a trick"),
        (
            to_move(player(dice=(1, 2, 3, 4, 5))),
            do("roll"),
            "a roll needs 2 dice in the supply, found 1; shanghai is compulsory",
        ),
        (to_move(player(dice=(4,))), do("shanghai"), "shanghai needs 2 own dice placed in this round, found 1"),
        (TO_ROLL, do("place", dice=[2]), "place comes after a roll; now choose roll or shanghai"),
        (TO_ROLL, do("both"), "both comes after a roll; now choose roll or shanghai"),
        (TO_ROLL, do("joker", card="both", nation="dutch"), "joker comes after a roll; now choose roll or shanghai"),
        (BEGUN, do("place", dice=[2, 5]), "found 2 dice in `dice`, but 1 must be placed"),
        (BEGUN, do("place", dice=[]), "found 0 dice in `dice`, but 1 must be placed"),
        (
            replace(BEGUN, to_place=2, must_place=2),
            do("place", dice=[2]),
            "found 1 dice in `dice`, but 2 must be placed",
        ),
        (RIGHT, do("place", dice=[2, 2, 5]), "found 3 dice in `dice`, but 1 or 2 can be placed"),
        (RIGHT, do("place", dice=[4]), "the dice show 2 and 5, so 4 cannot be placed"),
        (BEGUN, do("place", dice=[4]), "the dice show 2 and 5, so 4 cannot be placed"),
        (BEGUN, do("place", dice=[7]), "the dice show 2 and 5, so 7 cannot be placed"),
        (RIGHT, do("place", dice=[5, 5]), "the dice show 2 and 5, so 5 and 5 cannot be placed"),
        (BEGUN, do("place", dice=[2], one="right"), NUMBERED),
        (OPEN, do("place", dice=[2]), UNNUMBERED),
        (OPEN, do("place", dice=[3], one="left"), "the dice show 2 and 5, so 3 cannot be placed"),
        (
            rolled((2, 5), replace(HOLDER, has_used_trick=True)),
            do("both"),
            "both: a trick has been used in this round; each player may use one per round",
        ),
        (READY, do("reroll"), 'no trick "reroll" to play; you hold adjust, both'),
        (BEGUN, do("adjust", die=2, to=3), 'no trick "adjust" to play; you hold none'),
        (READY, do("joker", card="reroll", nation="dutch"), 'no trick "reroll" to play; you hold adjust, both'),
        (
            READY,
            do("joker", card="both", nation="german"),
            "a joker needs a sailor card of its nation, and you hold none that is german",
        ),
        (
            READY,
            do("joker", card="both", nation="swiss"),
            (
                'there is no nation "swiss"; the nations are american, french, german, chinese, dutch, turkish,'
                " spanish, italian"
            ),
        ),
        (
            rolled((2, 6), HOLDER),
            do("adjust", die=6, to=7),
            (
                "plays the trick adjust: turns the 6 into a 7 is not possible: the dice show 2 and 6;"
                " one may change by 1, within 1 to 6"
            ),
        ),
        (
            rolled((1, 6), HOLDER),
            do("adjust", die=3, to=4),
            (
                "plays the trick adjust: turns the 3 into a 4 is not possible: the dice show 1 and 6;"
                " one may change by 1, within 1 to 6"
            ),
        ),
        (replace(BEGUN, phase="over"), do("place", dice=[2]), "place: no action is asked for now"),
    ],
)
def test_a_refusal_names_what_stands_against_the_action(state: State, raw: Json, expected: str) -> None:
    """One sentence for each way to be wrong."""
    assert refused(state, raw) == expected


def test_the_wrong_seat_is_told_who_is_to_move() -> None:
    """Whatever it wants to do."""
    assert refused(BEGUN, do("place", dice=[2]), seat=SECOND) == "seat 1 is not to move; seat 0 is"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, "expected an object, found null"),
        ({}, 'the field "do" is missing'),
        ({"do": None}, "do: expected text, found null"),
        (do("place"), 'the field "dice" is missing'),
        (do("place", dice=4), "dice: expected a list, found 4"),
        (do("place", dice=[True]), "dice[0]: expected a whole number, found true"),
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
    """And the one that it resembles."""
    with pytest.raises(MalformedReply) as caught:
        GAME.parse(BEGUN, FIRST, do("rol"))

    assert caught.value.message.startswith(
        'not an action of shanghaien: do: unknown value "rol"; known: roll, shanghai'
    )
    assert caught.value.message.endswith('; did you mean "roll"?')


def test_the_order_of_two_dice_is_free() -> None:
    """[5, 2] and [2, 5] are the same placement."""
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
