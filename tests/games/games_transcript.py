"""A random play as a transcript, to be read by people and kept under tests/golden.

Run with ARENA_REGOLD=1 to write the transcripts anew, and read the difference.
"""

import os
from pathlib import Path
from random import Random
from typing import Any

from games_play import steps

from arena.games.api import Chance, Game, Json

GOLDEN = Path(__file__).parents[1] / "golden"


def transcript(game: Game[Any, Any], seed: str, rng: Random, *, options: dict[str, Json] | None = None) -> str:
    """A line for each draw and each action; before a decision, and at the end, the position if its title is new."""
    lines = [f"{game.name}, rules version {game.rules_version}, seed {seed}"]
    title, state = "", None
    for state, turn, actions, drawn, _ in steps(game, seed, rng, options=options):
        position = game.describe(state)
        if not isinstance(turn, Chance) and (heading := position.splitlines()[0].split(",")[0]) != title:
            title = heading
            lines += ["", position, ""]
        if isinstance(turn, Chance):
            lines.append(f"luck {turn.key}: {' '.join(map(str, drawn))}")
        lines += [f"seat {seat} {action}" for seat, action in actions.items()]
    outcome = game.outcome(state)
    return "\n".join([*lines, f"scores {outcome.scores}, ranks {outcome.ranks}", ""])


def kept(name: str, found: str) -> str:
    """The transcript of that name as it was kept; if asked for, it is kept anew as `found`."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("ARENA_REGOLD"):
        path.write_text(found, encoding="utf-8")
    return path.read_text(encoding="utf-8")
