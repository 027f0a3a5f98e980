"""Pairings and a fit -> a cell for each two players who met, and whether one skill per player explains them all.

Rule: a cell compares the results with those that the fitted skills expect of exactly these matches, seats included. Its
error is that of the model for independent matches, times the root of the pair's own design effect from its blocks. That
effect is pulled towards the one that the correlation of the league makes of the pair's difference in skill
(`block_correlation`), so that a few blocks that happen to agree cannot make an error of 0:

    (of_blocks + K D v) / (of_matches + K v)

with K = 30 blocks, D the effect by the model, v the model's variance of a block of independent matches.

Intransitive results (A beats B beats C beats A) cannot come from a skill per player. X^2, the sum of z^2 over all
pairs, tells whether there are any; its degrees of freedom are the pairs played less the players, plus the groups that
nothing connects: (n - 1)(n - 2) / 2 for a complete round robin of n. Like any such test it needs a few wins and losses
in most cells. It is for two seats: comparisons of the same match are not independent.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from arena.statistics.block_correlation import Thresholds, deviations, exceeding_both, groups_of, shared_noise
from arena.statistics.comparisons import ComparisonTable, pattern
from arena.statistics.distributions import CONFIDENCE, NORMAL, chi_square_tail
from arena.statistics.newton import Floats, Indices, outcomes
from arena.statistics.pairs import comparisons
from arena.statistics.probit import ProbitFit

Flags = npt.NDArray[np.bool_]

COMMON_BLOCKS: Final = 30
"""Blocks of its own by which a pair outweighs the effect that the league has in common."""
_LEAST_VARIANCE: Final = 1e-100
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
        return msgspec.structs.replace(
            self,
            first=self.second,
            second=self.first,
            wins=self.losses,
            losses=self.wins,
            score=1.0 - self.score,
            expected=1.0 - self.expected,
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
    """Compare the matches that `fitted` comes from with the results that the skills expect."""
    cells, players = _cells_of(fitted), fitted.players
    places = {name: place for place, name in enumerate(players)}
    first = np.array([places[cell.first] for cell in cells], dtype=np.int64)
    second = np.array([places[cell.second] for cell in cells], dtype=np.int64)
    likelihood = np.array([cell.likelihood_better for cell in cells])
    met, beats = np.zeros((2, len(players), len(players)), dtype=bool)
    met[first, second] = met[second, first] = True
    beats[first, second], beats[second, first] = likelihood > CONFIDENCE, likelihood < 1.0 - CONFIDENCE
    listed: list[tuple[str, str, str]] = []
    found = 0
    for a, closing in enumerate(_closing(beats)):
        found += int(np.count_nonzero(closing))
        for b, c in np.argwhere(closing)[: most_cycles - len(listed)].tolist():
            listed.append((players[a], players[a + b], players[a + c]))
    return Matrix(
        players=players,
        cells=cells,
        intransitivity=_intransitivity(fitted, cells),
        cycles=tuple(listed),
        cycles_found=found,
        cycles_by_chance=sum(int(np.count_nonzero(closing)) for closing in _closing(met)) * (1.0 - CONFIDENCE) ** 3,
    )


def _intransitivity(fitted: ProbitFit, cells: Sequence[Cell]) -> Intransitivity:
    chi_square = math.fsum(cell.z * cell.z for cell in cells)
    degrees = len(cells) - len(fitted.players) + len(fitted.groups)
    p = chi_square_tail(chi_square, degrees) if degrees > 0 and fitted.table.seats == 2 else None
    return Intransitivity(chi_square, degrees, p)


def _closing(steps: Flags) -> Iterator[Flags]:
    """For each place a, by those from a on: whether `steps` (n, n) lead from a to b, from b to c and back to a."""
    for a in range(len(steps)):
        yield steps[a, a:, None] & steps[a:, a:] & steps[a:, a]


class _Sums(NamedTuple):
    """By pair of players: sums over all their matches, seen from the first by name.

    `residual` is the score less the expected one, `variance` the model's for independent matches, `of_model` for blocks
    with the correlation of the league, `of_blocks` and `of_matches` what was seen, about the means of their pairings.
    """

    wins: Floats
    draws: Floats
    losses: Floats
    blocks: Floats
    residual: Floats
    variance: Floats
    of_model: Floats
    of_blocks: Floats
    of_matches: Floats


def _cells_of(fitted: ProbitFit) -> tuple[Cell, ...]:
    """A cell for each pair that met, in order of name."""
    table = fitted.table
    if not len(table.places):
        return ()
    rows = comparisons(table.seats)[: table.seats * (table.seats - 1) // 2]
    first = table.places[:, [row.first for row in rows]]
    second = table.places[:, [row.second for row in rows]]
    size = len(table.players)
    key = np.minimum(first, second) * size + np.maximum(first, second)
    distinct, which = np.unique(key.ravel(), return_inverse=True)
    is_turned = (first > second).ravel()
    sums = _by_players(_of_pairings(fitted, table), which.ravel(), is_turned, len(distinct))
    is_met = sums.blocks > 0.0
    return _cells(table.players, distinct[is_met], _Sums(*(column[is_met] for column in sums)))


def _of_pairings(fitted: ProbitFit, table: ComparisonTable) -> _Sums:
    """By pairing and two of its places (P, Q), seen from the first place."""
    settings = fitted.settings
    seats = table.seats
    design = table.design(settings)
    parameters = np.array([*fitted.means, *fitted.seat_effects])
    counts = table.counts()
    differences = design.differences(parameters).reshape(counts.shape[:2])
    chances, _ = outcomes(differences, settings.scale, settings.margin)
    win, draw, loss = (chances[..., outcome] for outcome in range(3))
    # written so that near-certain results keep their digits
    residual = counts[..., 0] * (loss + draw / 2.0) + counts[..., 1] * (loss - win) / 2.0
    residual -= counts[..., 2] * (win + draw / 2.0)
    variance = counts.sum(axis=2) * (win * loss + draw * (win + loss) / 4.0)

    def by_pair(of_rows: Floats) -> Floats:
        """Add up the rotations (..., R) -> (..., Q)."""
        found: Floats = of_rows.reshape(*of_rows.shape[:-1], seats, -1).sum(axis=-2)
        return found

    groups = groups_of(table)
    off = deviations(table, groups)
    is_there = by_pair(table.masks)[table.presence] > 0.0
    return _Sums(
        wins=by_pair(counts[..., 0]),
        draws=by_pair(counts[..., 1]),
        losses=by_pair(counts[..., 2]),
        blocks=_added(table, is_there * table.times[:, None]),
        residual=by_pair(residual),
        variance=by_pair(variance),
        of_model=by_pair(variance) + _shared(fitted, table, differences),
        of_blocks=_added(table, table.times[:, None] * by_pair(off) ** 2),
        of_matches=_added(table, table.times[:, None] * by_pair(off**2)),
    )


def _shared(fitted: ProbitFit, table: ComparisonTable, differences: Floats) -> Floats:
    """The amount that the correlation adds to the variance of the sum of a pair's scores (P, Q)."""
    rows = len(pattern(table.seats).projection)
    pairs = rows // table.seats
    noise = np.triu(shared_noise(table.seats, fitted.effect.correlation if fitted.effect else 0.0), 1)
    is_own = np.arange(rows)[:, None] % pairs == np.arange(rows) % pairs
    one, other = np.nonzero(np.where(is_own, noise, 0.0))
    found = np.zeros((len(table.places), pairs))
    if len(one):
        thresholds = Thresholds.of(differences, fitted.settings)
        masks = table.masks[table.presence]
        both = _added(table, table.times[:, None] * masks[:, one] * masks[:, other])
        together = 2.0 * both * thresholds.scores_together(one, other, noise[one, other], exceeding_both)
        for column, row in enumerate(one):
            found[:, row % pairs] += together[:, column]
    return found


