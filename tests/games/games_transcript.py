"""A random play as a transcript, to be read by people and kept under tests/golden.

Run with ARENA_REGOLD=1 to write the transcripts anew, and read the difference.
"""

import os
from pathlib import Path
from random import Random
from typing import Any

from games_play import scripted_simulator, steps

from arena.games.api import Chance, Decision, Game, Json, Over, Simulation

GOLDEN = Path(__file__).parents[1] / "golden"


def transcript(
    game: Game[Any, Any], seed: str, rng: Random, *, options: dict[str, Json] | None = None, seats: int = 2
) -> str:
    """A line for each draw, action and result; before a decision, and at the end, the position if its title is new."""
    lines = [f"{game.name}, rules version {game.rules_version}, seed {seed}"]
    simulator = scripted_simulator(game)
    title, state = "", None
    for step in steps(game, seed, rng, options=options, seats=seats):
        state, turn = step.state, step.turn
        position = game.describe(state)
        if isinstance(turn, Decision | Over) and (heading := position.splitlines()[0].split(",")[0]) != title:
            title = heading
            lines += ["", position, ""]
        if isinstance(turn, Chance):
            lines.append(f"luck {turn.key}: {' '.join(map(str, step.drawn))}")
        if isinstance(turn, Simulation) and simulator is not None:
            lines.append(f"nature {turn.key}: {simulator.tell(state, step.result, step.after)}")
        lines += [f"seat {seat} {action}" for seat, action in step.actions.items()]
    outcome = game.outcome(state)
    return "\n".join([*lines, f"scores {outcome.scores}, ranks {outcome.ranks}", ""])


def kept(name: str, found: str) -> str:
    """The transcript of that name as it was kept; if asked for, it is kept anew as `found`."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("ARENA_REGOLD"):
        path.write_text(found, encoding="utf-8")
    return path.read_text(encoding="utf-8")
