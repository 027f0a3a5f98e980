"""Blocks as rows: the layout of the tables, and how blocks are written and read.

Rule: a row is a block, packed as it came from its worker, with a checksum over all its columns and its key. Whoever
reads a row checks it: DamagedStore names a block that is not what was stored.
"""

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from zlib import crc32

import msgspec

from arena.errors import DamagedStore, SpecError
from arena.match.columns import Machine, PlayedBlock
from arena.match.record import join_packed, split_packed, without_stderr
from arena.match.results import canonical_ranks
from arena.standings.ranks import matches_of

BLOCK_TABLE: Final = """CREATE TABLE block (
    pairing INTEGER NOT NULL REFERENCES pairing, number INTEGER NOT NULL, ranks TEXT NOT NULL, ends TEXT NOT NULL,
    numbers BLOB NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (pairing, number)
) WITHOUT ROWID"""
"""The columns are those of `PlayedBlock`; names of players by place are JSON in `pairing.players`."""

MACHINE_TABLES: Final = """
    CREATE TABLE machine (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK (typeof(name) = 'text'),
        speed REAL NOT NULL CHECK (typeof(speed) = 'real'), UNIQUE (name, speed)
    );
    CREATE TABLE played_on (
        pairing INTEGER NOT NULL REFERENCES pairing, block INTEGER NOT NULL,
        machine INTEGER NOT NULL REFERENCES machine, PRIMARY KEY (pairing, block)
    ) WITHOUT ROWID
"""
"""The machines of blocks that a cluster played; the others were played on the driver's."""
_PLAYED_ON: Final = "INSERT OR IGNORE INTO played_on SELECT ?, ?, id FROM machine WHERE (name, speed) = (?, ?)"
_MACHINES: Final = (
    "SELECT name, speed, count(*) FROM pairing p JOIN played_on o ON o.pairing = p.id"
    " JOIN machine m ON m.id = o.machine WHERE p.key = ? AND o.block < ? GROUP BY m.id"
)

UNREADABLE: Final = (
    *(SpecError, msgspec.MsgspecError, TypeError, ValueError),
    *(ArithmeticError, AttributeError, RecursionError),
)
"""The errors of reading a value that was changed: in its form, its bytes or its type."""
WHOLE: Final = 1 << 62
"""An end of block numbers beyond all blocks of a pairing."""
Span = tuple[int, int]
"""The number of the first block of a pairing, and the number after the last one."""

_BLOCKS: Final = (
    "SELECT p.key, players, number, ranks, ends, numbers, checksum FROM json_each(?) asked"
    " CROSS JOIN pairing p ON p.key = asked.key CROSS JOIN block ON pairing = p.id"
    " AND number >= json_extract(asked.value, '$[0]') AND number < json_extract(asked.value, '$[1]')"
)
"""A CROSS JOIN keeps the order: of the pairings asked for, then of the primary key."""
_RECORDS: Final = (
    "SELECT rotation, codec, digest, body, stderr FROM record"
    " WHERE pairing = (SELECT id FROM pairing WHERE key = ?) AND block = ?"
)
_encode: Final = msgspec.msgpack.Encoder().encode


def checksum(row: tuple[Any, ...]) -> int:
    """Compute the CRC-32 of a row: of the MessagePack of the pairing's key and all other columns in order."""
    return crc32(_encode(row))


def insert(connection: sqlite3.Connection, blocks: Sequence[tuple[int, PlayedBlock]]) -> None:
    """Insert blocks that are not stored yet, each with the id of its pairing, within the caller's transaction."""
    packed = [(pairing, (row.pairing, row.block, row.ranks, row.ends, row.numbers)) for pairing, row in blocks]
    rows = [(pairing, *row[1:], checksum(row)) for pairing, row in packed]
    connection.executemany("INSERT INTO block VALUES (?, ?, ?, ?, ?, ?)", rows)
    records = [
        (pairing, block.block, rotation, *split_packed(record))
        for pairing, block in blocks
        for rotation, record in enumerate(block.records)
        if record
    ]
    connection.executemany("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)", records)
    ran_on = [(pairing, block.block, block.machine) for pairing, block in blocks if block.machine is not None]
    if ran_on:
        connection.executemany("INSERT OR IGNORE INTO machine (name, speed) VALUES (?, ?)", {row for *_, row in ran_on})
        connection.executemany(_PLAYED_ON, [(*place, *machine) for *place, machine in ran_on])


