"""Sums of pairings -> the players who are luckier than a player can be who cannot foresee draws.

The luck of a block has mean 0 for each of its players (see `arena.match.luck`), given all blocks before it, if
nobody in it knows a draw before it falls: no matter how they play, whom the schedule chose by earlier results, and
what forfeits stopped. Somebody who foresees draws plays so that they help, and their luck has a mean above 0. So the
mean is tested upwards, by a confidence sequence (`arena.statistics.confidence_sequence`): it holds at every look, also
where results decide how long is played. The one bound it needs is exact: a match has luck of `LEAST` at least.

Rule: the audit uses no rank, rating or score, and these do not use the audit. Luck of
different versions of a value may be mixed, for each has mean 0. Matches without luck are left out.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from arena.match.luck import LEAST
from arena.match.results import LUCK_UNIT
from arena.standings.match_table import PlayerPairings
from arena.standings.sums import PairingSums, total
from arena.statistics.confidence_sequence import holm, lower_bound, p_value

LEVEL: Final = 0.01
"""The largest share of leagues in which anybody is ever named by chance."""


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


class _LuckOfBlocks(msgspec.Struct):
    """Sums over blocks; the unit of luck is the most that a block can lose."""

    blocks: int = 0
    matches: int = 0
    luck: float = 0.0
    squares: float = 0.0


def audit_luck(sums: PairingSums, pairings_of_player: Mapping[str, PlayerPairings]) -> dict[str, PlayerLuck]:
    """Return the luck of each player who has any, with a p-value adjusted by Holm's method over all players."""
    most_lost = max(1, sums.table.seats) * -LEAST
    known = {name: _sum_luck(sums, where, round(most_lost * LUCK_UNIT)) for name, where in pairings_of_player.items()}
    # Players without luck count as well: they may have some later, and Holm's number of tests must not grow.
    adjusted = holm([p_value(luck.luck, luck.squares) if luck.matches else 1.0 for luck in known.values()])
    return {
        name: _describe_luck(luck, p, most_lost)
        for (name, luck), p in zip(known.items(), adjusted, strict=True)
        if luck.matches
    }


def _sum_luck(sums: PairingSums, where: PlayerPairings, unit: int) -> _LuckOfBlocks:
    """Add up the luck of a player; `unit` is the most that a block can lose.

    Numbers are whole up to the last division, so that no order matters.
    """
    pairings, _ = where
    return _LuckOfBlocks(
        blocks=sum(total(half.blocks[pairings]) for half in sums.luck),
        matches=sum(total(half.matches[pairings]) for half in sums.luck),
        luck=sum(total(half.luck[where]) for half in sums.luck) / unit,
        squares=sum(total(half.luck2[where]) for half in sums.luck) / unit**2,
    )


def _describe_luck(sums: _LuckOfBlocks, p: float, most_lost: float) -> PlayerLuck:
    """Return a player's luck in payoff a match, from sums in units of `most_lost` and the p of the test of all."""
    a_match = most_lost * sums.blocks / sums.matches
    return PlayerLuck(
        matches=sums.matches,
        mean=a_match * sums.luck / sums.blocks,
        least=a_match * lower_bound(sums.blocks, sums.luck, sums.squares, error=LEVEL),
        p=p,
        stands_out=p <= LEVEL,
    )
