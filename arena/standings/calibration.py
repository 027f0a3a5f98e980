"""The ranks of a league -> what each method would have predicted of its matches, and what came.

Rule: nobody is judged by what they were fitted to. The blocks of each pairing are dealt in turn onto two folds; each
fold is predicted by a fit to the other. Bots do not learn between matches, so the future may be used to predict the
past, and every match is predicted exactly once. A method has half of the matches that it has in use, and does a little
worse here. Like is compared with like: TrueSkill knows no seats, so the rating is judged with seats and without.

Errors come from blocks. Blocks of one fold and pairing that took the same course were predicted alike and cost the
same, so they are counted, not gone through.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import msgspec
import numpy as np

from arena.match.results import PairingRanks
from arena.standings.ranks import in_schedule_order
from arena.standings.ratings import RatingSettings, rate
from arena.standings.skills import model_of
from arena.statistics.comparisons import table_of
from arena.statistics.interval import Interval, degrees_of_freedom, interval
from arena.statistics.model import Chances, chances_at
from arena.statistics.newton import Floats, Indices
from arena.statistics.pairs import comparisons, signs
from arena.statistics.probit import fit

COIN: Final = "coin"
RATING: Final = "rating"
RATING_WITHOUT_SEATS: Final = "rating without seats"
TRUESKILL: Final = "TrueSkill (no seats)"
BINS: Final = 10
FOLDS: Final = 2
LEAST_CHANCE: Final = 1e-9
"""The least chance that a method is taken to give: one of 0 that comes true would cost without end."""

Forecaster = Callable[[str, str, tuple[int, int]], Chances]
"""The chances of the first player against the second, in these seats."""
Method = Callable[[Sequence[PairingRanks]], Forecaster]
"""Learns from pairings in the order of the schedule, and then predicts."""


class Bin(msgspec.Struct, frozen=True, gc=False):
    """The comparisons predicted to score from `low` up to `high`: what was predicted and what came, on average.

    `error` is the standard error of the difference, from so many `blocks`; None with fewer than two. Without any, all
    are None.
    """

    low: float
    high: float
    comparisons: int
    predicted: float | None
    observed: float | None
    error: float | None
    blocks: int

    @property
    def came(self) -> Interval | None:
        """The mean outcome, with the 95 % interval of its difference from the prediction."""
        if self.observed is None:
            return None
        seen = {"degrees": self.blocks - 1.0, "blocks": self.blocks}
        return interval(min(max(self.observed, 0.0), 1.0), self.error or 0.0, **seen, lowest=0.0, highest=1.0)


class Calibration(msgspec.Struct, frozen=True):
    """The quality of one method. A value that no comparison tells is None.

    `log_loss` is the mean of -log(chance of what came), win, draw or loss; ln 2 is that of a coin where draws do not
    occur. `brier` is half the squared error over the three, the mean of (p - result)^2 where draws do not occur.
    `behind` is how much worse its log-loss is than the best method's. All errors are standard errors, from `blocks`.
    """

    method: str
    comparisons: int
    log_loss: float | None
    log_loss_error: float | None
    brier: float | None
    behind: float | None
    behind_error: float | None
    bins: tuple[Bin, ...]
    blocks: int

    @property
    def cost(self) -> Interval | None:
        """The log-loss with its 95 % interval."""
        return _mean_of_blocks(self.log_loss, self.log_loss_error, self.blocks)

    @property
    def distance(self) -> Interval | None:
        """The distance behind the best, with the 95 % interval."""
        return _mean_of_blocks(self.behind, self.behind_error, self.blocks)


class Judged(msgspec.Struct, frozen=True):
    """All methods, the one that predicts best first. `blocks` were predicted."""

    league: str
    matches: int
    blocks: int
    methods: tuple[Calibration, ...]


class FavouriteBias(msgspec.Struct, frozen=True):
    """By how much more than predicted the favourites of a method scored, over all tenths, with its standard error."""

    value: float
    error: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Blocks by fold, pairing and course: C courses that occurred, of T pairings in a fold, with R comparisons each.

    `tables` are the fold and the players of each of the T; `table` (C,) is the number of each course's own, `times`
    (C,) how often it occurred. `came` (C, R) is 0 for a win of the earlier seat, 1 for a draw and 2 for a loss,
    `is_there` (C, R) whether the comparison was played at all.
    """

    tables: tuple[tuple[int, tuple[str, ...]], ...]
    table: Indices
    times: Floats
    came: Indices
    is_there: Floats


