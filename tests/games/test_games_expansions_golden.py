"""A transcript of one play with each expansion, and with all four, in which everything they add is used.

Run with ARENA_REGOLD=1 to write the transcripts anew, and read the difference.
"""

from random import Random
from typing import cast

import pytest
from expansions_positions import ALL, CAPTAIN, DOUBLES, NO_SHANGHAI, SHARKS
from games_play import steps
from games_transcript import kept, transcript

from arena.games.api import Randomness, Seat
from arena.games.shanghaien.actions import Action, Place, Shanghai
from arena.games.shanghaien.expansions import EXPANSIONS
from arena.games.shanghaien.expansions.crazy_captain import Veto
from arena.games.shanghaien.rules import Shanghaien
from arena.games.shanghaien.state import State
from arena.games.shanghaien.variant import action_types

SEED = "000102030405060708090a0b0c0d0e0f"


class Eager(Shanghaien):
    """Decides at random, but three times as often for what an expansion adds."""

    def sample(self, state: State, seat: Seat, rng: Randomness) -> Action:
        """One of the legal actions."""
        actions = self.legal(state, seat)
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

    found = transcript(Eager(), SEED, Random(decided), options={"expansions": expansions})

    assert found == kept(f"shanghaien-{name}", found)


@pytest.mark.parametrize("name", PLAYS)
def test_the_transcript_shows_everything_that_they_add(name: str) -> None:
    """Each type of action; of the captain, a veto of a placement, of a trick and of shanghai."""
    expansions, decided = PLAYS[name]
    added = set(action_types(EXPANSIONS[each] for each in expansions))
    seen: set[type[Action]] = set()
    vetoed: set[str] = set()
    announced: Action | None = None

    for step in steps(Eager(), SEED, Random(decided), options={"expansions": expansions}):
        for action in step.actions.values():
            seen.add(type(action))
            if isinstance(action, Veto):
                vetoed.add(announced.__class__.__name__ if isinstance(announced, Place | Shanghai) else "trick")
            announced = action

    assert seen >= added
    assert vetoed == ({"Place", "Shanghai", "trick"} if CAPTAIN in expansions else set())
