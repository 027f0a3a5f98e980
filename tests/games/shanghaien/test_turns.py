"""Shanghaien: turns, rounds and numbering, one case per line of the rule text ("Spielverlauf")."""

import pytest
from support.games_positions import (
    FACES,
    FIRST,
    FRESH,
    GAME,
    decider,
    go,
    options,
    player,
    replace,
    to_move,
)

from arena.errors import SpecError
from arena.games.api import Chance, Json, Shuffle
from arena.games.shanghaien.actions import End, Roll, Shanghai
from arena.games.shanghaien.cards import NATIONS
from arena.games.shanghaien.state import State

EIGHT = "none may be negative and together they must be 8"


def dealt() -> State:
    """The deck in its printed order: the row is the American sailors and the first French one."""
    return GAME.resolve(FRESH, tuple(range(48)))


def test_the_deck_holds_forty_sailors_and_eight_tricks() -> None:
    """Eight nations with the values 1, 2, 3, 3, 4 each; 3 adjust, 2 both, 3 reroll."""
    expected = [f"{nation} {value}" for nation in NATIONS for value in (1, 2, 3, 3, 4)]

    assert sorted(FACES) == sorted(expected + ["adjust"] * 3 + ["both"] * 2 + ["reroll"] * 3)


def test_the_game_starts_with_a_hidden_shuffle() -> None:
    """Nobody sees the order of the draw pile."""
    assert GAME.turn(FRESH) == Chance(key="deck", kind=Shuffle(48), is_public=False)


def test_six_cards_are_dealt_and_seat_0_starts() -> None:
    """The first six of the shuffled deck lie in a row, the numbering is open."""
    state = dealt()

    assert state.row == tuple(range(6))
    assert state.pile == tuple(range(6, 48))
    assert (state.round, decider(state), state.one_at) == (1, FIRST, None)


@pytest.mark.parametrize(
    ("placed", "choices"),
    [
        ((), (Roll(),)),
        ((3,), (Roll(),)),
        ((3, 3), (Roll(), Shanghai())),
        ((1, 2, 3), (Roll(), Shanghai())),
        ((1, 2, 3, 4), (Roll(), Shanghai())),
        ((1, 2, 3, 4, 5), (Shanghai(),)),
        ((1, 2, 3, 4, 5, 6), (Shanghai(),)),
    ],
)
def test_a_turn_begins_with_a_roll_or_shanghai(placed: tuple[int, ...], choices: tuple[Roll | Shanghai, ...]) -> None:
    """A roll needs two of the six dice in the supply, shanghai two own dice placed; the opponent's do not count."""
    assert options(to_move(player(dice=placed), player(dice=(1, 2, 3, 4)))) == choices


@pytest.mark.parametrize(("one", "won"), [("left", (1, 1, 4)), ("right", (4, 4, 1))])
def test_the_numbering_decides_which_card_a_number_is(one: End, won: tuple[int, int, int]) -> None:
    """Dice on 2, 2 and 5 win the second and fifth card from the end that is 1."""
    state = replace(to_move(player(dice=(2, 2, 5))), one_at=one)

    ended = go(state, Shanghai())

    assert ended.players[0].sailors == tuple(dict.fromkeys(won))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"trick": {}}, 'unknown key "trick"; known: expansions, tricks; did you mean "tricks"?'),
        ({"tricks": {"rerol": 3}}, 'tricks: unknown key "rerol"; known: adjust, both, reroll; did you mean "reroll"?'),
        ({"tricks": {"adjust": "3"}}, "tricks.adjust: expected a whole number, found '3'"),
        ({"tricks": {"adjust": 8}}, f"tricks: adjust 8, both 2, reroll 3: {EIGHT}"),
        ({"tricks": {"adjust": -1, "both": 6}}, f"tricks: adjust -1, both 6, reroll 3: {EIGHT}"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Json], sentence: str) -> None:
    """The refusal gives the place, the value found and the values known."""
    with pytest.raises(SpecError) as caught:
        GAME.setup(options, 2)

    assert str(caught.value) == f"options of shanghaien: {sentence}"


def test_the_kinds_of_tricks_are_an_option() -> None:
    """Eight in all, of kinds as the tournament likes."""
    state = GAME.setup({"tricks": {"adjust": 0, "both": 8, "reroll": 0}}, 2)

    assert state.variant.faces[40:] == ("both",) * 8
