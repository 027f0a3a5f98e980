"""Blocks -> intervals and chances to be better, by playing the league again from its own blocks.

Rule: whole blocks are drawn, within their pairing, so that whatever the matches of a block share stays together, and no
model of it is needed. All is a function of the blocks, the seed, and the generator of the installed numpy.

From a pairing of N blocks N - 1 are drawn, with replacement, and each counts N / (N - 1) (Rao and Wu, 1988): drawing N
would give a variance too small by that factor, half of it with two blocks. Pairings with a single block say nothing on
their own; they form one stratum together, which errs on the wide side. A lone one among them is kept as it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from arena.statistics.blocks import Block
from arena.statistics.model import ProbitSettings
from arena.statistics.newton import Design, Floats, maximise
from arena.statistics.pairs import PairKey, PairTable, comparisons, connected_groups, pair_table
from arena.statistics.probit import design

MOST_CELLS: Final = 1_000_000
"""Of a batch, for the sake of memory: draws times rows times 16 products each."""


class Interval(msgspec.Struct, frozen=True, gc=False):
    """What a player's skill lies in with 95 % confidence, and the standard deviation over the draws."""

    low: float
    high: float
    deviation: float


class Bootstrap(msgspec.Struct, frozen=True):
    """Intervals by player, in order of name, and the chance of each (row) to be better than each other (column).

    `better` is None for players whom no match connects. `lone` tells of a single block that could not be drawn anew.
    """

    players: tuple[str, ...]
    draws: int
    intervals: tuple[Interval, ...]
    better: tuple[tuple[float | None, ...], ...]
    lone: bool

    def likelihood_better(self, one: str, other: str) -> float | None:
        """How often `one` came out better than `other`; None if no chain of matches connects the two."""
        return self.better[self.players.index(one)][self.players.index(other)]


class _Stratum(NamedTuple):
    """The courses that blocks took (T, R, 3) as counts of the rows, and how often each occurred (T,)."""

    rows: npt.NDArray[np.int64]
    counts: Floats
    times: npt.NDArray[np.int64]


def bootstrap(
    players: Iterable[str],
    played: Iterable[Block],
    settings: ProbitSettings | None = None,
    *,
    seed: int,
    draws: int = 1000,
) -> Bootstrap:
    """Fit `draws` leagues made of blocks drawn from those `played`, which may come in any order."""
    if draws < 1:
        raise ValueError(f"draws: expected 1 or more, found {draws}")
    chosen = settings or ProbitSettings()
    league = sorted(played, key=lambda block: (block.pairing, block.number))
    table = pair_table(players, (result for block in league for result in block.results))
    strata = _strata(league, table)
    skills = _skills(design(table, chosen), strata, table, np.random.Generator(np.random.PCG64(seed)), draws)
    return Bootstrap(
        players=table.players,
        draws=draws,
        intervals=tuple(_interval(column) for column in skills.T),
        better=_better(skills, table),
        lone=any(stratum.times.sum() == 1 for stratum in strata),
    )


def _strata(league: Sequence[Block], table: PairTable) -> list[_Stratum]:
    by_pairing: defaultdict[int, list[Block]] = defaultdict(list)
    for block in league:
        by_pairing[block.pairing].append(block)
    pairings = [own for own in by_pairing.values() if len(own) > 1]
    single = [own[0] for own in by_pairing.values() if len(own) == 1]
    places = {name: place for place, name in enumerate(table.players)}
    rows = {(row.first, row.second, row.first_seat, row.second_seat): index for index, row in enumerate(table.rows)}
    return [_stratum(own, places, rows) for own in ([*pairings, single] if single else pairings)]


def _stratum(own: Sequence[Block], places: dict[str, int], rows: dict[PairKey, int]) -> _Stratum:
    courses = Counter(block.results for block in own)
    parts = [[_cell(c, rows) for result in course for c in comparisons(result, places)] for course in courses]
    used = sorted({row for part in parts for row, _ in part})
    index = {row: position for position, row in enumerate(used)}
    counts = np.zeros((len(courses), len(used), 3))
    for course, part in enumerate(parts):
        for row, outcome in part:
            counts[course, index[row], outcome] += 1.0
    return _Stratum(np.array(used, dtype=np.int64), counts, np.array(list(courses.values()), dtype=np.int64))


def _cell(comparison: tuple[PairKey, int], rows: dict[PairKey, int]) -> tuple[int, int]:
    key, sign = comparison
    return rows[key], 1 - sign


def _skills(
    laid_out: Design, strata: Sequence[_Stratum], table: PairTable, rng: np.random.Generator, draws: int
) -> Floats:
    """By draw (rows) and player (columns)."""
    count = len(table.players)
    seen = np.array([(row.wins, row.draws, row.losses) for row in table.rows], dtype=np.float64).reshape(1, -1, 3)
    start = maximise(laid_out, seen).parameters[0]
    batch = max(1, MOST_CELLS // (16 * max(1, len(table.rows)) + len(start) ** 2))
    parts = []
    for first in range(0, draws, batch):
        counts = _draw(strata, len(table.rows), rng, min(batch, draws - first))
        parts.append(maximise(laid_out, counts, start).parameters[:, :count])
    return np.concatenate(parts)


def _draw(strata: Sequence[_Stratum], rows: int, rng: np.random.Generator, size: int) -> Floats:
    """Make the counts (size, rows, 3) of so many leagues."""
    counts = np.zeros((size, rows, 3))
    for stratum in strata:
        total = int(stratum.times.sum())
        weights = np.ones((size, 1))
        if total > 1:
            drawn = rng.multinomial(total - 1, stratum.times / total, size=size)
            weights = drawn.astype(np.float64) * (total / (total - 1))
        counts[:, stratum.rows] += np.einsum("st,tro->sro", weights, stratum.counts)
    return counts


def _interval(skills: Floats) -> Interval:
    low, high = np.quantile(skills, (0.025, 0.975))
    deviation = np.std(skills, ddof=1) if len(skills) > 1 else 0.0
    return Interval(float(low), float(high), float(deviation))


def _better(skills: Floats, table: PairTable) -> tuple[tuple[float | None, ...], ...]:
    """Share of the draws, ties as halves. Half a draw for each side keeps a finite sample from claiming certainty."""
    group = {name: number for number, one in enumerate(connected_groups(table)) for name in one}
    draws = len(skills)
    lines = []
    for place, name in enumerate(table.players):
        ahead = skills[:, [place]] - skills
        wins = (ahead > 0.0).sum(axis=0) + (ahead == 0.0).sum(axis=0) / 2.0
        shares = ((wins + 0.5) / (draws + 1.0)).tolist()
        lines.append(
            tuple(
                share if group[name] == group[other] else None
                for other, share in zip(table.players, shares, strict=True)
            )
        )
    return tuple(lines)
