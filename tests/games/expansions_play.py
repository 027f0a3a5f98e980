"""Random plays of every set of expansions, and what happened in them, told without asking the rules.

ARENA_MANY=1000 plays so many matches of each set; the default keeps the suite short.
"""

import os
from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Final

from expansions_positions import ALL
from games_play import Step, steps
from games_positions import GAME

from arena.games.shanghaien.actions import Action
from arena.games.shanghaien.expansions.crazy_captain import Allow
from arena.games.shanghaien.state import Choice

MATCHES: Final = int(os.environ.get("ARENA_MANY", "60"))
VARIANTS: Final = [chosen for size in range(5) for chosen in combinations(ALL, size)]

Play = list[Step]


def played(expansions: tuple[str, ...], number: int, *, decided: int | None = None) -> Play:
    """The play of that number: its luck by the number, its decisions too, if not by the number `decided`."""
    rng = Random(number if decided is None else decided)
    return list(steps(GAME, f"expansions {number}", rng, options={"expansions": expansions}))


def is_asking(step: Step) -> bool:
    """What was done is only announced: somebody is asked about it next."""
    return isinstance(step.after.phase, Choice) and step.after.phase.name == "veto"


def happened(play: Play) -> Iterator[tuple[Step, Action]]:
    """Each step of a decision with the action that was carried out in it; an announced one when it was allowed."""
    announced = None
    for step in play:
        for action in step.actions.values():
            if is_asking(step):
                announced = action
            elif isinstance(action, Allow):
                assert announced is not None
                yield step, announced
            else:
                yield step, action
