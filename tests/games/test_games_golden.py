"""A transcript of one random play of each game, to be read by people and kept by the test.

Run with ARENA_REGOLD=1 to write the transcripts anew, and read the difference.
"""

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from games_play import steps

from arena.games import GAMES, load_game
from arena.games.api import Chance, Game

GOLDEN = Path(__file__).parents[1] / "golden"


def transcript(game: Game[Any, Any], seed: str, rng: Random) -> str:
    """A line for each draw and each action; before a decision, and at the end, the position if its title is new."""
    lines = [f"{game.name}, rules version {game.rules_version}, seed {seed}"]
    title, state = "", None
    for state, turn, actions, drawn, _ in steps(game, seed, rng):
        position = game.describe(state)
        if not isinstance(turn, Chance) and (heading := position.splitlines()[0].split(",")[0]) != title:
            title = heading
            lines += ["", position, ""]
        if isinstance(turn, Chance):
            lines.append(f"luck {turn.key}: {' '.join(map(str, drawn))}")
        lines += [f"seat {seat} {action}" for seat, action in actions.items()]
    outcome = game.outcome(state)
    return "\n".join([*lines, f"scores {outcome.scores}, ranks {outcome.ranks}", ""])


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_random_play_reads_as_before(name: str) -> None:
    """Rules, luck, texts and the order of legal actions: any change shows here."""
    path = GOLDEN / f"{name}.txt"

    found = transcript(load_game(name), "000102030405060708090a0b0c0d0e0f", Random(name))

    if os.environ.get("ARENA_REGOLD"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")
