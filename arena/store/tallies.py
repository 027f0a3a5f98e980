"""Tallies of pairings and checkpoints of ratings in the database: what the stored matches come to, kept beside them.

Rule: derived, never believed. A tally changes in the transaction that stores its matches, so it is never behind them,
and `recounted` makes it anew from the summaries, for `verify` to compare. All functions work inside the caller's
transaction.

Every row has a digest of its own: one that was damaged is counted again, as if it were not there.

A row holds `SPAN` blocks of a pairing: so the next chunk rewrites a few kilobytes however long the pairing is, and a
league whose cycles were lowered counts only the blocks of one row again.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

import msgspec

from arena.league.results import MatchSummary
from arena.standings.checkpoint import Checkpoint
from arena.standings.tally import Sums, Tally, nothing, tally_of

SPAN: Final = 1000
"""Blocks in a row of the table."""

Matches = dict[int, dict[int, MatchSummary]]
"""Summaries by block and rotation."""

LAYOUT: Final = """
    CREATE TABLE tally (
        pairing INTEGER NOT NULL REFERENCES pairing, span INTEGER NOT NULL, seats INTEGER NOT NULL,
        outcomes BLOB NOT NULL, sums BLOB NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (pairing, span)
    );
    CREATE TABLE checkpoint (
        league TEXT NOT NULL, block INTEGER NOT NULL, body BLOB NOT NULL, digest TEXT NOT NULL,
        PRIMARY KEY (league, block)
    ) WITHOUT ROWID;
    UPDATE league SET standings = NULL
