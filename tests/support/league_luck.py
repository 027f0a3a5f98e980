"""Simulated leagues for the audit of luck, in which nobody foresees a draw, and somebody looks all the time.

Run as a program, it prints how often anybody is ever named:
PYTHONPATH=tests python tests/support/league_luck.py LEAGUES SEED
A fifth as many leagues are played until they are decided.
"""

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from random import Random
from statistics import NormalDist

from arena.league.schedules.decided import until_decided
from arena.league.schedules.settings import StoppingRule
from arena.league.schedules.tables import cycle
from arena.match.luck import LEAST
from arena.standings.luck_audit import LEVEL
from arena.standings.ratings import RatingSettings
from arena.statistics.confidence_sequence import holm, p_value
from support.league_events import Event

MOST_LOST = 2 * -LEAST
FIELDS: Mapping[str, tuple[float, ...]] = {
    "four equals": (0.0,) * 4,
    "four unequals": (0.0, 0.5, 1.5, 3.0),
    "ten equals": (0.0,) * 10,
    "ten unequals": tuple(0.4 * place for place in range(10)),
}
"""Skills: one of d more wins a match with a chance of 1 / (1 + exp(-d)), so that favourites have skewed luck."""


class Ledger:
    """The luck of each player so far, block by block, and who was ever named by the audit, or by a plain z-test."""

    def __init__(self) -> None:
        self.blocks: Counter[str] = Counter()
        self.luck: Counter[str] = Counter()
        self.squares: Counter[str] = Counter()
        self.ever_named: set[str] = set()
        self.ever_named_plainly: set[str] = set()

    def add(self, player: str, luck: float) -> None:
        """Add a block."""
        self.blocks[player] += 1
        self.luck[player] += luck / MOST_LOST  # type: ignore[assignment]
        self.squares[player] += (luck / MOST_LOST) ** 2  # type: ignore[assignment]

    def look(self) -> None:
        """Name whom the numbers name now."""
        self.ever_named |= self._named(lambda name: p_value(self.luck[name], self.squares[name]))
        self.ever_named_plainly |= self._named(self._plain)

    def _named(self, p_of: Callable[[str], float]) -> set[str]:
        names = [*self.blocks]
        return {name for name, p in zip(names, holm([p_of(name) for name in names]), strict=True) if p <= LEVEL}

    def _plain(self, name: str) -> float:
        spread = math.sqrt(self.squares[name])
        return 1.0 if not spread else 1.0 - _normal(self.luck[name] / spread)


_normal = cache(NormalDist().cdf)


def chance(one: float, other: float) -> float:
    """Of the player with that skill to win a match against the other."""
    return 1.0 / (1.0 + math.exp(other - one))


def looked_at_always(skills: Iterable[float], cycles: int, random: Random) -> Ledger:
    """Play a round robin of mirrored blocks, with a look after every cycle.

    The draws of a match decide it: luck is 1 - p with probability p, else -p. In half of the blocks the other match
    turns on the same draw, from the other seat.
    """
    field = {f"p{place}": skill for place, skill in enumerate(skills)}
    pairs = [(one, other) for one in field for other in field if one < other]
    ledger = Ledger()
    for _ in range(cycles):
        for one, other in pairs:
            wins = chance(field[one], field[other])
            first = random.random()
            second = 1.0 - first if random.random() < 0.5 else random.random()
            luck = (first < wins) + (second < wins) - 2.0 * wins
            ledger.add(one, luck)
            ledger.add(other, -luck)
        ledger.look()
    return ledger


def until_it_is_decided(skills: Iterable[float], random: Random) -> Ledger:
    """Play a league by the schedule `until: decided`, in which results are luck alone, with a look after each round."""
    field = {f"p{place}": skill for place, skill in enumerate(skills)}
    luck: dict[tuple[str, str, int], float] = {}

    def winner(one: str, other: str, block: int) -> str:
        wins = chance(field[one], field[other])
        is_won = random.random() < wins
        luck[one, other, block] = 2.0 * (is_won - wins)
        return one if is_won else other

    names, rule = [*field], StoppingRule(likelihood=0.95, step_blocks=5, cap_blocks=100)
    ledger = Ledger()
    play = Event(until_decided(names, cycle(names, 2), 10, rule, RatingSettings()), winner)
    left = iter(luck.items())
    for plan in play.plans:
        for _, ((one, other, _block), gained) in zip(range(plan.blocks * len(plan.tables)), left, strict=False):
            ledger.add(one, gained)
            ledger.add(other, -gained)
        ledger.look()
    return ledger


def shares(leagues: Iterable[Ledger]) -> tuple[float, float]:
    """In which part of leagues anybody was ever named: by the audit, and by a z-test."""
    named = [(bool(each.ever_named), bool(each.ever_named_plainly)) for each in leagues]
    audit, plain = (sum(column) / len(named) for column in zip(*named, strict=True))
    return audit, plain


def main(leagues: int, seed: int) -> None:
    """Print a table."""
    print(f"leagues in which anybody is ever named; promised: {LEVEL:.1%} at most")  # noqa: T201
    print("field         | schedule                     | looks | audit  | z-test each time")  # noqa: T201
    for name, skills in FIELDS.items():
        random = Random(seed)
        always = shares(looked_at_always(skills, 300, random) for _ in range(leagues))
        print(f"{name:<13} | 300 cycles                   | 300   | {always[0]:6.2%} | {always[1]:.1%}")  # noqa: T201
        decided = shares(until_it_is_decided(skills, random) for _ in range(leagues // 5))
        print(f"{name:<13} | until decided, 10-100 blocks | <= 19 | {decided[0]:6.2%} | {decided[1]:.1%}")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
