"""The ranks of a league -> scores of all pairs of players, significant differences, and intransitive cycles.

Rule: each pair of players whom matches connect is tested for a difference, by the batch estimate of all matches; Holm's
correction bounds the chance that any of these results in the league is wrong. The cells are those of
`arena.statistics.matrix`. The test for intransitive results is made only where it can be trusted: X^2 follows its
distribution where most pairs are expected to share their points (Cochran, 1954: at least 5 on either side for four
pairs in five, and 1 for every pair). One upset between a bot that plays at random and the best one would otherwise
outweigh all others. So players with such pairs are left out of the test, the worst first.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any, Final

import msgspec
import numpy as np

from arena.match.results import PairingRanks
from arena.standings.ratings import RatingSettings
from arena.standings.scores import Mean, scores_between
from arena.standings.skills import fit_skills, points_of, ranking, skills
from arena.statistics.comparisons import ComparisonTable, table_of
from arena.statistics.confidence_sequence import holm
from arena.statistics.distributions import two_sided_tail
from arena.statistics.interval import Interval, interval
from arena.statistics.matrix import Cell, Intransitivity, Matrix, head_to_head
from arena.statistics.probit import ProbitFit

LEAST_BLOCKS_OF_PAIR: Final = 10
"""The fewest blocks of every pair: with fewer, X^2 does not follow its distribution."""
LEAST_POINTS: Final = 1.0
USUAL_POINTS: Final = 5.0
"""The fewest expected points for either side, of every pair (`LEAST_POINTS`) and of all but a few."""
MOST_UNUSUAL: Final = 0.2
_COUNTS: Final = ("matches", "blocks", "wins", "draws", "losses")
_ESTIMATES: Final = ("expected", "z", "likelihood_better")
"""Fields of a meeting copied from its cell; 0 or None without one."""
WRONG: Final = 0.05
"""The largest chance that anybody in a league is wrongly called better."""


class RankedPlayer(msgspec.Struct, frozen=True):
    """A player's place by rating, and the rating with the ends of its 95 % interval; None without a match.

    `rank` is among the players whom matches connect, who are one `group` (from 1).
    """

    rank: int | None
    group: int | None
    name: str
    matches: int
    rating: float | None
    rating_low: float | None
    rating_high: float | None


class Meeting(msgspec.Struct, frozen=True):
    """Two players whom matches connect, seen from the first; values that need a match of the two are None without one.

    By their matches: `score` with the ends of its 95 % interval; `expected` is the score that the skills expect, `z`
    the surprise of the score, in standard errors of the model; `likelihood_better` is how likely `player` is better by
    these matches alone. By all matches: `rating_difference` of the two with the ends of its 95 % interval, the
    two-sided `p` of a difference as large between equals, and `p_holm`, the same with Holm's correction for all pairs
    of the league. `is_better` is true if `player` is significantly better than `opponent` by that.
    """

    player: str
    opponent: str
    matches: int
    blocks: int
    wins: int
    draws: int
    losses: int
    score: float | None
    score_low: float | None
    score_high: float | None
    expected: float | None
    z: float | None
    likelihood_better: float | None
    rating_difference: float
    rating_difference_low: float
    rating_difference_high: float
    p: float
    p_holm: float
    is_better: bool


class Intransitive(msgspec.Struct, frozen=True):
    """The test whether one skill per player explains the results of all players but those left out.

    If it cannot be trusted, `why_not` says why, and the numbers are None.
    """

    left_out: tuple[str, ...]
    chi_square: float | None
    degrees: int | None
    p: float | None
    why_not: str


class Cycle(msgspec.Struct, frozen=True):
    """A beats B beats C beats A: how likely each is better than the next, by their direct matches."""

    players: tuple[str, str, str]
    likelihoods: tuple[float, float, float]


class HeadToHead(msgspec.Struct, frozen=True):
    """The whole matrix page: `players` in order of rank, and `meetings` in that order, each pair from both sides.

    Both hold only the players that were asked for; all else is about the league, which has `field` players. `pairs`
    were compared, `decided` of them have a significantly better player. Of more than `MOST_PLAYERS` players nobody is
    rated or ranked, and no pair is compared.
    """

    league: str
    matches: int
    field: int
    players: tuple[RankedPlayer, ...]
    groups: tuple[tuple[str, ...], ...]
    meetings: tuple[Meeting, ...]
    pairs: int
    decided: int
    intransitivity: Intransitive
    cycles: tuple[Cycle, ...]
    cycles_found: int
    cycles_by_chance: float


def compare_players(
    league: str,
    players: Iterable[str],
    ranks: Sequence[PairingRanks],
    settings: RatingSettings,
    *,
    top: int | None = None,
    only: Sequence[str] = (),
) -> HeadToHead:
    """Compare all pairs of `players`; errors are those of `table_of`.

    The result shows the best `top` players, or those named in `only` whatever `top` is; by default all. Unknown names
    in `only` are ignored.
    """
    table = table_of(players, ranks)
    fit = fit_skills(table, settings)
    matrix = head_to_head(fit) if fit else Matrix((), (), Intransitivity(0.0, 0, None), (), 0, 0.0)
    ranked = _rank_players(table, fit, settings)
    shown = [player for player in ranked if not only or player.name in only][: None if only else top]
    tests = _test_pairs(fit) if fit else {}
    return HeadToHead(
        league=league,
        matches=sum(pairing.matches for pairing in ranks),
        field=len(table.players),
        players=tuple(shown),
        groups=tuple(group for group in fit.groups if len(group) > 1) if fit else (),
        meetings=tuple(_meetings([player.name for player in shown], matrix, tests, table)),
        pairs=len(tests),
        decided=sum(test.p_holm <= WRONG for test in tests.values()),
        intransitivity=_test_intransitivity(matrix, table, settings),
        cycles=tuple(_describe_cycle(matrix, cycle) for cycle in matrix.cycles),
        cycles_found=matrix.cycles_found,
        cycles_by_chance=matrix.cycles_by_chance,
    )


class _Test(msgspec.Struct, frozen=True, gc=False):
    """The test of two players in order of name: the difference of their ratings, and both p."""

    difference: Interval
    p: float
    p_holm: float


def _test_pairs(fit: ProbitFit) -> dict[tuple[str, str], _Test]:
    """Return the interval of the rating difference, its p-value and Holm's p-value, for each pair within a group."""
    pairs = [pair for group in fit.groups for pair in combinations(sorted(group), 2)]
    differences = [fit.difference(one, other) for one, other in pairs]
    p = [two_sided_tail(value / error) if error > 0.0 else 1.0 for value, error in differences]
    return {
        pair: _Test(interval(value, error), plain, adjusted)
        for pair, (value, error), plain, adjusted in zip(pairs, differences, p, holm(p), strict=True)
    }


