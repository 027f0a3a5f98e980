"""The games of OpenSpiel keep the contract: one of each kind, all its numbers of seats."""

import math

import pytest

from arena.conformance.game import check_game
from arena.errors import SpecError
from arena.games import load_game
from arena.games.api import Seat, game_info_of

pytestmark = pytest.mark.slow

KINDS = [
    "tic_tac_toe",  # in turn, nothing hidden
    "backgammon",  # dice
    "leduc_poker",  # hidden cards, 2 to 10 seats
    "liars_dice",  # hidden dice
    "dark_hex",  # hidden actions
    "goofspiel",  # at once, 2 to 10 seats
    "goofspiel(imp_info=true,points_order=random)",  # at once, hidden actions
    "matrix_pd",  # one decision at once
    "markov_soccer",  # at once, luck
    "turn_based_simultaneous_game(game=goofspiel(num_cards=4))",
    "pig(players=3)",
    "hanabi(players=3)",
    "battleship(board_width=3,board_height=3,ship_sizes=[1;2],ship_values=[1.1;2.3],num_shots=4)",  # scores in tenths
    "breakthrough(rows=6,columns=6)",
    "chess",  # with a notation
    "go(board_size=5)",
]


@pytest.mark.parametrize("name", KINDS)
def test_a_game_keeps_the_contract(name: str) -> None:
    """The game passes the checks of `arena check-game`."""
    name = f"openspiel:{name}"

    broken = [(part.title, part.seats, part.findings) for part in check_game(load_game(name)) if part.findings]

    assert broken == []


@pytest.mark.parametrize("views", [["information_state_tensor"], ["observation_tensor", "information_state_string"]])
def test_tensors_come_on_request(views: list[str]) -> None:
    """Views have tensors by OpenSpiel's names, each with its shape in the constants of the game."""
    game = load_game("openspiel:leduc_poker")

    assert [part.findings for part in check_game(game, options={"views": views}) if part.findings] == []

    state = game.setup({"views": views}, 2)
    state = game.resolve(game.resolve(state, (0,)), (1,))
    view, info = game.observe(state, Seat(0)), game_info_of(game, {"views": views}, 2)
    assert list(view) == ["you", *views]
    for each in views:
        if each.endswith("_tensor"):
            assert math.prod(info["shapes"][each]) == len(view[each])
    assert info["game"].startswith("leduc_poker(")


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("leduc_poker", {"views": ["board"]}, "options of openspiel:leduc_poker: views"),
        ("leduc_poker", {"view": []}, 'options of openspiel:leduc_poker: unknown key "view"; known: views'),
        ("rbc", {"views": ["observation_string", "information_state_string"]}, "the game has no"),
        ("universal_poker", {"views": []}, ""),
    ],
)
def test_a_view_that_the_game_has_not_is_refused(name: str, options: dict[str, list[str]], told: str) -> None:
    """The refusal lists the views that the game has."""
    game = load_game(f"openspiel:{name}")
    if not told:
        assert game.setup(options, 2)
        return

    with pytest.raises(SpecError) as caught:
        game.setup(options, game.seat_counts[0])

    assert told in str(caught.value)
