"""Nim: the theory of Bouton (1901) is the oracle."""

from functools import cache, reduce
from operator import xor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.golden import Golden

from arena.errors import IllegalAction, MalformedReply, SpecError
from arena.games.api import Json, Over, Seat
from arena.games.nim import GAME, State, Take

HEAPS = st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple)


def at(*heaps: int, is_misere: bool = False, to_move: int = 0) -> State:
    return State(heaps=heaps, is_misere=is_misere, to_move=Seat(to_move))


def mover_wins_by_theory(heaps: tuple[int, ...], *, is_misere: bool) -> bool:
    """The mover wins from a xor that is not 0; in misere play the other way round once no heap is above 1."""
    has_advantage = reduce(xor, heaps, 0) != 0
    return not has_advantage if is_misere and max(heaps) <= 1 else has_advantage


@cache
def mover_wins_by_search(state: State) -> bool:
    """Return True if some action wins at once or leads to a lost state of the opponent, by the rules alone."""
    if isinstance(GAME.turn(state), Over):
        return GAME.outcome(state).ranks[state.to_move] == 0
    mover = state.to_move
    return any(not mover_wins_by_search(GAME.apply(state, {mover: take})) for take in GAME.legal(state, mover))


@given(heaps=HEAPS, is_misere=st.booleans())
def test_the_rules_agree_with_the_theory(heaps: tuple[int, ...], is_misere: bool) -> None:
    """A full search of the rules finds the theory's winner."""
    state = at(*heaps, is_misere=is_misere)

    assert mover_wins_by_search(state) == mover_wins_by_theory(heaps, is_misere=is_misere)


def test_all_takes_are_legal_by_heap_and_count() -> None:
    """Nothing can be taken from an empty heap."""
    assert GAME.legal(at(2, 0, 1), Seat(0)) == (Take(0, 1), Take(0, 2), Take(2, 1))


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({"heap": 3, "count": 1}, "there is no heap 3; the heaps are 0 to 2"),
        ({"heap": -1, "count": 1}, "there is no heap -1; the heaps are 0 to 2"),
        ({"heap": 0, "count": 4}, "4 counters cannot be taken from heap 0: it holds 3, and at least 1 must be taken"),
        ({"heap": 0, "count": 0}, "0 counters cannot be taken from heap 0: it holds 3, and at least 1 must be taken"),
    ],
)
def test_a_refusal_names_what_was_found(raw: Json, sentence: str) -> None:
    """The refusal gives the heap, the count, and the counters in the heap."""
    with pytest.raises(IllegalAction) as caught:
        GAME.parse(at(3, 4, 5), Seat(0), raw)

    assert caught.value.message == sentence


def test_a_malformed_take_is_answered_with_the_form(golden: Golden) -> None:
    """The hint is a well-formed action."""
    with golden.raises(MalformedReply) as caught:
        GAME.parse(at(3), Seat(0), {"heap": 0})

    golden(caught.value.hint)


@pytest.mark.parametrize("heaps", [[], [0], [3, -1], [1001], [1] * 21])
def test_impossible_heaps_are_refused(heaps: list[int]) -> None:
    """The refusal gives the heaps found and the heaps possible."""
    with pytest.raises(SpecError) as caught:
        GAME.setup({"heaps": heaps}, 2)

    assert str(caught.value) == f"options of nim: heaps: found {heaps}, expected 1 to 20 heaps of 1 to 1000"


def test_a_picture_of_nothing_says_so(golden: Golden) -> None:
    """The picture at the end of the game has a sentence in place of an empty box."""
    golden(GAME.picture(State(heaps=(0, 0), is_misere=False)))
    assert "empty" not in GAME.picture(State(heaps=(0, 1), is_misere=False))