def _added(table: ComparisonTable, values: Floats) -> Floats:
    """Values of entries (E, C) added up by pairing (P, C)."""
    return np.stack(
        [np.bincount(table.pairing, weights=column, minlength=len(table.places)) for column in values.T], axis=1
    ).astype(np.float64)


def _by_players(sums: _Sums, which: Indices, is_turned: Flags, count: int) -> _Sums:
    """Add up the pairings of the same two players, all seen from the first by name."""
    flat = _Sums(*(column.ravel() for column in sums))
    seen = flat._replace(
        wins=np.where(is_turned, flat.losses, flat.wins),
        losses=np.where(is_turned, flat.wins, flat.losses),
        residual=np.where(is_turned, -flat.residual, flat.residual),
    )
    return _Sums(*(np.bincount(which, weights=column, minlength=count).astype(np.float64) for column in seen))


def _cells(names: Sequence[str], pairs: Indices, own: _Sums) -> tuple[Cell, ...]:
    """`pairs` are numbers: that of the first player, times all players, plus that of the second."""
    matches = own.wins + own.draws + own.losses
    extra = COMMON_BLOCKS * np.maximum(_LEAST_VARIANCE, own.variance) / own.blocks
    common = np.maximum(0.0, own.of_model / np.maximum(_LEAST_VARIANCE, own.variance))
    effect = (own.of_blocks + common * extra) / (own.of_matches + extra)
    error = np.sqrt(np.maximum(_LEAST_VARIANCE, effect * own.variance))
    decided = np.sqrt(effect * (own.wins + own.losses))
    lead = np.divide(own.wins - own.losses, decided, out=np.zeros_like(decided), where=decided > 0.0)
    score = (own.wins + own.draws / 2.0) / matches
    columns = (score, score - own.residual / matches, error / matches, own.residual / error, lead)
    counts = (matches, own.blocks, own.wins, own.draws, own.losses)
    rows = zip(
        pairs.tolist(),
        *(column.astype(np.int64).tolist() for column in counts),
        *(column.tolist() for column in columns),
        strict=True,
    )
    size, likelihood = len(names), NORMAL.cdf
    return tuple(
        Cell(names[pair // size], names[pair % size], m, b, w, d, lost, found, expected, doubt, z, likelihood(ahead))
        for pair, m, b, w, d, lost, found, expected, doubt, z, ahead in rows
    )
