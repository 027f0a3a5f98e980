"""Cells of two players each -> whether one skill per player explains them, and who beats whom in a circle.

Rule: intransitive results (A beats B beats C beats A) cannot come from a skill per player. X^2, the sum of z^2 over all
pairs, tells whether such are there at all; its degrees of freedom are the pairs played less the players, plus the
groups that nothing connects: (n - 1)(n - 2) / 2 for a complete round robin of n. Like any such test it needs a few
wins and losses in most cells. It is for two seats: comparisons of the same match are not independent.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

import msgspec

from arena.statistics.chi_square import chi_square_tail
from arena.statistics.interval import LEVEL
from arena.statistics.probit import ProbitFit

MOST_CYCLES: Final = 1000
"""Listed unless told otherwise. With n players there can be n^3 / 24; all are counted."""


class Cell(msgspec.Struct, frozen=True, gc=False):
    """The matches of `first` against `second`, seen from the first. `score` and `expected` are shares of 0 to 1.

    `error` is the standard error of `score` under the model, `z` the surprise in these errors. `likelihood_better` is
    how likely the first is better by these matches alone: Phi((W - L) / sqrt(effect (W + L))).
    """

    first: str
    second: str
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

    def mirrored(self) -> "Cell":
        """See the same matches from the other side."""
        return Cell(
            first=self.second,
            second=self.first,
            matches=self.matches,
            blocks=self.blocks,
            wins=self.losses,
            draws=self.draws,
            losses=self.wins,
            score=1.0 - self.score,
            expected=1.0 - self.expected,
            error=self.error,
            z=-self.z,
            likelihood_better=1.0 - self.likelihood_better,
        )


class Intransitivity(msgspec.Struct, frozen=True, gc=False):
    """X^2 with its degrees of freedom, and how likely as large a sum is by chance.

    `p` is None without a degree of freedom, and for more than two seats.
    """

    chi_square: float
    degrees: int
    p: float | None


@dataclass(frozen=True)
class Matrix:
    """A cell for each pair that met, by names in order.

    `cycles` are (A, B, C) with A > B > C > A, each step surer than 95 % by the direct matches of that pair; the first
    of them in order of name, all of them counted in `cycles_found`. `cycles_by_chance` is how many to expect if all
    were of exactly equal skill, two ways round each three that met: 0.06 with 12 players, 40 with 100.
    """

    players: tuple[str, ...]
    cells: tuple[Cell, ...]
    intransitivity: Intransitivity
    cycles: tuple[tuple[str, str, str], ...]
    cycles_found: int
    cycles_by_chance: float

    def cell(self, one: str, other: str) -> Cell | None:
        """The matches of `one` against `other` from the side of `one`; None if there are none."""
        if (one, other) in self._by_pair:
            return self._by_pair[one, other]
        mirror = self._by_pair.get((other, one))
        return None if mirror is None else mirror.mirrored()

    @cached_property
    def _by_pair(self) -> dict[tuple[str, str], Cell]:
        return {(cell.first, cell.second): cell for cell in self.cells}


def head_to_head(fitted: ProbitFit, *, most_cycles: int = MOST_CYCLES) -> Matrix:
    """Compare the matches that `fitted` comes from with what the skills expect."""
    from arena.statistics.meetings import cells_of  # noqa: PLC0415 - imports numpy, which only a calculation needs

    cells = cells_of(fitted)
    return Matrix(
        players=fitted.players,
        cells=cells,
        intransitivity=_intransitivity(fitted, fitted.table.seats, cells),
        cycles=tuple(islice(_cycles(fitted.players, cells), most_cycles)),
        cycles_found=sum(closing.bit_count() for *_, closing in _steps(_beaten(fitted.players, cells))),
        cycles_by_chance=2.0 * _count_threes(fitted.players, cells) * (1.0 - LEVEL) ** 3,
    )


def _intransitivity(fitted: ProbitFit, seats: int, cells: Sequence[Cell]) -> Intransitivity:
    chi_square = math.fsum(cell.z * cell.z for cell in cells)
    degrees = len(cells) - len(fitted.players) + len(fitted.groups)
    p = chi_square_tail(chi_square, degrees) if degrees > 0 and seats == 2 else None
    return Intransitivity(chi_square, degrees, p)


def _beaten(players: Sequence[str], cells: Sequence[Cell]) -> list[int]:
    """By player: the places of those it surely beats, as the bits of a number."""
    places = {name: place for place, name in enumerate(players)}
    beaten = [0] * len(players)
    for cell in cells:
        first, second = places[cell.first], places[cell.second]
        if cell.likelihood_better > LEVEL:
            beaten[first] |= 1 << second
        elif cell.likelihood_better < 1.0 - LEVEL:
            beaten[second] |= 1 << first
    return beaten


def _steps(beaten: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Each sure step from A to B with, as bits, the C that B beats and that beat A; A is the first of the three."""
    beaten_by = [0] * len(beaten)
    for winner, losers in enumerate(beaten):
        for loser in _bits(losers):
            beaten_by[loser] |= 1 << winner
    for a, losers in enumerate(beaten):
        later = -1 << (a + 1)
        for b in _bits(losers & later):
            yield a, b, beaten[b] & beaten_by[a] & later


def _cycles(players: Sequence[str], cells: Sequence[Cell]) -> Iterator[tuple[str, str, str]]:
    for a, b, closing in _steps(_beaten(players, cells)):
        for c in _bits(closing):
            yield players[a], players[b], players[c]


def _count_threes(players: Sequence[str], cells: Sequence[Cell]) -> int:
    """Count the threes of whom each met each: once, at the pair of its first two."""
    places = {name: place for place, name in enumerate(players)}
    met = [0] * len(players)
    for cell in cells:
        met[places[cell.first]] |= 1 << places[cell.second]
    return sum((met[places[cell.first]] & met[places[cell.second]]).bit_count() for cell in cells)


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
