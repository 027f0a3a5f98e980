"""Riff Raff: cards, captains and the order of play."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.golden import Golden
from support.riffraff_play import (
    AT_SEA,
    GAME,
    IN_HAND,
    Place,
    all_load,
    counts,
    did,
    loaded,
    played,
    second_round,
    start,
    supply,
    to_load,
    with_pieces,
)

from arena.errors import SpecError
from arena.games.api import Decision, Json, Seat
from arena.games.riffraff.actions import NameCaptain, Play
from arena.games.riffraff.scene import KINDS
from arena.games.riffraff.state import CARDS, Phase, State

CHOICE = st.randoms(use_true_random=False)


def lined_up(state: State) -> tuple[int, tuple[int, ...]]:
    """Return captain and order of play."""
    return state.captain, state.order


@pytest.mark.parametrize(("seats", "pieces", "rounds"), [(2, 16, 20), (3, 8, 10), (4, 8, 10)])
def test_everybody_starts_with_ten_cards_and_whole_sets(seats: int, pieces: int, rounds: int) -> None:
    """Two players have two sets each and play twice as long; seat 0 is captain."""
    state = start(seats)

    assert [player.pieces for player in state.players] == [pieces] * seats
    assert {player.hand for player in state.players} == {CARDS}
    assert (state.rounds, state.captain) == (rounds, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weather": "fog"}, 'unknown value "fog"; known: breeze, calm, still, storm'),
        ({"simulations": -1}, "simulations: found -1, expected a number from 0 to 1000"),
        ({"simulations": True}, "simulations: expected a whole number, found True"),
        ({"wind": "calm"}, 'unknown key "wind"; known: weather, simulations'),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Json], message: str, golden: Golden) -> None:
    """The refusal gives the value found and the values known."""
    with pytest.raises(SpecError) as caught:
        GAME.setup(options, 4)

    golden(caught.value)
    assert message in str(caught.value)


def test_all_play_a_card_at_once() -> None:
    """All are asked; the cards leave the hands and lie open."""
    state = start(3)

    after = played(state, 4, 10, 7)

    assert GAME.turn(state) == Decision(seats=(Seat(0), Seat(1), Seat(2)))
    assert GAME.legal(state, Seat(2)) == tuple(Play(card=card) for card in range(1, 11))
    assert [player.card for player in after.players] == [4, 10, 7]
    assert [len(player.hand) for player in after.players] == [9, 9, 9]
    assert after.players[1].hand == (1, 2, 3, 4, 5, 6, 7, 8, 9)


@pytest.mark.parametrize(("old", "named"), [(0, 0), (0, 1), (3, 0), (3, 1)])
def test_the_old_captain_names_one_of_those_with_the_highest_card(old: int, named: int) -> None:
    """He may name himself if he is among them; the other follows directly, ahead of lower cards."""
    state = played(replace(start(), captain=Seat(old)), 10, 10, 2, 6)

    assert GAME.turn(state) == Decision(seats=(Seat(old),))
    assert GAME.legal(state, Seat(old)) == (NameCaptain(seat=0), NameCaptain(seat=1))
    assert lined_up(did(state, {"seat": named})) == (named, (named, 1 - named, 3, 2))


@pytest.mark.parametrize(
    ("cards", "questions", "captain", "order"),
    [
        ((5, 5, 9, 1), [(2, 2, {"seats": [1, 0]})], 2, (2, 1, 0, 3)),
        ((9, 6, 2, 6), [(0, 2, {"seats": [3, 1]})], 0, (0, 3, 1, 2)),
        ((7, 7, 7, 2), [(0, 3, {"seat": 1}), (1, 2, {"seats": [2, 0]})], 1, (1, 2, 0, 3)),
        ((4, 4, 4, 4), [(0, 4, {"seat": 2}), (2, 6, {"seats": [3, 0, 1]})], 2, (2, 3, 0, 1)),
    ],
)
def test_captains_decide_about_equal_cards(
    cards: tuple[int, ...], questions: list[tuple[int, int, Json]], captain: int, order: tuple[int, ...]
) -> None:
    """The old one names the new one among the highest; that one orders the others. All choices are listed."""
    state = played(start(), *cards)
    for asked, choices, answer in questions:
        seat, legal = Seat(asked), GAME.legal(state, Seat(asked))

        assert GAME.turn(state) == Decision(seats=(seat,))
        assert legal is not None
        assert len(set(legal)) == choices
        assert GAME.parse(state, seat, answer) in legal
        state = did(state, answer)

    assert lined_up(state) == (captain, order)
    assert (state.phase, state.ties) == (Phase.LOAD, ())


@given(cards=st.lists(st.sampled_from(CARDS), min_size=2, max_size=4), old=st.integers(0, 3), rng=CHOICE)
def test_any_cards_lead_to_an_order(cards: list[int], old: int, rng: st.DataObject) -> None:
    """Everybody has one turn, the captain the first, nobody before a higher card; at most two questions are asked."""
    state = played(replace(start(len(cards)), captain=Seat(old % len(cards))), *cards)
    questions = 0

    while state.phase in (Phase.NEW_CAPTAIN, Phase.ORDER):
        (seat,) = state.movers
        state = GAME.apply(state, {seat: GAME.sample(state, seat, rng)})  # type: ignore[arg-type]
        questions += 1

    assert sorted(state.order) == list(range(len(cards)))
    assert state.order[0] == state.captain
    assert [cards[seat] for seat in state.order] == sorted(cards, reverse=True)
    assert (state.phase, state.area) == (Phase.LOAD, max(cards))
    assert questions <= 2
    assert questions >= (cards.count(max(cards)) > 1)
    assert state.ties == ()


@pytest.mark.parametrize(
    ("falls", "fates", "held", "removed"),
    [
        ({"k02": IN_HAND}, "returned", ["chest", "crate", "rat"], 0),
        ({"k02": AT_SEA}, "to_supply", ["chest", "crate", "rat"], 0),
        ({"k01": AT_SEA}, "to_supply", ["barrel", "chest", "crate"], 0),
        ({"k01": IN_HAND}, "removed", ["chest", "crate"], 1),
        ({"k01": IN_HAND, "k02": IN_HAND}, "removed removed", ["chest", "crate"], 2),
        ({"k02": IN_HAND, "k01": AT_SEA}, "returned to_supply", ["barrel", "chest", "crate", "rat"], 0),
        ({"k02": AT_SEA, "k01": AT_SEA}, "to_supply to_supply", ["barrel", "chest", "crate", "rat"], 0),
    ],
    ids=str,
)
def test_what_becomes_of_what_falls(falls: Mapping[str, Place], fates: str, held: list[str], removed: int) -> None:
    """Caught: out of the game, unless it is nothing but the piece just loaded. Not caught: to the active player.

    Seat 0 has loaded the barrel k01; seat 1, who holds a chest, a crate and a rat, loads the rat as k02.
    """
    state = with_pieces(loaded(to_load(), kind="barrel"), 1, chest=1, crate=1, rat=1)

    after = loaded(state, falls, kind="rat")

    assert [(fall.id, fall.fate) for fall in after.last[0].fallen] == [*zip(falls, fates.split(), strict=True)]
    assert supply(after, 1) == dict.fromkeys(held, 1)
    assert after.players[1].removed == removed
    assert supply(after, 0) == supply(state, 0)
    assert {piece.id for piece in after.table.cargo} == {"k01", "k02"} - set(falls)
    assert counts(after) == counts(state) == (4,) * len(KINDS)


def test_in_a_turn_of_two_pieces_the_first_counts_as_another_one() -> None:
    """Caught with the second, or alone, it is out of the game."""
    once = loaded(did(second_round(), {"pieces": 2}), kind="crate")

    both = loaded(once, {"k02": IN_HAND, "k03": IN_HAND}, kind="rat")
    first = loaded(once, {"k02": IN_HAND}, kind="rat")
    second = loaded(once, {"k03": IN_HAND}, kind="rat")

    assert [fall.fate for fall in both.last[-1].fallen] == ["removed", "removed"]
    assert [fall.fate for fall in first.last[-1].fallen] == ["removed"]
    assert [fall.fate for fall in second.last[-1].fallen] == ["returned"]


@pytest.mark.parametrize(
    ("hands", "place", "hand"),
    [
        (((45, 75),), (90.0, 75.0), 0),
        (((45, 75),), (90.01, 75.0), None),
        (((45, 75),), (45.0, 120.01), None),
        (((45, 75), (-45, 75)), (-30.0, 75.0), 1),
        (((45, 75), (30, 75)), (40.0, 75.0), 0),
        (((30, 75), (45, 75)), (-20.0, 75.0), None),
        ((), (45.0, 75.0), None),
    ],
)
def test_the_first_hand_within_45_mm_catches(hands: tuple[Place, ...], place: Place, hand: int | None) -> None:
    """Measured in the catch plane, to the centre of the hand; the edge still catches."""
    state = loaded(to_load(), {"k01": place}, hands_mm=hands)

    assert [fall.hand for fall in state.last[0].fallen] == [hand]


@pytest.mark.parametrize(
    ("hands", "caught"),
    [
        (((45, 75),), [0, 0, None, None, None]),
        (((45, 75), (45, 70)), [0, 0, 1, 1, None]),
        (((45, -75), (45, 75)), [1, 1, None, None, None]),
    ],
)
def test_a_hand_holds_two_pieces(hands: tuple[Place, ...], caught: list[int | None]) -> None:
    """The first that fall into it; the next go to the other hand, if it reaches them too, or into the sea."""
    state = all_load(played(start(), 4, 2, 1, 3))

    after = loaded(played(state, 8, 5, 6, 7), {f"k{number:02d}": IN_HAND for number in range(1, 6)}, hands_mm=hands)

    assert [fall.hand for fall in after.last[0].fallen] == caught
    assert after.players[0].removed == 5 - caught.count(None)
    assert after.players[0].pieces == state.players[0].pieces - 1 + caught.count(None)
