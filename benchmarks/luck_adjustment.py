"""How many matches mirrored luck and luck adjustment save, and that the adjustment moves no mean.

    python benchmarks/luck_adjustment.py --blocks 300              # all pairs; about 15 minutes on one core
    python benchmarks/luck_adjustment.py --blocks 600 --pair tiny
    python benchmarks/luck_adjustment.py --mean 100000             # the mean of luck, greedy against random; an hour

A block is two matches on the same luck with the seats swapped, played in this process by the bots' own modules. What is
compared is the variance of the mean of a pair of matches, of a bot's payoff (win 1, draw 1/2) and of its margin:
independent (as if the luck of the two matches had nothing in common), mirrored, luck-adjusted, or both. A factor of 3
means a third of the matches for the same standard error. The coefficient b is cross-fitted: each half of the blocks is
adjusted with the b of the other half. Behind +- is the standard error of a factor, from 200 resamplings.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from math import inf, isfinite, sqrt
from statistics import fmean, stdev, variance
from typing import Final, NamedTuple

from luck_players import Greedy, InProcess, RandomPlayer, Sensible
from tabulate import tabulate

from arena.games import load_game
from arena.games.api import Chance, Decision
from arena.games.luck import derive, draw
from arena.games.shanghaien.value import ShanghaienValue
from arena.match.luck_sum import LuckMeter

_RESAMPLINGS: Final = 200
_PAIRS: Final[dict[str, tuple[str, Callable[[], tuple[InProcess, InProcess]]]]] = {
    "tiny": ("a: a version with a tiny change", lambda: (Sensible(), Sensible(SHARE=0.32))),
    "tuned": ("a: a version with another parameter", lambda: (Sensible(), Sensible(TRICK=(4.0, 0.2)))),
    "same": ("b: the same bot, 1 move in 10 random", lambda: (Sensible(slips=0.1), Sensible(slips=0.1))),
    "weak": ("c: good v weak (greedy)", lambda: (Sensible(), Greedy())),
    "random": ("d: good v random", lambda: (Sensible(), RandomPlayer())),
    "cheap": ("e: greedy v random", lambda: (Greedy(), RandomPlayer())),
}


class Played(NamedTuple):
    """A match as the first bot of the pair sees it."""

    payoff: float
    margin: float
    luck: float


Block = tuple[Played, Played]


class Clock:
    """CPU seconds spent on luck, and the matches they were spent on."""

    def __init__(self) -> None:
        self.spent_s = 0.0
        self.matches = 0


def play(seed: str, number: int, players: Sequence[InProcess], clock: Clock) -> tuple[tuple[int, ...], float]:
    """The scores by seat, and the luck of seat 0, in the match of that number in the block.

    Players get other seeds in each match: with the same ones two equal bots would play the same match twice.
    """
    game = load_game("shanghaien")
    state, passed = game.setup({}, 2), []
    for seat, player in enumerate(players):
        player.start(int(derive("bot", seed, number, seat)[:13], 16))
    while True:
        turn = game.turn(state)
        if isinstance(turn, Decision):
            seat = turn.seats[0]
            legal = game.legal(state, seat) or ()
            index = 0 if len(legal) == 1 else players[seat].act(state, seat, legal)
            after = game.apply(state, {seat: legal[index]})
        elif isinstance(turn, Chance):
            after = game.resolve(state, draw(seed, turn))
        else:
            break
        passed.append((state, after))
        state = after
    start_s = time.process_time()
    meter = LuckMeter(game, 2, ShanghaienValue())
    for step, (before, after) in enumerate(passed):
        meter.passed(step, before, after)
    luck = meter.luck().by_seat[0]
    clock.spent_s += time.process_time() - start_s
    clock.matches += 1
    return tuple(map(int, game.outcome(state).scores)), luck


def block(seed: str, pair: tuple[InProcess, InProcess], clock: Clock) -> Block:
    """Two matches on the same luck, as the first bot sees them."""
    scores, luck = play(seed, 0, pair, clock)
    swapped, other_luck = play(seed, 1, pair[::-1], clock)
    return _seen(scores[0] - scores[1], luck), _seen(swapped[1] - swapped[0], -other_luck)


def _seen(margin: int, luck: float) -> Played:
    return Played(0.5 if margin == 0 else float(margin > 0), float(margin), luck)


def slope(values: Sequence[float], luck: Sequence[float]) -> float:
    """The coefficient b: covariance by variance of luck."""
    mean_value, mean_luck = fmean(values), fmean(luck)
    spread = sum([(each - mean_luck) ** 2 for each in luck])
    together = sum([(value - mean_value) * (each - mean_luck) for value, each in zip(values, luck, strict=True)])
    return together / spread if spread else 0.0


def adjusted(values: Sequence[float], luck: Sequence[float]) -> list[float]:
    """Cross-fitted: those at even places with the coefficient of those at odd ones, and the other way round."""
    of = [slope(values[1 - half :: 2], luck[1 - half :: 2]) for half in (0, 1)]
    return [value - of[place % 2] * each for place, (value, each) in enumerate(zip(values, luck, strict=True))]


def factors(blocks: Sequence[Block], what: str) -> tuple[float, float, float]:
    """By how much the variance of a pair's mean falls: mirrored, luck-adjusted, both."""
    seats = [[getattr(match[seat], what) for match in blocks] for seat in (0, 1)]
    luck = [[match[seat].luck for match in blocks] for seat in (0, 1)]
    alone = sum(map(variance, seats)) / 4
    means, mean_luck = [[fmean(pair) for pair in zip(*side, strict=True)] for side in (seats, luck)]
    each = sum([variance(adjusted(values, its)) for values, its in zip(seats, luck, strict=True)]) / 4
    found = variance(means), each, variance(adjusted(means, mean_luck))
    mirrored, luck_adjusted, both = [alone / left if left > 1e-12 else inf for left in found]
    return mirrored, luck_adjusted, both


