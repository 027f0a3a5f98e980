"""Games of OpenSpiel are environments, and a network plays them as a bot."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test, seed_test
from support.cli_arena import Terminal
from support.golden import Golden

import arena
from arena.errors import SpecError
from arena.games.api import Json

pytest.importorskip("pyspiel", reason="the lane `training` installs the extra openspiel, too")
pytestmark = [pytest.mark.slow, pytest.mark.process]

OBSERVED: dict[str, Json] = {"views": ["observation_tensor"]}
INFORMED: dict[str, Json] = {"views": ["information_state_tensor"]}


@pytest.mark.parametrize(
    ("game", "options"),
    [("tic_tac_toe", OBSERVED), ("leduc_poker", INFORMED), ("backgammon", OBSERVED), ("goofspiel", INFORMED)],
)
def test_a_game_of_openspiel_is_an_environment(game: str, options: dict[str, Json]) -> None:
    """Cards, dice, and seats that act at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tensors of zeros, and those of masks
        api_test(arena.env(f"openspiel:{game}", options), num_cycles=100)
        seed_test(lambda: arena.env(f"openspiel:{game}", options), num_cycles=50)
        if game == "goofspiel":
            parallel_api_test(arena.parallel_env(f"openspiel:{game}", options), num_cycles=100)


def test_views_without_a_tensor_are_refused(golden: Golden) -> None:
    """With the option that gives one."""
    with golden.raises(SpecError):
        arena.env("openspiel:leduc_poker")


def test_a_network_plays_a_game_of_openspiel(terminal: Terminal) -> None:
    """Its actions are found by their ids, whatever their texts are."""
    options, layers = json.dumps(OBSERVED), dict[str, Any](w0=np.ones((27, 9), np.float32), b0=np.arange(9.0))
    np.savez("policy.npz", **layers)
    game = f"--game openspiel:tic_tac_toe --options '{options}'"

    made = terminal.arena(f"new-bot tic {game} --policy policy.npz --to tic")
    said = terminal.arena(f"match ./tic random {game} --blocks 2 --isolation none")

    assert made.code == 0, made.err
    assert said.code == 0, said.err
    assert said.out.count("  tic wins") + said.out.count("  random wins") + said.out.count("  a draw") >= 4, said.out
    assert "forfeit" not in said.out
    assert "games: [openspiel]" in Path("tic/bot.yaml").read_text()
