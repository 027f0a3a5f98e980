"""By how many matches mirrored luck and luck adjustment shorten a comparison, for all pairs of seven bots.

    python benchmarks/luck_adjustment.py                           # 100 blocks a pair; some minutes on two cores
    python benchmarks/luck_adjustment.py --blocks 300 --save FILE  # three times as long, and keep the blocks
    python benchmarks/luck_adjustment.py --load FILE               # the table of kept blocks; seconds
    python benchmarks/luck_adjustment.py --mean 100000             # the mean of luck, greedy against random; an hour

A block is two matches on the same luck with the seats swapped, played in this process by the bots' own modules. What is
compared is the variance of the mean payoff (win 1, draw 1/2) of a pair of matches: independent ones (as if the luck of
the two had nothing in common), mirrored, luck-adjusted, or both. A factor of 3 means a third of the matches for the
same error. The adjustment is that of a league of all these bots: the factor b on luck is shrunk, and the blocks of each
half have that of the other half. Behind +- is the standard error, from 200 resamplings of the blocks of each pair.
"""

import argparse
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from math import fsum, isfinite, nan, sqrt
from pathlib import Path
from statistics import fmean, stdev, variance
from typing import Final, NamedTuple

from luck_players import Clumsy, Greedy, InProcess, RandomPlayer, Sensible
from tabulate import tabulate

from arena.games import load_game
from arena.games.api import Chance, Decision
from arena.games.luck import derive, draw
from arena.games.shanghaien.value.position import ShanghaienValue
from arena.match.luck import LuckMeter
from arena.match.record import ActionStep, ChanceStep, Step
from arena.match.results import LUCK_UNIT
from arena.statistics.control_variate import Products, slopes

_RESAMPLINGS: Final = 200
_PORTION: Final = 10
_BOTS: Final[dict[str, tuple[str, Callable[[], InProcess]]]] = {
    "random": ("any action", RandomPlayer),
    "clumsy": ("greedy, 1 move in 2 random", Clumsy),
    "greedy": ("bots/greedy", Greedy),
    "slips": ("sensible, 1 move in 5 random", lambda: Sensible(slips=0.2)),
    "coarse": ("sensible with another worth of tricks", lambda: Sensible(TRICK=(4.0, 0.2))),
    "tiny": ("sensible with a tiny change", lambda: Sensible(SHARE=0.32)),
    "sensible": ("bots/sensible", Sensible),
}
"""The bots, weakest first: description and maker."""


class Block(NamedTuple):
    """Two matches on the same luck, seen by the stronger bot: points (2 a win), and luck in millionths."""

    points: tuple[int, int]
    luck: tuple[int, int]


Pair = tuple[str, str]
"""The weaker bot, and the stronger one."""


class Clock:
    """The CPU seconds spent on luck, and the number of matches they were spent on."""

    def __init__(self) -> None:
        self.spent_s = 0.0
        self.matches = 0


def play(seed: str, number: int, players: Sequence[InProcess], clock: Clock) -> tuple[tuple[int, ...], float]:
    """Play the match of that number in the block; return the scores by seat, and the luck of seat 0.

    Players get new seeds for each match: with equal seeds two equal bots would play the same match twice.
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
            step: Step = ActionStep(seat, None)
            after = game.apply(state, {seat: legal[index]})
        elif isinstance(turn, Chance):
            step = ChanceStep(turn.key, draw(seed, turn))
            after = game.resolve(state, step.outcome)
        else:
            break
        passed.append((state, after, step))
        state = after
    start_s = time.process_time()
    meter = LuckMeter(game, 2, ShanghaienValue())
    for place, moment in enumerate(passed):
        meter.note_step(place, *moment)
    luck = meter.luck().by_seat[0]
    clock.spent_s += time.process_time() - start_s
    clock.matches += 1
    return tuple(map(int, game.outcome(state).scores)), luck


def block(seed: str, weak: InProcess, strong: InProcess, clock: Clock) -> Block:
    """Play two matches on the same luck; return them as the stronger bot sees them."""
    scores, luck = play(seed, 0, (strong, weak), clock)
    swapped, other_luck = play(seed, 1, (weak, strong), clock)
    return Block(
        points=(_points(scores[0] - scores[1]), _points(swapped[1] - swapped[0])),
        luck=(round(luck * LUCK_UNIT), round(-other_luck * LUCK_UNIT)),
    )


def _points(margin: int) -> int:
    return 1 + (margin > 0) - (margin < 0)


def portion(seed: str, pair: Pair, numbers: range) -> tuple[list[Block], Clock]:
    """Play the blocks of these numbers, in a process of its own."""
    weak, strong = (_BOTS[name][1]() for name in pair)
    clock = Clock()
    return [block(f"{seed}/{'/'.join(pair)}/{number}", weak, strong, clock) for number in numbers], clock


def play_pairs(blocks: int, seed: str, workers: int) -> tuple[dict[Pair, list[Block]], Clock]:
    """Play `blocks` blocks of each pair in worker processes."""
    parts = [range(start, min(start + _PORTION, blocks)) for start in range(0, blocks, _PORTION)]
    tasks = [(pair, part) for pair in combinations(_BOTS, 2) for part in parts]
    blocks_by_pair: dict[Pair, list[Block]] = {pair: [] for pair, _ in tasks}
    clock = Clock()
    with ProcessPoolExecutor(workers) as pool:
        for (pair, _), (more, spent) in zip(
            tasks, pool.map(portion, [seed] * len(tasks), *zip(*tasks, strict=True)), strict=True
        ):
            blocks_by_pair[pair] += more
            clock.spent_s += spent.spent_s
            clock.matches += spent.matches
    return blocks_by_pair, clock


def load(file: Path) -> dict[Pair, list[Block]]:
    """Read the blocks that `--save` wrote."""
    stored = json.loads(file.read_text())
    return {tuple(key.split()): [Block(*map(tuple, fields)) for fields in blocks] for key, blocks in stored.items()}


Course = list[tuple[float, float]]
"""A series of blocks or single matches: payoff and luck of each."""


def products(course: Course, matches: int) -> tuple[float, ...]:
    """Return a row of `Products` for a series of blocks of `matches` matches."""
    if not course:
        return (0.0,) * len(Products._fields)
    payoff, luck = (fmean(column) for column in zip(*course, strict=True))
    return (
        len(course),
        matches * len(course),
        payoff / matches,
        fsum((y - payoff) ** 2 for y, _ in course),
        fsum((y - payoff) * (own_luck - luck) for y, own_luck in course),
        fsum((own_luck - luck) ** 2 for _, own_luck in course),
    )


def variance_left(courses: Sequence[Course], matches: int) -> list[float]:
    """Return the variance of each series without its luck; each half is fitted by the other half."""
    fitted = [slopes(Products.of(products(course[half::2], matches) for course in courses)) for half in (0, 1)]
    return [
        variance(y - fitted[1 - place % 2][number] * luck for place, (y, luck) in enumerate(course))
        for number, course in enumerate(courses)
    ]


class Factors(NamedTuple):
    """The factors by which the variance of a pair's mean falls; NaN where every match ended alike."""

    mirrored: float
    adjusted: float
    both: float