def _rank_players(table: ComparisonTable, fit: ProbitFit | None, settings: RatingSettings) -> list[RankedPlayer]:
    """List all players in order of rank; those without a rank come last, by name.

    Without a fit nobody has a rank or a rating.
    """
    played = points_of(table, table.counts())
    known = skills(fit, settings) if fit else {}
    order = ranking(
        fit.groups if fit else (),
        {name: skill.value for name, skill in known.items()},
        {name: points.score for name, points in played.items()},
    )
    rated = [(place, played[place.name].matches, known[place.name]) for place in order]
    return [
        RankedPlayer(place.rank, place.group, place.name, matches, skill.value, skill.low, skill.high)
        for place, matches, skill in rated
    ] + [
        RankedPlayer(None, None, name, played[name].matches if name in played else 0, *(None,) * 3)
        for name in table.players
        if not fit or name not in played
    ]


def _meetings(
    order: Sequence[str], matrix: Matrix, tests: Mapping[tuple[str, str], _Test], table: ComparisonTable
) -> Iterator[Meeting]:
    """Yield the meeting of each two tested players, seen from either one, in the order of rank."""
    pairs = [*permutations(order, 2)]
    scores = scores_between(table, pairs)
    for player, opponent in pairs:
        test = tests.get((min(player, opponent), max(player, opponent)))
        if test:
            yield _meeting(player, opponent, matrix.cell(player, opponent), scores.get((player, opponent)), test)