def judged(league: str, players: Iterable[str], ranks: Sequence[PairingRanks], settings: RatingSettings) -> Judged:
    """Let every method predict the matches it has not seen. `ranks` come in the order of the schedule."""
    names = tuple(players)
    methods: dict[str, Method] = {
        COIN: coin,
        RATING: batch_method(names, settings),
        RATING_WITHOUT_SEATS: batch_method(names, settings, knows_seats=False),
        TRUESKILL: trueskill_method(names, settings),
    }
    blocks = sum(len(one.blocks) for one in ranks)
    return Judged(league, sum(one.matches for one in ranks), blocks, calibrations(ranks, methods) if blocks else ())


def calibrations(ranks: Sequence[PairingRanks], methods: Mapping[str, Method]) -> tuple[Calibration, ...]:
    """Judge each of `methods` on blocks it has not seen; the best log-loss first."""
    folds = _dealt(ranks)
    blocks = _blocks(folds)
    chances = {name: _predicted(folds, blocks, method)[blocks.table] for name, method in methods.items()}
    losses = {name: _log_losses(blocks, said) for name, said in chances.items()}
    order = sorted(methods, key=lambda name: (float((blocks.times * losses[name]).sum()), name))
    return tuple(_calibration(name, blocks, chances[name], losses[name], losses[order[0]]) for name in order)


def batch_method(players: Iterable[str], settings: RatingSettings, *, knows_seats: bool = True) -> Method:
    """Make a method of the batch fit, which predicts with the doubt about the skills taken in."""
    names = tuple(players)
    model = model_of(settings)
    chosen = model if knows_seats else msgspec.structs.replace(model, seat_sigma=0.0)

    def learn(ranks: Sequence[PairingRanks]) -> Forecaster:
        found = fit(table_of(names, ranks), chosen)
        return lambda one, other, seats: found.forecast(one, other, seats=seats)

    return learn


def trueskill_method(players: Iterable[str], settings: RatingSettings) -> Method:
    """Make a method of the one-pass ratings, which predicts with the doubt about both skills taken in."""
    names = tuple(players)
    model = model_of(settings)

    def learn(ranks: Sequence[PairingRanks]) -> Forecaster:
        ratings = rate(names, in_schedule_order(ranks), settings)

        def predict(one: str, other: str, seats: tuple[int, int]) -> Chances:  # noqa: ARG001 - it knows no seats
            first, second = ratings[one], ratings[other]
            scale = math.sqrt(model.scale**2 + first.sigma**2 + second.sigma**2)
            return chances_at(first.mu - second.mu, scale, model.margin)

        return predict

    return learn


def coin(ranks: Sequence[PairingRanks]) -> Forecaster:
    """Learn nothing but the share of draws: the line that a method should be below."""
    found: Counter[int | None] = Counter()
    for one in ranks:
        for course, times in Counter(one.courses).items():
            for sign in signs(course, len(one.players)):
                found[sign] += times
    del found[None]
    draw = (found[0] + 1.0) / (found.total() + 3.0)
    chances = Chances((1.0 - draw) / 2.0, draw, (1.0 - draw) / 2.0)
    return lambda *_: chances


