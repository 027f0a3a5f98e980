"""Riff Raff: how a game ends, and who has won."""

import pytest
from riffraff_play import (
    AT_SEA,
    GAME,
    IN_HAND,
    IN_OTHER_HAND,
    Place,
    all_load,
    all_pass,
    did,
    loaded,
    others_pass,
    played,
    second_round,
    start,
    supply,
    to_load,
    with_pieces,
)

from arena.games.api import Outcome, Over
from arena.games.riffraff.state import Phase


def test_who_holds_no_piece_at_the_end_of_a_turn_wins_at_once() -> None:
    """The round is not finished; the others rank by what they hold."""
    state = with_pieces(with_pieces(to_load(), 0, rat=1), 2, rat=1, crate=2)

    after = loaded(state)

    assert GAME.turn(after) == Over()
    assert (after.round, after.turn) == (1, 0)
    assert GAME.outcome(after) == Outcome(scores=(8, 0, 5, 0), ranks=(0, 2, 1, 2))


def test_a_catch_can_win() -> None:
    """The last piece and another one are caught, so both are out of the game."""
    state = with_pieces(loaded(to_load()), 1, rat=1)

    after = loaded(state, {"k01": IN_HAND, "k02": IN_OTHER_HAND})

    assert GAME.turn(after) == Over()
    assert GAME.outcome(after).ranks == (1, 0, 2, 2)


@pytest.mark.parametrize("place", [IN_HAND, AT_SEA], ids=["caught alone", "not caught"])
def test_the_last_piece_comes_back_when_it_falls(place: Place) -> None:
    """Nobody has won; the turn is over."""
    after = loaded(with_pieces(to_load(), 0, rat=1), {"k01": place})

    assert (after.active, supply(after, 0)) == (1, {"rat": 1})


def test_of_two_last_pieces_only_the_second_wins() -> None:
    """The turn goes on after the first."""
    state = did(with_pieces(second_round(), 1, rat=1, crate=1), {"pieces": 2})

    once = loaded(state)
    twice = loaded(once)

    assert (once.phase, once.players[1].pieces) == (Phase.LOAD, 1)
    assert GAME.turn(twice) == Over()


def test_after_the_last_round_the_fewest_pieces_win() -> None:
    """Who holds the same number shares the victory."""
    state = all_pass(all_load(played(start(), 7, 3, 2, 1)), 9)
    of_two = all_pass(others_pass(loaded(to_load(2))), 19)

    even = GAME.outcome(state)
    uneven = GAME.outcome(with_pieces(with_pieces(state, 1, rat=2), 3, crate=1, barrel=1))

    assert GAME.turn(state) == Over()
    assert even == Outcome(scores=(1, 1, 1, 1), ranks=(0, 0, 0, 0))
    assert uneven == Outcome(scores=(1, 6, 1, 6), ranks=(2, 0, 2, 0))
    assert GAME.outcome(of_two) == Outcome(scores=(1, 0), ranks=(0, 1))


def test_a_score_may_be_negative() -> None:
    """Whoever gets the cargo of others holds more than at the start."""
    state = all_load(played(start(), 7, 3, 2, 1))
    state = played(state, 1, 9, 4, 2)

    after = loaded(state, dict.fromkeys(("k01", "k02", "k03", "k04", "k05"), AT_SEA))

    assert GAME.outcome(after).scores == (1, -3, 1, 1)
