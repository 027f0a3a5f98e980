"""The oracle of all errors: a league played again from its own blocks, which needs no model of what blocks share.

Whole blocks are drawn, within their pairing. From a pairing of N blocks N - 1 are drawn, with replacement, and each
counts N / (N - 1) (Rao and Wu, 1988): drawing N would give a variance too small by that factor, half of it with two
blocks.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from arena.statistics.comparisons import ComparisonTable, table_of
from arena.statistics.model import ProbitSettings
from arena.statistics.newton import maximise
from arena.statistics.pairs import PlayedPairing

Floats = npt.NDArray[np.float64]


def bootstrap(players: Iterable[str], pairings: Sequence[PlayedPairing], *, seed: int, draws: int) -> Floats:
    """The skills (draws, players in order of name) of so many leagues made of the blocks of this one."""
    table = table_of(players, pairings)
    design = table.design(ProbitSettings())
    rng = np.random.Generator(np.random.PCG64(seed))
    found = [maximise(design, _drawn(table, rng)).parameters[: len(table.players)] for _ in range(draws)]
    return np.array(found)


def _drawn(table: ComparisonTable, rng: np.random.Generator) -> Floats:
    times = np.zeros_like(table.times)
    for pairing in range(len(table.places)):
        own = np.flatnonzero(table.pairing == pairing)
        total = int(table.times[own].sum())
        drawn = rng.multinomial(total - 1, table.times[own] / total)
        times[own] = drawn * (total / (total - 1))
    again = ComparisonTable(table.players, table.places, table.pairing, times, table.signs, table.presence, table.masks)
    return again.counts().reshape(-1, 3)
