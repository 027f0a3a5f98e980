"""Transcripts of one random play of each game, and of Shanghaien with each expansion, to be read by people.

A full table plays, and a simulator is scripted, so that the same lines come out on every machine. Run with
ARENA_REGOLD=1 to write the transcripts of tests/golden anew, and read the difference.
"""

import os
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from support.expansions_positions import ALL, CAPTAIN, DOUBLES, NO_SHANGHAI, SHARKS
from support.games_play import scripted_simulator, steps

from arena.games import bundled_names, load_game
from arena.games.api import Chance, Decision, Game, Json, Over, Randomness, Seat, Simulation
from arena.games.shanghaien import GAME
from arena.games.shanghaien.actions import Action
from arena.games.shanghaien.expansions import EXPANSIONS
from arena.games.shanghaien.rules import action_types
from arena.games.shanghaien.state import State

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
            lines.append(f"nature {turn.key}: {simulator.describe_result(state, step.result, step.after)}")
        lines += [f"seat {seat} {action}" for seat, action in step.actions.items()]
    outcome = game.outcome(state)
    return "\n".join([*lines, f"scores {outcome.scores}, ranks {outcome.ranks}", ""])


def kept(name: str, found: str) -> str:
    """The transcript of that name as it was kept; if asked for, it is kept anew as `found`."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("ARENA_REGOLD"):
        path.write_text(found, encoding="utf-8")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(bundled_names()))
def test_a_random_play_reads_as_before(name: str) -> None:
    """Rules, luck, texts and the order of legal actions: any change shows here."""
    game = load_game(name)
    seats = max(game.seat_counts)

    found = transcript(game, "000102030405060708090a0b0c0d0e0f", Random(name), seats=seats)

    assert found == kept(name, found)


SEED = "000102030405060708090a0b0c0d0e0f"


class Eager:
    """Shanghaien, decided at random, but three times as often for what an expansion adds."""

    def __getattr__(self, name: str) -> Any:
        return getattr(GAME, name)

    def sample(self, state: State, seat: Seat, rng: Randomness) -> Action:
        """One of the legal actions."""
        actions = GAME.legal(state, seat)
        new = [action for action in actions if type(action) in action_types(EXPANSIONS.values())]
        return cast(Action, rng.choice([*actions, *new, *new]))


PLAYS = {
    CAPTAIN: ((CAPTAIN,), 3719),
    NO_SHANGHAI: ((NO_SHANGHAI,), 0),
    SHARKS: ((SHARKS,), 6),
    DOUBLES: ((DOUBLES,), 0),
    "all": (ALL, 3721),
}
"""The expansions, and a seed of the decisions with which each of their actions occurs."""


@pytest.mark.parametrize("name", PLAYS)
def test_a_play_with_expansions_reads_as_before(name: str) -> None:
    """Rules, luck, texts and the order of legal actions: any change shows here."""
    expansions, decided = PLAYS[name]

    found = transcript(cast(Any, Eager()), SEED, Random(decided), options={"expansions": expansions})

    assert found == kept(f"shanghaien-{name}", found)