def _meeting(player: str, opponent: str, cell: Cell | None, score: Mean | None, test: _Test) -> Meeting:
    """Return the meeting of two players, seen from the first; `test` is of the two in order of name."""
    sign, difference = (1.0 if player < opponent else -1.0), test.difference
    low, high = sorted((sign * difference.low, sign * difference.high))
    of_cell: dict[str, Any] = {name: getattr(cell, name, 0) for name in _COUNTS}
    of_cell |= {name: getattr(cell, name, None) for name in _ESTIMATES}
    return Meeting(
        player=player,
        opponent=opponent,
        **of_cell,
        score=score.value if score else None,
        score_low=score.interval.low if score else None,
        score_high=score.interval.high if score else None,
        rating_difference=sign * difference.value,
        rating_difference_low=low,
        rating_difference_high=high,
        p=test.p,
        p_holm=test.p_holm,
        is_better=test.p_holm <= WRONG and sign * difference.value > 0.0,
    )


def _test_intransitivity(matrix: Matrix, table: ComparisonTable, settings: RatingSettings) -> Intransitive:
    """Test whether one skill per player explains the results of all players whose matches are close enough."""
    if table.seats > 2:
        return _no_test("with more than two seats the comparisons of a match are not independent")
    if matrix.intransitivity.p is None:
        return _no_test("nobody met in a circle, so that any results fit one skill per player")
    left_out = _players_to_leave_out(matrix)
    remaining = [player for player in matrix.players if player not in left_out]
    subtable = table.select_players(remaining)
    if len(remaining) < 3:
        return _no_test("hardly anybody's matches with the others are close enough")
    fewest = int(np.bincount(subtable.pairing, subtable.times, 1).min())
    if fewest < LEAST_BLOCKS_OF_PAIR:
        return _no_test(f"it takes {LEAST_BLOCKS_OF_PAIR} blocks of every pair, and one has {fewest}")
    fit_of_others = fit_skills(subtable, settings) if left_out else None
    among = head_to_head(fit_of_others, most_cycles=0) if fit_of_others else matrix
    test = among.intransitivity
    if test.p is None:
        return _no_test("where matches are close, nobody met in a circle")
    return Intransitive(tuple(sorted(left_out)), test.chi_square, test.degrees, test.p, "")


def _no_test(why_not: str) -> Intransitive:
    """Return the result of a test that cannot be trusted."""
    return Intransitive((), None, None, None, why_not)


def _players_to_leave_out(matrix: Matrix) -> set[str]:
    """Choose the players to leave out so that the pairs of the others are close enough for the test."""
    least: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for cell in matrix.cells:
        points = cell.matches * min(cell.expected, 1.0 - cell.expected)
        least[cell.first][cell.second] = least[cell.second][cell.first] = points
    lacking = {name: math.fsum(_shortfall(points) for points in row.values()) for name, row in least.items()}
    left_out: set[str] = set()
    limits = (math.inf, USUAL_POINTS, LEAST_POINTS)
    counts = [sum(points < limit for row in least.values() for points in row.values()) // 2 for limit in limits]
    while counts[2] or counts[1] > MOST_UNUSUAL * counts[0]:
        worst = min(least, key=lambda player: (-round(lacking[player], 9), player))
        left_out.add(worst)
        for other, points in least.pop(worst).items():
            del least[other][worst]
            lacking[other] -= _shortfall(points)
            for place, limit in enumerate(limits):
                counts[place] -= points < limit
    return left_out


def _shortfall(points: float) -> float:
    """Return by how much the expected points fall short of the usual ones, as a share: 0 to 1."""
    return max(0.0, 1.0 - points / USUAL_POINTS)


def _describe_cycle(matrix: Matrix, players: tuple[str, str, str]) -> Cycle:
    """Return a cycle with the likelihood of each of its three steps; 1/2 for two who did not meet."""
    a, b, c = (
        0.5 if (cell := matrix.cell(one, other)) is None else cell.likelihood_better
        for one, other in zip(players, (*players[1:], players[0]), strict=True)
    )
    return Cycle(players, (a, b, c))