def favourite_bias(found: Calibration) -> FavouriteBias | None:
    """Tell whether favourites did better than predicted; None where no tenth has an error.

    Tenths are taken as independent. Those of mirrored matches are not: where luck decides both, the error is too wide.
    """
    known = [one for one in found.bins if one.error and one.predicted is not None and one.observed is not None]
    total = sum(one.comparisons for one in known)
    if not total:
        return None
    off = 0.0
    parts = []
    for one in known:
        side = 1.0 if one.low + one.high > 1.0 else -1.0
        off += one.comparisons * side * ((one.observed or 0.0) - (one.predicted or 0.0))
        parts.append(((one.comparisons * (one.error or 0.0)) ** 2, one.blocks - 1.0))
    value, error = off / total, math.sqrt(sum(variance for variance, _ in parts)) / total
    return FavouriteBias(value, error, interval(value, error, degrees=degrees_of_freedom(parts)))


def _dealt(ranks: Sequence[PairingRanks]) -> tuple[tuple[PairingRanks, ...], ...]:
    """Deal the blocks of each pairing in turn, the next pairing going on where the last one ended."""
    folds: tuple[list[PairingRanks], ...] = tuple([] for _ in range(FOLDS))
    position = 0
    for one in ranks:
        courses = list(one.courses)
        for fold, own in enumerate(folds):
            first = (fold - position) % FOLDS
            own.append(PairingRanks(one.players, list(one.blocks)[first::FOLDS], "".join(courses[first::FOLDS])))
        position += len(courses)
    return tuple(tuple(one for one in own if one.blocks) for own in folds)


def _blocks(folds: Sequence[Sequence[PairingRanks]]) -> _Blocks:
    found = [(fold, one) for fold, own in enumerate(folds) for one in own]
    counts = [sorted(Counter(one.courses).items()) for _, one in found]
    entries = [(number, course, times) for number, own in enumerate(counts) for course, times in own]
    seats = max((len(one.players) for _, one in found), default=2)
    results, rows = [_results(course, seats) for _, course, _ in entries], len(comparisons(seats))
    return _Blocks(
        tables=tuple((fold, one.players) for fold, one in found),
        table=np.array([number for number, *_ in entries], dtype=np.int64),
        times=np.array([times for *_, times in entries], dtype=np.float64),
        came=np.array([came for came, _ in results], dtype=np.int64).reshape(len(entries), rows),
        is_there=np.array([there for _, there in results], dtype=np.float64).reshape(len(entries), rows),
    )


def _predicted(folds: Sequence[Sequence[PairingRanks]], blocks: _Blocks, method: Method) -> Floats:
    """Let the method predict each fold from the others: of each comparison the chances (T, R, 3), as `came`."""
    forecasters = {
        fold: method([one for number, other in enumerate(folds) if number != fold for one in other])
        for fold in sorted({fold for fold, _ in blocks.tables})
    }
    said = [
        forecasters[fold](*_from_the_earlier_seat(players, number))
        for fold, players in blocks.tables
        for number in range(len(comparisons(len(players))))
    ]
    found = np.array([(one.win, one.draw, one.loss) for one in said], dtype=np.float64)
    return found.reshape(len(blocks.tables), blocks.came.shape[1], 3)


def _from_the_earlier_seat(players: Sequence[str], number: int) -> tuple[str, str, tuple[int, int]]:
    row = comparisons(len(players))[number]
    one, other = players[row.first], players[row.second]
    if row.first_seat < row.second_seat:
        return one, other, (row.first_seat, row.second_seat)
    return other, one, (row.second_seat, row.first_seat)