def rows(name: str, blocks: Sequence[Block]) -> list[list[str]]:
    """Two rows of the table: payoffs and margins."""
    found = []
    rng = random.Random(1)
    samples = [rng.choices(blocks, k=len(blocks)) for _ in range(_RESAMPLINGS)]
    for what in ("payoff", "margin"):
        resampled = zip(*[factors(sample, what) for sample in samples], strict=True)
        spread = [stdev(each) if all(map(isfinite, each)) else inf for each in resampled]
        cells = [f"{each:.2f} +-{error:.2f}" for each, error in zip(factors(blocks, what), spread, strict=True)]
        values = [getattr(match, what) for pair in blocks for match in pair]
        b = slope(values, [match.luck for pair in blocks for match in pair])
        found.append([name, what, f"{fmean(values):.3f}", *cells, f"{b:.2f}"])
    return found


def report_mean(count: int, seed: str, clock: Clock) -> None:
    """The mean of luck over many matches of a cheap pair, in standard errors."""
    first, second = _PAIRS["cheap"][1]()
    luck = []
    for number in range(count):
        seats = (first, second) if number % 2 else (second, first)
        luck.append(play(f"{seed}/mean/{number}", 0, seats, clock)[1])
    error = stdev(luck) / sqrt(count)
    print(
        f"luck of seat 0 over {count} matches: {fmean(luck):.5f} +- {error:.5f}, {fmean(luck) / error:.2f} s.e. from 0"
    )


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=100, help="blocks of each pair (at least 8)")
    parser.add_argument("--pair", choices=sorted(_PAIRS), action="append", help="only this pair; can be repeated")
    parser.add_argument("--seed", default="luck", help="all luck comes from it")
    parser.add_argument("--mean", type=int, default=0, help="instead: the mean of luck over so many matches")
    options = parser.parse_args()
    clock = Clock()
    if options.mean:
        report_mean(options.mean, options.seed, clock)
    else:
        table = []
        for key in options.pair or _PAIRS:
            name, make = _PAIRS[key]
            pair = make()
            blocks = [block(f"{options.seed}/{key}/{number}", pair, clock) for number in range(options.blocks)]
            table += rows(name, blocks)
        headers = ["pair", "of", "mean", "mirrored", "luck-adjusted", "both", "b"]
        print(tabulate(table, headers, disable_numparse=True))
    print(f"luck took {1000 * clock.spent_s / clock.matches:.2f} ms of CPU a match")


if __name__ == "__main__":
    main()
