"""Riff Raff: every refusal has a word for the program and a sentence that names what was found and what is allowed."""

import msgspec
import pytest
from msgspec.structs import replace
from support.golden import Golden
from support.riffraff_play import GAME, did, loaded, no_load, others_pass, played, start, under_way, with_pieces
from support.riffraff_play import raw_load as load

from arena.errors import BotFault, IllegalAction, MalformedReply
from arena.games.api import Json, Seat
from arena.games.riffraff.actions import Load, Reason
from arena.games.riffraff.scene import KINDS
from arena.games.riffraff.state import State

CARDS = start()
TIED_FIRST = played(CARDS, 10, 10, 2, 6)
TIED_BELOW = played(CARDS, 5, 5, 9, 1)
YARD = played(CARDS, 7, 3, 2, 1)
DECK = no_load(played(CARDS, 3, 7, 2, 1))
TWO = played(others_pass(loaded(YARD)), 1, 7, 3, 2)
SECOND = loaded(did(TWO, {"pieces": 2}))
ONE_RAT = with_pieces(YARD, 0, rat=1)
NAN, INF = float("nan"), float("inf")


def refused(state: State, raw: Json, seat: int | None = None) -> BotFault:
    """The fault of the seat that is to move, or of another one."""
    with pytest.raises(BotFault) as caught:
        GAME.parse(state, state.movers[0] if seat is None else Seat(seat), raw)
    return caught.value


HANG = load(DECK, "sailor", face="hang")
REFUSALS: dict[str, list[tuple[State, Json, str]]] = {
    Reason.NOT_IN_HAND: [
        (CARDS, {"card": 11}, "card 11 is not in your hand; it holds 1, 2, 3, 4, 5, 6, 7, 8, 9, 10"),
        (replace(CARDS, players=TWO.players), {"card": 7}, "it holds 2, 3, 4, 5, 6, 8, 9, 10"),
    ],
    Reason.NOT_A_CHOICE: [
        (TIED_FIRST, {"seat": 2}, "the highest card was played by seats 0 and 1"),
        (TIED_BELOW, {"seats": [0, 0]}, "each of seats 0 and 1 once; found 0, 0"),
        (TIED_BELOW, {"seats": []}, "found nothing"),
        (TIED_BELOW, {"seats": [0, 1] * 8}, "found 0, 1, 0, 1, 0, 1, 0, 1..."),
        (TWO, {"pieces": 3}, "1 or 2 pieces can be announced, not 3"),
    ],
    Reason.NOT_ASKED: [
        (CARDS, {"pass": True}, "found a pass, but a card is asked for now (phase card)"),
        (TIED_FIRST, {"seats": [0, 1]}, "found an order of seats, but the seat of the new captain"),
        (TWO, load(YARD), "found a load, but an announcement"),
        (YARD, {"pieces": 2}, "only 1 piece can be loaded in this turn: nothing lies on area 7; now load it"),
        (DECK, {"pieces": 2}, "area 3 is a part of the deck"),
        (SECOND, {"pieces": 1}, "1 piece left; now load it"),
    ],
    Reason.NOT_IN_SUPPLY: [
        (ONE_RAT, load(YARD, "crate"), "you hold no crate; your supply is rat 1"),
        (YARD, load(YARD) | {"kind": "monkey"}, f'there is no kind "monkey"; the kinds are {", ".join(KINDS)}'),
    ],
    Reason.BAD_FACE: [
        (YARD, load(YARD, "chest", face="hang"), 'no face "hang"; it can be laid flat, side, end'),
        (DECK, HANG, 'no face "hang" on area 3, a part of the deck; it can be laid lying'),
        (YARD, load(YARD, "rat", face="\ud800"), 'no face "\\ud800"; it can be laid flat, side'),
    ],
    Reason.OUTSIDE_AREA: [
        (YARD, load(YARD, u_mm=9.1), "u 9.1, v 46 is outside area 7, where"),
        (DECK, load(DECK, v_mm=-9), "u from -96 to -4, v from 2 to 44 mm"),
    ],
    Reason.INTO_OTHER_AREA: [
        (YARD, load(YARD, "crate", v_mm=6), "reaches 8.0 mm over v = 0 into another area; it needs v 14 or more"),
        (
            DECK,
            load(DECK, "plank", u_mm=-20, yaw_deg=0),
            "25.0 mm over u = 0 into another area; it needs u -45",
        ),
        (DECK, load(DECK, "plank", u_mm=-50, yaw_deg=90), "v 45 or more, which is outside this area: turn it"),
    ],
    Reason.BAD_NUMBER: [
        (YARD, load(YARD, u_mm=NAN), "`u_mm` must be a finite number, found nan"),
        (YARD, load(YARD, yaw_deg=-360.5), "from -360 to 360, found -360.5"),
        (YARD, load(YARD, drop_mm=20.1), "from 0 to 20, found 20.1"),
        (YARD, load(YARD, hands_mm=[[0, 0]] * 3), "3 hands; you have 2"),
        (YARD, load(YARD, hands_mm=[[0, 0], [1, 1000.1]]), "both must be from -1000 to 1000"),
        (YARD, load(YARD, hands_mm=[[NAN, 0]]), "a hand at x nan, y 0"),
    ],
}
CASES = [(reason, *case) for reason, cases in REFUSALS.items() for case in cases]