def factors(league: Sequence[Sequence[Block]]) -> list[Factors]:
    """Return the factors of each pair of the league."""
    alone = [[_course(blocks, match) for blocks in league] for match in (0, 1)]
    together = [[_sum(*pair) for pair in zip(*courses, strict=True)] for courses in zip(*alone, strict=True)]
    plain = [sum(variance(y for y, _ in course) for course in courses) for courses in zip(*alone, strict=True)]
    adjusted = [sum(pair) for pair in zip(*(variance_left(courses, 1) for courses in alone), strict=True)]
    mirrored = [variance(y for y, _ in course) for course in together]
    ways = zip(plain, mirrored, adjusted, variance_left(together, 2), strict=True)
    return [Factors(*(whole / part if whole and part > 1e-12 else nan for part in parts)) for whole, *parts in ways]


def _course(blocks: Sequence[Block], match: int) -> Course:
    return [(block.points[match] / 2, block.luck[match] / LUCK_UNIT) for block in blocks]


def _sum(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return one[0] + other[0], one[1] + other[1]


def rows(league: dict[Pair, list[Block]]) -> Iterator[list[str]]:
    """Yield the rows of the table, the strongest pairs last."""
    rng = random.Random(1)
    samples = [factors([rng.choices(blocks, k=len(blocks)) for blocks in league.values()]) for _ in range(_RESAMPLINGS)]
    estimates = factors([*league.values()])
    b = slopes(Products.of(products(_both(blocks), 2) for blocks in league.values()))
    for number, ((weak, strong), blocks) in enumerate(league.items()):
        spread = zip(*(sample[number] for sample in samples), strict=True)
        score = fmean(sum(block.points) / 4 for block in blocks)
        cells = [_cell(value, errors) for value, errors in zip(estimates[number], spread, strict=True)]
        yield [f"{strong} v {weak}", f"{100 * score:.1f}", *cells, f"{b[number]:.2f}"]


def _both(blocks: Sequence[Block]) -> Course:
    return [_sum(*pair) for pair in zip(_course(blocks, 0), _course(blocks, 1), strict=True)]


def _cell(value: float, resampled: Sequence[float]) -> str:
    finite = [sample for sample in resampled if isfinite(sample)]
    return f"{value:.2f} +-{stdev(finite):.2f}" if isfinite(value) and len(finite) > _RESAMPLINGS // 2 else "-"


def report_mean(count: int, seed: str, clock: Clock) -> None:
    """Print the mean of luck over many matches of a cheap pair, and its standard error."""
    first, second = Greedy(), RandomPlayer()
    luck = []
    for number in range(count):
        seats = (first, second) if number % 2 else (second, first)
        luck.append(play(f"{seed}/mean/{number}", 0, seats, clock)[1])
    error = stdev(luck) / sqrt(count)
    print(
        f"luck of seat 0 over {count} matches: {fmean(luck):.5f} +- {error:.5f}, {fmean(luck) / error:.2f} s.e. from 0"
    )


def main() -> None:
    """Play or load the blocks, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=100, help="blocks of each pair (at least 8)")
    parser.add_argument("--seed", default="luck", help="all luck comes from it")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="processes that play")
    parser.add_argument("--save", type=Path, help="keep the blocks in this file")
    parser.add_argument("--load", type=Path, help="instead of playing: the blocks of this file")
    parser.add_argument("--mean", type=int, default=0, help="instead: the mean of luck over so many matches")
    options = parser.parse_args()
    clock = Clock()
    if options.mean:
        report_mean(options.mean, options.seed, clock)
        return
    if options.load:
        league = load(options.load)
    else:
        league, clock = play_pairs(options.blocks, options.seed, options.workers)
    if options.save:
        options.save.write_text(json.dumps({" ".join(pair): blocks for pair, blocks in league.items()}))
    headers = ["pair", "score %", "mirrored", "luck-adjusted", "both", "b"]
    print(tabulate(rows(league), headers, disable_numparse=True))
    for name, (description, _) in _BOTS.items():
        print(f"{name}: {description}")
    if clock.matches:
        print(f"luck took {1000 * clock.spent_s / clock.matches:.2f} ms of CPU a match")


if __name__ == "__main__":
    main()
