"""The ranks of a league -> what each method would have foretold of its matches, and what came.

Rule: nobody is judged by what they were fitted to. The blocks of each pairing are dealt in turn onto two folds; each
fold is foretold by a fit to the other. Bots do not learn between matches, so the future may be used to foretell the
past, and every match is foretold exactly once. A method has half of the matches that it has in use, and does a little
worse here. Like is compared with like: TrueSkill knows no seats, so MAP is judged with seats and without.

Errors come from blocks. Blocks of one fold and pairing that took the same course were foretold alike and cost the same,
so they are counted, not gone through.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import starmap
from typing import Final, NamedTuple

import msgspec

from arena.match.results import PairingRanks
from arena.standings.ratings import RatingSettings, rate
from arena.standings.skills import model_of
from arena.standings.sums import in_schedule_order
from arena.statistics.model import Chances, chances_at
from arena.statistics.pairs import comparisons, signs
from arena.statistics.probit import fit

COIN: Final = "coin"
MAP: Final = "MAP"
MAP_WITHOUT_SEATS: Final = "MAP without seats"
TRUESKILL: Final = "TrueSkill (no seats)"
BINS: Final = 10
FOLDS: Final = 2
LEAST_CHANCE: Final = 1e-9
"""What a method is taken to say at least: a chance of 0 that comes true would cost without end."""

Forecaster = Callable[[str, str, tuple[int, int]], Chances]
"""The chances of the first player against the second, in these seats."""
Method = Callable[[Sequence[PairingRanks]], Forecaster]
"""Learns from pairings in the order of the schedule, and then foretells."""


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
    """How one method did. None is what no comparison tells.

    `log_loss` is the mean of -log(chance of what came), win, draw or loss; ln 2 is that of a coin where draws do not
    occur. `brier` is half the squared error over the three, the mean of (p - result)^2 where draws do not occur.
    `behind` is how much worse its log-loss is than the best method's. All errors are standard errors.
    """

    method: str
    comparisons: int
    log_loss: float | None
    log_loss_error: float | None
    brier: float | None
    behind: float | None
    behind_error: float | None
    bins: tuple[Bin, ...]


class Judged(msgspec.Struct, frozen=True):
    """All methods, the one that foretells best first. `blocks` were foretold."""

    league: str
    matches: int
    blocks: int
    methods: tuple[Calibration, ...]


class Tilt(msgspec.Struct, frozen=True):
    """By how much more than foretold the favourites of a method scored, over all tenths, with its standard error."""

    value: float
    error: float


class _Course(NamedTuple):
    """So many blocks of a pairing, in one fold, that all took this course."""

    fold: int
    players: tuple[str, ...]
    course: str
    times: int


class _Cost(NamedTuple):
    """Of one block: its comparisons, and the sums of log-loss and Brier score over them."""

    comparisons: int
    log_loss: float
    brier: float


def judged(league: str, players: Iterable[str], ranks: Sequence[PairingRanks], settings: RatingSettings) -> Judged:
    """Let every method foretell the matches it has not seen. `ranks` come in the order of the schedule."""
    names = tuple(players)
    methods: dict[str, Method] = {
        COIN: coin,
        MAP: map_method(names, settings),
        MAP_WITHOUT_SEATS: map_method(names, settings, knows_seats=False),
        TRUESKILL: trueskill_method(names, settings),
    }
    blocks = sum(len(one.blocks) for one in ranks)
    return Judged(league, sum(one.matches for one in ranks), blocks, calibrations(ranks, methods) if blocks else ())


def calibrations(ranks: Sequence[PairingRanks], methods: Mapping[str, Method]) -> tuple[Calibration, ...]:
    """Judge each of `methods` on blocks it has not seen; the best log-loss first."""
    folds = _dealt(ranks)
    courses = _courses(folds)
    costs, bins = {}, {}
    for name, method in methods.items():
        chances = _foretold(folds, method)
        costs[name] = [_cost(one, chances[one.fold, one.players]) for one in courses]
        bins[name] = _bins(courses, chances)
    times = [one.times for one in courses]
    total = {name: math.fsum(own.log_loss * n for own, n in zip(costs[name], times, strict=True)) for name in methods}
    order = sorted(methods, key=lambda name: (total[name], name))
    return tuple(_calibration(name, times, costs[name], costs[order[0]], bins[name]) for name in order)


def map_method(players: Iterable[str], settings: RatingSettings, *, knows_seats: bool = True) -> Method:
    """Make a method of the batch fit, which foretells with the doubt about the skills taken in."""
    names = tuple(players)
    model = model_of(settings)
    chosen = model if knows_seats else msgspec.structs.replace(model, seat_sigma=0.0)

    def learn(ranks: Sequence[PairingRanks]) -> Forecaster:
        found = fit(names, ranks, chosen)
        return lambda one, other, seats: found.forecast(one, other, seats=seats)

    return learn


def trueskill_method(players: Iterable[str], settings: RatingSettings) -> Method:
    """Make a method of the one-pass ratings, which foretells with the doubt about both skills taken in."""
    names = tuple(players)
    model = model_of(settings)

    def learn(ranks: Sequence[PairingRanks]) -> Forecaster:
        ratings = rate(names, in_schedule_order(ranks), settings)

        def foretell(one: str, other: str, seats: tuple[int, int]) -> Chances:  # noqa: ARG001 - it knows no seats
            first, second = ratings[one], ratings[other]
            scale = math.sqrt(model.scale**2 + first.sigma**2 + second.sigma**2)
            return chances_at(first.mu - second.mu, scale, model.margin)

        return foretell

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
    return partial(_constant, Chances((1.0 - draw) / 2.0, draw, (1.0 - draw) / 2.0))


def tilt(found: Calibration) -> Tilt | None:
    """Tell whether favourites did better than foretold; None where no tenth has an error.

    Tenths are taken as independent. Those of mirrored matches are not: where luck decides both, the error is too wide.
    """
    known = [one for one in found.bins if one.error and one.predicted is not None and one.observed is not None]
    total = sum(one.comparisons for one in known)
    if not total:
        return None
    off, square = 0.0, 0.0
    for one in known:
        side = 1.0 if one.low + one.high > 1.0 else -1.0
        off += one.comparisons * side * ((one.observed or 0.0) - (one.predicted or 0.0))
        square += (one.comparisons * (one.error or 0.0)) ** 2
    return Tilt(off / total, math.sqrt(square) / total)


def _constant(chances: Chances, one: str, other: str, seats: tuple[int, int]) -> Chances:  # noqa: ARG001
    return chances


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


def _courses(folds: Iterable[Iterable[PairingRanks]]) -> list[_Course]:
    return [
        _Course(fold, one.players, course, times)
        for fold, own in enumerate(folds)
        for one in own
        for course, times in sorted(Counter(one.courses).items())
    ]


_Foretold = dict[tuple[int, tuple[str, ...]], list[Chances]]
"""By fold and pairing: the chances of each comparison of a block, seen from the earlier seat."""


def _foretold(folds: Sequence[Sequence[PairingRanks]], method: Method) -> _Foretold:
    """Let the method foretell each fold from the others."""
    found: _Foretold = {}
    for fold, own in enumerate(folds):
        if own:
            forecaster = method([one for number, other in enumerate(folds) if number != fold for one in other])
            for one in own:
                found[fold, one.players] = [
                    forecaster(*_from_the_earlier_seat(one.players, number))
                    for number in range(len(comparisons(len(one.players))))
                ]
    return found


def _from_the_earlier_seat(players: Sequence[str], number: int) -> tuple[str, str, tuple[int, int]]:
    row = comparisons(len(players))[number]
    one, other = players[row.first], players[row.second]
    if row.first_seat < row.second_seat:
        return one, other, (row.first_seat, row.second_seat)
    return other, one, (row.second_seat, row.first_seat)


def _results(one: _Course) -> list[tuple[int, int]]:
    """The numbers of the comparisons that were played in the block, with 0 for a win of the earlier seat, 1 or 2."""
    rows = comparisons(len(one.players))
    return [
        (number, 1 - (sign if rows[number].first_seat < rows[number].second_seat else -sign))
        for number, sign in enumerate(signs(one.course, len(one.players)))
        if sign is not None
    ]


def _cost(one: _Course, chances: Sequence[Chances]) -> _Cost:
    log_loss = brier = 0.0
    results = _results(one)
    for number, came in results:
        said = (chances[number].win, chances[number].draw, chances[number].loss)
        log_loss -= math.log(max(LEAST_CHANCE, said[came]))
        brier += sum((chance - (outcome == came)) ** 2 for outcome, chance in enumerate(said)) / 2.0
    return _Cost(len(results), log_loss, brier)


def _calibration(
    name: str, times: Sequence[int], costs: Sequence[_Cost], best: Sequence[_Cost], bins: tuple[Bin, ...]
) -> Calibration:
    log_loss, log_loss_error = _mean_and_error(
        (n, own.comparisons, own.log_loss) for n, own in zip(times, costs, strict=True)
    )
    behind, behind_error = _mean_and_error(
        (n, own.comparisons, own.log_loss - least.log_loss) for n, own, least in zip(times, costs, best, strict=True)
    )
    brier, _ = _mean_and_error((n, own.comparisons, own.brier) for n, own in zip(times, costs, strict=True))
    return Calibration(
        method=name,
        comparisons=sum(n * own.comparisons for n, own in zip(times, costs, strict=True)),
        log_loss=log_loss,
        log_loss_error=log_loss_error,
        brier=brier,
        behind=behind,
        behind_error=behind_error,
        bins=bins,
    )


def _bins(courses: Iterable[_Course], chances: _Foretold) -> tuple[Bin, ...]:
    """Sort by what was foretold into tenths of the scale; the last one includes 1."""
    found: list[list[tuple[int, int, float, float]]] = [[] for _ in range(BINS)]
    for one in courses:
        own: defaultdict[int, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
        said = chances[one.fold, one.players]
        for number, came in _results(one):
            score = said[number].score
            sums = own[min(BINS - 1, int(score * BINS))]
            for place, value in enumerate((1, score, 1.0 - came / 2.0)):
                sums[place] += value
        for index, (count, predicted, observed) in own.items():
            found[index].append((one.times, int(count), predicted, observed))
    return tuple(starmap(_bin, enumerate(found)))


def _bin(index: int, own: Sequence[tuple[int, int, float, float]]) -> Bin:
    low, high = index / BINS, (index + 1) / BINS
    predicted, _ = _mean_and_error((times, count, said) for times, count, said, _ in own)
    observed, _ = _mean_and_error((times, count, came) for times, count, _, came in own)
    _, error = _mean_and_error((times, count, came - said) for times, count, said, came in own)
    total = sum(times * count for times, count, *_ in own)
    if predicted is not None and error is not None and index in {0, BINS - 1}:
        # where nothing surprising came yet blocks hardly vary: an error is at least that of the foretold chance
        error = max(error, math.sqrt(max(0.0, predicted * (1.0 - predicted)) / total))
    return Bin(low, high, total, predicted, observed, error)


def _mean_and_error(values: Iterable[tuple[int, int, float]]) -> tuple[float | None, float | None]:
    """Average over comparisons, with a standard error from blocks about the mean; None for what cannot be told.

    `values` are so many equal blocks, the comparisons in each, and the sum of their values in each.
    """
    known = [(times, count, value) for times, count, value in values if count]
    blocks = sum(times for times, *_ in known)
    total = sum(times * count for times, count, _ in known)
    if not total:
        return None, None
    mean = math.fsum(times * value for times, _, value in known) / total
    if blocks < 2:
        return mean, None
    squares = math.fsum(times * (value - mean * count) ** 2 for times, count, value in known)
    return mean, math.sqrt(squares * blocks / (blocks - 1)) / total
