"""Sums of pairings -> the players who are luckier than somebody can be who cannot foresee draws.

The luck of a block has mean 0 for each of its players (see `arena.match.luck`), given all blocks before it, if
nobody in it knows a draw before it falls: no matter how they play, whom the schedule chose by earlier results, and
what forfeits stopped. Somebody who foresees draws plays so that they help, and their luck has a mean above 0. So the
mean is tested upwards, by a confidence sequence (`arena.statistics.confidence_sequence`): it holds at every look, also
where results decide how long is played. The one bound it needs is exact: a match has luck of `LEAST` at least.

Rule: it accuses nobody by a rank, a rating or a score; these have no part in it, and it has none in them. Luck of
different versions of a value may be mixed, for each has mean 0. Matches without luck are left out.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from arena.match.luck import LEAST
from arena.match.results import LUCK_UNIT
from arena.standings.sums import PairingSums
from arena.statistics.confidence_sequence import holm, lower_bound, p_value

LEVEL: Final = 0.01
"""In so many leagues at most, anybody is ever named by chance."""


class PlayerLuck(msgspec.Struct, frozen=True):
    """The luck of one player, in payoff a match: 1 is a win.

    `matches` with known luck; their `mean` luck; `least`, which the mean in the long run is not below, with 1 - `LEVEL`
    at all looks together, for this player alone; `p`, the bound on the chance that anybody in a league of players who
    cannot foresee draws is ever this lucky (Holm's method). A player with a `p` of `LEVEL` or less `stands_out`.
    """

    matches: int
    mean: float
    least: float
    p: float
    stands_out: bool


class _Sums(msgspec.Struct):
    """Over blocks: their number, that of their matches, and luck and its square in the most that a block can lose."""

    blocks: int = 0
    matches: int = 0
    luck: float = 0.0
    squares: float = 0.0


def audited(met: Mapping[str, Sequence[tuple[PairingSums, int]]]) -> dict[str, PlayerLuck]:
    """The luck of each player who has any; `met` are the pairings of each player, and its place in them."""
    known = {name: _sums(own) for name, own in met.items()}
    # Players without luck count as well: at a later look they have some, and Holm's number of them must not grow.
    adjusted = holm([p_value(one.luck, one.squares) if one.matches else 1.0 for one in known.values()])
    return {
        name: _luck(sums, p, _most_lost(met[name]))
        for (name, sums), p in zip(known.items(), adjusted, strict=True)
        if sums.matches
    }


def _most_lost(met: Sequence[tuple[PairingSums, int]]) -> float:
    """By how much the luck of one block can be below 0."""
    return max((sums.seats * -LEAST for sums, _ in met), default=-LEAST)


def _sums(met: Sequence[tuple[PairingSums, int]]) -> _Sums:
    """Whole numbers up to the last division, so that no order matters."""
    unit = round(_most_lost(met) * LUCK_UNIT)
    lucks = [(half, place) for sums, place in met for half in sums.luck]
    return _Sums(
        blocks=sum(half.blocks for half, _ in lucks),
        matches=sum(half.matches for half, _ in lucks),
        luck=sum(half.luck[place] for half, place in lucks) / unit,
        squares=sum(half.luck2[place] for half, place in lucks) / unit**2,
    )


def _luck(sums: _Sums, p: float, most_lost: float) -> PlayerLuck:
    a_match = most_lost * sums.blocks / sums.matches
    return PlayerLuck(
        matches=sums.matches,
        mean=a_match * sums.luck / sums.blocks,
        least=a_match * lower_bound(sums.blocks, sums.luck, sums.squares, error=LEVEL),
        p=p,
        stands_out=p <= LEVEL,
    )
