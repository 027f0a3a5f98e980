"""The expansions: bad options and illegal actions, each refused with a sentence that names what was found."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.expansions_positions import (
    ALL,
    CAPTAIN,
    DOUBLES,
    NO_SHANGHAI,
    SHARKS,
    VARIANTS,
    played,
    rolled,
    table,
    unnumbered,
)
from support.games_positions import FIRST, GAME, NUMBERED, SECOND, UNNUMBERED, do, go, player, refused
from support.golden import Golden

from arena.errors import BotFault, MalformedReply, SpecError
from arena.games.api import Chance, Json, Seat
from arena.games.shanghaien.actions import Both, Place, Roll, Shanghai
from arena.games.shanghaien.expansions import EXPANSIONS
from arena.games.shanghaien.expansions.crazy_captain import Veto
from arena.games.shanghaien.expansions.doubles import RollOne
from arena.games.shanghaien.expansions.no_shanghai import RerollAll
from arena.games.shanghaien.state import State

KNOWN = "known: crazy_captain, no_shanghai, sharks, doubles"
IN_FORCE = ((CAPTAIN, SECOND),)
HOLDER = player(dice=(1, 2), tricks=("both",))
CALM = table(ALL, HOLDER, hands=((NO_SHANGHAI, SHARKS), ()))
WATCHED = table(ALL, HOLDER, hands=((CAPTAIN, SHARKS), ()), lying=IN_FORCE)
LAST = table(ALL, hands=((CAPTAIN,), ()), round_=8)
BANNED = table(ALL, HOLDER, lying=((NO_SHANGHAI, SECOND),))
ASKED = go(rolled(WATCHED, 2, 5), Place(dice=(2,)))
ROLLED = rolled(CALM, 2, 5)
EQUAL = go(CALM, Roll(), (4, 4))
OWN_EQUAL = go(table(ALL, HOLDER, hands=((DOUBLES,), ())), Roll(), (4, 4))
MANY = go(rolled(CALM, 2, 5), RerollAll(), (3, 3, 4, 6))
FIRST_MANY = go(unnumbered(rolled(table(ALL, hands=((NO_SHANGHAI,), ())), 2, 5)), RerollAll(), (3, 4))


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        (["shark"], f'expansions[0]: unknown expansion "shark"; {KNOWN}; did you mean "sharks"?'),
        (["doubles", "x"], f'expansions[1]: unknown expansion "x"; {KNOWN}'),
        (["sharks", "doubles", "sharks"], 'expansions[2]: "sharks" is given twice'),
        ("sharks", "expansions: expected a list, found 'sharks'"),
        ({"sharks": True}, "expansions: expected a list, found {'sharks': True}"),
        ([1], "expansions[0]: expected text, found 1; put it in quotes"),
    ],
)
def test_anything_but_a_list_of_known_expansions_is_refused(given_: Json, sentence: str) -> None:
    """Each at most once; the message says where it is wrong, and lists the known ones."""
    with pytest.raises(SpecError) as caught:
        GAME.setup({"expansions": given_}, 2)

    assert str(caught.value) == f"options of shanghaien: {sentence}"


@pytest.mark.parametrize("owner", ALL)
def test_an_action_of_an_expansion_that_is_off_is_refused(owner: str) -> None:
    """The bot is told which expansion it belongs to, whatever else is on."""
    for action in EXPANSIONS[owner].all_actions:
        for expansions in ((), tuple(name for name in ALL if name != owner)):
            sentence = refused(rolled(table(expansions, HOLDER), 2, 5), msgspec.to_builtins(action))
            assert sentence == f'"{action.tag}" belongs to the expansion {owner}, which is off in this match'


@pytest.mark.parametrize(
    ("state", "raw", "expected"),
    [
        (ROLLED, do("crazy_captain"), 'no trick "crazy_captain" to play; you hold both, no_shanghai, sharks'),
        (rolled(WATCHED, 2, 5), do("crazy_captain"), "the Crazy Captain of seat 1 is in force in this round"),
        (rolled(LAST, 2, 5), do("crazy_captain"), "the Crazy Captain cannot be played in round 8"),
        (CALM, do("allow"), '"allow": nothing is announced that you have the right to veto now'),
        (go(rolled(WATCHED, 2, 5), Both(), Veto()), do("both"), "both was vetoed in this turn"),
        (go(WATCHED, Shanghai(), Veto()), do("shanghai"), "shanghai was vetoed in this turn"),
        (BANNED, do("shanghai"), "shanghai is banned in this round until a player has fewer than 2 dice in the supply"),
        (CALM, do("reroll_all"), "reroll_all comes after a roll; now choose roll or shanghai"),
        (ROLLED, do("keep_back", die=2), '"keep_back" answers a roll of all dice, and there is none'),
        (MANY, do("keep_back", die=5), "a 5 cannot be kept back; the dice show 2 x 3, 1 x 4, 1 x 6"),
        (MANY, do("keep_back", die=3, one="left"), NUMBERED),
        (FIRST_MANY, do("keep_back", die=3), UNNUMBERED),
        (ROLLED, do("exchange", back=3), "no own die lies on number 3, so none can be taken back from there"),
        (ROLLED, do("exchange", back=-1), "there is no number -1; the numbers are 1 to 6"),
        (ROLLED, do("roll_one"), '"roll_one" answers a roll of two equal dice, and there is none'),
        (CALM, do("take_doubles"), '"take_doubles" answers a roll of two equal dice, and there is none'),
        (OWN_EQUAL, do("take_doubles"), "the doubles card is yours already; roll one die again"),
        (EQUAL, do("take_doubles", one="left"), NUMBERED),
        (go(unnumbered(CALM), Roll(), (4, 4)), do("take_doubles"), UNNUMBERED),
        (EQUAL, do("place", dice=[4]), "place does not answer the question doubles"),
        (go(EQUAL, RollOne()), do("take_doubles"), "take_doubles: no action is asked for now"),
    ],
)
def test_a_refusal_names_what_stands_against_the_action(state: State, raw: Json, expected: str) -> None:
    """Each way to be wrong has a sentence of its own."""
    assert refused(state, raw) == expected


@pytest.mark.parametrize("answer", ["veto", "allow"])
def test_nobody_answers_for_another_seat(answer: str, golden: Golden) -> None:
    """The mover cannot allow their own placement."""
    golden(refused(ASKED, {"do": answer}))
    golden(refused(rolled(WATCHED, 2, 5), {"do": answer}, seat=SECOND))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (do("exchange", back="3"), 'back: expected a whole number, found "3"'),
        (do("exchange", back=10**5000), "back: expected a whole number <= 9223372036854775807, found a number of"),
        (do("sharks"), 'do: unknown value "sharks"; known: roll, '),
        (do("\ud800"), 'do: unknown value "\\ud800"; known: roll, '),
    ],
)
def test_a_form_that_is_no_action_is_malformed(raw: Json, expected: str) -> None:
    """Numbers of a thousand digits too: no message has to print them."""
    with pytest.raises(MalformedReply) as caught:
        GAME.parse(ROLLED, FIRST, raw)

    assert expected in caught.value.message
    assert len(caught.value.message) < 400


PLAIN = "roll shanghai both reroll crazy_captain allow veto no_shanghai reroll_all feed doubles roll_one take_doubles"
RAW = st.one_of(
    st.fixed_dictionaries({"do": st.sampled_from(PLAIN.split())}),
    st.fixed_dictionaries({"do": st.just("exchange"), "back": st.integers(-1, 8)}),
    st.fixed_dictionaries({"do": st.just("adjust"), "die": st.integers(0, 7), "to": st.integers(0, 7)}),
    st.fixed_dictionaries(
        {
            "do": st.just("joker"),
            "card": st.sampled_from(["adjust", "both", "reroll", "sharks", "dutch 3"]),
            "nation": st.sampled_from(["dutch", "german", "swiss"]),
        }
    ),
    st.fixed_dictionaries(
        {"do": st.just("keep_back"), "die": st.integers(-1, 8)},
        optional={"one": st.sampled_from(["left", "right", None])},
    ),
    st.fixed_dictionaries(
        {"do": st.just("place"), "dice": st.lists(st.integers(0, 7), max_size=3)},
        optional={"one": st.sampled_from(["left", "right", None])},
    ),
)
STATES = [step.state for variant in VARIANTS for number in range(3) for step in played(variant, number)]


@given(raw=RAW, state=st.sampled_from(STATES), seat=st.sampled_from([FIRST, SECOND]))
def test_every_well_formed_action_is_legal_or_refused(raw: dict[str, Json], state: State, seat: Seat) -> None:
    """In any state of a play, also while luck is awaited; nothing else comes out of `parse`."""
    try:
        action, sentence = GAME.parse(state, seat, raw), ""
    except BotFault as fault:
        action, sentence = None, fault.message

    if action is None:
        assert 10 < len(sentence) < 400
    else:
        assert not isinstance(GAME.turn(state), Chance)
        assert action in (GAME.legal(state, seat) or ())
