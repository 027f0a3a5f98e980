"""A player's matches, column by column: SQLite joins a column of a pairing into a text, numpy cuts it.

Rule: ranks and sums of the same moment are known, and so checked (see `arena.store.ranks`, `arena.store.sums`); scores
are compared with the margins here. DamagedStore for columns that do not fit each other.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from math import lcm
from typing import Final

import numpy as np

from arena.match.record import Termination
from arena.match.results import PairingRanks
from arena.standings.profile import PlayerColumns
from arena.standings.sums import Array
from arena.store.ranks import Wanted, first_damage
from arena.store.sums import NONE, numbers_in

_SEATS: Final = (
    f"SELECT group_concat(coalesce(score, {NONE})), group_concat(coalesce(margin, {NONE})), group_concat(moves),"  # noqa: S608 - our own text
    " group_concat(time_us), group_concat(slowest_us) FROM seat WHERE pairing = ? AND block < ? GROUP BY pairing, place"
)
_UNITS: Final = "SELECT group_concat(score_unit) FROM match WHERE pairing = ? AND block < ?"
_FAULTS: Final = (
    "SELECT termination, at_fault FROM match WHERE pairing = ? AND block < ? AND at_fault IS NOT NULL"
    " ORDER BY block, rotation"
)
_PARDONS: Final = "SELECT block, rotation, code, count FROM pardon WHERE pairing = ? AND block < ? AND place = ?"
_MOST: Final = 1 << 56
"""64 bits hold the sums of margins of a block with scores up to this."""


def columns(
    connection: sqlite3.Connection, asked: Iterable[Wanted], player: str, known: Mapping[str, PairingRanks]
) -> Iterator[PlayerColumns]:
    """The player's matches of these pairings, of which the ranks are `known`."""
    for due in asked:
        try:
            yield _columns(connection, due, player, known[due.key])
        except (ValueError, OverflowError, TypeError):
            raise first_damage(connection, due) from None


def _columns(connection: sqlite3.Connection, due: Wanted, player: str, own: PairingRanks) -> PlayerColumns:
    """ValueError or TypeError for columns of which one is not as long as the others, or has what no result can have."""
    where, place = (due.id, due.blocks), due.players.index(player)
    by_place = np.array([[numbers_in(text) for text in row] for row in connection.execute(_SEATS, where)])
    if by_place.shape != (len(due.players), 5, own.matches) or (by_place[:, 2:] < 0).any():
        raise ValueError("a seat is missing, or less than nothing")
    faults = connection.execute(_FAULTS, where).fetchall()
    scores, is_normal = _scores(by_place[:, 0].T, by_place[:, 1].T)
    termination, at_fault = np.full((own.matches, 2), (Termination.NORMAL.value, -1), dtype=object).T
    if faults:
        termination[~is_normal], at_fault[~is_normal] = np.array(faults, dtype=object).T
    units = numbers_in(connection.execute(_UNITS, where).fetchone()[0])
    unit = lcm(*np.unique(units).tolist())
    return PlayerColumns(
        key=due.key,
        ranks=own,
        unit=unit,
        scores=scores if (units == unit).all() else scores * (unit // units.astype(object))[:, None],
        termination=termination,
        at_fault=at_fault.astype(np.int64),
        moves=by_place[place, 2],
        time_us=by_place[place, 3],
        slowest_us=by_place[place, 4],
        pardons=tuple(connection.execute(_PARDONS, (*where, place))),
    )


def _scores(scores: Array, margins: Array) -> tuple[Array, Array]:
    """Scores by match and place, 0 without; and whether a match has them. ValueError if the margins do not fit them."""
    is_normal = scores[:, 0] != NONE
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T[:, :, None]
    due = scores - np.where(scores == best, second, best)
    if (np.where(is_normal[:, None], due, NONE) != margins).any() or (scores[~is_normal] != NONE).any():
        raise ValueError("margins do not fit the scores")
    scores = np.where(is_normal[:, None], scores, 0)
    return scores if np.abs(scores).max() < _MOST else scores.astype(object), is_normal
