"""The results of a league -> who scored what against whom, whether skills explain it, and who beats whom in a circle.

Rule: the numbers are those of `arena.statistics.matrix`. The test for intransitive results is made only where it can be
trusted: X^2 follows its distribution where most pairs are expected to share their points (Cochran, 1954: at least 5 on
either side for four pairs in five, and 1 for every pair). One upset between a bot that plays at random and the best one
would otherwise outweigh all others. So players with such pairs are left out of the test, the worst first.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from arena.report.played import blocks_of, fit_of, skill_of
from arena.standings.ratings import RatingSettings
from arena.standings.table import MatchResult
from arena.statistics.blocks import Block
from arena.statistics.matrix import Cell, Matrix, head_to_head
from arena.statistics.probit import ProbitFit

LEAST_BLOCKS: Final = 10
"""Of every pair: with fewer, X^2 does not follow its distribution."""
LEAST_POINTS: Final = 1.0
USUAL_POINTS: Final = 5.0
"""Expected for either side of every pair, and of all but a few."""
MOST_UNUSUAL: Final = 0.2


class Ranked(msgspec.Struct, frozen=True):
    """A player's skill by the batch fit with its standard error; None without a match."""

    name: str
    matches: int
    skill: float | None
    error: float | None


class Meeting(msgspec.Struct, frozen=True):
    """All matches of `player` against `opponent`; `z` is the surprise of the score, in standard errors of the model."""

    player: str
    opponent: str
    matches: int
    blocks: int
    wins: int
    draws: int
    losses: int
    score: float
    expected: float
    error: float
    z: float
    likelihood_better: float


class Intransitive(msgspec.Struct, frozen=True):
    """The test whether one skill per player explains the results among all but those left out.

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
    """The whole page. `players` are in order of skill, those without a match last; `meetings` follow that order."""

    league: str
    matches: int
    players: tuple[Ranked, ...]
    groups: tuple[tuple[str, ...], ...]
    meetings: tuple[Meeting, ...]
    intransitivity: Intransitive
    cycles: tuple[Cycle, ...]
    cycles_found: int
    cycles_by_chance: float


def compared(league: str, players: Iterable[str], results: Sequence[MatchResult], rating: RatingSettings) -> HeadToHead:
    """Compare everyone with everyone they met."""
    played = blocks_of(results)
    fitted = fit_of(players, played, rating)
    matrix = head_to_head(fitted, played)
    ranked = tuple(_ranked(fitted, Counter(player for one in results for player in one.players), rating))
    return HeadToHead(
        league=league,
        matches=len(results),
        players=ranked,
        groups=tuple(group for group in fitted.groups if len(group) > 1),
        meetings=tuple(_meetings([one.name for one in ranked], matrix)),
        intransitivity=_tested(matrix, played, rating),
        cycles=tuple(_cycle(matrix, found) for found in matrix.cycles),
        cycles_found=matrix.cycles_found,
        cycles_by_chance=matrix.cycles_by_chance,
    )


def _ranked(fitted: ProbitFit, matches: "Counter[str]", rating: RatingSettings) -> Iterator[Ranked]:
    order = fitted.ranking()
    for name in [player for player in order if matches[player]]:
        yield Ranked(name, matches[name], *skill_of(name, fitted, rating))
    yield from (Ranked(name, 0, None, None) for name in sorted(order) if not matches[name])


def _meetings(order: Sequence[str], matrix: Matrix) -> Iterator[Meeting]:
    for player in order:
        for opponent in order:
            cell = None if player == opponent else matrix.cell(player, opponent)
            if cell is not None:
                yield _meeting(cell)


def _meeting(cell: Cell) -> Meeting:
    values = msgspec.structs.asdict(cell)
    return Meeting(player=values.pop("first"), opponent=values.pop("second"), **values)


def _tested(matrix: Matrix, played: Sequence[Block], rating: RatingSettings) -> Intransitive:
    if any(len(seats) > 2 for block in played for seats, _ in block.results):
        return _untested("with more than two seats the comparisons of a match are not independent")
    if matrix.intransitivity.p is None:
        return _untested("nobody met in a circle, so that any results fit one skill per player")
    left_out = _lopsided(matrix)
    rest = [player for player in matrix.players if player not in left_out]
    own = [block for block in played if not any(left_out & set(seats) for seats, _ in block.results)]
    if len(rest) < 3:
        return _untested("hardly anybody's matches with the others are close enough")
    among = head_to_head(fit_of(rest, own, rating), own, most_cycles=0)
    fewest = min((cell.blocks for cell in among.cells), default=0)
    found = among.intransitivity
    if found.p is None:
        return _untested("where matches are close, nobody met in a circle")
    if fewest < LEAST_BLOCKS:
        return _untested(f"it takes {LEAST_BLOCKS} blocks of every pair, and one has {fewest}")
    return Intransitive(tuple(sorted(left_out)), found.chi_square, found.degrees, found.p, "")


def _untested(why_not: str) -> Intransitive:
    return Intransitive((), None, None, None, why_not)


def _lopsided(matrix: Matrix) -> set[str]:
    """Who is to be left out so that the pairs of the others are close enough for the test."""
    left_out: set[str] = set()
    while True:
        cells = [cell for cell in matrix.cells if not left_out & {cell.first, cell.second}]
        points = [cell.matches * min(cell.expected, 1.0 - cell.expected) for cell in cells]
        unusual = [cell for cell, least in zip(cells, points, strict=True) if least < USUAL_POINTS]
        is_sound = min(points, default=LEAST_POINTS) >= LEAST_POINTS
        if is_sound and len(unusual) <= MOST_UNUSUAL * len(cells):
            return left_out
        worst: defaultdict[str, float] = defaultdict(float)
        for cell, least in zip(cells, points, strict=True):
            for player in (cell.first, cell.second):
                worst[player] += max(0.0, 1.0 - least / USUAL_POINTS)
        left_out.add(min(worst, key=lambda player: (-round(worst[player], 9), player)))


def _cycle(matrix: Matrix, players: tuple[str, str, str]) -> Cycle:
    a, b, c = players
    return Cycle(players, (_likelihood(matrix, a, b), _likelihood(matrix, b, c), _likelihood(matrix, c, a)))


def _likelihood(matrix: Matrix, one: str, other: str) -> float:
    cell = matrix.cell(one, other)
    return 0.5 if cell is None else cell.likelihood_better