@lru_cache(maxsize=65536)
def _results(course: str, seats: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The outcome of each comparison of a block, as `_Blocks` has it, and whether it was played."""
    rows = comparisons(seats)
    came = [
        1 - (sign or 0) * (1 if row.first_seat < row.second_seat else -1)
        for row, sign in zip(rows, signs(course, seats), strict=True)
    ]
    return tuple(came), tuple(float(sign is not None) for sign in signs(course, seats))


def _log_losses(blocks: _Blocks, said: Floats) -> Floats:
    """The log-loss of each block (C,), over its comparisons."""
    chance = np.take_along_axis(said, blocks.came[..., None], axis=-1)[..., 0]
    found: Floats = -(np.log(np.maximum(LEAST_CHANCE, chance)) * blocks.is_there).sum(axis=1)
    return found


def _briers(blocks: _Blocks, said: Floats) -> Floats:
    """The Brier score of each block (C,): (1 - p)^2 for what came, p^2 for the others, half of that."""
    chance = np.take_along_axis(said, blocks.came[..., None], axis=-1)[..., 0]
    found: Floats = ((1.0 - 2.0 * chance + (said * said).sum(axis=-1)) / 2.0 * blocks.is_there).sum(axis=1)
    return found


def _calibration(name: str, blocks: _Blocks, said: Floats, losses: Floats, best: Floats) -> Calibration:
    counts = blocks.is_there.sum(axis=1)
    log_loss, log_loss_error = _mean_and_error(blocks.times, counts, losses)
    behind, behind_error = _mean_and_error(blocks.times, counts, losses - best)
    brier, _ = _mean_and_error(blocks.times, counts, _briers(blocks, said))
    return Calibration(
        method=name,
        comparisons=round(float((blocks.times * counts).sum())),
        log_loss=log_loss,
        log_loss_error=log_loss_error,
        brier=brier,
        behind=behind,
        behind_error=behind_error,
        bins=_bins(blocks, said),
        blocks=_blocks_with(blocks.times, counts),
    )


def _bins(blocks: _Blocks, said: Floats) -> tuple[Bin, ...]:
    """Sort by what was predicted into tenths of the scale; the last one includes 1."""
    predicted = said[..., 0] + said[..., 1] / 2.0
    which = np.minimum(BINS - 1, (predicted * BINS).astype(np.int64))
    found = []
    for index in range(BINS):
        own = blocks.is_there * (which == index)
        sums = ((own * values).sum(axis=1) for values in (1.0, predicted, 1.0 - blocks.came / 2.0))
        found.append(_bin(index, blocks.times, *sums))
    return tuple(found)


def _bin(index: int, times: Floats, counts: Floats, said: Floats, came: Floats) -> Bin:
    predicted, _ = _mean_and_error(times, counts, said)
    observed, _ = _mean_and_error(times, counts, came)
    _, error = _mean_and_error(times, counts, came - said)
    total = round(float((times * counts).sum()))
    if predicted is not None and error is not None and index in {0, BINS - 1}:
        # where nothing surprising came yet blocks hardly vary: an error is at least that of the predicted chance
        error = max(error, math.sqrt(max(0.0, predicted * (1.0 - predicted)) / total))
    own = _blocks_with(times, counts)
    return Bin(index / BINS, (index + 1) / BINS, total, predicted, observed, error, own)


def _mean_of_blocks(value: float | None, error: float | None, blocks: int) -> Interval | None:
    """A mean without known ends; nothing is known of it from a single block."""
    if value is None:
        return None
    return Interval(value, -math.inf, math.inf) if error is None else interval(value, error, degrees=blocks - 1.0)


def _blocks_with(times: Floats, counts: Floats) -> int:
    """Blocks with a comparison; see `_mean_and_error`."""
    return round(float(times[counts > 0.0].sum()))


def _mean_and_error(times: Floats, counts: Floats, values: Floats) -> tuple[float | None, float | None]:
    """Average over comparisons, with a standard error from blocks about the mean; None for what cannot be told.

    Each course occurred so many `times`, in blocks with so many comparisons, `counts`, and the sum `values` of theirs.
    """
    total, blocks = float((times * counts).sum()), _blocks_with(times, counts)
    if not total:
        return None, None
    mean = float((times * values).sum()) / total
    if blocks < 2:
        return mean, None
    squares = float((times * (values - mean * counts) ** 2).sum())
    return mean, math.sqrt(squares * blocks / (blocks - 1)) / total
