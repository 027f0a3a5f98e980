"""All that can fall at a chance node of Shanghaien, with exact probabilities, for the tests of its value.

Rule: made from the rules alone; nothing here knows how the value works.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations, product
from math import perm
from random import Random
from typing import Any, Final

from games_play import Step, steps
from games_positions import GAME
from msgspec.structs import replace

from arena.games.api import Chance, Dice
from arena.games.shanghaien.state import State

EXPANSIONS: Final = ("crazy_captain", "no_shanghai", "sharks", "doubles")
VARIANTS: Final[list[dict[str, Any]]] = [
    {"expansions": list(chosen)} for size in range(5) for chosen in combinations(EXPANSIONS, size)
]
ALL: Final[dict[str, Any]] = {"expansions": list(EXPANSIONS)}


def rolls(dice: Dice) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every roll as a multiset, with its probability."""
    counted = Counter(tuple(sorted(roll)) for roll in product(range(1, dice.faces + 1), repeat=dice.count))
    for roll, ways in counted.items():
        yield roll, Fraction(ways, dice.faces**dice.count)


def after_rolls(state: State) -> list[tuple[State, Fraction]]:
    """Every state that can follow a state that waits for dice."""
    turn = GAME.turn(state)
    assert isinstance(turn, Chance)
    assert isinstance(turn.kind, Dice)
    return [(GAME.resolve(state, roll), chance) for roll, chance in rolls(turn.kind)]


def rows(state: State) -> list[tuple[State, Fraction]]:
    """Every state that can follow from cards lying face down: each row, in each order. Only for few cards."""
    cards = state.pile
    size = min(6, len(cards))
    every = Fraction(1, perm(len(cards), size))
    return [
        (replace(state, row=row, pile=tuple(card for card in cards if card not in row)), every)
        for row in permutations(cards, size)
    ]


def random_steps(number: int, options: dict[str, Any] | None = None) -> list[Step]:
    """A random play."""
    return list(steps(GAME, f"value {number}", Random(number), options=options or {}))