"""
"""The tables. Standings that were published before have another form, and are forgotten."""

_TRIGGERS: Final = tuple(
    f"CREATE TRIGGER match_{event.lower()} AFTER {event} ON match BEGIN"  # noqa: S608 - our own text
    f" UPDATE tally SET seats = 0 WHERE pairing = OLD.pairing AND span = OLD.block / {SPAN}; END"
    for event in ("UPDATE", "DELETE")
)
"""A stored match never changes; should somebody change one by hand, its tally says nothing and is counted again."""

UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, TypeError, ValueError)
"""What reading raises for a value that is not what was stored: in form, in its bytes, in its type."""

_encode: Final = msgspec.json.Encoder().encode
_decode_sums: Final = msgspec.json.Decoder(Sums).decode
_decode_summary: Final = msgspec.json.Decoder(MatchSummary).decode
_decode_checkpoint: Final = msgspec.json.Decoder(Checkpoint).decode


def add(connection: sqlite3.Connection, key: str, stored: Matches) -> None:
    """Add blocks whose matches have just been stored to the tally of their pairing, the one with that key."""
    (pairing,) = connection.execute("SELECT id FROM pairing WHERE key = ?", (key,)).fetchone()
    by_span: defaultdict[int, Matches] = defaultdict(dict)
    for block, matches in stored.items():
        by_span[block // SPAN][block] = matches
    for span, blocks in by_span.items():
        query = "SELECT seats, outcomes, sums, digest FROM tally WHERE pairing = ? AND span = ?"
        row = connection.execute(query, (pairing, span)).fetchone()
        old = _readable(*row) if row else nothing(_seats_of(blocks))
        if old is None or any(_is_begun(old, block - span * SPAN) for block in blocks):
            _recount(connection, pairing, key, span)
        else:
            _put(connection, pairing, span, old + tally_of(key, old.seats, blocks, first_block=span * SPAN))


def set_up(connection: sqlite3.Connection) -> None:
    """Make the tallies of all stored matches, for a database that has none yet, and have them watched."""
    for trigger in _TRIGGERS:
        connection.execute(trigger)
    for pairing, key in connection.execute("SELECT id, key FROM pairing").fetchall():
        query = "SELECT DISTINCT block / ? FROM match WHERE pairing = ?"
        for (span,) in connection.execute(query, (SPAN, pairing)).fetchall():
            _recount(connection, pairing, key, span)


def stored(connection: sqlite3.Connection, key: str, seats: int, blocks: int) -> Tally:
    """The tally of the first so many blocks of a pairing of that many seats.

    What cannot be read of a tally is counted again; `UNREADABLE` says that the summaries cannot be read either.
    """
    query = (
        "SELECT pairing.id, span, seats, outcomes, sums, digest FROM tally t JOIN pairing ON pairing.id = t.pairing"
        " WHERE key = ? AND span * ? < ? ORDER BY span"
    )
    parts: list[tuple[int, Tally]] = []
    for pairing, span, *values in connection.execute(query, (key, SPAN, blocks)):
        part = _readable(*values)
        if part is None or len(part.outcomes) > (blocks - span * SPAN) * seats:
            part = _counted(connection, pairing, key, span * SPAN, min(blocks, (span + 1) * SPAN)) or nothing(seats)
        parts.append((span, part))
    return _joined(seats, parts)


def recounted(connection: sqlite3.Connection, key: str, seats: int, blocks: int) -> Tally:
    """Count again what `stored` tells, from the summaries of the matches."""
    row = connection.execute("SELECT id FROM pairing WHERE key = ?", (key,)).fetchone()
    if row is None:
        return nothing(seats)
    parts = [
        (start // SPAN, _counted(connection, row[0], key, start, min(start + SPAN, blocks)))
        for start in range(0, blocks, SPAN)
    ]
    return _joined(seats, [(span, part) for span, part in parts if part is not None])


def save_checkpoints(connection: sqlite3.Connection, league: str, checkpoints: Iterable[Checkpoint]) -> None:
    """Keep these in the place of those that were kept for the league."""
    connection.execute("DELETE FROM checkpoint WHERE league = ?", (league,))
    for one in checkpoints:
        body = _encode(one)
        row = (league, one.block, body, sha256(body).hexdigest())
        connection.execute("INSERT INTO checkpoint VALUES (?, ?, ?, ?)", row)


def checkpoints(connection: sqlite3.Connection, league: str) -> Iterator[Checkpoint]:
    """Those kept for the league; what cannot be read is as good as none."""
    query = "SELECT body, digest FROM checkpoint WHERE league = ? ORDER BY block"
    for body, digest in connection.execute(query, (league,)):
        if isinstance(body, bytes) and sha256(body).hexdigest() == digest:
            yield _decode_checkpoint(body)


def _recount(connection: sqlite3.Connection, pairing: int, key: str, span: int) -> None:
    """Make a row anew. Where a summary cannot be read the row says nothing: whoever needs it looks for himself."""
    try:
        found = _counted(connection, pairing, key, span * SPAN, (span + 1) * SPAN)
    except UNREADABLE:
        connection.execute("INSERT OR REPLACE INTO tally VALUES (?, ?, 0, x'', x'', '')", (pairing, span))
        return
    if found is not None:
        _put(connection, pairing, span, found)


def _counted(connection: sqlite3.Connection, pairing: int, key: str, first: int, end: int) -> Tally | None:
    """Count the stored matches of these blocks; None without any."""
    query = "SELECT block, rotation, summary FROM match WHERE pairing = ? AND block >= ? AND block < ?"
    blocks: Matches = {}
    for block, rotation, summary in connection.execute(query, (pairing, first, end)):
        blocks.setdefault(block, {})[rotation] = _decode_summary(summary)
    if not blocks:
        return None
    return tally_of(key, _seats_of(blocks), blocks, first_block=first)


def _seats_of(blocks: Matches) -> int:
    """Seats of the matches in `blocks`; these are of one pairing, so all have as many."""
    return len(next(iter(next(iter(blocks.values())).values())).ranks)


def _joined(seats: int, parts: Iterable[tuple[int, Tally]]) -> Tally:
    """Put the tallies of ascending spans one behind the other."""
    outcomes, sums = bytearray(), nothing(seats).sums
    for span, part in parts:
        if part.seats != seats:
            raise ValueError(f"a tally of {part.seats} seats where {seats} were expected")
        if part.outcomes:
            outcomes.extend(bytes(span * SPAN * seats - len(outcomes)))
            outcomes += part.outcomes
            sums += part.sums
    return Tally(seats, bytes(outcomes), sums)


def _put(connection: sqlite3.Connection, pairing: int, span: int, tally: Tally) -> None:
    sums = _encode(tally.sums)
    row = (pairing, span, tally.seats, tally.outcomes, sums, _digest(tally.seats, tally.outcomes, sums))
    connection.execute("INSERT OR REPLACE INTO tally VALUES (?, ?, ?, ?, ?, ?)", row)


def _is_begun(tally: Tally, block: int) -> bool:
    """Whether there is a match of that block, counted from the first one of the tally."""
    return any(tally.outcomes[block * tally.seats : (block + 1) * tally.seats])


def _readable(seats: object, outcomes: object, sums: object, digest: object) -> Tally | None:
    """The tally of a row; None for what was not stored like this."""
    if not isinstance(seats, int) or not isinstance(outcomes, bytes) or not isinstance(sums, bytes):
        return None
    return Tally(seats, outcomes, _decode_sums(sums)) if digest == _digest(seats, outcomes, sums) else None


def _digest(seats: int, outcomes: bytes, sums: bytes) -> str:
    return sha256(b"%d %b %b" % (seats, outcomes, sums)).hexdigest()