@pytest.mark.parametrize(("reason", "state", "raw", "words"), CASES, ids=[each[3][:40] for each in CASES])
def test_an_illegal_action_is_refused_with_its_reason(reason: str, state: State, raw: Json, words: str) -> None:
    """The sentence says what was found and what is allowed; the state is as before."""
    before = repr(state)

    fault = refused(state, raw)

    assert isinstance(fault, IllegalAction)
    assert fault.reason == reason
    assert words in fault.message
    assert repr(state) == before


@pytest.mark.parametrize(
    ("state", "seat", "sentence"),
    [
        (YARD, 1, "seat 1 is not to move; seat 0 is"),
        (CARDS, 4, "seat 4 is not to move; seats 0, 1, 2 and 3 are"),
        (under_way(YARD), 0, "seat 0 is not to move; nobody is"),
    ],
)
def test_a_seat_that_is_not_to_move_is_told_who_is(state: State, seat: int, sentence: str) -> None:
    """The refusal is the same whatever the seat sends."""
    fault = refused(state, {"pass": True}, seat)

    assert (fault.reason, fault.message) == (Reason.NOT_TO_MOVE, sentence)


@pytest.mark.parametrize(
    ("state", "raw", "words"),
    [
        (CARDS, None, "not a card: expected an object with the field card, found null"),
        (CARDS, {"card": 7, "seat": 1}, 'not a card: unknown field "seat"; known: card'),
        (TIED_FIRST, {"seat": True}, "not the seat of the new captain: "),
        (TIED_BELOW, {"seats": [1] * 17}, "not an order of seats: seats: expected a list of length <= 16"),
        (YARD, {"pass": False}, "not a pass: pass: expected true, found false"),
        (YARD, {"kind": "rat"}, 'not a load: the field "face" is missing'),
        (YARD, load(YARD, u_mm=10**400), "not a load: u_mm: number out of range, found a number of 20 digits or more"),
        (YARD, load(YARD, hands_mm=[[1]]), "not a load: hands_mm[0]: "),
    ],
)
def test_another_form_is_malformed(state: State, raw: Json, words: str, golden: Golden) -> None:
    """The refusal has an example of the form that is asked for."""
    fault = refused(state, raw)

    assert isinstance(fault, MalformedReply)
    assert fault.message.startswith(words)
    golden(fault.hint)


@pytest.mark.parametrize("word", ["x", "\n", "\u00fc", "\U0001f600", "\ud800", '"'])
def test_a_long_message_of_a_bot_is_told_in_a_short_one(word: str) -> None:
    """The refusal is one line of ASCII, whatever the message contains."""
    for raw in ({word * 20_000: 1}, load(YARD) | {"kind": word * 20_000}, [word] * 20_000):
        message = refused(YARD, raw).message

        assert len(message) < 600
        assert message.isascii()
        assert message.isprintable()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"u_mm": 1.26, "v_mm": 46}, {"u_mm": 1.3, "v_mm": 46.0}),
        ({"u_mm": -0.04}, {"u_mm": 0.0}),
        ({"yaw_deg": 359.6}, {"yaw_deg": 0.0}),
        ({"yaw_deg": -360}, {"yaw_deg": 0.0}),
        ({"drop_mm": 1.4}, {"drop_mm": 1.0}),
        ({"hands_mm": [[44.96, -0.01]]}, {"hands_mm": ((45.0, 0.0),)}),
    ],
)
def test_numbers_are_rounded_before_anything_is_checked(changes: dict[str, Json], expected: dict[str, Json]) -> None:
    """The action carried out is exactly the one in the log, in one JSON form: no -0.0, no 90 beside 90.0."""
    action = GAME.parse(YARD, Seat(0), load(YARD, "rat", **changes))

    assert isinstance(action, Load)
    for name, value in expected.items():
        assert repr(getattr(action, name)) == repr(value)
    assert GAME.parse(YARD, Seat(0), msgspec.to_builtins(action)) == action


def test_a_load_may_touch_the_line_that_it_must_not_cross() -> None:
    """A load may touch the line, also turned by 90 degrees, where floating point is not exact."""
    for yaw in (0, 90, 180, 270):
        raw = load(YARD, "crate", v_mm=14, yaw_deg=yaw)

        assert GAME.parse(YARD, Seat(0), raw)


def test_the_lowest_card_stands_in() -> None:
    """Then himself, where the old captain is tied, otherwise the first; one piece; seats as they sit; no load."""
    among, elsewhere = (replace(TIED_FIRST, captain=Seat(seat)) for seat in (1, 3))
    stand_ins = [
        str(GAME.fault_policy.fallback_action(state, state.movers[-1]))
        for state in (CARDS, among, elsewhere, TIED_BELOW, TWO, YARD)
    ]

    assert stand_ins == [
        "plays card 1",
        "names seat 1 as captain",
        "names seat 0 as captain",
        "lets seats 0 and 1 move in this order",
        "announces 1 piece",
        "passes",
    ]
