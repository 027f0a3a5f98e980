"""Tallies -> the skill of every player by the batch estimate, which no order of matches can change.

Rule: a second opinion beside the ratings, from the same model. What it is calculated from are counts; how sure it is
follows from blocks: errors are stretched by the design effect, which tells how much less (or more) the matches of a
block vary together than so many independent ones. numpy is loaded only when there is something to calculate.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import msgspec

from arena.standings.outcomes import Course, orders, points
from arena.standings.ratings import RatingSettings
from arena.standings.scores import counts_by_code, points_by_place
from arena.standings.tally import Tallied, Tally
from arena.statistics.blocks import DesignEffect, Spread, ratio
from arena.statistics.interval import LEVEL
from arena.statistics.model import ProbitSettings
from arena.statistics.pairs import PairRow, PairTable
from arena.statistics.probit import ProbitFit, fit

MOST_PLAYERS = 1000
"""The work grows with their cube; a thousand take seconds. Larger fields go without this estimate."""


class Skill(msgspec.Struct, frozen=True, gc=False):
    """A player's skill, on the scale of the ratings and moved like them; `error` is a standard deviation."""

    mean: float
    error: float


def fitted(
    table: PairTable, tallied: Iterable[Tallied], settings: RatingSettings
) -> tuple[ProbitFit, DesignEffect | None] | None:
    """Estimate all skills at once from the pairs of `tallied`, and tell what blocks make of the errors.

    None without matches, or with too many players.
    """
    if not table.rows or len(table.players) > MOST_PLAYERS:
        return None
    chosen = ProbitSettings(
        mu=settings.mu,
        sigma=settings.sigma,
        beta=settings.beta,
        draw_probability=settings.draw_probability,
        seat_sigma=settings.beta,
    )
    effect = design_effect(one.tally for one in tallied)
    players, seats = (effect.players, effect.seats) if effect else (1.0, 1.0)
    return fit(table, chosen, inflation=players, seat_inflation=seats), effect


def skills(found: ProbitFit, settings: RatingSettings) -> dict[str, Skill]:
    """The skill of each player, with the error against the mean of all whom matches connect it to.

    With an anchor all are moved so that it stays at mu, and errors are against the anchor, where matches connect to it.
    Against the mean of all players, one without a match would make everybody uncertain.
    """
    anchor = settings.anchor
    shift = 0.0 if anchor is None else settings.mu - found.mean(anchor)
    at = {name: place for place, name in enumerate(found.players)}
    return {
        name: Skill(found.means[at[name]] + shift, error)
        for group in found.groups
        for name, error in zip(
            group,
            _errors(
                found.covariance,
                [at[one] for one in group],
                [at[anchor]] if anchor is not None and anchor in group else [at[one] for one in group],
            ),
            strict=True,
        )
    }


def _errors(covariance: Sequence[Sequence[float]], places: Sequence[int], against: Sequence[int]) -> list[float]:
    """The standard deviation of each of `places` minus the mean of those it is set against."""
    count = len(against)
    of_mean = math.fsum(covariance[one][other] for one in against for other in against) / count**2
    return [
        _root(covariance[one][one] + of_mean - 2.0 * math.fsum(covariance[one][other] for other in against) / count)
        for one in places
    ]


def contradicted(order: Sequence[str], found: ProbitFit) -> tuple[tuple[str, str], ...]:
    """Pairs of `order`, best first, of which the estimate is sure that the second one is the better."""
    means = [found.mean(name) for name in order]
    return tuple(
        (order[one], order[other])
        for one, mean in enumerate(means)
        for other in range(one + 1, len(means))
        if means[other] > mean and (found.likelihood_better(order[other], order[one]) or 0.0) >= LEVEL
    )


