"""Blocks and methods -> how well each method foretells matches it has not seen.

Rule: nobody is judged by what they were fitted to. The blocks of each pairing are dealt in turn onto folds; each fold
is foretold by a fit to all others (two folds: each half by the other half). Bots do not learn between matches, so the
future may be used to foretell the past, and every match is foretold exactly once. The alternative, each block from the
blocks before it, judges mostly how a method behaves with next to no matches. With two folds a method has half of the
matches that it will have in use; more folds come closer and cost a fit each.

Errors come from blocks: matches of a block are not independent.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from arena.statistics.blocks import Block
from arena.statistics.model import Chances, ProbitSettings
from arena.statistics.pairs import comparisons, pair_table
from arena.statistics.probit import fit

BINS: Final = 10
LEAST_CHANCE: Final = 1e-9
"""What a method is taken to say at least: a chance of 0 that comes true would cost without end."""

Forecaster = Callable[[str, str, tuple[int, int]], Chances]
"""The chances of the first player against the second, in these seats."""
Method = Callable[[Sequence[Block]], Forecaster]
"""Learns from blocks, and then foretells."""


class Forecast(msgspec.Struct, frozen=True, gc=False):
    """What was foretold of one comparison, seen from the earlier seat, and the score that came: 1, 1/2 or 0."""

    block: int
    chances: Chances
    score: float


class Bin(msgspec.Struct, frozen=True, gc=False):
    """The comparisons foretold to score from `low` up to `high`: what was foretold and what came, on average.

    `error` is the standard error of the difference; None with fewer than two blocks. Without any, all are None.
    """

    low: float
    high: float
    comparisons: int
    predicted: float | None
    observed: float | None
    error: float | None


class Calibration(msgspec.Struct, frozen=True):
    """How one method did. What no comparison tells is None.

    `log_loss` is the mean of -log(chance of what came), win, draw or loss; ln 2 is that of a coin where draws do not
    occur. `brier` is half the squared error over the three, the mean of (p - result)^2 where draws do not occur.
    `behind` is how much worse its log-loss is than the best method's, with the standard error of that difference.
    """

    method: str
    comparisons: int
    log_loss: float | None
    log_loss_error: float | None
    brier: float | None
    behind: float | None
    behind_error: float | None
    bins: tuple[Bin, ...]


def calibrations(played: Iterable[Block], methods: Mapping[str, Method], *, folds: int = 2) -> tuple[Calibration, ...]:
    """Judge each of `methods` on blocks it has not seen; the best log-loss first."""
    league = sorted(played, key=lambda block: (block.pairing, block.number))
    forecasts = {name: cross_fitted(league, method, folds=folds) for name, method in methods.items()}
    losses = {name: [(one.block, _log_loss(one)) for one in own] for name, own in forecasts.items()}
    order = sorted(methods, key=lambda name: (math.fsum(loss for _, loss in losses[name]), name))
    return tuple(_calibration(name, forecasts[name], losses[name], losses[order[0]]) for name in order)


def cross_fitted(played: Iterable[Block], method: Method, *, folds: int = 2) -> tuple[Forecast, ...]:
    """Foretell every comparison once, by a fit to the folds it is not in; in order of pairing and block."""
    if folds < 2:
        raise ValueError(f"folds: expected 2 or more, found {folds}")
    league = sorted(played, key=lambda block: (block.pairing, block.number))
    fold_of = _deal(league, folds)
    forecasters = {
        fold: method([block for block in league if fold_of[block.number] != fold])
        for fold in sorted(set(fold_of.values()))
    }
    return tuple(one for block in league for one in _forecasts(block, forecasters[fold_of[block.number]]))


def probit_method(players: Iterable[str], settings: ProbitSettings | None = None) -> Method:
    """Make a method of the batch fit, which foretells with the doubt about the skills taken in."""
    names = tuple(players)

    def learn(league: Sequence[Block]) -> Forecaster:
        fitted = fit(pair_table(names, (result for block in league for result in block.results)), settings)
        return lambda one, other, seats: fitted.forecast(one, other, seats=seats)

    return learn


def coin_method(league: Sequence[Block]) -> Forecaster:
    """Learn nothing but the share of draws: the line that a method should be below."""
    signs = [sign for block in league for _, _, _, sign in _comparisons(block)]
    draw = (signs.count(0) + 1.0) / (len(signs) + 3.0)
    return partial(_constant, Chances((1.0 - draw) / 2.0, draw, (1.0 - draw) / 2.0))


def _constant(chances: Chances, one: str, other: str, seats: tuple[int, int]) -> Chances:  # noqa: ARG001
    return chances


def _deal(league: Sequence[Block], folds: int) -> dict[int, int]:
    """Deal the blocks of each pairing in turn, the next pairing going on where the last one ended."""
    return {block.number: position % folds for position, block in enumerate(league)}


def _comparisons(block: Block) -> list[tuple[str, str, tuple[int, int], int]]:
    """By match, from the earlier seat: both players, their seats, and 1, 0 or -1."""
    found = []
    for seats, ranks in block.results:
        places = {player: seat for seat, player in enumerate(seats)}
        found += [
            (seats[one], seats[other], (first_seat, second_seat), sign)
            for (one, other, first_seat, second_seat), sign in comparisons((seats, ranks), places)
        ]
    return found


def _forecasts(block: Block, forecaster: Forecaster) -> Iterable[Forecast]:
    for one, other, seats, sign in _comparisons(block):
        yield Forecast(block.number, forecaster(one, other, seats), (1.0 + sign) / 2.0)


def _log_loss(one: Forecast) -> float:
    chance = {1.0: one.chances.win, 0.5: one.chances.draw, 0.0: one.chances.loss}[one.score]
    return -math.log(max(LEAST_CHANCE, chance))


def _brier(one: Forecast) -> float:
    said = zip((1.0, 0.5, 0.0), (one.chances.win, one.chances.draw, one.chances.loss), strict=True)
    return math.fsum((chance - (one.score == score)) ** 2 for score, chance in said) / 2.0


def _calibration(
    name: str,
    forecasts: Sequence[Forecast],
    losses: Sequence[tuple[int, float]],
    best: Sequence[tuple[int, float]],
) -> Calibration:
    log_loss, log_loss_error = _mean_and_error(losses)
    behind, behind_error = _mean_and_error(
        [(block, own - other) for (block, own), (_, other) in zip(losses, best, strict=True)]
    )
    brier, _ = _mean_and_error([(one.block, _brier(one)) for one in forecasts])
    return Calibration(
        method=name,
        comparisons=len(forecasts),
        log_loss=log_loss,
        log_loss_error=log_loss_error,
        brier=brier,
        behind=behind,
        behind_error=behind_error,
        bins=_bins(forecasts),
    )


def _bins(forecasts: Iterable[Forecast]) -> tuple[Bin, ...]:
    """Sort by what was foretold into tenths of the scale; the last one includes 1."""
    sorted_in: defaultdict[int, list[Forecast]] = defaultdict(list)
    for one in forecasts:
        sorted_in[min(BINS - 1, int(one.chances.score * BINS))].append(one)
    return tuple(_bin(index / BINS, (index + 1) / BINS, sorted_in[index]) for index in range(BINS))


def _bin(low: float, high: float, own: Sequence[Forecast]) -> Bin:
    if not own:
        return Bin(low, high, 0, None, None, None)
    predicted = math.fsum(one.chances.score for one in own) / len(own)
    observed = math.fsum(one.score for one in own) / len(own)
    _, error = _mean_and_error([(one.block, one.score - one.chances.score) for one in own])
    return Bin(low, high, len(own), predicted, observed, error)


def _mean_and_error(values: Sequence[tuple[int, float]]) -> tuple[float | None, float | None]:
    """Average (block, value), with a standard error from the sums of blocks about the mean."""
    if not values:
        return None, None
    mean = math.fsum(value for _, value in values) / len(values)
    by_block: defaultdict[int, list[float]] = defaultdict(list)
    for block, value in values:
        by_block[block].append(value - mean)
    if len(by_block) < 2:
        return mean, None
    squares = math.fsum(math.fsum(own) ** 2 for own in by_block.values())
    return mean, math.sqrt(squares * len(by_block) / (len(by_block) - 1)) / len(values)
