"""How many blocks the audit of luck takes to name a player of Shanghaien who foresees one draw in K.

    python benchmarks/luck_audit.py                       # about 5 minutes on one core
    python benchmarks/luck_audit.py --blocks 200 --foresees 1 --bot greedy

At each decision, with a chance of 1 in K, the cheat sees what falls before the next decision after each of its actions,
and takes the action after which the value of the game likes it best; else it decides as the honest bot it plays against
does. Blocks are mirrored and played in this process. The courses of a league are drawn from these blocks, with
replacement; the cheat is one of ten players, of whom the others have no luck at all, and it is looked at after every
ten blocks. Behind +- is a standard error.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from math import sqrt
from statistics import fmean, median, stdev
from typing import Any, Final

from luck_adjustment import Clock, play
from luck_players import Greedy, InProcess, Sensible
from tabulate import tabulate

from arena.games import load_game
from arena.games.api import Chance, Seat
from arena.games.luck import draw
from arena.games.shanghaien.value.position import ShanghaienValue
from arena.match.luck import LEAST
from arena.standings.luck_audit import LEVEL
from arena.statistics.confidence_sequence import p_value

PLAYERS: Final = 10
COURSES: Final = 100
LONGEST: Final = 10_000
LOOK: Final = 10
_MOST_LOST: Final = 2 * -LEAST
_BOTS: Final[dict[str, Callable[[], InProcess]]] = {"greedy": Greedy, "sensible": Sensible}


class Cheat:
    """A player that knows the seed of the block, and uses it in one decision of `every`."""

    def __init__(self, honest: InProcess, every: int) -> None:
        self._honest = honest
        self._every = every
        self._rng = random.Random()
        self._game, self._value = load_game("shanghaien"), ShanghaienValue()
        self.luck_seed = ""

    def start(self, seed: int) -> None:
        """Begin a match."""
        self._rng.seed(seed)
        self._honest.start(seed)

    def act(self, state: Any, seat: Seat, legal: tuple[Any, ...]) -> int:
        """Return the index of the chosen action."""
        if self._rng.randrange(self._every):
            return self._honest.act(state, seat, legal)
        worths = [self._value(self._fallen(state, seat, action))[seat] for action in legal]
        return worths.index(max(worths))

    def _fallen(self, state: Any, seat: Seat, action: Any) -> Any:
        """Return the state after the action and the draws that follow it."""
        after = self._game.apply(state, {seat: action})
        while isinstance(turn := self._game.turn(after), Chance):
            after = self._game.resolve(after, draw(self.luck_seed, turn))
        return after


def luck_of_block(seed: str, cheat: Cheat, honest: InProcess, clock: Clock) -> tuple[float, float]:
    """Play a block; return the cheat's mean payoff, and its luck in both matches together."""
    cheat.luck_seed = seed
    scores, luck = play(seed, 0, (cheat, honest), clock)
    swapped, other_luck = play(seed, 1, (honest, cheat), clock)
    margins = (scores[0] - scores[1], swapped[1] - swapped[0])
    return fmean([0.5 if not margin else float(margin > 0) for margin in margins]), luck - other_luck


def blocks_until_named(lucks: Sequence[float], rng: random.Random) -> int:
    """Return the number of blocks, drawn from these, until the audit names the player; at most `LONGEST`."""
    total, squares = 0.0, 0.0
    for number in range(1, LONGEST):
        luck = rng.choice(lucks) / _MOST_LOST
        total += luck
        squares += luck * luck
        if number % LOOK == 0 and p_value(total, squares) <= LEVEL / PLAYERS:
            return number
    return LONGEST


def row(bot: str, every: int, blocks: int, seed: str) -> list[str]:
    """Play the blocks of a row of the table, and return the row."""
    cheat, honest, clock = Cheat(_BOTS[bot](), every), _BOTS[bot](), Clock()
    played = [luck_of_block(f"{seed}/{bot}/{every}/{number}", cheat, honest, clock) for number in range(blocks)]
    scores, lucks = zip(*played, strict=True)
    rng = random.Random(seed)
    times = sorted(blocks_until_named(lucks, rng) for _ in range(COURSES))
    score, luck = ([fmean(values), stdev(values) / sqrt(blocks)] for values in (scores, [luck / 2 for luck in lucks]))
    return [
        bot,
        f"1 in {every}",
        f"{100 * score[0]:.0f} +-{100 * score[1]:.0f}",
        f"{luck[0]:+.3f} +-{luck[1]:.3f}",
        f"{stdev(lucks):.2f}",
        *(f"{'>= ' * (count == LONGEST)}{count}" for count in (round(median(times)), times[int(0.9 * COURSES)])),
    ]


def main() -> None:
    """Play all rows and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=100, help="blocks played for each line")
    parser.add_argument("--bot", choices=sorted(_BOTS), action="append", help="only with this bot; can be repeated")
    parser.add_argument("--foresees", type=int, action="append", metavar="K", help="only 1 in K; can be repeated")
    parser.add_argument("--seed", default="audit", help="all luck comes from it")
    options = parser.parse_args()
    rows = [
        row(bot, every, options.blocks, options.seed)
        for bot in options.bot or _BOTS
        for every in options.foresees or (1, 2, 4, 8)
    ]
    headers = ["cheat", "foresees", "score %", "luck a match", "sd of a block", "named after blocks: median", "9 of 10"]
    print(tabulate(rows, headers, disable_numparse=True))


if __name__ == "__main__":
    main()