def pair_table(names: Iterable[str], tallied: Iterable[Tallied]) -> PairTable:
    """Count who came before whom from which seat, as the estimate takes it.

    ValueError for pairings with unequal numbers of seats: they belong in pools of their own.
    """
    field = tuple(sorted(set(names)))
    at = {name: place for place, name in enumerate(field)}
    counts: defaultdict[tuple[int, int, int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    seats: set[int] = set()
    for one in tallied:
        seats.add(one.tally.seats)
        for (left, right, *their_seats), sign, times in _comparisons(one.tally):
            first, second = at[one.players[left]], at[one.players[right]]
            if first < second:
                counts[first, second, their_seats[0], their_seats[1]][1 - sign] += times
            else:
                counts[second, first, their_seats[1], their_seats[0]][1 + sign] += times
    if len(seats) > 1:
        raise ValueError(f"matches of {' and of '.join(map(str, sorted(seats)))} players cannot share one table")
    rows = tuple(PairRow(*key, *counts[key]) for key in sorted(counts))
    return PairTable(players=field, seats=max(seats, default=0), rows=rows)


def design_effect(tallies: Iterable[Tally]) -> DesignEffect | None:
    """Find what `arena.statistics.blocks.design_effect` does from counts, without going through the blocks."""
    of_players, of_seats = [], []
    seats = 2
    for tally in tallies:
        seats = max(seats, tally.seats)
        for stratum in _strata(tally):
            players, by_seat = _spreads(stratum)
            of_players.append(players)
            of_seats.append(by_seat)
    players_ratio, seats_ratio = ratio(of_players, weight=2.0 / seats), ratio(of_seats, weight=2.0 / seats)
    if players_ratio is None or seats_ratio is None:
        return None
    return DesignEffect(players_ratio, seats_ratio, sum(one.degrees for one in of_players))


def _strata(tally: Tally) -> Iterable[Mapping[Course, int]]:
    """Courses of blocks with the same matches: an incomplete block is like none of the others."""
    found: defaultdict[tuple[bool, ...], dict[Course, int]] = defaultdict(dict)
    for course, times in tally.courses().items():
        found[tuple(map(bool, course))][course] = times
    return found.values()


def _spreads(stratum: Mapping[Course, int]) -> tuple[Spread, Spread]:
    """The squares of points of blocks about their mean, by player and by seat, beside those of single comparisons."""
    blocks = sum(stratum.values())
    if blocks < 2:
        return Spread(0.0, 0.0, 0), Spread(0.0, 0.0, 0)
    by_player = _squares([(points_by_place(course), times) for course, times in stratum.items()])
    by_seat = _squares([(_points_by_seat(course), times) for course, times in stratum.items()])
    single = sum(_squares(_comparisons_at(stratum, rotation)) for rotation in range(len(next(iter(stratum)))))
    # Points are counted double. A comparison is one of either player, and these vary alike.
    of_players, of_seats, of_matches = (square / blocks / 4.0 for square in (by_player, by_seat, 2 * single))
    return Spread(of_players, of_matches, blocks - 1), Spread(of_seats, of_matches, blocks - 1)


def _squares(counted: Iterable[tuple[Sequence[int], int]]) -> int:
    """Of vectors that occur so many times, the squares about the mean, summed over components; times their number."""
    vectors, times = zip(*counted, strict=True)
    found = 0
    for values in zip(*vectors, strict=True):
        total = sum(value * n for value, n in zip(values, times, strict=True))
        found += sum(times) * sum(value * value * n for value, n in zip(values, times, strict=True)) - total * total
    return found


def _points_by_seat(course: Course) -> list[int]:
    return [sum(points(len(course))[code][seat] for code in course) for seat in range(len(course))]


def _comparisons_at(stratum: Mapping[Course, int], rotation: int) -> list[tuple[Sequence[int], int]]:
    """The points of each comparison of two seats in the matches of that rotation, as often as they occurred."""
    found: Counter[int] = Counter()
    for course, times in stratum.items():
        found[course[rotation]] += times
    seats = len(next(iter(stratum)))
    return [([1 + sign for _, _, sign in _signs(seats)[code]], times) for code, times in found.items()]


def _comparisons(tally: Tally) -> Iterator[tuple[tuple[int, int, int, int], int, int]]:
    """Two places with their seats, 1 if the first came before the other (0: as high, -1: after), and how often."""
    seats = tally.seats
    for rotation in range(seats):
        for code, times in counts_by_code(tally, rotation).items():
            for one, other, sign in _signs(seats)[code]:
                yield ((one + rotation) % seats, (other + rotation) % seats, one, other), sign, times


@cache
def _signs(seats: int) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """By code: every two seats, and 1 if the first came before the other, 0 if it tied, -1 if it came after."""
    pairs = [(one, other) for one in range(seats) for other in range(one + 1, seats)]
    return (
        (),
        *(
            tuple((one, other, (ranks[one] < ranks[other]) - (ranks[one] > ranks[other])) for one, other in pairs)
            for ranks in orders(seats)
        ),
    )


def _root(variance: float) -> float:
    return math.sqrt(max(0.0, variance))
