"""The lines for people: who won which card and why, the parts of a match, names in place of seats, at 80 columns."""

import pytest
from support.expansions_positions import SHARKS
from support.games_positions import FRESH, GAME, go, player, replace, to_move
from support.golden import Golden

from arena.games import bundled_names, load_game
from arena.games.api import news_of, summary_of
from arena.games.shanghaien.actions import Shanghai
from arena.games.shanghaien.expansions.sharks import Waters
from arena.text import lay_out_columns

NAMES = ("ada", "a-name-of-thirty-characters-xx")
"""The title has room for thirty; longer ones wrap there, and nowhere else."""


def test_a_shanghai_tells_who_won_which_card_and_why() -> None:
    """News list cards by number with the reason, the winner's dice first; then points and the round."""
    before = to_move(player(dice=(1, 1, 3, 5, 6)), player(dice=(1, 3, 4, 5, 5, 6)))
    after = go(before, Shanghai())

    assert news_of(GAME, before, after, ("ada", "ben")) == (
        "round 1 is over:",
        "  (1) american 1  ada: 2 dice to 1",
        "  (2) american 2  nobody: no dice",
        "  (3) american 3  ben: 1 die each, and 4 pips beside it to 0",
        "  (4) american 3  ben: 1 die to 0",
        "  (5) american 4  ben: 2 dice to 1",
        "  (6) french 1    ben: 1 die each, and 10 pips beside it to 5",
        "points by now: ada 0, ben 2",
        "--- round 2 of 8 ---",
    )
    assert after.players[1].strength[0] == 10


def test_the_last_round_opens_no_other(golden: Golden) -> None:
    """The last round opens no other, and a step within a round has no news."""
    before = to_move(player(dice=(1, 2)), round_=8)
    told = news_of(GAME, before, go(before, Shanghai()), ("ada", "ben"))

    golden(told[0])
    golden(told[-1])
    assert news_of(GAME, before, replace(before, turn=5), ("ada", "ben")) == ()
    assert news_of(GAME, FRESH, GAME.resolve(FRESH, tuple(range(48))), NAMES) == ("--- round 1 of 8 ---",)


def test_a_card_that_an_expansion_takes_is_told() -> None:
    """The one who has more dice on it reads why it is not theirs."""
    dealt = GAME.resolve(GAME.setup({"expansions": [SHARKS]}, 2), tuple(range(48)))
    players = (player(dice=(1, 2)), player())
    before = replace(dealt, players=players, one_at="left", extras={SHARKS: Waters(face_down=(1,))})

    told = news_of(GAME, before, go(before, Shanghai()), ("ada", "ben"))

    assert told[1:3] == ("  (1) american 1  nobody: sharks", "  (2) american 2  ada: 1 die to 0")


@pytest.mark.parametrize("name", sorted(bundled_names()))
def test_every_game_has_a_summary_and_names_its_players(name: str) -> None:
    """Summaries are lines of a terminal, and texts name the players."""
    game = load_game(name)
    state = game.setup({}, 2)

    assert len(summary_of(game)) > 80
    assert "seat 0" not in game.describe(state, NAMES)


def test_actions_stand_in_columns() -> None:
    """Read column by column, as many as have room; one that is too long has its own line."""
    entries = [f"{number})" for number in range(1, 8)]

    assert lay_out_columns(entries, 12) == ["1)   4)   7)", "2)   5)", "3)   6)"]
    assert lay_out_columns(["x" * 100, "y"], 80) == ["x" * 100, "y"]
    assert lay_out_columns([], 80) == []