def machines(connection: sqlite3.Connection, blocks: Mapping[str, int]) -> Counter[Machine]:
    """Count the blocks that name a machine, by machine; `blocks` has the end of block numbers of each pairing."""
    counts = Counter[Machine]()
    for block in blocks.items():
        for name, speed, count in connection.execute(_MACHINES, block):
            counts[Machine(name, speed)] += count
    return counts


def read_blocks(connection: sqlite3.Connection, spans: Mapping[str, Span]) -> Iterator[PlayedBlock]:
    """Yield the stored blocks of these pairings, in the order given and by number, without records.

    DamagedStore names the block that is not what was stored.
    """
    last, former, players = -1, "", tuple[str, ...]()
    for key, text, number, ranks, ends, numbers, stored in connection.execute(_BLOCKS, (_encode_spans(spans),)):
        if checksum((key, number, ranks, ends, numbers)) != stored:
            raise damaged(f"block {key}-{number}", "its checksum is that of another one")
        if key != former:
            last, former, players = -1, key, decode_players(key, text)
        if number <= last:  # pages in a circle would never end
            raise damaged(f"block {key}-{number}", "it is there again")
        last = number
        if not _are_ranks(ranks, len(players)):
            raise damaged(f"block {key}-{number}", "its ranks are those of no match")
        yield PlayedBlock(key, number, players, ranks, ends, numbers)


def _encode_spans(spans: Mapping[str, Span]) -> str:
    return msgspec.json.encode(spans).decode()


@lru_cache(maxsize=4096)
def _are_ranks(ranks: Any, seats: int) -> bool:
    """Return True if the matches of a block with so many players can have these ranks."""
    if type(ranks) is not str or len(ranks) != seats * seats:
        return False
    with contextlib.suppress(ValueError):
        return all(match is None or canonical_ranks(match) == match for match in matches_of(ranks, seats))
    return False


def with_records(connection: sqlite3.Connection, block: PlayedBlock) -> PlayedBlock:
    """Return the block with its stored records, still packed; b"" for a match without one.

    DamagedStore if a column of a record has the wrong type.
    """
    records = {}
    for rotation, *columns in connection.execute(_RECORDS, (block.pairing, block.block)):
        if [*map(type, columns)] != [str, str, bytes, bytes]:
            raise damaged(f"match {block.pairing}-{block.block}-{rotation}", "its record is no record")
        records[rotation] = join_packed(*columns)
    known = tuple([records.get(rotation, b"") for rotation in range(len(block.players))])
    return msgspec.structs.replace(block, records=known)


def remove_stderr(connection: sqlite3.Connection, bots: Collection[str]) -> None:
    """Remove from all records what the bots with these hashes wrote to stderr, within the caller's transaction.

    The digests of the records stay. DamagedStore for a record that cannot be read.
    """
    where = "WHERE (pairing, block, rotation) = (?, ?, ?)"
    for place in connection.execute("SELECT pairing, block, rotation FROM record WHERE stderr != x''").fetchall():
        (columns,) = connection.execute(f"SELECT codec, digest, body, stderr FROM record {where}", place)  # noqa: S608
        try:
            stderr = split_packed(without_stderr(join_packed(*columns), bots))[-1]
        except UNREADABLE as error:
            raise damaged("match {}-{}-{} of the pairing with this id".format(*place), error) from None
        connection.execute(f"UPDATE record SET stderr = ? {where}", (stderr, *place))  # noqa: S608


def decode_players(key: str, text: Any) -> tuple[str, ...]:
    """Decode the players of a pairing, by place, from their column. DamagedStore if it holds anything else."""
    try:
        return msgspec.json.decode(text, type=tuple[str, ...])
    except UNREADABLE as error:
        raise DamagedStore(f"the players of pairing {key} cannot be read: {error}; run `arena verify`") from None


def damaged(what: str, reason: object) -> DamagedStore:
    """Make the error for a stored block or match that is not valid."""
    return DamagedStore(f"{what} cannot be read: {reason}; it was edited or damaged: run `arena verify`")
