"""From summaries, which were JSON of a match, to rows: once, for databases of arena 0.1.0 and up to layout 9.

Rule: in the caller's transaction, match by match in bounded memory. A summary that cannot be read is made again from
its record; without one nothing is changed, and the match is named.
"""

import logging
import sqlite3
from fractions import Fraction
from typing import Any, Final

import msgspec

from arena.errors import DamagedStore
from arena.match.columns import columns_of
from arena.match.record import MatchRecord, PackedRecord, Termination, unpack
from arena.match.results import LUCK_UNIT, MatchKey, MatchResult, canonical_ranks, microseconds, result_of, rotate
from arena.store import rows

SUMMARIES: Final = """
    DROP TRIGGER IF EXISTS match_update;
    DROP TRIGGER IF EXISTS match_delete;
    DROP TABLE IF EXISTS tally;
    DROP TABLE IF EXISTS checkpoint;
    ALTER TABLE match RENAME TO summary;
    ALTER TABLE pairing ADD COLUMN players TEXT NOT NULL DEFAULT '[]';
    UPDATE league SET standings = NULL;
"""
"""Drops what rows replace. Standings that were published before have another digest, and are forgotten."""
log: Final = logging.getLogger("arena.store")
_ORDERED: Final = "SELECT block, rotation, summary FROM summary WHERE pairing = ? ORDER BY block, rotation"


class _Summary(msgspec.Struct, frozen=True):
    """A match as layouts 1 to 9 stored it: by seat, times in milliseconds, luck in payoff, `at_fault` -1 for nobody."""

    ranks: tuple[int, ...]
    scores: tuple[int, ...] | None
    termination: Termination
    at_fault: int
    moves: tuple[int, ...]
    time_ms: tuple[float, ...]
    slowest_ms: tuple[float, ...]
    isolation: str = "none"
    luck: tuple[float, ...] = ()
    luck_version: str = ""
    pardoned: tuple[dict[str, int], ...] = ()
    startup_ms: tuple[float, ...] = ()
    idle_ms: tuple[float, ...] = ()
    timeouts_by_load: tuple[int, ...] = ()


_decode: Final = msgspec.json.Decoder(_Summary).decode


def fill(connection: sqlite3.Connection) -> None:
    """Move all summaries into rows, and drop their table. DamagedStore names a match that cannot be read."""
    for pairing, key in connection.execute("SELECT id, key FROM pairing ORDER BY id").fetchall():
        players = _players(connection, pairing, key)
        text = msgspec.json.encode(players).decode()
        connection.execute("UPDATE pairing SET players = ? WHERE id = ?", (text, pairing))
        for block, rotation, summary in connection.execute(_ORDERED, (pairing,)):
            place = MatchKey(key, block, rotation)
            result = _result(connection, pairing, place, players, summary)
            rows.insert(connection, [rows.NewMatch(pairing, place, columns_of(result))])
    connection.execute("DROP TABLE summary")


def constrain(connection: sqlite3.Connection) -> None:
    """Give the tables of matches the constraints of today, at once, whatever the number of their rows.

    So SQLite's documentation does it ("Making Other Kinds Of Table Schema Changes"). A row that breaks a constraint
    stays, for `verify` to find: nothing is refused that could be read before.
    """
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    connection.execute("PRAGMA writable_schema=ON")
    for statement in map(str.strip, rows.MATCH_TABLES.split(";")):
        table = statement.split()[2]
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?", (statement, table))
    connection.execute(f"PRAGMA schema_version={version + 1}")
    connection.execute("PRAGMA writable_schema=OFF")


def _players(connection: sqlite3.Connection, pairing: int, key: str) -> tuple[str, ...]:
    """The players of a pairing by place, as the first of its records that can be read has them."""
    first = None
    for block, rotation, _ in connection.execute(_ORDERED, (pairing,)):
        place = MatchKey(key, block, rotation)
        first = first or place
        if (record := _record(connection, pairing, place)) is not None:
            return rotate(record.players, -rotation % len(record.seats))
    if first is None:
        return ()
    raise _unreadable(first, "no record of its pairing says who played")


def _result(
    connection: sqlite3.Connection, pairing: int, place: MatchKey, players: tuple[str, ...], summary: Any
) -> MatchResult:
    try:
        return _from_summary(_decode(summary), place, players)
    except rows.UNREADABLE as error:
        record = _record(connection, pairing, place)
        if record is None:
            raise _unreadable(place, f"neither its summary nor its record can be read: {error}") from None
        log.warning("match %s: its summary could not be read (%s) and was made again from its record", place, error)
        return result_of(record)


def _from_summary(old: _Summary, key: MatchKey, players: tuple[str, ...]) -> MatchResult:
    none = (0,) * len(old.ranks)
    return MatchResult(
        key=key,
        players=rotate(players, key.rotation),
        ranks=canonical_ranks(old.ranks),
        scores=None if old.scores is None else tuple(map(Fraction, old.scores)),
        termination=old.termination,
        at_fault=None if old.at_fault == -1 else old.at_fault,
        isolation=old.isolation,
        moves=old.moves,
        time_us=tuple(map(microseconds, old.time_ms)),
        slowest_us=tuple(map(microseconds, old.slowest_ms)),
        startup_us=tuple(map(microseconds, old.startup_ms)) or none,
        idle_us=tuple(map(microseconds, old.idle_ms)) or none,
        timeouts_by_load=old.timeouts_by_load or none,
        luck=tuple(round(own * LUCK_UNIT) for own in old.luck),
        luck_version=old.luck_version,
        pardoned=old.pardoned,
    )


def _record(connection: sqlite3.Connection, pairing: int, place: MatchKey) -> MatchRecord | None:
    """The record of a match, if it is there and sound, and is of this match."""
    query = "SELECT codec, digest, body FROM record WHERE (pairing, block, rotation) = (?, ?, ?)"
    row = connection.execute(query, (pairing, *place[1:])).fetchone()
    try:
        record = None if row is None else unpack(PackedRecord(*row))
    except rows.UNREADABLE:
        return None
    return record if record is not None and record.match == str(place) else None


def _unreadable(place: MatchKey, reason: str) -> DamagedStore:
    return DamagedStore(
        f"match {place} cannot be brought to the new layout: {reason}. Nothing was changed; put a copy of the results"
        " back in which the match is sound"
    )
